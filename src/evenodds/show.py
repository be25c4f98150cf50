"""What people read: small tables, printed in line and as HTML in a notebook, and numbers as they are written."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from math import exp, floor, inf, isclose, isfinite, isnan, log, log1p, log10
from typing import Any

from evenodds.errors import did_you_mean


class Frame:
    """Rows of named values.

    >>> Frame([{"side": "heads", "p": 0.75}, {"side": "tails", "p": 0.25}])
    side        p
    heads  0.7500
    tails  0.2500
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]], title: str = "") -> None:
        self.rows = [{name: getattr(value, "item", lambda v=value: v)() for name, value in row.items()} for row in rows]
        self.title = title

    @property
    def names(self) -> list[str]:
        """The columns' names, in order of appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int | str) -> Any:
        """A row by its number, or a column's values by its name."""
        if not isinstance(at, str):
            return self.rows[at]
        if self.rows and at not in self.names:
            raise KeyError(did_you_mean(at, self.names))
        return [row.get(at) for row in self.rows]

    def to_dicts(self) -> list[dict[str, Any]]:
        """The rows as dictionaries; `pandas.DataFrame(frame.to_dicts())` makes a data frame of them."""
        return [dict(row) for row in self.rows]

    def _texts(self) -> tuple[list[list[str]], list[bool]]:
        names = self.names
        numeric = [all(isinstance(row.get(name), (int, float, type(None))) for row in self.rows) for name in names]
        body = ([printed(cell(row.get(name))) for name in names] for row in self.rows)
        return [[printed(name) for name in names], *body], numeric

    def __repr__(self) -> str:
        texts, numeric = self._texts()
        return "\n".join(([printed(self.title)] if self.title else []) + _aligned(texts, numeric))

    def _repr_html_(self) -> str:
        import html  # which one message need not wait for

        texts, _ = self._texts()
        head, *body = ["".join(f"<td>{html.escape(t)}</td>" for t in line) for line in texts]
        rows = "".join(f"<tr>{line}</tr>" for line in body)
        return f"<table><caption>{html.escape(self.title)}</caption><thead><tr>{head}</tr></thead>{rows}</table>"


WIDTH = 80  # of a page, in letters


def wide(frame: Frame) -> bool:
    """Whether a table's lines are longer than a page's."""
    return max(map(places, repr(frame).splitlines()), default=0) > WIDTH


def turned(frame: Frame) -> Frame:
    """A table on its side: a line for what was a column, a column for what was a line, named by the first cell of it.

    >>> turned(Frame([{"coin": 1, "heads": 3, "tails": 2}, {"coin": 2, "heads": 0, "tails": 7}]))
    coin   1  2
    heads  3  0
    tails  2  7
    """
    first, *names = frame.names
    return Frame([{first: name} | {cell(row[first]): row[name] for row in frame} for name in names], frame.title)


class Figure(float):
    """A number that knows how much of it means something, as a format does; what is no number, how it is written.

    >>> cell(Figure(0.0022644, ".5f")), cell(Figure(float("nan"), "±inf"))
    ('0.00226', '±inf')
    """

    form: str

    def __new__(cls, value: float, form: str) -> Figure:
        """The number, with its format."""
        figure = super().__new__(cls, value)
        figure.form = form
        return figure


NOTHING = 1e-307  # what is smaller is the smallest that a double can say


def cell(value: Any) -> str:
    """A value as a table shows it: four decimals or four digits, whichever says more."""
    if value is None:
        return ""
    if isinstance(value, Figure):
        return f"{value:{value.form}}" if value == value else value.form
    if isinstance(value, float):
        value = value if abs(value) >= NOTHING else 0.0  # and no minus before a zero
        return f"{value:.4f}" if value == 0 or 1e-3 <= abs(value) < 1e5 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def plain(x: float) -> float:
    """A whole number as an integer, while a double counts by ones; any other as it is.

    >>> plain(3.0), plain(2.5), plain(1e300)
    (3, 2.5, 1e+300)
    """
    return int(x) if float(x).is_integer() and abs(x) < 1e15 else float(x)


