"""CSV is cut as Python's own reader cuts it, for any size of block; broken files are refused in a sentence."""

import csv
import gzip
import io
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evenodds.data import csv as module
from evenodds.data import csv_kernels
from evenodds.data.csv import CsvReader
from evenodds.data.csv_kernels import AT, LINE, ODD, OPEN, RAGGED, ROWS, split, stitch, turn
from evenodds.errors import DataError
from evenodds.texts import Texts

TOLD = {"separator": ",", "decimal": ".", "thousands": "", "encoding": "utf-8", "header": False, "strip": False}
texts = st.text('",\n\r ab\t\1é', max_size=30)
pieces = st.sampled_from(["", "a", " b", '"', '""', '"c"', '" "', '"d""e"', '"f\n"g', "h" * 70])
tables = st.lists(st.lists(pieces, min_size=2, max_size=2), max_size=8)


def oracle(text, strip):
    """Rows with the lines they begin in, as csv has them, without blank lines; and whether a quote is left open."""
    lines = list(io.StringIO(text, newline=""))
    reader, rows, before = csv.reader(lines, skipinitialspace=strip), [], 0
    for row in reader:
        if row and "".join(lines[before : reader.line_num]).strip(" \t\r\n"):
            rows.append((before + 1, row))
        before = reader.line_num
    *_, end = csv.reader(io.StringIO(text + "\n@", newline=""), skipinitialspace=strip)
    return rows, end != ["@"]


def read(text, **told):
    data = text if isinstance(text, bytes) else text.encode()
    return CsvReader(io.BytesIO(data), "data.csv", **{**TOLD, **told})


def cells(batch):
    return [list(row) for row in zip(*(batch.texts(j).texts() for j in range(len(batch.places))))]


def table(reader):
    return [row for batch in reader.batches() for row in cells(batch)]


def check(text, strip, block):
    expected, is_open = oracle(text, strip)
    if is_open or not expected:
        said = "a quote is opened here and never closed" if is_open else "data.csv is empty"
        with pytest.raises(DataError, match=said):
            list(read(text, strip=strip, block=block).batches())
        return
    batches = list(read(text, strip=strip, block=block).batches())
    n = len(expected[0][1])
    kept = [(line, row) for line, row in expected if len(row) == n]
    assert [[cell or "" for cell in row] for batch in batches for row in cells(batch)] == [row for _, row in kept]
    assert [line for batch in batches for line in batch.lines] == [line for line, _ in kept]
    ragged = [(line, len(row)) for line, row in expected if len(row) != n]
    assert [one for batch in batches for one in batch.ragged] == ragged
    raw = [batch.block[a:b].tobytes().decode() for batch in batches for a, b in batch.spans]
    for line, row in zip(raw, kept):  # a row's own text is that row again
        assert list(csv.reader(io.StringIO(line, newline=""), skipinitialspace=strip)) == [row[1]]


