"""How a CSV file is written: what separates its cells, its encoding, its decimal mark, whether it has a header.

All of it is decided from the file's first bytes, and said in one line, so that a person can see it and correct it.

>>> print(detect("name;größe\\nAnna;1,64\\nBernd;1,825\\n".encode("cp1252")))
separated by ;, decimal comma, cp1252
"""

from __future__ import annotations

import codecs
import csv
import dataclasses
import io
import itertools
import re
from collections import Counter
from dataclasses import dataclass
from typing import TypedDict, Unpack

from evenodds.data.encoding import SAMPLE, check_encoding, encoding_of
from evenodds.errors import DataError
from evenodds.texts import MISSING, Marks

MOST_ROWS, FEW_ROWS = 1_000, 200  # of a sample that are looked at; for all, and for the header
SEPARATORS = "\t;|,"  # the rarer inside a cell, the earlier
THOUSANDS = (",", ".", "'", "’", " ", "\u00a0", "\u202f", "_")

_NONE = "\x1f"  # a separator that is in no text
_MARKED = re.compile(r"[+-]?[0-9.,][0-9.,'’ \u00a0\u202f_]*(?:[eE][+-]?[0-9]+)?")  # perhaps a number
_MISSING = frozenset(MISSING)
_SHOWN = {"\t": "tabs", " ": "blanks", "\u00a0": "no-break spaces", "\u202f": "narrow no-break spaces"}

Rows = list[list[str]]


class Told(TypedDict, total=False):
    """What the caller knows about a file; None is the same as nothing."""

    separator: str | None
    decimal: str | None
    thousands: str | None
    encoding: str | None
    header: bool | None
    strip: bool | None


@dataclass(frozen=True)
class Dialect:
    """How a file is written; without a separator it is one column. `strip`: blanks before a cell, as in "a, b", go."""

    separator: str = ","
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"
    header: bool = True
    strip: bool = False

    def __post_init__(self) -> None:
        if len(self.separator) > 1 or not self.separator.isascii() or self.separator in ('"', "\r", "\n", "\0"):
            raise DataError(
                f"separator={self.separator!r}: expected one ASCII character, as ';' or '\\t', or '' for one column"
            )
        if len(self.decimal) != 1 or not self.decimal.isascii() or self.decimal.isalnum() or self.decimal in '+- "':
            raise DataError(f"decimal={self.decimal!r}: expected one mark, as '.' or ','")
        if len(self.thousands) > 1 or self.thousands.isalnum() or self.thousands in ("+", "-", self.decimal):
            raise DataError(f"thousands={self.thousands!r}: expected one mark other than the decimal's, or '' for none")
        check_encoding(self.encoding)

    @property
    def marks(self) -> Marks:
        """How its numbers are written."""
        return Marks(self.decimal, self.thousands)

    def __str__(self) -> str:
        said = [f"separated by {_SHOWN.get(self.separator, self.separator)}" if self.separator else "one column"]
        if self.strip:
            said.append("blanks before cells dropped")
        if self.decimal != ".":
            said.append("decimal comma" if self.decimal == "," else f"decimal mark {self.decimal}")
        if self.thousands:
            said.append(f"thousands marked by {_SHOWN.get(self.thousands, self.thousands)}")
        if self.encoding != "utf-8":
            said.append(self.encoding)
        if not self.header:
            said.append("no header")
        return ", ".join(said)