def written(value: Any) -> str:
    """A row's own cell as people write it: no thousands marked, no decimals added, the noise of float32 left out.

    >>> written(38.5), written(1993), written(1234567.8), written(0.10000000149011612), written(True), written("")
    ('38.5', '1993', '1234567.8', '0.1', 'True', "''")
    """
    if not isinstance(value, float) or not isfinite(value):
        return str(value) or "''"
    whole = floor(log10(abs(value))) + 1 if value else 1
    return f"{value:.{min(max(7, whole + 2), 15)}g}"


def percent(share: float, digits: int | None = None) -> str:
    """A share in percent: with so many decimals, or with all that it has.

    >>> percent(0.975), percent(0.95), percent(1 / 3, 1)
    ('97.5 %', '95 %', '33.3 %')
    """
    return f"{100 * share:.6g} %" if digits is None else f"{share:.{digits}%}".replace("%", " %")


def free(name: str, taken: Container[str]) -> str:
    """A name that is not taken: this one, or with underscores behind it.

    >>> free("class", ["class", "sex"]), free("age", ["class", "sex"])
    ('class_', 'age')
    """
    while name in taken:
        name += "_"
    return name


def apart(figures: Mapping[str, Any], labels: Container[str]) -> dict[str, Any]:
    """Figures that are to stand in a line with labels, which may have any name.

    >>> {"p": "heads", **apart({"p": 0.5}, ["p"])}
    {'p': 'heads', 'p_': 0.5}
    """
    return {free(name, labels): value for name, value in figures.items()}


def share(p: float | None) -> str:
    """Four digits of a share; never a 0 or 1 that is only rounded.

    >>> share(0.75), share(2 / 3), share(1e-9), share(1 - 1e-9), share(1.0), share(None)
    ('0.75', '0.6667', '1e-09', '1 - 1e-09', '1', 'none')
    """
    if p is None or not isfinite(p):
        return "none"
    return f"1 - {1 - p:.4g}" if 0.99995 <= p < 1 else f"{p:.4g}"


def decimals(p: float, log_odds: float) -> str:
    """Four decimals of a probability, or as many as it takes to be no rounded 0 or 1, by its log-odds.

    >>> decimals(0.25, -log(3)), decimals(0.99977, 8.377), decimals(0.9999773, 10.69), decimals(1.0, 40)
    ('0.2500', '0.9998', '0.999977', '1 - 4.25e-18')
    """
    if not (p < 5e-5 or p >= 0.99995) or isnan(log_odds):
        return f"{p:.4f}"
    return probability(log_odds if p in (0, 1) else log(p) - log1p(-p))


def probability(log_odds: float) -> str:
    """Three digits of p, more where it nears 1, and never a rounded 0 or 1.

    >>> [probability(log(p / (1 - p))) for p in (0.001, 0.0909918, 0.9091, 0.99954, 1e-7)]
    ['0.001', '0.0910', '0.909', '0.99954', '1e-07']
    >>> probability(40), probability(-2000), probability(inf)
    ('1 - 4.25e-18', '10^-869', '1')
    """
    if abs(log_odds) == inf:
        return "1" if log_odds > 0 else "0"
    if log_odds < -690:
        return f"10^{log_odds / log(10):.0f}"
    if log_odds > 16:
        return f"1 - {probability(-log_odds)}"
    p = 1 / (1 + exp(-log_odds))
    if p < 1e-4:
        return f"{p:.3g}"
    places = max(2 - floor(log10(p)), 1 - floor(log10(1 - p)))
    return f"{p:.{places}g}" if isclose(p, round(p, places), rel_tol=1e-12) else f"{p:.{places}f}"


