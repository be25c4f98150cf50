"""Counts of tokens as the arrays of a file, and what such arrays must be before they are counts again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.kernel import frozen
from evenodds.keys import STEP
from evenodds.labels import Keys, Labels, check_cuts, check_texts, find
from evenodds.text import list_kernels
from evenodds.text.keys import LONGEST, bucket_shift, is_buckets
from evenodds.text.tables import Links, Sorted

Parts = tuple[tuple[Sorted, ...], NDArray[Any], Labels, Links]  # what counts are made of

_TYPES: dict[str, tuple[type[Any], ...]] = {
    "documents": (np.int64, np.float64),
    "ends": (np.int64,),
    "keys": (np.uint64,),
    "numbers": (np.int64, np.float64),
    "lexicon.keys": (np.uint64,),
    "lexicon.blob": (np.uint8,),
    "lexicon.ends": (np.int64,),
    "links.keys": (np.uint64,),
    "links.prefixes": (np.uint64,),
}


def stored(lists: Sequence[Sorted], documents: NDArray[Any], lexicon: Labels, links: Links) -> dict[str, NDArray[Any]]:
    """The arrays of a file: the lists end to end, and where each ends."""
    return {
        "documents": documents,
        "ends": np.cumsum([0, *(len(keys) for keys, _ in lists)], dtype=np.int64),
        "keys": np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in lists)]),
        "numbers": np.concatenate([np.empty(0, np.int64), *(numbers for _, numbers in lists)]),
        **{f"lexicon.{part}": array for part, array in lexicon.arrays().items()},
        "links.keys": links.keys,
        "links.prefixes": links.numbers,
    }


def restored(arrays: Mapping[str, NDArray[Any]], n_classes: int, buckets: int | None) -> Parts:
    """What `stored` wrote; whatever does not fit together is refused."""
    checked_buckets(buckets)
    if arrays.keys() != _TYPES.keys():
        wrong = min(arrays.keys() ^ _TYPES.keys())
        raise ValueError(f"{wrong} belongs nowhere" if wrong in arrays else f"{wrong} is missing")
    for name, types in _TYPES.items():
        if arrays[name].ndim != 1 or arrays[name].dtype not in types:
            raise ValueError(f"{name} is of the wrong type")
    documents, ends, keys, numbers = (arrays[name] for name in ("documents", "ends", "keys", "numbers"))
    if documents.shape != (n_classes,) or not np.isfinite(documents).all():
        raise ValueError(f"documents is not a number for each of {n_classes} classes")
    check_cuts("ends", ends, n_classes, len(keys))
    lists = tuple(Sorted(keys[start:stop], numbers[start:stop]) for start, stop in pairwise(ends.tolist()))
    if numbers.shape != keys.shape or not (np.isfinite(numbers) & (numbers != 0)).all():
        raise ValueError("numbers is not a number other than 0 for each key")
    for own, _ in lists:
        _check_order("keys", own)
    lexicon = Labels(*(arrays[f"lexicon.{part}"] for part in ("keys", "blob", "ends")))
    _check_order("lexicon.keys", lexicon.keys)
    check_texts("lexicon", lexicon.blob, lexicon.ends, len(lexicon))
    links = Links(arrays["links.keys"], arrays["links.prefixes"])
    if buckets is not None:
        _check_buckets(keys, buckets, lexicon, links)
    else:
        _check_links(lists, lexicon, links)
    return lists, documents, lexicon, links


def checked_buckets(buckets: Any) -> None:
    """Refuse a number of buckets that there cannot be."""
    if not is_buckets(buckets):
        raise ValueError(f"buckets is {buckets!r:.20}, expected a power of two from 2^8 to 2^24, such as 2**20")


def _check_order(name: str, keys: Keys) -> None:
    if np.any(keys[1:] <= keys[:-1]) or (len(keys) and keys[0] == 0):
        raise ValueError(f"{name} are not in ascending order from 1 on")


def _check_buckets(keys: Keys, buckets: int, lexicon: Labels, links: Links) -> None:
    low = np.uint64((1 << bucket_shift(buckets)) - 1)
    if np.any(keys & low != 1):
        raise ValueError(f"a key is not that of one of {buckets:,} buckets")
    if len(lexicon) or len(links.keys) or len(links.numbers):
        raise ValueError("buckets have words or n-grams beside them, expected none")


def _check_links(lists: Sequence[Sorted], lexicon: Labels, links: Links) -> None:
    """Every token must be a word, or an n-gram whose prefixes lead to one."""
    _check_order("links.keys", links.keys)
    if links.numbers.shape != links.keys.shape:
        raise ValueError("links.prefixes is not a prefix for each of links.keys")
    for own, _ in lists:
        if not (_among(own, lexicon.keys) | _among(own, links.keys)).all():
            raise ValueError("a token has no text: its key is neither a word's nor an n-gram's")
    if np.any(lexicon.find(last_words(links.keys, links.numbers)) < 0):
        raise ValueError("the last word of an n-gram is not in the lexicon")
    if not len(links.keys):
        return
    end = len(links.keys)  # stands for all words: theirs is themselves
    prefix = find(links.keys, links.numbers)
    if np.any((prefix < 0) & (lexicon.find(links.numbers) < 0)):
        raise ValueError("the prefix of an n-gram is neither a word nor an n-gram")
    up = np.append(np.where(prefix < 0, end, prefix), end)
    for _ in range(LONGEST.bit_length() - 1):  # each time twice as many prefixes on
        if np.all(up == end):
            return
        up = up[up]
    if not np.all(up == end):
        raise ValueError(f"the prefixes of an n-gram lead to no word within {LONGEST} steps")


def _among(keys: Keys, others: Keys) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = list_kernels.among(frozen(keys), frozen(others))
    return found


def last_words(ngrams: Keys, prefixes: Keys) -> Keys:
    """The keys of the last words of n-grams, as `keys.last`."""
    h = prefixes * np.uint64(STEP)
    return ngrams - (h ^ (h >> np.uint64(32)))
