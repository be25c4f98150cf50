"""Bayes' rule: the worked numbers, the laws, and what is said when there is no answer."""

from functools import reduce
from itertools import permutations
from math import exp, fsum, inf, isnan, prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.models.bayes_rule import DiagnosticTest, ImpossibleEvidenceError, normalise, update

DISEASE = {"disease": 0.001, "healthy": 0.999}
TEST_1 = DiagnosticTest(sensitivity=1, false_positives=0.01)
TEST_2 = DiagnosticTest(sensitivity=0.9, false_positives=0.05)


# The worked numbers


def test_rare_disease():
    first = update(DISEASE, TEST_1.likelihoods(DISEASE))
    assert first.probabilities["disease"] == pytest.approx(0.0910, abs=5e-5)
    assert first.evidence == pytest.approx(0.001 + 0.999 * 0.01)
    second = update(first, TEST_2.likelihoods(DISEASE))
    assert second.probabilities["disease"] == pytest.approx(0.643, abs=5e-4)


def test_the_same_test_twice_depends_on_what_a_repetition_means():
    first = update(DISEASE, TEST_1.likelihoods(DISEASE))
    independent = update(first, TEST_1.likelihoods(DISEASE))
    assert independent.probabilities["disease"] == pytest.approx(0.909, abs=5e-4)
    repeats_itself = update(first, dict.fromkeys(DISEASE, 1.0))
    assert repeats_itself.probabilities == pytest.approx(first.probabilities)


def test_a_negative_result_is_the_complement():
    assert TEST_2.likelihoods(DISEASE, "negative") == pytest.approx({"disease": 0.1, "healthy": 0.95})
    cleared = update(DISEASE, TEST_1.likelihoods(DISEASE, "negative"))
    assert cleared.probabilities == {"disease": 0, "healthy": 1}
    assert cleared.odds("healthy") == inf


def test_prince_in_spam():
    seen = update({"spam": 0.2, "ham": 0.8}, {"spam": 0.05, "ham": 0.0025})
    assert seen.probabilities["spam"] == pytest.approx(0.8333, abs=5e-5)
    assert (seen.prior.odds("spam"), seen.likelihood_ratio("spam"), seen.odds("spam")) == pytest.approx((0.25, 20, 5))


def test_naive_bayes_by_hand():
    product = {"a": 0.3 * 0.9 * 0.2, "b": 0.4 * 0.4 * 0.5}
    assert update({"a": 0.8, "b": 0.2}, product).probabilities["a"] == pytest.approx(0.7297, abs=5e-5)


def test_a_joint_is_divided_by_its_sum():
    assert normalise({"a": 0.1, "not a": 0.4}) == pytest.approx({"a": 0.2, "not a": 0.8})


def test_monty_hall():
    doors = dict.fromkeys(("yours", "other", "opened"), 1 / 3)
    host = update(doors, {"yours": 1 / 2, "other": 1, "opened": 0})
    assert host.probabilities == pytest.approx({"yours": 1 / 3, "other": 2 / 3, "opened": 0})


def test_a_background_event_is_every_input_given_it():
    # Weather: rain is likelier in winter; a wet street tells of rain. All numbers are given "winter".
    joint = {("rain", "wet"): 0.38, ("rain", "dry"): 0.02, ("sun", "wet"): 0.06, ("sun", "dry"): 0.54}  # P(· | winter)
    prior = {a: joint[a, "wet"] + joint[a, "dry"] for a in ("rain", "sun")}
    wet = update(prior, {a: joint[a, "wet"] / prior[a] for a in prior})
    assert wet.probabilities["rain"] == pytest.approx(0.38 / (0.38 + 0.06))


# The laws


@st.composite
def problems(draw):
    """A prior over 2 to 5 hypotheses, and 1 to 4 pieces of evidence that every hypothesis allows."""
    names = [f"h{i}" for i in range(draw(st.integers(2, 5)))]
    weights = [draw(st.integers(1, 1000)) for _ in names]
    evidence = st.fixed_dictionaries(dict.fromkeys(names, st.floats(1e-6, 1)))
    return {a: w / sum(weights) for a, w in zip(names, weights)}, draw(st.lists(evidence, min_size=1, max_size=4))


