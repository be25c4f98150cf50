"""Tallies: alignment, trimming, and bytes that are refused rather than believed."""

import functools
import json
import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenodds import tally as tally_module
from evenodds.data.passes import Summed, added
from evenodds.errors import DataError
from evenodds.families import Bernoulli, Binned, Categorical, Gaussian, WordCounts
from evenodds.families.leaves import Rows
from evenodds.labels import Fixed, Grid, Labels
from evenodds.schema import Column
from evenodds.tally import Leaf, Tally
from laws import numbers


def counts(texts, numbers_, groups=None):
    """A tally of one column's labels, by group if there are any."""
    labels, place = Labels.coded(texts)
    table = np.zeros((len(texts), 1 if groups is None else len(groups)), np.int64)
    table[place] = np.array(numbers_).reshape(len(texts), -1)
    axis = Fixed(1)
    if groups is not None:
        axis, order = Labels.coded(groups)
        table = table[:, np.argsort(order)]
    return Tally.of(axis, {("c", "labels"): Leaf(labels, table)})


def test_labels_that_differ_are_aligned():
    both = counts(["a", "b"], [1, 2]) + counts(["b", "c"], [10, 20])
    assert numbers(both) == {("c", "labels", "a", 0): 1, ("c", "labels", "b", 0): 12, ("c", "labels", "c", 0): 20}


def test_groups_that_differ_are_aligned():
    both = counts(["a"], [[1, 2]], ["x", "y"]) + counts(["b"], [[5]], ["z"])
    assert {at[2:]: n for at, n in numbers(both).items()} == {("a", "x"): 1, ("a", "y"): 2, ("b", "z"): 5}


def test_columns_that_differ_stand_side_by_side():
    a, b = counts(["a"], [1]), counts(["a"], [2]).rename("d")
    assert numbers(a + b) == {("c", "labels", "a", 0): 1, ("d", "labels", "a", 0): 2}
    assert (a + b).columns == ("c", "d")
    assert (a + b).by_column()["d"] == b


def test_labels_that_count_zero_are_dropped():
    rest = counts(["a", "b"], [1, 2]) - counts(["b"], [2])
    assert rest.leaf(("c", "labels")).axis.texts() == ["a"]
    assert Categorical.tally(["a", "b"], weights=[1, 0]).leaf(("x", "labels")).axis.texts() == ["a"]


def test_groups_that_count_zero_are_dropped():
    both = counts(["a"], [[1, 2]], ["x", "y"])
    assert (both - counts(["a"], [[2]], ["y"])).groups.texts() == ["x"]


def test_places_that_are_given_stay_and_are_empty():
    arms = Gaussian.tally([1.0, 0.1, 0.2]).rename("r")
    rows = [
        Gaussian.leaves([np.array([x])], Rows(np.array([arm]), 3), {"r": Column()}) for arm, x in enumerate([1, 2, 3])
    ]
    one, two, three = (Tally.of(Fixed(3), leaves) for leaves in rows)
    rest = one + two + three - two
    assert len(rest.groups) == 3
    assert rest + two == one + two + three
    left = (
        arms - Gaussian.tally([0.2]).rename("r") - Gaussian.tally([1.0]).rename("r") - Gaussian.tally([0.1]).rename("r")
    )
    assert numbers(left) == {}
    assert len(left.groups) == 1


def test_of_the_sums_of_a_given_place_that_is_empty_nothing_stays_even_if_they_were_endless():
    rows = Leaf(Fixed(1), np.array([[0, 2]]))
    left = Tally.of(Fixed(2), {("r", "rows"): rows, ("r", "s"): Leaf(Fixed(1), np.full((2, 1, 2), np.nan), True)})
    np.testing.assert_array_equal(left.trimmed()["r", "s"], [[0, np.nan]])


def test_what_remains_of_the_sums_of_an_empty_group_goes_with_it():
    a = Gaussian.tally([0.1, 0.2, 0.3], groups=["x", "x", "y"])
    rest = a - Gaussian.tally([0.2], groups=["x"]) - Gaussian.tally([0.1], groups=["x"])
    assert rest.groups.texts() == ["y"]
    assert rest == Gaussian.tally([0.3], groups=["y"])


