"""A mixture as a value: weights, components, and how it was fitted.

    p(x) = Σ_k weight_k · p(x | component k)

Immutable and safe to share between threads. It is no sum: EM's tallies are expected ones, at parameters that later
rows would change.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.arguments import whole
from evenodds.data.memory import Table
from evenodds.data.memory import table as as_table
from evenodds.errors import DataError, many, remedy
from evenodds.families import Categorical, Family, Gaussian
from evenodds.families.distribution import Seed, generator
from evenodds.families.leaves import Floats
from evenodds.logs import log_sum
from evenodds.models.mixture.blocks import Block
from evenodds.models.mixture.em import Components
from evenodds.models.mixture.normals import Normals
from evenodds.models.mixture.rows import Tabled, block_of
from evenodds.models.mixture.settings import MixtureSettings
from evenodds.models.saved import Saved
from evenodds.schema import Schema
from evenodds.show import Frame, apart, turned, wide
from evenodds.threads import in_order


@dataclass(frozen=True)
class Tried:
    """A number of components that was tried: BIC = parameters · log rows - 2 · log-likelihood, less is better.

    ICL adds twice the entropy of the rows' shares, so that components must also lie apart. A number at which a
    component collapsed has only a note.
    """

    k: int
    log_likelihood: float | None = None
    parameters: int | None = None
    bic: float | None = None
    icl: float | None = None
    converged: bool | None = None
    steps: int | None = None
    note: str = ""


@dataclass(frozen=True, eq=False)
class MixtureModel(Saved):
    """A fitted mixture."""

    kind = "mixture"
    schema: Schema
    settings: MixtureSettings
    components: Components
    rows: float  # Σ of their weights
    trace: tuple[float, ...]  # what was maximised, step by step
    tried: tuple[Tried, ...]

    # -- what it is --------------------------------------------------------------------------------------------------

    @property
    def k(self) -> int:
        """How many components."""
        return self.components.k

    @property
    def weights(self) -> Floats:
        """The components' weights, which add up to 1."""
        return self.components.weights

    @property
    def names(self) -> list[str]:
        """The columns."""
        return list(self.schema.features)

    @property
    def fit(self) -> Tried:
        """How well it fits."""
        return next(one for one in self.tried if one.k == self.k)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know."""
        said = [f"k={one.k}: {one.note}" for one in self.tried if one.note]
        if not self.fit.converged:
            said.insert(
                0,
                f"not converged after {self.fit.steps:,} steps: the last one gained "
                f"{self.trace[-1] - self.trace[-2]:.2g}; allow more steps "
                + remedy("(max_iter=), or a larger tolerance (tol=)", "(--max-iter)"),
            )
        return tuple(said)

    def column(self, name: str) -> Family:
        """A column's distribution in every component, one family with a number for each."""
        if isinstance(self.components, Normals):
            j = self.components.names.index(name)
            return Gaussian(self.components.means[:, j], self.components.covariances[:, j, j])
        found: Family = self.components.columns[name]
        return found

    @property
    def covariances(self) -> Floats:
        """Of Gaussians: each component's covariance matrix, (k, columns, columns)."""
        if isinstance(self.components, Normals):
            return self.components.covariances
        return np.array([np.diag(v) for v in np.array([self.column(n).variance for n in self.names]).T])

    def table(self) -> Frame:
        """The components, a line each: weight, and each column's mean (of Gaussians ± its standard deviation)."""
        lines = []
        for g in range(self.k):
            line: dict[str, Any] = {}
            for name in self.names:
                column: Any = self.column(name)
                if isinstance(column, Categorical):
                    line |= {f"{name}={text}": p for text, p in sorted(zip(column.labels.texts(), column.shares[:, g]))}
                else:
                    line[name] = float(np.asarray(column.mean)[g])
                    if isinstance(column, Gaussian):
                        line[f"{name} ±"] = float(np.sqrt(np.asarray(column.variance)[g]))
            lines.append({**apart({"component": g + 1, "weight": float(self.weights[g])}, line), **line})
        return Frame(lines)

    def curve(self) -> Frame:
        """Every number of components that was tried, and what BIC and ICL say of it."""
        shown = ["k", "log_likelihood", "parameters", "bic", "icl", "converged"]
        shown += ["note"] if any(one.note for one in self.tried) else []
        return Frame([{name: getattr(one, name) for name in shown} for one in self.tried])

    def describe(self) -> str:
        """Everything on one page, for a terminal."""
        fit, kind = self.fit, self.settings.family.__name__
        how = f"{self.settings.covariance} " if self.settings.family is Gaussian else ""
        done = f"converged in {fit.steps:,} steps" if fit.converged else f"not converged in {fit.steps:,} steps"
        rows = self.settings.prior
        table = self.table()
        prior = "maximum likelihood" if rows is None else f"a prior of {many(rows, 'row')} each"
        lines = [
            f"{many(self.k, f'{how}{kind} component')} of {', '.join(self.names)}: "
            f"{self.rows:,.10g} rows, {fit.parameters:,} parameters, {prior}",
            f"log-likelihood {fit.log_likelihood:.4f}, BIC {fit.bic:.4f}, ICL {fit.icl:.4f}; {done}",
            "",
            repr(turned(table) if wide(table) else table),
        ]
        if len(self.tried) > 1:
            criterion, most = self.settings.criterion.upper(), max(one.k for one in self.tried)
            end = f"; none above {most} was tried, and some may have less" if self.k == most else ""
            lines += ["", f"the least {criterion} of {len(self.tried)} numbers of components{end}:"]
            lines.append(repr(self.curve()))
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The same for programs."""
        components = []
        for g in range(self.k):
            columns: dict[str, Any] = {}
            for name in self.names:
                column: Any = self.column(name)
                if isinstance(column, Categorical):
                    columns[name] = dict(sorted(zip(column.labels.texts(), column.shares[:, g].tolist())))
                else:
                    columns[name] = {"mean": float(column.mean[g]), "variance": float(column.variance[g])}
            one: dict[str, Any] = {"weight": float(self.weights[g]), "columns": columns}
            if self.settings.family is Gaussian:
                one["covariance"] = self.covariances[g].tolist()
            components.append(one)
        return {
            "family": self.settings.family.__name__,
            "covariance": self.settings.covariance if self.settings.family is Gaussian else None,
            "prior": self.settings.prior,
            "criterion": self.settings.criterion,
            "columns": self.names,
            "rows": self.rows,
            **dataclasses.asdict(self.fit),
            "components": components,
            "curve": [dataclasses.asdict(one) for one in self.tried],
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        how = f", {self.settings.covariance}" if self.settings.family is Gaussian else ""
        kind = self.settings.family.__name__
        return f"MixtureModel({self.k} × {kind}{how}, of {', '.join(self.names)}, {self.rows:,.10g} rows)"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MixtureModel) and self.to_bytes() == other.to_bytes()

    # -- what it says ------------------------------------------------------------------------------------------------

    def log_joint(self, rows: Any, threads: int | None = None) -> Floats:
        """log weight + log p(row | component), (rows, k); cells that are missing are integrated out."""
        labels = {name: column.labels for name in self.names if isinstance(column := self.column(name), Categorical)}
        whole = Tabled(_only(as_table(rows), self.names), self.schema)

        def work(shard: slice) -> Floats:
            block: Block = block_of(whole.part(shard), self.schema, labels)
            return self.components.log_joint(block).T

        return np.concatenate([np.empty((0, self.k)), *in_order(work, whole.shards(), threads)])

    def log_prob(self, rows: Any, threads: int | None = None) -> Floats:
        """log p(row)."""
        return log_sum(self.log_joint(rows, threads))

    def shares(self, rows: Any, threads: int | None = None) -> Floats:
        """p(component | row), (rows, k); of a row that is impossible in every component, their weights."""
        return self.shares_and_log_prob(rows, threads)[0]

    def shares_and_log_prob(self, rows: Any, threads: int | None = None) -> tuple[Floats, Floats]:
        """Both, of one look at the rows."""
        joint = self.log_joint(rows, threads)
        log_p = log_sum(joint)
        total, impossible = log_p[:, None], (log_p == -np.inf)[:, None]
        return np.where(impossible, self.weights, np.exp(joint - np.where(impossible, 0.0, total))), log_p

    def sample(self, n_samples: int, random_state: Seed = None) -> tuple[list[Any], NDArray[np.int64]]:
        """Draw rows: each column's values, and which component each row is from."""
        rng, size = generator(random_state), whole("n_samples", n_samples, least=0)
        component = np.minimum(np.searchsorted(np.cumsum(self.weights), rng.random(size), side="right"), self.k - 1)
        try:
            return self.components.sample(component, rng), component
        except ValueError as error:  # a rate beyond what numpy draws counts at
            raise DataError(f"no rows can be drawn: {error}") from None


def _only(rows: Table, names: list[str]) -> Table:
    for name in names:
        rows[name]  # a name that is not there is refused in a sentence
    return rows
