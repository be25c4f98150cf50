"""Kernel densities: their laws, their fast sums beside the slow ones, their bandwidths, and what cannot be."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity as Peer

from evenodds.data.geyser import geyser
from evenodds.errors import DataError
from evenodds.families.density import bandwidths, binning, points, slow, sums
from evenodds.families.density.points import Points, Sums
from evenodds.families.density.shapes import SHAPES, Bell
from evenodds.models.kernel_density import KernelDensity
from evenodds.schema import RULES

EACH_SHAPE = pytest.mark.parametrize("shape", SHAPES.values(), ids=list(SHAPES))
NOBODY = np.full(0, -1)
values = st.lists(st.floats(-1e3, 1e3, allow_subnormal=False), min_size=1, max_size=20)
widths = st.floats(1e-3, 1e3)


NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


def integral(function, low, high, cuts=()):
    """∫ by pieces between the cuts, where a kernel's edges may be, all pieces at once."""
    ends = np.unique([low, high, *(cut for cut in cuts if low < cut < high)])
    half = np.diff(ends)[:, None] / 2
    return float((function((ends[:-1, None] + half) + half * NODES) * (half * WEIGHTS)).sum())


# -- the shapes --------------------------------------------------------------------------------------------------------


@EACH_SHAPE
def test_a_kernel_is_symmetric_and_has_mass_one_and_the_variance_and_roughness_it_says(shape):
    reach = 12.0 if isinstance(shape, Bell) else 1.0
    u = np.linspace(0, reach, 1001)
    assert np.array_equal(shape.at(u), shape.at(-u))
    cuts = np.linspace(-reach, reach, 61)
    assert integral(shape.at, -reach, reach, cuts) == pytest.approx(1, abs=1e-12)
    assert integral(lambda u: u * u * shape.at(u), -reach, reach, cuts) == pytest.approx(shape.variance, abs=1e-12)
    assert integral(lambda u: shape.at(u) ** 2, -reach, reach, cuts) == pytest.approx(shape.roughness, abs=1e-12)
    for end in (-0.9, -0.2, 0.0, 0.4, 1.0):
        assert integral(shape.at, -reach, end, cuts) == pytest.approx(shape.cdf(np.array([end]))[0], abs=1e-12)


@EACH_SHAPE
def test_what_a_kernel_draws_has_its_distribution(shape):
    drawn = shape.draw(np.random.default_rng(0), 20_000)
    assert stats.kstest(drawn, lambda u: shape.cdf(np.asarray(u))).pvalue > 0.01


def test_canonical_widths():  # Marron and Nolan (1988): how much wider than the Gaussian
    known = {"gaussian": 1, "boxcar": 1.740, "epanechnikov": 2.214, "triangular": 2.432, "biweight": 2.623}
    assert {name: pytest.approx(SHAPES[name].spread, abs=2e-3) for name in known} == known


# -- the density -------------------------------------------------------------------------------------------------------


@EACH_SHAPE
@settings(deadline=None, max_examples=15)
@given(values, widths)
def test_it_has_mass_one_the_mean_of_the_points_and_their_variance_plus_the_kernels(shape, x, h):
    x = np.array(x)
    density = KernelDensity(h, kernel=shape.name).fit(x).density_
    reach = (9.0 if isinstance(shape, Bell) else 1.0) * h
    cuts = np.concatenate([np.unique(x) + step * reach for step in np.linspace(-1, 1, 19)])
    low, high, middle = x.min() - reach, x.max() + reach, float(x.mean())
    assert integral(density.pdf, low, high, cuts) == pytest.approx(1, abs=1e-9)
    assert density.mean == pytest.approx(middle, abs=1e-9)
    spread = integral(lambda at: (at - middle) ** 2 * density.pdf(at), low, high, cuts)
    assert density.variance == pytest.approx(x.var() + h * h * shape.variance, rel=1e-12)
    assert spread == pytest.approx(density.variance, rel=1e-7)


