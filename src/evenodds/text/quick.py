"""One message weighed by a small process: the model's file is mapped, its final weights are looked up; no numpy.

A file of a model whose only column is text holds, beside the tally, what is estimated from it: sorted keys, their
weights class by class, and the constants. A message's answer is then a few hundred look-ups in the map. Each block of
the keys and weights has a checksum of its own, which is held against it before a number of it is believed: what is
read is checked, and what is not read costs nothing, so that a message takes as long with a file of a gigabyte.
"""

from __future__ import annotations

import math
import mmap
import os
import zlib
from bisect import bisect_left
from typing import Any, NamedTuple

from evenodds import file
from evenodds.text import tokenise
from evenodds.text.keys import bucket_key, encoded, is_buckets
from evenodds.text.listed import STEEPEST, listed, shrunk
from evenodds.text.tokenise import Tokens

PREFIX = "quick."
ARRAYS = {"keys": "U64", "weights": "F64", "constant": "F64", "prior": "F64"}
IN_BLOCKS = ("keys", "weights")
HEAVIEST = 1e15  # a weight of words: the log of a ratio of counts is far below
BLOCK = 4096  # bytes; a multiple of 8, so that no number lies in two


def sums(numbers: memoryview) -> list[int]:
    """The checksums of the blocks of some bytes."""
    return [zlib.crc32(numbers[at : at + BLOCK]) for at in range(0, len(numbers), BLOCK)]


class Checked:
    """Numbers in a map, whose blocks are held against their checksums when they are first looked at."""

    def __init__(self, data: memoryview, numbers: Any, sums: memoryview, name: str) -> None:
        self.data, self.numbers, self.sums, self.name = data, numbers, sums, name
        self.known: set[int] = set()
        if len(sums) != -(-len(data) // BLOCK):
            raise ValueError("their blocks have not a checksum each")

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, at: int) -> Any:
        block = 8 * at // BLOCK
        if block not in self.known:
            if zlib.crc32(self.data[block * BLOCK : (block + 1) * BLOCK]) != self.sums[block]:
                raise file.damaged(self.name)
            self.known.add(block)
        return self.numbers[at]


class Quick(NamedTuple):
    """What one message needs: the classes in their order, and the weights of a column's tokens."""

    column: str
    classes: list[Any]
    tokens: Tokens
    distinct: bool
    bernoulli: bool
    buckets: int | None
    keys: Any  # sorted
    weights: Any  # class by class, end to end
    constant: list[float]
    prior: list[float]
    exponent: float = 1.0  # how much of what a text says is believed,
    shrink: float = 0.0  # times its length in tokens to the power of -shrink
    name: str = file.UNNAMED  # of the file

    def weights_of(self, key: int) -> list[float] | None:
        """The weights of a token (or of its bucket), one a class; None if it is not known."""
        i, k = bisect_left(self.keys, key), len(self.classes)
        if i == len(self.keys) or self.keys[i] != key:
            return None
        found = [self.weights[i * k + c] for c in range(k)]
        if not sum(found) < HEAVIEST:  # nor is nan
            raise file.no_model(self.name, "a word weighs more than any can")
        return found

    def log_joint(self, message: str) -> list[float]:
        """log p(c, message), up to what no class changes: the weights are added from left to right.

        Of a message that is impossible in every class the prior is left.
        """
        found = self._keys(message)
        sums = [0.0] * len(self.classes)
        for key in found:
            weights = self.weights_of(key)
            if weights is not None:
                sums = [total + weight for total, weight in zip(sums, weights)]
        if self.exponent == 1 and not self.shrink:
            joint = [p + s + c for p, s, c in zip(self.prior, sums, self.constant)]
        else:
            believed = shrunk(len(found), self.shrink)
            joint = [p + (s + c) * believed * self.exponent for p, s, c in zip(self.prior, sums, self.constant)]
        return self.prior if max(joint) == -math.inf else joint

    def _keys(self, message: str) -> list[int]:
        """The tokens that are weighed, or their buckets."""
        found = [bucket_key(key, self.buckets) for key in tokenise.keys(encoded(message), self.tokens)]
        return list(dict.fromkeys(found)) if self.distinct else found

    def listed(self, message: str) -> list[tuple[str, int, list[float] | None]]:
        """The distinct tokens of a message, how often each is there, and its weights; None if it is not known."""
        found = listed(message, self.tokens, buckets=self.buckets, distinct=self.distinct)
        return [(one.text, one.times, self.weights_of(one.key)) for one in found]

    def proba(self, message: str) -> list[float]:
        """p(c | message), in the order of the classes."""
        joint = self.log_joint(message)
        top = max(joint)
        each = [math.exp(x - top) for x in joint]
        return [p / sum(each) for p in each]