def detect(sample: bytes, **told: Unpack[Told]) -> Dialect:
    """How a file that begins with these bytes is written; what is told is not looked for, nor the bytes if all is.

    separator   the one of tab ; | , that cuts most rows, and more than half, into the same number of cells, more than
                one; among equals one that cuts the first row so, too, and then the first in this order. If there is
                none, or it does not cut the first row, there is one column.
    strip       if nine of ten cells behind a separator start with a blank.

    For encoding see `encoding_of`, for decimal and thousands `number_marks`, for header `has_header`.

    >>> detect(b"39, State-gov, 2174\\n50, Private, 0\\n")
    Dialect(separator=',', decimal='.', thousands='', encoding='utf-8', header=False, strip=True)
    """
    known = {name: value for name, value in told.items() if value is not None}
    dialect = dataclasses.replace(Dialect(), **known)  # type: ignore[arg-type]
    if known.keys() == Told.__annotations__.keys():
        return dialect
    if "encoding" not in known:
        dialect = dataclasses.replace(dialect, encoding=encoding_of(sample))
    text = codecs.getincrementaldecoder(dialect.encoding)("replace").decode(sample).removeprefix("\ufeff")
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise DataError(
            f"line {line} holds NUL bytes, so this is no text: unpack it, save a spreadsheet as CSV, or give --encoding"
        )
    lines, cut = list(io.StringIO(text, newline="")), len(sample) >= SAMPLE
    if "separator" not in known:
        dialect = dataclasses.replace(dialect, separator=_separator(lines, cut))
    if "strip" not in known:
        cells = [cell for row in _rows(lines, dialect.separator, False, cut) for cell in row[1:] if cell]
        strip = bool(cells) and sum(cell[0] == " " for cell in cells) >= 0.9 * len(cells)
        dialect = dataclasses.replace(dialect, strip=strip)
    rows = _rows(lines, dialect.separator, dialect.strip, cut)
    marks = number_marks(rows, dialect.separator, told.get("decimal"), told.get("thousands"))
    dialect = dataclasses.replace(dialect, decimal=marks.decimal, thousands=marks.thousands)
    if "header" not in known:
        dialect = dataclasses.replace(dialect, header=has_header(rows, marks))
    return dialect


def _rows(lines: list[str], separator: str, strip: bool, cut: bool) -> Rows:
    """The rows of a sample that are not blank; without the last if it may be cut in two."""
    rows = []
    try:
        for row in itertools.islice(csv.reader(lines, delimiter=separator or _NONE, skipinitialspace=strip), MOST_ROWS):
            if len(row) > 1 or (row and row[0].strip()):
                rows.append(row)
    except csv.Error:  # a cell of more than 128 KB, or csv's own refusal of a lone \r
        pass
    return rows[:-1] if cut and 1 < len(rows) < MOST_ROWS else rows


def _separator(lines: list[str], cut: bool) -> str:
    best, found = (False, 0.5, 0), "" if any("," in line for line in lines) else ","
    for order, separator in enumerate(SEPARATORS):
        rows = _rows(lines, separator, True, cut)
        counts = Counter(len(row) for row in rows if len(row) > 1)
        if not rows or len(rows[0]) < 2:
            continue
        (cells, many), *_ = counts.most_common(1)
        score = len(rows[0]) == cells, round(many / len(rows), 1), -order
        if many > len(rows) / 2 and score > best:
            best, found = score, separator
    return found


def _number(marks: Marks) -> re.Pattern[str]:
    """What a number looks like, in a sample: grouped digits do not begin with 0."""
    point, mark = re.escape(marks.decimal), re.escape(marks.thousands)
    whole = f"(?:[0-9]+|[1-9][0-9]{{0,2}}(?:{mark}[0-9]{{3}})+)" if mark else "[0-9]+"
    return re.compile(f"[+-]?(?:{whole}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?")


def number_marks(rows: Rows, separator: str, decimal: str | None = None, thousands: str | None = None) -> Marks:
    """The marks under which the most different cells are numbers; among equals, the decimal point, and no thousands.

    "1,234" can be read in two ways, where no other cell decides. It is 1234 in a file separated by commas (where it
    stands in quotes), and where whole numbers without a mark stand in the same columns, all of them below 1000.
    Otherwise it is 1.234: a file is not separated by ; for nothing.

    >>> number_marks([["1.234,5"], ["12"]], ";")
    Marks(decimal=',', thousands='.')
    >>> number_marks([["1,234"], ["9,876"]], ";"), number_marks([["1,234"], ["9,876"], ["12"]], ";")
    (Marks(decimal=',', thousands=''), Marks(decimal='.', thousands=','))
    """
    cells = {cell.strip() for row in rows for cell in row}
    marked = [cell for cell in cells if not cell.isdecimal() and _MARKED.fullmatch(cell)]
    there = set().union(*marked) if marked else set()
    best, found = -1, Marks()
    for mark in [thousands] if thousands is not None else ["", *(mark for mark in THOUSANDS if mark in there)]:
        for point in [decimal] if decimal is not None else [".", ","]:
            if point != mark:
                number = _number(Marks(point, mark))
                read = sum(number.fullmatch(cell) is not None for cell in marked)
                if read > best:
                    best, found = read, Marks(point, mark)
    if found == Marks(",", "") and decimal is None and thousands is None:
        number = _number(Marks(".", ","))
        if best == sum(number.fullmatch(cell) is not None for cell in marked) and _in_thousands(rows, separator):
            return Marks(".", ",")
    return found


