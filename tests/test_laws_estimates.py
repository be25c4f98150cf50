"""The laws of estimates: densities, likelihoods, posteriors and evidence, over every family."""

import contextlib
import itertools
import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.integrate import dblquad, quad

from evenodds.families import (
    ESTIMATES,
    Bernoulli,
    Beta,
    Binned,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Gaussians,
    Kernel,
    LogGaussian,
    Lomax,
    NegativeBinomial,
    NormalInverseGamma,
    Poisson,
    Quadrature,
    StudentT,
    ZeroAndLog,
)
from evenodds.families.leaves import Rows
from evenodds.labels import Fixed, Labels
from evenodds.schema import Column
from evenodds.tally import Tally
from laws import BY_NAME, COLOURS, LEARNERS, Learner

every_family = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
every_family_but_bins = pytest.mark.parametrize(  # bins are cut, and widths chosen, by all rows and groups at once
    "learner",
    [learner for learner in LEARNERS if learner.family not in (Binned, Gaussians, Kernel)],
    ids=lambda learner: learner.name,
)
every_estimate = pytest.mark.parametrize("estimate", ESTIMATES)
plug_in = pytest.mark.parametrize("estimate", ["mle", "map", "mean"])
seeds = st.integers(0, 10_000)


def ordinary(learner: Learner, n: int = 40, seed: int = 0):
    return learner.column(learner.ordinary(np.random.default_rng(seed), n))


# Likelihood


@every_family
@plug_in
@given(seed=seeds)
def test_the_log_likelihood_from_the_tally_is_that_of_the_rows(learner, estimate, seed):
    x = ordinary(learner, seed=seed)
    fitted = learner.family.fit(x, estimate=estimate, prior=learner.prior)
    from_rows = fitted.log_prob(x).sum()
    assert fitted.log_likelihood(learner.tally(x)) == pytest.approx(from_rows, rel=1e-10)


@every_family
@plug_in
def test_the_log_likelihood_by_group_is_that_of_each_groups_rows(learner, estimate):
    x, groups = ordinary(learner, 60), np.random.default_rng(1).choice(list("abc"), 60)
    tally = learner.tally(x, groups=groups.tolist())
    fitted = learner.family.estimate(tally, estimate, learner.prior)
    each = fitted.log_prob(x)
    for g, group in enumerate(tally.groups.texts()):
        assert fitted.log_likelihood(tally)[g] == pytest.approx(each[groups == group, g].sum(), rel=1e-10)


@given(
    counts=st.lists(st.integers(0, 50), min_size=2, max_size=6).filter(any),
    q=st.lists(st.floats(0.01, 1.0), min_size=6, max_size=6),
)
def test_the_theorem_on_counts_no_shares_explain_the_counts_better_than_their_own(counts, q):
    names = COLOURS[: len(counts)]
    rows = [name for name, n in zip(names, counts) for _ in range(n)]
    best = Categorical.fit(rows, estimate="mle")
    other = np.array(q[: len(counts)]) / sum(q[: len(counts)])
    theirs = sum(n * math.log(p) for n, p in zip(counts, other))
    assert best.log_likelihood(Categorical.tally(rows)) >= theirs - 1e-9


@every_family_but_bins
@given(seed=seeds)
def test_no_parameters_are_more_likely_than_the_mle(learner, seed):
    x, tally = ordinary(learner, 30, seed), learner.tally(ordinary(learner, 30, seed))
    best = learner.family.estimate(tally, "mle")
    other = learner.family.fit(ordinary(learner, 30, seed + 1), estimate="mean", prior=learner.prior)
    assert best.log_prob(x).sum() >= other.log_prob(x).sum()


# Densities


def mass(distribution, low=-np.inf, high=np.inf, cuts=()):
    """∫ p(x) dx between the cuts."""
    ends = [low, *sorted(cuts), high]
    return sum(
        quad(lambda v: float(np.exp(distribution.log_prob(v))), a, b, limit=200)[0] for a, b in itertools.pairwise(ends)
    )


@every_estimate
def test_the_two_sides_of_a_coin_have_all_the_probability(estimate):
    coin = Bernoulli.fit(ordinary(BY_NAME["Bernoulli"]), estimate=estimate)
    assert np.exp(coin.log_prob([0, 1])).sum() == pytest.approx(1, abs=1e-12)


@every_estimate
def test_the_colours_have_all_the_probability(estimate):
    shares = Categorical.fit(ordinary(BY_NAME["Categorical"]), estimate=estimate)
    assert np.exp(shares.log_prob(COLOURS)).sum() == pytest.approx(1, abs=1e-12)
    assert np.isneginf(shares.log_prob(["mauve"])[0])


@every_estimate
def test_counts_have_all_the_probability(estimate):
    events = Poisson.fit(ordinary(BY_NAME["Poisson"]), estimate=estimate)
    assert np.exp(events.log_prob(np.arange(2000))).sum() == pytest.approx(1, abs=1e-10)


