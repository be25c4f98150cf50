"""A model drawn as a nomogram, to be used with a ruler."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.families import Bernoulli
from evenodds.models.learnt import Tables
from evenodds.models.naive_bayes import Model
from evenodds.plots.style import COLOURS, GREY, WIDTH, page
from evenodds.show import free

MOST = 12  # values of a column that fit
LETTERS, LETTER = 14, 7.5  # of a label at most, and the pixels of one
ROOM = LETTERS * LETTER / 2  # pixels at the ends of a scale: half of the longest label


def scales(model: Model) -> dict[str, list[dict[str, Any]]]:
    """What each value of each column adds to the log-odds of the second of two classes.

    That is log p(v | second) - log p(v | first). Of many values the most frequent have a place; a column that is no
    table, such as a text or a Gaussian, has none.
    """
    if len(model.classes) != 2:
        raise DataError(f"a nomogram is of two classes, the model has {len(model.classes)}")
    tables = Tables(model)
    return {name: _scale(model, name, tables) for name in model.schema.features}


def _scale(model: Model, name: str, tables: Tables) -> list[dict[str, Any]]:
    column, by_value = model.schema.features[name], dict[str, dict[Any, float]]()
    target = model.schema.target
    share = free("p", (target, name))
    for row in tables[name] if column.words is None else ():
        if share in row:
            by_value.setdefault(str(row[name]), {})[row[target]] = row[share]
    often = sorted(by_value, key=lambda value: -sum(by_value[value].values()))[:MOST]
    called = name if len(often) == len(by_value) else f"{name} ({MOST} of {len(by_value):,})"
    odds: dict[str, float] = {}
    for value, p in by_value.items():
        if value in often and len(p) == 2 and all(share > 0 for share in p.values()):
            first, second = (p[c] for c in model.classes.tolist())
            odds[value] = float(np.log(second) - np.log(first))
            if column.family is Bernoulli:  # its table has the ones alone
                odds["0"] = float(np.log1p(-second) - np.log1p(-first))
    return [{"column": called, "value": value, "log-odds": model.exponent(name) * x} for value, x in odds.items()]


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
            places = [side for side, spans in taken.items() if all(high < a or b < low for a, b in spans)][:1]
            for side in places:
                taken[side].append((low, high))
            found.append({**mine[row], "above": "", "below": "", **dict.fromkeys(places, text)})
    return found


def nomogram(model: Model) -> dict[str, Any]:
    """A scale for each column: read off the log-odds of each value, add them to the prior, and read off p below."""
    known = scales(model)
    rows = labelled([row for some in known.values() for row in some])
    none = [name for name, some in known.items() if not some]
    second = model.classes.tolist()[1]
    prior = float(model.log_start[1] - model.log_start[0])
    axis = {"title": None, "labelLimit": 140}
    y = {"field": "column", "type": "nominal", "sort": None, "scale": {"padding": 0.7}, "axis": axis}
    x = {"field": "log-odds", "type": "quantitative"}
    upper = {
        **x,
        "scale": {"padding": ROOM, "nice": False},
        "axis": {"title": f"log-odds for {second}", "orient": "top", "tickCount": 7},
    }
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
    lower = {
        **x,
        "scale": {"padding": ROOM / 3, "nice": False},
        "axis": {"title": "sum, with the prior", "orient": "bottom"},
    }
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
    upper_part = {"data": {"values": rows}, "width": WIDTH, "height": {"step": 46}, "layer": layers}
    said = f"start at the prior, {prior:+.2f}; add each column; read off p below"
    return {
        **page(f"Nomogram of {second}", [said, f"not in it: {', '.join(none)}"] if none else said),
        "vconcat": [upper_part, total],
        "resolve": {"scale": {"x": "independent"}},
    }
