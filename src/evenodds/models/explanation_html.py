"""An explanation as HTML that fetches and runs nothing: the text with its words coloured, the terms with their bars."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape as html_escape
from typing import TYPE_CHECKING

from evenodds.show import escaped_lines

if TYPE_CHECKING:
    from evenodds.models.explanation import Explanation, Passage

FOR, AGAINST = "33,102,172", "178,24,43"  # blue and red that the colour-blind can tell apart (ColorBrewer's RdBu)
FAINTEST, STRONGEST = 0.06, 0.65  # how much of the colour: black or white letters can still be read on it
BAR = "display:inline-block;height:.8em;width:"
PAGE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:50em;margin:2em auto;padding:0 1em}"
    "@media(prefers-color-scheme:dark){body{background:#111;color:#eee}}"
)


def escape(text: str) -> str:
    """A text as HTML shows it, where control characters are said."""
    return html_escape(escaped_lines(text))


def fragment(why: Explanation) -> str:
    """One explanation as a piece of a page, as notebooks show it."""
    of, against = escape(str(why.of)), escape(str(why.against))
    parts = [
        f"<p><b>p({of}) = {why.said}</b>; log-odds of "
        f'<span style="{_colour(1.0)}">{of}</span> against <span style="{_colour(-1.0)}">{against}</span></p>'
    ]
    parts += [_passage(passage) for passage in why.passages]
    lines = why.lines()
    most = max((abs(odds) for _, odds, _ in lines if math.isfinite(odds)), default=0.0) or 1.0
    rows = "".join(_row(text, odds, note, most) for text, odds, note in lines)
    total = f"<tr><td><b>total</b></td>{_number(why.total, 'b')}<td></td><td></td></tr>"
    parts.append(f'<table style="border-collapse:collapse">{rows}{total}</table>')
    return f"<div>{''.join(parts)}</div>"


def fragments(many: Iterable[Explanation]) -> str:
    """Several of them."""
    return "\n<hr>\n".join(map(fragment, many))


def page(many: Iterable[Explanation], title: str) -> str:
    """Explanations as a whole page, complete in itself."""
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{PAGE}</style></head>\n<body>\n{fragments(many)}\n'
        "</body></html>\n"
    )


def _passage(passage: Passage) -> str:
    """A text with every word on a ground of its colour; what it adds to the log-odds is said when pointed at."""
    odds = [abs(odds) for _, odds in passage.pieces if odds is not None and math.isfinite(odds)]
    most = max(odds, default=0.0) or 1.0
    pieces = [
        escape(text)
        if odds is None
        else f'<span style="{_colour(odds / most)}" title="{odds:+.3f}">{escape(text)}</span>'
        for text, odds in passage.pieces
    ]
    name = f"<small>{escape(passage.column)}</small><br>"
    return f'<p style="white-space:pre-wrap">{name}{"".join(pieces)}</p>'


def _row(text: str, odds: float, note: str, most: float) -> str:
    share = 1.0 if math.isinf(odds) else abs(odds) / most
    bar = f'<span style="{BAR}{12 * share:.2f}em;background:rgb({FOR if odds > 0 else AGAINST})"></span>'
    return f"<tr><td>{escape(text)}</td>{_number(odds)}<td>{bar}</td><td><small>{escape(note)}</small></td></tr>"


def _number(odds: float, tag: str = "span") -> str:
    return f'<td style="text-align:right;padding:0 1em"><{tag}>{odds:+.3f}</{tag}></td>'


def _colour(share: float) -> str:
    """The ground of a word whose evidence is this share of the strongest, against it where negative."""
    strength = FAINTEST + (STRONGEST - FAINTEST) * min(abs(share), 1.0)
    return f"background:rgba({FOR if share > 0 else AGAINST},{strength if share else 0:.2f})"
