"""Whether a model from a file could have come from rows: if not, it is refused before it fails somewhere else.

That the keys of categories are the keys of their texts is not checked: it would take the compiler, and a wrong key is
no more than a value that is never seen again. Of classes it is.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from evenodds.cells import Coded
from evenodds.data.sum import CLASSES
from evenodds.families import Family
from evenodds.families.kernels import MANTISSAS
from evenodds.families.leaves import Rows
from evenodds.families.words import LEAF
from evenodds.keys import encoded, key
from evenodds.labels import Fixed, Grid, Labels
from evenodds.models.naive_bayes import Model
from evenodds.schema import Column, Schema
from evenodds.tally import Leaf, Tally
from evenodds.text.counts import Counts
from evenodds.text.words import Words

TARGETS = {"text": str, "int": int, "float": float, "bool": bool}
HIGHEST = 2046 * MANTISSAS + MANTISSAS - 2  # the key of the last bin but one: both its ends are finite
MANY_ROWS = 2.0**60  # counts of which several files' can be added before integers overflow
LARGEST = 1e200  # the same of weighted rows, and before double-doubles do
ROOM = 1 << 26  # bytes for the classes side by side, each in as much room as the longest


def check(model: Model, rows: float) -> None:
    """Refuse a model whose classes, leaves or numbers its schema would never have summed, or not from so many rows."""
    schema, tally = model.schema, model.tally
    if schema.target_kind not in TARGETS:
        raise ValueError(f"its target is of the unknown type {schema.target_kind[:40]!r}")
    if tally.layout.specs or len(tally.groups):
        if not isinstance(tally.groups, Labels):
            raise ValueError("its classes have no names")
        _check_classes(schema, tally.groups)
        _check_leaves(schema, tally)
        _check_counts(tally)
        _check_lists(schema, tally)
        _check_weights(model)
        _check_sums(tally)
    if not math.isclose(rows, model.rows, rel_tol=1e-9):
        raise ValueError(f"its header counts {rows:,} rows, its tally {model.rows:,}")


def _check_classes(schema: Schema, labels: Labels) -> None:
    longest = int(np.diff(labels.ends).max(initial=0))
    if 4 * longest * len(labels) > ROOM:  # numpy gives every one of them the room of the longest, four bytes a letter
        raise ValueError(f"its {len(labels):,} classes have names of up to {longest:,} bytes")
    texts = labels.texts()
    if [key(encoded(text)) for text in texts] != labels.keys.tolist():
        raise ValueError("the keys of its classes are not those of their names")
    check_values(schema, texts)


def check_values(schema: Schema, texts: list[str]) -> None:
    """Refuse classes that are not written as the target's values are."""
    for text in texts:
        if not _is_value(text, schema):
            raise ValueError(f"its class {text[:40]!r} is no {schema.target_kind}")


def _is_value(text: str, schema: Schema) -> bool:
    """Whether a class is written as the target's values are."""
    value = schema.values([text])[0]
    if type(value) is not TARGETS[schema.target_kind] or (type(value) is int and not -(2**63) <= value < 2**64):
        return False
    return type(value) is not float or math.isfinite(value)


def _check_leaves(schema: Schema, tally: Tally) -> None:
    """Refuse leaves that are not those of the columns' families."""
    wanted = {CLASSES: Leaf(Fixed(1), np.zeros((1, 1)))}
    for column, how in schema.features.items():
        wanted |= {(column, leaf): like for leaf, like in _leaves(how.family).items()}  # type: ignore[arg-type]
    specs = tally.layout.specs
    for column, leaf in wanted.keys() ^ specs.keys():
        fault = "no" if (column, leaf) in wanted else "an unknown"
        raise ValueError(f"its column {column[:40]!r} has {fault} leaf {leaf[:40]!r}")
    for name, (axis, is_sum, _, _) in specs.items():
        like = wanted[name]
        same = type(axis) is type(like.axis) and is_sum == like.is_sum
        if not same or (isinstance(axis, Fixed) and len(axis) != len(like.axis)):
            raise ValueError(f"leaf {name[1]!r} of its column {name[0][:40]!r} is of the wrong kind")
        if type(axis) is Grid and len(axis) and max(-int(axis.keys[0]), int(axis.keys[-1])) > HIGHEST:
            raise ValueError(f"leaf {name[1]!r} of its column {name[0][:40]!r} has a bin of no finite number")


