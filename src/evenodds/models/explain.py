"""Why a row was given its class: the prior and one term per column, in log-odds, that add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from evenodds.cells import Coded, is_text
from evenodds.data.memory import Table
from evenodds.data.sum import cells
from evenodds.errors import DataError
from evenodds.families import Bernoulli, WordCounts
from evenodds.logs import normalise, warn_of_impossible
from evenodds.models.explanation import (
    Explanation,
    Passage,
    Term,
    believed,
    difference,
    pair,
    token_evidence,
    word_terms,
)
from evenodds.models.naive_bayes import Model
from evenodds.show import plain
from evenodds.text.listed import shrunk
from evenodds.text.places import places
from evenodds.texts import Texts

IMPOSSIBLE = "with the other cells impossible in every class: no evidence"


def explain(model: Model, rows: Table, of: Any = None, against: Any = None) -> list[Explanation]:
    """An Explanation for each row: of the most probable class, or of `of`; against the runner-up, or `against`."""
    rows = rows.whole()
    evidence = {name: model.scorer.evidence(name, rows) for name in model.distributions}
    joint = np.repeat(model.log_start[None], rows.rows, axis=0)
    for log_p in evidence.values():
        joint = joint + log_p
    impossible = joint.max(axis=1) == -np.inf  # each class by another column
    log_proba = normalise(joint.T, model.log_start)[0].T
    warn_of_impossible(int(impossible.sum()))
    if len(model.classes) < 2:
        raise DataError("the model has one class only: there is nothing to explain")
    told = [None if label is None else model.place(label) for label in (of, against)]
    values = {name: _values(rows, name, model) for name in model.schema.features}
    found, classes = [], model.classes.tolist()
    for i in range(rows.rows):
        a, b = pair(np.argsort(-log_proba[i], kind="stable").tolist(), *told)
        terms, passages = [], []
        for name in model.schema.features:
            if name in model.schema.texts:
                terms += _words(model, name, values[name](i), a, b)
                passages += _passage(model, name, values[name](i), a, b)
                continue
            value, note = values[name](i)
            if name in evidence:
                terms.append(Term(name, value, difference(evidence[name][i, a], evidence[name][i, b]), note))
            else:
                terms.append(Term(name, value, 0.0, "says nothing: one value only"))
        if impossible[i]:
            terms, passages = [ruled_out(term) for term in terms], []
        found.append(
            Explanation(
                classes[a],
                classes[b],
                difference(model.log_start[a], model.log_start[b]),
                tuple(terms),
                difference(log_proba[i, a], log_proba[i, b]),
                float(np.exp(log_proba[i, a])),
                tuple(passages),
            )
        )
    return found


def ruled_out(term: Term) -> Term:
    """What a cell says of a row that is impossible in every class: nothing."""
    return term._replace(log_odds=0.0, note=IMPOSSIBLE) if term.log_odds else term


def _words(model: Model, name: str, document: str | None, a: int, b: int) -> list[Term]:
    found: Any = model.distributions.get(name)
    if document is None:
        return [Term(name, None, 0.0, "missing: no evidence")]
    if found is None:
        return [Term(name, "its words", 0.0, "say nothing: none was ever seen")]
    tokens = found.tokens(document)
    terms = word_terms(name, tokens, found.constant, found.words.events == "bernoulli", a, b)
    return believed(terms, model.exponent(name), found.shrink, sum(times for _, times, _ in tokens))


def _passage(model: Model, name: str, document: str | None, a: int, b: int) -> list[Passage]:
    """The text in pieces, with what each adds; none where it is missing, or its tokens have no places in it."""
    found = model.distributions.get(name)
    if document is None or not isinstance(found, WordCounts):
        return []
    text, where = places(document, found.words.tokens)
    if not where and found.words.tokens.function is not None:
        return []
    said: dict[tuple[int, int], float] = {}
    listed = found.listed(document)
    belief = model.exponent(name) * shrunk(sum(one.times for one in listed), found.shrink)
    for one in listed:
        spans = [span for token in one.tokens for span in where[token]]
        weights = found.of(one.key)
        if weights is not None:
            odds = one.times * token_evidence(float(weights[a]), float(weights[b]), found.words.events == "bernoulli")
            for span in spans:
                said[span] = said.get(span, 0.0) + belief * odds / len(spans)
    pieces: list[tuple[str, float | None]] = []
    end = 0
    for (start, stop), odds in sorted(said.items()):
        pieces.append((text[end:start], None))
        pieces.append((text[max(start, end) : stop], odds))
        end = max(end, stop)
    pieces.append((text[end:], None))
    return [Passage(name, tuple(piece for piece in pieces if piece[0] or piece[1]))]


def _values(rows: Table, name: str, model: Model) -> Any:
    """A function of the row's number: the cell's value, and what is special about it."""
    read = cells(rows, name, model.schema.features[name])
    if isinstance(read, Texts):
        return lambda i: read.text(i)
    if not isinstance(read, Coded):
        said = _flags(rows, name, model)
        return lambda i: (None, "missing: no evidence") if np.isnan(read[i]) else (said(i) or plain(read[i]), "")
    known = getattr(model.distributions.get(name), "labels", None)

    def value(i: int) -> tuple[Any, str]:
        code = int(read.codes[i])
        if code < 0 or read.place[code] < 0:
            return None, "missing: no evidence"
        place = int(read.place[code])
        seen = known is None or known.find(read.labels.keys[[place]])[0] >= 0
        unseen = "never seen: its smoothing mass" if model.settings.unseen == "prior" else "never seen: no evidence"
        return read.labels.text(place), "" if seen else unseen

    return value


def _flags(rows: Table, name: str, model: Model) -> Callable[[int], str | None]:
    """What a flag's cell says, as "yes", where it is a word."""
    column = model.schema.features[name]
    raw: Any = rows[column.source or name] if column.family is Bernoulli and not column.parts else None
    words = isinstance(raw, pa.Array | pa.ChunkedArray) and is_text(raw.type)
    return lambda i: raw[i].as_py() if words else None