@pytest.mark.parametrize("strip", [False, True], ids=["as is", "stripped"])
@given(text=texts)
@example('a,"b"\r\n"c""d",e"f\r\r\n "g", "h\n,"\n')
@example('"a"b"c""d",\n,""\n')
@example("a\r")
@example(' "a\n')
@settings(deadline=None)
def test_any_text_is_cut_as_csv_cuts_it_for_every_size_of_block(strip, text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FIRST", 0)
        for block in range(1, len(text.encode()) + 2):
            check(text, strip, block)


@given(rows=tables, end=st.sampled_from(["\n", "\r\n", "\r"]), strip=st.booleans(), block=st.integers(1, 200))
@settings(deadline=None)
def test_tables_are_cut_as_csv_cuts_them(rows, end, strip, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "FIRST", 0)
        check(end.join(",".join(row) for row in rows), strip, block)


def arguments(data, columns, last):
    size = len(data)
    spare = (size // 64 + 1) * 64
    block = np.zeros(spare + size, np.uint8)
    block[:size] = np.frombuffer(data, np.uint8)
    room = size + 1
    ends, cells = np.zeros(room * columns + 64, np.int32), np.zeros((room, columns, 2), np.int32)
    spans, lines = np.zeros((room, 2), np.int32), np.zeros(room, np.int64)
    into = [ends, spans, lines, np.zeros(room, np.int32), cells, np.zeros((room, 2), np.int64)]
    return [block, size, 44, 34, False, last, *into, np.array([0, 1, spare, 0, 0, 0, 0])]


def turned(arguments, run=turn.compiled):
    """The texts of the cells, their rows, the lines of these; what is ragged; and what is left."""
    block, _, _, _, strip, _, ends, spans, lines, odd, cells, ragged, state = arguments
    n = state[ROWS]
    columns = np.full((cells.shape[1], 2, n), -7, np.int32)
    run(block, ends, spans, odd[: state[ODD]], cells, strip, columns)
    found = [Texts(block, *column).texts() for column in columns]
    left = [state[AT], state[LINE], state[OPEN]]
    return found, spans[:n].tolist(), lines[:n].tolist(), ragged[: state[RAGGED]].tolist(), left


def row_by_row(arguments):
    """`split` without its quick path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_kernels, "regular", lambda block, at, *rest: (rest[-2], at, rest[-1]))
        split.plain(*arguments)


quoted = st.sampled_from(['"a"', '"b,\n"', '""', '"\r\n ,"', '"' + "c\n" * 50 + '"'])
well_formed = st.lists(st.lists(pieces | quoted, min_size=2, max_size=2).map(",".join), max_size=20).flatmap(
    lambda rows: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join([*rows, ""]))
)


@given(
    text=st.text(',"\n\r ab', max_size=300) | well_formed,
    columns=st.integers(0, 3),
    last=st.booleans(),
    strip=st.booleans(),
)
@example(text='"' + "a" * 61 + '"\r\n,b\n', columns=1, last=True, strip=False)
@example(text="a" * 62 + "\r\nb\n", columns=1, last=True, strip=False)
@settings(deadline=None, max_examples=500)
def test_64_bytes_at_a_time_are_cut_as_byte_by_byte(text, columns, last, strip):
    quick, slow = (arguments(text.encode(), columns, last) for _ in range(2))
    quick[4] = slow[4] = strip
    split.compiled(*quick)
    row_by_row(slow)
    assert slow[-1][ODD] == slow[-1][ROWS]
    assert turned(quick) == turned(slow)


def test_regular_rows_take_the_quick_path_and_others_do_not():
    lines = [b'1,"a,b\r\n"', b',""', b"2,x" * 30, b'3,"a""b"', b'4,a"b', b'5,"a" ', b"6,a\r7,b", b' 8, "c"']
    text = b"\r\n".join([*lines, b""])
    cut = arguments(text, 2, True)
    split.compiled(*cut)
    assert turned(cut)[3] == [[4, 31]]  # nothing but the row with too many cells
    odd, rows = cut[9][: cut[-1][ODD]].tolist(), cut[-1][ROWS]
    assert (odd, rows) == ([2, 3, 4, 5, 7], 8)


@given(text=texts, columns=st.integers(0, 3), last=st.booleans(), strip=st.booleans())
@settings(deadline=None)
def test_split_is_its_python(text, columns, last, strip):
    compiled, plain = (arguments(text.encode(), columns, last) for _ in range(2))
    compiled[4] = plain[4] = strip
    split.compiled(*compiled)
    split.plain(*plain)
    for a, b in zip(compiled, plain):
        np.testing.assert_array_equal(a, b)


def test_a_long_block_is_cut_as_csv_cuts_it_and_as_its_python_does():
    rng = np.random.default_rng(0)
    words = ["", "a", "1.5", '"x"', '"y,""z"""', '"new\r\nline"', "word " * 30]
    text = "\r\n".join(",".join(rng.choice(words, 3)) for _ in range(4000))
    check(text, False, 1 << 20)
    check(text, True, 1000)
    compiled, plain = (arguments(text.encode()[:20_000], 3, False) for _ in range(2))
    split.compiled(*compiled)
    split.plain(*plain)
    assert compiled[-1][3] > 200
    for a, b in zip(compiled, plain):
        np.testing.assert_array_equal(a, b)


def test_nothing_is_null_and_quotes_around_nothing_are_empty_text():
    assert table(read('a,,"",\n,""x, ,"\n"""\n')) == [["a", None, "", None], [None, "x", " ", '\n"']]
    assert table(read('a, ,  "", b \n', strip=True)) == [["a", None, "", "b "]]


def test_a_column_of_prose_is_one_column():
    reader = CsvReader(io.BytesIO(b'text\nHello, you\n"a ""b"", c"\nHo; ho, ho|\n'), "data.csv")
    (batch,) = reader.batches()
    assert (reader.names, cells(batch)) == (["text"], [["Hello, you"], ['a "b", c'], ["Ho; ho, ho|"]])


def test_more_rows_than_a_batch_has_room_for_come_in_several(monkeypatch):
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    monkeypatch.setattr(module, "MOST_RAGGED", 2)
    monkeypatch.setattr(module, "FIRST", 0)
    text = "".join(f'{i},"""{i}"\n' + "c\n" * (i % 4) for i in range(20))
    batches = list(read(text).batches())
    assert [row for batch in batches for row in cells(batch)] == [[str(i), f'"{i}'] for i in range(20)]
    assert sum(len(batch.ragged) for batch in batches) == 30
    assert all(batch.rows <= 3 and len(batch.ragged) <= 2 for batch in batches)


# What a reader says


def test_names_come_from_the_header_and_from_the_place():
    assert read("name, age ,,x\n1,2,3,4\n", header=True).names == ["name", "age", "x2", "x"]
    assert read("1,2,3\n").names == ["x0", "x1", "x2"]
    assert read('\n\n"a\nb",c\n1,2\n', header=True, block=2).names == ["a\nb", "c"]


def test_what_is_not_told_is_detected():
    reader = CsvReader(io.BytesIO("größe;n\n1,5;a\n2,25;b\n".encode("cp1252")), "data.csv", separator=None, header=None)
    assert (str(reader.dialect), reader.names) == ("separated by ;, decimal comma, cp1252", ["größe", "n"])
    (batch,) = reader.batches()
    assert (batch.marks.decimal, batch.column("n").texts()) == (",", ["a", "b"])


def test_a_row_is_found_again_by_its_line():
    text = 'a,"b\n\nc"\n\n1\n2,3\r4,5' + "\n6,7" * 8
    (batch,) = read(text).batches()
    assert batch.lines.tolist() == [1, 6, *range(7, 16)]
    assert (batch.where(1), batch.ragged) == ("data.csv, line 6", [(5, 1)])
    assert (batch.report.ragged.count, batch.report.ragged.where) == (1, "data.csv, line 5")
    assert batch.bytes == len(text)


def test_rows_are_passed_on_byte_by_byte():
    (batch,) = read('a,"b""c"\r\n"d\ne", f\n').batches()
    assert batch.append([b",1", b",22"]) == b'a,"b""c",1\n"d\ne", f,22\n'
    with pytest.raises(ValueError, match="1 pieces for 2 rows: expected one each"):
        batch.append([b",1"])


@pytest.mark.parametrize("strip", [False, True])
def test_turn_is_its_python(strip):
    rng = np.random.default_rng(1)
    words = ["", "a", ' "x" ', '"x"', '""', " b", '"y,""z"""']
    text = "\n".join(",".join(rng.choice(words, 3)) for _ in range(1000))
    cut = arguments(text.encode(), 3, True)
    cut[4] = strip
    split.compiled(*cut)
    assert turned(cut, turn.compiled) == turned(cut, turn.plain)


def test_stitch_is_its_python():
    extra, ends, spans = np.frombuffer(b"xyz", np.uint8), np.array([0, 1, 3]), np.array([[0, 2], [4, 7]], np.int32)
    out = [np.zeros(10, np.uint8) for _ in range(2)]
    for run, into in zip((stitch.compiled, stitch.plain), out):
        run(np.frombuffer(b"abcdefgh", np.uint8), spans, extra, ends, into)
        assert into.tobytes() == b"abx\nefgyz\n"


# Encodings


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"])
@pytest.mark.parametrize("block", [1, 7, 1 << 20])
def test_every_encoding_is_read_as_utf8(encoding, block):
    text = "grün,x\n" + "größer,ß\n" * 50
    reader = CsvReader(io.BytesIO(text.encode(encoding)), "data.csv", block=block)
    assert reader.names == ["grün", "x"]
    assert table(reader) == [["größer", "ß"]] * 50


def test_a_byte_order_mark_is_no_part_of_the_first_name_even_where_the_encoding_is_told():
    for encoding in ("utf-8", "utf-16-le"):
        data = ("\ufeffa,b\n1,2\n").encode(encoding)
        assert CsvReader(io.BytesIO(data), "data.csv", encoding=encoding).names == ["a", "b"]


def test_a_letter_cut_in_two_by_the_end_of_the_file_is_replaced():
    data = "name\nAnna\nJürg\n".encode("utf-16") + "x".encode("utf-16-le")[:1]
    assert table(CsvReader(io.BytesIO(data), "data.csv")) == [["Anna"], ["Jürg"], ["�"]]


class Trickle(io.RawIOBase):
    """A stream that gives a few bytes at a time, as a pipe does, and cannot go back."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def readable(self):
        return True

    def readinto(self, view):
        part = self.data[self.at : self.at + min(len(view), 5)]
        view[: len(part)] = part
        self.at += len(part)
        return len(part)


@pytest.mark.parametrize("cell", ["b", '"b"', '"b""b"'])
def test_a_batch_holds_its_text_and_cells_and_nothing_more(cell):
    text = "a,c\n" + f"1,{cell}\n" * 50_000
    expected = next(csv.reader([cell]))[0]
    for batch in CsvReader(io.BytesIO(text.encode()), "data.csv", block=1 << 17).batches():
        assert set(batch.column("c").texts()) == {expected}
        held = [array if array.base is None else array.base for array in (batch.block, batch.spans, batch.lines)]
        sizes = [(2 if 'b""' in cell else 1) * (1 << 17), batch.rows * 8, batch.rows * 8]
        assert [array.nbytes <= size + 200 for array, size in zip(held, sizes)] == [True] * 3


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_stream_may_give_as_little_at_a_time_as_it_likes(encoding):
    text = "a,b\n" + "1,2\n" * 30
    assert len(table(CsvReader(Trickle(text.encode(encoding)), "data.csv"))) == 30


# Broken files


@pytest.mark.parametrize("data", [b"", b"\n\r\n\n", b"\xef\xbb\xbf", b"  \n \n"], ids=repr)
def test_an_empty_file_is_refused(data):
    with pytest.raises(DataError, match=r"^data\.csv is empty$"):
        CsvReader(io.BytesIO(data), "data.csv")


def test_a_file_that_is_no_text_is_refused_by_name():
    with pytest.raises(DataError, match=r"^data\.csv: line 1 holds NUL bytes, so this is no text"):
        CsvReader(io.BytesIO(b"PK\3\4\0\0\0\0\0\1"), "data.csv")


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(DataError, match=r"^data\.csv, line 2: two columns are named 'x': rename one$"):
        read("\nx,y,x\n1,2,3\n", header=True)


@pytest.mark.parametrize("block", [4, 1 << 20])
def test_a_quote_never_closed_is_found_where_it_was_opened(block):
    with pytest.raises(DataError, match=r"^data\.csv, line 3: a quote is opened here and never closed$"):
        table(read('a,b\n1,2\n3,"4\n5,6\n7,8\n', block=block))


@pytest.mark.parametrize(("rows", "wrong", "seen"), [(8, "8", "17"), (50_000, "4,999", "10,000")])
def test_too_many_ragged_rows_are_refused_with_the_cure(rows, wrong, seen):
    with pytest.raises(DataError) as error:
        table(read("a,b\n" + "1,2\n3,4,5\n" * rows))
    assert str(error.value) == (
        f"data.csv, line 3: 3 cells, expected 2 as in the first row, and {wrong} of the first {seen} rows are like "
        "that; is the separator ','? separator= tells another"
    )


def test_a_few_ragged_rows_are_left_out():
    text = "a,b\n" + "1,2\n" * 9_999 + "3\n" * 5_000  # these are not among the first 10,000
    batches = list(read(text, block=1000).batches())
    assert (sum(batch.rows for batch in batches), sum(len(batch.ragged) for batch in batches)) == (10_000, 5_000)
    assert len(table(read("a,b\n" * 9 + "1\n"))) == 9


def test_a_stream_cut_short_is_for_the_caller_to_explain():
    data = gzip.compress(b"a,b\n" + b"1,2\n" * 200_000)
    with pytest.raises(EOFError):
        table(CsvReader(gzip.GzipFile(fileobj=io.BytesIO(data[:-20])), "data.csv.gz"))


PROGRAM = """
import io, resource
from evenodds.data.csv import CsvReader
from evenodds.errors import DataError

class Endless:
    left = 100 << 20
    begun = False
    def readinto(self, view):
        n = min(len(view), self.left)
        view[:n] = b"x" * n
        if not self.begun:
            view[:8], self.begun = {start}, True
        self.left -= n
        return n
    def read(self, n):
        part = bytearray(n)
        return bytes(part[: self.readinto(part)])

list(CsvReader(io.BytesIO(b"a,b\\n" + b"1,2\\n" * 5000), "small.csv").batches())  # compiled by now
held, used = (int(pages) * resource.getpagesize() for pages in open("/proc/self/statm").read().split()[:2])
open("/proc/self/clear_refs", "w").write("5")  # what compiling took is not counted
resource.setrlimit(resource.RLIMIT_AS, (held + (600 << 20),) * 2)
try:
    print(sum(batch.rows for batch in CsvReader(Endless(), "data.csv").batches()))
except DataError as error:
    print(error)
peak = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak - used >> 20)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is the Linux kernel's")
@pytest.mark.parametrize("start", [b"a,b\n1,2\n", b'a,b\n1,"2'], ids=["one line", "an open quote"])
def test_a_row_without_an_end_is_refused_in_bounded_memory(start):
    program = PROGRAM.format(start=start)
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert run.stderr == ""
    message, more = run.stdout.splitlines()
    line = 3 if start.endswith(b"\n") else 2
    assert message == f"data.csv, line {line}: a row longer than 64 MB; is a quote left open?"
    assert int(more) < 300
