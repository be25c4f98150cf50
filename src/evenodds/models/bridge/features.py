"""What the correction of naive Bayes can see: the columns once more, in the form that naive Bayes gives them.

    words        each token that is there, once: (10 / distinct tokens)^¼, so that one strength fits texts of any length
    categories   one indicator a value
    numbers      standardised, at most 4 deviations from the mean; of a binned column also a step at each cut, of a
                 Gaussian or log-Gaussian one the square: what naive Bayes says of it can then be taken back in part

A missing cell, and a word or value that was not seen, is 0 everywhere. Nothing here looks at the classes.

>>> from evenodds.data.memory import table
>>> schema = Schema({"age": Column(Gaussian), "sex": Column(Categorical)}, "survived")
>>> age, sex = Numbers("age", shift=30.0, scale=10.0), Values("sex", Labels.of(["female", "male"]))
>>> rows = table({"age": [20.0, 30.0, 40.0, None], "sex": ["female", "male", "female", "female"]})
>>> Features((age, sex)).matrices(rows, schema).dense.ravel()
array([-1.,  0.,  1.,  0.])
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from evenodds.cells import Coded
from evenodds.data.memory import Table
from evenodds.data.sum import cells
from evenodds.families import Binned, Categorical, Gaussian, LogGaussian, WordCounts
from evenodds.families.leaves import Floats
from evenodds.families.numeric import check_no_infinity
from evenodds.labels import Keys, Labels, find
from evenodds.models.naive_bayes import Model
from evenodds.schema import Column, Schema
from evenodds.show import NOTHING
from evenodds.text.bags import Bags, bags
from evenodds.threads import threads_for

LENGTH, POWER = 10.0, 0.25  # of a text that is not scaled, and how longer ones are
FARTHEST = 4.0  # deviations from the mean
SQUARE, STEP = 0.5, 0.125  # how much they count beside the number itself
LEAST_TEXTS = 2  # that have a word
MOST_WEIGHTS = 1 << 21  # of all classes: rarer words are left out


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers: where its middle is, how wide it is, and whether it has squares, or steps at some cuts."""

    name: str
    shift: float
    scale: float
    log: bool = False
    squares: bool = False
    cuts: Floats = field(default_factory=lambda: np.empty(0))

    @property
    def width(self) -> int:
        """How many columns the design has of it."""
        return 1 + self.squares + len(self.cuts)

    def names(self) -> list[str]:
        """What each of them is."""
        steps = ["> 0" if 0 < cut < NOTHING else f">= {cut:.6g}" for cut in self.cuts]
        return ["", *(["squared"] if self.squares else []), *steps]

    def dense(self, x: Floats) -> Floats:
        """The columns of the design, (rows, width)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = np.where(x > 0, np.log(x), np.nan) if self.log else x
        z = np.nan_to_num(np.clip((value - self.shift) / self.scale, -FARTHEST, FARTHEST))
        squares = [np.where(np.isnan(value), 0.0, SQUARE * (z * z - 1))] if self.squares else []
        steps = np.where(np.isnan(x)[:, None], 0.0, STEP * ((x[:, None] >= self.cuts) - 0.5))
        return np.column_stack([z, *squares, steps])


@dataclass(frozen=True, eq=False)
class Values:
    """A column of categories."""

    name: str
    labels: Labels

    @property
    def width(self) -> int:
        """How many columns the design has of it."""
        return len(self.labels)

    def sparse(self, x: Coded) -> Any:
        """An indicator of each value, (rows, width)."""
        from scipy.sparse import csr_array

        place = np.append(self.labels.find(x.labels.keys), -1)[x.places]
        known = place >= 0
        ends = np.concatenate([[0], np.cumsum(known)])
        return csr_array((np.ones(ends[-1]), place[known], ends), shape=(len(place), self.width))


@dataclass(frozen=True, eq=False)
class Tokens:
    """A column of text: the keys of its words and n-grams, or of their buckets, in order."""

    name: str
    keys: Keys

    @property
    def width(self) -> int:
        """How many columns the design has of it."""
        return len(self.keys)

    def sparse(self, found: Bags) -> Any:
        """Each token that is there, scaled by the text's length, (rows, width)."""
        from scipy.sparse import csr_array

        lengths = np.diff(found.ends, prepend=0)
        place = find(self.keys, found.keys)
        known = place >= 0
        row = np.repeat(np.arange(len(lengths)), lengths)
        ends = np.concatenate([[0], np.cumsum(np.bincount(row[known], minlength=len(lengths)))])
        return csr_array((text_scale(lengths)[row[known]], place[known], ends), shape=(len(lengths), self.width))


def text_scale(tokens: Any) -> Any:
    """What a token counts in a text with so many different ones."""
    return (LENGTH / np.maximum(tokens, 1)) ** POWER


Part = Numbers | Values | Tokens


class Matrices(NamedTuple):
    """The rows of a design: columns of numbers, and those that are mostly zero."""

    dense: Floats
    sparse: Any  # scipy's csr, or None

    def some(self, rows: Any) -> Matrices:
        """Some rows."""
        return Matrices(self.dense[rows], None if self.sparse is None else self.sparse[rows])

    @property
    def width(self) -> int:
        """How many weights a class has, with its intercept."""
        return 1 + self.dense.shape[1] + (0 if self.sparse is None else self.sparse.shape[1])

    def scores(self, weights: Floats, offset: Any = 0.0) -> Floats:
        """offset + features · weights, (rows, classes); the weights of the intercept come first."""
        numbers = 1 + self.dense.shape[1]
        total = offset + weights[0] + self.dense @ weights[1:numbers]
        return np.asarray(total if self.sparse is None else total + self.sparse @ weights[numbers:])


