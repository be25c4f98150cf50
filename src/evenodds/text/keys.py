"""The 64-bit keys of words and n-grams in plain Python integers: a small process needs nothing else.

A word's key is `evenodds.keys.key` of its folded UTF-8 bytes. An n-gram's key is made of its prefix's key (all words
but the last) and its last word's key, so that the word can be had back from the other two:

>>> free, prize = key(b"free"), key(b"prize")
>>> both = join(free, prize)
>>> last(both, free) == prize
True
>>> both == join(prize, free)
False
"""

from __future__ import annotations

from evenodds.keys import MASK as MASK
from evenodds.keys import MIX, STEP
from evenodds.keys import encoded as encoded
from evenodds.keys import key as key

LONGEST = 256  # words of an n-gram: a chain of prefixes must have an end
FEWEST_BUCKETS, MOST_BUCKETS = 1 << 8, 1 << 24


def is_buckets(many: object) -> bool:
    """Whether words can be counted in so many buckets: a power of two from 2^8 to 2^24; None is a place for each.

    >>> [is_buckets(many) for many in (None, 1 << 20, 1000, 256.0, True)]
    [True, True, False, False, False]
    """
    return many is None or (type(many) is int and many & (many - 1) == 0 and FEWEST_BUCKETS <= many <= MOST_BUCKETS)


def bucket_shift(buckets: int) -> int:
    """How far a key is shifted to be the number of its bucket, one of so many."""
    return 65 - buckets.bit_length()


def bucket_key(key: int, buckets: int | None) -> int:
    """The key of the bucket that a token falls into; without buckets the token's own."""
    if buckets is None:
        return key
    shift = bucket_shift(buckets)
    return (key >> shift << shift) | 1


def join(prefix: int, word: int) -> int:
    """The key of the n-gram that is a prefix and one more word."""
    h = (prefix * STEP) & MASK
    return ((h ^ (h >> 32)) + word) & MASK


def last(ngram: int, prefix: int) -> int:
    """The key of the last word of an n-gram whose prefix is known."""
    h = (prefix * STEP) & MASK
    return (ngram - (h ^ (h >> 32))) & MASK


def sealed(word: int, seed: int) -> int:
    """A word's key mixed with a secret, one to one: who lacks the seed cannot work out which key a word has.

    Each of the three rounds can be undone by who has the seed. It hides words from a reader of the file; it is no
    cipher, and who may choose the documents that are counted can find words out all the same.

    >>> sealed(key(b"free"), 0) == key(b"free")
    True
    >>> sealed(key(b"free"), 1) == sealed(key(b"free"), 2)
    False
    """
    if not seed:
        return word
    other = ((seed << 32) | (seed >> 32)) & MASK
    for secret, factor in ((seed, STEP), (other, MIX), (seed, STEP)):
        word = ((word ^ secret) * factor) & MASK
        word ^= word >> 32
    return word
