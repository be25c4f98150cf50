"""Why a row was given its class: naive Bayes' evidence and its correction, summed for each column and word."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from evenodds.data.memory import Table
from evenodds.data.sum import cells
from evenodds.families import WordCounts
from evenodds.labels import find
from evenodds.logs import normalise, warn_of_impossible
from evenodds.models.bridge.bridge import Bridge
from evenodds.models.bridge.features import Numbers, Tokens, text_scale
from evenodds.models.explain import explain as explain_naive_bayes
from evenodds.models.explanation import Explanation, Term, difference, pair
from evenodds.text.bags import bags
from evenodds.text.listed import listed
from evenodds.texts import Texts


def explain(bridge: Bridge, rows: Table, of: Any = None, against: Any = None) -> list[Explanation]:
    """An Explanation for each row: of the most probable class, or of `of`; against the runner-up, or `against`."""
    joint = bridge.log_joint(rows, 1)
    impossible = joint.max(axis=1) == -np.inf
    log_proba = normalise(joint.T, bridge.log_start)[0].T
    warn_of_impossible(int(impossible.sum()))
    told = [None if label is None else bridge.place(label) for label in (of, against)]
    pairs = [pair(np.argsort(-row, kind="stable").tolist(), *told) for row in log_proba]
    return [
        _row(bridge, rows.slice(i, i + 1), log_proba[i], bool(impossible[i]), *both) for i, both in enumerate(pairs)
    ]


def _row(bridge: Bridge, row: Table, log_proba: Any, impossible: bool, a: int, b: int) -> Explanation:
    [said] = explain_naive_bayes(bridge.model, row, bridge.names[a], bridge.names[b])
    odds = bridge.weights[:, a] - bridge.weights[:, b]
    terms = _Terms(said, bridge.scale)
    for part in () if impossible else bridge.features.parts:  # what is impossible, nothing corrects
        own = odds[1:][bridge.features.slices[part.name]]
        x = cells(row, part.name, bridge.schema.features[part.name])
        if isinstance(part, Tokens):
            _add_words(terms, bridge, part, x, own)
        else:
            design = part.dense(x)[0] if isinstance(part, Numbers) else part.sparse(x).toarray()[0]
            terms.add(part.name, None, float(design @ own))
    prior = 0.0 if bridge.scale == 0 else bridge.scale * said.prior
    total, p = difference(log_proba[a], log_proba[b]), float(np.exp(log_proba[a]))
    return Explanation(said.of, said.against, prior + float(odds[0]), tuple(terms.terms), total, p)


class _Terms:
    """Naive Bayes' terms, as far as they are believed, to which corrections are added."""

    def __init__(self, said: Explanation, scale: float) -> None:
        self.terms = [term._replace(log_odds=0.0 if scale == 0 else scale * term.log_odds) for term in said.terms]
        self._words = {(term.column, term.value): i for i, term in enumerate(self.terms)}
        self._columns = {term.column: i for i, term in enumerate(self.terms)}

    def add(self, column: str, word: str | None, odds: float) -> None:
        """Add some log-odds to the term of a column, or of one of its words."""
        at = self._columns.get(column) if word is None else self._words.get((column, word))
        if at is None:
            self.terms.append(Term(column, word, odds))
        else:
            self.terms[at] = self.terms[at]._replace(log_odds=self.terms[at].log_odds + odds)


def _add_words(terms: _Terms, bridge: Bridge, part: Tokens, x: Texts, own: Any) -> None:
    """Add the correction of each word of a text; words that share a bucket share its weight."""
    document = x.text(0)
    if document is None:
        return
    words = bridge.schema.texts[part.name]
    how: Any = {"buckets": words.buckets, "distinct": words.distinct}
    tokens, found = listed(document, words.tokens, **how), bridge.model.distributions.get(part.name)
    names = {token: one.text for one in tokens for token in one.tokens}
    if isinstance(found, WordCounts):  # which may read a word as another
        names = {token: one.text for one in found.listed(document) for token in one.tokens}
    scale = float(text_scale(len(bags(x, words.tokens, buckets=words.buckets).keys)))
    place = find(part.keys, np.array([one.key for one in tokens], np.uint64)).tolist()
    sharing = Counter(place)
    for one, at in zip(tokens, place):
        if at >= 0:
            terms.add(part.name, names[one.tokens[0]], scale * float(own[at]) / sharing[at])