@EACH_SHAPE
@settings(deadline=None, max_examples=15)
@given(st.data(), values, widths)
def test_quantiles_turn_the_distribution_function_round(shape, data, x, h):
    shares = np.array(data.draw(st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=5)))
    found = KernelDensity(h, kernel=shape.name).fit(x)
    at = found.quantile(shares)
    assert found.cdf(at) == pytest.approx(shares, abs=1e-9)
    assert np.all(np.diff(found.cdf(np.sort([*at, *x]))) >= -1e-12)


@EACH_SHAPE
@pytest.mark.parametrize("ends", [(0, None), (None, 1), (0, 1)], ids=["low", "high", "both"])
@pytest.mark.parametrize("h", [0.02, 0.3, 5.0])
def test_reflection_keeps_all_mass_in_the_support(shape, ends, h):
    x = np.random.default_rng(0).beta(0.7, 2, 40)
    found = KernelDensity(h, kernel=shape.name, support=ends).fit(x)
    grid = np.linspace(0 if ends[0] == 0 else -9 * h, 1 if ends[1] == 1 else 1 + 9 * h, 10_001)
    mass = integrate.cumulative_trapezoid(found.pdf(grid), grid, initial=0)
    assert mass[-1] == pytest.approx(1, abs=1e-3)  # a boxcar jumps between the places of the grid
    assert found.cdf(grid) == pytest.approx(mass, abs=1e-3)
    outside = np.array([-1e-6, -3.0] if ends[0] == 0 else [1 + 1e-6, 4.0])
    assert np.array_equal(found.pdf(outside), [0, 0])
    assert np.array_equal(found.log_prob(outside), [-np.inf, -np.inf])
    inside = found.quantile([0.1, 0.5, 0.9])
    assert found.log_prob(inside) == pytest.approx(np.log(found.pdf(inside)), abs=1e-12)
    drawn = found.sample(2000, random_state=1)
    assert stats.kstest(drawn, found.cdf).pvalue > 0.01
    with pytest.raises(ValueError, match="the variance of a reflected density"):
        _ = found.density_.variance


@EACH_SHAPE
def test_weights_count_values(shape):
    rng = np.random.default_rng(8)
    x, weights = rng.normal(size=60), rng.integers(0, 4, 60)
    at = np.linspace(-4, 4, 50)
    for rule in (0.7, "scott", "silverman", "sj", "isj"):
        weighted = KernelDensity(rule, kernel=shape.name).fit(x, sample_weight=weights)
        repeated = KernelDensity(rule, kernel=shape.name).fit(np.repeat(x, weights))
        assert weighted.bandwidth_ == pytest.approx(repeated.bandwidth_, rel=1e-12)
        assert weighted.pdf(at) == pytest.approx(repeated.pdf(at), abs=1e-14)
        assert weighted.grid(64)[1] == pytest.approx(repeated.grid(64)[1], abs=1e-12)


def test_scipy_and_scikit_learn_say_the_same():
    rng = np.random.default_rng(3)
    x, at, h = rng.gamma(2, size=300), np.linspace(-1, 9, 200), 0.37
    scipys = stats.gaussian_kde(x, bw_method=h / x.std(ddof=1))
    found = KernelDensity(h).fit(x)
    assert found.pdf(at) == pytest.approx(scipys(at), abs=1e-9 * found.pdf(at).max())
    assert found.cdf(at[:5]) == pytest.approx([scipys.integrate_box_1d(-np.inf, end) for end in at[:5]], abs=1e-12)
    weights = rng.random(300)
    weighed = stats.gaussian_kde(x, bw_method=1.0, weights=weights)
    ours = KernelDensity(math.sqrt(weighed.covariance[0, 0])).fit(x, sample_weight=weights)
    assert ours.pdf(at) == pytest.approx(weighed(at), abs=1e-12)
    theirs = {"gaussian": "gaussian", "boxcar": "tophat", "epanechnikov": "epanechnikov", "triangular": "linear"}
    for name, peers in (theirs | {"cosine": "cosine"}).items():
        peer = Peer(kernel=peers, bandwidth=h).fit(x[:, None])
        says = np.exp(peer.score_samples(at[:, None]))
        assert KernelDensity(h, kernel=name).fit(x).pdf(at) == pytest.approx(says, abs=1e-9 * says.max())


