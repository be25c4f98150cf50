"""Axes: what the numbers of a tally stand for, and how two of them are brought into line.

A label (a category, a class, a word) is its text's 64-bit key; label lists are sorted by key, with the texts beside
them, so that lists made on different days or machines are aligned by merging two sorted arrays. Two texts with one key
would be one label: it is checked where label lists are merged, not row by row. With n labels the chance is n²/2^65,
about one in a million for 7 million labels.

>>> a = Labels.of(["ham", "spam"])
>>> b = Labels.of(["spam", "eggs"])
>>> union, from_a, from_b = a.merge(b)
>>> sorted(union.texts())
['eggs', 'ham', 'spam']
>>> [union.text(i) for i in from_a] == a.texts()
True
"""

from __future__ import annotations

import functools
import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenodds.errors import DataError, brief
from evenodds.kernel import compiler, frozen
from evenodds.keys import encoded, key
from evenodds.label_kernels import encode, hash_blob, pack

Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio
_MANY = 1 << 14  # bytes, from which on the compiled hash is worth loading
_MUCH = 1 << 20  # bytes laid end to end, from which on that is: numpy takes 24 times as much room to do it


def canonical(value: object) -> str:
    """The text that is a category's identity: 1, 1.0 and "1" are one category, and so are True and "true".

    >>> canonical(1), canonical(1.0), canonical("1"), canonical(0.5), canonical(True)
    ('1', '1', '1', '0.5', 'true')
    >>> canonical(Decimal("1.00")), canonical(Decimal("0.10")), canonical(np.float32(0.1))
    ('1', '0.1', '0.1')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Decimal) and value.is_finite():
        if value and value.adjusted() > sys.float_info.max_10_exp:  # 1E+999999 has more digits than anyone reads
            return str(value)
        if value == value.to_integral_value():
            return str(int(value))
    if isinstance(value, (float, np.floating, Decimal)):
        number = float(str(value))  # of a narrow float not the digits that it has as a wide one
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    if isinstance(value, (bytes, np.bytes_)):
        return value.decode("utf-8", "replace")
    return str(value)


def values_of(kind: str, texts: Iterable[str]) -> list[Any]:
    """The values whose canonical texts these are, all of one type: of `kind`, or of one that can be all of them.

    >>> values_of("int", ["1", "2"]), values_of("int", ["1", "1.5"]), values_of("int", ["1", "some"])
    ([1, 2], [1.0, 1.5], ['1', 'some'])
    """
    known = list(texts)
    for read in _READERS[kind]:
        try:
            found = [read(text) for text in known]
        except ValueError:
            continue
        if [canonical(value) for value in found] == known:
            return found
    return known


_READERS: dict[str, tuple[Callable[[str], Any], ...]] = {
    "text": (),
    "int": (int, float),
    "float": (float,),
    "bool": ("true".__eq__,),
}

Axis_ = TypeVar("Axis_", bound="Grid")


def find(known: NDArray[np.integer], keys: NDArray[np.integer]) -> Ints:
    """Where each key is among sorted ones, or -1."""
    if not len(known):
        return np.full(len(keys), -1, np.int64)
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    return np.where(known[place] == keys, place, -1)


def find_one(known: Keys, key: int) -> int:
    """Where one key is among sorted ones, or -1."""
    place = int(np.searchsorted(known, np.uint64(key)))
    return place if place < len(known) and int(known[place]) == key else -1


class Grid:
    """Sorted integer keys without texts: the bins of a histogram."""

    kind = "grid"
    dtype: type[np.integer] = np.int32

    def __init__(self, keys: NDArray[np.integer]) -> None:
        self.keys = np.ascontiguousarray(keys, dtype=self.dtype)

    def __len__(self) -> int:
        return len(self.keys)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(self) is type(other) and _same(self.keys, other.keys))

    def take(self: Axis_, indices: NDArray[np.integer]) -> Axis_:
        """The keys at these places, which must be in ascending order."""
        return type(self)(self.keys[indices])

    def find(self, keys: NDArray[np.integer]) -> Ints:
        """Where each key is, or -1."""
        return find(self.keys, keys)

    def merge(self: Axis_, other: Axis_) -> tuple[Axis_, Ints, Ints]:
        """The union, and where each of the two axes' entries went."""
        if self == other:
            everything = np.arange(len(self))
            return self, everything, everything
        if type(self) is not type(other):
            if not len(self) or not len(other):
                whole = other if not len(self) else self
                return whole, np.arange(len(self)), np.arange(len(other))
            raise ValueError(f"a {self.kind} axis cannot be aligned with a {other.kind} axis")
        keys = _union([self.keys, other.keys])
        mine, theirs = np.searchsorted(keys, self.keys), np.searchsorted(keys, other.keys)
        return self._merged(other, keys, mine, theirs), mine, theirs

    def _merged(self: Axis_, other: Axis_, keys: NDArray[Any], mine: Ints, theirs: Ints) -> Axis_:
        return type(self)(keys)

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What a file stores."""
        return {"keys": self.keys}


class Fixed(Grid):
    """A given number of places: the two sides of a coin, the moments of a column."""

    kind = "fixed"

    def __init__(self, size: int | NDArray[np.integer]) -> None:
        super().__init__(np.arange(size) if isinstance(size, int) else size)

    def __eq__(self, other: object) -> bool:
        return self is other or (type(other) is Fixed and len(self.keys) == len(other.keys))


class Labels(Grid):
    """Sorted 64-bit keys, the texts beside them as one run of UTF-8 bytes cut at `ends`."""

    kind = "labels"
    dtype = np.uint64

    def __init__(self, keys: Keys, blob: Bytes, ends: Ints) -> None:
        super().__init__(keys)
        self.blob = np.ascontiguousarray(blob, dtype=np.uint8)
        self.ends = np.ascontiguousarray(ends, dtype=np.int64)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Labels:
        """The label list of some texts, each once, in key order."""
        return cls.coded(sorted(set(texts)))[0]

    @classmethod
    def coded(cls, texts: Sequence[str]) -> tuple[Labels, Ints]:
        """The label list of these texts, and the place of each text in it."""
        raw = [encoded(text) for text in texts]
        keys = hash_texts(raw)
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        new = ordered[1:] != ordered[:-1]
        place, chosen = np.empty(len(order), np.int64), order
        if new.all():
            place[order] = np.arange(len(order))
        else:  # equal keys must come from equal texts
            chosen = np.concatenate([order[:1], order[1:][new]])
            place[order] = np.concatenate([[0], np.cumsum(new)])
            for i, j in enumerate(chosen[place]):
                if raw[i] != raw[j]:
                    raise _collision(texts[i], texts[j])
        kept = [raw[i] for i in chosen.tolist()]
        ends = np.cumsum([0, *map(len, kept)])
        return cls(keys[chosen], np.frombuffer(b"".join(kept), np.uint8), ends), place

    @classmethod
    def encode(
        cls, blob: Bytes, starts: NDArray[Any], stops: NDArray[Any], known: NDArray[np.bool_]
    ) -> tuple[NDArray[np.int32], Labels, Ints]:
        """The texts blob[starts[i]:stops[i]] as codes (-1 where not known; an empty `known` is all of them), their
        labels, each code's place there.
        """
        every = hash_blob(blob, starts, stops)
        codes, size = np.empty(len(every), np.int32), 1 << 10
        while True:
            slots, keys, first = np.full(size, -1, np.int32), np.empty(size, np.uint64), np.empty(size, np.int64)
            distinct = encode(every, known, codes, slots, keys, first)
            if distinct >= 0:
                break
            size *= 8
        order = np.argsort(keys[:distinct])
        rows = first[:distinct][order]
        place = np.empty(distinct, np.int64)
        place[order] = np.arange(distinct)
        return codes, cls(keys[order], *laid(blob, starts[rows], stops[rows])), place

    def text(self, i: int | np.integer[Any]) -> str:
        """The text of the i-th label."""
        return self.blob[self.ends[i] : self.ends[i + 1]].tobytes().decode("utf-8", "surrogatepass")

    def texts(self) -> list[str]:
        """All texts, in key order."""
        whole = self.blob.tobytes().decode("utf-8", "surrogatepass")
        if len(whole) == len(self.blob):  # a byte a letter
            return [whole[start:stop] for start, stop in itertools.pairwise(self.ends.tolist())]
        return [self.text(i) for i in range(len(self))]

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Labels)
            and _same(self.keys, other.keys)
            and _same(self.ends, other.ends)
            and _same(self.blob, other.blob)
        )

    def take(self, indices: NDArray[np.integer]) -> Labels:
        """The labels at these places, which must be in ascending order."""
        return Labels(self.keys[indices], *_gather(self, indices))

    def _merged(self, other: Labels, keys: NDArray[Any], mine: Ints, theirs: Ints) -> Labels:
        shared = np.flatnonzero(np.isin(theirs, mine))
        here = np.searchsorted(mine, theirs[shared])
        ours, others = _gather(self, here), _gather(other, shared)
        if not (np.array_equal(ours[1], others[1]) and np.array_equal(ours[0], others[0])):
            i, j = next((i, j) for i, j in zip(here, shared) if self.text(i) != other.text(j))
            raise _collision(self.text(i), other.text(j))
        new = np.flatnonzero(~np.isin(theirs, mine))
        both_blob, both_ends = np.concatenate([self.blob, other.blob]), other.ends + len(self.blob)
        starts, stops = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        starts[mine], stops[mine] = self.ends[:-1], self.ends[1:]
        starts[theirs[new]], stops[theirs[new]] = both_ends[new], both_ends[new + 1]
        return Labels(keys, *laid(both_blob, starts, stops))

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """What a file stores."""
        return {"keys": self.keys, "blob": self.blob, "ends": self.ends}


def check_cuts(name: str, ends: Ints, many: int, size: int) -> None:
    """Refuse an array from a file that does not cut so much into so many parts, end to end."""
    fits = ends.dtype == np.int64 and ends.shape == (many + 1,) != (0,)
    if not fits or ends[0] != 0 or ends[-1] != size or np.any(ends[1:] < ends[:-1]):
        raise ValueError(f"{name} does not cut {size} into {max(many, 0)} parts")


def check_texts(name: str, blob: Bytes, ends: Ints, many: int) -> None:
    """Refuse arrays from a file that are not so many texts in UTF-8, end to end, each cut between letters."""
    if blob.dtype != np.uint8 or blob.ndim != 1:
        raise ValueError(f"the texts of {name} are no bytes")
    check_cuts(f"{name}.ends", ends, many, len(blob))
    if blob.max(initial=0) < 128:  # plain ASCII
        return
    try:
        str(np.ascontiguousarray(blob).data, "utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise ValueError(f"the texts of {name} are not UTF-8") from None
    begins = ends[:-1][ends[:-1] < len(blob)]
    if np.any(blob[begins] & 0xC0 == 0x80):
        raise ValueError(f"the texts of {name} are cut within a letter")


def _same(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two arrays of one type are equal, as bytes: for short ones the quickest way there is."""
    return a is b or (len(a) == len(b) and a.tobytes() == b.tobytes())


