"""The graph as a picture: SVG, in layers from causes to effects; nodes that repeat are drawn once, on a plate.

Nodes repeat when their names differ only in a number at the end and they have the same parents and children (or, of
parents and children, the ones with their own number).

>>> picture(Structure.of("rain -> wet")).startswith('<svg xmlns="http://www.w3.org/2000/svg"')
True
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass

from evenodds.models.bayes_net.structure import Structure
from evenodds.show import escaped

ACROSS, DOWN, HIGH, LETTER, EDGE = 24, 56, 32, 7.4, 20  # distances in pixels


@dataclass(frozen=True)
class Drawn:
    """What is drawn: nodes, the edges between them, and the plates some of them are on."""

    nodes: tuple[str, ...]
    edges: tuple[tuple[str, str], ...]
    plates: Mapping[str, tuple[str, ...]]  # what a plate says, and the nodes on it


def picture(structure: Structure) -> str:
    """An SVG picture of the graph."""
    drawn = plated(structure)
    layers = _layers(drawn)
    widths = {node: max(2 * EDGE, LETTER * len(node) + 2 * EDGE) for node in drawn.nodes}
    total = max(sum(widths[node] + ACROSS for node in layer) for layer in layers) + 2 * EDGE
    at: dict[str, tuple[float, float]] = {}
    for i, layer in enumerate(layers):
        x = (total - sum(widths[node] + ACROSS for node in layer) + ACROSS) / 2
        for node in layer:
            at[node] = (x + widths[node] / 2, EDGE + HIGH / 2 + i * (HIGH + DOWN))
            x += widths[node] + ACROSS
    height: float = len(layers) * (HIGH + DOWN) - DOWN + 2 * EDGE
    parts = []
    for label, members in drawn.plates.items():
        left = min(at[node][0] - widths[node] / 2 for node in members) - 10
        right = max(at[node][0] + widths[node] / 2 for node in members) + 10
        top, low = (
            min(at[node][1] for node in members) - HIGH / 2 - 8,
            max(at[node][1] for node in members) + HIGH / 2 + 18,
        )
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{low - top:.1f}" rx="6" '
            'fill="none" stroke="#888"/>'
            f'<text x="{right - 6:.1f}" y="{low - 5:.1f}" text-anchor="end" font-size="10" fill="#555">'
            f"{html.escape(escaped(label))}</text>"
        )
        height = max(height, low + EDGE)
    for parent, child in drawn.edges:
        parts.append(_arrow(at[parent], at[child], widths[parent], widths[child]))
    for node, (x, y) in at.items():
        parts.append(
            f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{widths[node] / 2:.1f}" ry="{HIGH / 2}" '
            'fill="#fff" stroke="#333"/>'
            f'<text x="{x:.1f}" y="{y + 4:.1f}" text-anchor="middle">{html.escape(escaped(node))}</text>'
        )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {total:.0f} {height:.0f}" font-family="sans-serif" font-size="13">'
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L10 5L0 10z" fill="#333"/></marker></defs><rect width="100%" height="100%" fill="white"/>'
    )
    return "\n".join([head, *parts, "</svg>"]) + "\n"


def plated(structure: Structure) -> Drawn:
    """The graph with repeated nodes as one.

    >>> plated(Structure.of("class -> word1, word2, word3")).plates
    {'1 … 3': ('word',)}
    """
    stems: dict[str, list[str]] = {}
    for node in structure.nodes:
        found = re.fullmatch(r"(.*\D)(\d+)", node)
        if found:
            stems.setdefault(found[1], []).append(node)
    alike: dict[str, list[str]] = {}
    for stem, nodes in stems.items():
        numbers = [_number(node) for node in nodes]
        seen = {
            (_without(structure.parents[node], n), _without(structure.children[node], n))
            for node, n in zip(nodes, numbers)
        }
        if len(nodes) > 1 and len(seen) == 1:
            alike[stem] = nodes
    # nodes that refer to each other by their number share a plate, so they must repeat alike
    short = {node: stem.rstrip("_ ") for stem, nodes in alike.items() for node in nodes}
    taken = set(structure.nodes) - set(short)
    short = {node: name for node, name in short.items() if name and name not in taken}
    every = tuple(dict.fromkeys(short.get(node, node) for node in structure.nodes))
    edges = tuple(dict.fromkeys((short.get(a, a), short.get(b, b)) for a, b in structure.edges))
    plates: dict[str, list[str]] = {}
    for members in alike.values():
        if members[0] in short:
            ends = sorted(int(_number(node)) for node in members)
            plates.setdefault(f"{ends[0]} … {ends[-1]}", []).append(short[members[0]])
    return Drawn(every, edges, {label: tuple(members) for label, members in plates.items()})


def _number(node: str) -> str:
    found = re.search(r"\d+$", node)
    return found[0] if found else ""


def _without(nodes: tuple[str, ...], number: str) -> tuple[str, ...]:
    """Names with a node's own number taken off, where they have it."""
    return tuple(sorted(node[: -len(number)] + "#" if _number(node) == number else node for node in nodes))


def _layers(drawn: Drawn) -> list[list[str]]:
    """Nodes below all their parents; within a layer near the middle of what they are connected with."""
    parents: dict[str, list[str]] = {node: [] for node in drawn.nodes}
    for parent, child in drawn.edges:
        parents[child].append(parent)
    depth: dict[str, int] = {}
    for node in Structure({node: tuple(above) for node, above in parents.items()}).order:
        depth[node] = 1 + max((depth[parent] for parent in parents[node]), default=-1)
    layers: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for node in drawn.nodes:
        layers[depth[node]].append(node)
    for _ in range(4):
        place = {node: i / len(layer) for layer in layers for i, node in enumerate(layer)}
        near: dict[str, list[float]] = {node: [] for node in drawn.nodes}
        for parent, child in drawn.edges:
            near[parent].append(place[child])
            near[child].append(place[parent])
        for layer in layers:
            layer.sort(key=lambda node: sum(near[node]) / len(near[node]) if near[node] else place[node])
    return layers


def _arrow(start: tuple[float, float], end: tuple[float, float], wide: float, width: float) -> str:
    """A line from the rim of one ellipse to the rim of the other."""
    (x1, y1), (x2, y2) = start, end
    dx, dy = x2 - x1, y2 - y1

    def rim(w: float) -> float:
        return 1 / max(((dx / (w / 2)) ** 2 + (dy / (HIGH / 2)) ** 2) ** 0.5, 1e-9)

    a, b = rim(wide), 1 - rim(width)
    return (
        f'<line x1="{x1 + a * dx:.1f}" y1="{y1 + a * dy:.1f}" x2="{x1 + b * dx:.1f}" y2="{y1 + b * dy:.1f}" '
        'stroke="#333" marker-end="url(#tip)"/>'
    )
