"""Rows and cells cut out of a block of CSV, without copying any of them.

A regular row is cut 64 bytes at a time: a bit for every quote, separator and line end, and a bit for every byte inside
quotes, which is the running parity of the quotes before it (Langdale and Lemire 2019, "Parsing gigabytes of JSON per
second"). What a regular row is not, a row with quotes in quotes or in the middle of a cell, with a carriage return that
ends a line, with too many or too few cells, or blank, is cut byte by byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.instructions import WIDE, bits_set, same_byte, shared, text_kernel, trailing_zeros
from evenodds.kernel import kernel

LF, CR, BLANK, TAB = 10, 13, 32, 9
AT, LINE, SPARE, ROWS, ODD, RAGGED, OPEN = range(7)  # what `state` holds
GROUP = 256  # rows whose cells stay in the nearest cache while they are turned
ZERO, ONE, TOP = np.uint64(0), np.uint64(1), np.uint64(63)
DOUBLINGS = tuple(np.uint64(1 << k) for k in range(6))


@text_kernel
def split(
    block: Any,
    size: int,
    separator: int,
    quote: int,
    strip: bool,
    last: bool,
    ends: Any,
    spans: Any,
    lines: Any,
    odd: Any,
    cells: Any,
    ragged: Any,
    state: Any,
) -> None:
    """Cut block[:size] into rows and cells: row i is spans[i, 0] to spans[i, 1], from line lines[i] of the file on.

    Cell j of a regular row ends before ends[i · columns + j] // 2, which is odd if the cell is in quotes. The other
    rows' numbers are in `odd`: the text of cell j of row odd[k] goes from cells[k, j, 0] to cells[k, j, 1]. Rows with a
    wrong number of cells are left out: ragged[k] is the k-th one's line and number of cells. It stops at a row that is
    not complete, unless it is the last, and where there is no room for another.

    state[AT] and state[LINE] say where and in which line to begin, and are moved on; so is state[SPARE], from where on
    there is room for cells that do not lie in one piece. state[ROWS], state[ODD] and state[RAGGED] become the number of
    rows of each sort, state[OPEN] the line of a quote left open, or 0; it is -1 where that room is used up, which
    cannot be if it is as long as the text. The byte after the text must be 0, and 63 more must be there.
    """
    room, columns = len(lines), cells.shape[1]
    at, line, spare = state[AT], state[LINE], state[SPARE]
    rows, others, wrong, opened = 0, 0, 0, 0
    while rows < room and wrong < len(ragged) and at < size:
        rows, at, line = regular(block, at, size, separator, quote, columns, ends, spans, lines, rows, line)
        if rows == room or at == size:
            break
        stop, begin, many, next_line, next_spare, opened = cut(
            block, at, size, separator, quote, strip, last, cells[min(others, len(cells) - 1)], line, spare
        )
        if begin < 0:  # it is not complete
            break
        i = at
        while many == 1 and i < stop and (block[i] == BLANK or block[i] == TAB):
            i += 1
        if i < stop and many == columns:
            spans[rows, 0], spans[rows, 1], lines[rows], odd[others] = at, stop, line, rows
            ends[rows * columns : (rows + 1) * columns] = 2 * at
            rows += 1
            others += 1
        elif i < stop:  # not a blank line
            ragged[wrong, 0], ragged[wrong, 1] = line, many
            wrong += 1
        at, line, spare = begin, next_line, next_spare
    state[AT], state[LINE], state[SPARE], state[ROWS], state[ODD], state[RAGGED] = at, line, spare, rows, others, wrong
    state[OPEN] = opened


@shared
def regular(
    block: Any,
    at: int,
    size: int,
    separator: int,
    quote: int,
    columns: int,
    ends: Any,
    spans: Any,
    lines: Any,
    rows: int,
    line: int,
) -> Any:
    """The regular rows from `at` on, up to the first that is none; returns the new `rows`, `at` and `line`.

    What the 64 bytes before leave behind: whether they end inside quotes (all bits or none), in a quote that closes,
    and in the end of a cell.
    """
    inside, closed, begun = ZERO, ZERO, ONE
    n, row_line = rows * columns, line
    for p in range(at, size, WIDE):
        feeds, special = same_byte(block, p, np.uint8(LF)), same_byte(block, p, np.uint8(separator))
        returns, quoted = same_byte(block, p, np.uint8(CR)), same_byte(block, p, np.uint8(quote))
        if size - p < WIDE:
            there = (ONE << np.uint64(size - p)) - ONE
            feeds, special, returns, quoted = feeds & there, special & there, returns & there, quoted & there
        wrong, behind = ZERO, closed
        if returns != ZERO:
            wrong = returns & ~(feeds >> ONE | np.uint64(block[p + WIDE] == LF) << TOP)
        special |= feeds
        if (quoted | inside | closed) != ZERO:
            within = quoted
            for k in range(6):
                within ^= within << DOUBLINGS[k]
            within ^= inside
            special &= ~within
            opening, closing = quoted & within, quoted & ~within
            behind |= closing << ONE
            wrong |= (opening & ~(special << ONE | begun)) | (behind & ~(special | returns))
            inside, closed = ZERO - (within >> TOP), closing >> TOP
        begun = special >> TOP
        before, rest = n, special
        while rest != ZERO:
            place = trailing_zeros(rest)
            ends[n] = 2 * (p + place) + np.int64(behind >> np.uint64(place) & ONE)
            n += 1
            rest &= rest - ONE
        over = feeds & special & ((wrong & (ZERO - wrong)) - ONE)  # up to what is wrong
        while over != ZERO:
            here = over & (ZERO - over)
            upto = here | (here - ONE)
            if before + bits_set(special & upto) != (rows + 1) * columns or (columns == 1 and block[at] <= BLANK):
                return rows, at, row_line
            end = p + trailing_zeros(here)
            stop = end - (block[end - 1] == CR)
            ends[(rows + 1) * columns - 1] = 2 * stop + (block[stop - 1] == quote)
            spans[rows, 0], spans[rows, 1], lines[rows] = at, stop, row_line
            at, row_line, rows = end + 1, line + bits_set(feeds & upto), rows + 1
            over ^= here
            if rows == len(lines):
                return rows, at, row_line
        if wrong != ZERO or n >= (rows + 1) * columns:
            break
        line += bits_set(feeds)
    return rows, at, row_line


@shared
def cut(
    block: Any,
    at: int,
    size: int,
    separator: int,
    quote: int,
    strip: bool,
    last: bool,
    cells: Any,
    line: int,
    spare: int,
) -> Any:
    """Any row, byte by byte: the text of cell j goes from cells[j, 0] to cells[j, 1].

    A cell with nothing in it, not even quotes, stops before it starts. A cell that does not lie in one piece ("" in it
    is one quote) is put together from `spare` on, so that the text stays as it was. Returns where the row stops, where
    the next one begins (-1 if this one is not complete), how many cells it has, the next line and spare, and the line
    of a quote left open, or 0; -1 where a cell finds no room.
    """
    p, cell = at, 0
    while True:
        while strip and block[p] == BLANK and p < size:
            p += 1
        begin, closed, whole = p, -1, True
        if block[p] == quote and p < size:
            begin, opened = p + 1, line
            p += 1
            while p < size and (block[p] != quote or block[p + 1] == quote):
                whole = whole and block[p] != quote
                line += block[p] == LF or (block[p] == CR and block[p + 1] != LF)
                p += 2 if block[p] == quote else 1
            if p >= size:
                return p, -1, cell, line, spare, opened
            closed = p
            p += 1
        while p < size and block[p] != separator and block[p] != LF and block[p] != CR:
            p += 1
        if (p == size or (block[p] == CR and p + 1 == size)) and not last:  # its \n may come in the next block
            return p, -1, cell, line, spare, 0
        if cell < len(cells):
            cells[cell, 0], cells[cell, 1] = begin, p if closed < 0 else closed
            if closed < 0 and p == begin:
                cells[cell, 1] = begin - 1
            if closed >= 0 and (not whole or closed + 1 < p):
                if spare + p - begin > len(block):
                    return p, -1, cell, line, spare, -1
                cells[cell, 0] = spare
                i = begin
                while i < p:
                    if i != closed:
                        block[spare] = block[i]
                        spare += 1
                    i += 2 if i < closed and block[i] == quote else 1
                cells[cell, 1] = spare
        cell += 1
        if p == size or block[p] != separator:
            break
        p += 1
    following = p + 2 if block[p] == CR and block[p + 1] == LF else p + 1
    return p, min(following, size), cell, line + 1, spare, 0


@kernel
def turn(block: Any, ends: Any, spans: Any, odd: Any, cells: Any, strip: bool, columns: Any) -> None:
    """What `split` found, by column: the text of cell j of row i goes from columns[j, 0, i] to columns[j, 1, i]."""
    many, rows = columns.shape[0], columns.shape[2]
    begins = np.empty(GROUP, np.int32)  # of the next cell in each row
    for first in range(0, rows, GROUP):
        here = min(GROUP, rows - first)
        for i in range(here):
            begins[i] = spans[first + i, 0]
        for j in range(many):
            starts, stops = columns[j, 0, first : first + here], columns[j, 1, first : first + here]
            mine = ends[first * many + j : (first + here) * many : many]
            for i in range(here):
                end = mine[i]
                quoted = end & 1
                start, stop = begins[i] + quoted, (end >> 1) - quoted
                if strip:
                    while quoted == 0 and start < stop and block[start] == BLANK:
                        start += 1
                begins[i] = (end >> 1) + 1
                starts[i], stops[i] = start, stop - ((start == stop) & (quoted == 0))
    for k in range(len(odd)):
        for j in range(many):
            columns[j, 0, odd[k]], columns[j, 1, odd[k]] = cells[k, j, 0], cells[k, j, 1]


@kernel
def stitch(block: Any, spans: Any, extra: Any, ends: Any, out: Any) -> None:
    """Every row as it was, what is appended to it, and a line end: the rows of `out`, which has room for just that."""
    n = 0
    for row in range(len(spans)):
        for i in range(spans[row, 0], spans[row, 1]):
            out[n] = block[i]
            n += 1
        for i in range(ends[row], ends[row + 1]):
            out[n] = extra[i]
            n += 1
        out[n] = LF
        n += 1
