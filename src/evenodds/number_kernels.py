"""Numbers read out of text, without a Python string for any of them.

Most cells are digits with a decimal mark: `short` reads up to eight characters at once, and up to twenty if the mark is
among the first eight. `scan` takes the others apart into a whole number of up to 19 digits and a power of ten, and
`nearest` gives the double nearest to their product. The few with more digits are laid end to end by `lay`, for a
library that rounds them right.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from evenodds.instructions import high_half, load_eight, shared, text_kernel, trailing_zeros
from evenodds.kernel import bits, eight_bytes, kernel

GROUP = 512  # rows of a file that stay in the cache while all of their columns are read
MISSING, SCANNED, LONG, WORD, JUNK = range(5)  # a cell: blank, taken apart, too many digits, perhaps a word, neither

_ZERO, _NINE, _PLUS, _MINUS, _POINT, _BLANK, _E, _SMALL = 48, 57, 43, 45, 46, 32, 69, 32
_ZEROS, _LOW, _HIGH = np.uint64(0x3030303030303030), np.uint64(0x7F7F7F7F7F7F7F7F), np.uint64(0x8080808080808080)
_NO_DIGIT = np.uint64(0x7676767676767676)  # carries into the top bit of every byte from 10 on
_BYTE, _1, _7, _8 = (np.uint64(n) for n in (255, 1, 7, 8))
_BY_10, _BY_100, _BY_10000 = np.uint64(10 << 8 | 1), np.uint64(100 << 16 | 1), np.uint64(10000 << 32 | 1)
_PAIRS, _FOURS, _16, _32 = np.uint64(0x00FF00FF00FF00FF), np.uint64(0x0000FFFF0000FFFF), np.uint64(16), np.uint64(32)

_MOST_DIGITS, _FAR = 19, 1 << 40  # digits that fit 64 bits; a power beyond any text's length
_MORE = _MOST_DIGITS - 7  # characters after eight of which one is the mark
_TEN, _TENS = np.uint64(10), np.array([10**k for k in range(9)], np.uint64)
_POWERS, _EXACT = np.array([float(10**k) for k in range(23)]), np.uint64(1 << 53)
_SIGNED = np.array([_POWERS, -_POWERS])
_LEAST, _GREATEST = -342, 308  # powers of ten; times a whole number below 10^19, less is 0 and more is infinite
_0, _3, _9, _52, _63, _CLOSE = (np.uint64(n) for n in (0, 3, 9, 52, 63, 511))
_INFINITE = np.uint64(2047 << 52)


@functools.cache
def fives() -> Any:
    """The first 128 bits of 5^q for all powers there are, as two words.

    They are cut off, but rounded up where 5^-q fits 64 bits: then the products are exact where it matters.
    """
    table = []
    for q in range(_LEAST, _GREATEST + 1):
        power = 5 ** abs(q)
        size = power.bit_length()
        if q >= 0:
            first = power << 128 - size if size <= 128 else power >> size - 128
        else:
            first = (1 << size + 127) // power + (q >= -27)
        table.append((first >> 64, first & (1 << 64) - 1))
    return np.array(table, np.uint64)


@shared
def other_bytes(x: Any) -> Any:
    """A bit (128) for each of eight bytes, less "0" each, that is no digit."""
    return (((x & _LOW) + _NO_DIGIT) | x) & _HIGH


@shared
def eight_digits(x: Any) -> Any:
    """The number that eight bytes of digits say, less "0" each."""
    x = x * _BY_10 >> _8
    x = (x & _PAIRS) * _BY_100 >> _16
    return (x & _FOURS) * _BY_10000 >> _32


@shared
def rounded(number: Any, ten: int, five: Any, beyond: Any) -> Any:
    """The bits of the double nearest to number · 10^ten, which may be infinite; a number of 0 has none.

    The first 128 bits of 5^ten, `five` and what is beyond it, times the number, have the bits of the result and those
    that decide how to round it (Lemire 2021, "Number parsing at a gigabyte per second"; that there are always enough of
    them: Mushtak and Lemire 2023, "Fast number parsing without fallback").
    """
    zeros: Any = 1086 - np.int64(np.uint64(bits(np.float64(number))) >> _52)  # in front of it, of 64 bits
    if (number << np.uint64(zeros)) >> _63 == _0:  # the double was rounded up to a power of two
        zeros += 1
    number <<= np.uint64(zeros)
    high, low = high_half(number, five), number * five
    if high & _CLOSE == _CLOSE:  # what is cut off may carry
        more = high_half(number, beyond)
        low += more
        high += _1 if low < more else _0
    upper = high >> _63
    mantissa = high >> (upper + _9)  # 54 bits: one more than a double has
    exponent = (217706 * ten >> 16) + 1086 + np.int64(upper) - zeros
    if exponent <= 0:  # smaller than the doubles of full precision
        mantissa = mantissa >> np.uint64(min(1 - exponent, 63))
        return (mantissa + (mantissa & _1)) >> _1  # a carry makes it the least double of full precision
    half = low <= _1 and -4 <= ten <= 23 and mantissa & _3 == _1 and mantissa << (upper + _9) == high
    mantissa = (mantissa if half else mantissa + (mantissa & _1)) >> _1  # of two that are as near, the even one
    return (np.uint64(exponent - 1) << _52) + mantissa  # a carry goes into the exponent


@text_kernel
def short(blob: Any, starts: Any, stops: Any, rows: int, decimal: int, fives: Any, values: Any, rest: Any) -> int:
    """values[i] = the number blob[starts[i]:stops[i]], if it is some digits and a mark; NaN if it is empty.

    The cells are columns of so many rows, one after the other: they are read some rows at a time. The numbers of other
    cells go to `rest`; returns how many there are.
    """
    left, end, point = 0, len(blob), np.uint64(decimal ^ _ZERO)
    word = np.empty(1, np.uint64)
    double = word.view(np.float64)
    for first in range(0, rows, GROUP):
        for column in range(0, len(starts), rows):
            for t in range(column + first, column + min(first + GROUP, rows)):
                i = np.int64(starts[t])
                n = np.int64(stops[t]) - i
                if n <= 0:
                    values[t] = np.nan
                    continue
                minus = np.int64(blob[i] == _MINUS)
                i += minus
                n -= minus
                more: Any = n - 8
                if -7 <= more <= _MORE and i + 24 <= end:  # eight characters, or fewer as if there were zeros in front
                    x = (load_eight(blob, i) ^ _ZEROS) << (_8 * np.uint64(-min(more, 0)))
                    others = other_bytes(x)
                    one = (others & (~others + _1)) >> _7  # the first of them
                    if others == one << _7 and x & one * _BYTE == one * point and (n > 1 or others == _0):
                        decimals: Any = 0
                        if others != _0:  # close the gap
                            decimals = 7 - (trailing_zeros(one) >> 3)
                            x = (x & ~((one << _8) - _1)) | ((x & (one - _1)) << _8)
                        number = eight_digits(x)
                        if more <= 0:
                            values[t] = np.float64(np.int64(number)) / _SIGNED[minus, decimals]
                            continue
                        wrong = _1 if others == _0 else _0
                        if more > 8:
                            x = load_eight(blob, i + 8) ^ _ZEROS
                            wrong |= other_bytes(x)
                            number = number * _TENS[8] + eight_digits(x)
                            i += 8
                        last = more - 8 if more > 8 else more
                        x = (load_eight(blob, i + 8) ^ _ZEROS) << (_8 * np.uint64(8 - last))
                        wrong |= other_bytes(x)
                        if wrong == _0:
                            number = number * _TENS[last] + eight_digits(x)
                            decimals += more
                            if number <= _EXACT:
                                values[t] = np.float64(np.int64(number)) / _SIGNED[minus, decimals]
                                continue
                            at = -decimals - _LEAST
                            word[0] = rounded(number, -decimals, fives[at, 0], fives[at, 1]) | np.uint64(minus) << _63
                            values[t] = double[0]
                            continue
                rest[left] = t
                left += 1
    return left


@text_kernel
def scan(
    blob: Any,
    starts: Any,
    stops: Any,
    rest: Any,
    decimal: int,
    thousands: Any,
    longest: int,
    wholes: Any,
    tens: Any,
    values: Any,
    how: Any,
) -> None:
    """The number in cell i = rest[k] is wholes[k] · 10^tens[k], if how[k] is SCANNED; its sign goes to values[i].

    A text longer than the longest word is junk, unless it begins or ends with letters of several bytes, which may be
    blanks.
    """
    mark, end = len(thousands), len(blob)
    for t in range(len(rest)):
        i, stop = np.int64(starts[rest[t]]), np.int64(stops[rest[t]])
        while i < stop and (blob[i] == _BLANK or 9 <= blob[i] <= 13):
            i += 1
        while i < stop and (blob[stop - 1] == _BLANK or 9 <= blob[stop - 1] <= 13):
            stop -= 1
        if i >= stop:
            how[t] = MISSING
            continue
        begin = i
        values[rest[t]] = -1.0 if blob[i] == _MINUS else 1.0
        i += blob[i] == _MINUS or blob[i] == _PLUS
        first, digits, point, number, grouped, fine = i, 0, -1, np.uint64(0), False, True
        while True:
            run = i
            while i < stop:  # eight digits at once, or the last few as if there were zeros in front
                here = min(8, stop - i)
                x = (eight_bytes(blob, i, end) ^ _ZEROS) << (_8 * np.uint64(8 - here))
                if other_bytes(x) != _0:
                    break
                number = number * _TENS[here] + eight_digits(x)
                i += here
            while i < stop and _ZERO <= blob[i] <= _NINE:
                number = number * _TEN + np.uint64(blob[i] - _ZERO)
                i += 1
            digits += i - run
            if point >= 0:
                break
            if mark > 0 and i + mark <= stop:
                k = 0
                while k < mark and blob[i + k] == thousands[k]:
                    k += 1
                if k == mark:
                    fine = fine and (i - run == 3 or (not grouped and 1 <= i - run <= 3))
                    grouped, i = True, i + mark
                    continue
            fine = fine and (not grouped or i - run == 3)
            point = digits
            if i == stop or blob[i] != decimal:
                break
            i += 1
        after, ten = i, point - digits
        if i < stop and digits > 0 and blob[i] | _SMALL == _E | _SMALL:
            i += 1
            back = i < stop and blob[i] == _MINUS
            i += back or (i < stop and blob[i] == _PLUS)
            run = i
            power: Any = 0
            while i < stop and _ZERO <= blob[i] <= _NINE:
                power = min(power * 10 + np.int64(blob[i]) - _ZERO, _FAR)
                i += 1
            fine = fine and i > run
            ten += -power if back else power
        if i < stop or digits == 0 or not fine:
            how[t] = JUNK if stop - begin > longest and blob[begin] < 128 and blob[stop - 1] < 128 else WORD
            continue
        if digits > _MOST_DIGITS:  # zeros in front do not count
            i = first
            while i < after and not _ZERO < blob[i] <= _NINE:
                digits -= blob[i] == _ZERO
                i += 1
        how[t] = SCANNED if digits <= _MOST_DIGITS else LONG
        wholes[t], tens[t] = number, ten


@text_kernel
def nearest(wholes: Any, tens: Any, how: Any, fives: Any, rest: Any, values: Any) -> int:
    """values[i] *= the double nearest to wholes[k] · 10^tens[k], i = rest[k], where how[k] is SCANNED; else NaN.

    Where both are doubles, one operation rounds right (Clinger 1990, "How to read floating point numbers accurately").
    What is infinite is junk. Returns how many cells are neither numbers nor missing.
    """
    left = 0
    word = np.empty(1, np.uint64)
    double = word.view(np.float64)
    for t in range(len(wholes)):
        number, ten = wholes[t], tens[t]
        if how[t] != SCANNED or (ten > _GREATEST and number > _0):
            left += how[t] != MISSING
            how[t] = JUNK if how[t] == SCANNED else how[t]
            values[rest[t]] = np.nan
            continue
        if number <= _EXACT and -22 <= ten <= 22:
            value = np.float64(number)
            values[rest[t]] *= value / _POWERS[-ten] if ten < 0 else value * _POWERS[ten]
            continue
        if number == _0 or ten < _LEAST:
            values[rest[t]] *= 0.0
            continue
        word[0] = rounded(number, ten, fives[ten - _LEAST, 0], fives[ten - _LEAST, 1])
        values[rest[t]] *= double[0]
        if word[0] >= _INFINITE:
            values[rest[t]], how[t] = np.nan, JUNK
            left += 1
    return left


@kernel
def lay(blob: Any, starts: Any, stops: Any, decimal: int, out: Any, ends: Any) -> None:
    """The numbers blob[starts[i]:stops[i]] end to end, as every library writes them: out[ends[i]:ends[i+1]].

    They are known to be numbers, so whatever is not part of one is a blank, a plus or a mark between thousands.
    """
    n = 0
    ends[0] = 0
    for t in range(len(starts)):
        for i in range(starts[t], stops[t]):
            c = blob[i]
            if c == decimal:
                c = np.uint8(_POINT)
            elif not (_ZERO <= c <= _NINE or c == _MINUS or c | _SMALL == _E | _SMALL):
                continue
            out[n] = c
            n += 1
        ends[t + 1] = n