def test_a_tally_does_not_change_when_others_are_made_of_it():
    a, b = counts(["a", "b"], [1, 2]), counts(["b", "c"], [10, 20])
    before = a.to_bytes()
    a + b, a - a, a * 2, a * 0.5, -a, a.pooled(), a.trimmed(), Tally.total([a, b, a])
    assert a.to_bytes() == before


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_groups_that_are_picked_come_in_the_order_in_which_they_are_asked_for(order):
    texts = WordCounts.tally(["free prize", "free beer", "free", "hello"], groups=["a", "b", "b", "b"])
    both = texts + counts(["red"], [[1, 3]], ["a", "b"]).rename("d")
    turned = both.picked(Fixed(2), np.array(order))
    rows = [{"a": 1, "b": 3}[both.groups.text(g)] for g in order]
    assert turned["d", "labels"].tolist() == [rows]
    assert turned.lists["x", "words"].documents.tolist() == rows


def test_a_group_that_is_owed_texts_is_not_empty():
    one, other = (WordCounts.tally(["free prize"], groups=[group]) for group in "ab")
    assert (one - other).groups.texts() == (one + other).groups.texts()
    assert (one - other) + other == one


def test_what_is_worked_out_of_a_tally_is_worked_out_once_and_of_its_own_numbers():
    a, b = counts(["a", "b"], [1, 2]), counts(["a", "b"], [10, 20])
    asked = []

    def most(tally):
        asked.append(tally)
        return tally["c", "labels"].max()

    for tally, found in ((a, 2), (b, 20), (a, 2), (a + b, 22)):
        assert tally.once("most", lambda tally=tally: most(tally)) == found
    assert len(asked) == 3
    assert a.once("least", lambda: 1) == 1


def test_bins_are_cut_anew_for_another_number_of_them_and_another_origin():
    tally = Binned.tally([1.0, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0])
    sizes = [len(Binned.table(tally, Column(Binned, bins=bins))) for bins in (8, 4, 8)]
    assert sizes == [8, 4, 8]
    first = [Binned.estimate(tally, column=Column(Binned, origin=origin)).edges[0] for origin in (0.0, 100.0)]
    assert first == [1.0, 101.0]


def test_the_leaves_of_a_tally_are_not_to_be_written_to():
    a = counts(["a", "b"], [1, 2])
    with pytest.raises(ValueError, match="read-only"):
        a["c", "labels"][0, 0] = 99


def test_counts_stay_integers_beyond_the_digits_of_a_double():
    large = counts(["a"], [2**60 + 1])
    assert (large + counts(["a"], [1]))["c", "labels"][0, 0] == 2**60 + 2
    assert (large * 2)["c", "labels"][0, 0] == 2**61 + 2
    half = large * 0.5 + large * 0.5
    assert half == large
    assert (half - counts(["a"], [2**60]))["c", "labels"].tolist() == [[1.0]]  # which the nearest double lacks


def test_counts_that_no_integer_holds_any_more_are_scaled_as_numbers():
    large = counts(["a", "b"], [2**40 + 1, 3]) * 2**30
    found = {at[2]: n for at, n in numbers(large).items()}
    assert found == {"a": float(2**70 + 2**30), "b": 3.0 * 2**30}


def test_words_taken_from_a_tally_that_has_none_are_owed():
    texts = WordCounts.tally(["free prize free", "free beer"])
    nothing = Tally.of(texts.groups, {})
    owed = nothing - texts
    assert owed.lists["x", "words"].documents.tolist() == [-2]
    assert owed + texts == nothing
    assert owed + texts + texts == texts


@pytest.mark.parametrize("factor", [2.0**62, 2.0**64])
def test_a_factor_that_no_integer_holds_is_a_number(factor):
    assert (counts(["a"], [3]) * factor)["c", "labels"].tolist() == [[3 * factor]]


@pytest.mark.parametrize("factor", [np.nan, np.inf, -np.inf])
def test_a_factor_is_a_finite_number(factor):
    with pytest.raises(ValueError, match=f"a tally times {factor}: expected a finite number, or one for each group"):
        Bernoulli.tally([1, 0, 1]) * factor


