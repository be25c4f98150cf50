"""Labels: one hash in two languages, lists that merge, and texts that must not collide."""

import subprocess
import sys
import tracemalloc
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds import labels as module
from evenodds.errors import DataError
from evenodds.kernel import compiler
from evenodds.keys import key
from evenodds.label_kernels import hash_blob
from evenodds.labels import Fixed, Grid, Labels, canonical, hash_texts, union
from evenodds.tally import Leaf, Tally

EDGES = [
    b"",
    b"\0",
    b"\0" * 8,
    b"\0" * 9,
    b"a",
    b"a\0",
    b"\0a",
    b"12345678",
    b"123456789",
    b"x" * 1000,
    "grün".encode(),
]
texts = st.lists(st.text(max_size=20), max_size=12)


def blob(many):
    ends = np.cumsum([0, *map(len, many)])
    return np.frombuffer(b"".join(many), np.uint8), ends[:-1], ends[1:]


@pytest.mark.parametrize("run", ["compiled", "py_func"])
@given(many=st.lists(st.binary(max_size=40), max_size=10))
def test_the_kernel_hashes_as_python_does(run, many):
    with np.errstate(over="ignore"):
        keys = getattr(hash_blob, run)(*blob(many))
    assert keys.tolist() == [key(text) for text in many]


def test_the_kernel_hashes_the_edges_as_python_does():
    assert hash_blob.compiled(*blob(EDGES)).tolist() == [key(text) for text in EDGES]
    assert len({key(text) for text in EDGES}) == len(EDGES)


@pytest.mark.parametrize("n", [1, 63, 64, 65, 5000])
def test_many_texts_are_hashed_as_few_are(n):
    many = [f"text {i} ü".encode() for i in range(n)]
    assert hash_texts(many).tolist() == [key(text) for text in many]


def test_a_hundred_labels_are_hashed_in_silence_before_the_compiler_is_loaded():
    program = "import evenodds.labels as m; print(len(m.Labels.of(map(str, range(100)))))"
    run = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False)
    assert (run.stdout, run.stderr) == ("100\n", "")


def test_the_key_of_a_text_never_changes():
    # Files depend on it: these are the keys of format version 1.
    assert hex(key(b"spam")) == "0xbff91c32ca08083d"
    assert key(b"") == 0


def test_keys_spread_over_all_64_bits():
    keys = np.array([key(str(i).encode()) for i in range(4000)], np.uint64)
    for bit in range(64):
        ones = ((keys >> np.uint64(bit)) & np.uint64(1)).mean()
        assert abs(ones - 0.5) < 4.5 * 0.5 / np.sqrt(4000), bit


@given(many=texts)
def test_a_label_list_holds_each_text_once_in_key_order(many):
    labels = Labels.of(many)
    assert sorted(labels.texts()) == sorted(set(many))
    assert np.all(labels.keys[1:] > labels.keys[:-1])
    assert labels.keys.tolist() == [key(text.encode()) for text in labels.texts()]


@given(many=texts)
def test_every_text_is_found_in_its_place(many):
    labels, place = Labels.coded(many)
    assert [labels.text(i) for i in place] == many


@given(a=texts, b=texts)
def test_merging_brings_two_lists_into_line(a, b):
    first, second = Labels.of(a), Labels.of(b)
    both, mine, theirs = first.merge(second)
    assert sorted(both.texts()) == sorted({*a, *b})
    assert [both.text(i) for i in mine] == first.texts()
    assert [both.text(i) for i in theirs] == second.texts()
    assert both == second.merge(first)[0]


@given(lists=st.lists(texts, min_size=1, max_size=5))
def test_the_union_of_many_is_the_label_list_of_all(lists):
    assert union([Labels.of(many) for many in lists]) == Labels.of([text for many in lists for text in many])


@given(many=texts, data=st.data())
def test_taking_some_labels_keeps_their_texts(many, data):
    labels = Labels.of(many)
    kept = [i for i in range(len(labels)) if data.draw(st.booleans())]
    assert labels.take(np.array(kept, int)).texts() == [labels.text(i) for i in kept]


@given(a=texts, b=texts)
def test_labels_that_are_not_there_are_found_nowhere(a, b):
    labels, other = Labels.of(a), Labels.of(b)
    for i, text in zip(labels.find(other.keys), other.texts()):
        assert (labels.text(i) == text) if text in a else (i == -1)


@given(a=st.sets(st.integers(-50, 50)), b=st.sets(st.integers(-50, 50)))
def test_grids_merge_as_their_keys_do(a, b):
    first, second = (Grid(np.array(sorted(keys), np.int64)) for keys in (a, b))
    both, mine, theirs = first.merge(second)
    assert both.keys.tolist() == sorted(a | b)
    assert both.keys[mine].tolist() == sorted(a)
    assert both.keys[theirs].tolist() == sorted(b)


