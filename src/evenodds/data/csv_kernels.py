"""Rows and cells cut out of a block of CSV, 64 bytes at a time, without copying any of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenodds.kernel import kernel

# Eight bytes in a word: which of them are special is in their top bits (Hacker's Delight 6-1, the exact form), and one
# product gathers the eight bits in a byte. Eight such bytes are a word again: 64 bytes of text at a time.
ONES, LOW, HIGH = np.uint64(0x0101010101010101), np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
NO_CONTROL = np.uint64(0x7272727272727272)  # carries into the top bit of every byte from 14 on, past \t, \n and \r
GATHER, ONE, SEVEN, LAST_BYTE = np.uint64(0x0102040810204080), np.uint64(1), np.uint64(7), np.uint64(56)
DE_BRUIJN, LAST_SIX = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)  # every 6 bits in a row are different
PLACE = np.argsort([(0x03F79D71B4CB0A89 << i) % 2**64 >> 58 for i in range(64)]).astype(np.uint8)  # of a word's one bit
WORDS = 512  # looked at together: they stay in the nearest cache

LF, CR, BLANK, TAB = 10, 13, 32, 9
PLAIN, QUOTED, CLOSED = 0, 1, 2  # a cell: without a quote at its start, inside its quotes, behind the closing one
AT, LINE, SPARE, ROWS, RAGGED, OPEN = range(6)  # what `state` holds


@kernel
def split(
    block: Any,
    size: int,
    separator: int,
    quote: int,
    strip: bool,
    last: bool,
    cells: Any,
    spans: Any,
    lines: Any,
    ragged: Any,
    state: Any,
) -> None:
    """Cut block[:size] into rows and cells: the text of cell j of row i goes from cells[i, j, 0] to cells[i, j, 1].

    A cell with nothing in it, not even quotes, stops before it starts. A cell that does not lie in one piece ("" in it
    is one quote) is put together from state[SPARE] on, so that the text stays as it was: row i is spans[i, 0] to
    spans[i, 1], and begins in line lines[i] of the file. Rows with a wrong number of cells are left out: ragged[k] is
    the k-th one's line and number of cells. It stops at a row that is not complete, unless it is the last, and where
    there is no room for another.

    state[AT] and state[LINE] say where and in which line to begin, and are moved on, as state[SPARE] is; state[ROWS]
    and state[RAGGED] become the number of rows of each sort, state[OPEN] the line of a quote left open, or 0. The byte
    after the text must be 0, and from the next multiple of 64 on as many bytes must be free as there are.
    """
    room, columns = cells.shape[0], cells.shape[1]
    separators, quotes = ONES * np.uint64(separator), ONES * np.uint64(quote)
    words, packed = block[: len(block) // 8 * 8].view(np.uint64), np.empty(WORDS, np.uint8)
    masks = packed.view(np.uint64)
    begin, line, spare = state[AT], state[LINE], state[SPARE]  # begin: of the cell
    row_begin, row_line, row_spare = begin, line, spare
    rows, wrong, cell, mode = 0, 0, 0, PLAIN
    opened, closed, doubled, past = 0, 0, False, begin  # past: what comes before it is dealt with
    start, going = begin // 64 * 8, True
    while going:
        stop = min(start + WORDS, (size // 64 + 1) * 8)
        part = words[start:stop]
        for i in range(len(part)):
            word = part[i]
            x, y = word ^ separators, word ^ quotes
            plain = (((x & LOW) + LOW) | x) & (((y & LOW) + LOW) | y) & (((word & LOW) + NO_CONTROL) | word)
            packed[i] = ((~plain & HIGH) >> SEVEN) * GATHER >> LAST_BYTE
        for group in range((stop - start) // 8):
            special = masks[group]
            while special != 0:
                p = (start + group * 8) * 8 + np.int64(PLACE[(special & (~special + ONE)) * DE_BRUIJN >> LAST_SIX])
                special &= special - ONE
                if p < past:
                    continue
                c: Any = np.int64(block[p])
                if p >= size:
                    going = False
                    if not last or row_begin == size or mode == QUOTED:
                        break
                    c = LF
                if mode == QUOTED:
                    if c == quote:
                        if block[p + 1] == quote:
                            doubled, past = True, p + 2
                        else:
                            mode, closed = CLOSED, p
                    elif c == LF or (c == CR and block[p + 1] != LF):
                        line += 1
                    continue
                if c == quote:
                    if mode == PLAIN:
                        while strip and block[begin] == BLANK:
                            begin += 1
                        if begin == p:
                            begin, mode, doubled, opened = p + 1, QUOTED, False, line
                    continue
                if c != separator and c != LF and c != CR:
                    continue
                if c == CR and p + 1 == size and not last:  # its \n may come in the next block
                    going = False
                    break
                if cell < columns:
                    if mode == PLAIN:
                        while strip and begin < p and block[begin] == BLANK:
                            begin += 1
                        cells[rows, cell, 0] = begin
                        cells[rows, cell, 1] = p if p > begin else begin - 1
                    elif closed + 1 == p and not doubled:
                        cells[rows, cell, 0] = begin
                        cells[rows, cell, 1] = closed
                    else:
                        cells[rows, cell, 0] = spare
                        i = begin
                        while i < p:
                            if i != closed:
                                block[spare] = block[i]
                                spare += 1
                            i += 2 if i < closed and block[i] == quote else 1
                        cells[rows, cell, 1] = spare
                cell, begin, mode = cell + 1, p + 1, PLAIN
                if c == separator:
                    continue
                if c == CR and block[begin] == LF:
                    begin = past = p + 2
                line += 1
                i = row_begin
                while cell == 1 and i < p and (block[i] == BLANK or block[i] == TAB):
                    i += 1
                if i < p and cell == columns:
                    spans[rows, 0] = row_begin
                    spans[rows, 1] = p
                    lines[rows] = row_line
                    rows += 1
                elif i < p:  # not a blank line
                    ragged[wrong, 0] = row_line
                    ragged[wrong, 1] = cell
                    wrong += 1
                cell, row_begin, row_line, row_spare = 0, min(begin, size), line, spare
                if rows == room or wrong == len(ragged):
                    going = False
                    break
            if not going:
                break
        start = stop
    state[AT], state[LINE], state[SPARE], state[ROWS], state[RAGGED] = row_begin, row_line, row_spare, rows, wrong
    state[OPEN] = opened if mode == QUOTED else 0


@kernel
def turn(cells: Any, columns: Any) -> None:
    """columns[j, side, i] = cells[i, j, side], some rows at a time, so that both stay in the cache."""
    rows = cells.shape[0]
    step = max(16, 2048 // max(cells.shape[1], 1))
    for start in range(0, rows, step):
        for j in range(cells.shape[1]):
            for i in range(start, min(start + step, rows)):
                columns[j, 0, i] = cells[i, j, 0]
                columns[j, 1, i] = cells[i, j, 1]


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