@every_estimate
def test_waits_have_all_the_probability(estimate):
    waits = Exponential.fit(ordinary(BY_NAME["Exponential"]), estimate=estimate)
    assert mass(waits, 0, np.inf, cuts=[3, 30]) == pytest.approx(1, abs=1e-8)
    assert np.isneginf(waits.log_prob(-1.0))


@every_estimate
def test_the_bell_has_all_the_probability(estimate):
    bell = Gaussian.fit(ordinary(BY_NAME["Gaussian"]), estimate=estimate)
    assert mass(bell, cuts=[0, 5, 10]) == pytest.approx(1, abs=1e-7)


@every_estimate
def test_zero_and_the_values_above_it_have_all_the_probability(estimate):
    sizes = LogGaussian.fit(ordinary(BY_NAME["LogGaussian"]), estimate=estimate)
    at_zero = float(np.exp(sizes.log_prob(0.0)))
    in_logs = sum(
        quad(lambda y: float(np.exp(sizes.log_prob(math.exp(y)) + y)), a, b, limit=400)[0]
        for a, b in zip([-300, -10, 0, 1, 3, 10], [-10, 0, 1, 3, 10, 300])
    )
    assert at_zero > 0
    assert at_zero + in_logs == pytest.approx(1, abs=1e-6)
    assert np.isneginf(sizes.log_prob(-1.0))


@every_estimate
@pytest.mark.parametrize("lump", [True, False])
def test_the_bins_their_lump_and_their_tails_have_all_the_probability(estimate, lump):
    x = ordinary(BY_NAME["Binned"])
    bins = Binned.fit(x if lump else x[x != 0] - 4, estimate=estimate)
    width = bins.edges[-1] - bins.edges[0]
    assert (bins.lump >= 0) == lump
    at_zero = float(np.exp(bins.log_prob(0.0))) if lump else 0.0
    density = mass(bins, bins.edges[0] - 60 * width, bins.edges[-1] + 60 * width, bins.edges)
    assert at_zero + density == pytest.approx(1, abs=1e-6)


@pytest.mark.parametrize("prior", [Beta(2.0, 3.0), Beta(1.5, 1.0)])
def test_a_beta_integrates_to_1(prior):
    assert mass(prior, 0, 1, cuts=[0.2, 0.8]) == pytest.approx(1, abs=1e-8)


def test_a_gamma_integrates_to_1():
    assert mass(Gamma(2.0, 0.5), 0, np.inf, cuts=[2, 20]) == pytest.approx(1, abs=1e-8)


def test_a_dirichlet_integrates_to_1():
    shares = Dirichlet({"a": 2.0, "b": 3.0, "c": 1.5})
    total, _ = dblquad(lambda a, b: float(np.exp(shares.log_prob([a, b, 1 - a - b]))), 0, 1, 0, lambda b: 1 - b)
    assert total == pytest.approx(1, abs=1e-6)


def test_a_normal_inverse_gamma_integrates_to_1():
    known = NormalInverseGamma(1.0, 2.0, 3.0, 3.0)  # of a variance that is not 1 on average
    total, _ = dblquad(lambda m, v: float(np.exp(known.log_prob((m, v)))), 0, 60, -30, 32)
    assert total == pytest.approx(1, abs=1e-3)


# Samples


def assert_moments(draws, mean, variance):
    """The mean and the variance of draws, by their z-scores."""
    n = len(draws)
    assert abs(draws.mean() - mean) < 4.5 * math.sqrt(variance / n)
    fourth = ((draws - draws.mean()) ** 4).mean()
    assert abs(draws.var() - variance) < 4.5 * math.sqrt(max(fourth - draws.var() ** 2, 0.0) / n)


@every_estimate
@pytest.mark.parametrize("name", ["Bernoulli", "Poisson", "Exponential", "Gaussian"])
def test_sampled_moments_match(name, estimate):
    learner = BY_NAME[name]
    fitted = learner.family.fit(ordinary(learner, 12), estimate=estimate)  # so few that what is not known is felt
    assert_moments(fitted.sample(40_000, random_state=1), fitted.mean, fitted.variance)


@plug_in
def test_sampled_moments_of_sizes_match(estimate):
    fitted = LogGaussian.fit(ordinary(BY_NAME["LogGaussian"], 400), estimate=estimate)
    assert_moments(fitted.sample(40_000, random_state=1), fitted.mean, fitted.variance)


def test_sizes_are_known_from_a_histogram_as_well_as_its_bins_are_narrow():
    x = ordinary(BY_NAME["LogGaussian"], 4000)
    found, exact = LogGaussian.estimate(Binned.tally(x), "mle"), LogGaussian.fit(x, estimate="mle")
    assert found.zero == exact.zero
    assert found.log.mean == pytest.approx(exact.log.mean, abs=2e-4)
    assert found.log.variance == pytest.approx(exact.log.variance, rel=1e-3)


