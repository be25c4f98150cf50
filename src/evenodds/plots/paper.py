"""A report as a value: sections of sentences, tables and pictures; written as HTML, Markdown or plain values."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenodds.plots.save import svg
from evenodds.show import Frame, cell, escaped

NO_PICTURES = "Pictures are left out: vl-convert is not installed (pip install 'evenodds[plots]'). The tables have all."
SHORT = 17  # letters: "more than 99.9 %"
SMALLEST = 0.75  # of its size: letters of 12 pixels become 9
STYLE = """
:root { color-scheme: light }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; max-width: 46rem;
  margin: 0 auto; padding: 1rem }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 }
h2 { font-size: 1.3rem; margin: 2.2rem 0 .5rem; border-top: 1px solid #ccc; padding-top: 1rem }
h3 { font-size: 1.05rem; margin: 1.5rem 0 .3rem }
ul { padding-left: 1.2rem } li { margin: .3rem 0 }
h1, h2, li, p { overflow-wrap: anywhere }
.whole { white-space: nowrap }
figure { margin: 1.5rem 0 .3rem } figure svg { display: block; max-width: 100%; height: auto }
figcaption, .note { color: #555; font-size: .9rem }
.wide { overflow-x: auto; margin: .5rem 0 1rem; background-repeat: no-repeat; background-image:
  linear-gradient(90deg, #fff 2rem, #fff0), linear-gradient(-90deg, #fff 2rem, #fff0),
  linear-gradient(90deg, #0003, #0000), linear-gradient(-90deg, #0003, #0000);
  background-position: 0, 100%, 0, 100%; background-size: 3rem 100%, 3rem 100%, .6rem 100%, .6rem 100%;
  background-attachment: local, local, scroll, scroll }
.wide:focus { outline: 2px solid #0072B2 }
table { border-collapse: collapse; font-size: .875rem }
caption { text-align: left; font-weight: 600; padding: .2rem 0 }
th, td { border-bottom: 1px solid #ddd; padding: .25rem .6rem; text-align: left; vertical-align: top }
th:first-child, td:first-child { padding-left: 0 } thead { vertical-align: bottom }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums } td.n { white-space: nowrap }
summary { cursor: pointer; color: #00507d; padding: .3rem 0 }
@media print {
  details::details-content { content-visibility: visible; block-size: auto }
  .wide { overflow: visible; background: none } table { font-size: .65rem } th, td { padding: .2rem .35rem }
}
"""


@dataclass(frozen=True)
class Picture:
    """A picture with what it shows in words, and the numbers it is drawn from."""

    drawn: Mapping[str, Any] | None
    alt: str
    table: Frame
    title: str = ""


@dataclass(frozen=True)
class Section:
    """A heading, sentences, tables and pictures."""

    title: str
    sentences: Sequence[str] = ()
    parts: Sequence[Picture | Frame] = ()
    within: Sequence[Section] = ()


@dataclass(frozen=True)
class Paper:
    """The whole report."""

    title: str
    sections: Sequence[Section]
    data: Mapping[str, Any] = field(default_factory=dict)  # all numbers, for JSON

    def html(self) -> str:
        """One page that needs nothing else: no script, no font, no request."""
        drawn = _Drawn()
        body = "".join(_section(section, 2, drawn) for section in self.sections)
        note = f'<p class="note">{_escape(NO_PICTURES)}</p>' if drawn.missing else ""
        title = _escape(self.title)
        return (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{title}</title><style>{STYLE}</style></head>\n"
            f"<body><main><h1>{title}</h1>{note}{body}</main></body></html>\n"
        )

    def markdown(self) -> str:
        """As Markdown: sentences and tables."""
        return "\n".join([f"# {_plain(self.title)}\n", *(_markdown(section, 2) for section in self.sections)])


class _Drawn:
    """Counts pictures, so that each has a name of its own, and remembers whether one could not be drawn."""

    def __init__(self) -> None:
        self.many, self.missing = 0, False

    def __call__(self, picture: Mapping[str, Any]) -> str | None:
        self.many += 1
        found = svg(picture, f"p{self.many}")
        self.missing |= found is None
        return found


def _escape(text: str) -> str:
    """A text as HTML shows it, where control characters are said."""
    return html.escape(escaped(text))


def _text(text: str) -> str:
    """A text between tags, in which an arrow is never cut in two."""
    return _escape(text).replace("-&gt;", '<span class="whole">-&gt;</span>')


def _section(section: Section, level: int, drawn: _Drawn) -> str:
    parts = [f"<h{level}>{_escape(section.title)}</h{level}>"]
    if section.sentences:
        parts.append("<ul>" + "".join(f"<li>{_text(one)}</li>" for one in section.sentences) + "</ul>")
    parts += [_picture(part, drawn) if isinstance(part, Picture) else _table(part) for part in section.parts]
    parts += [_section(inner, level + 1, drawn) for inner in section.within]
    return "<section>" + "\n".join(parts) + "</section>\n"


def _picture(picture: Picture, drawn: _Drawn) -> str:
    image = drawn(picture.drawn) if picture.drawn is not None else None
    table = _table(picture.table, picture.alt)
    if image is None:
        return f"<p>{_escape(picture.alt)}</p>{table}"
    alt = _escape(picture.alt)
    inner = f'<div role="img" aria-label="{alt}" tabindex="0" class="wide">{_silent(image)}</div>'
    below = f"The numbers: {_escape(picture.title)}" if picture.title else "The numbers"
    return (
        f"<figure>{inner}<figcaption>{_escape(picture.alt)}</figcaption></figure>"
        f"<details><summary>{below}</summary>{table}</details>"
    )


def _silent(image: str) -> str:
    """The picture hidden from screen readers, which read its description: its own parts would be read one by one.

    On a phone it shrinks as far as its letters can be read, and scrolls from there on.
    """
    width = re.search(r'<svg[^>]* width="([0-9.]+)"', image)
    least = f' style="min-width:{SMALLEST * float(width[1]):.0f}px"' if width else ""
    return image.replace("<svg", f'<svg aria-hidden="true" focusable="false"{least}', 1)


def _table(table: Frame, label: str = "table") -> str:
    texts, numeric = _said(table)._texts()
    if len(texts) < 2:
        return '<p class="note">None.</p>'
    kinds = [' class="n"' if number else "" for number in numeric]
    head = "".join(_head(text, kind) for text, kind in zip(texts[0], kinds))
    rows = "".join(
        "<tr>" + "".join(f"<td{kind}>{_cell(t)}</td>" for t, kind in zip(line, kinds)) + "</tr>" for line in texts[1:]
    )
    caption = f"<caption>{_escape(table.title)}</caption>" if table.title else ""
    named = _escape(table.title or label)
    return (
        f'<div class="wide" tabindex="0" role="group" aria-label="{named}">'
        f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )


def _said(table: Frame) -> Frame:
    """A table with words for what is so and what is not."""
    words = {True: "yes", False: "no"}
    return Frame([{k: words[v] if isinstance(v, bool) else v for k, v in row.items()} for row in table], table.title)


def _cell(text: str) -> str:
    """A cell's text; what is short is not broken into lines."""
    return _text(text.replace(" ", "\u00a0") if len(text) <= SHORT else text)


def _head(text: str, kind: str) -> str:
    """The head of a column; one without a name heads nothing."""
    return f'<th scope="col"{kind}>{_escape(text)}</th>' if text.strip() else "<td></td>"


def _markdown(section: Section, level: int) -> str:
    parts = [f"{'#' * level} {_plain(section.title)}\n"]
    parts += [f"- {_plain(one)}" for one in section.sentences]
    for part in section.parts:
        table = part.table if isinstance(part, Picture) else part
        parts.append("")
        parts += [_plain(part.alt), ""] if isinstance(part, Picture) else []
        parts += [f"**{_plain(table.title)}**", ""] if table.title else []
        parts.append(_markdown_table(table))
    return "\n".join([*parts, "", *(_markdown(inner, level + 1) for inner in section.within)])


def _plain(text: str) -> str:
    """A text that is one line of Markdown, and no HTML in it, which Markdown would pass on."""
    return escaped(text).replace("&", "&amp;").replace("<", "&lt;")


def _markdown_table(table: Frame) -> str:
    names = table.names
    if not names:
        return "None."
    lines = [names, ["---"] * len(names), *([cell(row.get(name)) for name in names] for row in _said(table))]
    return "\n".join("| " + " | ".join(_plain(t).replace("|", "\\|") for t in line) + " |" for line in lines)
