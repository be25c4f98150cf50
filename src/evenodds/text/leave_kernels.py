"""Documents scored by the counts of their classes with their own words taken out.

A document is a run of distinct tokens and how often each is there; `rows` says where each stands in the table of counts
(words, classes), -1 where it is none. Of class k the document's own words are in, mass(w, k) is what is left of its
count and the pseudo-counts: n_wk - own + λ, or with a pooled prior n_wk - own + λ · (all classes' n_w - own) / total.
A word that no other document has is no word any more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.text.instructions import fetch_soon, shared, text_kernel

ONE, TWO, ZERO = np.uint64(1), np.uint64(2), np.uint64(0)
AHEAD = 16  # keys between asking for a slot and using it
ROUNDING = 1e-9  # of what is taken out: what is left beyond it, up to which it is nothing


@text_kernel
def lay_beside(one: Any, one_ends: Any, two: Any, two_ends: Any, out: Any, ends: Any) -> None:
    """The tokens of each document's two lists end to end."""
    i, j, n = 0, 0, 0
    for d in range(len(ends)):
        while i < one_ends[d]:
            out[n] = one[i]
            n += 1
            i += 1
        while j < two_ends[d]:
            out[n] = two[j]
            n += 1
            j += 1
        ends[d] = n


@text_kernel
def find_rows(keys: Any, slots: Any, shift: Any, rows: Any) -> None:
    """rows[t] = where keys[t] stands in the table of counts, or -1."""
    many = len(keys)
    for t in range(many):
        fetch_soon(slots, (keys[min(t + AHEAD, many - 1)] >> shift) << ONE)
        h = keys[t]
        at = (h >> shift) << ONE
        while slots[at] != h and slots[at] != ZERO:
            at += TWO
        rows[t] = np.int64(slots[at + ONE]) if slots[at] == h else -1


@text_kernel
def drop_lost(
    rows: Any,
    times: Any,
    ends: Any,
    counts: Any,
    pooled: Any,
    groups: Any,
    amounts: Any,
    enough: float,
    distinct: bool,
    gone: Any,
    totals: Any,
    words: Any,
) -> int:
    """Mark the words that leave the vocabulary with their document: rows[t] becomes -2 - row.

    totals[d, k] is what its classes' tokens lose, of such words and of its own others; words[d] how many words are
    lost; gone[t] is what is taken out for token t. Returns the first document with a token that is counted less often
    than it is there, or -1.
    """
    t = 0
    for d in range(len(ends)):
        g, weight = groups[d], amounts[d]
        while t < ends[d]:
            row = rows[t]
            own = weight if distinct else weight * times[t]
            gone[t] = own
            if row >= 0 and own > 0.0:
                if counts[row, g] - own < -ROUNDING * own:
                    return d
                rest = pooled[row] - own
                if rest <= ROUNDING * own or rest < enough:
                    rows[t] = -2 - row
                    words[d] += 1
                    for k in range(counts.shape[1]):
                        totals[d, k] += counts[row, k]
                else:
                    totals[d, g] += own
            t += 1
    return -1


@shared
def left(count: float, own: float) -> float:
    """A count without the document's own; what rounding leaves is nothing."""
    rest = count - own
    return rest if rest > ROUNDING * own else 0.0


@text_kernel
def multinomial(
    rows: Any,
    times: Any,
    ends: Any,
    counts: Any,
    pooled: Any,
    logs: Any,
    groups: Any,
    gone: Any,
    totals: Any,
    weights: Any,
    strength: float,
    is_pooled: bool,
    distinct: bool,
    known: Any,
    sums: Any,
) -> None:
    """sums[d, k] = Σ log mass(w, k) - log of the class's whole mass, over the tokens that are known without d.

    totals[d, k] are the class's tokens without d, weights[d] the pseudo-counts of one class; logs[w, k] = log(n_wk + λ).
    """
    t, classes = 0, counts.shape[1]
    for d in range(len(ends)):
        g, many, first = groups[d], 0.0, t
        everything = 0.0
        for k in range(classes):
            everything += totals[d, k]
        each = strength / everything if is_pooled and everything > 0.0 else 0.0
        while t < ends[d]:
            row = rows[t]
            if row >= 0:
                x = 1.0 if distinct else float(times[t])
                many += x
                if is_pooled:
                    pseudo = each * left(pooled[row], gone[t])
                    for k in range(classes):
                        if k != g:
                            sums[d, k] += x * np.log(counts[row, k] + pseudo)
                    sums[d, g] += x * np.log(left(counts[row, g], gone[t]) + pseudo)
                else:
                    for k in range(classes):
                        if k != g:
                            sums[d, k] += x * logs[row, k]
                    sums[d, g] += x * np.log(left(counts[row, g], gone[t]) + strength)
            t += 1
        known[d] = many
        if many == 0.0:
            continue
        for k in range(classes):
            whole = totals[d, k] + weights[d]
            if whole > 0.0:
                sums[d, k] -= many * np.log(whole)
                continue
            sums[d, k] = -many * np.log(everything)  # a class without tokens is like all together
            for i in range(first, ends[d]):
                if rows[i] >= 0:
                    sums[d, k] += (1.0 if distinct else float(times[i])) * np.log(left(pooled[rows[i]], gone[i]))