def _in_thousands(rows: Rows, separator: str) -> bool:
    """Whether 1,234 is 1234, where both could be."""
    columns = {j for row in rows for j, cell in enumerate(row) if "," in cell and _MARKED.fullmatch(cell.strip())}
    plain = [row[j].strip().lstrip("+-") for row in rows[1:] for j in columns if j < len(row)]
    lengths = [len(cell) for cell in plain if cell.isdecimal()]
    return separator == "," or (bool(lengths) and max(lengths) <= 3)


def has_header(rows: Rows, marks: Marks) -> bool:
    """Whether the first row holds the columns' names.

    Every column has a vote. Where nine of ten cells below are numbers, a number is data, anything else a name.
    Otherwise a cell that occurs below is data, and so is one that looks as most below it do but for its digits (a
    date); a cell that is not among a few values below is a name. Without a majority for data, the row is a header.

    Numbers are names, nevertheless, if they are years, or at least three whole numbers in equal steps (1, 2, 3), if the
    first cell is none, and if most rows below are not like that.

    >>> has_header([["country", "1990", "2000"], ["France", "1.5", "2.5"]], Marks())
    True
    >>> has_header([["France", "1.5", "2.5"], ["Spain", "3.5", "4.5"]], Marks())
    False
    """
    if not rows:
        return True
    number, first, rest = _number(marks), rows[0], rows[1:FEW_ROWS]
    if _serial(first, number) and 2 * sum(_serial(row, number) for row in rest) <= len(rest):
        return True
    if not rest:
        return not any(number.fullmatch(cell.strip()) for cell in first)
    votes = 0
    for j, cell in enumerate(first):
        below = [row[j].strip() for row in rest if j < len(row)]
        votes += _vote(cell.strip(), [other for other in below if other not in _MISSING], number)
    return votes >= 0


def _vote(cell: str, below: list[str], number: re.Pattern[str]) -> int:
    """1 if a cell is the name of what is below, -1 if it is one of them, 0 if that cannot be said."""
    if not below or cell in _MISSING:
        return 0
    if sum(number.fullmatch(other) is not None for other in below) >= 0.9 * len(below):
        return -1 if number.fullmatch(cell) else 1
    if cell in below or (_shape(cell) != cell and Counter(map(_shape, below)).most_common(1)[0][0] == _shape(cell)):
        return -1
    return 1 if 2 * len(set(below)) <= len(below) else 0


def _shape(cell: str) -> str:
    """A cell with all digits alike.

    >>> _shape("2024-03-01")
    '####-##-##'
    """
    return re.sub("[0-9]", "#", cell)


def _serial(row: list[str], number: re.Pattern[str]) -> bool:
    """Whether the numbers in a row can be names: years, or whole numbers in equal steps."""
    texts = [cell.strip() for cell in row if number.fullmatch(cell.strip())]
    if not texts or number.fullmatch(row[0].strip()) or not all(text.isdecimal() and len(text) < 10 for text in texts):
        return False
    values = [int(text) for text in texts]
    steps = {b - a for a, b in itertools.pairwise(values)}
    years = all(1800 <= value <= 2100 for value in values) and len(set(values)) == len(values)
    return years or (len(values) >= 3 and len(steps) == 1 and min(steps) > 0)
