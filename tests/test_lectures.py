"""The numbers of the lectures' page, in its order: "Estimating", "Bayes' rule", "Naive Bayes"."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import evenodds as eo
from evenodds.data.titanic import titanic
from evenodds.families import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    Gaussian,
    Poisson,
    Quadrature,
    StudentT,
    weigh,
)


def coin(heads, tails, **settings):
    return Bernoulli.fit([1] * heads + [0] * tails, **settings).p


# Estimating


@pytest.mark.parametrize(("heads", "tails", "p"), [(3, 7, 0.3), (55, 45, 0.55), (2, 0, 1.0)])
def test_the_mle_of_a_coin_is_the_fraction_of_heads(heads, tails, p):
    assert coin(heads, tails, estimate="mle") == p


def test_the_mle_is_where_the_slope_of_the_log_likelihood_is_zero():
    tally = Bernoulli.tally([1] * 3 + [0] * 7)
    assert Bernoulli(0.3).log_likelihood(tally) == pytest.approx(3 * math.log(0.3) + 7 * math.log(0.7))
    h = 1e-6
    for theta in (0.2, 0.3, 0.6):
        slope = (Bernoulli(theta + h).log_likelihood(tally) - Bernoulli(theta - h).log_likelihood(tally)) / (2 * h)
        assert slope == pytest.approx(3 / theta - 7 / (1 - theta), abs=1e-4)


def test_with_two_heads_the_mle_gives_tails_nothing():
    assert np.isneginf(Bernoulli.fit([1, 1], estimate="mle").log_prob(0))


def test_a_beta_has_its_mean_is_flat_at_1_1_and_more_peaked_as_it_grows():
    assert Beta(3, 1).mean == 0.75
    np.testing.assert_allclose(Beta(1, 1).prob(np.array([0.1, 0.5, 0.9])), 1.0)
    variances = [Beta(a, a).variance for a in (1, 2, 5, 50)]
    assert variances == sorted(variances, reverse=True)
    assert Beta(50, 50).prob(0.5) > Beta(5, 5).prob(0.5) > Beta(2, 2).prob(0.5)


def test_a_beta_is_the_flat_one_and_pseudo_counts():
    assert Beta(1, 1) + Bernoulli.tally([1] * 3 + [0]) == Beta(4, 2)
    assert Beta(2, 2) + Bernoulli.tally([1, 1]) == Beta(4, 2)


@pytest.mark.parametrize(
    ("heads", "tails", "mean", "mode"), [(2, 0, 4 / 6, 3 / 4), (55, 45, 57 / 104, 56 / 102)], ids=str
)
def test_posterior_mean_and_map_under_beta_2_2(heads, tails, mean, mode):
    assert coin(heads, tails, prior=Beta(2, 2)) == pytest.approx(mean)
    assert coin(heads, tails, prior=Beta(2, 2), estimate="map") == pytest.approx(mode)


def test_a_tally_is_fitted_as_its_values_are():
    assert Poisson.fit(Poisson.tally([3, 0, 1, 5])) == Poisson.fit([3, 0, 1, 5])
    with pytest.raises(ValueError, match="a tally has its weights in it"):
        Poisson.fit(Poisson.tally([3, 0]), weights=[1, 2])


@pytest.mark.parametrize(("heads", "tails"), [(3, 7), (2, 0), (0, 5)])
def test_the_map_under_the_flat_beta_is_the_mle(heads, tails):
    assert coin(heads, tails, prior=Beta(1, 1), estimate="map") == coin(heads, tails, estimate="mle")


@pytest.mark.parametrize(("heads", "tails"), [(10, 0), (0, 10), (0, 0)])
def test_the_map_is_never_0_or_1_for_a_and_b_above_1(heads, tails):
    assert 0 < coin(heads, tails, prior=Beta(1.1, 1.1), estimate="map") < 1


@pytest.mark.parametrize(
    ("prior", "heads", "tails", "mode"),
    [(Beta(0.5, 0.5), 0, 2, 0.0), (Beta(0.5, 0.5), 2, 0, 1.0), (Beta(0.1, 3), 0, 0, 0.0), (Beta(3, 0.1), 0, 0, 1.0)],
    ids=str,
)
def test_the_mode_is_at_the_border_and_never_negative(prior, heads, tails, mode):
    assert coin(heads, tails, prior=prior, estimate="map") == mode


@pytest.mark.parametrize("prior", [Beta(2, 2), Beta(30, 1), Beta(0.5, 20)], ids=str)
def test_all_three_meet_as_n_grows_from_any_prior(prior):
    gaps = []
    for n in (10, 1000, 100_000):
        tally = Bernoulli.tally([1] * 3 + [0] * 7) * (n // 10)
        found = [Bernoulli.estimate(tally, estimate, prior).p for estimate in ("mle", "map", "mean")]
        gaps.append(max(found) - min(found))
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-3


def test_adding_half_to_each_side():
    assert coin(0, 2, prior=Beta(0.5, 0.5)) == pytest.approx(1 / 6)
    assert coin(0, 2, prior=Beta(1.5, 1.5), estimate="map") == pytest.approx(1 / 6)


def test_tosses_are_exchangeable_and_not_independent():
    assert math.exp(Bernoulli.log_evidence([1, 1], Beta(1, 1))) == pytest.approx(1 / 3)
    assert math.exp(Bernoulli.log_evidence([1, 0], Beta(1, 1))) == math.exp(Bernoulli.log_evidence([0, 1], Beta(1, 1)))
    assert math.exp(Bernoulli.log_evidence([1], Beta(1, 1))) ** 2 == pytest.approx(1 / 4)


def test_the_evidence_is_the_product_of_sequential_predictives():
    first = Bernoulli.estimate(Bernoulli.tally([]), "predictive", Beta(2, 2)).p
    second = Bernoulli.fit([1], estimate="predictive", prior=Beta(2, 2)).p
    assert (first, second) == pytest.approx((2 / 4, 3 / 5))
    assert math.exp(Bernoulli.log_evidence([1, 1], Beta(2, 2))) == pytest.approx(0.3)


def test_a_few_models_are_weighed_by_their_evidence():
    heads = [1] * 9 + [0]
    fair, unknown = 0.5**10, math.exp(math.lgamma(10) + math.lgamma(2) - math.lgamma(12))
    table = weigh({"fair": Bernoulli(0.5), "unknown": (Bernoulli, Beta(1, 1))}, heads)
    assert table["probability"] == pytest.approx([fair / (fair + unknown), unknown / (fair + unknown)])
    assert table["bayes_factor"] == pytest.approx([1.0, unknown / fair])
    unfair = weigh({"fair": Bernoulli(0.5), "unknown": (Bernoulli, Beta(1, 1))}, heads, {"fair": 0.9, "unknown": 0.1})
    assert unfair["probability"][0] == pytest.approx(0.9 * fair / (0.9 * fair + 0.1 * unknown))
    some_missing = weigh({"fair": Bernoulli(0.5), "unknown": (Bernoulli, Beta(1, 1))}, [*heads, None])
    assert some_missing["probability"] == table["probability"]
    with pytest.raises(ValueError, match="prior: model 'unknown' not found; did you mean 'unknwon'"):
        weigh({"fair": Bernoulli(0.5), "unknown": (Bernoulli, Beta(1, 1))}, heads, {"fair": 0.9, "unknwon": 0.1})


def test_models_of_several_groups_are_weighed_by_all_of_them():
    heads, models = [1] * 9 + [0], {"fair": Bernoulli(0.5), "unknown": (Bernoulli, Beta(1, 1))}
    found = weigh(models, Bernoulli.tally(heads, groups=["a", "b"] * 5))
    each = [Bernoulli.log_evidence(heads[k::2], Beta(1, 1)) for k in (0, 1)]
    assert found["log_evidence"] == pytest.approx([10 * math.log(0.5), sum(each)])


@pytest.mark.parametrize(
    ("models", "prior", "words"),
    [
        ({}, None, "there are no models to weigh; name one at least"),
        ({"fair": Bernoulli(0.5)}, {"fair": math.nan}, "prior: 'fair' has nan, expected a probability"),
        ({"fair": Bernoulli(0.5)}, {"fair": -1}, "prior: 'fair' has -1, expected a probability"),
        ({"t": StudentT(3, 0, 1)}, None, "a StudentT has no likelihood of a tally; give the values themselves"),
    ],
)
def test_what_cannot_be_weighed_is_refused_in_words(models, prior, words):
    with pytest.raises(ValueError, match=words):
        weigh(models, Bernoulli.tally([1, 0]), prior)


@pytest.mark.parametrize("heads", [0, 2, 500, 100_000])
def test_quadrature_is_held_to_the_conjugate_answer(heads):
    tally = Bernoulli.tally([1] * heads + [0] * 3)
    by_quadrature = Quadrature(Bernoulli, lambda p: p * (1 - p)) + tally
    exact = Beta(2, 2) + tally
    assert by_quadrature.mean == pytest.approx(exact.mean, rel=1e-9)
    assert by_quadrature.variance == pytest.approx(exact.variance, rel=1e-8)
    assert by_quadrature.mode == pytest.approx(exact.mode, abs=1e-6)
    assert by_quadrature.interval() == pytest.approx(exact.interval(), rel=1e-10)
    assert by_quadrature.cdf(exact.mean) == pytest.approx(exact.cdf(exact.mean), rel=1e-10)
    prior = Quadrature(Bernoulli, lambda p: p * (1 - p))
    assert Bernoulli.log_evidence(tally, prior) == pytest.approx(Bernoulli.log_evidence(tally, Beta(2, 2)), rel=1e-9)


@pytest.mark.parametrize(
    ("family", "scale"),
    [(Exponential, scale) for scale in (1e-12, 1e-3, 1.0, 1e5, 1e12)] + [(Poisson, scale) for scale in (1, 1e5)],
)
def test_quadrature_over_a_rate_is_held_to_the_gamma(family, scale):
    x = np.array([3.0, 0.0, 1.0, 5.0]) * scale
    tally = family.tally(x if family is Exponential else np.ceil(x))
    unit = 1 / scale if family is Exponential else scale  # what rates are like
    prior, gamma = Quadrature(family, lambda rate: rate / unit * np.exp(-rate / unit)), Gamma(2, 1 / unit)
    by_quadrature, exact = prior + tally, gamma + tally
    log = family(exact.mean).log_likelihood(tally) - family.base_measure(tally)
    rounding = 2.0**-52 * abs(float(log))  # of what is integrated: 2e-9 where logs are 1e7
    assert by_quadrature.mean == pytest.approx(exact.mean, rel=1e-12)
    assert by_quadrature.variance == pytest.approx(exact.variance, rel=1e-8)
    assert by_quadrature.mode == pytest.approx(exact.mode, rel=1e-5)
    assert by_quadrature.interval() == pytest.approx(exact.interval(), rel=1e-10)
    assert by_quadrature.cdf(exact.mean) == pytest.approx(exact.cdf(exact.mean), rel=max(1e-10, rounding))
    assert family.log_evidence(tally, prior) == pytest.approx(family.log_evidence(tally, gamma), rel=1e-9)


def test_a_quadrature_is_over_one_parameter_of_one_group():
    with pytest.raises(ValueError, match="over one parameter; a Gaussian has several: 'mean', 'variance'"):
        Quadrature(Gaussian, np.ones_like)
    with pytest.raises(ValueError, match="over the parameter of one group; give a conjugate prior, or one group"):
        Poisson.fit([1], prior=Quadrature(Poisson, np.ones_like) + Poisson.tally([1, 2], groups=["a", "b"]))
    with pytest.raises(ValueError, match="is none of a Poisson: expected a Gamma"):
        Poisson.fit([1], prior=Quadrature(Bernoulli, np.ones_like))


@pytest.mark.parametrize("density", [np.ones_like, lambda rate: 1 / rate, lambda rate: 1 / (1 + rate)])
def test_a_density_of_rates_that_does_not_fall_off_gives_no_evidence_but_a_posterior(density):
    prior, tally = Quadrature(Poisson, density), Poisson.tally([3, 0, 1, 5])
    with pytest.raises(ValueError, match="does not integrate to 1"):
        Poisson.log_evidence(tally, prior)
    assert 1 < (prior + tally).mean < 4


def test_a_prior_density_that_is_no_number_somewhere_is_refused():
    with pytest.raises(
        ValueError, match=r"the prior density is not a number at 0\.\d+: write it so that it is 0 or more"
    ):
        _ = Quadrature(Bernoulli, lambda p: np.where(p < 0.5, np.nan, p)).mean


def test_a_triangle_of_a_prior_has_no_conjugate_answer_but_an_answer():
    # ∫ p·p²·min(p, 1-p) / ∫ p²·min(p, 1-p): exact fractions of polynomials.
    posterior = Quadrature(Bernoulli, lambda p: np.minimum(p, 1 - p)) + Bernoulli.tally([1, 1])
    top = 0.5**5 / 5 + (1 - 0.5**4) / 4 - (1 - 0.5**5) / 5
    bottom = 0.5**4 / 4 + (1 - 0.5**3) / 3 - (1 - 0.5**4) / 4
    assert posterior.mean == pytest.approx(top / bottom, rel=1e-6)


def test_class_priors_and_tables_are_fractions_of_counts():
    rows = [{"k": k} for k in "aabab"]
    nb = eo.NaiveBayes({"k": eo.Categorical}, estimate="mle").fit(rows, list("iijji"))
    np.testing.assert_allclose(np.exp(nb.model_.log_prior), [3 / 5, 2 / 5])
    shares = {(row["class"], row["k"]): row["p"] for row in nb.tables["k"]}
    assert shares == pytest.approx({("i", "a"): 2 / 3, ("i", "b"): 1 / 3, ("j", "a"): 1 / 2, ("j", "b"): 1 / 2})


def avocados():
    """10 avocados among 100,000 words of 5 kinds."""
    tally = Categorical.tally(["avocado", "the", "a", "of", "and"], weights=[10, 50_000, 30_000, 10_000, 9_990])
    assert tally["x", "labels"].sum() == 100_000
    return tally


def share_of(word, distribution):
    return float(np.exp(distribution.log_prob([word]))[0])


def test_the_share_of_a_word_is_count_over_total():
    assert share_of("avocado", Categorical.estimate(avocados(), "mle")) == pytest.approx(1e-4)


@pytest.mark.parametrize("strength", [0.5, 1.0, 2.0])
def test_the_smoothed_share_of_a_word(strength):
    smoothed = Categorical.estimate(avocados(), "mean", Dirichlet(strength))
    assert share_of("avocado", smoothed) == pytest.approx((strength + 10) / (strength * 5 + 100_000))


def test_an_unseen_word_as_lectured():
    rows = [{"word": w} for w in ["the"] * 6 + ["avocado"] * 2 + ["the"] * 2]
    y = ["spam"] * 8 + ["ham"] * 2
    settings = {"prior": "flat", "smoothing": 0.5, "estimate": "mean"}
    nb = eo.NaiveBayes({"word": eo.Categorical}, unseen="prior", **settings).fit(rows, y)
    ham, spam = np.exp(nb.predict_joint_log_proba([{"word": "syzygy"}])[0] - nb.model_.log_prior)
    assert spam == pytest.approx(0.5 / (0.5 * 2 + 8))
    assert ham == pytest.approx(0.5 / (0.5 * 2 + 2))
    assert ham > spam  # that formula alone favours the smallest class: by default the word says nothing
    silent = eo.NaiveBayes({"word": eo.Categorical}, **settings).fit(rows, y)
    np.testing.assert_allclose(silent.predict_proba([{"word": "syzygy"}]), [[0.2, 0.8]])


@pytest.mark.parametrize(("heads", "tails"), [(3, 7), (0, 5), (5, 0), (55, 45)])
def test_clopper_and_pearson_beside_the_credible_interval(heads, tails):
    data = [1] * heads + [0] * tails
    exact = stats.binomtest(heads, heads + tails).proportion_ci(0.95, method="exact")
    assert Bernoulli.confidence(data) == pytest.approx((exact.low, exact.high))
    credible = (Beta(1, 1) + Bernoulli.tally(data)).interval(0.95)
    assert credible == pytest.approx(stats.beta(1 + heads, 1 + tails).interval(0.95))
    assert Bernoulli.confidence(data)[0] <= credible[0]
    assert credible[1] <= Bernoulli.confidence(data)[1]


def test_exact_intervals_of_a_rate_and_of_a_mean():
    low, high = Poisson.confidence([3.0, 0.0, 1.0, 5.0])
    assert (low, high) == pytest.approx((stats.chi2(18).ppf(0.025) / 8, stats.chi2(20).ppf(0.975) / 8))
    x = np.array([4.0, 7.0, 13.0, 16.0])
    theirs = stats.ttest_1samp(x, 0).confidence_interval(0.95)
    assert Gaussian.confidence(x) == pytest.approx((theirs.low, theirs.high))
    flat = Gaussian.posterior(x)
    assert flat.interval(0.95) == pytest.approx((theirs.low, theirs.high))


def test_an_exact_interval_covers_as_often_as_it_says():
    draws = Bernoulli(0.3).sample(20 * 2000, random_state=0).reshape(2000, 20).sum(axis=1)
    ends = {heads: Bernoulli.confidence([1] * heads + [0] * (20 - heads)) for heads in range(21)}
    covered = np.mean([ends[int(heads)][0] <= 0.3 <= ends[int(heads)][1] for heads in draws])
    assert covered > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 2000)


def test_a_statistic_is_itself_random():
    heads = Bernoulli(0.3).sample(50 * 4000, random_state=1).reshape(4000, 50)
    estimates = heads.mean(axis=1)  # the mle of each of 4,000 samples
    error = math.sqrt(0.3 * 0.7 / 50)
    assert abs(estimates.mean() - 0.3) < 4.5 * error / math.sqrt(4000)
    assert estimates.std() == pytest.approx(error, rel=0.05)
    assert coin(int(heads[0].sum()), 50 - int(heads[0].sum()), estimate="mle") == pytest.approx(estimates[0])


def test_the_log_likelihood_of_independent_rows_is_a_sum():
    data = [1, 0, 0, 1, 0]
    fitted = Bernoulli(0.4)
    by_hand = 2 * math.log(0.4) + 3 * math.log(0.6)
    assert fitted.log_prob(data).sum() == pytest.approx(by_hand)
    assert fitted.log_likelihood(Bernoulli.tally(data)) == pytest.approx(by_hand)


# Bayes' rule (its own numbers are in test_bayes_rule.py and test_cli_bayes.py)


def test_cmu_and_bayes_depend_given_the_class_and_are_named():
    rng = np.random.default_rng(0)
    spam = rng.random(2000) < 0.5
    cmu = rng.random(2000) < np.where(spam, 0.02, 0.3)
    bayes = np.where(rng.random(2000) < 0.8, cmu, rng.random(2000) < 0.1)
    other = rng.random(2000) < np.where(spam, 0.5, 0.2)
    words = pd.DataFrame({"CMU": cmu, "Bayes": bayes, "free": other})
    pairs = eo.NaiveBayes().fit(words, spam).check(words, spam)
    assert {pairs[0]["a"], pairs[0]["b"]} == {"CMU", "Bayes"}
    assert pairs[0]["p_value"] < 1e-6 < pairs[1]["p_value"]


def test_coats_and_accidents_depend_and_rain_separates_them():
    rng = np.random.default_rng(0)
    rain = rng.random(5000) < 0.3
    drivers = pd.DataFrame(
        {"coat": rng.random(5000) < np.where(rain, 0.8, 0.1), "accident": rng.random(5000) < np.where(rain, 0.3, 0.05)}
    )
    nothing = np.arange(5000) % 2  # a class that says nothing separates nothing
    assert eo.NaiveBayes().fit(drivers, nothing).check(drivers, nothing)[0]["p_value"] < 1e-9
    assert eo.NaiveBayes().fit(drivers, rain).check(drivers, rain)[0]["p_value"] > 0.01


# Naive Bayes


def test_a_thousand_words_have_2001_parameters_where_the_joint_has_more_than_1e301():
    words = np.random.default_rng(0).integers(0, 2, (40, 1000))
    words[0], words[1] = 0, 1
    found = eo.NaiveBayes(eo.Bernoulli).fit(words, np.arange(40) % 2).n_parameters_
    assert found["naive"] == 2001
    assert found["joint"] == 2**1001 - 1
    assert found["joint"] > 10**301


def test_the_titanic_network_has_9_parameters_where_the_joint_has_23():
    rows = [
        {"male": male, "young": young, "class": cls}
        for male in (True, False)
        for young in (True, False)
        for cls in ("first", "second", "third")
    ]
    nb = eo.NaiveBayes({"class": eo.Categorical}).fit(pd.DataFrame(rows), np.arange(12) % 2 == 0)
    assert nb.n_parameters_ == {"naive": 9, "joint": 23}


def prince():
    mail = pd.DataFrame({"prince": [1] * 10 + [0] * 190 + [1] * 2 + [0] * 798})
    return eo.NaiveBayes(eo.Bernoulli, estimate="mle").fit(mail, ["spam"] * 200 + ["ham"] * 800)


def test_prince_in_one_pass():
    nb = prince()
    assert {row["class"]: row["p"] for row in nb.tables["prince"]} == {"spam": 0.05, "ham": 0.0025}
    np.testing.assert_allclose(np.exp(nb.model_.log_prior), [0.8, 0.2])
    p = nb.predict_proba(pd.DataFrame({"prince": [1]}))[0, 1]
    assert p == pytest.approx(0.8333, abs=5e-5)
    assert p == pytest.approx(5 / 6)


def three_words():
    """Two classes of 80 and 20 mails whose words have the shares (.3, .1, .2) and (.4, .6, .5)."""

    def words(n, shares):
        return np.column_stack([np.arange(n) < round(n * share) for share in shares]).astype(int)

    mails = np.concatenate([words(80, [0.3, 0.1, 0.2]), words(20, [0.4, 0.6, 0.5])])
    return pd.DataFrame(mails, columns=["x1", "x2", "x3"]), ["a"] * 80 + ["b"] * 20


def test_three_words_by_hand():
    nb = eo.NaiveBayes(eo.Bernoulli, estimate="mle").fit(*three_words())
    joint = np.exp(nb.predict_joint_log_proba(pd.DataFrame({"x1": [1], "x2": [0], "x3": [1]})))[0]
    np.testing.assert_allclose(joint, [0.0432, 0.016])
    p = nb.predict_proba(pd.DataFrame({"x1": [1], "x2": [0], "x3": [1]}))[0]
    assert p[0] == pytest.approx(0.7297, abs=5e-5)


def test_unknown_ages_are_left_out():
    # titanic3's counts: 500 survived, 427 of known age, 33 of them under 5; the 809 others make the second class.
    young = [1.0] * 33 + [0.0] * 394 + [np.nan] * 73
    rows = pd.DataFrame({"young": young + [1.0] * 18 + [0.0] * 601 + [np.nan] * 190})
    nb = eo.NaiveBayes(eo.Bernoulli, estimate="mle").fit(rows, [True] * 500 + [False] * 809)
    survived = {row["class"]: row["p"] for row in nb.tables["young"]}[True]
    assert survived == pytest.approx(33 / 427)
    assert survived != pytest.approx(33 / 500)


def test_the_children_of_the_embedded_titanic():
    nb = eo.NaiveBayes(estimate="mle").fit(titanic(), "survived")
    shares = {(row["survived"], row["age"]): row["p"] for row in nb.tables["age"]}
    assert shares["yes", "child"] == pytest.approx(57 / 711)
    assert shares["no", "child"] == pytest.approx(52 / 1490)
    assert nb.n_parameters_ == {"naive": 1 + 2 * (3 + 1 + 1), "joint": 4 * 2 * 2 * 2 - 1}


def test_the_threshold_follows_the_users_preference():
    # A good mail lost costs nine times a bad one kept: call it spam above .9, where the log-odds are above ln 9.
    nb = prince()
    mail = pd.DataFrame({"prince": [1, 0]})
    np.testing.assert_array_equal(nb.predict_proba(mail)[:, 1] > 0.9, nb.decision_function(mail) > math.log(9))
    assert nb.predict(mail).tolist() == ["spam", "ham"]
    assert (nb.predict_proba(mail)[:, 1] > 0.9).tolist() == [False, False]


def test_continuous_columns_have_the_empirical_mean_and_variance_of_each_class():
    x = np.array([1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16, 1.0, 3.0])
    nb = eo.NaiveBayes(eo.Gaussian, estimate="mle").fit(x.reshape(-1, 1), [0, 0, 0, 0, 1, 1])
    bell = nb.model_.distributions["x0"]
    assert bell.variance.tolist() == [22.5, 1.0]
    assert bell.mean.tolist() == [1e9 + 10, 2.0]
    assert Gaussian.fit(x[:4]).variance == 30.0
    by_hand = math.log(4 / 6) - 0.5 * math.log(2 * math.pi * 22.5)
    assert nb.predict_joint_log_proba([[1e9 + 10]])[0, 0] == pytest.approx(by_hand)


def shared(variance, **settings):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [20, 30, 50])
    X = rng.normal(size=(100, 2)) * 2 + y[:, None] * [1, -1]
    return X, y, eo.NaiveBayes(eo.Column(eo.Gaussian, variance=variance), estimate="mle", **settings).fit(X, y)


@pytest.mark.parametrize("variance", ["pooled", 4.0])
def test_a_shared_or_given_variance_is_a_softmax_of_linear_scores(variance):
    X, y, nb = shared(variance)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    spread = np.mean((X - means[y]) ** 2, axis=0) if variance == "pooled" else np.full(2, 4.0)
    np.testing.assert_allclose(nb.coef_, means / spread)
    np.testing.assert_allclose(nb.intercept_, np.log([0.2, 0.3, 0.5]) - (means**2 / (2 * spread)).sum(axis=1))
    z = X @ nb.coef_.T + nb.intercept_
    np.testing.assert_allclose(nb.predict_proba(X), np.exp(z) / np.exp(z).sum(axis=1, keepdims=True), rtol=1e-9)


def test_a_variance_of_its_own_is_a_quadratic_boundary():
    _, _, nb = shared("per_class")
    line = np.column_stack([np.linspace(-5, 5, 5), np.zeros(5)])
    bends = np.diff(nb.predict_log_proba(line)[:, 0] - nb.predict_log_proba(line)[:, 1], 2)
    assert np.abs(bends).min() > 1e-3
    np.testing.assert_allclose(bends, bends[0])


def test_two_classes_are_a_linear_discriminant():
    X, y = three_words()
    nb = eo.NaiveBayes(eo.Bernoulli, estimate="mle").fit(X, y)
    z = nb.decision_function(X)
    np.testing.assert_allclose(nb.predict_proba(X)[:, 1], 1 / (1 + np.exp(-z)))
    np.testing.assert_allclose(z, nb.intercept_[0] + X.to_numpy() @ nb.coef_[0])
    p_a, p_b = np.array([0.3, 0.1, 0.2]), np.array([0.4, 0.6, 0.5])
    # ln P(j|b)/P(j|a) for a word that is there, against the same for one that is not.
    np.testing.assert_allclose(nb.coef_[0], np.log(p_b / p_a) - np.log((1 - p_b) / (1 - p_a)))
    assert nb.intercept_[0] == pytest.approx(math.log(0.2 / 0.8) + np.log((1 - p_b) / (1 - p_a)).sum())
    assert (nb.predict(X) == np.where(z > 0, "b", "a")).all()


def test_words_that_are_counted_are_a_linear_discriminant_of_their_shares():
    rng = np.random.default_rng(0)
    words = rng.choice(["free", "prize", "meeting", "lunch"], 400, p=[0.4, 0.3, 0.2, 0.1])
    y = np.where(rng.random(400) < np.where(np.isin(words, ["free", "prize"]), 0.8, 0.2), "spam", "ham")
    nb = eo.NaiveBayes(eo.Categorical, estimate="mle").fit(pd.DataFrame({"word": words}), y)
    assert nb.intercept_[0] == pytest.approx(math.log((y == "spam").sum() / (y == "ham").sum()))  # b = ln P(s)/P(h)
    for name, weight in zip(nb.coef_names_, nb.coef_[0]):  # w_j = ln P(j|s)/P(j|h)
        shares = [(words[y == label] == name.removeprefix("word=")).mean() for label in ("spam", "ham")]
        assert weight == pytest.approx(math.log(shares[0] / shares[1]))


def test_dependent_words_make_it_over_confident():
    nb = prince()
    mail = pd.DataFrame({"prince": [1] * 10 + [0] * 190 + [1] * 2 + [0] * 798})
    copies = pd.DataFrame({f"prince{i}": mail["prince"] for i in range(5)})
    five = eo.NaiveBayes(eo.Bernoulli, estimate="mle").fit(copies, ["spam"] * 200 + ["ham"] * 800)
    once = nb.predict_proba(pd.DataFrame({"prince": [1]}))[0, 1]
    many = five.predict_proba(copies.iloc[[0]])[0, 1]
    assert many == pytest.approx(0.25 * 20**5 / (1 + 0.25 * 20**5))
    assert once == pytest.approx(5 / 6)


def test_what_a_class_looks_like_and_how_probable_a_row_is():
    nb = prince()
    spam = nb.sample(20_000, given="spam", random_state=0)["prince"].to_numpy()
    assert abs(spam.mean() - 0.05) < 4.5 * math.sqrt(0.05 * 0.95 / 20_000)
    log_p = nb.score_samples(pd.DataFrame({"prince": [1, 0]}))
    np.testing.assert_allclose(np.exp(log_p), [0.2 * 0.05 + 0.8 * 0.0025, 0.2 * 0.95 + 0.8 * 0.9975])


def test_no_classifier_beats_the_bayes_optimal_one_on_generated_rows():
    truth = eo.NaiveBayes(eo.Bernoulli, estimate="mle").fit(*three_words())
    drawn = truth.sample(20_000, random_state=0).to_pandas()
    X, y = drawn[["x1", "x2", "x3"]], drawn["class"]
    every = pd.DataFrame([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], columns=["x1", "x2", "x3"])
    error = 1 - np.exp(truth.predict_joint_log_proba(every)).max(axis=1).sum()
    assert abs((truth.predict(X) != y).mean() - error) < 4.5 * math.sqrt(error * (1 - error) / 20_000)
    learnt = eo.NaiveBayes(eo.Bernoulli).fit(X[:500], y[:500])
    assert (learnt.predict(X) != y).mean() > error - 4.5 * math.sqrt(error * (1 - error) / 20_000)
