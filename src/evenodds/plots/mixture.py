"""A mixture's components over its rows, and BIC and ICL against their number, drawn."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.families import Categorical, Gaussian
from evenodds.models.mixture.blocks import Block
from evenodds.models.mixture.model import MixtureModel
from evenodds.plots.style import COLOURS, GREY, HEIGHT, WIDTH, page, told

POINTS = 2000  # rows that are drawn, at most
BARS, STEPS, ROUND = 40, 300, 60  # of a histogram, of a curve, of an ellipse


def mixture(model: MixtureModel, rows: Block) -> dict[str, Any]:
    """The components as curves over a histogram (one Gaussian column), as ellipses among the rows (more), or as dots.

    An ellipse holds one or two standard deviations. Where several numbers of components were tried, BIC and ICL too.
    """
    if model.settings.family is not Gaussian:
        first = _dots(model)
    else:
        first = _curves(model, rows) if len(model.names) == 1 else _ellipses(model, rows)
    kind = model.settings.family.__name__
    whole = page(f"A mixture of {model.k}", f"{kind} components of {', '.join(model.names)}; {model.rows:,.10g} rows")
    panels = [first, _chosen(model)] if len(model.tried) > 1 else [first]
    apart = {kind: dict.fromkeys(("color", "shape", "strokeDash"), "independent") for kind in ("scale", "legend")}
    return {**whole, "vconcat": panels, "spacing": 16, "resolve": apart}


def _told(model: MixtureModel, channel: str) -> dict[str, Any]:
    """Components by colour and, without it, by dashes or by shape."""
    return told("component", [str(g + 1) for g in range(model.k)], ("color", channel), {"title": "component"})


def _axis(field: str, title: str | None, zero: bool = False) -> dict[str, Any]:
    return {
        "field": field,
        "type": "quantitative",
        "scale": {"zero": zero, "nice": False},
        "axis": {"title": title, "grid": False, "tickCount": 6},
    }


def _curves(model: MixtureModel, rows: Block) -> dict[str, Any]:
    name = model.names[0]
    column: Any = model.column(name)
    x, w = rows.columns[0], rows.weights
    counts, edges = np.histogram(x, BARS, weights=w)
    bars = [
        {"low": float(a), "high": float(b), "density": float(n / w.sum() / (b - a))}
        for n, a, b in zip(counts, edges[:-1], edges[1:])
    ]
    grid = np.linspace(edges[0], edges[-1], STEPS)
    each = np.exp(column.log_prob(grid)) * model.weights
    lines = [
        {"x": float(at), "density": float(p), "component": str(g + 1)}
        for g in range(model.k)
        for at, p in zip(grid, each[:, g])
    ]
    total = [{"x": float(at), "density": float(p)} for at, p in zip(grid, each.sum(axis=1))]
    y = _axis("density", "density", zero=True)
    layers = [
        {
            "data": {"values": bars},
            "mark": {"type": "bar", "color": "#dddddd", "binSpacing": 0},
            "encoding": {"x": {**_axis("low", name), "bin": "binned"}, "x2": {"field": "high"}, "y": y},
        },
        {
            "data": {"values": total},
            "mark": {"type": "line", "color": GREY, "strokeWidth": 1.5},
            "encoding": {"x": _axis("x", name), "y": y},
        },
        {
            "data": {"values": lines},
            "mark": {"type": "line", "strokeWidth": 2},
            "encoding": {"x": _axis("x", name), "y": y, **_told(model, "strokeDash")},
        },
    ]
    return {"width": WIDTH, "height": HEIGHT, "layer": layers}


def _ellipses(model: MixtureModel, rows: Block) -> dict[str, Any]:
    """The first two columns: rows in the colour of their component, and each component's ellipses."""
    a, b = model.names[:2]
    best = model.components.log_joint(rows).argmax(axis=0)
    step = max(1, -(-rows.rows // POINTS))
    points = [
        {"a": float(x), "b": float(y), "component": str(g + 1)}
        for x, y, g in zip(rows.columns[0][::step], rows.columns[1][::step], best[::step])
        if x == x and y == y
    ]
    angle = np.linspace(0, 2 * np.pi, ROUND + 1)
    circle = np.array([np.cos(angle), np.sin(angle)])
    lines = []
    for g in range(model.k):
        root = np.linalg.cholesky(model.covariances[g][:2, :2])
        centre = np.array([np.asarray(model.column(name).mean)[g] for name in (a, b)])
        for wide in (1, 2):
            ring = (centre[:, None] + wide * root @ circle).T
            lines += [
                {"a": float(x), "b": float(y), "i": i, "ring": f"{g}.{wide}", "component": str(g + 1)}
                for i, (x, y) in enumerate(ring)
            ]
    by = _told(model, "shape")
    encoding = {"x": _axis("a", a), "y": _axis("b", b), "color": by["color"]}
    return {
        "width": WIDTH,
        "height": WIDTH * 3 // 4,
        "layer": [
            {
                "data": {"values": points},
                "mark": {"type": "point", "size": 20, "opacity": 0.5},
                "encoding": {**encoding, "shape": by["shape"]},
            },
            {
                "data": {"values": lines},
                "mark": {"type": "line", "strokeWidth": 1.5},
                "encoding": {**encoding, "detail": {"field": "ring"}, "order": {"field": "i"}},
            },
        ],
    }


def _dots(model: MixtureModel) -> dict[str, Any]:
    """Each column's mean, or the share of each of its values, in every component."""
    dots = []
    for name in model.names:
        column: Any = model.column(name)
        shown = (
            {f"{name} = {text}": shares for text, shares in sorted(zip(column.labels.texts(), column.shares))}
            if isinstance(column, Categorical)
            else {name: np.asarray(column.mean)}
        )
        dots += [
            {"what": what, "mean": float(x), "component": str(g + 1)}
            for what, xs in shown.items()
            for g, x in enumerate(xs)
        ]
    return {
        "width": WIDTH,
        "data": {"values": dots},
        "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
        "encoding": {
            "x": _axis("mean", "share" if model.settings.family is Categorical else "mean", zero=True),
            "y": {"field": "what", "type": "nominal", "sort": None, "axis": {"title": None, "grid": True}},
            **_told(model, "shape"),
        },
    }


def _chosen(model: MixtureModel) -> dict[str, Any]:
    """BIC and ICL of every number of components that was tried."""
    values = [
        {"k": one.k, "less is better": value, "criterion": name}
        for one in model.tried
        for name, value in (("BIC", one.bic), ("ICL", one.icl))
        if value is not None
    ]
    encoding = {
        "x": {
            "field": "k",
            "type": "quantitative",
            "axis": {"title": "components", "values": [one.k for one in model.tried], "format": "d", "grid": False},
        },
        "y": _axis("less is better", "less is better"),
        "strokeDash": {"field": "criterion", "type": "nominal", "legend": {"title": None, "symbolType": "stroke"}},
    }
    return {
        "width": WIDTH,
        "height": HEIGHT * 2 // 3,
        "data": {"values": values},
        "layer": [
            {
                "mark": {"type": "line", "color": COLOURS[0], "point": {"size": 30, "color": COLOURS[0]}},
                "encoding": encoding,
            },
            {
                "data": {"values": [{"k": model.k}]},
                "mark": {"type": "rule", "color": GREY, "strokeDash": [3, 3]},
                "encoding": {"x": encoding["x"]},
            },
        ],
    }
