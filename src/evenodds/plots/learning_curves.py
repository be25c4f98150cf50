"""How good models get with more rows, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenodds.audit.compare import MEASURES, SURE, Comparison
from evenodds.plots.style import GREY, HEIGHT, WIDTH, page, told

APART = 0.075  # of the height, between labels


def learning_curves(comparison: Comparison, best: Mapping[str, float] | None = None) -> dict[str, Any]:
    """Accuracy and log loss against rows learnt: a line for each model, and a band of one standard error.

    `best` draws a line at what no model can beat, where that is known: {"accuracy": 0.84}. Where one model overtakes
    another for sure, a mark says so.
    """
    rows = comparison.rows()
    panels = [_panel(comparison, [row for row in rows if row["measure"] == m], m, best or {}) for m in MEASURES]
    whole = page("Learning curves", f"on {comparison.held_out:,} rows held out; bands are one standard error")
    return {**whole, "vconcat": panels, "spacing": 12}


def _panel(
    comparison: Comparison, rows: list[dict[str, Any]], measure: str, best: Mapping[str, float]
) -> dict[str, Any]:
    known = [row for row in rows if row["mean"] is not None]
    by = told("model", list(comparison.models))
    ends, low, high = _labels(known, comparison.sizes[-1], best.get(measure))
    x = {
        "field": "rows",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [comparison.sizes[0], comparison.sizes[-1]], "nice": False},
        "axis": {"title": "rows learnt" if measure == MEASURES[-1] else None, "values": list(comparison.sizes),
                 "format": ",d", "grid": False, "labelOverlap": True, "labelFlush": False},
    }  # fmt: skip
    y = {"type": "quantitative", "scale": {"zero": False, "domain": [low, high], "nice": False}}
    layers: list[dict[str, Any]] = [
        {
            "data": {"values": known},
            "transform": [
                {"calculate": "datum.mean - datum.error", "as": "below"},
                {"calculate": "datum.mean + datum.error", "as": "above"},
            ],
            "mark": {"type": "area", "opacity": 0.12, "clip": True},
            "encoding": {
                "x": x,
                "y": {**y, "field": "below", "axis": {"title": measure, "format": ".3~g", "tickCount": 5}},
                "y2": {"field": "above"},
                "color": by["color"],
            },
        },
        {
            "data": {"values": known},
            "mark": {"type": "line", "strokeWidth": 2, "clip": True, "point": {"size": 25}},
            "encoding": {
                "x": x,
                "y": {**y, "field": "mean"},
                **by,
                "tooltip": [{"field": name} for name in ("model", "rows", "mean", "low", "high")],
            },
        },
        {
            "data": {"values": ends},
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": {"x": {"value": WIDTH + 8}, "x2": {"value": WIDTH + 32}, "y": {**y, "field": "at"}, **by},
        },
        {
            "data": {"values": ends},
            "mark": {"type": "text", "align": "left", "dx": 38, "fontSize": 12},
            "encoding": {"x": {"value": WIDTH}, "y": {**y, "field": "at"}, "text": {"field": "model"}},
        },
    ]
    if measure in best:
        layers.append(
            {
                "data": {"values": [{"mean": best[measure]}]},
                "mark": {"type": "rule", "strokeDash": [3, 3], "color": GREY},
                "encoding": {"y": {**y, "field": "mean"}},
            }
        )
        layers.append(
            {
                "data": {"values": [{"mean": best[measure], "said": "the best there is"}]},
                "mark": {"type": "text", "align": "left", "dx": 3, "dy": -6, "color": GREY, "fontSize": 11},
                "encoding": {"x": {"value": 0}, "y": {**y, "field": "mean"}, "text": {"field": "said"}},
            }
        )
    layers += _crossovers(comparison, measure, x)
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}


def _crossovers(comparison: Comparison, measure: str, x: dict[str, Any]) -> list[dict[str, Any]]:
    """Marks where a model overtakes another, if that is sure."""
    sure = [c for c in comparison.crossovers if c.measure == measure and c.sure >= SURE]
    if not sure:
        return []
    marks = [{"rows": c.size, "said": f"{c.after} overtakes {c.before}", "why": f"{c}"} for c in sure]
    values = {"values": marks}
    rule = {"type": "rule", "color": GREY, "strokeWidth": 1}
    rises = measure == "accuracy"  # so there is room below; a loss falls, and there is room above
    where = "bottom" if rises else "top"
    text = {"type": "text", "color": GREY, "align": "left", "baseline": where, "dx": 4, "fontSize": 11}
    at = {"value": HEIGHT - 3 if rises else 3}
    return [
        {"data": values, "mark": rule, "encoding": {"x": x, "tooltip": {"field": "why"}}},
        {"data": {"values": marks[:1]}, "mark": text, "encoding": {"x": x, "y": at, "text": {"field": "said"}}},
    ]


def _labels(rows: list[dict[str, Any]], last: int, best: float | None) -> tuple[list[dict[str, Any]], float, float]:
    """The models' names at the ends of their lines, pushed apart where they would overlap; and the ends of the axis."""
    means = [row["mean"] for row in rows] + ([] if best is None else [best])
    low, high = (min(means), max(means)) if means else (0.0, 1.0)
    room = (high - low or 0.1) * 0.08
    low, high = low - room, high + room
    ends = sorted(({"model": r["model"], "at": r["mean"]} for r in rows if r["rows"] == last), key=lambda r: r["at"])
    least = (high - low) * APART
    for i, end in enumerate(ends):
        floor = low + least / 2 if i == 0 else ends[i - 1]["at"] + least
        end["at"] = max(end["at"], floor)
    over = ends[-1]["at"] - (high - least / 2) if ends else 0.0
    return [{**end, "at": end["at"] - max(over, 0.0)} for end in ends], low, high