def test_a_student_t_of_logs_has_no_finite_mean():
    fitted = LogGaussian.fit(ordinary(BY_NAME["LogGaussian"], 400), estimate="predictive")
    assert fitted.mean == math.inf


FEW_BINS = {"ten": np.random.default_rng(3).normal(5, 2, 10), "two": np.array([1.0, 4.0]), "one": np.full(3, 5.0)}


@pytest.mark.parametrize("x", FEW_BINS.values(), ids=FEW_BINS)
def test_moments_of_bins_match_their_density_and_samples_tails_and_all(x):
    fitted = Binned.fit(x, estimate="mle")
    wide = np.diff(fitted.edges)
    places = [fitted.edges[0] - 60 * wide[0], *fitted.edges, fitted.edges[-1] + 60 * wide[-1]]
    first, second = (
        sum(
            quad(lambda v, k=k: v**k * float(fitted.prob(v)), *ends, epsabs=0)[0] for ends in itertools.pairwise(places)
        )
        for k in (1, 2)
    )
    assert (fitted.mean, fitted.variance) == pytest.approx((first, second - first**2), rel=1e-7)
    assert_moments(fitted.sample(100_000, random_state=1), fitted.mean, fitted.variance)


def test_beyond_n_values_of_an_outer_bin_there_may_be_another():
    """Laplace's rule of succession: n values were inside, and none was beyond."""
    assert Binned.fit([1.0, 2.0, 2.0, 2.0, 3.0, 3.0], estimate="mle").tails == (1 / 3, 1 / 4)


@pytest.mark.parametrize("estimate", ["mle", "mean"])
def test_sampled_colours_have_their_shares(estimate):
    fitted = Categorical.fit(ordinary(BY_NAME["Categorical"], 400), estimate=estimate)
    draws = fitted.sample(40_000, random_state=1)
    for text, share in zip(fitted.labels.texts(), fitted.shares):
        assert abs((draws == text).mean() - share) < 4.5 * math.sqrt(share * (1 - share) / len(draws))


@pytest.mark.parametrize("df", [1e15, 1e45, 1e200])
def test_a_students_t_of_endless_degrees_is_a_gaussian(df):
    x = np.array([-2.0, 0.0, 1.5])
    np.testing.assert_allclose(StudentT(df, 1.0, 0.7).log_prob(x), Gaussian(1.0, 0.49).log_prob(x), rtol=1e-12)


def test_of_no_groups_nothing_is_drawn():
    colours = Categorical.tally(["red"], groups=["a"]).picked(Labels.of([]), np.arange(0))
    assert Categorical.estimate(colours).sample(3).shape == (3, 0)


def test_sampled_zeros_have_their_share():
    fitted = LogGaussian.fit(ordinary(BY_NAME["LogGaussian"], 400))
    draws = fitted.sample(40_000, random_state=1)
    assert abs((draws == 0).mean() - fitted.zero) < 4.5 * math.sqrt(fitted.zero * (1 - fitted.zero) / 40_000)


@pytest.mark.parametrize(
    "prior", [Beta(2.0, 3.0), Gamma(2.0, 0.5), Dirichlet({"a": 2.0, "b": 3.0})], ids=lambda prior: type(prior).__name__
)
def test_sampled_moments_of_priors_match(prior):
    draws = prior.sample(40_000, random_state=2)
    for j, (mean, variance) in enumerate(zip(np.atleast_1d(prior.mean), np.atleast_1d(prior.variance))):
        assert_moments(draws.reshape(len(draws), -1)[:, j], mean, variance)


def test_sampled_means_and_variances_have_their_moments():
    """The variance is scale / Gamma(shape): an inverse gamma. The mean, given it, is as wide as that over strength."""
    means, variances = NormalInverseGamma(1.5, 4.0, 6.0, 10.0).sample(40_000, random_state=2)
    assert_moments(variances, 10 / 5, 10**2 / (5**2 * 4))
    assert_moments(means, 1.5, 10 / 5 / 4)
    assert_moments((means - 1.5) / np.sqrt(variances / 4), 0.0, 1.0)


def test_a_pooled_rate_is_that_of_so_many_mean_rows():
    """Four counts of 2 on average in one unit each; three waits of 2 units on average for one event each."""
    assert vars(Poisson.pooled_prior(Poisson.tally([3, 0, 1, 4]), 3.0)) == {"shape": 6.0, "rate": 3.0}
    assert vars(Exponential.pooled_prior(Exponential.tally([1.0, 2.0, 3.0]), 3.0)) == {"shape": 3.0, "rate": 6.0}