@given(problems())
def test_the_posterior_is_the_textbook_formula_and_sums_to_1(problem):
    prior, [likelihoods, *_] = problem
    posterior = update(prior, likelihoods)
    total = fsum(likelihoods[a] * p for a, p in prior.items())
    assert posterior.evidence == pytest.approx(total)
    assert posterior.probabilities == pytest.approx({a: likelihoods[a] * p / total for a, p in prior.items()})
    assert fsum(posterior.probabilities.values()) == pytest.approx(1, abs=1e-12)


@given(problems())
def test_the_order_of_evidence_does_not_matter(problem):
    prior, evidence = problem
    answers = [reduce(update, order, prior).probabilities for order in permutations(evidence)]
    assert all(answer == pytest.approx(answers[0], rel=1e-9) for answer in answers)


@given(problems())
def test_in_sequence_is_all_at_once(problem):
    prior, evidence = problem
    together = update(prior, {a: prod(piece[a] for piece in evidence) for a in prior})
    assert reduce(update, evidence, prior).probabilities == pytest.approx(together.probabilities, rel=1e-9)


@given(problems())
def test_the_odds_form_agrees(problem):
    prior, evidence = problem
    step = reduce(update, evidence, prior)
    for a, p in step.probabilities.items():
        assert step.odds(a) == pytest.approx(step.prior.odds(a) * step.likelihood_ratio(a), rel=1e-9)
        assert p == pytest.approx(step.odds(a) / (1 + step.odds(a)), rel=1e-9)


@given(problems(), st.integers(1, 10**9))
def test_people_are_the_joint_times_the_population(problem, population):
    prior, evidence = problem
    people = reduce(update, evidence, prior).people(population)
    assert people.counts == pytest.approx({a: population * p * prod(e[a] for e in evidence) for a, p in prior.items()})


@given(problems())
def test_whole_people_tell_each_share(problem):
    prior, [likelihoods, *_] = problem
    posterior = update(prior, likelihoods)
    people = posterior.people()
    if people.whole():
        shown = people.shown()
        shares = {a: n / sum(shown.values()) for a, n in shown.items()}
        assert shares == pytest.approx(posterior.probabilities, rel=0.06)


# Long sequences


def test_a_long_sequence_neither_underflows_nor_forgets():
    # 1,000 results against a hypothesis, far below the smallest float, and 1,000 for it: back where it began.
    step = prior = {"a": 0.3, "b": 0.7}
    against, favour = {"a": 0.01, "b": 0.99}, {"a": 0.99, "b": 0.01}
    for _ in range(1000):
        step = update(step, against)
    assert step.probabilities["a"] == 0  # too small for a float
    assert step.log_odds("a") == pytest.approx(-4595.97, abs=0.01)
    assert step.evidence == pytest.approx(0.99)
    for _ in range(1000):
        step = update(step, favour)
    assert step.probabilities == pytest.approx(prior)
    assert step.people().share("a") == "fewer than 1"


def test_odds_too_large_for_a_float_are_infinite_but_their_log_is_not():
    step = {"a": 0.5, "b": 0.5}
    for _ in range(200):
        step = update(step, {"a": 1, "b": 1e-5})
    assert step.odds("a") == inf
    assert step.odds("b") == pytest.approx(exp(step.log_odds("b")))
    assert step.log_odds("a") == pytest.approx(200 * 11.512925465)


# People


