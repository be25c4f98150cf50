"""The table of operations says what the code does."""

import numpy as np
import pytest

from evenodds import BayesNet
from evenodds.families import FAMILIES, WordCounts
from laws import LEARNERS, OPERATIONS


def test_every_family_is_a_learner():
    texts = {WordCounts}  # whose laws are in test_words_laws.py
    assert {learner.family for learner in LEARNERS} == set(FAMILIES.values()) - texts
    models = ["BayesNet", "NaiveBayes"]
    assert sorted(OPERATIONS["learner"]) == sorted([*(family.__name__ for family in FAMILIES.values()), *models])


def test_counts_are_exact_and_sums_are_not():
    exact = {"BayesNet", "Bernoulli", "Categorical", "WordCounts"}
    assert {row["learner"] for row in OPERATIONS if row["add"] == "yes"} == exact


def test_a_network_is_as_exact_as_its_tables():
    rng = np.random.default_rng(0)
    a, b, c = (
        BayesNet("x, y -> z").fit({name: rng.choice(list("uvw"), 40) for name in "xyz"}).model_ for _ in range(3)
    )
    assert (a + b + c - b - a).to_bytes() == c.to_bytes()
    one = {name: ["u"] for name in "xyz"}
    assert (
        c + BayesNet("x, y -> z").fit(one).model_ - BayesNet("x, y -> z").fit(one).model_
    ).to_bytes() == c.to_bytes()


@pytest.mark.parametrize(
    "learner", [learner for learner in LEARNERS if learner.exact], ids=lambda learner: learner.name
)
def test_what_is_called_exact_is_exact(learner):
    rng = np.random.default_rng(0)
    runs = [learner.column(learner.ordinary(rng, 30)) for _ in range(3)]
    a, b, c = map(learner.tally, runs)
    assert (a + b + c - b - a).to_bytes() == c.to_bytes()