def test_shares_are_drawn_that_are_less_than_any_double():
    prior = Dirichlet({"a": 1e-3, "b": 2e-3, "c": 0.0})
    draws = prior.sample(40_000, random_state=2)
    assert np.allclose(draws.sum(axis=1), 1)
    for j in np.flatnonzero(prior.concentration):
        assert_moments(draws[:, j], prior.mean[j], prior.variance[j])
    assert not draws[:, prior.concentration == 0].any()


@every_family
def test_the_same_seed_draws_the_same_values(learner):
    fitted = learner.family.fit(ordinary(learner), prior=learner.prior)
    assert fitted.sample(50, random_state=7).tolist() == fitted.sample(50, random_state=7).tolist()
    assert fitted.sample(50, random_state=7).tolist() != fitted.sample(50, random_state=8).tolist()


# Posteriors


@given(a=st.floats(0.1, 20), b=st.floats(0.1, 20), heads=st.integers(0, 50), tails=st.integers(0, 50))
def test_the_posterior_of_a_coin_counts_on_from_the_prior(a, b, heads, tails):
    posterior = Beta(a, b) + Bernoulli.tally([1] * heads + [0] * tails)
    assert (posterior.a, posterior.b) == (a + heads, b + tails)


@given(shape=st.floats(0.1, 20), rate=st.floats(0.1, 20), counts=st.lists(st.integers(0, 30), max_size=10))
def test_the_posterior_of_a_rate_counts_on_from_the_prior(shape, rate, counts):
    posterior = Gamma(shape, rate) + Poisson.tally(np.array(counts, float))
    assert (posterior.shape, posterior.rate) == pytest.approx((shape + sum(counts), rate + len(counts)))


@given(rows=st.lists(st.sampled_from(COLOURS), max_size=20))
def test_the_posterior_of_shares_counts_on_from_the_prior(rows):
    posterior = Dirichlet(dict.fromkeys(COLOURS, 0.5)) + Categorical.tally(rows)
    found = dict(zip(posterior.labels.texts(), posterior.concentration))
    assert found == {colour: 0.5 + rows.count(colour) for colour in COLOURS}


@given(x=st.lists(st.floats(-100, 100), min_size=1, max_size=10))
def test_the_posterior_of_a_mean_and_a_variance_is_the_textbooks(x):
    m, k, a, b = 1.0, 2.0, 1.5, 2.0
    posterior = NormalInverseGamma(m, k, a, b) + Gaussian.tally(np.array(x))
    n, average = len(x), np.mean(x)
    squares = ((np.array(x) - average) ** 2).sum()
    assert posterior.mean == pytest.approx((k * m + n * average) / (k + n), abs=1e-9)
    assert (posterior.strength, posterior.shape) == (k + n, a + n / 2)
    assert posterior.scale == pytest.approx(b + squares / 2 + k * n * (average - m) ** 2 / (2 * (k + n)), rel=1e-9)


@every_family_but_bins
@given(seed=seeds)
def test_todays_posterior_is_tomorrows_prior(learner, seed):
    x = ordinary(learner, 20, seed)
    at_once = learner.family.posterior(x, learner.prior)
    in_two = learner.prior + learner.tally(x[:7]) + learner.tally(x[7:])
    assert at_once.log_normaliser() == pytest.approx(in_two.log_normaliser(), rel=1e-9)


@pytest.mark.parametrize(
    ("name", "at"), [("Bernoulli", 0.3), ("Poisson", 2.5), ("Exponential", 0.4), ("Gaussian", (4.5, 3.0))]
)
def test_a_posterior_density_is_prior_times_likelihood_over_evidence(name, at):
    learner = BY_NAME[name]
    x = ordinary(learner, 20)
    family, posterior = learner.family, learner.family.posterior(x, learner.prior)
    there = family(*np.atleast_1d(at).tolist()).log_likelihood(learner.tally(x))
    joint = learner.prior.log_prob(at) + there
    assert joint - family.log_evidence(x, learner.prior) == pytest.approx(float(posterior.log_prob(at)), rel=1e-10)


def test_the_prior_of_the_share_of_zeros_is_about_zeros():
    # 90 % zeros before any row; one zero and one other value seen: (9 + 1) / (10 + 2).
    prior = ZeroAndLog(Beta(9.0, 1.0), NormalInverseGamma(0.0, 1.0, 1.0, 1.0))
    assert LogGaussian.fit([0.0, 1.0], prior=prior).zero == pytest.approx(10 / 12)


@every_family
@given(seed=seeds)
def test_the_map_under_the_flat_prior_is_the_mle(learner, seed):
    x = ordinary(learner, 30, seed)
    most_likely, most_probable = (learner.family.fit(x, estimate=estimate) for estimate in ("mle", "map"))
    np.testing.assert_allclose(most_likely.log_prob(x), most_probable.log_prob(x), rtol=1e-9)