def _union(many: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The keys that are in any of these sorted lists, sorted; the sort is stable because it then merges runs."""
    keys = np.sort(np.concatenate(many), kind="stable")
    new = np.ones(len(keys), bool)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    return keys[new]


def union(axes: Sequence[Grid]) -> Grid:
    """The axis that has room for all of these."""
    first = axes[0]
    rest = [axis for axis in axes[1:] if axis is not first and axis != first]
    if rest and all(type(axis) is Grid for axis in axes):
        return Grid(_union([axis.keys for axis in axes]))
    return functools.reduce(lambda a, b: a.merge(b)[0], rest, first)


def _gather(labels: Labels, indices: NDArray[np.integer]) -> tuple[Bytes, Ints]:
    return laid(labels.blob, labels.ends[:-1][indices], labels.ends[1:][indices])


def laid(blob: Bytes, starts: NDArray[Any], stops: NDArray[Any]) -> tuple[Bytes, Ints]:
    """The pieces blob[start:stop] laid end to end, and their ends; one that stops before it starts is empty.

    >>> laid(np.frombuffer(b"one, two", np.uint8), np.array([5, 0]), np.array([8, 2]))[0].tobytes()
    b'twoon'
    """
    starts, stops = (frozen(np.ascontiguousarray(places, np.int64)) for places in (starts, stops))
    lengths, ends = np.maximum(stops - starts, 0), np.zeros(len(starts) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    if (ends[-1] < _MUCH and "numba" not in sys.modules) or compiler() is None:
        return blob[np.repeat(starts - ends[:-1], lengths) + np.arange(ends[-1])], ends
    out = np.empty(ends[-1], np.uint8)
    pack.compiled(frozen(blob), starts, stops, out)
    return out, ends


def _collision(a: str, b: str) -> DataError:
    return DataError(f"labels {brief(a)} and {brief(b)} have the same 64-bit key; rename one of them")


def hash_texts(texts: Sequence[bytes]) -> Keys:
    """The keys of many texts."""
    blob = np.frombuffer(b"".join(texts), np.uint8)
    if len(blob) < _MANY:
        return np.array([key(text) for text in texts], np.uint64)
    ends = np.cumsum([0, *map(len, texts)])
    keys: Keys = hash_blob.compiled(blob, ends[:-1], ends[1:])
    return keys


def mixed(h: Keys) -> Keys:
    """Every bit spread over all 64: the finish of splitmix64 (Steele et al. 2014), whose steps are GOLDEN."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        h = (h ^ (h >> np.uint64(shift))) * np.uint64(factor)
    return h ^ (h >> np.uint64(31))
