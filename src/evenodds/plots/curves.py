"""How well scores rank: the ROC and the precision-recall curve, with the threshold that is used."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.audit.ranked import Scores
from evenodds.families.leaves import Floats
from evenodds.plots.style import COLOURS, GREY, page

POINTS = 200  # of a curve
SIDE = 320


def roc(scores: Scores, name: str, threshold: float = 0.5) -> dict[str, Any]:
    """Found of the class against false alarms among the rest, for every threshold; a mark at the one that is used."""
    own, rest = scores.own.sum() or 1.0, scores.rest.sum() or 1.0
    found, false = _swept(scores)
    x, y = np.append(0.0, false) / rest, np.append(0.0, found) / own
    hits, alarms = scores.above(threshold)
    chance = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    title = page(f"ROC of {name}", f"◆ threshold {threshold:g}; dashed: chance")
    return _drawn(title, x, y, (alarms / rest, hits / own), ("false alarms (FPR)", "found (TPR)"), chance)


def precision_recall(scores: Scores, name: str, threshold: float = 0.5) -> dict[str, Any]:
    """The share that is right of what is said, against what is found; a mark at the threshold, if a row reaches it."""
    own = scores.own.sum() or 1.0
    found, false = _swept(scores)
    some = found + false > 0
    x, y = found[some] / own, found[some] / (found + false)[some]
    hits, alarms = scores.above(threshold)
    mark = (hits / own, hits / (hits + alarms)) if hits + alarms else None
    base = float(scores.own.sum() / max((scores.own + scores.rest).sum(), 1e-300))
    used = f"◆ threshold {threshold:g}" if mark else f"no row reaches the threshold {threshold:g}"
    title = page(f"Precision and recall of {name}", f"{used}; dashed: chance")
    chance = [{"x": 0, "y": base}, {"x": 1, "y": base}]
    return _drawn(title, x, y, mark, ("found (recall)", "right of what is said (precision)"), chance)


def _swept(scores: Scores) -> tuple[Floats, Floats]:
    """Rows of the class and others at or above each score, highest first."""
    return np.cumsum(scores.own[::-1]), np.cumsum(scores.rest[::-1])


def _drawn(
    title: dict[str, Any], x: Floats, y: Floats, mark: tuple[float, float] | None, axes: tuple[str, str], chance: Any
) -> dict[str, Any]:
    some = (
        np.unique(np.linspace(0, max(len(x) - 1, 0), min(POINTS, len(x))).astype(int)) if len(x) else np.array([], int)
    )
    points = [{"x": float(x[i]), "y": float(y[i]), "order": int(i)} for i in some]
    unit = {"type": "quantitative", "scale": {"domain": [0, 1]}}
    sides = {
        "x": {**unit, "field": "x", "axis": {"title": axes[0], "format": ".1f", "tickCount": 5}},
        "y": {**unit, "field": "y", "axis": {"title": axes[1], "format": ".1f", "tickCount": 5}},
    }
    line = {"type": "line", "strokeWidth": 2, "color": COLOURS[0], "interpolate": "linear"}
    here = {"type": "point", "shape": "diamond", "filled": True, "size": 140, "color": COLOURS[1], "opacity": 1}
    dashed = {"type": "line", "color": GREY, "strokeDash": [4, 4], "strokeWidth": 1}
    layers = [
        {"data": {"values": chance}, "mark": dashed, "encoding": sides},
        {"data": {"values": points}, "mark": line, "encoding": {**sides, "order": {"field": "order"}}},
        {"data": {"values": [dict(zip("xy", map(float, mark)))] if mark else []}, "mark": here, "encoding": sides},
    ]
    return {**title, "width": SIDE, "height": SIDE, "layer": layers}
