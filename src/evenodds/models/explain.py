"""Why a row was given its class: the prior and one term per column, in log-odds, that add up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from evenodds.cells import Coded, is_text
from evenodds.data.memory import Table
from evenodds.errors import DataError
from evenodds.families import Bernoulli, WordCounts
from evenodds.labels import canonical
from evenodds.models.explanation import Explanation, Passage, Term, believed, difference, token_evidence, word_terms
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import normalise
from evenodds.text.listed import shrunk
from evenodds.text.places import places
from evenodds.texts import Texts


def explain(model: Model, rows: Table, of: Any = None, against: Any = None) -> list[Explanation]:
    """An Explanation for each row: of the most probable class, or of `of`; against the runner-up, or `against`."""
    evidence = {name: model.scorer.evidence(name, rows) for name in model.distributions}
    joint = np.repeat(model.log_start[None], rows.rows, axis=0)
    for log_p in evidence.values():
        joint = joint + log_p
    log_proba = normalise(joint.T.copy(), model.log_start).T
    if len(model.classes) < 2:
        raise DataError("the model has one class only: there is nothing to explain")
    values = {name: _values(rows, name, model) for name in model.schema.features}
    found = []
    for i in range(rows.rows):
        order = np.argsort(-joint[i], kind="stable")
        a = int(order[0]) if of is None else _class(model, of)
        b = int(next(c for c in order if c != a)) if against is None else _class(model, against)
        terms, passages = [], []
        for name in model.schema.features:
            if model.schema.features[name].family is WordCounts:
                terms += _words(model, name, values[name](i), a, b)
                passages += _passage(model, name, values[name](i), a, b)
                continue
            value, note = values[name](i)
            if name in evidence:
                terms.append(Term(name, value, difference(evidence[name][i, a], evidence[name][i, b]), note))
            else:
                terms.append(Term(name, value, 0.0, "says nothing: one value only"))
        found.append(
            Explanation(
                model.classes[a].item() if hasattr(model.classes[a], "item") else model.classes[a],
                model.classes[b].item() if hasattr(model.classes[b], "item") else model.classes[b],
                difference(model.log_start[a], model.log_start[b]),
                tuple(terms),
                difference(joint[i, a], joint[i, b]),
                float(np.exp(log_proba[i, a])),
                tuple(passages),
            )
        )
    return found


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


def _class(model: Model, value: Any) -> int:
    wanted = canonical(value)
    for i, known in enumerate(model.classes):
        if canonical(known) == wanted:
            return i
    raise DataError(f"no class {value!r}; the classes are {', '.join(map(repr, model.classes.tolist()))}")


def _values(rows: Table, name: str, model: Model) -> Any:
    """A function of the row's number: the cell's value, and what is special about it."""
    from evenodds.data.sum import cells

    read = cells(rows, name, model.schema.features[name])
    if isinstance(read, Texts):
        return lambda i: read.text(i)
    if not isinstance(read, Coded):
        said = _flags(rows, name, model)
        return lambda i: (None, "missing: no evidence") if np.isnan(read[i]) else (said(i) or _short(read[i]), "")
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


def _short(x: float) -> float | int:
    return int(x) if float(x).is_integer() and abs(x) < 1e15 else float(x)
