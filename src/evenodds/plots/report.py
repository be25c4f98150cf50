"""The report that people mail: your data, then your model, then how it treats groups and whether it still holds."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from evenodds import plots
from evenodds.audit.audited import Audited
from evenodds.audit.counted import association, countable, counts_of, missing
from evenodds.audit.groups import Audit
from evenodds.audit.held_out import of_model
from evenodds.audit.metrics import Metrics
from evenodds.audit.plainly import RECORDED
from evenodds.audit.ranked import Scores, scores
from evenodds.audit.shift import Drift, counted_to_compare, drift_since
from evenodds.data.reading import Reading
from evenodds.data.report import Report
from evenodds.data.source import Source
from evenodds.data.sum import sum_source
from evenodds.errors import DataError, did_you_mean, many
from evenodds.families import WordCounts
from evenodds.models.learnt import Tables, n_parameters
from evenodds.models.naive_bayes import Model
from evenodds.plots.groups_page import Groups, group_sizes
from evenodds.plots.model import scales
from evenodds.plots.paper import Paper, Picture, Section
from evenodds.show import Frame, apart, percent
from evenodds.tally import Tally

LEAK = 0.9  # Cramér's V of a column with the target, from which on it may know the answer
LINES = 40  # of what was learnt of a column, where there is no picture of it
LEARNT = (
    "These are the very rows that it was learnt from: of rows that it has not seen fewer are judged right, and how "
    "honest its probabilities are cannot be told by these; evenodds evaluate --folds 10 says both."
)
LIMITS = (
    "What it says holds for rows like those it learnt: see what changed, below.",
    "Columns are taken to be independent within a class; where they are not, its odds are too bold unless tempered.",
    "An association is no cause. Leaving out a group's column makes no model even: other columns stand in for it.",
    RECORDED,
)


def report(
    model: Any,
    source: Source,
    audit: Audit | None = None,
    threads: int | None = None,
    graph: Any = None,
) -> Paper:
    """The report of a model of classes on rows whose classes are known; the source is read a few times.

    With an audit it says how groups are treated; with a graph, whether they are even by it.
    """
    base: Model = model if isinstance(model, Model) else model.untempered
    names = source.sample().columns
    for name in audit.columns if audit is not None else ():
        if name not in names:
            raise DataError(f"{source.name}: {did_you_mean(name, names)}")
    tally, read = sum_source(source, Reading(base.schema), threads)
    if not tally.columns:
        raise DataError(f"{source.name} has no rows with a class to report on")
    here = Model(base.schema, tally)
    held = of_model(model, source, None, threads)
    judged = held.tally()
    metrics = Metrics.of(judged, model.classes)
    audited = None if audit is None else audit.of(model, source, threads=threads)
    by_texts = counted_to_compare(base)
    new = tally if by_texts == base.schema else sum_source(source, Reading(by_texts), threads)[0]
    drift = drift_since(base, new)
    learnt = tally == base.tally
    sections = [_data(here, read, audited), _model(model, base), _quality(judged, metrics, learnt)]
    found = Groups.of(audited, model, source, None, threads, graph) if audited is not None else None
    sections += found.sections if found is not None else []
    sections += [_drifted(drift, learnt)]
    data = {
        "metrics": metrics.to_dict(),
        "audit": None if found is None else found.to_dict(),
        "drift": drift.to_dict(),
        "report": read.to_dict(),
    }
    return Paper(f"Report on {base.schema.target!r}: {os.path.basename(source.name)}", sections, data)


def _data(here: Model, read: Report, audited: Audited | None) -> Section:
    """Holes, balance, what was left out, what may leak, group sizes."""
    rows, target = here.rows, here.schema.target
    columns, leaks = [], []
    for name, column in here.schema.columns.items():
        line: dict[str, Any] = {"column": name, "as": column.described}
        if name in here.schema.features:
            line["missing"] = missing(here, name)
            if countable(here, name):
                _, table = counts_of(here, name)
                line["tells the class (V)"] = association(table).v
                leaks += [name] if line["tells the class (V)"] > LEAK else []
        columns.append(line)
    counts = dict(zip(here.names, here.class_counts.tolist()))
    balance = Frame(
        [{target: c, **apart({"rows": int(n), "share": n / max(rows, 1)}, (target,))} for c, n in counts.items()],
        "Balance",
    )
    left = [name for name, column in here.schema.columns.items() if column.role == "ignore"]
    rarest = min(counts.items(), key=lambda one: one[1])
    said = [
        f"{many(rows, 'row')}; {target!r} has {many(len(counts), 'class')}, the rarest is {rarest[0]!r} with "
        f"{many(round(rarest[1]), 'row')}."
    ]
    holes = [line for line in columns if line.get("missing", 0) > 0]
    worst = sorted(holes, key=lambda line: -line["missing"])[:3]
    said.append(
        "Most often missing: " + ", ".join(f"{h['column']} ({percent(h['missing'], 1)})" for h in worst) + "."
        if worst
        else "No cell of the model's columns is missing."
    )
    if left:
        said.append(f"Left out: {', '.join(left)}.")
    if leaks:
        said.append(f"Almost know the answer, so ask whether they are known in time: {', '.join(leaks)}.")
    said += [f"{one}." for one in read.sentences()]
    sizes = [] if audited is None else [group_sizes(audited)]
    return Section("Your data", said, [balance, Frame(columns, "Columns"), *sizes])


def _model(model: Any, base: Model) -> Section:
    """The card: rows, families, tempering, limits."""
    kind, temper = "naive Bayes" if model is base else "a bridge on naive Bayes", model.temper
    said = [
        f"A model of {base.schema.target!r}: {kind}, learnt from {many(base.rows, 'row')}, "
        f"{n_parameters(base)['naive']:,} numbers.",
        "Its odds are tempered: how much it believes of what columns say is told below."
        if temper is not None
        else "The odds of naive Bayes are not tempered.",
    ]
    if model is not base:
        said.append("On top of them logistic regression corrects what columns and words repeat.")
    believed = [] if temper is None else [Section("How its odds are tempered", temper.sentences())]
    parts: list[Picture | Frame] = []
    known = scales(base) if len(base.classes) == 2 and model is base else {}
    if any(known.values()):
        shown = "What each value adds to the log-odds; add them to the prior and read off the probability."
        none = [name for name, some in known.items() if not some]
        shown += f" Not in it: {', '.join(none)}." if none else ""
        table = Frame([row for some in known.values() for row in some])
        parts.append(Picture(plots.nomogram(base), shown, table, "nomogram"))
    elif model is base:
        plain = [Tables(base)[name] for name, column in base.schema.features.items() if column.words is None]
        parts += [table for table in plain if 0 < len(table) <= LINES]
    for name, column in base.schema.features.items():
        if column.words is not None and isinstance(base.distributions.get(name), WordCounts):
            table = Tables(base)[name]
            drawn = plots.words(table, base.schema.target)
            parts.append(Picture(drawn, f"The words of {name!r} that tell each class from the rest.", table, name))
    return Section("Your model", said, parts, [*believed, Section("Its limits", LIMITS)])


def _quality(judged: Tally, metrics: Metrics, learnt: bool) -> Section:
    """How good and how honest it is on these rows, which it may have learnt."""
    low, high = metrics.accuracy_interval
    said = [LEARNT] if learnt else []
    said += [
        f"Of 100 rows {100 * metrics.accuracy:.1f} are judged right (95 %: {100 * low:.1f} to {100 * high:.1f}); "
        f"if the most frequent class were always said, {100 * metrics.baseline.accuracy:.1f} would be.",
    ]
    said += [] if learnt else _honest(metrics)
    parts: list[Picture | Frame] = [Frame(metrics.summary.rows, "In numbers")]
    if len(metrics.classes) == 2 and metrics.reliability:
        [of] = metrics.reliability
        picture = plots.reliability({"model": of})
        parts.append(
            Picture(picture, f"Probability said of {of.name!r} against the share seen.", of.numbers, "honesty")
        )
        found = scores(judged, metrics.classes[1])
        if found is not None and found.own.sum() and found.rest.sum():
            curve = Frame([{"threshold": t, **_rates_at(found, t)} for t in np.arange(0.1, 1.0, 0.1).round(1).tolist()])
            name = metrics.classes[1]
            parts.append(
                Picture(plots.roc(found, name), f"What is found of {name!r} against false alarms.", curve, "ROC")
            )
            drawn = plots.precision_recall(found, name)
            parts.append(
                Picture(drawn, f"How often {name!r} is right when said, against what is found.", curve, "precision")
            )
    table = metrics.confusion
    matrix = plots.confusion(table) if len(table) <= 12 else None
    parts.append(Picture(matrix, "Which class is taken for which.", table, "confusion"))
    return Section("How good it is", said, parts)


def _honest(metrics: Metrics) -> list[str]:
    """How honest the probabilities are, as far as so many rows can tell; nothing where there is no slope."""
    if metrics.slope is None:
        return []
    line = metrics.reliability[0].line if len(metrics.classes) == 2 else None
    best = f"log-odds times {metrics.slope:.2f} would suit these rows best"
    if line is None:  # of more classes nobody has worked out how sure the slope is
        return [f"Its {best}: times 1 if they are honest, less if too sure, more if too timid."]
    low, high = line.slope_interval
    best += f" (95 %: {low:.2f} to {high:.2f})"
    if low <= 1 <= high:
        low, high = line.intercept_interval
        if low <= 0 <= high:
            return [f"Its probabilities are honest, as far as {many(metrics.rows, 'row')} can tell: their {best}."]
        name, side = metrics.reliability[0].name, "low" if low > 0 else "high"
        more = f"log-odds {line.intercept:+.2f} would suit these rows best (95 %: {low:+.2f} to {high:+.2f})"
        return [f"Its probabilities of {name!r} are too {side}: their {more}."]
    told = "too timid" if low > 1 else "too sure" if high >= 0 else "the wrong way round"
    return [f"Its probabilities are {told}: their {best}."]


def _rates_at(found: Scores, threshold: float) -> dict[str, float | None]:
    own, rest = found.above(threshold)
    right = own / (own + rest) if own + rest else None
    return {"TPR": own / float(found.own.sum()), "FPR": rest / float(found.rest.sum()), "PPV": right}


def _drifted(drift: Drift, learnt: bool) -> Section:
    """What changed since the model was learnt; in the very rows that were learnt, nothing."""
    title = "What changed since it was learnt"
    if learnt:
        return Section(title, ["Nothing: these are the rows that it was learnt from."])
    table = Frame([{k: v for k, v in row.items() if k != "said"} for row in drift.columns])
    alt = "How many of the rows moved, column by column, since the model was learnt."
    parts: list[Picture | Frame] = [Picture(plots.drifted(drift), alt, table, "changes")] if len(table) else []
    parts += [Frame(drift.words.rows, "Words that came and went")] if len(drift.words) else []
    return Section(title, drift.sentences() if len(table) else [], parts)
