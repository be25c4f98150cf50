"""What all pictures share: colours that the colour-blind can tell apart, type that can be read at 600 pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
# Okabe and Ito (2008), without the yellow, which is too light for a line on white
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [8, 3, 2, 3, 2, 3], [1, 4]]  # so colour is never all there is
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right"]
WIDTH, HEIGHT = 380, 200
BESIDE = {"title": None, "orient": "right", "labelLimit": 260, "symbolType": "stroke", "symbolOpacity": 1,
          "symbolSize": 600, "symbolStrokeWidth": 2}  # fmt: skip  # of lines, whose dashes are to be seen
GREY = "#666666"


def told(
    field: str, names: Sequence[str], channels: Sequence[str] = ("color", "strokeDash"), legend: Any = None
) -> dict[str, Any]:
    """How series are told apart: each by a colour, and by a dash or a shape of its own; 49 lines before two are alike.

    >>> told("model", ["a", "b"])["strokeDash"]["scale"]
    {'domain': ['a', 'b'], 'range': [[1, 0], [6, 3]]}
    """
    places = range(len(names))
    ranges: dict[str, list[Any]] = {"color": [COLOURS[i % 7] for i in places]}
    for one, ways in (("strokeDash", DASHES), ("shape", SHAPES)):
        ranges[one] = [ways[(i + i // 7) % 7] for i in places]
    return {
        one: {
            "field": field,
            "type": "nominal",
            "scale": {"domain": list(names), "range": ranges[one]},
            "legend": legend,
        }
        for one in channels
    }


def page(title: str, subtitle: str | list[str] = "") -> dict[str, Any]:
    """The frame of a picture; a subtitle may have several lines."""
    return {
        "$schema": SCHEMA,
        "title": {"text": title, "subtitle": subtitle, "anchor": "start", "fontSize": 15, "subtitleColor": GREY},
        "config": {
            "font": "DejaVu Sans, Verdana, sans-serif",
            "axis": {
                "labelFontSize": 12,
                "labelFlush": False,
                "titleFontSize": 12,
                "titleFontWeight": "normal",
                "gridColor": "#e8e8e8",
            },
            "legend": {"labelFontSize": 12},
            "header": {"labelFontSize": 12},
            "view": {"stroke": None},
            "background": "white",
        },
    }