@every_family
def test_mle_map_and_mean_meet_as_n_grows_from_any_prior(learner):
    probe = ordinary(learner, 50)
    gaps = []
    for times in (1, 100, 10_000, 1_000_000):
        tally = learner.tally(ordinary(learner, 50)) * times
        mle, *others = (
            learner.family.estimate(tally, estimate, prior).log_prob(probe)
            for estimate, prior in (("mle", None), ("map", learner.prior), ("mean", learner.prior), ("mean", None))
        )
        gaps.append(max(np.abs(mle - other).max() for other in others))
    assert gaps[0] > 1e-4
    assert gaps[-1] < 1e-5
    assert gaps == sorted(gaps, reverse=True)


@pytest.mark.parametrize("name", ["Bernoulli", "Poisson", "Exponential", "Gaussian", "LogGaussian"])
def test_of_so_many_rows_nothing_is_left_to_be_unsure_of(name):
    """Log Γs of a trillion rows are so large that what is left of their difference is rounding."""
    learner = BY_NAME[name]
    tally, probe = learner.tally(ordinary(learner, 50)) * 10**12, ordinary(learner, 50, 1)
    mean, predictive = (learner.family.estimate(tally, estimate, learner.prior) for estimate in ("mean", "predictive"))
    np.testing.assert_allclose(predictive.log_prob(probe), mean.log_prob(probe), rtol=0, atol=1e-9)


