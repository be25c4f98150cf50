"""The weights that correct naive Bayes, as a person reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.families import WordCounts
from evenodds.models.bridge.bridge import Bridge
from evenodds.models.bridge.features import Numbers, Values
from evenodds.show import Frame, apart

SHOWN = 50


def corrections(bridge: Bridge) -> Frame:
    """The strongest weights, each class's share of them in a column of its own."""
    found: list[dict[str, Any]] = []
    strong = np.abs(bridge.weights[1:]).max(axis=1)
    kept = np.argsort(-strong, kind="stable")[:SHOWN]
    for at in kept[strong[kept] > 0]:
        part = next(p for p in bridge.features.parts if at < bridge.features.slices[p.name].stop)
        place = int(at) - bridge.features.slices[part.name].start
        if isinstance(part, Numbers):
            value = part.names()[place]
        elif isinstance(part, Values):
            value = part.labels.text(place)
        else:
            value = WordCounts.counts(bridge.model.column_tally(part.name)).text(int(part.keys[place]))
        weights = dict(zip(bridge.names, bridge.weights[1 + at]))
        told = {"column": part.name, "value": value}
        found.append({**told, **apart(weights, told)})
    return Frame(found, f"corrections of {bridge.scale:.2g} of naive Bayes")