def load(path: str | os.PathLike[str]) -> Quick | None:
    """The quick part of a model's file, checked; None where it has none."""
    name = os.fspath(path)
    with open(name, "rb") as opened:
        if not os.fstat(opened.fileno()).st_size:
            raise file.FileError(f"{name} is not an evenodds model: it is empty")
        data = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
    header, table, start, checksum = file.parse(data, name)
    about = header.get("quick")
    if about is None:
        return None
    view = memoryview(data)
    try:
        parts = {part: _bytes(view, table, part, dtype) for part, dtype in ARRAYS.items()}
        numbers: dict[str, Any] = {part: raw.cast("Q" if part == "keys" else "d") for part, raw in parts.items()}
        if "checksum" in about:  # of all but the keys and weights, which have theirs
            blocks = {part: _bytes(view, table, f"{part}.sums", "U64") for part in IN_BLOCKS}
            if about["checksum"] != checksum_of(*blocks.values(), parts["constant"], parts["prior"]):
                raise file.damaged(name)
            for part in IN_BLOCKS:
                numbers[part] = Checked(parts[part], numbers[part], blocks[part].cast("Q"), name)
        elif b"%08x" % zlib.crc32(view[start:]) != checksum:  # a file of before there were blocks
            raise file.damaged(name)
        return _quick(about, numbers, name)
    except file.FileError:
        raise
    except (ValueError, TypeError, KeyError) as error:
        raise file.no_model(name, f"its weights are not in order: {error}") from None


def checksum_of(*parts: memoryview) -> int:
    """One checksum of several runs of bytes."""
    found = 0
    for part in parts:
        found = zlib.crc32(part, found)
    return found


def _bytes(view: memoryview, table: dict[str, file.Entry], part: str, dtype: str) -> memoryview:
    entry = table[PREFIX + part]
    if entry.dtype != dtype:
        raise ValueError(f"{part} is of the wrong type")
    return view[entry.offset : entry.offset + 8 * math.prod(entry.shape)]


def _quick(about: dict[str, Any], parts: dict[str, Any], name: str) -> Quick:
    classes, keys, weights = about["classes"], parts["keys"], parts["weights"]
    if (
        not isinstance(classes, list)
        or len(classes) < 2
        or not isinstance(about["distinct"], bool)
        or not isinstance(about["bernoulli"], bool)
    ):
        raise ValueError("its classes are not listed")
    k, buckets = len(classes), about["buckets"]
    if len(weights) != len(keys) * k or len(parts["constant"]) != k or len(parts["prior"]) != k:
        raise ValueError("they do not fit their keys")
    if not is_buckets(buckets):
        raise ValueError("its buckets are no power of two")
    believed = [about.get("exponent", 1.0), about.get("shrink", 0.0)]
    right = all(type(x) in (int, float) for x in believed)
    if not (right and 0 < believed[0] < HEAVIEST and abs(believed[1]) <= STEEPEST):
        raise ValueError("its temper is no number")
    if not isinstance(about["tokens"], dict):
        raise ValueError("its words have no settings")
    if any(math.isnan(x) for part in ("constant", "prior") for x in parts[part]):
        raise ValueError("a class has no number")
    tokens = {setting: _setting(setting, value) for setting, value in about["tokens"].items()}
    if tokens.get("stem") is not None:
        tokenise.stemmer(tokens["stem"])
    return Quick(
        str(about["column"]), classes, Tokens(**tokens), about["distinct"], about["bernoulli"], buckets, keys, weights,
        list(parts["constant"]), list(parts["prior"]), float(believed[0]), float(believed[1]), name,
    )  # fmt: skip


def _setting(name: str, value: Any) -> Any:
    """One setting of the tokeniser; a function, which no file can hold, is none."""
    if name == "stop_words":
        right = isinstance(value, list) and all(isinstance(word, str) for word in value)
        value = frozenset(value) if right else None
    elif name in ("ngrams", "characters") and isinstance(value, list):
        right = len(value) == 2 and all(type(n) is int for n in value)
        value = tuple(value)
    else:
        kinds = {"min_length": int, "ngrams": int, "seed": int, "stem": str}
        kinds |= dict.fromkeys(("case", "accents", "digits", "punctuation"), bool)
        right = type(value) is kinds.get(name)
    if not right:
        raise ValueError(f"{name[:40]!r} is no such setting of words")
    return value
