"""Texts imagined from the counts, to choose the smoothing where a word counts once a text.

Each class writes some texts of its own words, drawn one by one by how many of its texts have them; lengths are
geometric, P(longer than l) = (m / (1 + m))^l with the class's mean m, for texts differ in length about as much as they
are long. Every word that is drawn is taken out of the class's count, as if the text were one of those counted, and the
text is scored. The best λ is the one under which the texts tell their classes best: the largest mean log p(class).

What is asked is how whole texts are told apart, since it is there that the absence of a hundred thousand words, each
saying next to nothing, decides. All is a function of the counts: the draws are a hash of their own numbers, so the
order of rows, batches and models that were added changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats, share
from evenodds.families.left_out import ROUNDING
from evenodds.labels import GOLDEN, Ints, Keys, find, mixed
from evenodds.logs import log_sum
from evenodds.text.counts import Counts
from evenodds.text.words import Words

TEXTS = 512  # imagined, of all classes together
TOKENS = 1 << 17  # drawn for them, about


class _Drawn(NamedTuple):
    """The distinct words of the imagined texts: each one's text and key; each text's class; what each class weighs."""

    text: Ints
    keys: Keys
    classes: Ints
    weights: Floats


class _There(NamedTuple):
    """Where a word of a text is known to a class: the text, the class, the count, and whether that is its own class."""

    text: Ints
    group: Ints
    n: Floats
    own: NDArray[np.bool_]


def imagined(counts: Counts, words: Words) -> Callable[[float], float]:
    """How well imagined texts tell their classes: a function of the pseudo-counts of every word."""
    if words.min_count > 1:
        counts = counts.prune(words.min_count)
    drawn = _draw(counts)
    documents = counts.documents.astype(float)
    texts, classes, many = len(drawn.classes), len(documents), len(counts.keys())
    with np.errstate(divide="ignore"):
        prior = np.log(share(documents, documents.sum()))
    there = _look_up(counts, drawn)
    pooled = np.bincount(there.text, there.n, len(drawn.keys))
    left = np.minimum(1.0, np.bincount(there.text[there.own], there.n[there.own], len(drawn.keys)))
    kept = pooled - left > ROUNDING  # a word that only this text has is none without it
    at, mine = drawn.text, drawn.classes
    known = np.bincount(at, kept, texts)
    used = kept[there.text]
    lost = np.bincount(at, ~kept, texts)
    n = there.n - np.where(there.own, left[there.text], 0.0)
    cell = at[there.text] * classes + there.group  # of (texts, classes)
    shape, every = (texts, classes), np.arange(texts)
    some = used & (n > 0)
    values, where = np.unique(n[some], return_inverse=True)

    def present(strength: float) -> Floats:
        """Σ log (n + λ) over a text's words, less log (N + λV) for each of them."""
        gain = (np.log(values + strength) - np.log(strength))[where]
        sums = np.bincount(cell[some], gain, texts * classes).reshape(shape)
        whole = np.repeat(totals[None], texts, axis=0)
        whole[every, mine] -= np.bincount(at, left, texts)
        whole += strength * (many - lost)[:, None]
        return np.asarray(sums + known[:, None] * (np.log(strength) - np.log(np.maximum(whole, 1e-300))))

    def bernoulli(strength: float) -> Floats:
        """Σ log (D - n + λ) over all words, with n + λ in its place where the text has one, less log (D + 2λ)."""
        size = np.repeat(documents[None], texts, axis=0)
        size[every, mine] = np.maximum(size[every, mine] - 1.0, 0.0)
        never = np.log(size + strength)  # of a word that the class has never
        sums = np.repeat(_absent(alike, many, documents, strength)[None], texts, axis=0)
        sums[every, mine] = _absent(alike, many, np.maximum(documents - 1.0, 0.0), strength)[mine]
        gain = (np.log(values + strength) - np.log(strength))[where]
        sums += np.bincount(cell[some], gain, texts * classes).reshape(shape)
        absent = size.ravel()[cell] - there.n
        summed = absent > -ROUNDING  # a word that all texts of the class have, this one among them, is not in the sum
        change = never.ravel()[cell] - np.where(summed, np.log(np.maximum(absent, 0.0) + strength), 0.0)
        sums += np.bincount(cell, change, texts * classes).reshape(shape)
        sums += known[:, None] * np.log(strength) - (known + lost)[:, None] * never
        return np.asarray(sums - (many - lost)[:, None] * np.log(size + 2 * strength))

    totals = np.array([float(one.numbers.sum()) for one in counts.lists])
    alike = [np.unique(one.numbers, return_counts=True) for one in counts.lists]
    said = bernoulli if words.events == "bernoulli" else present

    def score(strength: float) -> float:
        joint = said(strength) + prior
        own = joint[every, mine] - log_sum(joint)
        return float(own @ drawn.weights)

    return score


