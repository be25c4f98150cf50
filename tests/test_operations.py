"""The table of operations says what the code does."""

import numpy as np
import pytest

from evenodds.families import FAMILIES
from laws import LEARNERS
from operations import OPERATIONS, markdown, operations


def test_every_family_is_a_learner():
    assert {learner.family for learner in LEARNERS} == set(FAMILIES.values())
    assert list(operations()) == [*(learner.name for learner in LEARNERS), "NaiveBayes"]


def test_coins_and_categories_are_exact_and_sums_are_not():
    exact = {name for name, row in operations().items() if row["add"] == "yes"}
    assert exact == {"Bernoulli", "Categorical"}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: learner.name)
def test_what_is_called_exact_is_exact(learner):
    rng = np.random.default_rng(0)
    runs = [learner.column(learner.ordinary(rng, 30)) for _ in range(3)]
    a, b, c = map(learner.tally, runs)
    if operations()[learner.name]["subtract"] == "yes":
        assert (a + b + c - b - a).to_bytes() == c.to_bytes()
    else:
        assert any(spec.is_sum for spec in a.layout.specs.values())


def test_the_table_can_be_printed():
    lines = markdown().splitlines()
    assert len(lines) == 2 + len(LEARNERS) + 1
    assert all(line.count("|") == len(OPERATIONS) + 2 for line in lines)
