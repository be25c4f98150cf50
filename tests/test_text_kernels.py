"""Every text kernel does what its own Python does, and both what the plain tokeniser does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds import instructions, kernel
from evenodds.text import kernels, list_kernels, table_kernels, tokenise
from evenodds.text.batches import Reader, folding, replacements, replacing
from evenodds.text.keys import key, sealed
from evenodds.text.tables import Counter, Links, Sorted, empty, lookup
from evenodds.text.tokenise import Tokens
from evenodds.texts import Texts
from test_text_tokenise import document, documents, options

MODULES = (kernels, list_kernels, table_kernels)
KERNELS = [k for module in MODULES for k in vars(module).values() if isinstance(k, kernel.Kernel)]

EMPTY = np.empty


class Both:
    """A kernel that runs compiled and plain on copies of its arguments, and holds the two together."""

    def __init__(self, each):
        self.each, self.calls = each, 0

    def __call__(self, *args):
        self.calls += 1
        results = []
        for run in (self.each.plain, self.each.compiled):
            own = [a.copy() if isinstance(a, np.ndarray) and a.flags.writeable else a for a in args]
            with pytest.MonkeyPatch.context() as patch:  # the compiler, at work here for the first time, needs its own
                patch.setattr(np, "empty", EMPTY)
                results.append((run(*own), own))
        (plain, left), (compiled, right) = results
        assert np.array_equal(plain, compiled), self.each.__name__
        for given_, a, b in zip(args, left, right):
            if isinstance(given_, np.ndarray) and given_.flags.writeable:
                assert a.tobytes() == b.tobytes(), self.each.__name__
                given_[...] = b
        return compiled


@pytest.fixture(scope="module")
def both():
    """All text kernels checked at every call."""
    checked = {}
    with pytest.MonkeyPatch.context() as patch:
        for module in MODULES:
            for name, each in list(vars(module).items()):
                if isinstance(each, kernel.Kernel):
                    checked[name] = Both(each)
                    patch.setattr(module, name, checked[name])
        # what a kernel leaves unwritten must be the same in both runs
        patch.setattr(np, "empty", np.zeros)
        yield checked


def read(texts, settings):
    """The keys of every document, level after level, and the texts they stand for."""
    other = replacements(settings, [])
    reader = Reader(texts, settings, replaced=replacing(other) if other else None)
    levels = reader.read(0, len(texts.starts))
    keys = [[] for _ in texts.starts]
    for level in levels[settings.lengths[0] - 1 :]:
        for d, (start, stop) in enumerate(zip([0, *level.ends], level.ends)):
            keys[d] += level.keys[start:stop].tolist()
    places = [(int(p) >> 32, int(p) & 0xFFFFFFFF) for p in levels[0].places]
    words = [reader.folded[start : start + size].tobytes() for start, size in places]
    return keys, words, levels[0].keys.tolist()


@given(documents, options)
def test_kernels_read_what_the_tokeniser_reads(both, many, settings):
    keys, words, single = read(Texts.of(many), settings)
    assert keys == [tokenise.keys(data, settings) for data in many]
    assert single == [sealed(key(word), settings.seed) for word in words]


def ends(level, d):
    return (level.ends[d - 1] if d else 0), level.ends[d]


@pytest.mark.parametrize("case", [True, False])
@pytest.mark.parametrize("accents", [True, False])
@pytest.mark.parametrize("punctuation", [True, False])
def test_no_code_point_outgrows_the_room_made_for_it(case, accents, punctuation):
    table, pool, growth = folding(case, accents, True)
    growth = 2 if accents and not punctuation else growth
    for point in range(0x110000):
        entry = int(table[point])
        parts = [entry]
        if entry >= kernels.MANY:
            at = entry & kernels.POINT
            parts = pool[at + 1 : at + 1 + int(pool[at])].tolist()
        size = 0
        for part in parts:
            kind, folded = part >> kernels.KIND, part & kernels.POINT
            kept = kind in (1, 2) or (kind == 3 and punctuation)
            size += (len(chr(folded).encode("utf-8", "surrogatepass")) if kept else 1) + 3 * (kind == 3 and punctuation)
        assert size <= growth * len(chr(point).encode("utf-8", "surrogatepass"))
    if punctuation:
        assert len("�".encode()) + 3 <= growth  # what one unreadable byte becomes


@given(st.lists(document, min_size=1, max_size=8), st.integers(1, 400))
def test_documents_are_read_alike_in_any_batch(many, size):
    texts = Texts.of(many)
    reader = Reader(texts, Tokens(ngrams=2))
    pieces = list(texts.pieces(size))
    assert [d for first, beyond in pieces for d in range(first, beyond)] == list(range(len(many)))
    alone = [[level.keys.tolist() for level in reader.read(first, beyond)] for first, beyond in pieces]
    for n in range(2):
        assert [h for levels in alone for h in levels[n]] == reader.read(0, len(many))[n].keys.tolist()


@pytest.mark.parametrize("cut", range(0, 140, 7))
def test_words_across_every_border_of_64_bytes(cut):
    data = b"." * cut + b"Abcdefghijklmnop" * 9 + b" tail " + "é".encode() * 40 + b"x" * cut
    assert read(Texts.of([data, data[:-1], b""]), Tokens())[0] == [tokenise.keys(d) for d in (data, data[:-1], b"")]


@given(documents, options)
def test_distinct_tokens_of_a_document(both, many, settings):
    texts = Texts.of(many)
    reader = Reader(texts, settings)
    level = reader.read(0, len(many))[0]
    whole = [level.keys[slice(*ends(level, d))].tolist() for d in range(len(many))]
    once = reader.bags([level])
    assert level.keys[once.first].tolist() == once.keys.tolist()
    for d, keys in enumerate(whole):
        start, stop = ends(once, d)
        assert once.keys[start:stop].tolist() == list(dict.fromkeys(keys))
        assert once.times[start:stop].tolist() == [keys.count(h) for h in dict.fromkeys(keys)]


numbers = st.integers(1, 40).map(lambda i: i * 0x0765432107654321 % 2**64) | st.integers(1, 2**64 - 1)


@given(st.lists(numbers, max_size=300))
def test_a_table_counts_and_sorts(both, keys):
    counter = Counter(2)
    fresh = counter.count(np.array(keys, np.uint64))
    assert [keys[i] for i in fresh] == list(dict.fromkeys(keys))
    found, counts, order = counter.sorted()
    assert found.tolist() == sorted(set(keys))
    assert counts.tolist() == [keys.count(h) for h in sorted(set(keys))]
    assert [list(dict.fromkeys(keys))[i] for i in order] == found.tolist()


def test_keys_that_all_want_the_last_slot():
    keys = np.arange(2**64 - 200, 2**64, dtype=np.uint64)
    counter = Counter(4)
    counter.count(np.concatenate([keys, keys]))
    found, counts, _ = counter.sorted()
    assert found.tolist() == keys.tolist()
    assert set(counts.tolist()) == {2}


lists = st.dictionaries(numbers, st.integers(-3, 3).filter(bool), max_size=30)


def as_list(entries, type_=np.int64):
    keys = sorted(entries)
    return Sorted(np.array(keys, np.uint64), np.array([entries[h] for h in keys], type_))


@given(lists, lists, st.sampled_from([1, -1]))
def test_lists_are_added(both, a, b, sign):
    total = as_list(a).plus(as_list(b), sign)
    expected = {h: a.get(h, 0) + sign * b.get(h, 0) for h in sorted({*a, *b})}
    assert dict(zip(total.keys.tolist(), total.numbers.tolist())) == {h: n for h, n in expected.items() if n}
    assert (np.diff(total.keys) > 0).all()
    halves = as_list({h: n / 2 for h, n in a.items()}, float).plus(as_list(b), sign)
    expected = {h: a.get(h, 0) / 2 + sign * b.get(h, 0) for h in sorted({*a, *b})}
    assert dict(zip(halves.keys.tolist(), halves.numbers.tolist())) == {h: n for h, n in expected.items() if n}


@given(lists, lists)
def test_links_are_united(both, a, b):
    first, second = (Links(keys, numbers.view(np.uint64)) for keys, numbers in (as_list(a), as_list(b)))
    union, ties = first.union(second)
    assert union.keys.tolist() == sorted({*a, *b})
    assert union.numbers.view(np.int64).tolist() == [a.get(h, b.get(h)) for h in sorted({*a, *b})]
    assert ties.view(np.int64).tolist() == [[a[h], b[h]] for h in sorted({*a} & {*b})]


@given(st.lists(numbers, unique=True, max_size=100), st.lists(numbers, max_size=50))
def test_a_lookup_finds_what_is_there(both, keys, wanted):
    slots, shift = lookup(np.array(keys, np.uint64), np.arange(len(keys), dtype=np.uint64))
    for h in [*keys, *wanted]:
        at = table_kernels.place_of(slots, shift, np.uint64(h))
        assert (int(slots[at + 1]) if slots[at] else None) == (keys.index(h) if h in keys else None)


@given(st.binary(min_size=200, max_size=200), st.integers(0, 100), st.sampled_from([0, 32]), st.sampled_from([0, 1]))
def test_instructions_do_what_their_python_does(data, at, case, zero):
    block, results = np.frombuffer(data, np.uint8), []
    for run in (probe.plain, probe.compiled):
        out, found = np.zeros(100, np.uint8), np.zeros(6, np.uint64)
        run(block, at, out, np.uint8(case), np.uint8(zero), found)
        results.append((out.tobytes(), found.tolist()))
    assert results[0] == results[1]


def probe_instructions(data, at, out, case, zero, found):
    found[0] = instructions.fold_ascii(data, at, out, 7, case, zero)
    found[1] = instructions.not_ascii(data, at)
    found[2] = instructions.trailing_zeros(found[1])
    found[3] = instructions.bits_set(found[0])
    found[4] = instructions.load_eight(data, at)
    found[5] = instructions.same_byte(data, at, data[at + 7])


probe = instructions.text_kernel(probe_instructions)


def test_no_slot_is_shared_by_two_tables():
    assert empty(4)[0] is not empty(4)[0]


def test_every_kernel_was_held_against_its_python(both):
    """Whatever is a kernel runs in `both`, here if in no other test."""
    reader = Reader(Texts.of(["aa bb aa", "cc"]), Tokens(ngrams=2, characters=None))
    reader.read(0, 2)
    from evenodds.text.batches import Level
    from evenodds.text.count import count
    from evenodds.text.score import Weights
    from evenodds.text.tables import asked_for

    texts, classes = Texts.of(["aa bb aa", "bb cc"]), np.array([0, 1])
    both_classes = count(texts, classes, 2)
    both_classes.matrix()
    both_classes.trimmed()
    assert both_classes + both_classes - both_classes == both_classes
    for settings in (Tokens(stop_words={"aa"}), Tokens(seed=7), Tokens(characters=(2, 3)), Tokens(ngrams=2)):
        count(texts, classes, 2, settings, distinct=True)
    count(Texts.of([" ".join(f"word{i}" for i in range(700))]), np.array([0]), 1)
    count(texts, classes, 2, buckets=256)
    for width in (1, 2, 3):
        Weights(both_classes.keys(), np.ones((len(both_classes.keys()), width)) / 3).score(texts)
        half = np.arange(128, dtype=np.uint64) << np.uint64(57) | np.uint64(1)  # every other bucket of 256
        Weights(half, np.ones((128, width)) / 3, 256).score(texts)
    levels = [
        Level(keys, keys, np.array([1, 3])) for keys in (np.array([3, 5, 7], np.uint64), np.array([2, 9, 4], np.uint64))
    ]
    assert reader.bags(levels).keys.tolist() == [3, 2, 5, 7, 9, 4]
    asked = np.array([int(both_classes.keys()[1]), 5], np.uint64)
    assert asked_for(asked, both_classes.keys(), both_classes.index)[0].tolist() == [0, -1]
    keys, order = both_classes.keys(), np.arange(len(both_classes.keys()), dtype=np.int32)
    spots, counts = np.empty((len(keys) + 1, 2), np.int32), np.zeros((len(keys), 3), np.int32)
    for k, one in enumerate(both_classes.lists):
        list_kernels.count_of(keys, order, one.keys, one.numbers, spots, counts, k)
    assert counts[:, :2].tolist() == both_classes.matrix()[1].tolist()
    assert counts[:, 2].tolist() == counts[:, :2].sum(axis=1).tolist()
    assert [name for name, each in both.items() if not each.calls] == []