@pytest.mark.parametrize(
    ("evidence", "population", "sentence"),
    [
        ([TEST_1], None, "of 1,000 people, 11 show this evidence: 1 disease and 10 healthy, so 1 in 11"),
        ([TEST_1, TEST_2], None, "of 10,000 people, 14 show this evidence: 9 disease and 5 healthy, so 9 in 14"),
        ([TEST_1, TEST_2], 1000, "of 1,000 people, 1.4 show this evidence: 0.9 disease and 0.5 healthy, so 0.9 in 1.4"),
        ([TEST_1] * 9, 1000, "of 1,000 people, 1 shows this evidence: 1 disease and fewer than 1 healthy, so 1 in 1"),
    ],
)
def test_people_in_words(evidence, population, sentence):
    step = reduce(update, [test.likelihoods(DISEASE) for test in evidence], DISEASE)
    assert step.people(population).sentence() == sentence


def test_people_may_be_mails():
    seen = update({"spam": 0.2, "ham": 0.7, "news": 0.1}, {"spam": 0.05, "ham": 0.01, "news": 0})
    assert seen.people().sentence("mails") == (
        "of 1,000 mails, 17 show this evidence: 10 spam, 7 ham and 0 news, so 10 in 17"
    )


def test_fewer_than_one():
    seen = update({"a": 0.5, "b": 0.5}, {"a": 1e-20, "b": 1e-21})
    assert seen.people().sentence() == "of 1,000,000,000 people, fewer than 1 shows this evidence"


# No answer, and wrong questions


def test_impossible_evidence_is_said_in_words():
    with pytest.raises(ImpossibleEvidenceError, match="every hypothesis gives 'edge' probability 0"):
        update({"fair": 0.5, "two heads": 0.5}, {"fair": 0, "two heads": 0}, "edge")
    fair = update({"fair": 0.5, "two heads": 0.5}, {"fair": 0.5, "two heads": 0}, "tails")
    with pytest.raises(ImpossibleEvidenceError, match="every hypothesis that is still possible gives 'hh' prob"):
        update(fair, {"fair": 0, "two heads": 1}, "hh")
    with pytest.raises(ImpossibleEvidenceError, match="every joint probability is 0"):
        normalise({"a": 0, "b": 0})


def test_what_is_certain_stays_certain():
    sure = update({"a": 1, "b": 0}, {"a": 0.5, "b": 1})
    assert sure.probabilities == {"a": 1, "b": 0}
    assert isnan(sure.likelihood_ratio("a"))  # nothing else is left to compare with
    assert sure.likelihood_ratio("b") == pytest.approx(2)


@pytest.mark.parametrize(
    ("prior", "likelihoods", "message"),
    [
        ({"a": 0.2, "b": 0.7}, {"a": 1, "b": 1}, r"the priors must add up to 1; a 0.2 \+ b 0.7 = 0.9"),
        ({}, {}, "the priors must add up to 1; nothing = 0"),
        (
            {"a": -0.2, "b": 1.2},
            {"a": 1, "b": 1},
            "prior: a = -0.2 is not a probability; expected a number from 0 to 1",
        ),
        ({"a": float("nan"), "b": 1}, {"a": 1, "b": 1}, "prior: a = nan is not a probability"),
        ({"a": 0.2, "b": 0.8}, {"a": 1, "b": 1.5}, "wet: b = 1.5 is not a probability"),
        ({"a": 0.2, "b": 0.8}, {"a": 1}, "wet: no likelihood for hypothesis 'b'; give P\\(wet | b\\)"),
        ({"a": 0.2, "b": 0.8}, {"a": 1, "b": 1, "c": 1}, "wet: 'c' is not a hypothesis; the hypotheses are 'a', 'b'"),
    ],
)
def test_a_wrong_question_is_answered_with_what_is_wrong(prior, likelihoods, message):
    with pytest.raises(ValueError, match=message):
        update(prior, likelihoods, "wet")


def test_a_wrong_test():
    with pytest.raises(ValueError, match="a test tells 2 hypotheses apart, not 3"):
        TEST_1.likelihoods("abc")
    with pytest.raises(ValueError, match="'positive' or 'negative', not 'maybe'"):
        TEST_1.likelihoods("ab", "maybe")
    with pytest.raises(ValueError, match="test: sensitivity = 2 is not a probability"):
        DiagnosticTest(2, 0.1).likelihoods("ab")
