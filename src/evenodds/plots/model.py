"""A model drawn as a nomogram, to be used with a ruler."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.models.learnt import Tables
from evenodds.models.naive_bayes import Model
from evenodds.plots.style import COLOURS, GREY, WIDTH, page

MOST = 12  # values of a column that fit
LETTERS, LETTER = 14, 6.5  # of a label at most, and the pixels of one
ROOM = 28  # pixels at the ends of a scale


def points(model: Model) -> list[dict[str, Any]]:
    """What each value adds to the log-odds of the second of two classes: log p(v | second) - log p(v | first)."""
    if len(model.classes) != 2:
        raise DataError(f"a nomogram is of two classes, the model has {len(model.classes)}")
    tables, target, found = Tables(model), model.schema.target, list[dict[str, Any]]()
    for name, column in model.schema.features.items():
        if column.words is not None:
            continue
        by_value: dict[str, dict[Any, float]] = {}
        for row in tables[name]:
            if "p" in row:
                by_value.setdefault(str(row[name]), {})[row[target]] = row["p"]
        for value, p in list(by_value.items())[:MOST]:
            if len(p) == 2 and all(share > 0 for share in p.values()):
                first, second = (p[c] for c in model.classes.tolist())
                odds = model.exponent(name) * float(np.log(second) - np.log(first))
                found.append({"column": name, "value": value, "log-odds": odds})
                if column.family is not None and column.family.name == "bernoulli":
                    none = model.exponent(name) * float(np.log1p(-second) - np.log1p(-first))
                    found.append({"column": name, "value": "0", "log-odds": none})
    return found


def labelled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The values with a label where there is room for it, above the line or below: the ends first, then from the left.

    >>> many = [{"column": "class", "value": v, "log-odds": x} for v, x in (("3rd", -0.5), ("crew", -0.49), ("1st", 1))]
    >>> [(row["above"], row["below"]) for row in labelled(many)]
    [('3rd', ''), ('1st', ''), ('', 'crew')]
    """
    odds = [row["log-odds"] for row in rows]
    unit = (max(odds) - min(odds) or 1.0) / (WIDTH - 2 * ROOM) if odds else 1.0
    found = []
    for name in dict.fromkeys(row["column"] for row in rows):
        mine = sorted((row for row in rows if row["column"] == name), key=lambda row: row["log-odds"])
        taken: dict[str, list[tuple[float, float]]] = {"above": [], "below": []}
        for row in dict.fromkeys([0, len(mine) - 1, *range(len(mine))]):
            text = str(mine[row]["value"])
            text = text if len(text) <= LETTERS else text[: LETTERS - 1] + "…"
            half = (len(text) * LETTER / 2 + 2) * unit
            low, high = mine[row]["log-odds"] - half, mine[row]["log-odds"] + half
            free = [side for side, spans in taken.items() if all(high < a or b < low for a, b in spans)][:1]
            for side in free:
                taken[side].append((low, high))
            found.append({**mine[row], "above": "", "below": "", **dict.fromkeys(free, text)})
    return found


def nomogram(model: Model) -> dict[str, Any]:
    """A scale for each column: read off the log-odds of each value, add them to the prior, and read off p below."""
    rows = labelled(points(model))
    second = model.classes.tolist()[1]
    prior = float(model.log_start[1] - model.log_start[0])
    axis = {"title": None, "labelLimit": 140}
    y = {"field": "column", "type": "nominal", "sort": None, "scale": {"padding": 0.7}, "axis": axis}
    x = {"field": "log-odds", "type": "quantitative", "scale": {"padding": ROOM}}
    upper = {**x, "axis": {"title": f"log-odds for {second}", "orient": "top", "tickCount": 7}}
    most = {"aggregate": "max", "field": "log-odds"}
    layers = [
        {"mark": {"type": "rule", "color": GREY}, "encoding": {"y": y, "x": {**upper, "aggregate": "min"}, "x2": most}},
        {"mark": {"type": "tick", "color": COLOURS[0], "thickness": 2, "height": 12}, "encoding": {"y": y, "x": upper}},
        *(
            {"mark": {"type": "text", "dy": off, "fontSize": 11}, "encoding": {"y": y, "x": upper, "text": text}}
            for off, text in ((-13, {"field": "above"}), (14, {"field": "below"}))
        ),
    ]
    scale = [
        {"value": f"{p:g}", "log-odds": float(np.log(p / (1 - p)))}
        for p in (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
    ]
    lower = {**x, "axis": {"title": "sum, with the prior", "orient": "bottom"}}
    ticks = {"type": "tick", "color": COLOURS[0], "thickness": 2, "height": 12, "yOffset": 12}
    texts = {"type": "text", "dy": -4, "fontSize": 11}
    heading = {"text": f"p({second})", "anchor": "start", "fontSize": 12, "fontWeight": "normal"}
    total = {
        "title": heading,
        "data": {"values": scale},
        "width": WIDTH,
        "height": 36,
        "layer": [
            {"mark": ticks, "encoding": {"x": lower}},
            {"mark": texts, "encoding": {"x": lower, "text": {"field": "value"}}},
        ],
    }
    scales = {"data": {"values": rows}, "width": WIDTH, "height": {"step": 46}, "layer": layers}
    return {
        **page(f"Nomogram of {second}", f"start at the prior, {prior:+.2f}; add each column; read off p below"),
        "vconcat": [scales, total],
        "resolve": {"scale": {"x": "independent"}},
    }
