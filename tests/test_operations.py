"""The table of operations says what the code does."""

import numpy as np
import pytest

from evenodds.families import FAMILIES, WordCounts
from laws import LEARNERS, OPERATIONS


def test_every_family_is_a_learner():
    texts = {WordCounts}  # whose laws are in test_words_laws.py
    assert {learner.family for learner in LEARNERS} == set(FAMILIES.values()) - texts
    assert sorted(OPERATIONS["learner"]) == sorted([*(family.__name__ for family in FAMILIES.values()), "NaiveBayes"])


def test_counts_are_exact_and_sums_are_not():
    assert {row["learner"] for row in OPERATIONS if row["add"] == "yes"} == {"Bernoulli", "Categorical", "WordCounts"}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_what_is_called_exact_is_exact(learner):
    rng = np.random.default_rng(0)
    runs = [learner.column(learner.ordinary(rng, 30)) for _ in range(3)]
    a, b, c = map(learner.tally, runs)
    if learner.exact:
        assert (a + b + c - b - a).to_bytes() == c.to_bytes()
    else:
        assert any(spec.is_sum for spec in a.layout.specs.values())
