"""How well the words of some texts tell classes apart: what their smoothing is chosen by."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenodds.families.leaves import share
from evenodds.families.word_shares import unit_of
from evenodds.families.words import PLAIN, WordCounts
from evenodds.schema import Column
from evenodds.tally import Tally

ENOUGH = 1 << 15  # counts of words that smoothing is chosen by; eight times as many change it by a few per cent


def telling(tally: Tally, column: Column) -> Callable[[float], float]:
    """How well each token, left out in turn, tells its class from the others: a function of the pseudo-counts.

    log p(c | w) with the token's own count taken out of c, summed over all tokens. What is asked of a word is to
    tell classes apart, not to be predicted: choosing by the likelihood of the words alone gives a third of the
    pseudo-counts that classify best. Of a large vocabulary a part is taken, by the words' keys.
    """
    words, counts = column.words or PLAIN, WordCounts.counts(tally)
    unit = unit_of(counts, words)
    totals = unit * np.array([float(one.numbers.sum()) for one in counts.lists])
    sizes = counts.documents.astype(float) if words.events == "bernoulli" else totals
    cells = sum(len(one.keys) for one in counts.lists)
    top = np.uint64((1 << 64) - 1) >> np.uint64(max(0, (cells // ENOUGH).bit_length()))
    parts = [unit * one.numbers[: np.searchsorted(one.keys, top, "right")] for one in counts.lists]
    found = np.concatenate([one.keys[: len(part)] for one, part in zip(counts.lists, parts)])
    keys, word = np.unique(found, return_inverse=True)
    group, n = np.repeat(np.arange(len(parts)), [len(part) for part in parts]), np.concatenate(parts)
    pooled = np.bincount(word, n, len(keys))
    prior = share(sizes, sizes.sum())
    mass = 2.0 if words.events == "bernoulli" else max(len(keys) * cells / max(len(found), 1), 1.0)
    mass = mass if words.prior == "flat" else 1.0
    often = pooled > 1  # of a word that was there once nothing is left; most words are such
    used, word = often[word], (np.cumsum(often) - 1)[word]
    word, group, n, pooled = word[used], group[used], n[used], pooled[often]
    pseudo = np.ones(len(pooled)) if words.prior == "flat" else share(pooled, sizes.sum())
    own = np.minimum(n, 1.0)  # what is left out; a token that is weighed may count less than one
    first, rest_of, others, imagined = prior[group], n - own, sizes[group] - own, pseudo[word]

    def score(strength: float) -> float:
        each = prior / (sizes + strength * mass)  # what one token more adds to p(w, c)
        one = each[group]
        both = np.bincount(word, n * one, len(pooled)) + strength * pseudo * each.sum()
        mine = first * (rest_of + strength * imagined)
        mine /= np.maximum(others + strength * mass, 1e-300)
        rest = np.maximum(both[word] - (n + strength * imagined) * one, 0.0)
        return float((n * np.log(mine / (mine + rest))).sum())

    return score