@dataclass(frozen=True, eq=False)
class Features:
    """The columns of the design: those of numbers first, then the others, each in the schema's order."""

    parts: tuple[Part, ...]

    @property
    def width(self) -> int:
        """How many columns."""
        return sum(part.width for part in self.parts)

    @functools.cached_property
    def slices(self) -> dict[str, slice]:
        """Where each column of the table is."""
        found, at = {}, 0
        for part in self.parts:
            found[part.name] = slice(at, at + part.width)
            at += part.width
        return found

    def matrices(self, rows: Table, schema: Schema, threads: int | None = None, start: int = 0) -> Matrices:
        """The design of some rows, the first of which has the number `start` for who is told of a bad cell."""
        from scipy.sparse import hstack

        dense, sparse = [np.empty((rows.rows, 0))], []
        for part in self.parts:
            x = _cells(rows, part.name, schema.features[part.name], threads, start)
            if isinstance(part, Numbers):
                dense.append(part.dense(x))
            else:
                sparse.append(part.sparse(x))
        whole = None if not sparse else sparse[0] if len(sparse) == 1 else hstack(sparse, format="csr")
        return Matrices(np.column_stack(dense), whole)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Features) and [*map(_plain, self.parts)] == [*map(_plain, other.parts)]


def _plain(part: Part) -> tuple[Any, ...]:
    """What tells a part from another."""
    if isinstance(part, Numbers):
        return part.name, part.shift, part.scale, part.log, part.squares, part.cuts.tolist()
    return part.name, type(part), (part.labels if isinstance(part, Values) else part).keys.tolist()


def _cells(rows: Table, name: str, column: Column, threads: int | None, start: int = 0) -> Any:
    """A column's cells: numbers that are finite, codes, or bags of tokens."""
    x = cells(rows, name, column)
    if column.words is not None:
        return bags(x, column.words.tokens, buckets=column.words.buckets, threads=threads_for(threads))
    if isinstance(x, np.ndarray):
        check_no_infinity(x, name, start)
    return x


def features_of(
    model: Model, rows: Table, weights: Floats | None, quadratic: bool, threads: int | None = None
) -> Features:
    """What there is to correct of a model's columns, as these rows have them."""
    return Features(tuple(_parts(model, rows, weights, quadratic, threads)))


def _parts(
    model: Model, rows: Table, weights: Floats | None, quadratic: bool, threads: int | None
) -> Iterator[Part]:  # fmt: skip
    features = {name: model.schema.features[name] for name in model.schema.features if name in model.distributions}
    numeric = [name for name, column in features.items() if column.family not in (Categorical, WordCounts)]
    texts = len(features.keys() & model.schema.texts.keys())
    for name in [*numeric, *(name for name in features if name not in numeric)]:
        column, x = features[name], _cells(rows, name, features[name], threads)
        if isinstance(x, Bags):
            yield Tokens(name, _frequent(x, weights, MOST_WEIGHTS // (texts * len(model.classes))))
        elif isinstance(x, Coded):
            yield Values(name, x.labels.take(np.unique(x.places[x.places >= 0])))
        elif (found := _numbers(name, x, weights, model, column, quadratic)) is not None:
            yield found


def _frequent(found: Bags, weights: Floats | None, most: int) -> Keys:
    """The tokens that are in several texts; if they are too many, those that are in more."""
    if weights is None:
        known, texts = np.unique(found.keys, return_counts=True)
    else:
        known, place = np.unique(found.keys, return_inverse=True)
        texts = np.bincount(place, np.repeat(weights, np.diff(found.ends, prepend=0)), len(known))
    least = float(LEAST_TEXTS)
    if (texts >= least).sum() > most:
        least = float(np.nextafter(np.partition(texts, len(texts) - most - 1)[len(texts) - most - 1], np.inf))
    return known[texts >= least]


def _numbers(
    name: str, x: Floats, weights: Floats | None, model: Model, column: Column, quadratic: bool
) -> Numbers | None:
    """A column of numbers, unless all of them are the same."""
    log = column.family is LogGaussian
    known = x > 0 if log else ~np.isnan(x)
    value, w = (np.log(x[known]) if log else x[known]), None if weights is None else weights[known]
    if not len(value) or not value.max() > value.min():
        return None
    largest = float(np.abs(value).max())  # squares of it must not overflow
    part = value / largest
    shift = float(np.average(part, weights=w))
    scale = float(np.sqrt(np.average((part - shift) ** 2, weights=w)))
    if not scale > 0:
        return None
    found: Any = model.distributions[name]
    cuts = np.array(found.edges[1:-1]) if isinstance(found, Binned) else np.empty(0)
    if log and np.any(x == 0):
        cuts = np.array([np.nextafter(0.0, 1.0)])
    return Numbers(
        name, shift * largest, scale * largest, log, quadratic and column.family in (Gaussian, LogGaussian), cuts
    )
