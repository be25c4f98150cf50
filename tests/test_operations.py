"""The table of operations says what the code does."""

import numpy as np
import pytest

from evenodds.families import FAMILIES
from laws import LEARNERS, OPERATIONS


def test_every_family_is_a_learner():
    assert {learner.family for learner in LEARNERS} == set(FAMILIES.values())
    assert sorted(OPERATIONS["learner"]) == sorted([*(learner.name for learner in LEARNERS), "NaiveBayes"])


def test_coins_and_categories_are_exact_and_sums_are_not():
    assert {row["learner"] for row in OPERATIONS if row["add"] == "yes"} == {"Bernoulli", "Categorical"}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_what_is_called_exact_is_exact(learner):
    rng = np.random.default_rng(0)
    runs = [learner.column(learner.ordinary(rng, 30)) for _ in range(3)]
    a, b, c = map(learner.tally, runs)
    if learner.exact:
        assert (a + b + c - b - a).to_bytes() == c.to_bytes()
    else:
        assert any(spec.is_sum for spec in a.layout.specs.values())