def test_axes_of_different_kinds_are_not_aligned():
    with pytest.raises(ValueError, match="a fixed axis cannot be aligned with a labels axis"):
        Fixed(2).merge(Labels.of(["a"]))


# Collisions


@pytest.fixture
def colliding(monkeypatch):
    """A hash that sees the first letter only."""
    monkeypatch.setattr(module, "key", lambda text: text[0] if text else 0)


def test_two_texts_with_one_key_are_an_error_where_a_list_is_made(colliding):
    with pytest.raises(
        DataError, match="labels 'spam' and 'salt' have the same 64-bit key; rename one of them"
    ) as error:
        Labels.coded(["salt", "egg", "spam"])
    assert "egg" not in str(error.value)


def test_two_texts_with_one_key_are_an_error_where_lists_are_merged(colliding):
    a, b = Labels.of(["salt", "egg"]), Labels.of(["spam", "ham"])
    with pytest.raises(DataError, match="labels 'salt' and 'spam' have the same 64-bit key"):
        a.merge(b)
    with pytest.raises(ValueError, match="same 64-bit key"):
        union([b, a])


def test_texts_of_one_length_collide_too(colliding):
    with pytest.raises(DataError, match="labels 'sage' and 'salt' have the same 64-bit key"):
        Labels.of(["sage"]).merge(Labels.of(["salt"]))


def test_the_same_text_twice_is_no_collision(colliding):
    assert Labels.of(["salt", "salt"]).merge(Labels.of(["salt"]))[0].texts() == ["salt"]


def test_tallies_whose_labels_collide_are_not_added(colliding):
    one = np.ones((1, 1), np.int64)
    salt, spam = (Tally.of(Fixed(1), {("c", "labels"): Leaf(Labels.of([text]), one)}) for text in ("salt", "spam"))
    with pytest.raises(ValueError, match="same 64-bit key"):
        salt + spam


# Canonical texts


@pytest.mark.parametrize(
    ("alike", "text"),
    [
        ([1, 1.0, "1", np.int8(1), np.float32(1), np.uint64(1)], "1"),
        ([True, np.bool_(True), "true"], "true"),
        ([0.5, "0.5", np.float64(0.5)], "0.5"),
        ([-3, -3.0, "-3"], "-3"),
        ([0.0, -0.0, 0, "0"], "0"),
        ([1e300, "1e+300"], "1e+300"),
        ([b"spam", "spam", np.bytes_(b"spam")], "spam"),
        ([2**53 - 1, float(2**53 - 1)], "9007199254740991"),
    ],
    ids=str,
)
def test_one_category_has_one_text(alike, text):
    assert [canonical(value) for value in alike] == [text] * len(alike)


def test_a_decimal_of_endless_digits_is_written_short():
    assert [canonical(Decimal(text)) for text in ("1E+999999", "-1E+5000", "0E+5000", "1E+20")] == [
        "1E+999999",
        "-1E+5000",
        "0",
        "1" + "0" * 20,
    ]


def test_surrogates_and_astral_texts_survive():
    odd = ["\ud800", "🎲", "e\u0301", "é", "a\0b", ""]
    assert sorted(Labels.of(odd).texts()) == sorted(odd)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(-2, 9)), max_size=20))
def test_pieces_are_laid_end_to_end_before_the_compiler_is_loaded_and_after(pieces):
    blob, starts = np.arange(50, dtype=np.uint8), np.array([start for start, _ in pieces], np.int64)
    stops = starts + np.array([size for _, size in pieces], np.int64)
    assert compiler() is not None
    with pytest.MonkeyPatch.context() as patch:
        compiled = module.laid(blob, starts, stops)
        patch.delitem(sys.modules, "numba", raising=False)
        plain = module.laid(blob, starts, stops)
    expected = b"".join(blob[start : max(stop, start)].tobytes() for start, stop in zip(starts, stops))
    assert compiled[0].tobytes() == plain[0].tobytes() == expected
    assert compiled[1].tolist() == plain[1].tolist()


def test_where_there_is_no_compiler_long_labels_are_not_laid_byte_by_byte(monkeypatch):
    monkeypatch.setattr(module, "compiler", lambda: None)
    monkeypatch.setattr(module.pack, "compiled", None)
    blob, starts = np.arange(1 << 21, dtype=np.uint8), np.array([1 << 20, 0])
    found, ends = module.laid(blob, starts, starts + (1 << 20))
    assert ends.tolist() == [0, 1 << 20, 1 << 21]
    assert found.tobytes() == blob[1 << 20 :].tobytes() + blob[: 1 << 20].tobytes()


def test_long_labels_are_merged_in_little_more_room_than_they_take():
    one, two = (Labels.of(f"{side}{i:0100}" for i in range(10_000)) for side in "ab")
    one.merge(two)  # compiled by now
    tracemalloc.start()
    both, *_ = one.merge(two)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(both.blob) == len(one.blob) + len(two.blob)
    assert peak < 5 * len(both.blob)