def _check_lists(schema: Schema, tally: Tally) -> None:
    """Refuse lists of words that are not those of the columns of text."""
    texts = {(name, LEAF): words for name, words in schema.texts.items()}
    if tally.lists.keys() != texts.keys():
        raise ValueError("its lists of words are not those of its columns of text")
    for name, counts in tally.lists.items():
        try:
            _check_words(counts, texts[name], tally[CLASSES][0])
        except ValueError as error:
            raise ValueError(f"its column {name[0][:40]!r}: {error}") from None


def _check_words(counts: Counts, words: Words, rows: Any) -> None:
    """Refuse counts of words that texts of so many rows a class would not have given."""
    if counts.buckets != words.buckets:
        raise ValueError("its words are not hashed as its settings say")
    if counts.sample is not None and words.key is not None:
        raise ValueError("its buckets depend on a secret, and have words beside them")
    for documents, (_, numbers), many in zip(counts.documents, counts.lists, rows):
        most = MANY_ROWS if counts.is_whole else LARGEST
        if documents < 0 or np.any(numbers < 0) or not numbers.sum(dtype=np.float64) <= most:
            raise ValueError("it has counted less than nothing, or more than can be")
        if documents > many * (1 + 1e-9) or (len(numbers) and not documents):
            raise ValueError("it has more texts than rows, or words without texts")
        if words.distinct and numbers.max(initial=0) > documents * (1 + 1e-9):
            raise ValueError("a word is in more texts than there are")


@functools.cache
def _leaves(family: type[Family]) -> dict[str, Leaf]:
    """The leaves of a column of a family, as its own tally of no rows has them."""
    if family.cells == "texts":
        return {}
    none: Any = np.empty(0)
    if family.cells == "codes":
        none = Coded(np.empty(0, np.int32), Labels.of([]), np.empty(0, np.int64))
    found = family.leaves([none], Rows(np.empty(0, np.int32), 1), {"x": Column(family)})
    return {leaf: numbers for (_, leaf), numbers in found.items()}


def _check_counts(tally: Tally) -> None:
    counts = tally.counts
    if counts.ndim == 1:
        if np.any(counts < 0) or counts.sum(dtype=np.float64) > MANY_ROWS:
            raise ValueError("it has counted less than nothing, or more than can be")
    elif not _sound(counts) or np.any(counts[0] < 0) or counts[0].sum() > LARGEST:
        raise ValueError("it has counts that are no numbers of rows")
    if not np.all(tally[CLASSES] > 0):
        raise ValueError("it has a class without rows")


def _check_weights(model: Model) -> None:
    """Refuse factors on the classes that would take their counts beyond what integers hold."""
    weight, counts = model.settings.class_weight, model.tally.counts
    most = max(weight.values(), default=0.0) if isinstance(weight, dict) else 0.0
    if most * (counts.max(initial=1) if counts.ndim == 1 else 1) > MANY_ROWS:  # a whole factor is an integer too
        raise ValueError("its class weights make more rows than can be counted")


def _check_sums(tally: Tally) -> None:
    if not _sound(tally.sums):
        raise ValueError("it has sums that are no numbers")


def _sound(numbers: Any) -> bool:
    """Whether double-doubles are finite, and their second halves below the last digit of the first."""
    with np.errstate(over="ignore"):
        high, low = np.abs(numbers)
        return bool(np.isfinite(high).all() and np.all(low <= 2.0**-50 * high))
