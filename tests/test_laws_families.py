"""The laws of tallies, over every family (DESIGN, section 7). The learners are listed in laws.py."""

import functools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenodds.errors import DataError
from evenodds.families import Bernoulli, Binned, Categorical, Exponential, Gaussian, Poisson, numeric
from evenodds.families.from_histogram import Bins
from evenodds.families.leaves import Rows
from evenodds.labels import Fixed, Labels
from evenodds.models.classifier import NaiveBayes
from evenodds.schema import Column
from evenodds.tally import Tally
from laws import BY_NAME, LEARNERS, Learner, assert_same, numbers

every_family = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
few = st.integers(0, 5)


def terms(learner: Learner, *runs: list, weight: float = 1.0) -> list[Tally]:
    return [learner.tally([row], weights=[weight]) for rows in runs for row in rows]


@every_family
@given(data=st.data())
def test_the_order_of_two_tallies_changes_nothing(learner, data):
    a, b = (learner.tally(data.draw(learner.rows())) for _ in range(2))
    assert a + b == b + a


@every_family
@given(data=st.data())
def test_brackets_change_nothing(learner, data):
    runs = [data.draw(learner.rows()) for _ in range(3)]
    a, b, c = map(learner.tally, runs)
    assert_same((a + b) + c, a + (b + c), terms(learner, *runs))


@every_family
@given(data=st.data())
def test_nothing_added_is_nothing_changed(learner, data):
    a = learner.tally(data.draw(learner.rows()))
    assert a + Tally.nothing() == a
    assert Tally.nothing() + a == a
    assert a - Tally.nothing() == a


@every_family
@given(data=st.data())
def test_a_tally_taken_from_itself_is_nothing(learner, data):
    a = learner.tally(data.draw(learner.rows()))
    assert a - a == Tally.nothing()
    assert numbers(a - a) == {}


@every_family
@given(data=st.data())
def test_the_total_of_many_is_folding_plus(learner, data):
    runs = data.draw(st.lists(learner.rows(most=4), max_size=6))
    many = [learner.tally(rows) for rows in runs]
    folded = functools.reduce(lambda a, b: a + b, many, Tally.nothing())
    assert_same(Tally.total(many), folded, terms(learner, *runs))
    assert_same(sum(many, Tally.nothing()), folded, terms(learner, *runs))
    if many:
        assert_same(sum(many), folded, terms(learner, *runs))


@every_family
@given(data=st.data())
def test_the_tally_of_all_rows_is_the_sum_of_the_tallies_of_the_parts(learner, data):
    first, second = data.draw(learner.rows()), data.draw(learner.rows())
    assert_same(
        learner.tally(first + second), learner.tally(first) + learner.tally(second), terms(learner, first, second)
    )


@every_family
@given(data=st.data())
def test_rows_taken_out_were_never_there(learner, data):
    kept, forgotten = data.draw(learner.rows()), data.draw(learner.rows())
    rest = learner.tally(kept + forgotten) - learner.tally(forgotten)
    assert_same(rest, learner.tally(kept), terms(learner, kept, forgotten))


@every_family
@given(data=st.data())
def test_the_order_of_rows_changes_nothing(learner, data):
    rows = data.draw(learner.rows())
    shuffled = data.draw(st.permutations(rows))
    assert_same(learner.tally(rows), learner.tally(shuffled), terms(learner, rows))


