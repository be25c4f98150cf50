"""Groups side by side: a share with its interval, for each."""

from __future__ import annotations

from typing import Any

from evenodds.audit.audited import Audited, By
from evenodds.audit.protected import CROSS
from evenodds.plots.style import COLOURS, WIDTH, page
from evenodds.show import percent


def groups(audited: Audited, measure: str, by: By | None = None, positive: Any = None) -> dict[str, Any]:
    """A measure of every group, with its credible interval; a diamond is of few rows, pooled with the others."""
    columns, c = audited.asked(by, positive, measure)
    rows = []
    for name, r in audited.rates(columns, c)[measure].items():
        if r.rate is None:  # of nobody there is nothing to draw
            continue
        at = (r.expected, *r.interval(audited.reads.level)) if r.small else (r.rate, r.low, r.high)
        said = {"group": name, "rows": "few rows" if r.small else "enough rows"}
        rows.append(said | dict(zip(("rate", "low", "high"), at)))
    y = {"field": "group", "type": "nominal", "sort": None, "axis": {"title": None, "labelLimit": 160}}
    x = {
        "field": "rate",
        "type": "quantitative",
        "scale": {"domain": [0, 1]},
        "axis": {"title": measure, "format": ".1f", "tickCount": 5},
    }
    kinds = {"domain": ["enough rows", "few rows"], "range": ["circle", "diamond"]}
    legend = {"title": None, "orient": "bottom"} if any(row["rows"] == "few rows" for row in rows) else None
    layers = [
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": COLOURS[0]},
            "encoding": {"y": y, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 80, "color": COLOURS[0], "opacity": 1},
            "encoding": {
                "y": y,
                "x": x,
                "shape": {"field": "rows", "scale": kinds, "legend": legend},
            },
        },
    ]
    title = page(f"{measure} by {CROSS.join(columns)}", f"of {c}; lines are {percent(audited.reads.level)} intervals")
    return {**title, "width": WIDTH - 60, "height": {"step": 26}, "data": {"values": rows}, "layer": layers}