POINTS, PLACES = [0.3, 1.1, 1.2, 1.9, 2.5, 2.6, 4.0, 7.5], [0.45, 1.6, 3.05, 5.3, 7.1]
OTHERS = {  # statsmodels 0.15.0 at bandwidth 0.8; KDEpy 1.1.12 at 0.8 times the kernel's standard deviation
    "gaussian": (
        0.16231273262361406,
        0.24337144326442262,
        0.16307422026016394,
        0.01842102415455129,
        0.05504442793666227,
    ),
    "boxcar": (0.234375, 0.234375, 0.15625, 0.0, 0.078125),
    "triangular": (0.166015625, 0.234375, 0.11718750000000008, 0.0, 0.07812499999999993),
    "epanechnikov": (0.16708374023437497, 0.26000976562500006, 0.14190673828125006, 0.0, 0.08789062499999994),
    "biweight": (0.1554317772388458, 0.2449750900268555, 0.10918825864791883, 0.0, 0.08239746093749989),
    "cosine": (0.16508604945928082, 0.25699045536638926, 0.1357008518107019, 0.0, 0.08677505738590553),
}


@EACH_SHAPE
def test_statsmodels_and_kdepy_say_the_same(shape):
    found = KernelDensity(0.8, kernel=shape.name).fit(POINTS)
    assert found.pdf(PLACES) == pytest.approx(OTHERS[shape.name], rel=1e-12, abs=1e-15)


# -- fast and slow -----------------------------------------------------------------------------------------------------

DATA = {
    "normal": lambda rng: rng.normal(size=1500),
    "far from zero": lambda rng: 1e9 + rng.normal(size=1200),
    "cauchy": lambda rng: rng.standard_cauchy(1200),
    "repeated": lambda rng: np.round(rng.normal(size=1200), 1),
    "two clumps": lambda rng: np.concatenate([rng.normal(size=700), 1e6 + 1e-3 * rng.normal(size=700)]),
    "huge": lambda rng: rng.choice([-1.0, 1.0], 1200) * 1e300 * rng.random(1200),
    "even": lambda rng: np.arange(1200.0),
}


def a_case(name, h):
    rng = np.random.default_rng(7)
    x = DATA[name](rng)
    unit = 1.0 if name != "huge" else 1e299
    at = np.concatenate(
        [rng.choice(x, 150), rng.choice(x, 150) + 3 * h * unit * rng.normal(size=150), [x.min(), x.max()]]
    )
    return Points.of(x, rng.random(len(x)) + 0.1), np.append(at, 0.0), h * unit


