"""What all pictures share: colours that the colour-blind can tell apart, type that can be read at 600 pixels."""

from __future__ import annotations

from typing import Any

SCHEMA = "https://vega.github.io/schema/vega-lite/v5.json"
# Okabe and Ito (2008), without the yellow, which is too light for a line on white
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000"]
DASHES = [[1, 0], [6, 3], [2, 2], [8, 3, 2, 3]]  # told apart without colours too
WIDTH, HEIGHT = 380, 200
GREY = "#666666"


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
