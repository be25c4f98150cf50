"""What a naive Bayes model has learnt, as a person reads it: tables, weights, samples, and where it is naive."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from evenodds.arguments import LEVEL, normal_width, whole
from evenodds.cells import Coded
from evenodds.data.memory import Table
from evenodds.data.sum import cells
from evenodds.errors import did_you_mean
from evenodds.families import Binned, WordCounts
from evenodds.families.distribution import Seed, generator
from evenodds.families.leaves import Floats
from evenodds.models.estimated import counts_of, family_of
from evenodds.models.information import information
from evenodds.models.naive_bayes import Model
from evenodds.show import Frame, apart, plain


class Tables(Mapping[str, Frame]):
    """For each column, what was learnt of it in each class, with 95 % credible intervals."""

    def __init__(self, model: Model) -> None:
        self.model = model

    def __iter__(self) -> Iterator[str]:
        return iter(self.model.schema.features)

    def __len__(self) -> int:
        return len(self.model.schema.features)

    def __getitem__(self, name: str) -> Frame:
        if name not in self.model.schema.features:
            raise KeyError(did_you_mean(name, self.model.schema.features))
        return Frame(list(_table_rows(self.model, name)), f"p({name} | {self.model.schema.target})")

    def __repr__(self) -> str:
        return "\n\n".join(repr(table) for table in self.values())


def _table_rows(model: Model, name: str) -> Iterator[dict[str, Any]]:
    column, tally = model.schema.features[name], model.column_tally(name)
    family, target, classes = family_of(column), model.schema.target, model.classes.tolist()
    if not tally.columns or name not in model.distributions:
        return
    estimate: Any = model.distributions[name]
    if isinstance(estimate, WordCounts):
        yield from top_words(model, name)
        return
    posterior = family.posterior(tally, model.column_prior(name), column)
    for c, value, figures in family.readings(estimate, posterior, LEVEL):
        labels = {target: classes[c]} | ({} if value is None else {name: value})
        yield labels | apart(figures, labels)


def top_words(model: Model, name: str, most: int = 10) -> Iterator[dict[str, Any]]:
    """The words that tell each class from the rest, by P(w) · log( P(w | c) / P(w | rest) ), with 95 % intervals.

    The interval is that of the log-odds: the difference of the logs of two shares, each known as well as its counts
    let it be (the variance of log θ is about 1 / (count + pseudo-count)).
    """
    column, tally = model.schema.features[name], model.column_tally(name)
    counts, known = WordCounts.counts(tally), WordCounts.shares(tally, model.column_prior(name), column)
    here = known.counts + known.prior
    everywhere = here.sum(axis=1)
    n, target = known.totals + known.weight, model.schema.target
    for c, label in enumerate(model.classes.tolist()):
        others = everywhere - here[:, c]
        rest = others / max(n.sum() - n[c], 1e-300)
        share = here[:, c] / n[c]
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.log(share) - np.log(rest)
            worth = np.nan_to_num(everywhere / n.sum() * odds, nan=0.0, posinf=0.0, neginf=0.0)
            wide = normal_width(LEVEL) * np.sqrt(1 / here[:, c] + 1 / others)
        for w in np.argsort(-worth, kind="stable")[:most]:
            if worth[w] <= 0:
                break
            told = {
                "word": counts.text(int(known.keys[w])),
                "p": share[w],
                "log-odds": odds[w],
                "low": odds[w] - wide[w],
                "high": odds[w] + wide[w],
                "count": plain(known.counts[w, c]),
            }
            yield {target: label, **apart(told, (target,))}


@dataclass(frozen=True)
class Linear:
    """A linear discriminant: one row of weights per class, or a single one for the second of two classes."""

    weights: Floats
    constants: Floats
    names: list[str]


def coefficients(model: Model) -> Linear:
    """log p(c | x) as constants + weights · x, where every column is linear in x.

    Bernoulli, one-hot categories, Poisson and pooled-variance Gaussians are, under a plug-in estimate.
    """
    constants = model.log_start.copy()
    weights, names = [np.empty((0, len(model.classes)))], []
    for name, distribution in model.distributions.items():
        with np.errstate(divide="ignore"):
            terms = distribution.linear(model.column_tally(name))
        if terms is None:
            family, kind = family_of(model.schema.features[name]), type(distribution).__name__
            what = f"column {name!r} is {family.__name__} (estimated as {kind})"
            raise AttributeError(f"the model is not linear: {what}; {family.linear_if} linear")
        a = model.exponent(name)
        weights.append(a * terms.weights)
        constants = constants + a * terms.constant
        names += [name + feature for feature in terms.names]
    matrix = np.concatenate(weights).T
    if len(model.classes) == 2:
        matrix, constants = matrix[1:] - matrix[:1], constants[1:] - constants[:1]
    return Linear(matrix, constants, names)


def n_parameters(model: Model) -> dict[str, int | None]:
    """How many free numbers the model has, and how many the full joint of the same columns would have.

    The joint is counted where every column has a finite number of values, otherwise it is None.
    """
    k = len(model.classes)
    naive, joint = max(k - 1, 0), k
    finite = True
    for name, column in model.schema.features.items():
        family, tally = family_of(column), model.column_tally(name)
        if not counts_of(tally).any():
            continue
        naive += family.free(tally, column)
        table = family.table(tally, column)
        finite = finite and table is not None
        joint *= 1 if table is None else len(table)
    return {"naive": naive, "joint": joint - 1 if finite else None}


def sample(model: Model, n_samples: int, given: Any = None, random_state: Seed = None) -> pa.Table:
    """Rows drawn from the model: a class first (or the given one), then each column of that class."""
    rng, size = generator(random_state), whole("n_samples", n_samples, least=0)
    if given is None:
        drawn = rng.choice(len(model.classes), size, p=np.exp(model.log_prior))
    else:
        drawn = np.full(size, model.place(given))
    columns: dict[str, Any] = {}
    for name in model.schema.features:
        if name not in model.distributions or isinstance(model.distributions[name], WordCounts):
            continue
        values: Any = None
        for c in range(len(model.classes)):
            mine = np.flatnonzero(drawn == c)
            part = model.distributions[name].at(c).sample(len(mine), rng)
            values = np.empty(size, dtype=part.dtype) if values is None else values
            values[mine] = part
        columns[name] = pa.array(values)
    return pa.table({**columns, model.schema.target: pa.array(model.classes[drawn].tolist())})


def check(model: Model, rows: Table, target: Coded, most: int = 10) -> Frame:
    """Pairs of columns by their mutual information given the class, in nats; numbers are cut into their bins.

    `excess` is the information beyond what independent columns would show by chance: (a-1)(b-1) / 2n per class.
    `p_value` is that of the likelihood-ratio test, 2n · information against a chi-squared.
    """
    shown, classes = whole("most", most, least=0), target.place[target.codes]
    coded = {
        name: _discrete(model, rows, name)
        for name, column in model.schema.features.items()
        if column.family is not WordCounts
    }
    k = len(target.labels)
    found = []
    names = list(coded)
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            (x, n_x), (z, n_z) = coded[a], coded[b]
            both = (x >= 0) & (z >= 0)
            at = (classes[both] * n_x + x[both]) * n_z + z[both]
            table = np.bincount(at, minlength=k * n_x * n_z).reshape(k, n_x, n_z).astype(float)
            n = table.sum()
            if n == 0:
                continue
            told = information(table)
            found.append(
                {
                    "a": a,
                    "b": b,
                    "information": told.nats / n,
                    "excess": told.excess / n,
                    "p_value": told.p_value,
                    "rows": int(n),
                }
            )
    found.sort(key=lambda pair: (-float(pair["excess"]), -float(pair["information"])))
    return Frame(found[:shown], f"most dependent given {model.schema.target}")


def _discrete(model: Model, rows: Table, name: str) -> tuple[Any, int]:
    """A column as codes: its categories, its outcomes, or its numbers cut into bins of equal mass."""
    read = cells(rows, name, model.schema.features[name])
    if isinstance(read, Coded):
        return read.places, max(len(read.labels), 1)
    if np.isnan(read).all():
        return np.full(len(read), -1), 1
    bins = Binned.fit(read, estimate="mle")
    return bins.codes(read), len(bins.shares)
