"""Columns: how each is read and modelled, decided once, and whether two models mean the same by them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from evenodds.arguments import is_number, is_whole, native, smoothing_of
from evenodds.errors import remedy
from evenodds.labels import values_of
from evenodds.show import Frame
from evenodds.text.words import Words

SAMPLE = 10_000  # rows of a source that decide its schema
Part = Literal["year", "month", "day", "weekday", "hour", "length"]
Values = Literal["text", "number", "bool"]
PARTS: tuple[Part, ...] = ("year", "month", "day", "weekday", "hour")
RULES = ("scott", "silverman", "sj", "isj", "loo")  # by which a bandwidth is read off the values
MOST_COMPONENTS = 100  # of a column: with more, a Kernel column says the same
LENGTH: Part = "length"  # of a text: how many words it has


class SchemaWarning(UserWarning):
    """Something the schema decided that a person may want to decide otherwise."""


@dataclass(frozen=True)
class Column:
    """How one column is read and modelled. A bare family stands for `Column(family)`.

    role       "feature", or "ignore" to leave the column out
    family     what the variable can be; None: decided from the data
    prior      a conjugate prior for the family's parameters; None: the model's
    smoothing  the prior's strength in rows, or "auto"; None: the model's
    variance   of a Gaussian: "per_class", "pooled" over the classes, or a known number
    origin     of a histogram: values are binned by their distance from here (years: origin=2000)
    bins       of a Binned column: how many bins of equal mass
    bandwidth  of a Kernel column: the width of its bumps, or a rule such as "sj"; None: "silverman"; of a Gaussians
               column: how narrow a bell may be; None: half of that
    components of a Gaussians column: how many bells a class has; None: as many as have the least BIC
    parts      of a date: which of "year", "month", "day", "weekday", "hour" to use as categories; of a text: "length",
               its number of words
    """

    family: type[Any] | None = None
    role: Literal["feature", "ignore"] = "feature"
    prior: Any = None
    smoothing: float | Literal["auto"] | None = None
    variance: float | Literal["per_class", "pooled"] = "per_class"
    origin: float = 0.0
    bins: int = 8
    bandwidth: float | str | None = None
    components: int | None = None
    parts: tuple[Part, ...] = ()
    source: str | None = None  # the column that a date's part, or a text's length, is taken from
    words: Words | None = None  # of text: what a word is, and what is said of it
    values: Values = dataclasses.field(default="text", compare=False)  # what categories in a file of texts stand for

    def __post_init__(self) -> None:
        words = Words() if self.words is None and getattr(self.family, "cells", "") == "texts" else self.words
        if words is not None:  # however text is told, it has words, and they have its smoothing
            told = words.smoothing if self.smoothing is None else self.smoothing
            object.__setattr__(self, "smoothing", told)
            object.__setattr__(self, "words", dataclasses.replace(words, smoothing=told))
        for name in ("variance", "origin", "bins", "bandwidth", "components"):
            object.__setattr__(self, name, native(getattr(self, name)))
        if self.smoothing is not None:
            object.__setattr__(self, "smoothing", smoothing_of(self.smoothing, "Column: "))
        for name, right, expected in (
            ("family", self.family is None or isinstance(self.family, type), "a family, as in Column(Gaussian)"),
            ("role", self.role in ("feature", "ignore"), "'feature' or 'ignore'"),
            (
                "variance",
                self.variance in ("per_class", "pooled") or is_number(self.variance, above=0),
                "'per_class', 'pooled' or a number above 0",
            ),
            ("bins", is_whole(self.bins) and self.bins >= 1, "a whole number, 1 or more"),
            (
                "bandwidth",
                self.bandwidth is None or self.bandwidth in RULES or is_number(self.bandwidth, above=0),
                f"a number above 0, or one of {', '.join(map(repr, RULES))}",
            ),
            (
                "components",
                self.components is None or (is_whole(self.components) and 1 <= self.components <= MOST_COMPONENTS),
                f"a whole number, 1 to {MOST_COMPONENTS}",
            ),
            ("origin", is_number(self.origin), "a number"),
            ("values", self.values in ("text", "number", "bool"), "'text', 'number' or 'bool'"),
            (
                "parts",
                set(self.parts) <= {*PARTS, LENGTH},
                f"some of {', '.join(PARTS)} of a date, or length of a text",
            ),
        ):
            if not right:
                raise ValueError(f"Column: {name}={getattr(self, name)!r}: expected {expected}")

    @property
    def described(self) -> str:
        """How it is modelled, as a table of columns says it."""
        if self.role == "ignore":
            return "left out"
        return repr(self.words) if self.words else repr(self).removeprefix("Column(").removesuffix(")")

    def __repr__(self) -> str:
        parts = [] if self.family is None else [self.family.__name__]
        for field in dataclasses.fields(self)[1:]:
            value = getattr(self, field.name)
            if field.compare and value != field.default:
                parts.append(f"{field.name}={value!r}")
        return f"Column({', '.join(parts)})"


@dataclass(frozen=True)
class Schema:
    """The columns of a model, decided once, and what the target's values are."""

    columns: Mapping[str, Column]
    target: str
    target_kind: str = "text"

    @functools.cached_property
    def features(self) -> dict[str, Column]:
        """The columns that are modelled."""
        return {name: column for name, column in self.columns.items() if column.role == "feature"}

    @property
    def sources(self) -> list[str]:
        """The columns of a table that are read: of a date's parts, the date."""
        return list(dict.fromkeys(how.source or name for name, how in self.features.items()))

    @functools.cached_property
    def texts(self) -> dict[str, Words]:
        """Those of the modelled columns that are text, and what their words are."""
        return {name: column.words for name, column in self.features.items() if column.words is not None}

    def __repr__(self) -> str:
        return repr(Frame([{"column": name, "as": c.described} for name, c in self.columns.items()]))

    def check(self, other: Schema) -> None:
        """Refuse to add models whose columns mean different things, naming the first that does."""
        if self is other:
            return
        if self.target_kind != other.target_kind:
            raise ValueError(
                f"the targets differ in type ({self.target_kind} and {other.target_kind}): "
                "convert one, then the models can be added"
            )
        if self.columns == other.columns:
            return
        for name in [*self.columns, *other.columns]:
            mine, theirs = self.columns.get(name), other.columns.get(name)
            if mine is None or theirs is None:
                cure = remedy("fit both with the same schema=", "fit one --like the other")
                raise ValueError(f"column {name!r} is in one model only: {cure}")
            if _differ_in_key(mine, theirs):
                raise ValueError(
                    f"column {name!r} was hashed with different keys, so that a bucket is not the same words in both: "
                    "fit both with one Words(key=...)"
                )
            if mine != theirs:
                cure = remedy("fit with one schema=", "fit one --like the other")
                raise ValueError(f"column {name!r} is modelled differently: {mine} and {theirs}; {cure}")

    def values(self, texts: Iterable[str]) -> list[Any]:
        """The target's values whose canonical texts these are."""
        return values_of(self.target_kind, texts)


def _differ_in_key(one: Column, other: Column) -> bool:
    """Whether all that differs between two columns of text is the secret that their buckets depend on."""
    if one == other or one.words is None or other.words is None:
        return False
    return one == dataclasses.replace(other, words=dataclasses.replace(other.words, key=one.words.key))


def check_schema(given: object) -> None:
    """Refuse what is given as a schema and is none."""
    if not isinstance(given, Schema | None):
        raise ValueError(f"schema={given!r:.80}: expected a Schema, such as that of a model: schema=model.schema")