@EACH_SHAPE
@pytest.mark.parametrize("h", [1e-4, 0.05, 2.0])
@pytest.mark.parametrize("name", DATA)
def test_fast_sums_are_the_slow_ones(monkeypatch, shape, name, h):
    known, at, h = a_case(name, h)
    monkeypatch.setattr(points, "FEW", 0)
    fast = Sums(known, shape, h)
    oracle = known.x, known.weights, h, at
    exact = slow.values(shape, *oracle)
    assert np.abs(fast.values(at) - exact).max() <= 1e-13 * exact.max()
    assert np.abs(fast.masses(at) - slow.masses(shape, *oracle)).max() <= 1e-13 * known.total
    assert fast.peak >= exact.max()
    none = np.full(len(at), -1), np.zeros(len(at))
    logs = slow.logs(shape, *oracle, *none)
    assert fast.logs(at) == pytest.approx(logs, abs=1e-10, rel=1e-10)
    own = np.arange(0, len(known.x), 1 + len(known.x) // 200)
    less = np.minimum(known.weights[own], 0.5)
    left = slow.logs(shape, known.x, known.weights, h, known.x[own], own, less)
    assert fast.logs(known.x[own], own, less) == pytest.approx(left, abs=1e-9, rel=1e-9)


@EACH_SHAPE
def test_compiled_sums_are_their_python(shape):
    rng = np.random.default_rng(1)
    known, at, h = Points.of(rng.normal(size=90)), rng.normal(size=12), 0.2
    results = []
    for run in ("compiled", "plain"):
        of = Sums(known, shape, h)
        starts, middles = of._starts, of._middles
        out = []
        if isinstance(shape, Bell):
            for damped in (True, False):
                moments = np.empty((len(middles), sums.TERMS))
                getattr(sums.bell_moments, run)(known.x, known.weights, starts, middles, h, damped, moments)
                found = np.empty(len(at))
                if damped:
                    getattr(sums.bell_sums, run)(at, middles, moments, h, found)
                else:
                    getattr(sums.bell_masses, run)(at, middles, moments, known.before[starts], h, found)
                out += [moments.ravel(), found]
            found = np.empty(len(at))
            none = np.full(len(at), -1), np.zeros(len(at))
            getattr(sums.bell_logs, run)(at, known.x, known.weights, h, *none, found)
        else:
            running = np.empty((len(known.x), len(shape.below)))
            getattr(sums.running_powers, run)(known.x, known.weights, starts, middles, h, shape.wave, running)
            table = np.stack([points._expanded(terms, shape.wave) for terms in (shape.above, shape.below)])
            found = np.empty(len(at))
            how = running, known.before, h, table, shape.wave, found
            getattr(sums.window_sums, run)(at, known.x, starts, middles, *how)
            none = np.full(len(at), -1), np.zeros(len(at))
            each = np.empty(len(at))
            getattr(sums.window_each, run)(
                at, known.x, known.weights, h, np.array(shape.terms), shape.wave, *none, each
            )
            out += [running.ravel(), each]
        results.append(np.concatenate([*out, found]))
    assert results[0] == pytest.approx(results[1], rel=1e-13, abs=1e-15)


def test_compiled_counts_are_their_python():
    rng = np.random.default_rng(1)
    places = np.cumsum(rng.integers(1, 5, 60))
    results = []
    for run in ("compiled", "plain"):
        lags, bins, starts = np.zeros(40), np.zeros(30), np.empty(61, np.int64)
        getattr(binning.pair_counts, run)(places, np.ones(60), lags)
        getattr(binning.linear_bins, run)(rng.normal(size=60) * 0 + places, np.ones(60), 3.0, 5.0, bins)
        cells = getattr(sums.cut_cells, run)(places.astype(float), 6.0, starts)
        results.append(np.concatenate([lags, bins, starts[:cells]]))
    assert np.array_equal(*results)


@EACH_SHAPE
def test_a_grid_is_near_the_exact_density(shape):
    x = np.random.default_rng(2).normal(size=500)
    for h in (0.05, 0.337, 2.0):
        found = KernelDensity(h, kernel=shape.name).fit(x)
        places, density = found.grid(256)
        exact = found.pdf(places)
        assert np.abs(density - exact).max() <= (0.05 if shape.name == "boxcar" else 0.005) * exact.max()
        part = found.grid(64, -1.0, 0.5)  # points outside have bumps that reach in
        assert np.abs(part[1] - found.pdf(part[0])).max() <= (0.05 if shape.name == "boxcar" else 0.005) * exact.max()
    narrow = KernelDensity(1e-9, kernel=shape.name).fit(x)
    assert np.array_equal(narrow.grid(16)[1], narrow.pdf(narrow.grid(16)[0]))
    for size in (1, 16.0, "many"):
        with pytest.raises(ValueError, match=f"size={size!r}: expected a whole number, 2 or more"):
            narrow.grid(size)
    with pytest.raises(ValueError, match="a grid from 1 to 0: expected the lower end first"):
        narrow.grid(16, 1.0, 0.0)


# -- bandwidths --------------------------------------------------------------------------------------------------------


def test_sheather_jones_is_rs():  # bw.SJ(seq(0, 1, length = 96)) is 0.1109613
    assert KernelDensity("sj").fit(np.linspace(0, 1, 96)).bandwidth_ == pytest.approx(0.1109613, rel=1e-3)


def test_rules_of_thumb_are_rs():  # density(faithful$eruptions) has bw = 0.3348 (bw.nrd0); bw.nrd has 1.06 for .9
    x = geyser()["eruption"].to_numpy()
    by_default = KernelDensity("silverman").fit(x).bandwidth_
    assert by_default == pytest.approx(0.3348, abs=5e-5)
    assert KernelDensity("scott").fit(x).bandwidth_ == pytest.approx(by_default * 1.06 / 0.9, rel=1e-12)
    heavy = np.concatenate([x, [1e6]])  # the interquartile range is the smaller of the two widths
    low, high = np.percentile(heavy, [25, 75])
    wanted = 0.9 * (high - low) / 1.34 * 273**-0.2
    assert KernelDensity("silverman").fit(heavy).bandwidth_ == pytest.approx(wanted, rel=1e-12)
    tent = KernelDensity("silverman", kernel="epanechnikov").fit(x).bandwidth_
    assert tent == pytest.approx(by_default * 2.214, rel=1e-4)  # its canonical width


@pytest.mark.parametrize("rule", ["scott", "sj", "isj"])
def test_of_a_gaussian_the_rules_find_the_width_of_least_squared_error(rule):  # (4/3)^(1/5) n^(-1/5)
    x = np.random.default_rng(1).normal(size=20_000)
    assert KernelDensity(rule).fit(x).bandwidth_ == pytest.approx((4 / 3 / 20_000) ** 0.2, rel=0.06)


def slow_functional(x, width, order):
    """The double sum as it is written."""
    u = (x[:, None] - x) / width
    hermite = {4: u**4 - 6 * u**2 + 3, 6: u**6 - 15 * u**4 + 45 * u**2 - 15}[order]
    n = len(x)
    return (hermite * stats.norm.pdf(u)).sum() / (n * (n - 1) * width ** (order + 1))


@pytest.mark.parametrize("name", ["normal", "cauchy", "repeated"])
@pytest.mark.parametrize("order", [4, 6])
def test_pairs_are_counted_on_a_grid_fine_enough(name, order):
    x = DATA[name](np.random.default_rng(5))[:800]
    step, width = 1e-4, 0.35
    lags = bandwidths.lag_counts(Points.of(x), step, math.ceil(9 * width / step))
    assert bandwidths.functional(lags, step, width, len(x), order) == pytest.approx(
        slow_functional(x, width, order), rel=1e-3
    )


def slow_botev(x, near):
    """Botev's equation as it is written: a sum of cosines over the points, without a grid."""
    low, reach, n = x.min() - (x.max() - x.min()) / 10, 1.2 * (x.max() - x.min()), len(x)
    k = np.arange(1, 400.0)
    square = np.cos(np.pi * k[:, None] * (x - low) / reach).mean(axis=1) ** 2

    def energy(s, t):
        return 2 * np.pi ** (2 * s) * np.sum(k ** (2 * s) * square * np.exp(-((k * np.pi) ** 2) * t))

    def apart(h):
        found = energy(7, (h / reach) ** 2)
        for s in range(6, 1, -1):
            odd = np.prod(np.arange(1, 2 * s, 2)) / np.sqrt(2 * np.pi)
            found = energy(s, (2 * (1 + 0.5 ** (s + 0.5)) / 3 * odd / n / found) ** (2 / (3 + 2 * s)))
        return reach * (2 * n * np.sqrt(np.pi) * found) ** -0.2 - h

    return optimize.brentq(apart, near / 2, near * 2)


def test_botevs_bandwidth_is_its_definition():
    two_humps = np.concatenate([np.linspace(-3, 3, 61) ** 3 / 9, 10 + np.linspace(-2, 2, 41)])
    for x in (two_humps, np.random.default_rng(0).gamma(2, 3, 200)):
        found = KernelDensity("isj").fit(x).bandwidth_
        assert found == pytest.approx(slow_botev(x, found), rel=1e-4)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("unit", [1e-300, 1e-3, 1.0, 1e290])
def test_bandwidths_have_the_unit_of_the_data(rule, unit):
    x = np.random.default_rng(4).normal(size=60)
    once, scaled = KernelDensity(rule).fit(x), KernelDensity(rule).fit(x * unit)
    assert scaled.bandwidth_ == pytest.approx(once.bandwidth_ * unit, rel=1e-4)


def test_better_rules_find_two_humps():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=500), rng.normal(20, 1, size=500)])
    new = np.concatenate([rng.normal(size=500), rng.normal(20, 1, size=500)])
    widths = {rule: KernelDensity(rule).fit(x) for rule in RULES}
    assert widths["silverman"].bandwidth_ > 2  # of two Gaussians of width 1: it takes them for one
    for rule in ("sj", "isj", "loo"):
        assert 0.15 < widths[rule].bandwidth_ < 0.5
        assert widths[rule].score(new) > widths["silverman"].score(new) + 100


