"""Texts are read where they lie: numbers to the bit as Python reads them, codes as copies would be coded."""

import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenodds import kernel
from evenodds.keys import key
from evenodds.label_kernels import hash_blob, pack
from evenodds.labels import Labels
from evenodds.number_kernels import LONG, SCANNED, fives, lay, nearest, scan, short
from evenodds.texts import FALSE, MISSING, MISSING_TEXT, TRUE, Marks, Texts, codes, joined, numbers

digits = st.text("0123456789", max_size=25)
signs = st.sampled_from(["", "-", "+"])
powers = st.builds(lambda e, sign, n: f"{e}{sign}{n}", st.sampled_from("eE"), signs, st.integers(0, 400))
decimals = st.builds(
    lambda sign, whole, part, power: f"{sign}{whole}{part}{power}",
    signs,
    digits,
    st.one_of(st.just(""), digits.map(lambda part: "." + part)),
    st.one_of(st.just(""), powers),
)
doubles = st.floats(allow_nan=False, allow_infinity=False)
many = settings(deadline=None, max_examples=300)


def bits(x):
    return np.asarray(x, np.float64).tobytes()


def as_python_reads(text):
    """The number, or None where it is junk."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isinf(value) else value


def assert_as_python(texts):
    values, bad = numbers(Texts.of(texts))
    for i, text in enumerate(texts):
        expected = as_python_reads(text)
        if text in MISSING:
            assert np.isnan(values[i]), text
            assert i not in bad
        elif expected is None:
            assert np.isnan(values[i]), text
            assert i in bad
        else:
            assert bits(values[i]) == bits(expected), text
            assert i not in bad


@given(texts=st.lists(decimals, max_size=20))
@example(
    ["18446744073709551615", "18446744073709551615e10", "9007199254740993", "9007199254740993.0000000000000000001"]
)
@example(["1e400", "-1e-400", "0e999999999999999999999", "1e-999999999999999999999", "0." + "0" * 400 + "1e400"])
@example(["4.9e-324", "2.4703282292062327e-324", "2.4703282292062328e-324", "2.4703282292062327208e-324", "1e-324"])
@example(["2.2250738585072014e-308", "2.2250738585072011e-308", "2.225073858507201136057409796709131975934819546e-308"])
@example(["1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308", "17976931348623158079e289"])
@example(["1.7976931348623158079372897140530341507993413271003782e308", "1.7976931348623158079372897140530341e308"])
@example(["0", "-0", "+0", "00", "-00.00", ".5", "5.", "-.5e1", "5.e1", "+1", "007", "1" * 19, "1" * 20])
@many
def test_decimals_are_read_as_python_reads_them(texts):
    assert_as_python(texts)


@given(values=st.lists(doubles, max_size=20), form=st.sampled_from(["r", ".6g", ".17g", ".18e", ".3f", ".25g"]))
@many
def test_doubles_are_read_as_they_were_written(values, form):
    texts = [repr(value) if form == "r" else format(value, form) for value in values]
    assert_as_python(texts)
    if form in ("r", ".17g", ".18e", ".25g"):
        assert bits(numbers(Texts.of(texts))[0]) == bits(values)


@given(
    whole=st.integers(2**52, 2**53 - 1), shift=st.integers(-1074, 971), tail=st.sampled_from(["", "0", "1", "00001"])
)
@many
def test_a_number_halfway_between_two_doubles_goes_to_the_even_one(whole, shift, tail):
    halfway = Fraction(2 * whole + 1) * Fraction(2) ** (shift - 1)
    if halfway.denominator == 1:
        text = f"{halfway.numerator}.{tail}"
    else:
        places = halfway.denominator.bit_length() - 1  # of a power of two, which divides 10^places
        text = str(halfway.numerator * 5**places).rjust(places + 1, "0")
        text = f"{text[:-places]}.{text[-places:]}{tail}"
    assert_as_python([text, "-" + text])


@pytest.mark.parametrize("ten", range(-30, 31))
def test_short_halves_go_to_the_even_one(ten):
    # whole numbers of 54 bits and powers of ten that are nearly doubles: the cases of Clinger's and Lemire's proofs
    rng = np.random.default_rng(ten + 30)
    texts = [f"{2 * int(n) + 1}e{ten}" for n in rng.integers(2**52, 2**53, 200)]
    texts += [f"{int(n)}e{ten}" for n in rng.integers(2**63, 2**64 - 1, 200, dtype=np.uint64)]
    assert_as_python(texts)


def test_a_hundred_thousand_random_bits_are_read_as_python_reads_them():
    values = np.random.default_rng(0).integers(0, 2**64, 100_000, dtype=np.uint64).view(np.float64)
    values = values[np.isfinite(values)]
    read, bad = numbers(Texts.of(map(repr, values.tolist())))
    assert len(bad) == 0
    assert bits(read) == bits(values)


@given(text=st.text("0123456789.,+-eE '", max_size=12))
@many
def test_junk_is_junk_for_python_too(text):
    assert_as_python([text.strip()])


# Marks


@pytest.mark.parametrize(
    ("marks", "text", "value"),
    [
        (Marks(","), "1,5", 1.5),
        (Marks(","), "1.5", None),
        (Marks(","), "-12345678,5e2", -1234567850.0),
        (Marks(",", "."), "1.234,5", 1234.5),
        (Marks(",", "."), "1.234.567", 1234567.0),
        (Marks(",", "."), "1.5", None),
        (Marks(".", ","), "1,234.5", 1234.5),
        (Marks(".", ","), "+123,456,789,012,345,678.25", 123456789012345678.25),
        (Marks(".", ","), "1,234,567,890,123,456,789,012.5", 1234567890123456789012.5),
        (Marks(".", ","), "12,34", None),
        (Marks(".", ","), "1234,567", None),
        (Marks(".", ","), "1,2345", None),
        (Marks(".", ","), "1,,234", None),
        (Marks(".", ","), ",123", None),
        (Marks(".", ","), "123,", None),
        (Marks(".", ","), "1.234,567", None),
        (Marks(".", ","), "1,234e3", 1234000.0),
        (Marks(".", ","), "1234567", 1234567.0),
        (Marks(".", "'"), "1'234.5", 1234.5),
        (Marks(",", "\u202f"), "1\u202f234\u202f567,5", 1234567.5),
        (Marks(",", "\u00a0"), "12\u00a0345", 12345.0),
        (Marks(",", "\u00a0"), "12\u202f345", None),
        (Marks(",", " "), " 12 345 ", 12345.0),
        (Marks(".", "_"), "1_000", 1000.0),
        (Marks(), "1_000", None),
        (Marks(), "1,000", None),
    ],
)
def test_numbers_are_read_with_their_marks(marks, text, value):
    (read,), bad = numbers(Texts.of([text]), marks)
    assert (np.isnan(read) and bad.tolist() == [0]) if value is None else (read == value and not len(bad))


@given(value=st.floats(-1e15, 1e15), marks=st.sampled_from([(".", ","), (",", "."), (",", "\u202f"), (".", "")]))
@many
def test_grouped_digits_are_the_number_without_the_groups(value, marks):
    point, mark = marks
    text = f"{value:,.3f}".replace(",", "t").replace(".", point).replace("t", mark)
    (read,), bad = numbers(Texts.of([text]), Marks(*marks))
    assert bits(read) == bits(float(f"{value:.3f}"))
    assert not len(bad)


# Words and blanks


def test_missing_cells_and_words_are_known():
    cells = [None, *MISSING, *TRUE, *FALSE, "YES", "True"]
    values, bad = numbers(Texts.of(cells))
    missing = [None, *MISSING]
    np.testing.assert_array_equal(values, [np.nan] * len(missing) + [1.0] * 4 + [0.0] * 4 + [1.0, 1.0])
    assert not len(bad)


@pytest.mark.parametrize("blanks", [" ", "\t ", "\r\n", "\u00a0", "\u2003 "], ids=repr)
def test_blanks_around_a_cell_do_not_matter(blanks):
    cells = ["1.5", "12345678901.25", "123456789012345678901", "NA", "yes", "", "-", "x", "about 15 of them", "1e400"]
    values, bad = numbers(Texts.of([blanks + cell + blanks for cell in cells]))
    expected = [1.5, 12345678901.25, 123456789012345678901.0, np.nan, 1.0, *[np.nan] * 5]
    np.testing.assert_array_equal(values, expected)
    assert bad.tolist() == [7, 8, 9]


JUNK = ["inf", "-inf", "Infinity", "1e309", "1.5.2", "1e", "e5", "--1", "1 2", "0x10", "½", "\ufeff1", "١"]


@pytest.mark.parametrize("junk", JUNK)
def test_what_is_no_number_is_told_by_its_place(junk):
    values, bad = numbers(Texts.of(["1", junk, None, "2"]))
    np.testing.assert_array_equal(values, [1, np.nan, np.nan, 2])
    assert bad.tolist() == [1]


def test_bytes_that_are_no_text_are_no_number():
    values, bad = numbers(Texts.of_bytes([b"\xff", b"1\xff", b"2", b"\xa05", b"\xc2\xa05"]))
    np.testing.assert_array_equal(values, [np.nan, np.nan, 2, np.nan, 5])
    assert bad.tolist() == [0, 1, 3]


# Kernels


def cut(cells):
    """Cells cut out of something longer."""
    whole = Texts.of(["…", *(part for cell in cells for part in (cell, ";7"))])
    return whole[np.arange(1, len(whole), 2)]


@given(cells=st.lists(st.one_of(decimals, st.text(" 1.,-eéx", max_size=12), st.none()), max_size=12))
@example(["1.5", "123456789.5", "1e-320", "1e-400", "1e400", "123456789012345678e-40", "1" * 25, "yes", "17e308"])
@settings(deadline=None)
def test_numbers_are_their_python(cells):
    texts = cut(cells)
    data = texts.blob, texts.starts, texts.stops
    mark = np.frombuffer(b",", np.uint8)
    results = []
    for run in ("compiled", "plain"):
        n = len(texts)
        values, rest = np.zeros(n), np.zeros(n, np.int32)
        left = getattr(short, run)(*data, n, ord("."), fives(), values, rest)
        rest = np.arange(n, dtype=np.int32)  # all of them, the short ones too
        wholes, tens, how = np.zeros(n, np.uint64), np.zeros(n, np.int64), np.zeros(n, np.uint8)
        again = np.zeros(n)
        getattr(scan, run)(*data, rest, ord("."), mark, 5, wholes, tens, again, how)
        parts = wholes.copy(), tens.copy(), how.copy()
        found = getattr(nearest, run)(wholes, tens, how, fives(), rest, again)
        long = texts[np.flatnonzero((how == LONG) | (how == SCANNED))]
        out, ends = np.zeros(len(texts.blob), np.uint8), np.zeros(len(long) + 1, np.int64)
        getattr(lay, run)(long.blob, long.starts, long.stops, ord("."), out, ends)
        results.append([left, values, *parts, how, found, again, out, ends])
    for compiled, plain in zip(*results):
        np.testing.assert_array_equal(compiled, plain)


def test_zeros_in_front_are_no_digits():
    texts = Texts.of(["0.00012345678901234567", "000000000000000000001", "0.00" + "1" * 20, "1" + "0" * 19])
    wholes, tens, values, how = np.zeros(4, np.uint64), np.zeros(4, np.int64), np.zeros(4), np.zeros(4, np.uint8)
    data, mark = (texts.blob, texts.starts, texts.stops), np.empty(0, np.uint8)
    scan(*data, np.arange(4, dtype=np.int32), ord("."), mark, 5, wholes, tens, values, how)
    assert how.tolist() == [SCANNED, SCANNED, LONG, LONG]
    assert (wholes[:2].tolist(), tens[:2].tolist()) == ([12345678901234567, 1], [-20, 0])


def test_columns_side_by_side_are_read_as_columns_alone():
    rng = np.random.default_rng(2)
    cells = [f"{value:.{int(places)}f}" for value, places in zip(rng.normal(0, 100, 3600), rng.integers(0, 17, 3600))]
    cells[700:3000:300] = ["junk"] * 8
    texts = Texts.of(cells)
    alone, wrong = numbers(texts)
    together, bad = numbers(texts, columns=3)
    assert bits(together) == bits(alone)
    assert bad.tolist() == wrong.tolist() == [*range(700, 3000, 300)]


def test_what_is_short_is_read_as_what_is_long():
    rng = np.random.default_rng(1)
    cells = [f"{value:.{places}f}"[:9] for value in rng.normal(0, 100, 500) for places in range(6)]
    texts, n = Texts.of(cells), len(cells)
    values, rest = np.zeros(n), np.zeros(n, np.int32)
    left = short(texts.blob, texts.starts, texts.stops, n, ord("."), fives(), values, rest)
    assert left < n / 10
    longer, bad = numbers(Texts.of([cell + ("" if "." in cell else ".") + "0" * 9 for cell in cells]))
    read = np.setdiff1d(np.arange(n), rest[:left])
    assert bits(values[read]) == bits(longer[read])
    assert not len(bad)


def test_up_to_twenty_characters_are_read_as_python_reads_them():
    rng = np.random.default_rng(3)
    sizes = zip(rng.normal(0, 1, 3000) * 10.0 ** rng.integers(-3, 9, 3000), rng.integers(0, 19, 3000))
    cells = [f"{value:.{int(places)}f}"[:21].removesuffix("-") for value, places in sizes]
    cells += [
        "-0.000000000000000000",
        "9999999.999999999999",
        "0.000000000000000000",
        "1234567.8",
        "1.5e3",
        "1.2.345678",
    ]
    texts, n = Texts.of([*cells, "." * 24]), len(cells) + 1  # the last cells of a run of bytes are not read here
    values, rest = np.zeros(n), np.zeros(n, np.int32)
    left = short(texts.blob, texts.starts, texts.stops, n, ord("."), fives(), values, rest)
    read = np.setdiff1d(np.arange(n), rest[:left])
    assert left < n / 3
    assert {cells[i] for i in rest[: left - 1]} >= {"1.5e3", "1.2.345678"}
    assert bits(values[read]) == bits([float(cells[i]) for i in read])
    assert max(len(cells[i].lstrip("-")) for i in read) == 20


# Texts


def test_cells_keep_their_texts():
    texts = Texts.of(["ham", None, "", "grün"])
    assert (len(texts), texts.texts()) == (4, ["ham", None, "", "grün"])
    assert texts[1:3].texts() == [None, ""]
    assert texts[np.array([3, 0])].texts() == ["grün", "ham"]
    assert texts.known.tolist() == [True, False, True, True]
    assert Texts.of_bytes([b"a\xff"]).text(0) == "a�"


@given(cells=st.lists(st.one_of(st.none(), st.text(max_size=9)), max_size=9), start=st.integers(0, 3))
@settings(deadline=None)
def test_arrow_arrays_are_read_as_they_lie(cells, start):
    for type_ in (pa.string(), pa.large_string(), pa.string_view()):
        array = pa.array(cells, type_)
        assert Texts.of_arrow(array).texts() == cells
        assert Texts.of_arrow(array.slice(start, 4)).texts() == cells[start : start + 4]
        assert Texts.of_arrow(pa.chunked_array([array, array.slice(start)])).texts() == cells + cells[start:]
    assert Texts.of_arrow(pa.chunked_array([], pa.string())).texts() == []


def test_an_arrow_array_is_not_copied():
    array = pa.array(["some", "texts"])
    assert Texts.of_arrow(array).blob.ctypes.data == array.buffers()[2].address


@given(
    lists=st.lists(st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=5), max_size=4), cutting=st.booleans()
)
@settings(deadline=None)
def test_parts_are_joined_in_their_order(lists, cutting):
    parts = [(cut if cutting else Texts.of)(cells) for cells in lists]
    assert joined(parts).texts() == [cell for cells in lists for cell in cells]


def test_joined_cells_leave_behind_what_is_between_them():
    wide = Texts.of(["x" * 1000, "a", None, "b"])[1:]
    assert len(joined([wide, wide]).blob) == 4
    for run in (pack.compiled, pack.plain):
        out = np.zeros(2, np.uint8)
        run(wide.blob, wide.starts, wide.stops, out)
        assert out.tobytes() == b"ab"


# Codes


@pytest.mark.parametrize("run", ["compiled", "plain"])
@given(cells=st.lists(st.one_of(st.none(), st.text("ab☃é\0", max_size=20)), max_size=12))
@settings(deadline=None)
def test_texts_are_coded_in_place_as_their_copies_are(run, cells):
    texts = cut(cells)
    keys = getattr(hash_blob, run)(texts.blob, texts.starts, texts.stops)
    assert keys.tolist() == [key((cell or "").encode()) for cell in cells]
    copies = Texts.of(cells)
    ends = np.append(copies.starts, len(copies.blob))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernel, "FEW", 0)
        in_place = Labels.encode(texts.blob, texts.starts, texts.stops, texts.known)
        of_copies = Labels.encode(copies.blob, ends[:-1], ends[1:], copies.known)
    np.testing.assert_array_equal(in_place[0], of_copies[0])
    np.testing.assert_array_equal(in_place[2], of_copies[2])
    assert in_place[1] == of_copies[1] == Labels.of([cell for cell in cells if cell is not None])


def decoded(found, labels, place):
    places = np.append(place, -1)[found]
    return [None if i < 0 else labels.text(i) for i in places]


@given(cells=st.lists(st.one_of(st.none(), st.sampled_from(["", "a", "?", "NA", "ü", "nan", "-"])), max_size=15))
@settings(deadline=None)
def test_codes_are_the_texts_without_the_missing(cells):
    found, labels, place, garbled = codes(cut(cells))
    known = [None if cell in MISSING_TEXT else cell for cell in cells]
    assert decoded(found, labels, place) == known
    assert labels == Labels.of([cell for cell in known if cell is not None])
    assert garbled == 0


def test_other_marks_can_be_missing():
    found, labels, place, _ = codes(Texts.of(["?", "none", "a"]), missing=("none",))
    assert decoded(found, labels, place) == ["?", None, "a"]


def test_what_is_not_utf8_is_replaced_and_counted():
    cells = [b"a", b"caf\xe9", b"caf\xff", b"caf\xe9", "é".encode(), None, b"?", "caf�".encode()]
    found, labels, place, garbled = codes(Texts.of_bytes(cells))
    assert decoded(found, labels, place) == ["a", "caf�", "caf�", "caf�", "é", None, None, "caf�"]
    assert sorted(labels.texts()) == ["a", "caf�", "é"]
    assert garbled == 3


def test_two_halves_of_a_letter_are_no_letter():
    # labels lie end to end in the order of their keys: here the end of one and the start of the next look like a letter
    end = b"\xa9y"
    start = next(start for i in range(99) if key(start := b"%d\xc3" % i) < key(end))
    found, labels, place, garbled = codes(Texts.of_bytes([end, start]))
    assert decoded(found, labels, place) == ["�y", start[:-1].decode() + "�"]
    assert garbled == 2