def odds(log_odds: float) -> str:
    """The odds with the smaller side 1.

    >>> odds(log(0.001 / 0.999)), odds(log(1.8)), odds(inf), odds(-2000)
    ('1:999', '1.8:1', '1:0', '1:10^869')
    """
    if abs(log_odds) == inf:
        return "1:0" if log_odds > 0 else "0:1"
    large = short(exp(abs(log_odds))) if abs(log_odds) < 690 else f"10^{abs(log_odds) / log(10):.0f}"
    return f"{large}:1" if log_odds > 0 else f"1:{large}"


def short(x: float) -> str:
    """Four digits, and thousands with commas.

    >>> short(0.010989), short(18.0), short(6000), short(12345.6), short(inf)
    ('0.01099', '18', '6,000', '12,346', '∞')
    """
    if x == inf:
        return "∞"
    return f"{x:,.0f}" if 1e3 <= abs(x) < 1e9 else f"{x:.4g}"


def size(n: float) -> str:
    """A number of bytes as people read it.

    >>> size(268_435_456), size(1.3e9)
    ('268 MB', '1.3 GB')
    """
    for unit, form in (("bytes", ".0f"), ("KB", ".0f"), ("MB", ".0f"), ("GB", ".1f"), ("TB", ".1f")):
        if n < 1000:
            return f"{n:{form}} {unit}"
        n = n / 1000 if n < 1e300 else n // 1000
    return f"{n:.3g} PB" if n < 1e300 else f"{whole(int(n))} PB"


def whole(n: int, most: int = 10**30) -> str:
    """A whole number with commas; of one that is larger than people read, how many digits it has.

    >>> whole(1_234_567), whole(2**30_000)
    ('1,234,567', 'about 10^9030')
    """
    return f"{n:,}" if n < most else f"about 10^{int(log10(n))}"


# What would move the cursor, colour the screen, rename the window or turn the line around: C0, C1 and bidi controls.
CONTROLS = frozenset(
    map(chr, (*range(32), *range(127, 160), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)))
)
_ESCAPED = {ord(c): repr(c)[1:-1] for c in CONTROLS}
_ESCAPED_IN_LINES = {code: text for code, text in _ESCAPED.items() if chr(code) not in "\n\t"}
MOST = 200


def escaped(text: str) -> str:
    """A text that says its control characters instead of sending them to the terminal."""
    return text if text.isprintable() else text.translate(_ESCAPED)


def escaped_lines(text: str) -> str:
    """The same of a text of several lines, which stay lines."""
    return text if text.isprintable() else text.translate(_ESCAPED_IN_LINES)


def printed(text: str, most: int = MOST) -> str:
    r"""A name as it is printed: without control characters, and of a very long one both ends.

    >>> printed("a\x1b[31mred\nline"), len(printed("h" * 1_000_000))
    ('a\\x1b[31mred\\nline', 200)
    """
    short = text if len(text) <= most else f"{text[: most // 2]}…{text[1 - most // 2 :]}"
    return escaped(short)


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows of text in aligned columns, two spaces apart.

    >>> print(table([["word", "odds"], ["prince", "20"]]))
    word    odds
    prince  20
    """
    shown = [[escaped(cell) for cell in row] for row in rows]
    return "\n".join(_aligned(shown, [False] * len(shown[0])))


def _aligned(lines: Sequence[Sequence[str]], right: Sequence[bool]) -> list[str]:
    """Lines of cells in columns, two places apart."""
    widths = [max(map(places, column)) for column in zip(*lines)]
    return ["  ".join(map(padded, line, widths, right)).rstrip() for line in lines]


def padded(text: str, width: int, right: bool = False) -> str:
    """A text with blanks behind it, or before it, so that it takes so many places of a terminal."""
    blanks = " " * (width - places(text))
    return blanks + text if right else text + blanks


def places(text: str) -> int:
    """How many places of a terminal a text takes: wide letters two, marks on a letter none.

    >>> places("Tokyo"), places("東京"), places("e\u0301")
    (5, 4, 1)
    """
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width  # which most texts need not wait for

    return sum(0 if category(c) in ("Mn", "Me") else 1 + (east_asian_width(c) in "WF") for c in text)
