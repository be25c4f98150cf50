"""Leave-one-out: what the model says of each row it has learnt, as if it had never seen that row.

The row's own tally is taken out of its class, all others stay; so n rows need no n models but one pass. Priors given in
numbers stay, those formed from all classes together are formed again without the row, and so are the shares of the
classes. What was chosen by looking at all rows is held: the strength of the smoothing, the cuts of binned columns, the
unit of normalised texts, the factors of `class_weight="balanced"`. A class whose only row is left out is unknown: its
probability is 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from evenodds.cells import Coded, as_column
from evenodds.data.kept import Learnt
from evenodds.data.memory import Table
from evenodds.data.memory import table as as_table
from evenodds.data.sum import cells, target_codes
from evenodds.errors import DataError
from evenodds.families import Dirichlet
from evenodds.families.leaves import Floats, check_weights
from evenodds.families.left_out import How, Left, less, once_each
from evenodds.labels import Ints
from evenodds.logs import normalise, warn_of_impossible
from evenodds.models.class_prior import class_prior, pseudo_rows
from evenodds.models.column_prior import unseen_strength
from evenodds.models.naive_bayes import Model
from evenodds.models.scorer import BLOCK, block_size
from evenodds.models.temper import Said, fit
from evenodds.text.bags import bags
from evenodds.text.listed import shrunk
from evenodds.texts import Texts
from evenodds.threads import in_order, threads_for

Evidence = Callable[[Any, Left], Floats]
ByColumn = dict[str, Floats]
R = TypeVar("R")
PIECE = 1 << 22  # bytes of text whose words are looked up together
WIDEST = 1 << 14  # columns times classes, from which on a table has one exponent


def leave_one_out(
    model: Model, x: Any, y: Any, weights: Any = None, threads: int | None = None, left: LeftOut | None = None
) -> Floats:
    """log p(c | x) of each row and class by the model without that row, (rows, classes).

    `left` is that of the model, or of the same under another temper, if it is at hand.
    """
    prior = 1.0 if model.temper is None else model.temper.prior

    def proba(lengths: ByColumn, first: Floats, says: ByColumn) -> Floats:
        total = prior * first + model.class_offsets
        for name, evidence in says.items():
            believed: Any = model.exponent(name)
            if model.temper is not None and model.temper.shrink.get(name):
                believed = believed * _shrunk(lengths[name], model.temper.shrink[name])[:, None]
            total += believed * evidence
        nothing = np.isneginf(first).all(axis=1)  # the model's only row: without it there is no class
        total[nothing] = 0.0
        found, rows = normalise(total.T, first.T)
        found[:, nothing] = -np.inf
        impossible.append(rows)
        return found.T

    impossible = list[int]()
    parts = list((left or LeftOut(model)).blocks(learnt_of(x, y, weights), proba, threads))
    warn_of_impossible(sum(impossible))
    return np.concatenate([np.empty((0, len(model.classes))), *parts])


def learnt_of(x: Any, y: Any, weights: Any = None) -> Learnt:
    """Rows with their classes and weights, whatever they came in."""
    rows = as_table(x)
    return Learnt(rows, target_codes(as_column(y), rows.rows), check_weights(weights, rows.rows))


def tempered(model: Model, learnt: Iterable[Learnt], threads: int | None = None, left: LeftOut | None = None) -> Model:
    """The model, believing as much of its evidence as serves rows it has learnt, each one left out; no rows: all."""
    model = model.untempered
    left, words = left or LeftOut(model), [name for name in model.distributions if name in model.schema.texts]
    others = [name for name in model.distributions if name not in words]
    each = len(others) * len(model.classes) <= WIDEST
    groups = [(name,) for name in words] + ([(name,) for name in others] if each else [tuple(others)])
    groups = [group for group in groups if group]
    found: list[tuple[Floats, ...]] = []

    def summed(lengths: ByColumn, first: Floats, says: ByColumn) -> tuple[Floats, ...]:
        sums = [functools.reduce(np.add, (says[name] for name in group)) for group in groups]
        return (first, *sums, *(lengths[name] for name in words))

    y, weights = [], []
    for part in learnt:
        found += left.blocks(part.once, summed, threads)
        places = model.places(part.target.labels)[part.target.places]
        y.append(np.maximum(places, 0))
        weights.append((np.ones(len(places)) if part.weights is None else part.weights) * (places >= 0))
    if not found:
        return model
    first, *more = (parts[0] if len(parts) == 1 else np.concatenate(parts) for parts in zip(*found))
    said = [
        Said(group, evidence, more[len(groups) + k] if k < len(words) else None)
        for k, (group, evidence) in enumerate(zip(groups, more))
    ]
    temper = fit(first, said, np.concatenate(y), np.concatenate(weights), model.names)
    return model.believing(temper)


class LeftOut:
    """What a model's columns say of rows it has learnt, each one left out; made ready once for many rows."""

    def __init__(self, model: Model) -> None:
        if not len(model.classes):
            raise DataError("the model has seen no rows yet")
        self.model = model
        self._columns = {name: _evidence(model, name) for name in model.distributions}

    def blocks(
        self, learnt: Learnt, finish: Callable[[ByColumn, Floats, ByColumn], R], threads: int | None = None
    ) -> Iterator[R]:
        """finish(texts' lengths, log p(c), what each column says), block by block; the last two are (rows, classes).

        Lengths are of the texts of each column, in tokens; 0 for a null.
        """
        rows, left = learnt.rows, _left(self.model, learnt.target, learnt.weights)
        size = block_size(self.model, rows, threads)
        if self._columns.keys() & self.model.schema.texts.keys():  # the fewer, the less often counts are gone through
            size = max(size, min(BLOCK, -(-rows.rows // threads_for(threads))))

        def work(start: int) -> R:
            stop = min(start + size, rows.rows)
            some, out = rows.slice(start, stop), left.some(slice(start, stop))
            lengths: ByColumn = {}
            says = {name: self._says(name, some, out, start, lengths) for name in self._columns}
            return finish(lengths, _log_prior(self.model, out), says)

        return in_order(work, range(0, rows.rows, size), threads)

    def _says(self, name: str, rows: Table, left: Left, start: int, lengths: ByColumn) -> Floats:
        """What one column says of each row; nothing where its cell is missing, or impossible in every class."""
        column = self.model.schema.features[name]
        x = cells(rows, name, column)
        if isinstance(x, np.ndarray):
            assert column.family is not None
            column.family.check(x, name, start)
        known = _known(x)
        if known.all() and not isinstance(x, Texts):
            return self._evidence(name, x, left)
        total, some = np.zeros((rows.rows, left.n_groups)), np.flatnonzero(known)
        if isinstance(x, Texts):
            lengths[name] = np.zeros(rows.rows)
        for mine in _pieces(x, some):
            out, known = left.some(mine), x[mine]
            if isinstance(known, Texts):  # read once: for what it says, and for its length
                words = self.model.schema.texts[name]
                known = bags(known, words.tokens, buckets=words.buckets)
                lengths[name][mine] = known.lengths(words.distinct)
            total[mine] = self._evidence(name, known, out)
        return total

    def _evidence(self, name: str, known: Any, left: Left) -> Floats:
        """What a column says of rows that have a cell there."""
        says: Floats = _refused(f"column {name!r}", self._columns[name], known, left)
        if left.gone.any():
            says[left.lost] = -np.inf
        if says.min(initial=0.0) == -np.inf:
            says[np.isneginf(says.max(axis=1))] = 0.0
        return says


def _pieces(x: Any, some: Ints) -> Iterator[Ints]:
    """Some cells, all at once, or of texts not too many."""
    if isinstance(x, Texts):
        yield from (some[first:beyond] for first, beyond in x[some].pieces(PIECE))
    elif len(some):
        yield some


def _shrunk(lengths: Floats, shrink: float) -> Floats:
    return np.array([shrunk(int(n), shrink) for n in lengths])


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
    strength, kind = unseen_strength(model, name)  # where the column has a prior of its own, no other use is made of it
    how = How(settings.estimate, column, strength, kind, column.prior, unseen)
    return _refused(f"column {name!r}", column.family.left_out, model.column_tally(name), how)


def _known(x: Any) -> Any:
    """Which cells are not missing."""
    if isinstance(x, Coded):
        return x.places >= 0
    return x.known if isinstance(x, Texts) else ~np.isnan(x)


def _log_prior(model: Model, left: Left) -> Floats:
    """log p(c) without each row, (rows, classes): of the other rows, or as given; a class that is gone has none.

    It need not add up to 1: what all classes share does not matter here.
    """
    prior = class_prior(model)
    smoothed = isinstance(prior, Dirichlet)

    def says(_: Ints, left: Left) -> Floats:
        shares = np.broadcast_to(np.exp(model.log_prior), (len(left.groups), left.n_groups)).copy()
        if smoothed or prior == "estimated":
            counts = model.class_masses
            added = pseudo_rows(prior, model.names, counts) if smoothed else np.zeros(len(counts))
            shares = left.without(counts) + added
        shares[left.lost] = 0.0
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(shares))

    return once_each(np.zeros(len(left.groups), np.int64), 1, left, says)