@every_family
@given(data=st.data())
def test_a_whole_weight_is_counting_that_often(learner, data):
    rows = data.draw(learner.rows(least=1))
    times = data.draw(st.lists(few, min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, n in zip(rows, times) for _ in range(n)]
    weighted = learner.tally(rows, weights=times)
    assert_same(weighted, learner.tally(repeated), terms(learner, rows, weight=5.0))
    assert weighted.counts.dtype == np.int64


@every_family
@given(data=st.data())
def test_a_row_of_weight_zero_is_no_row(learner, data):
    kept, dropped = data.draw(learner.rows()), data.draw(learner.rows())
    weights = [1.0] * len(kept) + [0.0] * len(dropped)
    tally = learner.tally(kept + dropped, weights=weights)
    assert_same(tally, learner.tally(kept), terms(learner, kept))
    assert len(tally.to_bytes()) <= len(learner.tally(kept, weights=[1.0] * len(kept)).to_bytes())


@every_family
@given(data=st.data())
def test_fractional_weights_add_up(learner, data):
    rows = data.draw(learner.rows(least=1))
    weights = st.lists(st.floats(0.01, 10.0), min_size=len(rows), max_size=len(rows))
    one, other = (np.array(data.draw(weights)) for _ in range(2))
    apart = learner.tally(rows, weights=one) + learner.tally(rows, weights=other)
    together = learner.tally(rows, weights=one + other)
    assert_same(apart, together, terms(learner, rows, weight=20.0), weight=20.0)


@given(data=st.data())
def test_weighted_sums_are_the_exact_fractions(data):
    rows = data.draw(st.lists(st.floats(1e-6, 1e6) | st.floats(-1e6, -1e-6), min_size=1, max_size=20))
    weights = data.draw(st.lists(st.floats(0.01, 10.0), min_size=len(rows), max_size=len(rows)))
    tally = Gaussian.tally(np.array(rows), weights=weights)
    x, w = list(map(Fraction, rows)), list(map(Fraction, weights))
    for power, number in enumerate([tally["x", "rows"][0, 0], *tally["x", "moments"][:, 0]]):
        parts = [a * b**power for a, b in zip(w, x)]
        assert abs(Fraction(float(number)) - sum(parts)) <= Fraction(1e-12) * max(map(abs, parts))


@every_family
@given(data=st.data())
def test_scaling_a_tally_is_weighting_its_rows(learner, data):
    rows, factor = data.draw(learner.rows(least=1)), data.draw(st.sampled_from([0.3, 0.5, 2.5, 3]))
    weighted = learner.tally(rows, weights=[factor] * len(rows))
    assert_same(learner.tally(rows) * factor, weighted, terms(learner, rows, weight=3.0), weight=3.0)


@every_family
@given(data=st.data())
def test_the_missing_are_left_out(learner, data):
    rows = data.draw(learner.rows())
    known = [row for row in rows if row is not None and row == row]
    assert_same(learner.tally(rows), learner.tally(known))


@every_family
@given(data=st.data())
def test_bytes_bring_the_tally_back(learner, data):
    rows = data.draw(learner.rows())
    weights = data.draw(st.none() | st.just([0.7] * len(rows)))
    tally = learner.tally(rows, weights=weights)
    again = Tally.from_bytes(tally.to_bytes())
    assert again == tally
    assert again.to_bytes() == tally.to_bytes()
    assert numbers(again) == numbers(tally)


@every_family
@given(data=st.data())
def test_groups_are_separate_tallies(learner, data):
    rows = data.draw(learner.rows())
    groups = data.draw(st.lists(st.sampled_from("abc"), min_size=len(rows), max_size=len(rows)))
    tally = learner.tally(rows, groups=groups)
    found = numbers(tally)
    for group in "abc":
        own = [row for row, g in zip(rows, groups) if g == group]
        mine = {at[:3]: n for at, n in found.items() if at[3] == group}
        alone = {at[:3]: n for at, n in numbers(learner.tally(own)).items()}
        assert mine == alone
    assert_same(tally.pooled(), learner.tally(rows), terms(learner, rows))


def test_forgetting_one_value_of_1e12_leaves_the_variance_right():
    ordinary = np.random.default_rng(0).normal(10, 3, 1000)
    everything = Gaussian.tally(np.append(ordinary, 1e12))
    rest = Gaussian.estimate(everything - Gaussian.tally([1e12]), "mle")
    assert rest.variance == pytest.approx(np.var(ordinary), rel=1e-9)
    assert rest.mean == pytest.approx(np.mean(ordinary), rel=1e-12)


@pytest.mark.parametrize("position", [0, 500, 1000])
@pytest.mark.parametrize("weights", [None, 1.0, 0.3])
def test_it_does_not_matter_where_the_outlier_stood_or_how_much_it_weighed(position, weights):
    ordinary = np.random.default_rng(1).normal(10, 3, 1000)
    everything = Gaussian.tally(np.insert(ordinary, position, 1e12), weights=weights)
    rest = Gaussian.estimate(everything - Gaussian.tally([1e12], weights=weights), "mle")
    assert rest.variance == pytest.approx(np.var(ordinary), rel=1e-9)


def test_a_billion_does_not_drown_the_digits():
    x = [1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16]
    assert Gaussian.fit(x, estimate="mle").variance == 22.5
    assert Gaussian.fit(x, estimate="mean").variance == 30.0
    assert Gaussian.fit(x, estimate="mle").mean == 1e9 + 10


@pytest.mark.parametrize("weights", ["alike", "halves", "random"])
@pytest.mark.parametrize("rows", [733, 20_000, 300_000])
def test_a_constant_is_not_spread_however_often_it_is_there(rows, weights):
    rng = np.random.default_rng(0)
    for value in rng.uniform(0.01, 100, 8).round(2):
        x = np.full(rows, value)
        w = {"alike": None, "halves": np.full(rows, 0.5), "random": rng.random(rows)}[weights]
        whole = Gaussian.tally(x, weights=w)
        half = [None if w is None else w[part] for part in (slice(0, rows // 3), slice(rows // 3, None))]
        parts = Gaussian.tally(x[: rows // 3], weights=half[0]) + Gaussian.tally(x[rows // 3 :], weights=half[1])
        for tally in (whole, parts, whole + whole, whole * 0.3):
            assert numeric.moments(tally)[2] == 0
            assert not Gaussian.informative(tally)


def test_what_is_spread_by_a_trillionth_is_spread():
    x = 1.0 + 1e-12 * np.arange(1000)
    assert Gaussian.fit(x, estimate="mle").variance == pytest.approx(np.var(np.arange(1000)) * 1e-24, rel=1e-3)


def test_values_whose_squares_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="column 'x': its values are so small that their squares are no numbers"):
        NaiveBayes(columns={"x": Gaussian}).fit({"x": [1e-170, 2e-170, 5e-170]}, ["a", "b", "b"]).predict({"x": [0.0]})


def test_an_interrupted_count_leaves_nothing_behind(monkeypatch):
    def interrupted(x, place, groups, gaps, ends, dealt, origins, counts, n, sums):
        counts[0, 5] = 3
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(numeric.kernels, "tally_columns", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Binned.tally([1.0, 2.0, 3.0])
    assert numeric.histogram(Binned.tally([1.0, 2.0, 3.0]))[1].sum() == 3


@pytest.mark.parametrize("family", [Bernoulli, Categorical, Poisson, Exponential, Gaussian, Binned])
def test_a_pooled_prior_has_its_strength_however_little_all_rows_weigh(family):
    learner, x = BY_NAME[family.__name__], [0, 1, 1, 1]
    cells, groups = learner.column(list(map(str, x)) if family is Categorical else x), ["a", "a", "b", "b"]
    light, heavy = (
        family.pooled_prior(family.tally(cells, groups=groups, weights=np.full(4, weight)), 2.0)
        for weight in (2.0**-10, 1.0)
    )
    for mine, theirs in zip(vars(light).values(), vars(heavy).values()):
        if mine is not None and not isinstance(mine, Labels):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


def test_every_float_has_its_own_bin_and_lies_in_it():
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(size=500) * 10.0 ** rng.integers(-30, 30, 500), [0.0, -0.0, 1.0, -1.0, 2.0**-1022]])
    for value in x:
        keys, counts = numeric.histogram(BY_NAME["Binned"].tally([value]))
        lower, upper = numeric.edges(keys)
        assert counts.sum() == 1
        if value > 0:
            assert lower[0] <= value < upper[0]
        elif value < 0:
            assert lower[0] < value <= upper[0]
        else:
            assert keys[0] == 0


@given(
    whole=st.lists(st.integers(-24, 24), min_size=1, max_size=60),
    middle=st.sampled_from([-20.0, 0.0, 20.0]),
    step=st.sampled_from([1.0, 1 / 8, 0.1]),  # bins are 1/8 wide from 16 to 32
    origin=st.sampled_from([0.0, 3.3, -7.1, 1e6 + 0.1]),
    bins=st.integers(2, 40),
)
@example(whole=[0, 1], middle=-20.0, step=1 / 8, origin=0.0, bins=2)
@example(whole=[-1, 0, 1], middle=-20.0, step=0.1, origin=3.3, bins=3)
def test_values_are_found_in_the_bins_in_which_they_were_counted(whole, middle, step, origin, bins):
    """Also those at the very end of a bin, as -20 is, and those that rounding brings there as seen from an origin."""
    x, column = middle + np.array(whole) * step, Column(Binned, origin=origin, bins=bins)
    leaves = numeric.leaves([x], Rows(np.zeros(len(x), np.int32), 1), {"x": column}, histogram=True)
    tally = Tally.of(Fixed(1), leaves)
    found, places = Binned.estimate(tally, "mle", column=column), Bins.of(tally, column)
    counted = np.bincount(found.codes(x), minlength=len(found.shares))
    np.testing.assert_array_equal(counted, Binned.table(tally, column)[:, 0])
    np.testing.assert_array_equal(np.bincount(places.bins(x), minlength=len(places.at)), places.counts[:, 0])


@every_family
@pytest.mark.parametrize("weights", [None, np.ones(4)], ids=["alike", "weighed"])
def test_each_row_has_a_group(learner, weights):
    x = learner.column(learner.ordinary(np.random.default_rng(0), 4))
    for groups, words in (
        (["a", "b"], "2 group values for 4 rows"),
        (list("abcab"), "5 group values for 4 rows"),
        (["a", None, "b", "a"], "the group is missing in row 1; drop such rows"),
        ([None] * 4, "the group is missing in row 0; drop such rows"),
    ):
        with pytest.raises(DataError, match=words):
            learner.family.tally(x, groups=groups, weights=weights)


@every_family
def test_a_variable_is_one_column(learner):
    x = learner.column(learner.ordinary(np.random.default_rng(0), 6))
    column = np.array(x, dtype=object if learner.family.cells == "codes" else float)
    assert learner.family.tally(column[:, None]) == learner.family.tally(x)
    for table in (
        column.reshape(3, 2),
        pd.DataFrame(column.reshape(3, 2)),
        column.reshape(1, 6),
        column[0:1].reshape(()),
    ):
        with pytest.raises(DataError, match="expected one column of values, got an array of shape"):
            learner.family.tally(table)


@every_family
def test_weights_beyond_what_integers_hold_are_weights(learner):
    x = learner.column(learner.ordinary(np.random.default_rng(0), 6))
    heavy, light = (learner.tally(x, weights=np.full(6, weight)) for weight in (1e19, 1.0))
    assert_same(heavy * 1e-19, light, [learner.tally([row]) for row in x], weight=1.0)


def test_the_largest_numbers_can_be_scaled_and_larger_ones_are_refused():
    largest = Gaussian.tally([9e148, -9e148]) * 0.5
    assert np.isfinite(largest.sums).all()
    with pytest.raises(DataError, match="whose squares overflow: rescale it"):
        Gaussian.tally([1e150])


@every_family
def test_groups_are_those_that_rows_have(learner):
    """Whole numbers are codes by themselves, and a list of categories may have more than occur."""
    x, groups = learner.column(learner.ordinary(np.random.default_rng(0), 4)), ["0", "0", "5", "5"]
    tally = learner.family.tally(x, groups=groups)
    for same in (np.array([0, 0, 5, 5]), pd.Categorical(groups, categories=["0", "3", "5"])):
        found = learner.family.tally(x, groups=same)
        assert found.groups == tally.groups
        assert_same(found, tally)


@pytest.mark.parametrize(
    "learner", [one for one in LEARNERS if one.family.cells == "numbers"], ids=lambda one: one.name
)
def test_masked_values_are_missing(learner):
    x = learner.column(learner.ordinary(np.random.default_rng(0), 4))
    masked = np.ma.array(x, mask=[False, True, False, False])
    assert_same(learner.family.tally(masked), learner.family.tally(x[[0, 2, 3]]))


@pytest.mark.parametrize("count", [1e149, 1e200, float("inf")])
def test_a_count_that_is_too_large_is_refused_by_its_own_name(count):
    with pytest.raises(DataError, match=r"column 'x' is .* in row 1: a Poisson column holds counts 0, 1, 2, …"):
        Poisson.tally([1.0, count])
