"""Documents scored by the counts of their classes with their own words taken out.

A document is a run of distinct tokens and how often each is there; `rows` says where each stands in the table of counts
of the documents' own words, -1 where it is none. A row of the table has a word's count in each class and, last, in all.
mass(w, k) is what is left of a count without the document, and pseudo-counts: n_wk - own + λ, or under a pooled prior,
with N the number of all tokens, n_wk - own + λ · (n_w - own) / N. A word that no other document has is no word now.

Under a flat prior only a word's own class differs for the document, so what the classes have of it is added, and that
one is put right. Logs of small whole numbers are read from `table`: table[m] = log(m + λ).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.instructions import fetch_soon, shared, text_kernel

AHEAD = 16  # keys between asking for a slot and using it
ROUNDING = 1e-9  # of what is taken out: what is left beyond it, up to which it is nothing


@text_kernel
def drop_lost(
    rows: Any,
    taken: Any,
    ends: Any,
    counts: Any,
    groups: Any,
    amounts: Any,
    enough: float,
    gone: Any,
    totals: Any,
    words: Any,
) -> int:
    """Mark the words that leave the vocabulary with their document: rows[t] becomes -2 - row.

    totals[d, k] is what its classes' tokens lose, of such words and of its own others; words[d] how many words are
    lost; gone[t] is what is taken out for token t, taken[t] times the document's amount. Returns the first
    document with a token that is counted less often than it is there, or -1.
    """
    t, many, wide = 0, len(rows), counts.shape[1]
    classes = wide - 1
    for d in range(len(ends)):
        g, weight = groups[d], amounts[d]
        while t < ends[d]:
            fetch_soon(counts, max(rows[min(t + AHEAD, many - 1)], 0) * wide)
            row = rows[t]
            own = weight * taken[t]
            gone[t] = own
            if row >= 0 and own > 0.0:
                if counts[row, g] - own < -ROUNDING * own:
                    return d
                rest = counts[row, classes] - own
                if rest <= ROUNDING * own or rest < enough:
                    rows[t] = -2 - row
                    words[d] += 1
                    for k in range(classes):
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


@shared
def log_of(number: float, strength: float, table: Any) -> float:
    """log(number + λ)."""
    whole = np.int64(number) if number < len(table) else np.int64(0)
    return table[whole] if whole == number else np.log(number + strength)


@text_kernel
def multinomial(
    rows: Any,
    times: Any,
    taken: Any,
    ends: Any,
    counts: Any,
    groups: Any,
    amounts: Any,
    enough: float,
    strength: float,
    distinct: bool,
    table: Any,
    totals: Any,
    words: Any,
    known: Any,
    sums: Any,
) -> int:
    """sums[d, k] = Σ log mass(w, k) over the tokens that are known without d, under a flat prior.

    What is lost with d is left out at once: totals, words and what is returned are as of `drop_lost`; known[d] is how
    many tokens are known.
    """
    t, many, wide = 0, len(rows), counts.shape[1]
    classes = wide - 1
    for d in range(len(ends)):
        g, weight, there, less, lost = groups[d], amounts[d], 0.0, 0.0, 0
        while t < ends[d]:
            fetch_soon(counts, max(rows[min(t + AHEAD, many - 1)], 0) * wide)
            row = rows[t]
            own, x = weight * taken[t], 1.0 if distinct else float(times[t])
            t += 1
            if row < 0:
                continue
            here = counts[row, g]
            if own > 0.0:
                if here - own < -ROUNDING * own:
                    return d
                rest = counts[row, classes] - own
                if rest <= ROUNDING * own or rest < enough:
                    lost += 1
                    for k in range(classes):
                        totals[d, k] += counts[row, k]
                    continue
                less += own
            there += x
            mine = sums[d, g] + x * log_of(left(here, own), strength, table)
            for k in range(classes):
                sums[d, k] += x * log_of(counts[row, k], strength, table)
            sums[d, g] = mine
        totals[d, g] += less
        words[d] += lost
        known[d] = there
    return -1


@text_kernel
def pooled_multinomial(
    rows: Any,
    times: Any,
    ends: Any,
    counts: Any,
    groups: Any,
    gone: Any,
    totals: Any,
    weights: Any,
    strength: float,
    distinct: bool,
    known: Any,
    sums: Any,
) -> None:
    """sums[d, k] = Σ log mass(w, k) - log of the class's whole mass, over the tokens that are known without d.

    Of a pooled prior, or of none. totals[d, k] are the class's tokens without d, weights[d] its pseudo-counts.
    """
    t, classes = 0, counts.shape[1] - 1
    for d in range(len(ends)):
        g, many, first = groups[d], 0.0, t
        everything = 0.0
        for k in range(classes):
            everything += totals[d, k]
        each = strength / everything if everything > 0.0 else 0.0
        while t < ends[d]:
            row = rows[t]
            if row >= 0:
                x = 1.0 if distinct else float(times[t])
                many += x
                rest = left(counts[row, g], gone[t])
                pseudo = each * left(counts[row, classes], gone[t])
                for k in range(classes):
                    if k != g:
                        sums[d, k] += x * np.log(counts[row, k] + pseudo)
                sums[d, g] += x * np.log(rest + pseudo)
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
                    x = 1.0 if distinct else float(times[i])
                    sums[d, k] += x * np.log(left(counts[rows[i], classes], gone[i]))


@text_kernel
def complement(
    rows: Any,
    times: Any,
    ends: Any,
    counts: Any,
    groups: Any,
    gone: Any,
    totals: Any,
    weights: Any,
    strength: float,
    is_pooled: bool,
    distinct: bool,
    table: Any,
    whole: bool,
    sums: Any,
) -> None:
    """sums[d, k] = -Σ log mass(w, all classes but k) - log of their whole mass, over the tokens known without d.

    Where all counts are whole and small enough for the table, no class is asked whether it has the word at all.
    """
    t, classes = 0, counts.shape[1] - 1
    for d in range(len(ends)):
        g, many, shared_part = groups[d], 0.0, 0.0
        everything = 0.0
        for k in range(classes):
            everything += totals[d, k]
        each = strength / everything if is_pooled and everything > 0.0 else 0.0
        while t < ends[d]:
            row = rows[t]
            if row >= 0:
                x = 1.0 if distinct else float(times[t])
                many += x
                rest = left(counts[row, classes], gone[t])
                pseudo = each * rest
                never = np.log(rest + pseudo) if is_pooled else log_of(rest, strength, table)
                shared_part += x * never
                if whole and not is_pooled and rest < len(table):
                    here, most = sums[d, g], np.int64(rest)
                    for k in range(classes):
                        sums[d, k] -= x * (table[max(most - np.int64(counts[row, k]), 0)] - never)
                    mine = np.int64(left(counts[row, g], gone[t]))
                    sums[d, g] = here - x * (table[most - mine] - never)
                    t += 1
                    continue
                for k in range(classes):
                    n = counts[row, k]
                    if k == g:
                        n = left(n, gone[t])
                    if n > 0.0:
                        others = max(rest - n, 0.0)
                        log = np.log(others + pseudo) if is_pooled else log_of(others, strength, table)
                        sums[d, k] -= x * (log - never)
            t += 1
        if many > 0.0:
            for k in range(classes):
                sums[d, k] += many * np.log(everything - totals[d, k] + weights[d]) - shared_part


@text_kernel
def bernoulli(
    rows: Any,
    ends: Any,
    counts: Any,
    groups: Any,
    gone: Any,
    documents: Any,
    amounts: Any,
    strength: float,
    is_pooled: bool,
    table: Any,
    words: Any,
    sums: Any,
) -> None:
    """To Σ log(absent) over all words, already in sums[d, k], add what d's own words change, and the words' totals.

    Before: of class g without d, d's words counted as if they were not in it. words[d] is how many words the sum is
    over. Words that every text has say nothing under a pooled prior.
    """
    t, classes = 0, counts.shape[1] - 1
    weight = strength if is_pooled else 2.0 * strength
    everything = 0.0
    for k in range(classes):
        everything += documents[k]
    never = np.empty(classes)  # of a word that a class has never
    for k in range(classes):
        never[k] = log_of(documents[k], strength, table)
    for d in range(len(ends)):
        g, mine, many, alone = groups[d], amounts[d], float(words[d]), 0.0
        whole, here = left(everything, mine), left(documents[g], mine)
        share = strength / whole if whole > 0.0 else 0.0
        while t < ends[d]:
            if rows[t] == -1:
                t += 1
                continue
            row, own, kept = rows[t] if rows[t] >= 0 else -2 - rows[t], gone[t], rows[t] >= 0
            if not is_pooled:
                n, mass = counts[row, g], sums[d, g]
                if here - n > -ROUNDING:
                    mass -= log_of(max(here - n, 0.0), strength, table)
                if kept:
                    mass += log_of(left(n, own), strength, table)
                    for k in range(classes):
                        there = counts[row, k]
                        sums[d, k] += log_of(there, strength, table)
                        sums[d, k] -= log_of(max(documents[k] - there, 0.0), strength, table)
                elif counts[row, classes] <= n:  # it is in no other class
                    alone += 1.0
                else:
                    many -= 1.0
                    for k in range(classes):
                        sums[d, k] -= log_of(max(documents[k] - counts[row, k], 0.0), strength, table)
                sums[d, g] = mass
                t += 1
                continue
            pooled, rest = counts[row, classes], left(counts[row, classes], own)
            summed, kept = pooled < whole - ROUNDING, kept and rest < whole - ROUNDING
            many += (1.0 if kept else 0.0) - (1.0 if summed else 0.0)
            for k in range(classes):
                n, size = counts[row, k], documents[k] if k != g else here
                if summed and size - n > -ROUNDING:
                    sums[d, k] -= np.log(max(size - n, 0.0) + (weight - share * pooled))
                if kept:
                    sums[d, k] += np.log((n if k != g else left(n, own)) + share * rest)
            t += 1
        many -= alone
        for k in range(classes):
            if k != g:
                sums[d, k] -= alone * never[k]
        if many > 0.0:
            for k in range(classes):
                sums[d, k] -= many * np.log((documents[k] if k != g else here) + weight)