@pytest.mark.parametrize("df", [0.3, 1.0, 7.0, 500.0])
def test_predictives_are_scipys(df):
    x = np.array([0.0, 1.0, 4.0, 30.0])
    for ours, theirs in (
        (StudentT(df, 1.0, 0.7).log_prob(x), stats.t(df, 1.0, 0.7).logpdf(x)),
        (NegativeBinomial(df, 0.7).log_prob(x), stats.nbinom(df, 0.7 / 1.7).logpmf(x)),
        (Lomax(df, 0.7).log_prob(x), stats.lomax(df, scale=0.7).logpdf(x)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11)


def test_probabilities_below_a_place_are_scipys_also_outside_and_of_lists():
    x = [-1, 0, 0.3, 2]
    for ours, theirs in (
        (Beta(2, 3), stats.beta(2, 3)),
        (Gamma(2, 3), stats.gamma(2, scale=1 / 3)),
        (StudentT(4, 1, 2), stats.t(4, 1, 2)),
    ):
        np.testing.assert_allclose(ours.cdf(x), theirs.cdf(x), rtol=1e-12)


PRIORS = [*{type(learner.prior): learner.prior for learner in LEARNERS}.values(), "flat"]


@pytest.mark.parametrize(
    ("learner", "prior"),
    [(learner, prior) for learner in LEARNERS for prior in PRIORS if not isinstance(prior, type(learner.prior))],
    ids=lambda one: one.name if isinstance(one, Learner) else type(one).__name__,
)
def test_a_prior_of_another_family_is_refused(learner, prior):
    right = type(learner.prior).__name__
    with pytest.raises(ValueError, match=f"is none of an? {learner.name}: expected a {right}, such as"):
        learner.family.fit(ordinary(learner), prior=prior)


@pytest.mark.parametrize("family", [Binned, Kernel, Gaussians])
def test_bins_have_no_names(family):
    with pytest.raises(ValueError, match="names its values, and bins have no names: give one number for all"):
        family.fit([1.0, 2.0, 4.0], prior=Dirichlet({"1": 1.0, "2": 1.0}))


def test_an_interval_ends_where_nothing_speaks_for_more():
    assert (Beta(0, 0) + Bernoulli.tally([1, 1])).interval() == (1, 1)
    assert (Beta(0, 2) + Bernoulli.tally([0])).interval() == (0, 0)
    low, high = (Dirichlet({"a": 0.0, "b": 0.0, "c": 0.0}) + Categorical.tally(["a", "b"])).interval()
    shares = dict(zip(Labels.of("abc").texts(), zip(low, high)))
    assert shares["c"] == (0, 0)
    assert shares["a"] == pytest.approx((Beta(1, 1)).interval())


@pytest.mark.parametrize("variance", ["per_class", "pooled", 2.0])
def test_what_is_known_of_a_median_is_what_is_known_of_the_mean_of_the_logs(variance):
    x, groups = ordinary(BY_NAME["LogGaussian"], 40), list("aaab") * 10
    above = np.flatnonzero(x)
    logs = Gaussian.tally(np.log(x[above]), groups=[groups[i] for i in above])
    column, prior = Column(variance=variance), BY_NAME["LogGaussian"].prior
    sizes = LogGaussian.posterior(LogGaussian.tally(x, groups=groups), prior, column).interval()
    np.testing.assert_allclose(np.log(sizes), Gaussian.posterior(logs, prior.log, column).interval(), rtol=1e-9)


@plug_in
def test_a_table_reads_the_rate_that_was_estimated(estimate):
    tally = Exponential.tally([1.0, 2.0, 3.0, 10.0], groups=list("aaab"))
    estimated, posterior = Exponential.estimate(tally, estimate, Gamma(2.0, 1.0)), Gamma(2.0, 1.0) + tally
    read = [row["rate"] for _, _, row in Exponential.readings(estimated, posterior, 0.95)]
    assert read == estimated.rate.tolist()
    expected = {"mle": 3 / 6, "map": 4 / 7, "mean": 5 / 7}[estimate]
    assert read[tally.groups.texts().index("a")] == pytest.approx(expected)


ROWS = {"no rows": 0, "one row": 1, "the same row twice": 2, "rows of weight 0": 40, "many rows": 40}


@every_family
@every_estimate
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("prior", ["flat", "proper"])
def test_an_estimate_exists_or_says_in_words_why_not(learner, estimate, rows, prior):
    x = ordinary(learner, 40)
    x = x[: ROWS[rows]] if rows != "the same row twice" else [x[0], x[0]]
    words, weights = "", np.zeros(len(x)) if rows == "rows of weight 0" else None
    try:
        start = learner.prior if prior == "proper" else None
        fitted = learner.family.fit(learner.column(x), estimate=estimate, prior=start, weights=weights)
        log_p = fitted.log_prob(ordinary(learner, 10, 5))
    except ValueError as error:
        words = str(error)
    if not words:
        assert log_p.shape == (10,)
        assert not np.isnan(log_p).any()
    else:
        assert any(why in words for why in ("no values", "flat prior", "prior is flat", "variance 0", "no width"))
        assert rows != "many rows"
        assert prior == "flat" or estimate == "mle" or learner.family in (Gaussians, Kernel)  # which have no width


@every_family
@pytest.mark.parametrize("estimate", ["mle", "map", "mean"])
@pytest.mark.parametrize("rows", ROWS)
def test_a_tally_has_a_likelihood_where_its_values_have_a_density(learner, estimate, rows):
    x = ordinary(learner, 40)
    x = learner.column(x[: ROWS[rows]] if rows != "the same row twice" else [x[0], x[0]])
    weights = np.zeros(len(x)) if rows == "rows of weight 0" else None
    try:
        fitted = learner.family.fit(x, estimate=estimate, weights=weights)
    except ValueError:
        return
    tally = learner.family.tally(x, weights=weights)
    try:
        fitted.log_prob(x)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            fitted.log_likelihood(tally)
    else:
        assert not np.isnan(fitted.log_likelihood(tally))
    nothing = isinstance(fitted, Categorical) and not len(fitted.labels)
    with pytest.raises(ValueError, match="so none can be drawn") if nothing else contextlib.nullcontext():
        assert len(fitted.sample(3, 0)) == 3


@every_family_but_bins
@given(seed=seeds)
def test_a_prior_and_rows_that_are_taken_away_again_are_the_prior(learner, seed):
    rows = learner.tally(ordinary(learner, 12, seed))
    again = learner.prior + (rows - rows)
    assert again.log_normaliser() == pytest.approx(learner.prior.over(rows - rows).log_normaliser(), rel=1e-12)


@every_family_but_bins
@every_estimate
def test_an_estimate_by_groups_is_that_of_each_group(learner, estimate):
    x, groups = ordinary(learner, 60), np.random.default_rng(1).choice(list("abc"), 60)
    tally, probe = learner.tally(x, groups=groups.tolist()), ordinary(learner, 9, 2)
    batched = learner.family.estimate(tally, estimate, learner.prior)
    for g, group in enumerate(tally.groups.texts()):
        own = learner.column([row for row, name in zip(x, groups) if name == group])
        alone = learner.family.fit(own, estimate=estimate, prior=learner.prior)
        np.testing.assert_allclose(batched.log_prob(probe)[:, g], alone.log_prob(probe), rtol=1e-12)
        np.testing.assert_allclose(batched.at(g).log_prob(probe), alone.log_prob(probe), rtol=1e-12)


FREE = [
    (Bernoulli, {}, 2),
    (Poisson, {}, 2),
    (Exponential, {}, 2),
    (Binned, {"bins": 4}, 2 * 3),
    (Gaussian, {}, 2 * 2),
    (Gaussian, {"variance": "pooled"}, 2 + 1),
    (Gaussian, {"variance": 1.0}, 2),
    (LogGaussian, {}, 2 * 3),
    (LogGaussian, {"variance": "pooled"}, 2 * 2 + 1),
]


@pytest.mark.parametrize(("family", "how", "numbers"), FREE)
def test_two_groups_have_so_many_free_numbers(family, how, numbers):
    x = np.arange(8) % 2 if family is Bernoulli else np.arange(8)
    assert family.free(family.tally(x, groups=list("aabbaabb")), Column(family, **how)) == numbers


def test_the_bins_of_groups_are_shared():
    x, groups = ordinary(BY_NAME["Binned"], 200), np.random.default_rng(1).choice(list("ab"), 200)
    tally = Binned.tally(x, groups=groups.tolist())
    batched, pooled = Binned.estimate(tally, "mle"), Binned.fit(x, estimate="mle")
    np.testing.assert_array_equal(batched.edges, pooled.edges)
    shares = [(groups == group).mean() for group in tally.groups.texts()]
    np.testing.assert_allclose(batched.shares @ shares, pooled.shares, rtol=1e-12)
    codes = batched.codes(x)
    for g, group in enumerate(tally.groups.texts()):
        own = np.bincount(codes[groups == group], minlength=len(batched.shares)) / (groups == group).sum()
        np.testing.assert_allclose(batched.shares[:, g], own, rtol=1e-12)


@pytest.mark.parametrize("family", [Binned, Kernel, Gaussians], ids=lambda family: family.__name__)
def test_an_origin_moves_a_density_and_changes_nothing_else(family):
    x = np.random.default_rng(4).poisson(20.0, 60).astype(float)
    near = family.estimate(family.tally(x), "mle")
    rows, column = Rows(np.zeros(60, np.int32), 1), Column(family, origin=1e6)
    tally = Tally.of(Fixed(1), family.leaves([x + 1e6], rows, {"x": column}))
    far = family.estimate(tally, "mle", column=column)
    assert far.mean - 1e6 == pytest.approx(near.mean, abs=1e-6)
    assert far.variance == pytest.approx(near.variance, rel=1e-6)
    assert far.log_likelihood(tally) == pytest.approx(near.log_likelihood(family.tally(x)), rel=1e-6)


# Evidence


@every_family_but_bins
@given(seed=seeds)
def test_the_evidence_is_the_product_of_sequential_predictives(learner, seed):
    x = ordinary(learner, 12, seed)
    log_p = 0.0
    for i in range(len(x)):
        predictive = learner.family.estimate(learner.tally(x[:i]), "predictive", learner.prior)
        log_p += float(predictive.log_prob(x[i : i + 1])[0])
    assert learner.family.log_evidence(x, learner.prior) == pytest.approx(log_p, rel=1e-9)


@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_one_concentration_for_all_colours_is_that_concentration_for_each(strength):
    rows = ["a", "b", "c", "a"]
    each = Categorical.log_evidence(rows, Dirichlet(dict.fromkeys("abc", strength)))
    assert Categorical.log_evidence(rows, Dirichlet(strength)) == pytest.approx(each)


def test_three_colours_in_sequence_under_the_flat_prior():
    assert math.exp(Categorical.log_evidence(["a", "b", "c"], Dirichlet(1.0))) == pytest.approx(1 / 3 * 1 / 4 * 1 / 5)
    assert math.exp(Categorical.log_evidence(["a", "b", "c"])) == pytest.approx(1 / 3 * 1 / 4 * 1 / 5)


def test_the_evidence_of_bins_is_that_of_their_counts():
    x = ordinary(BY_NAME["Binned"], 30)
    bins = Binned.fit(x, estimate="mle")
    codes, k = bins.codes(x), len(bins.shares)
    counts, log_p = np.zeros(k), 0.0
    uniform = Binned(bins.edges, np.full(k, 1.0), bins.tails, bins.lump)
    for code, value in zip(codes, x):
        log_p += math.log((counts[code] + 0.7) / (counts.sum() + 0.7 * k)) + float(uniform.log_prob(value))
        counts[code] += 1
    assert Binned.log_evidence(x, Dirichlet(0.7)) == pytest.approx(log_p, rel=1e-10)


@pytest.mark.parametrize(
    ("name", "prior"),
    [
        ("Poisson", None),
        ("Exponential", None),
        ("Gaussian", None),
        ("LogGaussian", None),
        ("Bernoulli", Beta(0, 0)),
        ("Bernoulli", Beta(1, 0)),
        ("Categorical", Dirichlet(0)),
    ],
)
def test_a_prior_that_does_not_integrate_gives_no_evidence_and_says_so(name, prior):
    learner = BY_NAME[name]
    with pytest.raises(ValueError, match="does not integrate to 1"):
        learner.family.log_evidence(ordinary(learner), prior)


def test_a_value_that_a_prior_gives_no_mass_is_impossible():
    assert Categorical.log_evidence(["a", "b"], Dirichlet({"a": 1.0})) == -math.inf
    assert Categorical.log_evidence(["a", "a"], Dirichlet({"a": 1.0})) == 0


@every_family
@pytest.mark.parametrize("level", [0, 1, 95, -0.5, math.nan])
def test_an_interval_has_a_probability_between_0_and_1(learner, level):
    with pytest.raises(ValueError, match=f"level={level}: expected a probability between 0 and 1"):
        learner.family.posterior(ordinary(learner), learner.prior).interval(level)


@pytest.mark.parametrize("family", [Poisson, Exponential])
def test_a_rate_of_no_values_has_no_exact_interval(family):
    with pytest.raises(ValueError, match="no values, so their rate has no interval; give one or more"):
        family.confidence([])


def test_exact_intervals_are_the_textbooks():
    x = np.array([4.0, 7.0, 1.0])
    low, high = stats.chi2.ppf([0.05, 0.95], 2 * len(x)) / (2 * x.sum())
    assert Exponential.confidence(x, 0.9) == pytest.approx((low, high))
    low, high = stats.chi2.ppf(0.05, 2 * x.sum()) / 2, stats.chi2.ppf(0.95, 2 * x.sum() + 2) / 2
    assert Poisson.confidence(x, 0.9) == pytest.approx((low / len(x), high / len(x)))
    assert Poisson.confidence([0, 0]) == pytest.approx((0, stats.chi2.ppf(0.975, 2) / 4))


@pytest.mark.parametrize(
    "density",
    [lambda r: r**9 * np.exp(-r), lambda r: r**9 / np.exp(r), lambda r: r**-11.0 * np.exp(-1 / r)],
    ids=["endless times 0", "endless over endless", "the same at 0"],
)
def test_a_density_that_overflows_only_where_it_is_nothing_is_a_prior(density):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prior = Quadrature(Poisson, density)
        assert prior.proper
        assert prior.mean == pytest.approx(10.0 if density(1e-3) > 0 else 1 / 9)


def test_a_density_that_ends_in_no_number_is_refused():
    with pytest.raises(ValueError, match=r"the prior density is not a number at 1\.\d+"), np.errstate(invalid="ignore"):
        _ = Quadrature(Poisson, lambda r: np.sqrt(1 - r)).mean


def test_one_value_has_no_exact_interval():
    with pytest.raises(ValueError, match="one value says nothing of a variance"):
        Gaussian.confidence([5.0])
    halves = Gaussian.tally([1.0, 2.0, 3.0], weights=[0.5, 0.5, 0.5])  # one value and a half says a little
    half = stats.t.ppf(0.95, 0.5) * math.sqrt(1.0 / 0.5 / 1.5)
    assert Gaussian.confidence(halves, 0.9) == pytest.approx((2 - half, 2 + half))


@every_family_but_bins
def test_evidence_by_group_is_that_of_each_group(learner):
    x, groups = ordinary(learner, 40), np.random.default_rng(1).choice(list("ab"), 40)
    tally = learner.tally(x, groups=groups.tolist())
    both = learner.family.log_evidence(tally, learner.prior)
    for g, group in enumerate(tally.groups.texts()):
        own = learner.column([row for row, name in zip(x, groups) if name == group])
        assert both[g] == pytest.approx(learner.family.log_evidence(own, learner.prior), rel=1e-10)


def test_no_rows_have_evidence_1():
    assert Bernoulli.log_evidence(Bernoulli.tally([]), Beta(2, 2)) == 0
    assert Categorical.log_evidence(Tally.total([Categorical.tally([])]), Dirichlet({"a": 1.0})) == 0


@pytest.mark.parametrize(("family", "data", "border"), [(Bernoulli, [1, 1], 1.0), (Bernoulli, [0], 0.0)])
def test_the_mode_of_any_prior_may_be_at_the_border(family, data, border):
    prior = Quadrature(family, np.ones_like)
    assert (prior + family.tally(data)).mode == border == (Beta(1, 1) + family.tally(data)).mode
    assert family.fit(data, prior=prior, estimate="map").log_prob([1 - border])[0] == -np.inf


@pytest.mark.parametrize("rate", [3e4, 1e9, 1e12, 1e15])
def test_counts_of_any_size_have_their_probability(rate):
    """p(x) / p(x - k) is known from x and the rate alone, and all p(x) within eight deviations add up to 1."""
    at = np.floor(rate + np.array([-2.0, 0.0, 3.0]) * np.sqrt(rate))
    poisson, step = Poisson(rate), 7.0
    steps = np.log(rate) - np.log(at[:, None] + np.arange(1, step + 1))
    np.testing.assert_allclose(poisson.log_prob(at + step) - poisson.log_prob(at), steps.sum(axis=1), atol=3e-7)
    x = np.round(np.linspace(rate - 8 * np.sqrt(rate), rate + 8 * np.sqrt(rate), 20_001))
    p = poisson.prob(x)
    assert np.sum((p[1:] + p[:-1]) / 2 * np.diff(x)) == pytest.approx(1.0, abs=1e-6)


def test_an_exponential_of_waits_of_nothing_has_no_density():
    with pytest.raises(ValueError, match="all its values were 0"):
        Exponential.fit([0.0, 0.0], estimate="mle").log_prob([0.0])
