"""What policies lose over time, drawn."""

from __future__ import annotations

from typing import Any

from evenodds.bandits.simulation import Simulation
from evenodds.errors import many
from evenodds.plots.style import BESIDE, HEIGHT, WIDTH, page, told


def regret(played: Simulation) -> dict[str, Any]:
    """Regret against rounds: a line for each policy, and a band that holds 90 % of the runs.

    Rounds are on a log scale, where what grows like log T is a straight line.
    """
    rows = played.curves().to_dicts()
    by = told("policy", played.names, legend=BESIDE)
    x = {
        "field": "round",
        "type": "quantitative",
        "scale": {"type": "log", "domain": [1, max(played.rounds, 2)], "nice": False},
        "axis": {"title": "round", "format": "~s", "grid": False},
    }
    y = {"type": "quantitative", "axis": {"title": "regret", "format": "~s", "tickCount": 6}}
    band = {
        "mark": {"type": "area", "opacity": 0.12, "clip": True},
        "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}, "color": by["color"]},
    }
    line = {
        "mark": {"type": "line", "strokeWidth": 2, "clip": True},
        "encoding": {
            "x": x,
            "y": {**y, "field": "mean"},
            **by,
            "tooltip": [{"field": name} for name in ("policy", "round", "mean", "error", "low", "high")],
        },
    }
    whole = page("Regret", f"mean of {many(played.runs, 'run')}; 90 % of them are in the bands")
    return {**whole, "width": WIDTH, "height": int(HEIGHT * 1.4), "data": {"values": rows}, "layer": [band, line]}
