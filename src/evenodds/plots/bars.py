"""Bars: what an explanation adds up from, words, changes, and which class is taken for which."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from evenodds.audit.metrics import TRUE
from evenodds.audit.shift import Drift
from evenodds.models.explanation import Explanation
from evenodds.plots.style import COLOURS, GREY, WIDTH, page
from evenodds.show import Frame, free

MOST = 24  # bars
STEP = 90  # pixels of a predicted class


def waterfall(explanation: Explanation) -> dict[str, Any]:
    """From the prior to the total: each column's log-odds begins where the one before it ends."""
    total, rows = 0.0, []
    for what, odds, _ in explanation.lines():
        rows.append(_step(what, total, total + odds))
        total += odds
    rows.append({**_step("total", 0.0, explanation.total), "kind": "total"})
    kinds = {"domain": ["for", "against", "total"], "range": [COLOURS[0], COLOURS[1], GREY]}
    y = {"field": "what", "type": "nominal", "sort": None, "axis": {"title": None, "labelLimit": 180}}
    bar = {
        "mark": {"type": "bar", "height": 16},
        "encoding": {
            "y": y,
            "x": {"field": "start", "type": "quantitative", "axis": {"title": "log-odds"}},
            "x2": {"field": "stop"},
            "color": {"field": "kind", "scale": kinds, "legend": None},
        },
    }
    text = {
        "mark": {"type": "text", "align": "left", "dx": 4, "fontSize": 11},
        "encoding": {"y": y, "x": {"field": "right", "type": "quantitative"}, "text": {"field": "said"}},
    }
    title = page(f"Why {explanation.of}, not {explanation.against}?", f"p = {explanation.said}; + is for it")
    return {**title, "width": WIDTH - 80, "height": {"step": 22}, "data": {"values": rows}, "layer": [bar, text]}


def _step(what: str, start: float, stop: float) -> dict[str, Any]:
    start, stop = (math.copysign(min(abs(x), 1e6), x) for x in (start, stop))
    kind = "for" if stop >= start else "against"
    return {
        "what": what,
        "start": start,
        "stop": stop,
        "right": max(start, stop),
        "said": f"{round(stop - start, 2) + 0.0:+.2f}",
        "kind": kind,
    }


def words(table: Frame, target: str) -> dict[str, Any]:
    """The words that tell each class from the rest, with the intervals of their log-odds."""
    rows = [
        {
            "class": str(row[target]),
            **{each: row[free(each, (target,))] for each in ("word", "log-odds", "low", "high")},
        }
        for row in table
    ]
    y = {"field": "word", "type": "nominal", "sort": "-x", "axis": {"title": None}}
    odds = {"field": "log-odds", "type": "quantitative", "axis": {"title": "log-odds for the class"}}
    layers: list[dict[str, Any]] = [
        {"mark": {"type": "bar", "color": COLOURS[4], "height": 12}, "encoding": {"x": odds, "y": y}},
        {
            "mark": {"type": "rule", "color": "black"},
            "encoding": {"x": {**odds, "field": "low"}, "x2": {"field": "high"}, "y": y},
        },
    ]
    spec = {"width": WIDTH - 80, "height": {"step": 18}, "layer": layers}
    header = {"title": None, "labelAngle": 0, "labelOrient": "top", "labelAnchor": "start", "labelFontWeight": "bold"}
    header["labelPadding"] = -12  # a class stands right above its words
    facet = {"row": {"field": "class", "type": "nominal", "header": header}}
    title = page("Words that tell", "lines are 95 % intervals")
    return {**title, "data": {"values": rows}, "facet": facet, "spec": spec, "resolve": {"scale": {"y": "independent"}}}


def drifted(found: Drift) -> dict[str, Any]:
    """How many of the rows moved, column by column; what is beyond chance is told by shape and word."""
    rows = [
        {"column": r["column"], "moved": r["distance"], "said": "changed" if r["changed"] else "by chance"}
        for r in sorted(found.columns, key=lambda row: -row["distance"])[:MOST]
    ]
    y = {"field": "column", "type": "nominal", "sort": None, "axis": {"title": None, "labelLimit": 160}}
    most = max([0.05, *(row["moved"] for row in rows)])  # so that chance alone does not fill the picture
    x = {"field": "moved", "type": "quantitative", "scale": {"domain": [0, most]}}
    x["axis"] = {"title": "share of rows that moved", "format": ".1%" if most <= 0.05 else ".0%", "tickCount": 6}
    scale = {"domain": ["changed", "by chance"], "range": [COLOURS[1], "#bbbbbb"]}
    colour = {"field": "said", "scale": scale, "legend": None}
    beside = {"type": "text", "align": "left", "dx": 4, "fontSize": 11}
    layers = [
        {"mark": {"type": "bar", "height": 14}, "encoding": {"x": x, "y": y, "color": colour}},
        {"mark": beside, "encoding": {"x": x, "y": y, "text": {"field": "said"}}},
    ]
    title = page("What changed", f"{len(found.changed)} of {len(found.columns)} columns beyond chance")
    return {**title, "width": WIDTH - 80, "height": {"step": 20}, "data": {"values": rows}, "layer": layers}


def confusion(table: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows by true and predicted class: the number in each cell, and its share of the true class as shade."""
    rows = []
    for line in table:
        counts = {str(name): float(n) for name, n in line.items() if name != TRUE}
        total = sum(counts.values()) or 1.0
        rows += [
            {"true": str(line[TRUE]), "said": c, "share": n / total, "n": f"{n:,.0f}", "dark": n / total > 0.7}
            for c, n in counts.items()
        ]
    x = {
        "field": "said",
        "type": "nominal",
        "sort": None,
        "axis": {"title": "predicted", "orient": "top", "labelAngle": 0, "labelLimit": STEP - 6},
    }
    y = {"field": "true", "type": "nominal", "sort": None, "axis": {"title": "true"}}
    shade = {"field": "share", "type": "quantitative", "scale": {"scheme": "blues", "domain": [0, 1]}, "legend": None}
    ink = {"condition": {"test": "datum.dark", "value": "white"}, "value": "black"}
    layers = [
        {"mark": {"type": "rect", "stroke": "white"}, "encoding": {"x": x, "y": y, "color": shade}},
        {"mark": {"type": "text", "fontSize": 13}, "encoding": {"x": x, "y": y, "text": {"field": "n"}, "color": ink}},
    ]
    size = {"width": {"step": STEP}, "height": {"step": 44}}
    title = page("Which class is taken for which", "rows; the darker, the more of the true class")
    return {**title, **size, "data": {"values": rows}, "layer": layers}