def _absent(alike: list[tuple[Any, Any]], many: int, documents: Floats, strength: float) -> Floats:
    """Σ log (D - n + λ) over all words, for each class: its different counts n, and how many words have each."""
    found = np.zeros(len(alike))
    for k, ((values, times), size) in enumerate(zip(alike, documents)):
        some = values <= size + ROUNDING
        found[k] = (many - times.sum()) * np.log(size + strength)
        found[k] += times[some] @ np.log(np.maximum(size - values[some], 0.0) + strength)
    return found


def _draw(counts: Counts) -> _Drawn:
    """Texts of every class's own words, in numbers by its share of the texts, one at least."""
    documents = counts.documents.astype(float)
    totals = np.array([float(one.numbers.sum()) for one in counts.lists])
    mean = totals.sum() / max(documents.sum(), 1.0)
    texts = min(TEXTS, max(TOKENS / max(mean, 1.0), 1.0))
    parts, classes, weights, first = [], [], [], 0
    for k, (one, size, total) in enumerate(zip(counts.lists, documents, totals)):
        if size <= 0 or total <= 0:
            continue
        m = max(1, round(texts * size / documents.sum()))
        lengths = _lengths(total / size, m)
        cumulative = np.cumsum(one.numbers.astype(float))
        places = np.searchsorted(cumulative, _uniform(k, int(lengths.sum())) * cumulative[-1], side="right")
        pairs = np.unique(np.repeat(np.arange(first, first + m), lengths) * len(one.keys) + places)
        parts.append((pairs // len(one.keys), one.keys[pairs % len(one.keys)]))
        classes.append(np.full(m, k))
        weights.append(np.full(m, size / m))
        first += m
    return _Drawn(
        np.concatenate([np.zeros(0, np.int64), *(text for text, _ in parts)]),
        np.concatenate([np.zeros(0, np.uint64), *(keys for _, keys in parts)]),
        np.concatenate([np.zeros(0, np.int64), *classes]),
        np.concatenate([np.zeros(0), *weights]),
    )


def _lengths(mean: float, many: int) -> Ints:
    """Geometric lengths of this mean, from long to short: their quantiles, so that chance has no part in them."""
    beyond = (np.arange(many) + 0.5) / many
    found = np.floor(np.log(beyond) / np.log(mean / (1.0 + mean)))
    return np.maximum(found, 1).astype(np.int64)


def _uniform(stream: int, many: int) -> Floats:
    """Numbers between 0 and 1, the same for ever: splitmix64 of 1, 2, 3, …"""
    h = mixed((np.arange(1, many + 1, dtype=np.uint64) + (np.uint64(stream) << np.uint64(40))) * GOLDEN)
    uniform: Floats = ((h >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    return uniform


def _look_up(counts: Counts, drawn: _Drawn) -> _There:
    """The counts of the drawn words in the classes that have them; `text` is the word's place among the drawn."""
    parts = []
    for k, (keys, numbers) in enumerate(counts.lists):
        place = find(keys, drawn.keys)
        found = np.flatnonzero(place >= 0)
        own = drawn.classes[drawn.text[found]] == k
        parts.append(_There(found, np.full(len(found), k), numbers[place[found]].astype(float), own))
    return _There(*(np.concatenate(some) for some in zip(*parts)))
