"""How well a graph fits what was counted: a sum over its families, of nodes with their parents.

log-likelihood   Σ n log(n / n_parents): of the rows under the best tables
bic              less log(rows) / 2 for each parameter (Schwarz 1978)
aic              less 1 for each parameter (Akaike 1974)
bdeu, k2         log p(rows), the tables integrated out under a Dirichlet: `ess` pseudo-rows spread evenly over each
                 table (Heckerman, Geiger and Chickering 1995), or one a cell (Cooper and Herskovits 1992)

More is better, of all of them. The BIC of a mixture or a regression is -2 times such a one: there less is better.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from evenodds.arguments import is_number, one_of
from evenodds.families import Categorical
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net.tallies import of_counts

Criterion = Literal["bic", "aic", "bdeu", "k2", "log-likelihood"]
CRITERIA: tuple[Criterion, ...] = ("bic", "aic", "bdeu", "k2", "log-likelihood")
ESS = 10.0  # pseudo-rows of bdeu, if not told


def check_criterion(criterion: str, ess: float) -> None:
    """Refuse the name of a criterion that is none."""
    one_of("criterion", criterion, CRITERIA)
    if not is_number(ess, above=0):
        raise ValueError(f"ess={ess!r}: expected a number of pseudo-rows above 0")


def price(criterion: Criterion, rows: float) -> float:
    """What each parameter costs, of the criteria that take a price from the log-likelihood."""
    return {"bic": math.log(max(rows, 1.0)) / 2, "aic": 1.0, "log-likelihood": 0.0}[criterion]


def family_score(counts: Floats, criterion: Criterion, rows: float, ess: float = ESS) -> float:
    """The score of one family, from its counts (parents' values, states).

    Where some of the rows lack a cell of the family, what the others say is scaled up to all of them, so that families
    can be compared (Balov 2013).
    """
    q, r = counts.shape
    scale = max(rows / max(float(counts.sum()), 1e-300), 1.0)
    if criterion in ("bdeu", "k2"):
        tally = of_counts(counts)
        prior = Categorical.flat_prior(1.0 if criterion == "k2" else ess / (q * r))
        return scale * float(np.sum(Categorical.log_evidence(tally, prior)))
    from scipy.special import xlogy

    fit = float(xlogy(counts, counts).sum() - xlogy(counts.sum(axis=1), counts.sum(axis=1)).sum())
    return scale * fit - price(criterion, rows) * q * (r - 1)
