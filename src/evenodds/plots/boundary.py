"""Where a decision changes, over two columns of numbers: a line if the log-odds are linear, bent if quadratic."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenodds.cells import as_column, codes
from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.labels import canonical
from evenodds.models.shell import has_frame
from evenodds.plots.style import page, told
from evenodds.show import percent

GRID = 72  # cells a side
SURE = 0.75  # the probability from which on a place is not pale
SIDE = 360


def boundary(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """The regions of the classes with the line between them, rows on top; pale where it is less sure.

    `model` has predict_proba: pale is below 75 %. Or it is a linear separator: pale is what is nearer to the line than
    the nearest row, its margin. Classes are told by the line and by the rows' shapes, not by colour alone. A row whose
    class or place is missing is not drawn.
    """
    rows = np.asarray(X, float)
    if rows.ndim != 2 or rows.shape[1] != 2:
        raise DataError(f"a decision boundary is drawn over two columns, these are of the shape {rows.shape}")
    names = [str(name) for name in getattr(X, "columns", ("x0", "x1"))]
    known = np.isfinite(rows).all(axis=1)
    if not known.any():
        raise DataError("a decision boundary is drawn where rows are, and no row has a place: both columns are needed")
    low, high = rows[known].min(axis=0), rows[known].max(axis=0)
    room = np.maximum((high - low) * 0.05, 1e-9)
    edges = [np.linspace(a, b, GRID + 1) for a, b in zip(low - room, high + room)]
    middle = [(side[1:] + side[:-1]) / 2 for side in edges]
    grid = np.stack(np.meshgrid(*middle), axis=-1).reshape(-1, 2)
    named = has_frame(X) and hasattr(model, "feature_names_in_")  # which asks for the names that it learnt
    best, sure, pale = _decided(model, type(X)(dict(zip(X.columns, grid.T))) if named else grid)
    classes = [canonical(c) for c in np.asarray(model.classes_).tolist()]
    at = np.arange(len(grid))
    cells = [
        {"a": edges[0][i], "b": edges[0][i + 1], "c": edges[1][j], "d": edges[1][j + 1], "class": classes[best[k]],
         "sure": "sure" if sure[k] else "unsure"}
        for k, i, j in zip(at.tolist(), (at % GRID).tolist(), (at // GRID).tolist())
    ]  # fmt: skip
    truth = codes(as_column(y))
    texts = truth.labels.texts()
    drawn = np.flatnonzero(known & (truth.places >= 0))
    seen = [{"x": rows[i, 0], "y": rows[i, 1], "class": texts[truth.places[i]]} for i in drawn.tolist()]
    by = told("class", classes, ("color", "shape"), {"title": None, "orient": "bottom"})
    fade = {"field": "sure", "scale": {"domain": ["sure", "unsure"], "range": [0.35, 0.12]}, "legend": None}
    x = {"type": "quantitative", "scale": {"zero": False, "nice": False}}
    ends = {
        "x": {**x, "field": "a", "axis": {"title": names[0], "grid": False}},
        "x2": {"field": "b"},
        "y": {**x, "field": "c", "axis": {"title": names[1], "grid": False}},
        "y2": {"field": "d"},
    }
    dots = {"x": {**x, "field": "x"}, "y": {**x, "field": "y"}, **by}
    layers = [
        {"data": {"values": cells}, "mark": "rect", "encoding": {**ends, "color": by["color"], "opacity": fade}},
        {"data": {"values": _line(best, edges)}, "mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": ends},
        {"data": {"values": seen}, "mark": {"type": "point", "size": 40, "strokeWidth": 1.5}, "encoding": dots},
    ]
    return {**page("Where the decision changes", f"pale: {pale}"), "width": SIDE, "height": SIDE, "layer": layers}


def _decided(model: Any, grid: Any) -> tuple[NDArray[np.int64], NDArray[np.bool_], str]:
    """Which class each place is of, whether that is sure, and what is meant by that."""
    if hasattr(model, "predict_proba"):
        p = np.asarray(model.predict_proba(grid))
        return p.argmax(axis=1), p.max(axis=1) >= SURE, f"less than {percent(SURE)} sure"
    far = np.asarray(model.decision_function(grid)) / float(np.linalg.norm(model.coef_))
    if far.ndim != 1:
        raise DataError("a margin is drawn of two classes: give a model with predict_proba for more")
    margin = float(getattr(model, "euclidean_margin_", 0.0) or 0.0)
    told = f"nearer to the line than every row, {margin:.3g}" if margin > 0 else "none"
    return (far > 0).astype(np.int64), np.abs(far) >= margin, told


def _line(best: NDArray[np.int64], edges: list[Floats]) -> list[dict[str, float]]:
    """The edges between cells of different classes."""
    (x, y), square = edges, best.reshape(GRID, GRID)
    across = [(x[i + 1], x[i + 1], y[j], y[j + 1]) for j, i in np.argwhere(square[:, 1:] != square[:, :-1])]
    along = [(x[i], x[i + 1], y[j + 1], y[j + 1]) for j, i in np.argwhere(square[1:] != square[:-1])]
    return [dict(zip("abcd", map(float, one))) for one in (*across, *along)]