@EACH_SHAPE
def test_leave_one_out_is_the_best_of_all_widths(shape):
    x = np.random.default_rng(6).normal(size=40)
    best = KernelDensity("loo", kernel=shape.name).fit(x).bandwidth_

    def held_out(h):
        each = [np.log(shape.at((x[i] - np.delete(x, i)) / h).sum() / h / 39) for i in range(40)]
        return np.sum(each)

    assert held_out(best) == pytest.approx(bandwidths.log_likelihood(Points.of(x), shape, best), rel=1e-9)
    with np.errstate(divide="ignore"):
        assert held_out(best) >= max(held_out(h) for h in np.geomspace(best / 20, best * 20, 200)) - 1e-4


def test_one_far_value_does_not_blur_the_others():
    x = np.random.default_rng(0).normal(size=200)
    for far in (1e6, 1e300):
        beside = KernelDensity("sj").fit(np.append(x, far)).bandwidth_
        assert beside == pytest.approx(KernelDensity("sj").fit(x).bandwidth_, rel=0.05)
    with pytest.raises(DataError, match="some values lie too far out for a grid"):
        KernelDensity("isj").fit(np.append(x, 1e300))


# -- edges -------------------------------------------------------------------------------------------------------------


def test_tails_are_right_however_far():
    x = np.random.default_rng(0).standard_cauchy(20_000)
    h, density = 0.1, KernelDensity(0.1).fit(x)
    for at in (x.max() + 5.0, x.min() - 1000.0, np.sort(x)[-1] - 2.5, 1e6):
        nearest = np.abs(at - x)
        terms = -0.5 * (nearest / h) ** 2
        exact = np.log(np.exp(terms - terms.max()).sum()) + terms.max() - math.log(len(x) * h * math.sqrt(2 * math.pi))
        assert density.log_prob([at] * 20)[0] == pytest.approx(exact, rel=1e-12)
    assert density.log_prob([1e300])[0] == -np.inf


