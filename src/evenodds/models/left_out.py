"""Leave-one-out: what the model says of each row it has learnt, as if it had never seen that row.

The row's own tally is taken out of its class, all others stay; so n rows need no n models but one pass. Priors given in
numbers stay, those formed from all classes together are formed again without the row, and so are the shares of the
classes. What was chosen by looking at all rows is held: the strength of the smoothing, the cuts of binned columns, the
unit of normalised texts, the factors of `class_weight="balanced"`. A class whose only row is left out is unknown: its
probability is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evenodds.cells import Coded, as_column
from evenodds.data.memory import Table, in_order
from evenodds.data.memory import table as as_table
from evenodds.data.sum import cells, target_codes
from evenodds.errors import DataError
from evenodds.families import Dirichlet
from evenodds.families.leaves import Floats, check_weights
from evenodds.families.left_out import How, Left, less
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import normalise
from evenodds.texts import Texts

Evidence = Callable[[Any, Left], Floats]


def leave_one_out(model: Model, x: Any, y: Any, weights: Any = None, threads: int | None = None) -> Floats:
    """log p(c | x) of each row and class by the model without that row, (rows, classes)."""
    rows = as_table(x)
    target, weighed = target_codes(as_column(y), rows.rows), check_weights(weights, rows.rows)
    if not len(model.classes):
        raise DataError("the model has seen no rows yet")
    left = _left(model, target, weighed)
    columns = {name: _evidence(model, name) for name in model.distributions}
    out = np.empty((rows.rows, len(model.classes)))
    size = model.block_size(rows, threads)

    def work(start: int) -> None:
        stop = min(start + size, rows.rows)
        out[start:stop] = _score(model, columns, rows.slice(start, stop), left.some(slice(start, stop)), start)

    for _ in in_order(work, range(0, rows.rows, size), threads):
        pass
    return out


def _left(model: Model, target: Coded, weights: Floats | None) -> Left:
    """Each row's place among the classes, what it weighs there, and whether the class has no other row."""
    groups = model.places(target.labels)[target.places]
    weights = np.ones(len(groups)) if weights is None else weights
    strange = np.flatnonzero((groups < 0) & (weights > 0))
    if len(strange):
        label = target.labels.text(int(target.places[strange[0]]))
        raise DataError(f"class {label!r} of row {strange[0]} was never learnt: only rows that were can be left out")
    groups = np.where(groups < 0, 0, groups)
    counts = model.class_counts[groups]
    rest = _refused("the model", less, counts, weights)
    return Left(groups, weights * model.class_factors[groups], len(model.classes), (rest == 0) & (weights > 0))


def _refused(what: str, call: Callable[..., Any], *args: Any) -> Any:
    """The call's result; of what it refuses, it is said where."""
    try:
        return call(*args)
    except ValueError as error:  # a DataError too
        raise DataError(f"{what}, with a row left out: {error}") from None


def _evidence(model: Model, name: str) -> Evidence:
    """What one column says of rows that are left out."""
    column, settings = model.schema.features[name], model.settings
    assert column.family is not None
    unseen = settings.unseen == "prior" and settings.estimate != "mle"
    how = How(settings.estimate, column, model.smoothing(name), model.prior_kind(column), column.prior, unseen)
    return _refused(f"column {name!r}", column.family.left_out, model.column_tally(name), how)


def _score(model: Model, columns: dict[str, Evidence], rows: Table, left: Left, start: int) -> Floats:
    """log p(c | x) of one block's rows."""
    first = _log_prior(model, left)
    total = first.copy()
    for name, evidence in columns.items():
        column = model.schema.features[name]
        x = cells(rows, name, column)
        known = _known(x)
        if isinstance(x, np.ndarray):
            assert column.family is not None
            column.family.check(x, name, start)
        some = np.flatnonzero(known)
        if not len(some):
            continue
        says = _refused(
            f"column {name!r}", evidence, x.take(some) if isinstance(x, Texts) else x[some], left.some(some)
        )
        says[left.some(some).lost] = -np.inf
        says[np.isneginf(says.max(axis=1))] = 0.0  # impossible in every class: no evidence
        total[some] += says
    nothing = np.isneginf(first).all(axis=1)  # the model's only row: without it there is no class
    total[nothing] = 0.0
    found = normalise(total.T, first.T).T
    found[nothing] = -np.inf
    return found


def _known(x: Any) -> Any:
    """Which cells are not missing."""
    if isinstance(x, Coded):
        return x.places >= 0
    return x.known if isinstance(x, Texts) else ~np.isnan(x)


def _log_prior(model: Model, left: Left) -> Floats:
    """log p(c) without each row, (rows, classes): of the other rows, or as given; a class that is gone has none.

    It need not add up to 1: what all classes share does not matter here.
    """
    prior = model.class_prior
    estimated = isinstance(prior, Dirichlet) or (isinstance(prior, str) and prior == "estimated")
    shares = np.broadcast_to(np.exp(model.log_prior), (len(left.groups), left.n_groups)).copy()
    if estimated:
        counts = model.class_masses
        added = model.smoothed(prior, counts) - counts if isinstance(prior, Dirichlet) else np.zeros(len(counts))
        shares = left.without(counts) + added
    shares[left.lost] = 0.0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares))
