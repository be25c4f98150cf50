"""Counts scaled, pruned, weighted and stored; and what is refused of what is read back."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.labels import Labels
from evenodds.text.bags import bags
from evenodds.text.batches import bucket_keys
from evenodds.text.count import count
from evenodds.text.counts import Counts
from evenodds.text.keys import join, key
from evenodds.text.lexicon import end_to_end, in_ranges, one_lexicon
from evenodds.text.score import Weights
from evenodds.text.tokenise import Tokens
from evenodds.texts import Texts
from test_text_count import N, as_dicts, labelled, tally
from test_text_tokenise import options

PAIRS = Tokens(ngrams=3)
ROWS = [(b"free prize free", 0), (b"free beer after lunch", 1), (b"caf\xc3\xa9 lunch ol\xc3\xa9", 1), (b"", 2)]


# Null documents


def test_a_null_is_no_document_and_has_no_tokens():
    texts, classes = Texts.of(["aa bb", None, "", "bb"]), np.array([0, 0, 0, 1])
    counts = count(texts, classes, 2)
    assert counts.documents.tolist() == [2, 1]
    assert [counts.table(c) for c in range(2)] == [{"aa": 1, "bb": 1}, {"bb": 1}]
    assert count(texts, classes, 2, weights=np.full(4, 2)).documents.tolist() == [4, 2]
    scores = Weights(counts.keys(), np.ones((2, 1))).score(texts)
    assert (scores.sums.ravel().tolist(), scores.tokens.tolist()) == ([2, 0, 0, 1], [2, 0, 0, 1])
    assert bags(texts).ends.tolist() == [2, 2, 2, 3]


def test_a_function_does_not_see_nulls():
    texts = Texts.of([None, "aa"])
    assert count(texts, np.array([0, 0]), 1, Tokens(function=lambda text: [f"<{text}>"])).table(0) == {"<aa>": 1}


def test_a_null_at_the_start_has_no_bytes():
    texts = Texts.of([None, "aa", None])
    assert [texts.document(i) for i in range(3)] == [b"", b"aa", b""]
    assert texts.lengths().tolist() == [0, 2, 0]
    assert list(texts.pieces(1)) == [(0, 1), (1, 2), (2, 3)]
    assert texts[1:3].texts() == ["aa", None]


# Scaling, pooling, selecting


@given(labelled, options, st.lists(st.integers(-2, 3), min_size=N, max_size=N))
def test_a_whole_factor_is_a_sum(rows, settings, factors):
    counts = tally(rows, settings)
    scaled = counts.scaled(np.array(factors, float))
    assert as_dicts(scaled) == [{h: n * f for h, n in each.items() if f} for each, f in zip(as_dicts(counts), factors)]
    assert scaled.documents.tolist() == [int(n) * f for n, f in zip(counts.documents, factors)]
    assert {numbers.dtype for _, numbers in scaled.lists} == {np.dtype(np.int64)}
    assert counts.scaled(np.full(N, 2)) == counts + counts
    assert counts.scaled(np.zeros(N)) == Counts.nothing(N)
    assert scaled == scaled.trimmed()


def test_a_fraction_makes_doubles():
    counts = tally(ROWS, PAIRS)
    halves = counts.scaled(np.array([0.5, 0.5, 1.0]))
    assert halves.table(0)["free"] == 1.0
    assert halves.documents.tolist() == [0.5, 1.0, 1.0]
    assert halves + halves == counts.scaled(np.array([1, 1, 2]))
    assert halves - halves == Counts.nothing(N)
    assert (counts - halves) == halves - Counts.nothing(N).scaled(np.ones(N)) - tally([(b"", 2)], PAIRS)
    _, matrix = halves.matrix()
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix * 2, counts.matrix()[1])
    assert halves.tokens.tolist() == (counts.tokens / 2).tolist()
    assert halves == halves.trimmed()


def test_what_two_fractions_leave_of_each_other_is_gone():
    counts = tally(ROWS, PAIRS)
    tenth, fifth = counts.scaled(np.full(N, 0.1)), counts.scaled(np.full(N, 0.2))
    rest = tenth + fifth - counts.scaled(np.full(N, 0.3))
    assert not len(rest.keys())
    assert not len(rest.lexicon)


def test_numbers_too_large_for_integers_become_doubles():
    counts = tally(ROWS).scaled(np.full(N, 2**60))
    assert counts.lists[0].numbers.dtype == np.int64
    assert counts.scaled(np.full(N, 8)).table(0)["prize"] == 2.0**63


def test_factors_are_one_a_class():
    with pytest.raises(ValueError, match=r"factors of shape \(2,\), expected a number for each of 3 classes"):
        tally(ROWS).scaled(np.ones(2))
    with pytest.raises(ValueError, match="expected a number for each"):
        tally(ROWS).scaled(np.array([1, np.nan, 1]))


@given(labelled)
def test_all_classes_together(rows):
    counts = tally(rows)
    keys, numbers = counts.pooled()
    matrix = counts.matrix()
    assert keys.tolist() == matrix[0].tolist()
    assert numbers.tolist() == matrix[1].sum(axis=1).tolist()


@given(labelled, options, st.permutations(range(N)), st.integers(0, N))
def test_some_classes(rows, settings, order, many):
    classes = list(order)[:many]
    renamed = {c: i for i, c in enumerate(classes)}
    some = [(data, renamed[c]) for data, c in rows if c in renamed]
    expected = count(Texts.of([d for d, _ in some]), np.array([c for _, c in some], np.int64), many, settings)
    assert tally(rows, settings).select(classes) == expected


# Weights


@given(labelled, options, st.lists(st.integers(0, 3), min_size=8, max_size=8), st.booleans(), st.booleans())
def test_weight_two_is_counted_twice(rows, settings, weights, distinct, hashed):
    how = {"distinct": distinct, "buckets": 256 if hashed else None}
    weights = np.array(weights[: len(rows)], float)
    twice = [row for row, weight in zip(rows, weights) for _ in range(int(weight))]
    counts = tally(rows, settings, weights=weights, **how)
    assert counts == tally(twice, settings, **how)
    assert counts.documents.dtype == np.int64
    assert {numbers.dtype for _, numbers in counts.lists} == {np.dtype(np.int64)}


@given(labelled, options)
def test_weights_that_are_not_whole(rows, settings):
    weights = np.arange(len(rows)) / 4  # exact in doubles
    counts = tally(rows, settings, weights=weights, threads=2, shard=50)
    assert counts.scaled(np.full(N, 4)) == tally(rows, settings, weights=weights * 4)
    assert counts == tally(rows[::-1], settings, weights=weights[::-1])
    if len(rows) > 1:
        assert counts.documents.dtype == np.float64


def test_weights_are_added_one_after_the_other():
    rows = [(b"aa", 0)] * 10
    assert tally(rows, weights=np.full(10, 0.1)).table(0) == {"aa": sum([0.1] * 10)}


# Pruning


@given(labelled, options, st.integers(1, 3))
def test_pruning_drops_what_is_rare_in_all_classes_together(rows, settings, least):
    counts = tally(rows, settings)
    pruned = counts.prune(least)
    total = dict(zip(*(part.tolist() for part in counts.pooled())))
    assert as_dicts(pruned) == [{h: n for h, n in each.items() if total[h] >= least} for each in as_dicts(counts)]
    assert pruned.documents.tolist() == counts.documents.tolist()
    assert pruned == pruned.trimmed()
    assert replace(counts.prune(1), pruned=False) == counts


def test_what_is_pruned_cannot_be_subtracted():
    counts = tally(ROWS, PAIRS)
    pruned = counts.prune(2)
    for mark in (
        pruned,
        pruned + counts,
        counts + pruned,
        pruned.scaled(np.ones(N)),
        pruned.scaled(np.zeros(N)),
        pruned.select([0, 1, 2]),
        pruned.grouped(N, np.arange(N)),
        pruned.trimmed(),
        Counts.from_arrays(pruned.arrays(), N, None, pruned.pruned),
    ):
        assert mark.pruned
        for one, other in ((mark, counts), (counts, mark)):
            with pytest.raises(ValueError, match="pruned counts cannot be subtracted: their rare tokens are gone"):
                one - other
    assert not (counts + counts).pruned
    assert counts != replace(counts, pruned=True)


# Seeds and buckets


@given(labelled, st.integers(1, 2**64 - 1))
def test_a_seed_changes_keys_and_nothing_else(rows, seed):
    plain, sealed = tally(rows, PAIRS), tally(rows, Tokens(ngrams=3, seed=seed))
    assert [sealed.table(c) for c in range(N)] == [plain.table(c) for c in range(N)]
    assert not set(plain.lexicon.keys.tolist()) & set(sealed.lexicon.keys.tolist())


def test_a_seed_moves_words_to_other_buckets():
    words = [(" ".join(f"w{i}" for i in range(100)).encode(), 0)]
    assert tally(words, buckets=1 << 16) != tally(words, Tokens(seed=5), buckets=1 << 16)


# The names of buckets


@given(labelled, options)
def test_buckets_are_named_by_their_most_frequent_token(rows, settings):
    texts, one = Texts.of([data for data, _ in rows]), np.zeros(len(rows), np.int64)
    exact = count(texts, one, 1, settings)
    hashed = count(texts, one, 1, settings, buckets=256)
    if settings.seed:
        assert hashed.sample is None
        assert all(hashed.text(int(bucket)).startswith("#") for bucket in hashed.keys().tolist())
        return
    table = exact.table(0)
    places = bucket_keys(exact.keys(), 256).tolist()
    for bucket in hashed.keys().tolist():
        mine = [exact.text(int(h)) for h, place in zip(exact.keys(), places) if place == bucket]
        assert hashed.text(bucket) in mine
        assert table[hashed.text(bucket)] == max(table[text] for text in mine)


@given(labelled, labelled, options)
def test_the_names_of_few_words_are_a_sum(a, b, settings):
    both, one, other = (tally(rows, settings, buckets=1 << 12) for rows in (a + b, a, b))
    for sum_, whole in ((one + other, both), (both - other, one), (other + one, both)):
        assert (sum_.sample or Counts.nothing(N)) == (whole.sample or Counts.nothing(N))
    thrice, keys = one.scaled(np.full(N, 3)), one.keys().tolist()
    assert [thrice.text(key) for key in keys] == [one.text(key) for key in keys]


def test_what_is_forgotten_names_no_bucket():
    rows = [(b"free prize", 0), (b"lunch", 1)]
    both, lunch = tally(rows, buckets=1 << 20), tally(rows[1:], buckets=1 << 20)
    assert (both - lunch).table(0) == {"free": 1, "prize": 1}
    assert "lunch" not in (both - lunch).sample.lexicon.texts()
    assert "lunch" not in both.select([0]).sample.lexicon.texts()
    assert both.prune(2).sample.lexicon.texts() == []


def test_of_much_text_the_frequent_words_have_names(monkeypatch):
    monkeypatch.setattr("evenodds.text.count.SAMPLED", 1 << 12)
    monkeypatch.setattr("evenodds.text.counts.NAMED", 32)
    monkeypatch.setattr("evenodds.text.count.NAMED", 32)
    rng = np.random.default_rng(0)
    shares = 1 / np.arange(1, 2001)
    rows = [(" ".join(f"w{i}" for i in rng.choice(2000, 20, p=shares / shares.sum())).encode(), 0) for _ in range(2000)]
    rows.append((b"x" * 100_000, 0))  # a document longer than the sample may be
    hashed = tally(rows, buckets=1 << 20)
    assert len(hashed.sample.keys()) == 32
    shown = list(hashed.table(0))[:8]
    assert [f"w{i}" in shown for i in range(6)] == [True] * 6
    halves = tally(rows[:1000], buckets=1 << 20) + tally(rows[1000:], buckets=1 << 20)
    assert halves == hashed  # whatever its buckets are called
    assert len(halves.sample.keys()) == 32
    assert [f"w{i}" in list(halves.table(0))[:8] for i in range(6)] == [True] * 6


def test_a_sample_in_a_file_is_checked():
    arrays = tally(ROWS, buckets=256).arrays()
    without = {name: array for name, array in arrays.items() if not name.startswith("sample.")}
    assert Counts.from_arrays(without, N, 256) == tally(ROWS, buckets=256)  # as files had it before there was one
    with pytest.raises(ValueError, match="a sample of words belongs to buckets"):
        Counts.from_arrays({**tally(ROWS).arrays(), "sample.keys": arrays["sample.keys"]}, N)
    with pytest.raises(ValueError, match=r"lexicon\.blob is missing"):
        Counts.from_arrays({name: arrays[name] for name in arrays if name != "sample.lexicon.blob"}, N, 256)
    with pytest.raises(ValueError, match="not in ascending order"):
        Counts.from_arrays({**arrays, "sample.keys": arrays["sample.keys"][::-1].copy()}, N, 256)


# Files


@given(labelled, options, st.booleans(), st.booleans())
def test_counts_are_had_back_from_their_arrays(rows, settings, hashed, weighted):
    buckets = 1 << 12 if hashed else None
    counts = tally(rows, settings, buckets=buckets, weights=np.linspace(0.1, 3, len(rows)) if weighted else None)
    back = Counts.from_arrays(counts.arrays(), N, buckets)
    assert back == counts
    assert [back.table(c) for c in range(N)] == [counts.table(c) for c in range(N)]


def test_counts_without_classes():
    assert Counts.from_arrays(Counts.nothing(0).arrays(), 0) == Counts.nothing(0)


def test_arrays_that_can_only_be_read_serve_as_well():
    counts = tally(ROWS, PAIRS)
    arrays = {name: np.frombuffer(array.tobytes(), array.dtype) for name, array in counts.arrays().items()}
    back = Counts.from_arrays(arrays, N)
    assert back + counts - back == counts
    assert back.matrix()[1].tolist() == counts.matrix()[1].tolist()
    weights = Weights(back.keys(), np.ones((len(back.keys()), 2)))
    assert weights.score(Texts.of([ROWS[0][0]]), PAIRS).known.tolist() == [6]


def moved(name, change):
    """A way to spoil one array."""

    def spoil(arrays):
        arrays[name] = change(arrays[name].copy())

    return spoil


def put(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def half_a_letter(arrays):
    """One of two words that end in é ends a byte earlier; the other may be the last."""
    word = arrays["lexicon.blob"].tobytes().index("é".encode()) + 1
    arrays["lexicon.ends"] = np.where(arrays["lexicon.ends"] == word + 1, word, arrays["lexicon.ends"])


def in_a_circle(arrays):
    """An n-gram that is its own prefix, its last word made to fit."""
    h = 0x123456789ABCDEF1
    word = (h - join(h, 0)) % 2**64
    arrays |= {
        "links.keys": np.array([h], np.uint64),
        "links.prefixes": np.array([h], np.uint64),
        "lexicon.keys": np.array([word], np.uint64),
        "lexicon.blob": np.frombuffer(b"aa", np.uint8),
        "lexicon.ends": np.array([0, 2]),
        "keys": np.array([h], np.uint64),
        "numbers": np.array([1]),
        "ends": np.array([0, 1, 1, 1]),
    }


SPOILT = {
    "a missing array": (lambda arrays: arrays.pop("documents"), "documents is missing"),
    "one too many": (lambda arrays: arrays.update(more=arrays["keys"]), "more belongs nowhere"),
    "keys of another type": (moved("keys", lambda a: a.astype(np.int64)), "keys is of the wrong type"),
    "two axes": (moved("numbers", lambda a: a[:, None]), "numbers is of the wrong type"),
    "short numbers": (moved("numbers", lambda a: a.astype(np.float32)), "numbers is of the wrong type"),
    "a count of zero": (moved("numbers", put(1, 0)), "numbers is not a number other than 0"),
    "no number": (moved("numbers", lambda a: put(1, np.nan)(a.astype(float))), "numbers is not a number other than 0"),
    "too few numbers": (moved("numbers", lambda a: a[1:]), "numbers is not a number other than 0 for each key"),
    "documents of two classes": (moved("documents", lambda a: a[:2]), "documents is not a number for each of 3"),
    "infinite documents": (moved("documents", lambda a: a * np.inf), "documents is not a number for each of 3"),
    "lists beyond the end": (moved("ends", put(-1, 10**12)), "ends does not cut"),
    "lists that overlap": (moved("ends", put(1, 10**6)), "ends does not cut"),
    "a list too few": (moved("ends", lambda a: a[:-1]), "ends does not cut"),
    "keys out of order": (moved("keys", lambda a: a[::-1]), "keys are not in ascending order"),
    "a key twice": (moved("keys", lambda a: put(1, a[0])(a)), "keys are not in ascending order"),
    "a key of zero": (moved("keys", put(0, 0)), "keys are not in ascending order from 1 on"),
    "a key without a text": (moved("keys", lambda a: put(0, a[0] - np.uint64(1))(a)), "a token has no text"),
    "words out of order": (moved("lexicon.keys", lambda a: a[::-1]), "lexicon.keys are not in ascending order"),
    "texts beyond the end": (moved("lexicon.ends", put(-1, 10**9)), "lexicon.ends does not cut"),
    "no UTF-8": (moved("lexicon.blob", put(0, 0xFF)), "the texts of lexicon are not UTF-8"),
    "half a letter": (half_a_letter, "the texts of lexicon are cut within a letter"),
    "links out of order": (moved("links.keys", lambda a: a[::-1]), "links.keys are not in ascending order"),
    "a prefix too few": (moved("links.prefixes", lambda a: a[1:]), "links.prefixes is not a prefix for each"),
    "a strange prefix": (moved("links.prefixes", lambda a: a + np.uint64(1)), "the last word of an n-gram is not in"),
    "no links": (
        lambda arrays: arrays.update({"links.keys": arrays["links.keys"][:0], "links.prefixes": arrays["keys"][:0]}),
        "a token has no text",
    ),
    "prefixes in a circle": (in_a_circle, "lead to no word within 256 steps"),
}


@pytest.mark.parametrize("what", SPOILT)
def test_arrays_that_do_not_fit_are_refused(what):
    arrays = tally(ROWS, PAIRS).arrays()
    spoil, message = SPOILT[what]
    spoil(arrays)
    with pytest.raises(ValueError, match=message):
        Counts.from_arrays(arrays, N)


def test_a_prefix_must_be_known():
    counts = tally([(b"aa bb", 0)], Tokens(ngrams=(2, 2)))
    arrays = counts.arrays()
    row = counts.lexicon.find(np.array([key(b"aa")], np.uint64))[0]
    other = 1 - row
    arrays["lexicon.keys"] = arrays["lexicon.keys"][[other]]
    start, stop = arrays["lexicon.ends"][other : other + 2]
    arrays["lexicon.blob"], arrays["lexicon.ends"] = arrays["lexicon.blob"][start:stop], np.array([0, 2])
    with pytest.raises(ValueError, match="the prefix of an n-gram is neither a word nor an n-gram"):
        Counts.from_arrays(arrays, N)


@pytest.mark.parametrize("buckets", [0, 3, 128, 1 << 25, True, 256.0, "256", [256]])
def test_buckets_of_a_file_are_checked(buckets):
    with pytest.raises(ValueError, match="expected a power of two from 2\\^8 to 2\\^24"):
        Counts.from_arrays(tally(ROWS, buckets=256).arrays(), N, buckets)


def test_keys_of_buckets_are_checked():
    arrays = tally(ROWS, buckets=256).arrays()
    with pytest.raises(ValueError, match="a key is not that of one of 256 buckets"):
        Counts.from_arrays({**arrays, "keys": arrays["keys"] + np.uint64(1)}, N, 256)
    words = tally(ROWS).arrays()
    with pytest.raises(ValueError, match="buckets have words or n-grams beside them"):
        Counts.from_arrays({**arrays, **{name: words[name] for name in words if "lexicon" in name}}, N, 256)


def test_the_mark_of_pruning_is_checked():
    with pytest.raises(ValueError, match="pruned is neither true nor false"):
        Counts.from_arrays(tally(ROWS).arrays(), N, None, 1)


def test_lexicons_joined_range_by_range_are_joined():
    rng = np.random.default_rng(4)
    parts = [Labels.of({f"w{i}" for i in rng.integers(0, 9000, many)}) for many in (6000, 1, 3000)]
    ranges = in_ranges(parts)
    assert len(ranges) == 4
    assert end_to_end([one_lexicon(some) for some in ranges]) == one_lexicon(parts)
    assert end_to_end([one_lexicon(some) for some in in_ranges(parts[1:2])]) == parts[1]
    assert end_to_end([]) == one_lexicon([]) == Labels.of([])


def test_many_words_counted_by_threads():
    rng = np.random.default_rng(5)
    documents = Texts.of([" ".join(f"w{i}" for i in rng.integers(0, 9000, 400)) for _ in range(60)])
    classes = rng.integers(0, 3, 60)
    one, *more = (count(documents, classes, 3, PAIRS, threads=n, shard=20_000) for n in (1, 2, 5))
    assert len(one.lexicon) > 4096
    assert all(other == one for other in more)
    assert count(documents, classes, 3, PAIRS) == one


def test_choosing_classes_trims_what_only_the_others_have():
    rows = [(b"aa bb", 0), (b"bb cc", 2)]
    counts = tally(rows)
    assert counts.select([2, 1, 0]).lexicon == counts.lexicon
    assert counts.select([2, 0]).lexicon == counts.lexicon
    assert counts.select([2]).lexicon.texts() == tally(rows[1:]).lexicon.texts()


# One message


def test_a_kept_reader_scores_as_a_new_one():
    documents = ["free prize", "lunch at noon, café", "", "free " * 40, "é" * 300, "prize"]
    counts = count(Texts.of(documents), np.zeros(6, np.int64), 1, PAIRS)
    values = np.random.default_rng(1).normal(size=(len(counts.keys()), 2))
    for distinct in (False, True):
        weights = Weights(counts.keys(), values)
        whole = weights.score(Texts.of(documents), PAIRS, distinct=distinct, shard=1, threads=2)
        for _ in range(2):
            for i, text in enumerate(documents):
                one = weights.score(Texts.of([text]), PAIRS, distinct=distinct)
                assert [part[0].tolist() for part in one] == [part[i].tolist() for part in whole]
        assert len(weights._spare) == 1


def test_threads_do_not_share_a_kept_reader():
    from concurrent.futures import ThreadPoolExecutor

    documents = [f"w{i} w{i + 1} free" for i in range(300)]
    counts = count(Texts.of(documents), np.zeros(300, np.int64), 1)
    weights = Weights(counts.keys(), np.random.default_rng(2).normal(size=(len(counts.keys()), 1)))
    whole = weights.score(Texts.of(documents)).sums
    with ThreadPoolExecutor(4) as pool:
        alone = list(pool.map(lambda text: weights.score(Texts.of([text])).sums[0], documents * 3))
    np.testing.assert_array_equal(np.array(alone), np.tile(whole, (3, 1)))


def test_a_matrix_of_many_rows():
    rng = np.random.default_rng(3)
    rows = [(" ".join(f"w{i}" for i in rng.integers(0, 4000, 900)).encode(), c) for c in (0, 0, 2)]
    keys, matrix = tally(rows).matrix()
    assert len(keys) > 1500  # more than are filled at once
    assert tally(rows).matrix(np.float64)[1].dtype == np.float64
    assert tally(rows).matrix(np.float64)[1].tolist() == matrix.tolist()
    assert matrix.tolist() == [[each.get(h, 0) for each in as_dicts(tally(rows))] for h in keys.tolist()]
