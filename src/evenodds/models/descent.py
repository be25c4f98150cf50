"""Columns exchanged for their alternatives, one at a time, while that tells the rows' classes better.

Each row is left out in turn. What an alternative says of the rows is found once; then an exchange is an addition and a
few steps of `power.believed`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from evenodds.data.kept import Learnt
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.logs import log_sum
from evenodds.models.alternatives import Alternative, narrow
from evenodds.models.left_out import ByColumn, LeftOut
from evenodds.models.naive_bayes import Model
from evenodds.models.power import Rows, believed, powers
from evenodds.models.temper import Said, fit
from evenodds.models.temper_problem import NEVER
from evenodds.show import Frame

SWEEPS = 5
# What a change must gain to be no luck, in nats: so many standard errors of the rows' differences, and so many times
# log(1 + columns), for more columns have more luck. Without either, 60 columns of 208 rows overfit to four times the
# log loss. How many times as much is enough differs by table: 150 irises are best at 1, 178 wines if nothing changes.
ERRORS, LUCK = 0.5, 1 / 3
CAUTION = (1.0, 3.0, np.inf)
FEW = 2_000  # rows, below which caution is chosen, in so many folds of the rows; more rows speak for themselves
FOLDS = 4


class Tried(NamedTuple):
    """An alternative, and what it says of the rows."""

    what: Alternative
    first: Floats  # log p(c), (rows, classes): it depends on the alternative where class_prior="auto"
    says: Floats  # the same of log p(x_j | c), less each row's largest
    logs: Floats | None  # of a text: the log of its length

    @property
    def complement(self) -> bool:
        """Whether it is told by the words of other classes, which asks for a uniform prior."""
        words = self.what.column.words
        return self.what.used and words is not None and words.events == "complement"


class Descent:
    """The columns as they are chosen so far, and how the rows' classes are told by them."""

    def __init__(
        self, wide: Model, every: Mapping[str, list[Alternative]], learnt: list[Learnt], threads: int | None
    ) -> None:
        self.wide, self.learnt, self.threads = wide, learnt, threads
        places = [wide.places(part.target.labels)[part.target.places] for part in learnt]
        y = np.concatenate([np.maximum(some, 0) for some in places])
        weights = [np.ones(part.rows.rows) if part.weights is None else part.weights for part in learnt]
        self.masses = np.concatenate(weights)
        self.tried: dict[str, list[Tried]] = {}
        for name, some in every.items():
            self.add(name, some)
        known = (np.concatenate(places) >= 0) & np.isfinite(
            next(iter(self.tried.values()))[0].first[np.arange(len(y)), y]
        )
        self.start(Rows(y, self.masses * known))  # the only row of its class teaches nothing
        self.caution = self._cautious() if len(y) < FEW else CAUTION[0]

    def start(self, rows: Rows) -> None:
        """Begin with the defaults."""
        self.rows, self.at = rows, dict.fromkeys(self.tried, 0)
        self.believe()

    def _cautious(self) -> float:
        """How cautious one must be, so that what is chosen by some of the rows serves the others best."""
        every, fold = self.rows, np.random.default_rng(0).permutation(len(self.rows.y)) % FOLDS
        losses = dict.fromkeys(CAUTION, 0.0)
        for self.caution in CAUTION:
            for k in range(FOLDS):
                self.start(Rows(every.y, every.weights * (fold != k)))
                self.run()
                losses[self.caution] += float((every.weights * self._left())[fold == k].sum())
        self.start(every)
        return min(losses, key=losses.__getitem__)

    def _left(self) -> Floats:
        """-log p of each row's class, as things are chosen."""
        name = next(iter(self.tried))
        scores = self.prior * np.maximum(self._first(name, self._now(name)), NEVER) + self.offsets
        scores = sum(self.terms.values(), scores)
        return np.asarray(log_sum(scores) - scores[self.rows.own])

    def add(self, name: str, some: list[Alternative]) -> None:
        """Try more alternatives of a column; one that cannot be estimated is none, but for the default."""
        for one in some:
            try:
                found = self._tried(name, one)
            except DataError:
                if name not in self.tried:
                    raise
            else:
                self.tried.setdefault(name, []).append(found)

    def _tried(self, name: str, one: Alternative) -> Tried:
        left, finish = LeftOut(narrow(self.wide, {name: one})), self._finish(name, one)
        parts = [part for some in self.learnt for part in left.blocks(some.once, finish, self.threads)]
        first, says, *logs = (np.concatenate(many) for many in zip(*parts))
        return Tried(one, first, says, logs[0] if logs else None)

    @staticmethod
    def _finish(name: str, one: Alternative) -> Callable[[ByColumn, Floats, ByColumn], tuple[Floats, ...]]:
        column = one.column

        def finish(lengths: ByColumn, first: Floats, says: ByColumn) -> tuple[Floats, ...]:
            mine = says.get(name, np.zeros(first.shape))
            mine = np.maximum(mine - mine.max(axis=1, keepdims=True), NEVER)
            if not one.used or column.words is None:
                return first, mine
            return first, mine, np.log(np.maximum(lengths.get(name, np.zeros(len(mine))), 1.0))

        return finish

    # -- how the classes are told ------------------------------------------------------------------------------------

    @property
    def chosen(self) -> dict[str, Alternative]:
        """What each column is so far."""
        return {name: self._now(name).what for name in self.tried}

    def _now(self, name: str) -> Tried:
        return self.tried[name][self.at[name]]

    def _group(self, name: str) -> str:
        """Texts are believed each for itself, all other columns alike: as `tempered` does."""
        return name if self.tried[name][0].logs is not None else ""

    def _first(self, name: str, one: Tried) -> Floats:
        """log p(c), with a column exchanged."""
        every = [one, *(self._now(other) for other in self.tried if other != name)]
        return min(every, key=lambda each: not each.complement).first

    def believe(self) -> None:
        """Fit all exponents to what is chosen."""
        self.totals: dict[str, Floats] = {}
        for name in self.tried:
            says, group = self._now(name).says, self._group(name)
            self.totals[group] = self.totals[group] + says if group in self.totals else says
        logs = {group: self._now(group).logs if group else None for group in self.totals}
        said = [
            Said((group,), total, None if (log := logs[group]) is None else np.exp(log))
            for group, total in self.totals.items()
        ]
        name = next(iter(self.tried))
        first = self._first(name, self._now(name))
        classes = [str(k) for k in range(first.shape[1])]
        found = fit(first, said, self.rows.y, self.rows.weights, classes)
        self.prior, self.offsets = found.prior, np.array([found.offsets.get(label, 0.0) for label in classes])
        self.powers, self.terms = {}, {}
        for group, total in self.totals.items():
            b = found.shrink.get(group, 0.0)
            middle = 0.0 if (log := logs[group]) is None else float(log.mean())
            self.powers[group] = np.array([np.log(found.exponents[group]) - b * middle, b])
            self.terms[group] = powers(self.powers[group], log) * total

    def losses(self, name: str, one: Tried) -> tuple[Floats, Floats]:
        """-log p of each row's class with a column exchanged, and last the price of the power; and that power."""
        group = self._group(name)
        total = self.totals[group] - self._now(name).says + one.says
        return self._losses(group, self._first(name, one), total, one.logs)

    def _losses(self, group: str, first: Floats, total: Floats, logs: Floats | None) -> tuple[Floats, Floats]:
        alone = not total.any()  # what the classes' offsets make up for is gone with a text
        prior, offsets = (1.0, np.zeros_like(self.offsets)) if group and alone else (self.prior, self.offsets)
        base = prior * np.maximum(first, NEVER) + offsets
        for other, term in self.terms.items():
            if other != group:
                base += term
        return believed(base, total, logs, self.rows, self.powers[group])

    # -- what is chosen ----------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Exchange columns until none is exchanged any more."""
        if self.caution == np.inf:
            return
        self._exchange_all()
        for _ in range(SWEEPS):
            if not sum(self._exchange(name) for name in self.tried):
                return
            self.believe()

    def _exchange_all(self) -> None:
        """Exchange all columns at once that can be of one kind, if that gains enough: together they tell sooner."""
        kinds: dict[str, dict[str, int]] = {}
        for name, every in self.tried.items():
            for k, one in enumerate(every):
                if one.what.kind and not self._group(name) and self._now(name).what.used:
                    kinds.setdefault(one.what.kind, {})[name] = k
        if not kinds:
            return
        first = self._first("", self._now(next(iter(self.tried))))
        now = self._losses("", first, self.totals[""], None)[0]
        gains = {}
        for kind, places in kinds.items():
            total = self.totals[""] + sum(self.tried[name][k].says - self._now(name).says for name, k in places.items())
            gains[kind] = self._gain(now - self._losses("", first, total, None)[0])
        best = max(gains, key=gains.__getitem__)
        if gains[best] > 0:
            self.at |= kinds[best]
            self.believe()

    def _exchange(self, name: str) -> bool:
        """Exchange a column for its best alternative, if that gains enough; the last column is not left out."""
        every, now = self.tried[name], self._now(name)
        last = now.what.used and sum(one.used for one in self.chosen.values()) == 1
        found = [self.losses(name, one) for one in every]
        gains = [
            -np.inf if last and not one.what.used else self._gain(found[self.at[name]][0] - losses)
            for one, (losses, _) in zip(every, found)
        ]
        best = int(np.argmax(gains))
        if gains[best] <= 0 or best == self.at[name]:
            return False
        group, self.at[name] = self._group(name), best
        self.totals[group] = self.totals[group] - now.says + every[best].says
        self.powers[group] = found[best][1]
        self.terms[group] = powers(self.powers[group], every[best].logs) * self.totals[group]
        return True

    def record(self) -> Frame:
        """Each alternative of each column, with the log loss if the column were exchanged for it."""
        rows, n = [], max(float(self.rows.weights.sum()), 1e-300)
        for name, every in self.tried.items():
            for k, one in enumerate(every):
                loss, chosen = float(self.losses(name, one)[0][:-1].sum()) / n, "yes" if k == self.at[name] else ""
                rows.append({"column": name, "as": one.what.column.described, "log loss": loss, "chosen": chosen})
        return Frame(rows)

    def _gain(self, differences: Floats) -> float:
        """What is gained beyond luck; the last of the differences is no row's."""
        apart = differences[:-1] - self.masses * (differences[:-1].sum() / self.masses.sum())
        error = np.sqrt((apart * apart / np.where(self.masses > 0, self.masses, 1.0)).sum())  # of weight 2, two rows
        return float(differences.sum()) - self.caution * (ERRORS * error + LUCK * np.log1p(len(self.tried)))
