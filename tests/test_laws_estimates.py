"""The laws of estimates: densities, likelihoods, posteriors and evidence, over every family."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad

from evenodds.families import (
    ESTIMATES,
    Bernoulli,
    Beta,
    Binned,
    Categorical,
    Dirichlet,
    Gamma,
    Gaussian,
    Gaussians,
    Kernel,
    LogGaussian,
    NormalInverseGamma,
    Poisson,
    ZeroAndLog,
)
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
    known = NormalInverseGamma(1.0, 2.0, 3.0, 2.0)
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
@pytest.mark.parametrize("name", ["Bernoulli", "Poisson", "Gaussian"])
def test_sampled_moments_match(name, estimate):
    learner = BY_NAME[name]
    fitted = learner.family.fit(ordinary(learner, 400), estimate=estimate)
    assert_moments(fitted.sample(40_000, random_state=1), fitted.mean, fitted.variance)


@plug_in
def test_sampled_moments_of_sizes_match(estimate):
    fitted = LogGaussian.fit(ordinary(BY_NAME["LogGaussian"], 400), estimate=estimate)
    assert_moments(fitted.sample(40_000, random_state=1), fitted.mean, fitted.variance)


def test_a_student_t_of_logs_has_no_finite_mean():
    fitted = LogGaussian.fit(ordinary(BY_NAME["LogGaussian"], 400), estimate="predictive")
    assert fitted.mean == math.inf


@pytest.mark.parametrize("n", [10, 400])
def test_sampled_moments_of_bins_match_tails_and_all(n):
    x = np.random.default_rng(3).normal(5, 2, n)
    fitted = Binned.fit(x, estimate="mle")
    assert_moments(fitted.sample(200_000, random_state=1), fitted.mean, fitted.variance)


@pytest.mark.parametrize("estimate", ["mle", "mean"])
def test_sampled_colours_have_their_shares(estimate):
    fitted = Categorical.fit(ordinary(BY_NAME["Categorical"], 400), estimate=estimate)
    draws = fitted.sample(40_000, random_state=1)
    for text, share in zip(fitted.labels.texts(), fitted.shares):
        assert abs((draws == text).mean() - share) < 4.5 * math.sqrt(share * (1 - share) / len(draws))


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


ROWS = {"no rows": 0, "one row": 1, "the same row twice": 2, "many rows": 40}


@every_family
@every_estimate
@pytest.mark.parametrize("rows", ROWS)
@pytest.mark.parametrize("prior", ["flat", "proper"])
def test_an_estimate_exists_or_says_in_words_why_not(learner, estimate, rows, prior):
    x = ordinary(learner, 40)
    x = x[: ROWS[rows]] if rows != "the same row twice" else [x[0], x[0]]
    words = ""
    try:
        start = learner.prior if prior == "proper" else None
        fitted = learner.family.fit(learner.column(x), estimate=estimate, prior=start)
        log_p = fitted.log_prob(ordinary(learner, 10, 5))
    except ValueError as error:
        words = str(error)
    assert len(words.split()) > 5 or not np.isnan(log_p).any()


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


@pytest.mark.parametrize("name", ["Poisson", "Gaussian", "LogGaussian"])
def test_a_prior_that_does_not_integrate_gives_no_evidence_and_says_so(name):
    learner = BY_NAME[name]
    with pytest.raises(ValueError, match="does not integrate to 1"):
        learner.family.log_evidence(ordinary(learner))


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