@EACH_SHAPE
def test_one_value_is_the_kernel_itself(shape):
    one = KernelDensity(2.0, kernel=shape.name).fit([5.0])
    at = np.linspace(0, 10, 21)
    assert one.pdf(at) == pytest.approx(shape.at((at - 5) / 2) / 2, abs=1e-15)
    assert one.density_.variance == pytest.approx(4 * shape.variance)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("x", [[5.0], [5.0, 5.0, 5.0]], ids=["one value", "one value, repeated"])
def test_rules_refuse_what_has_no_width(rule, x):
    with pytest.raises(DataError, match=f"bandwidth='{rule}': all values are 5, which has no width; give a number"):
        KernelDensity(rule).fit(x)


@pytest.mark.parametrize(
    ("settings", "x", "weights", "says"),
    [
        ({"bandwidth": 0}, [1.0, 2.0], None, "bandwidth=0: expected a number above 0, or one of 'scott'"),
        ({"bandwidth": -1.0}, [1.0, 2.0], None, "bandwidth=-1.0: expected a number above 0"),
        ({"bandwidth": math.nan}, [1.0, 2.0], None, "bandwidth=nan: expected a number above 0"),
        ({"bandwidth": "best"}, [1.0, 2.0], None, "bandwidth='best': expected a number or one of"),
        ({"bandwidth": True}, [1.0, 2.0], None, "bandwidth=True: expected a number above 0"),
        ({"bandwidth": 1, "kernel": "tophat"}, [1.0], None, "kernel='tophat': expected one of 'gaussian', 'boxcar'"),
        ({"bandwidth": 1}, [], None, "no values, so there is no density"),
        ({"bandwidth": 1}, [math.nan], None, "no values, so there is no density"),
        ({"bandwidth": 1}, [1.0, 2.0], [0, 0], "no values, so there is no density"),
        ({"bandwidth": 1}, [1.0, 2.0], [1, -1], "the weight of row 1 is -1"),
        ({"bandwidth": 1}, [1.0, math.inf], None, "a value is inf: no density reaches there"),
        ({"bandwidth": "sj"}, [1.0, 2.0], [0.2, 0.3], "the weights add up to 0.5: a weight counts rows"),
        ({"bandwidth": "loo"}, [1.0, 1.0, 2.0, 2.0], None, "every value is there twice or more"),
        ({"bandwidth": 1, "support": (0, 1)}, [0.5, 2.0], None, "a value is 2, outside the support from 0 to 1"),
        ({"bandwidth": 1, "support": (1, 0)}, [0.5], None, "expected two numbers, the lower first"),
        ({"bandwidth": 1, "support": 3}, [0.5], None, "support=3: expected"),
        ({"bandwidth": 1e6, "support": (0, 1)}, [0.5], None, "is as good as uniform: choose a smaller one"),
        ({"bandwidth": 1}, np.zeros((3, 2)), None, "a table of 2 columns: a kernel density is of one"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(settings, x, weights, says):
    with pytest.raises(ValueError) as refused:
        KernelDensity(**settings).fit(x, sample_weight=weights)
    assert says in str(refused.value)


def test_missing_values_are_left_out_and_stay_missing():
    with_gaps = KernelDensity(1.0).fit([1.0, math.nan, 3.0])
    assert with_gaps.pdf([2.0])[0] == KernelDensity(1.0).fit([1.0, 3.0]).pdf([2.0])[0]
    for says in (with_gaps.pdf, with_gaps.cdf, with_gaps.log_prob):
        assert np.isnan(says([math.nan]))[0]
    assert np.array_equal(with_gaps.cdf([-math.inf, math.inf]), [0, 1])
    assert np.array_equal(with_gaps.quantile([0, 1]), [-math.inf, math.inf])
    assert np.array_equal(KernelDensity(1.0, kernel="boxcar").fit([1.0, 3.0]).quantile([0, 1]), [0, 4])


def test_huge_values_do_not_overflow():
    two = KernelDensity(1e299).fit([-1e300, 1e300])
    assert two.cdf([-1e300, 0.0, 1e300]) == pytest.approx([0.25, 0.5, 0.75])
    assert two.quantile([0.25, 0.75]) == pytest.approx([-1e300, 1e300])
    assert two.density_.variance == math.inf
    assert two.pdf([1e300])[0] == pytest.approx(0.5 / 1e299 / math.sqrt(2 * math.pi))


# -- as scikit-learn has it --------------------------------------------------------------------------------------------


def test_it_is_an_estimator():
    frame = pd.DataFrame({"x": np.random.default_rng(0).normal(size=60)})
    table = KernelDensity(0.5).fit(frame)
    assert (
        table.pdf([0.0])
        == KernelDensity(0.5).fit(frame["x"]).pdf([0.0])
        == KernelDensity(0.5).fit(frame.to_numpy()).pdf([0.0])
        == KernelDensity(0.5).fit(pl.from_pandas(frame)).pdf([0.0])
        == KernelDensity(0.5).fit(pa.Table.from_pandas(frame)).pdf([0.0])
        == KernelDensity(0.5).fit(frame.to_numpy().tolist()).pdf([[0.0]])
        == KernelDensity(0.5).fit({"x": frame["x"]}).pdf({"x": [0.0]})
        == KernelDensity(0.5).fit(frame.to_dict("records")).pdf([{"x": 0.0}])
    )
    with pytest.raises(ValueError, match="a table of 2 columns: a kernel density is of one"):
        KernelDensity(0.5).fit([[1.0, 2.0]])
    copy = clone(KernelDensity("isj", kernel="cosine", support=(0, None)))
    assert copy.get_params() == {"bandwidth": "isj", "kernel": "cosine", "support": (0, None)}
    found = GridSearchCV(KernelDensity(), {"bandwidth": [1e-3, 0.4, 50.0]}, cv=3).fit(frame)
    assert found.best_params_ == {"bandwidth": 0.4}
    with pytest.raises(ValueError, match="not fitted"):
        KernelDensity().pdf([1.0])
    assert np.array_equal(table.sample(5, random_state=3), table.sample(5, random_state=3))
