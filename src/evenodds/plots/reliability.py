"""What was said and how often it was so, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenodds.audit.reliability import Reliability
from evenodds.plots.style import GREY, page, told


def reliability(of: Mapping[str, Reliability]) -> dict[str, Any]:
    """The share that was seen against the probability that was said, with intervals; on the diagonal, if honest.

    Several, of a model before and after it was tempered or of groups, have colours and shapes of their own.
    """
    names = list(of)
    rows = [{"model": name, **line} for name, each in of.items() for line in each.numbers]
    unit = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    x = {**unit, "field": "said", "axis": {"title": "probability said", "format": ".1f", "tickCount": 5}}
    legend = {"title": None, "orient": "bottom", "columns": 2} if len(names) > 1 else None
    by = told("model", names, ("color", "shape"), legend)
    first = next(iter(of.values()))
    honest = {
        "data": {"values": [{"said": 0, "seen": 0}, {"said": 1, "seen": 1}]},
        "mark": {"type": "line", "color": GREY, "strokeDash": [4, 4], "strokeWidth": 1},
        "encoding": {"x": x, "y": {**unit, "field": "seen"}},
    }
    intervals = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {
            "x": x,
            "y": {**unit, "field": "low", "axis": {"title": "share seen, with its 95 % interval", "format": ".1f"}},
            "y2": {"field": "high"},
            "color": by["color"],
        },
    }
    points = {
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {
            "x": x,
            "y": {**unit, "field": "seen"},
            **by,
            "tooltip": [{"field": name} for name in ("model", "said", "seen", "low", "high", "rows")],
        },
    }
    sizes = [f"{each.rows:,.0f} rows" for each in of.values()]
    many = f"{sum(each.rows for each in of.values()):,.0f} rows" if len(set(sizes)) > 1 else sizes[0]
    many += " each" if len(sizes) > 1 and len(set(sizes)) == 1 else ""
    whole = page(f"How honest is p({first.name})?", f"{many}; honest probabilities lie on the diagonal")
    return {**whole, "width": 360, "height": 360, "data": {"values": rows}, "layer": [honest, intervals, points]}