def test_scaling_by_group_scales_each_groups_numbers():
    both = counts(["a"], [[1, 2]], ["x", "y"])
    factors = np.array([{"x": 3.0, "y": 0.5}[group] for group in both.groups.texts()])
    assert {at[3]: n for at, n in numbers(both * factors).items()} == {"x": 3.0, "y": 1.0}


def test_what_cannot_be_added_is_refused_by_name():
    a = Tally.of(Fixed(1), {("c", "sides"): Leaf(Fixed(2), np.zeros((2, 1), np.int64))})
    b = Tally.of(Fixed(1), {("c", "sides"): Leaf(Fixed(3), np.zeros((3, 1), np.int64))})
    with pytest.raises(ValueError, match="tallies of column 'c' differ in their 'sides'"):
        a + b
    with pytest.raises(ValueError, match="tallies of column 'c' differ in their 'sides'"):
        Tally.total([a, a, b])
    c = Tally.of(Fixed(1), {("c", "sides"): Leaf(Fixed(2), np.zeros((2, 2, 1)), is_sum=True)})
    with pytest.raises(ValueError, match="tallies of column 'c' differ in their 'sides'"):
        a + c  # a count and a sum
    with pytest.raises(ValueError, match="tallies of column 'x' are of different kinds: one has no 'histogram'"):
        Binned.tally([1.0]) + Gaussian.tally([1.0])


def test_tallies_of_a_fixed_number_of_groups_and_another_are_not_added():
    one, two = (Tally.of(Fixed(n), {("c", "n"): Leaf(Fixed(1), np.ones((1, n), np.int64))}) for n in (1, 2))
    with pytest.raises(ValueError, match="different groups"):
        one + two


@pytest.mark.parametrize("other", [1, 2.5, "text", None, [1]])
def test_only_tallies_are_added(other):
    a = counts(["a"], [1])
    with pytest.raises(TypeError, match="Tally"):
        a + other
    with pytest.raises(TypeError, match="Tally"):
        other + a
    with pytest.raises(TypeError, match="Tally"):
        a - other
    assert a != other


def test_tallies_that_differ_are_not_equal():
    a = counts(["a", "b"], [1, 2])
    assert a != counts(["a", "b"], [1, 3])
    assert a != counts(["a", "c"], [1, 2])
    assert a != counts(["a", "b", "c"], [1, 2, 1])
    assert a == counts(["a", "b", "c"], [1, 2, 0])
    assert Gaussian.tally([1.0]) != Gaussian.tally([1.0 + 1e-15])
    assert a + WordCounts.tally(["free prize"]) != a
    assert a + WordCounts.tally([None]) == a  # no text at all


def test_tallies_of_incompatible_columns_are_unequal_not_an_error():
    a = Tally.of(Fixed(1), {("c", "sides"): Leaf(Fixed(2), np.ones((2, 1), np.int64))})
    b = Tally.of(Fixed(1), {("c", "sides"): Leaf(Fixed(3), np.ones((3, 1), np.int64))})
    c = Tally.of(Fixed(1), {("c", "sides"): Leaf(Fixed(2), np.ones((2, 2, 1)), is_sum=True)})
    assert a != b
    assert a != c  # counts, and sums


# Bytes


def example():
    return Categorical.tally(["a", "b", "grün", "a"], groups=["x", "y", "x", "y"]) + Gaussian.tally(
        [1.0, 2.0, 3.0, 4.0], groups=["x", "y", "x", "y"]
    ).rename("g")


def test_bytes_are_safetensors():
    from safetensors.numpy import load

    arrays = load(example().to_bytes())
    assert {"counts", "sums", "groups.keys", "groups.blob", "groups.ends"} <= set(arrays)


@pytest.mark.parametrize(
    "nonsense", [b"", b"x", b"\xff" * 8, b"\0" * 100, b"PK\x03\x04" * 20, b"{}" * 50], ids=lambda data: repr(data[:4])
)
def test_nonsense_is_refused(nonsense):
    with pytest.raises(ValueError, match="not a tally"):
        Tally.from_bytes(nonsense)


def test_the_file_of_another_program_is_refused():
    from safetensors.numpy import save

    with pytest.raises(ValueError, match="not a tally"):
        Tally.from_bytes(save({"weights": np.zeros(3)}))
    with pytest.raises(ValueError, match="not a tally"):
        Tally.from_bytes(save({"weights": np.zeros(3)}, {"evenodds": json.dumps({"leaves": [], "groups": "fixed"})}))