@text_kernel
def complement(
    rows: Any,
    times: Any,
    ends: Any,
    counts: Any,
    pooled: Any,
    logs: Any,
    groups: Any,
    gone: Any,
    totals: Any,
    weights: Any,
    strength: float,
    is_pooled: bool,
    distinct: bool,
    table: Any,
    sums: Any,
) -> None:
    """sums[d, k] = -Σ log mass(w, all classes but k) - log of their whole mass, over the tokens known without d.

    logs[w, k] = log(the others' n_w + λ); table[m] = log(m + λ), for the whole numbers that it has.
    """
    t, classes = 0, counts.shape[1]
    for d in range(len(ends)):
        g, many = groups[d], 0.0
        everything = 0.0
        for k in range(classes):
            everything += totals[d, k]
        each = strength / everything if is_pooled and everything > 0.0 else 0.0
        while t < ends[d]:
            row = rows[t]
            if row >= 0:
                x = 1.0 if distinct else float(times[t])
                many += x
                rest = left(pooled[row], gone[t])
                if is_pooled:
                    pseudo = each * rest
                    for k in range(classes):
                        own = counts[row, k] if k != g else left(counts[row, k], gone[t])
                        sums[d, k] -= x * np.log(max(rest - own, 0.0) + pseudo)
                else:
                    for k in range(classes):
                        if k != g:
                            others = max(rest - counts[row, k], 0.0)
                            whole = np.int64(others) if others < len(table) else np.int64(0)
                            if whole == others:
                                sums[d, k] -= x * table[whole]
                            else:
                                sums[d, k] -= x * np.log(others + strength)
                    sums[d, g] -= x * logs[row, g]
            t += 1
        if many > 0.0:
            for k in range(classes):
                sums[d, k] += many * np.log(everything - totals[d, k] + weights[d])


@text_kernel
def bernoulli(
    rows: Any,
    ends: Any,
    counts: Any,
    pooled: Any,
    odds: Any,
    groups: Any,
    gone: Any,
    documents: Any,
    amounts: Any,
    strength: float,
    is_pooled: bool,
    words: Any,
    sums: Any,
) -> None:
    """To Σ log(absent) over all words, already in sums[d, k], add what d's own words change, and the words' totals.

    Before: of class g without d, d's words counted as if they were not in it. odds[w, k] = log(there) - log(absent).
    words[d] is how many words the sum is over. Words that every text has say nothing under a pooled prior.
    """
    t, classes = 0, counts.shape[1]
    weight = strength if is_pooled else 2.0 * strength
    everything = 0.0
    for k in range(classes):
        everything += documents[k]
    for d in range(len(ends)):
        g, mine, many = groups[d], amounts[d], float(words[d])
        whole = left(everything, mine)
        while t < ends[d]:
            row = rows[t] if rows[t] >= 0 else -2 - rows[t]
            if rows[t] == -1:
                t += 1
                continue
            own, kept = gone[t], rows[t] >= 0
            summed, pseudo, after = True, strength, strength
            if is_pooled:
                summed = pooled[row] < whole - ROUNDING
                kept = kept and left(pooled[row], own) < whole - ROUNDING
                pseudo = strength * pooled[row] / whole
                after = strength * left(pooled[row], own) / whole
            many += (1.0 if kept else 0.0) - (1.0 if summed else 0.0)
            for k in range(classes):
                if k != g and kept and summed and not is_pooled:
                    sums[d, k] += odds[row, k]
                    continue
                size = documents[k] if k != g else left(documents[k], mine)
                if summed and size - counts[row, k] > -ROUNDING:
                    sums[d, k] -= np.log(max(size - counts[row, k], 0.0) + (weight - pseudo))
                if kept:
                    sums[d, k] += np.log((counts[row, k] if k != g else left(counts[row, k], own)) + after)
            t += 1
        for k in range(classes):
            size = documents[k] if k != g else left(documents[k], mine)
            if many > 0.0:
                sums[d, k] -= many * np.log(size + weight)
