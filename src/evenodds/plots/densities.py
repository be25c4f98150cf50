"""Densities of one variable, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenodds.families.density.density import Density
from evenodds.plots.style import BESIDE, HEIGHT, WIDTH, page, told

PLACES = 601


def densities(of: Mapping[str, Density], name: str = "x", said: str = "") -> dict[str, Any]:
    """Lines over one axis, from the lowest value of any to the highest: a name for each density; `said` of all."""
    ends = [density.extent() for density in of.values()]
    at = np.linspace(min(low for low, _ in ends), max(high for _, high in ends), PLACES)
    rows = [
        {"which": which, "x": float(x), "density": float(y)}
        for which, density in of.items()
        for x, y in zip(at, density.pdf(at), strict=True)
    ]
    return {
        **page(f"Density of {name}", said),
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": rows},
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {
            "x": {
                "field": "x",
                "type": "quantitative",
                "axis": {"title": name, "grid": False},
                "scale": {"zero": False},
            },
            "y": {"field": "density", "type": "quantitative", "axis": {"title": "density", "tickCount": 5}},
            **told("which", list(of), legend=BESIDE if len(of) > 1 else None),
            "tooltip": [{"field": field} for field in ("which", "x", "density")],
        },
    }