@pytest.mark.parametrize("end", [1, 8, 50, -1, -9])
def test_a_file_cut_short_is_refused(end):
    with pytest.raises(ValueError, match="not a tally"):
        Tally.from_bytes(example().to_bytes()[:end])


@settings(max_examples=150)
@given(place=st.integers(0, 10_000), value=st.integers(0, 255), more=st.binary(max_size=6))
def test_changed_bytes_are_refused_or_are_another_tally(place, value, more):
    data = bytearray(example().to_bytes())
    data[place % len(data)] = value
    at = (place * 31) % len(data)
    data[at : at + len(more)] = more
    try:
        changed = Tally.from_bytes(bytes(data))
    except DataError:
        return
    changed.to_bytes()
    changed + changed
    numbers_or_texts(changed)


def numbers_or_texts(tally):
    """Everything a tally can be asked, short of nonsense texts."""
    for name in tally.layout.specs:
        axis = tally.layout.specs[name].axis
        assert len(tally[name]) == len(axis)
        assert isinstance(axis, Grid)


def rewritten(change):
    arrays, header = example().arrays()
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(arrays, header)
    return arrays, header


def _set(arrays, name, value):
    arrays[name] = value


BROKEN = {
    "numbers that do not fit": lambda a, h: _set(a, "counts", a["counts"][:-1]),
    "numbers of another type": lambda a, h: _set(a, "counts", a["counts"].astype(np.float32)),
    "sums of another type": lambda a, h: _set(a, "sums", a["sums"].astype(np.float32)),
    "keys out of order": lambda a, h: _set(a, "groups.keys", a["groups.keys"][::-1].copy()),
    "keys twice": lambda a, h: _set(a, "groups.keys", np.repeat(a["groups.keys"][:1], 2)),
    "keys of another type": lambda a, h: _set(a, "groups.keys", a["groups.keys"].astype(np.int64)),
    "texts cut out of order": lambda a, h: _set(a, "groups.ends", np.array([0, 9, 2])),
    "texts that end early": lambda a, h: _set(a, "groups.ends", np.array([0, 0, 1])),
    "too few texts": lambda a, h: _set(a, "groups.ends", a["groups.ends"][:-1]),
    "an unknown axis": lambda a, h: h.update(groups="circle"),
    "an array that is missing": lambda a, h: a.pop("groups.blob"),
    "a header without leaves": lambda a, h: h.pop("leaves"),
    "a leaf without an axis": lambda a, h: h["leaves"][0].pop("axis"),
    "texts that are not UTF-8": lambda a, h: _set(a, "groups.blob", np.full_like(a["groups.blob"], 255)),
    "an axis of another length": lambda a, h: _set(a, "axis1.keys", np.arange(2)),
    "the same leaf twice": lambda a, h: h["leaves"].append(h["leaves"][0]),
}


@pytest.mark.parametrize("what", BROKEN)
def test_arrays_that_do_not_fit_together_are_refused(what):
    with pytest.raises(ValueError, match="not a tally"):
        Tally.from_arrays(*rewritten(BROKEN[what]))


def test_a_list_that_has_the_name_of_a_leaf_is_refused():
    arrays, header = (example() + WordCounts.tally(["free prize"], groups=["x"]).rename("w")).arrays()
    Tally.from_arrays(arrays, header)
    header["lists"][0] |= {name: header["leaves"][0][name] for name in ("column", "leaf")}
    with pytest.raises(ValueError, match=r"not a tally: leaf .* occurs twice"):
        Tally.from_arrays(arrays, header)


def test_many_sums_are_held_a_few_at_a_time_and_aligned_once(monkeypatch):
    sizes, total = [], tally_module._total
    monkeypatch.setattr(tally_module, "_total", lambda many: sizes.append(len(many)) or total(many))
    parts = [Bernoulli.tally([1, 0], groups=["ab"[i % 2], str(i)]) for i in range(70)]
    found = added(lambda i: Summed([parts[i]]), range(70), 1, Summed.total)
    assert found.tallies[0] == functools.reduce(operator.add, parts)
    assert max(sizes) == 17  # what was added so far, and 16 more
    assert len(sizes) == 5
