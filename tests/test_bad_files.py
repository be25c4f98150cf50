"""Files as they come, empty, cut, garbled, mistyped: the rows they hold, or one sentence and the right exit code."""

import bz2
import csv
import datetime as dt
import decimal
import gzip
import io
import json
import lzma
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import evenodds as eo
from command import invoke
from evenodds.audit.held_out import of_folds
from evenodds.audit.metrics import Metrics, tally
from evenodds.data import csv as csv_module
from evenodds.data import typed_files
from evenodds.data.files import Files, read
from evenodds.data.memory import Table, table
from evenodds.data.reading import Reading
from evenodds.data.source import Memory, TableBatch, needed
from evenodds.data.sum import fold_of
from evenodds.models.learn import learn, more

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.SchemaWarning")

EVENODDS = str(Path(sys.executable).parent / "evenodds")
ROWS = [{"x": i % 17 + 0.5, "c": "blue" if i % 3 else "rót", "y": "ab"[i % 2]} for i in range(300)]
LINES = ["x,c,y\n", *(f"{row['x']},{row['c']},{row['y']}\n" for row in ROWS)]
CSV = "".join(LINES).encode()
TABLE = pa.Table.from_pylist(ROWS)


def jsonl(rows):
    return "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows).encode()


def parquet(t=TABLE, **options):
    out = io.BytesIO()
    pq.write_table(t, out, **options)
    return out.getvalue()


def arrow(t=TABLE, new=pa.ipc.new_file):
    out = io.BytesIO()
    with new(out, t.schema) as file:
        file.write_table(t, 100)
    return out.getvalue()


def stream(t=TABLE):
    return arrow(t, pa.ipc.new_stream)


def zst(raw):
    return pa.Codec("zstd").compress(raw).to_pybytes()


def run(*args, code=0, stdin=None):
    """A command in this process: an error is one sentence on stderr, and nothing on stdout."""
    result = invoke(*args, code=code, stdin=stdin)
    if result.exit_code in (1, 3):
        assert result.stdout == ""
        sentence = result.stderr.splitlines()[-1]
        assert sentence.startswith("Error: ")
        assert len(sentence) > 15
    return result


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    path = tmp_path_factory.mktemp("base") / "base.csv"
    path.write_bytes(CSV)
    return path


@pytest.fixture(scope="module")
def model(base):
    run("fit", base, "-t", "y", "-o", base.parent / "m.eo")
    return base.parent / "m.eo"


@pytest.fixture(scope="module")
def text_model(base):
    rows = "text,y\n" + "free prize,a\nlunch at noon,b\n" * 20
    run("fit", "-", "-t", "y", "--text", "text", "-o", base.parent / "text.eo", stdin=rows)


@pytest.fixture
def fit(tmp_path):
    """Write a file and fit it."""

    def go(name, raw, *options, code=0, target="y"):
        path = tmp_path / name
        path.write_bytes(raw)
        return run("fit", path, "-t", target, "-o", tmp_path / "o.eo", *options, code=code)

    return go


# What is refused: by the library with a DataError, by the command line with the same sentence and exit code 3.


def many(cells, n=30, head="x,y\n"):
    return (head + cells * n).encode()


damaged = bytearray(gzip.compress(CSV * 10))
damaged[len(damaged) // 2] ^= 255

REFUSED = {
    "an empty file": ("t.csv", b"", "t.csv is empty"),
    "blank lines only": ("t.csv", b"\n\n \n", "is empty"),
    "a header only": ("t.csv", b"x,c,y\n", "t.csv has no rows"),
    "an empty Parquet": ("t.parquet", b"", "t.parquet is empty"),
    "an empty Arrow": ("t.arrow", b"", "t.arrow is empty"),
    "empty JSON lines": ("t.jsonl", b"\n\n", "t.jsonl is empty"),
    "an empty JSON array": ("t.json", b"[]", "t.json is empty"),
    "an empty gz": ("t.csv.gz", gzip.compress(b""), "t.csv.gz is empty"),
    "no target": ("t.csv", many("1,a\n2,b\n", head="x,yy\n"), "column 'y' not found"),
    "one column": ("t.csv", many("a\nb\n", head="y\n"), "no column is left to learn from"),
    "two columns of one name": ("t.csv", many("1,2,a\n", head="x,x,y\n"), "two columns are named 'x'"),
    "two columns of one name in Arrow": ("t.arrow", arrow(pa.table([[1], [2]], ["x", "x"])), "two columns are named"),
    "two columns of one name in Parquet": ("t.pq", parquet(pa.table([[1], [2]], ["x", "x"])), "two columns are named"),
    "many ragged rows": ("t.csv", many("1,a\n1,b,3\n"), "3 cells, expected 2 as in the first row"),
    "a quote never closed": (
        "t.csv",
        CSV + b'1,"red,a\n2,red,b\n',
        "line 302: a quote is opened here and never closed",
    ),
    "NUL bytes": ("t.csv", b"x,y\n\0\0\0\0,a\n1,b\n", "NUL bytes"),
    "a spreadsheet": ("t.csv", b"PK\3\4\0\0\0\0\0\1", "save a spreadsheet as CSV"),
    "a target of one class": ("t.csv", many("1,a\n2,a\n"), "only one class, 'a'"),
    "a target all missing": ("t.csv", many("1,\n2,NA\n"), "the target 'y' has no values"),
    "an id as the target": (
        "t.csv",
        ("x,y\n" + "".join(f"{i % 3},k{i}\n" for i in range(300))).encode(),
        "300 different values in 300 rows",
    ),
    "a continuous target": (
        "t.csv",
        ("x,y\n" + "".join(f"{i % 3},{i / 7}\n" for i in range(300))).encode(),
        "different values",
    ),
    "all columns left out": (
        "t.csv",
        ("k,e,y\n" + "".join(f"k{i},,{'ab'[i % 2]}\n" for i in range(300))).encode(),
        "no column is left",
    ),
    "a damaged gz": ("t.csv.gz", bytes(damaged), "is damaged or cut short"),
    "something behind a gz": ("t.csv.gz", gzip.compress(CSV) + b"garbage", "is damaged"),
    "two letters of a gz": ("t.csv.gz", b"\x1f\x8b", "is damaged or cut short"),
    "text as Parquet": ("t.parquet", CSV, "is not a file of Parquet"),
    "text as Arrow": ("t.arrow", CSV, "is not a file of Arrow"),
    "Parquet without rows": ("t.parquet", parquet(TABLE[:0]), "has no rows"),
    "Arrow without rows": ("t.arrow", arrow(TABLE[:0]), "has no rows"),
    "Arrow without columns": ("t.arrow", arrow(pa.table({})), "has no rows"),
    "broken JSON": ("t.jsonl", b"{oops\n" * 20, "line 1 is not a JSON object"),
    "much broken JSON": ("t.jsonl", jsonl([*ROWS[:20], *["{oops"] * 3]), "3 of the first 23 lines"),
    "JSON in Latin-1": ("t.jsonl", '{"x": 1, "y": "ü"}\n'.encode("latin-1") * 30, "expected one a line, in UTF-8"),
    "a JSON array cut short": ("t.json", json.dumps(ROWS).encode()[:-9], "starts as a JSON array and is none"),
    "a JSON array of numbers": ("t.json", b"[1, 2]", "expected JSON objects"),
    "lines of JSON arrays": ("t.jsonl", b"[1, 2]\n" * 30, "expected JSON objects"),
    "a hundred thousand brackets": ("t.json", b"[" * 100_000, "starts as a JSON array and is none"),
    "JSON over several lines": ("t.json", json.dumps(ROWS[0], indent=1).encode(), "line 1 is not a JSON object"),
    "a nested target": ("t.jsonl", jsonl([{**row, "y": [row["y"]]} for row in ROWS]), "the target 'y' holds list"),
    "a structured target": ("t.jsonl", jsonl([{**row, "y": {"k": 1}} for row in ROWS]), "the target 'y' holds struct"),
    "JSON without the target": ("t.jsonl", jsonl([{"x": 1, "z": "a"}] * 30), "column 'y' not found"),
    "a model": ("t.csv", None, "t.csv is a model, and rows were to be read: give a file of rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(tmp_path, model, case):
    name, raw, sentence = REFUSED[case]
    path = tmp_path / name
    path.write_bytes(model.read_bytes() if raw is None else raw)
    with pytest.raises(eo.DataError) as caught:
        learn(read(path), "y")
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)
    out = tmp_path / "o.eo"
    assert sentence in run("fit", path, "-t", "y", "-o", out, code=3).stderr
    assert not out.exists()
    before = model.read_bytes()
    run("evaluate", path, "-t", "y", "-k", 2, code=3)
    if "target" not in case and "column" not in case and "rows" not in case and "header" not in case:
        run("predict", model, path, "-o", tmp_path / "p.csv", code=3)
        assert not (tmp_path / "p.csv").exists()
        run("learn", model, path, code=3)
        run("forget", model, path, code=3)
    assert model.read_bytes() == before


SQUEEZED = {"t.csv.gz": gzip.compress, "t.csv.bz2": bz2.compress, "t.csv.xz": lzma.compress, "t.csv.zst": zst}


@pytest.mark.parametrize("name", [*SQUEEZED, "t.parquet", "t.arrow", "t.arrows"])
def test_a_file_cut_anywhere_is_refused(tmp_path, name):
    noise = np.random.default_rng(0).normal(size=2000)
    rows = pa.table({"x": noise, "y": ["a", "b"] * 1000})
    text = ("x,y\n" + "".join(f"{x},{'ab'[i % 2]}\n" for i, x in enumerate(noise))).encode()
    makers = {"t.parquet": parquet, "t.arrow": arrow, "t.arrows": stream}
    whole = SQUEEZED[name](text) if name in SQUEEZED else makers[name](rows)
    path = tmp_path / name
    path.write_bytes(whole)
    assert learn(read(path), "y")[0].rows == 2000
    for cut in [
        *range(5, len(whole) - 13, len(whole) // 9),
        len(whole) - 13,
    ]:  # the last 8 bytes of a stream say no more
        path.write_bytes(whole[:cut])
        with pytest.raises(eo.DataError) as caught:
            learn(read(path), "y")
        assert name in str(caught.value)


def test_few_ragged_rows_are_left_out_and_counted(fit):
    result = fit("t.csv", CSV + b"1,2\n1,2,3,4\n", "--json")
    assert "2 rows have the wrong number of cells and were left out" in result.stderr
    data = json.loads(result.stdout)
    assert data["rows"] == 300
    assert data["report"]["rows_with_wrong_number_of_cells"]["count"] == 2


def test_broken_lines_of_json_are_left_out_and_counted(fit):
    result = fit("t.jsonl", jsonl([*ROWS, "{oops", "[1, 2]", "3", "null", "[" * 100_000, '{"x":' * 100_000]), "--json")
    assert "6 lines are not JSON objects and were left out" in result.stderr
    data = json.loads(result.stdout)
    assert data["rows"] == 300
    assert data["report"]["lines_that_are_no_objects"]["count"] == 6


# What is read: the same rows, however they are wrapped.

READ = {
    "a BOM": ("t.csv", CSV.decode().encode("utf-8-sig")),
    "UTF-16": ("t.csv", CSV.decode().encode("utf-16")),
    "UTF-16 without a BOM": ("t.csv", CSV.decode().encode("utf-16-be")),
    "UTF-32": ("t.csv", CSV.decode().encode("utf-32")),
    "CP1252": ("t.csv", CSV.decode().encode("cp1252")),
    "carriage returns": ("t.csv", CSV.replace(b"\n", b"\r")),
    "carriage returns and line feeds": ("t.csv", CSV.replace(b"\n", b"\r\n")),
    "blank lines": ("t.csv", b"\n" + CSV.replace(b"\n", b"\n\n")),
    "gz named csv": ("t.csv", gzip.compress(CSV)),
    "csv named gz": ("t.csv.gz", CSV),
    "no ending at all": ("t", CSV),
    "members of gz": ("t.csv.gz", gzip.compress(CSV[:999]) + gzip.compress(CSV[999:])),
    "frames of zst": ("t.csv.zst", zst(CSV[:999]) + zst(CSV[999:])),
    "streams of bz2": ("t.csv.bz2", bz2.compress(CSV[:999]) + bz2.compress(CSV[999:])),
    "streams of xz": ("t.csv.xz", lzma.compress(CSV[:999]) + lzma.compress(CSV[999:])),
    "Parquet in gz": ("t.parquet.gz", gzip.compress(parquet())),
    "Arrow in zst": ("t.arrow.zst", zst(arrow())),
    "an Arrow stream in gz": ("t.arrows.gz", gzip.compress(stream())),
    "Parquet named csv": ("t.csv", parquet()),
    "Parquet of no dictionary": ("t.parquet", parquet(use_dictionary=False, compression="none")),
    "Parquet of dictionaries": ("t.parquet", parquet(TABLE.set_column(1, "c", TABLE["c"].dictionary_encode()))),
    "Arrow of views": ("t.arrow", arrow(TABLE.set_column(1, "c", TABLE["c"].cast(pa.string_view())))),
    "JSON lines with a BOM": ("t.jsonl", b"\xef\xbb\xbf" + jsonl(ROWS)),
    "JSON with a BOM and no ending": ("t", b"\xef\xbb\xbf" + jsonl(ROWS)),
    "JSON in UTF-16": ("t.jsonl", jsonl(ROWS).decode().encode("utf-16")),
    "JSON in UTF-16 without a BOM": ("t.jsonl", jsonl(ROWS).decode().encode("utf-16-le")),
    "JSON with blank lines": ("t.jsonl", jsonl(ROWS).replace(b"\n", b"\r\n\r\n")),
    "JSON with a key twice": ("t.jsonl", jsonl(ROWS).replace(b'{"x"', b'{"x": "no", "x"')),
    "a JSON array after blank lines": ("t.json", b"\n\n" + json.dumps(ROWS, indent=2).encode()),
}


@pytest.mark.parametrize("case", READ)
def test_the_same_rows(tmp_path, model, case):
    name, raw = READ[case]
    path = tmp_path / name
    path.write_bytes(raw)
    found, report = learn(read(path), "y")
    assert found == eo.load(model)
    assert report.sentences() == []
    run("fit", "-", "-t", "y", "-o", tmp_path / "o.eo", stdin=raw)
    assert eo.load(tmp_path / "o.eo") == found


def test_an_encoding_that_is_told(fit, model, tmp_path):
    known = eo.load(model)
    for name, raw in (("t.csv", CSV), ("t.jsonl", json.dumps(ROWS, ensure_ascii=False).encode())):
        fit(name, raw.decode().encode("utf-16-le"), "--encoding", "utf-16-le")
        assert eo.load(tmp_path / "o.eo") == known


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["t.csv", "t.jsonl"])
def test_a_wrong_encoding_is_data(fit, encoding, name):
    fit(name, CSV if name == "t.csv" else jsonl(ROWS), "--encoding", encoding, code=3)


@pytest.mark.parametrize("encoding", ["klingon", "", "rot13", "base64", "idna", "undefined", "a\0b"])
def test_an_encoding_that_is_none_is_usage(fit, encoding):
    assert "--encoding" in fit("t.csv", CSV, "--encoding", encoding, code=2).stderr


@pytest.mark.parametrize("separator", ['"', "\n", "\0", "é", "ab"])
def test_a_separator_that_is_none_is_usage(fit, separator):
    assert "--separator" in fit("t.csv", CSV, "--separator", separator, code=2).stderr


def test_another_encoding_after_ten_thousand_rows(fit, tmp_path):
    rows = "".join(f"{i % 40},{'red' if i % 3 else 'blue'},{'ab'[i % 2]}\n" for i in range(60_000))
    raw = b"x,c,y\n" + rows.encode() + "1,für,a\n1,für,b\n".encode("latin-1")
    result = fit("t.csv", raw, "--json")
    assert "2 cells not in the file's encoding" in result.stderr
    data = json.loads(result.stdout)
    assert data["rows"] == 60_002
    assert list(data["report"]["not_in_encoding"]) == ["c"]
    run("predict", tmp_path / "o.eo", tmp_path / "t.csv", "--only")


def test_a_letter_of_text_files_that_is_no_text():
    """NUL bytes late in a file are letters like others: the row is kept."""
    raw = CSV + b"".join(f"{row['x']},{row['c']},{row['y']}\n".encode() for row in ROWS) * 99 + b"1,a\0b,a\n"
    source = csv_module.CsvReader(io.BytesIO(raw), "t.csv")
    assert sum(batch.rows for batch in source.batches()) == 100 * 300 + 1


def test_surprises_in_json_after_the_columns_are_decided(tmp_path, monkeypatch):
    """What a column is has been decided; whatever comes now is missing and counted, in batches of any size."""
    lines = [{**row, "d": f"2024-0{i % 9 + 1}-01", "f": bool(i % 2), "w": 1} for i, row in enumerate(ROWS)]
    strange = [[1], {"q": 1}, [], True, None, "ü", 10**30, 2**63, -(2**63), math.nan, math.inf, "\ud800", "\0", 1.5, ""]
    late = [{**lines[i], key: value} for i, value in enumerate(strange) for key in ("x", "c", "d", "f", "w")]
    path = tmp_path / "t.jsonl"
    path.write_bytes(jsonl(lines))
    model, _ = learn(read(path), "y", {"d": eo.Column(parts=("month",))}, weights="w")
    path.write_bytes(jsonl([*lines, *late]))
    known, report = more(model, read(path), model.schema.target, weights="w")
    assert report.rows == 375
    assert report.cells["x"].example == "[1]"
    assert report.cells["d"].count >= 8
    assert report.no_weight.count >= 8
    for size in (1, 7):
        monkeypatch.setattr(typed_files, "SAMPLE", size)
        found, again = more(model, read(path), model.schema.target, weights="w")
        assert found == known
        assert [again.cells[name].count for name in "xdf"] == [report.cells[name].count for name in "xdf"]


def test_nested_json_is_left_out_or_refused(fit):
    rows = jsonl([{**row, "n": {"a": 1}, "l": [1, 2], "deep": json.loads("[" * 200 + "]" * 200)} for row in ROWS])
    result = fit("t.jsonl", rows)
    assert "each of the columns 'n', 'l', 'deep' holds lists, structures or bytes: left out" in result.stderr
    for role in ("category", "number", "flag", "count", "date"):
        assert "'l' holds list" in fit("t.jsonl", rows, "--role", f"l={role}", code=3).stderr


def test_whole_numbers_of_any_size(tmp_path):
    """As classes and categories they are exact, up to 64 bits, whatever the file; beyond they are some number."""
    path, big = tmp_path / "t", [2**53 + 1, 2**53 + 3, -(2**53) - 1, 7]
    rows = [{"x": i % 3, "y": big[i % 4]} for i in range(40)]
    found = []
    for name, raw in (
        ("t.csv", ("x,y\n" + "".join(f"{r['x']},{r['y']}\n" for r in rows)).encode()),
        ("t.jsonl", jsonl(rows)),
        ("t.parquet", parquet(pa.Table.from_pylist(rows))),
    ):
        path = tmp_path / name
        path.write_bytes(raw)
        model, _ = learn(read(path), "y")
        assert model.classes.tolist() == sorted(big)
        model.save(tmp_path / "m.eo")
        assert eo.load(tmp_path / "m.eo") == model
        found.append(model)
    assert found[0] == found[1] == found[2]
    head = "".join(f"{i % 3},{i % 2}\n" for i in range(10_000))
    for late in ("9" * 5000, "9" * 30, "-" + "9" * 30, "1e17", "1e400", "-9007199254740993", "1_0", "٣", "--1", "+-1"):
        (tmp_path / "t.csv").write_text(f"x,y\n{head}1,{late}\n")
        model, report = learn(read(tmp_path / "t.csv"), "y")
        model.save(tmp_path / "m.eo")
        assert eo.load(tmp_path / "m.eo") == model
        assert (report.no_target is None) == (late in ("1e17", "-9007199254740993"))


# Weights.


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ("1,-1,a\n2,-1,b\n", "has no rows with a class and a weight"),
        ("1,0,a\n2,0,b\n", "has no rows with a class and a weight"),
        ("1,p,a\n2,q,b\n", "has no rows with a class and a weight"),
        ("1,-1,a\n2,1,b\n", "only one class"),
        ("1,1e101,a\n2,1e308,b\n", "has no rows with a class and a weight"),
        ("1,1e-101,a\n2,1e-320,b\n", "has no rows with a class and a weight"),
    ],
)
def test_weights_that_are_none(fit, rows, sentence):
    assert sentence in fit("t.csv", many(rows, head="x,w,y\n"), "--weight", "w", code=3).stderr


def test_rows_without_a_weight_are_left_out(fit):
    result = fit(
        "t.csv", many("1,-1,a\n2,1,b\n3,,a\n4,2,a\n5,inf,b\n6,x,b\n", head="x,w,y\n"), "--weight", "w", "--json"
    )
    assert "120 rows have no weight that can be used and were left out" in result.stderr
    assert json.loads(result.stdout)["classes"] == {"a": 60, "b": 30}
    assert "column 'ww' not found" in fit("t.csv", CSV, "--weight", "ww", code=3).stderr


# Headers and columns.


def test_headers(fit):
    def columns(raw, *options, target="y"):
        return list(json.loads(fit("t.csv", raw, "--json", *options, target=target).stdout)["columns"])

    body = CSV.partition(b"\n")[2]
    assert columns(b",c,y\n" + body) == ["x0", "c"]
    assert columns(b",,y\n" + body) == ["x0", "x1"]
    assert columns(b"1,2,3\n" + body, target="3") == ["1", "2"]
    assert columns(many("1,2,0\n3,4,1\n", head=""), target="x2") == ["x0", "x1"]
    assert columns(many("1,2,0\n3,4,1\n", head="7,8,9\n"), "--header", target="9") == ["7", "8"]
    assert columns("größe,\u202eцвет,ý\n".encode() + body, target="ý") == ["größe", "\u202eцвет"]
    assert "two columns are named 'x0'" in fit("t.csv", b",x0,y\n" + body, code=3).stderr


def test_five_thousand_columns(fit, tmp_path):
    names = [f"c{j}" for j in range(5000)]
    rows = ["".join(f"{(i * j) % 2}," for j in range(5000)) + "ab"[i % 2] for i in range(20)]
    raw = ",".join([*names, "y"]) + "\n" + "\n".join(rows) + "\n"
    data = json.loads(fit("t.csv", raw.encode(), "--json", "--smoothing", 1).stdout)
    assert list(data["columns"]) == names
    assert data["rows"] == 20


class Name(str):
    """A name that counts how often it is compared with another."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other):
        Name.compared += 1
        return str.__eq__(self, other)


def test_names_of_many_columns_are_looked_up_not_searched_for():
    names = [Name(f"c{j}") for j in range(300)]
    table = Table({name: np.arange(4.0) for name in names}, 4)
    schema = eo.Schema(dict.fromkeys(names, eo.Column(eo.Gaussian)), "")
    Name.compared = 0
    needed(names, [Name(name) for name in names], "a file")
    assert Name.compared <= 2 * len(names)
    Name.compared = 0
    assert list(Reading(schema, False)(TableBatch(table, 0)).table.columns) == names
    assert Name.compared <= 4 * len(names)


TYPES = {
    "null": pa.nulls(300),
    "list": pa.array([[i % 3] for i in range(300)]),
    "struct": pa.array([{"a": math.inf, "b": b"\xff"}] * 300),
    "map": pa.array([[("k", 1)]] * 300, pa.map_(pa.string(), pa.int64())),
    "dictionary of ints": pa.array([1, 2, 3] * 100).dictionary_encode(),
    "dictionary with a null": pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 2] * 100, pa.uint8()), pa.array(["r", None, "b"])
    ),
    "dictionary of times": pa.array([dt.datetime(2024, 1, 1), dt.datetime(2024, 2, 1)] * 150).dictionary_encode(),
    "decimal": pa.array([decimal.Decimal("1.25"), decimal.Decimal("-3.50")] * 150),
    "nanoseconds": pa.array([1, 10**9 + 3] * 150, pa.timestamp("ns")),
    "a zone": pa.array([1, 10**9 + 3] * 150, pa.timestamp("us", "Europe/Berlin")),
    "a zone nobody knows": pa.array([1, 10**9 + 3] * 150, pa.timestamp("us", "Mars/Olympus")),
    "far times": pa.array([2**62, -(2**62)] * 150, pa.timestamp("s")),
    "far days": pa.array([2**31 - 1, -(2**31)] * 150, pa.date32()),
    "time of day": pa.array([1, 20000] * 150, pa.time64("ns")),
    "duration": pa.array([1, 20000] * 150, pa.duration("ns")),
    "binary": pa.array([b"\x00\xff", b"ab"] * 150),
    "fixed binary": pa.array([b"\xff\x00", b"ab"] * 150, pa.binary(2)),
    "uint64": pa.array([2**64 - 1 - i % 5 for i in range(300)], pa.uint64()),
    "bool": pa.array([True, None, False] * 100),
    "half": pa.array(np.array([1.5, 2.5] * 150, np.float16)),
    "infinite": pa.array([math.inf, 1.0, -math.inf, math.nan, 2.0, 3.0] * 50),
    "no UTF-8": pa.array([b"ab\xff", b"ok"] * 150, pa.binary()).view(pa.string()),
    "no UTF-8, large": pa.array([b"ab\xff", b"ok"] * 150, pa.large_binary()).view(pa.large_string()),
    "texts": pa.array(["", None, "NA"] * 100),
    "huge": pa.array([1e308, -1e308, 5e-324] * 100),
    "runs": pa.RunEndEncodedArray.from_arrays([100, 300], [1, 2]),
    "union": pa.UnionArray.from_sparse(pa.array([0] * 300, pa.int8()), [pa.array([i % 3 for i in range(300)])]),
    "uuid": pa.ExtensionArray.from_storage(
        pa.uuid(), pa.array([bytes([i % 3] * 16) for i in range(300)], pa.binary(16))
    ),
}


@pytest.mark.parametrize("case", TYPES)
def test_columns_of_every_type(tmp_path, case):
    path, out = tmp_path / "t.arrow", tmp_path / "o.eo"
    rows = TABLE.select(["x", "y"]).append_column("k", TYPES[case])
    path.write_bytes(arrow(rows))
    if case == "huge":
        assert "rescale it" in run("fit", path, "-t", "y", "-o", out, code=3).stderr
    else:
        run("fit", path, "-t", "y", "-o", out)
        printed = run("predict", out, path).stdout
        assert printed.startswith("x,y,k,y_predicted,y_probability\n")
        lines = run("predict", out, path, "--json").stdout.splitlines()
        assert len(lines) == 300
        for line in lines[:5]:
            assert json.loads(line, parse_constant=pytest.fail)["y_predicted"] in ("a", "b")
    for role in ("category", "number", "date:year"):
        if run("fit", path, "-t", "y", "-o", out, "--role", f"k={role}", code=(0, 3)).exit_code == 0:
            run("predict", out, path, "--only")
    path.write_bytes(arrow(rows.rename_columns(["x", "z", "y"])))
    if run("fit", path, "-t", "y", "-o", out, code=(0, 3)).exit_code == 0:
        run("predict", out, path, "--json")
        run("evaluate", out, path, "--json")
    run("fit", path, "-t", "z", "-o", out, "--weight", "y", code=(0, 3))


@pytest.mark.parametrize(("name", "write"), [("t.arrow", arrow), ("t.arrow", stream), ("t.parquet", parquet)])
def test_names_with_a_nul(fit, name, write):
    done = fit(name, write(TABLE.rename_columns(["x\0z", "", "y"])), "--json")
    assert set(json.loads(done.stdout)["columns"]) == {"x\0z", ""}


def test_a_regression_on_an_id_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("k,x\n" + "".join(f"k{i},{i % 7}.5\n" for i in range(300)))
    assert "300 different values in 300 rows" in run("regress", path, "-t", "k", code=3).stderr


def test_texts_that_are_no_utf8_are_replaced_and_reported(tmp_path):
    rows = TABLE.select(["x", "y"]).append_column("k", TYPES["no UTF-8"])
    for name, raw in (("t.arrow", arrow(rows)), ("t.parquet", parquet(rows))):
        (tmp_path / name).write_bytes(raw)
        model, report = learn(read(tmp_path / name), "y")
        assert report.encoding["k"].count == 150
        assert model == learn(Memory(table(rows.set_column(2, "k", pa.array(["ab\ufffd", "ok"] * 150)))), "y")[0]


FUZZ = """
import sys, io, os, resource
import numpy as np, pyarrow as pa
from evenodds.data.files import read
from evenodds.errors import DataError
from evenodds.models.learn import learn, more
import warnings; warnings.simplefilter("ignore")
path, tries = sys.argv[1], int(sys.argv[2])
whole, rng, refused = open(path, "rb").read(), np.random.default_rng(0), 0
for _ in range(tries):
    raw = bytearray(whole)
    for at in rng.integers(8, len(raw), 3):
        raw[at] = rng.integers(256)
    with open(path, "wb") as file:
        file.write(raw)
    try:
        learn(read(path), "y", threads=1)
    except DataError:
        refused += 1
print(refused)
"""


@pytest.mark.parametrize("name", ["t.arrow", "t.arrows", "t.parquet"])
def test_bytes_changed_at_random_end_in_a_sentence_or_a_model(tmp_path, name):
    """In a process of its own, since what is unsound in an Arrow file ends a process that trusts it."""
    rows = TABLE.append_column("d", TABLE["c"].dictionary_encode()).append_column("l", TYPES["list"])
    rows = rows.append_column("b", TYPES["bool"])
    make = {"t.arrow": arrow, "t.arrows": stream, "t.parquet": lambda t: parquet(t, compression="none")}[name]
    (tmp_path / name).write_bytes(make(rows))
    args = [sys.executable, "-c", FUZZ, str(tmp_path / name), "120"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr[-800:]
    assert 5 < int(done.stdout) < 120


# Not ru_maxrss, which a process inherits from the one that starts it.
MEMORY = """
import sys
from evenodds.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    [peak] = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
    print(end.code, int(peak) >> 10)
"""


@pytest.mark.parametrize("name", ["t.csv.gz", "t.jsonl.gz", "t.txt.gz"])
def test_a_line_of_100_mb_in_bounded_memory(tmp_path, name, base, text_model):
    path = tmp_path / name
    start = {"t.csv.gz": b"x,y\n1,a\n2,b\n", "t.jsonl.gz": b'{"x": 1, "y": "a"}\n{"x": "'}.get(name, b"free prize\n")
    with gzip.open(path, "wb", 1) as file:
        file.write(start)
        for _ in range(100):
            file.write(b"z" * (1 << 20))
    fit = ["fit", str(path), "-t", "y", "-o", str(tmp_path / "o.eo")]
    args = [
        sys.executable,
        "-c",
        MEMORY,
        *(["predict", base.parent / "text.eo", path, "--lines", "-q"] if ".txt" in name else fit),
    ]
    done = subprocess.run(args, capture_output=True, text=True, timeout=60, check=False)
    code, megabytes = done.stdout.split()[-2:]
    assert code == "3"
    assert "64 MB" in done.stderr
    assert "Traceback" not in done.stderr
    assert int(megabytes) < 700
    assert not (tmp_path / "o.eo").exists()


# Several files.


def test_columns_in_another_order_and_files_of_other_formats(tmp_path, model):
    (tmp_path / "1.csv").write_bytes("".join(LINES[:101]).encode())
    (tmp_path / "2.parquet").write_bytes(parquet(TABLE[100:200].select(["y", "c", "x"])))
    (tmp_path / "3.jsonl").write_bytes(jsonl([{"y": r["y"], "x": r["x"], "c": r["c"], "more": 1} for r in ROWS[200:]]))
    paths = [tmp_path / name for name in ("1.csv", "2.parquet", "3.jsonl")]
    run("fit", *paths, "-t", "y", "-o", tmp_path / "o.eo")
    assert eo.load(tmp_path / "o.eo") == eo.load(model)
    lines = run("predict", model, *paths).stdout.splitlines()
    assert lines[0] == "x,c,y,y_predicted,y_probability"
    assert [line.rsplit(",", 2)[0] + "\n" for line in lines] == LINES


def test_files_that_do_not_belong_together(tmp_path, base, model):
    (tmp_path / "less.csv").write_text("x,y\n1,a\n")
    result = run("fit", base, tmp_path / "less.csv", "-t", "y", "-o", tmp_path / "o.eo", code=3)
    assert "less.csv: column 'c' not found" in result.stderr
    (tmp_path / "other.csv").write_text("x,c,y\n" + "much,red,a\nlittle,blue,b\n" * 4)
    result = run(
        "fit", base, tmp_path / "other.csv", "-t", "y", "-o", tmp_path / "o.eo", "--json", "--role", "x=number"
    )
    assert json.loads(result.stdout)["report"]["unreadable_cells"]["x"]["count"] == 8
    (tmp_path / "empty").mkdir()
    for path, code in ((tmp_path / "empty", 3), (tmp_path / "no*.csv", 3), (tmp_path / "no.csv", 1)):
        run("fit", path, "-t", "y", "-o", tmp_path / "o.eo", code=code)
        run("predict", model, path, code=code)


@settings(max_examples=15)
@given(st.permutations(range(6)), st.sampled_from([1, 3]))
def test_files_in_any_order_and_any_number_of_threads(tmp_path_factory, base, order, threads):
    folder = base.parent
    paths = [folder / f"part{i}.csv" for i in range(6)]
    for i, path in enumerate(paths):
        path.write_text("".join([LINES[0], *LINES[1 + 50 * i : 51 + 50 * i]]))
    columns = {"x": eo.Gaussian, "c": eo.Categorical}
    known, _ = learn(read(base), "y", columns)
    found, _ = learn(Files(tuple(str(paths[i]) for i in order)), "y", columns, threads=threads)
    assert found == known


# Predictions and judgements.


def test_predict_on_other_columns(model, tmp_path):
    def predict(text, *options, code=0):
        return run("predict", model, "-", *options, code=code, stdin=text)

    plain = predict("x,c\n1.5,blue\n").stdout.splitlines()[1]
    assert predict("c,more,x\nblue,q,1.5\n").stdout.splitlines()[1].rsplit(",", 2)[1:] == plain.rsplit(",", 2)[1:]
    assert "column 'x' not found; did you mean 'xx'?" in predict("xx,c\n1,blue\n", code=3).stderr
    assert "column 'c' not found" in predict("x,y\n", code=3).stderr
    taken = predict("x,c,y_predicted,y_probability,p(y=a)\n1.5,blue,1,2,3\n", "--all").stdout.splitlines()[0]
    assert taken.endswith("p(y=a),y_predicted_,y_probability_,p(y=a)_,p(y=b)")
    assert len(set(taken.split(","))) == len(taken.split(","))


def test_predict_without_rows_writes_the_header(model, tmp_path):
    assert run("predict", model, "-", stdin="x;c;more\n").stdout == "x;c;more;y_predicted;y_probability\n"
    assert run("predict", model, "-", "--only", stdin="x;c;more\n").stdout == "y_predicted;y_probability\n"
    assert run("predict", model, "-", "--json", stdin="x;c;more\n").stdout == ""
    assert run("predict", model, "-", stdin=parquet(TABLE[:0])).stdout == "x,c,y,y_predicted,y_probability\n"
    run("explain", model, "-", stdin="x,c\n", code=3)
    run("evaluate", model, "-", stdin="x,c,y\n", code=3)


def test_csv_that_is_written_can_be_read_again(tmp_path):
    texts = ["a\rb", "c\nd", "e,f", 'g"h', "", " i", "j\r\n", "ü"]
    rows = pa.table({"x": [1.5, 2.5, 3.5, 4.5] * 20, "c": texts * 10, "y": (texts[:4] + texts[:2] * 2) * 10})
    path, back = tmp_path / "t.parquet", tmp_path / "back.csv"
    path.write_bytes(parquet(rows))
    run("fit", path, "-t", "y", "-o", tmp_path / "o.eo")
    run("predict", tmp_path / "o.eo", path, "-o", back)
    with open(back, newline="") as file:
        found = list(csv.DictReader(file))
    assert [row["c"] for row in found] == rows["c"].to_pylist()
    assert {row["y_predicted"] for row in found} <= set(texts)
    for options in ([], ["--only"]):
        again = run("predict", tmp_path / "o.eo", back, *options).stdout_bytes.decode()
        last = [row[-2:] for row in csv.reader(io.StringIO(again, newline=""))][1:]
        assert last == [[row["y_predicted"], row["y_probability"]] for row in found]


def test_files_with_other_decimal_marks(tmp_path):
    lines = [f"{i % 50}.5;{'ab'[i % 2]}\n" for i in range(100)]
    (tmp_path / "1.csv").write_text("x;y\n" + "".join(lines).replace(".", ","))
    (tmp_path / "2.csv").write_text("x;y\n" + "".join(lines))
    model, report = learn(read(tmp_path / "*.csv"), "y")
    assert model.schema.columns["x"].family is eo.Binned
    assert report.sentences() == []
    (tmp_path / "1.csv").write_text("x;y\n" + "".join(lines))
    assert learn(read(tmp_path / "*.csv"), "y")[0] == model


tables = st.lists(
    st.fixed_dictionaries(
        {
            "number": st.none() | st.floats(-1e100, 1e100) | st.sampled_from([5e-324, -2.5e-310, 1e-200]),
            "whole": st.none() | st.integers(-(2**63), 2**63 - 1),
            "flag": st.none() | st.booleans(),
            "text": st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
        }
    ),
    min_size=2,
    max_size=25,
)
WHAT = {"number": eo.Gaussian, "whole": eo.Categorical, "flag": eo.Bernoulli, "text": eo.Categorical}
SAID = {"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "<NA>", "null", "NULL", "?"}


def written(rows):
    out = io.StringIO()
    csv.writer(out).writerow(rows[0])
    csv.writer(out).writerows([["" if row[key] is None else row[key] for key in rows[0]] for row in rows])
    return out.getvalue().encode()


@settings(max_examples=40)
@given(tables, st.sampled_from([64, 1000, 1 << 20]))
def test_csv_parquet_json_and_memory_are_one(tmp_path_factory, rows, block):
    numbers = [abs(row["number"]) for row in rows if row["number"]]
    assume(not numbers or max(numbers) > 1e-100)  # a Gaussian's squares would be no numbers
    rows = [{**row, "text": None if row["text"] in SAID else row["text"]} for row in rows]
    rows = [{**row, "y": "ab"[i % 2]} for i, row in enumerate(rows)]
    types = {"number": pa.float64(), "whole": pa.int64(), "flag": pa.bool_(), "text": pa.string(), "y": pa.string()}
    t = pa.Table.from_pylist(rows, pa.schema(types))
    folder = tmp_path_factory.mktemp("one")
    makers = {"t.csv": written(rows), "t.parquet": parquet(t), "t.arrow": arrow(t), "t.jsonl": jsonl(rows)}
    schema = learn(Memory(table(t)), "y", WHAT)[0].schema
    known, _ = learn(Memory(table(t)), "y", schema=schema)
    for name, raw in makers.items():
        (folder / name).write_bytes(raw)
        source = Files((str(folder / name),), separator=",", encoding="utf-8", header=True)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_module, "BLOCK", block)
            found, report = learn(source, "y", schema=schema)
        assert report.rows == len(rows), name
        assert found == known, name
        reading = Files((str(folder / name),), separator=",", encoding="utf-8", header=True)
        answers = [json.loads(line) for line in _predicted(known, reading, folder)]
        p = np.exp(known.log_proba(t))
        assert [row["p(y=a)"] for row in answers] == [float(f"{q:.6g}") for q in p[:, 0].tolist()], name
        assert [row["text"] for row in answers] == [row["text"] for row in rows], name


def _predicted(model, source, folder):
    model.save(folder / "m.eo")
    options = ["--separator", ",", "--encoding", "utf-8", "--header", "--all", "--json"]
    return run("predict", folder / "m.eo", *source.paths, *options).stdout.removesuffix("\n").split("\n")


def test_folds_are_refits_with_weights_and_rows_left_out(tmp_path):
    """The sum of the other folds is what a refit without the fold would give."""
    rng = np.random.default_rng(5)
    rows = [
        {"x": float(rng.integers(9)), "c": str(rng.choice(list("rgb"))), "w": int(rng.integers(4)), "y": y or None}
        for y in rng.choice(["a", "b", "c", ""], 400, p=[0.4, 0.3, 0.2, 0.1]).tolist()
    ]
    path = tmp_path / "t.csv"
    path.write_bytes(written(rows))
    columns = {"x": eo.Gaussian, "c": eo.Categorical}
    held = of_folds(read(path), "y", 4, columns, sample_weight="w", random_state=9)
    found, report = held.metrics(), held.report
    assert report.no_target.count == sum(row["y"] is None for row in rows)
    fold, total = fold_of(0, 400, None, 4, 9), None
    schema = learn(read(path), "y", columns, weights="w")[0].schema
    for k in range(4):
        rest = pa.Table.from_pylist([row for row, f in zip(rows, fold) if f != k and row["y"]])
        mine = pa.Table.from_pylist([row for row, f in zip(rows, fold) if f == k and row["y"]])
        model, _ = learn(Memory(table(rest)), "y", schema=schema, weights="w")
        part = tally(mine["y"], model.log_proba(mine), model.classes, mine["w"].to_numpy())
        total = part if total is None else total + part
    assert Metrics.of(total, ["a", "b", "c"]).to_dict() == found.to_dict()
    run("evaluate", path, "-t", "y", "-k", 10**6, code=2)
    with pytest.raises(ValueError, match="expected 2 to 1,000"):
        of_folds(read(path), "y", 10**9)
    with pytest.raises(ValueError, match=r"folds=2\.5: expected 2 to 1,000"):
        of_folds(read(path), "y", 2.5)


# The command line.


@pytest.mark.parametrize(
    ("prior", "code"),
    [
        ("ham=.8,spam=.2", 3),
        ("a=.8", 3),
        ("a=.8,b=.9", 3),
        ("a=-1,b=2", 3),
        ("a=nan,b=1", 2),
        ("=1", 2),
        ("a=1,a=0", 2),
    ],
)
def test_a_prior_for_other_classes_is_refused_before_anything_is_saved(fit, tmp_path, prior, code):
    fit("t.csv", CSV, "--class-prior", prior, code=code)
    assert not (tmp_path / "o.eo").exists()
    run("evaluate", tmp_path / "t.csv", "-t", "y", "-k", 3, "--class-prior", prior, code=code)


def test_a_class_that_has_no_prior_is_not_learnt(fit, tmp_path):
    fit("t.csv", CSV, "--class-prior", "a=.5,b=.5")
    before = (tmp_path / "o.eo").read_bytes()
    result = run("learn", tmp_path / "o.eo", "-", stdin="x,c,y\n1,blue,new\n", code=3)
    assert "no probability for class 'new'" in result.stderr
    assert (tmp_path / "o.eo").read_bytes() == before


def test_like_another_model(fit, tmp_path, model, base):
    fit("t.csv", many("1,r,0\n2,b,1\n3,r,unknown\n", head="x,c,y\n"))
    (tmp_path / "few.csv").write_bytes(many("1,r,0\n2,b,1\n", head="x,c,y\n"))
    run("fit", tmp_path / "few.csv", "--like", tmp_path / "o.eo", "-o", tmp_path / "few.eo")
    run("add", tmp_path / "few.eo", tmp_path / "o.eo", "-o", tmp_path / "sum.eo")
    assert eo.load(tmp_path / "sum.eo").rows == 150
    run("fit", base, "--like", model, "-t", "c", "-o", tmp_path / "no.eo", code=2)
    run("fit", base, "--like", model, "--role", "x=category", "-o", tmp_path / "no.eo", code=2)
    run("fit", base, "--like", base, "-o", tmp_path / "no.eo", code=3)
    run("fit", base, "--like", tmp_path / "none.eo", "-o", tmp_path / "no.eo", code=1)
    assert not (tmp_path / "no.eo").exists()


def test_models_and_data_mixed_up(model, base, tmp_path):
    for args, code in [
        (["predict", base, base], 3),
        (["predict", model, model], 3),
        (["evaluate", base, model], 3),
        (["evaluate", model, model], 3),
        (["explain", base, "x=1"], 3),
        (["explain", model, model], 3),
        (["show", base], 3),
        (["show", base.parent], 1),
        (["show", tmp_path / "none.eo"], 1),
        (["add", model, base, "-o", tmp_path / "o.eo"], 3),
        (["add", model, tmp_path / "none.eo", "-o", tmp_path / "o.eo"], 1),
        (["learn", model, model], 3),
        (["learn", base, base], 3),
        (["forget", model, tmp_path / "none.csv"], 1),
    ]:
        run(*args, code=code)
    assert not (tmp_path / "o.eo").exists()


def test_what_was_never_learnt_is_not_forgotten(model, base, tmp_path):
    before = model.read_bytes()
    for rows in ("1.5,purple,a\n", "1.5,blue,new\n", "77,blue,a\n", "0.5,blue,a\n" * 99):
        assert "never learnt" in run("forget", model, "-", stdin="x,c,y\n" + rows, code=3).stderr
        assert model.read_bytes() == before
    run("forget", model, base, "-o", tmp_path / "none.eo")
    for args in (["predict", base], ["evaluate", base], ["explain", "x=1"]):
        result = run(args[0], tmp_path / "none.eo", *args[1:], code=3)
        assert "the model has seen no rows yet" in result.stderr
    run("learn", tmp_path / "none.eo", base)
    assert eo.load(tmp_path / "none.eo") == eo.load(model)


def test_outputs_that_cannot_be_written(model, base, tmp_path):
    for command in (["fit", base, "-t", "y"], ["predict", model, base], ["add", model, model], ["learn", model, base]):
        run(*command, "-o", tmp_path, code=2)
        run(*command, "-o", tmp_path / "no" / "where", code=1)
        run(*command, "-o", base / "below-a-file", code=1)
        run(*command, "-o", "/dev/full", code=1)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_read_only():
    root = os.geteuid() == 0  # who may write everywhere, and so is somebody else meanwhile
    with tempfile.TemporaryDirectory() as folder:
        run("fit", "-", "-t", "y", "-o", f"{folder}/m.eo", stdin=CSV)
        os.chmod(folder, 0o555)
        try:
            if root:
                os.seteuid(65534)
            result = run("fit", "-", "-t", "y", "-o", f"{folder}/o.eo", stdin=CSV, code=1)
            assert f"{folder}/o.eo: Permission denied" in result.stderr
            run("predict", f"{folder}/m.eo", "-", "-o", f"{folder}/o.csv", stdin=CSV, code=1)
            run("learn", f"{folder}/m.eo", "-", stdin=CSV, code=1)
        finally:
            if root:
                os.seteuid(0)
            os.chmod(folder, 0o700)
        assert os.listdir(folder) == ["m.eo"]
        assert eo.load(f"{folder}/m.eo").rows == 300


@pytest.mark.parametrize(
    ("command", "code", "sentence"),
    [
        ("predict m.eo base.csv > /dev/full", 1, "No space left on device"),
        ("explain text.eo 'free prize' > /dev/full", 1, "No space left on device"),
        ("explain text.eo 'free prize' >&-", 1, "standard output is closed"),
        ("--help > /dev/full", 1, "No space left on device"),
        ("fit --help > /dev/full", 1, "No space left on device"),
        ("predict m.eo base.csv >&-", 1, "standard output is closed"),
        ("predict m.eo - <&-", 1, "standard input: Bad file descriptor"),
        ("predict m.eo - -o q.csv <&-", 1, "standard input: Bad file descriptor"),
        ("fit base.csv -t y -o q.eo 2>&-", 0, ""),
        ("explain base.csv 'free prize' 2>&-", 3, ""),
        ("fit nothing.csv -t y -o q.eo 2>&-", 1, ""),
        ("fit '' -t y -o q.eo", 1, "'': there is no such file"),
        ("predict m.eo /proc/self/mem -o q.csv", 1, "/proc/self/mem: Input/output error"),
        ("predict m.eo - -o victim.csv < victim.csv", 2, "victim.csv is the file that is read"),
        ("fit /dev/null -t y -o q.eo", 3, "/dev/null is empty"),
        ("show /dev/zero", 3, "/dev/zero is not an evenodds model"),
        ("predict m.eo base.csv --rule <(printf '[%.0s' {1..100000})", 3, "is not a rule"),
        ("fit /dev/zero -t y -o q.eo", 3, "NUL bytes"),
        ("predict m.eo <(cat base.csv) > fifo.csv", 0, ""),
        ("evaluate <(gzip -c base.csv) -t y -k 3 --json > fifo.json", 0, ""),
    ],
)
def test_streams_that_are_full_closed_or_strange(base, model, text_model, command, code, sentence):
    (base.parent / "victim.csv").write_bytes(CSV)
    args, env = ["bash", "-c", f"'{EVENODDS}' {command}"], {**os.environ, "PYTHONUNBUFFERED": ""}
    done = subprocess.run(args, cwd=base.parent, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == bool(sentence)


@pytest.mark.parametrize(
    "command", ["--help", "show --help", "show m.eo", "predict m.eo base.csv", "explain text.eo a"]
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_nobody_reads(base, model, text_model, command, unbuffered):
    ours, theirs = os.pipe()
    os.close(ours)
    args, env = [EVENODDS, *command.split()], {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        args, cwd=base.parent, stdout=theirs, stderr=subprocess.PIPE, timeout=60, check=False, env=env
    )
    os.close(theirs)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("command", ["predict m.eo base.csv", "show m.eo --json"])
def test_half_an_answer_has_failed_though_python_is_unbuffered(base, model, command):
    """Where there is room for the beginning of what is written, an unbuffered stream writes that, and no error."""
    args = ["bash", "-c", f"ulimit -f 1; '{EVENODDS}' {command} > full.txt"]  # a kilobyte
    env = {**os.environ, "PYTHONUNBUFFERED": "1"}
    done = subprocess.run(args, cwd=base.parent, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert done.returncode == 1
    assert "File too large" in done.stderr


@pytest.mark.parametrize("command", ["evaluate {} {} -t y -k 3 --json", "fit {} {} -t y -o both.eo --json"])
def test_pipes_are_told_apart(base, command):
    """Two of them, written in two ways; and what is wrong with one is said of that one."""
    text = f"'{EVENODDS}' {command}".format("<(cat base.csv)", "<(tr , ';' < base.csv)")
    done = subprocess.run(
        ["bash", "-c", text], cwd=base.parent, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"] == 600
    text = f"'{EVENODDS}' {command}".format("base.csv", "<(true)")
    done = subprocess.run(
        ["bash", "-c", text], cwd=base.parent, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (3, "Error: /dev/fd/63 is empty\n")


def test_a_folder_that_cannot_be_looked_into_is_not_passed_over(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "t.csv").write_bytes(CSV)
    look = os.scandir

    def scandir(path):
        if os.path.basename(path) == "b":
            raise PermissionError(13, "Permission denied", path)
        return look(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert run("fit", tmp_path, "-t", "y", "-o", tmp_path / "o.eo", code=1).stderr.endswith("b: Permission denied\n")


def test_no_number_is_infinite(text_model, base):
    said = run("prune", base.parent / "text.eo", "--min-count", "inf", "-o", base.parent / "q.eo", code=2).stderr
    assert "inf is not a number" in said


def test_names_that_are_not_ascii_or_not_even_text(base, tmp_path):
    for name in (os.fsencode("дан ные=ü*.csv"), b"\xff\xfe.csv", b"bell\a.csv"):
        path, out = os.path.join(os.fsencode(tmp_path), name), os.path.join(os.fsencode(tmp_path), name + b".eo")
        with open(path, "wb") as file:
            file.write(CSV)
        data = json.loads(run("fit", os.fsdecode(path), "-t", "y", "-o", os.fsdecode(out), "--json").stdout)
        assert data["rows"] == 300
        assert len(run("predict", os.fsdecode(out), os.fsdecode(path)).stdout.splitlines()) == 301
        assert len(json.loads(run("explain", os.fsdecode(out), os.fsdecode(path), "--json").stdout)) == 3
        os.unlink(path)
        run("predict", os.fsdecode(out), os.fsdecode(path), code=3 if b"*" in name else 1)


def test_json_is_all_there_is_on_stdout(base, model, tmp_path):
    noisy = tmp_path / "noisy.csv"
    noisy.write_bytes(CSV + b"1,2\noops,blue,a\n3,blue,\n\xff,\xff,b\n")
    out = tmp_path / "o.eo"
    for args in (
        ["fit", noisy, "-t", "y", "-o", out, "--role", "x=number"],
        ["fit", noisy, "-t", "y", "-o", out, "--role", "x=number", "-q"],
        ["evaluate", model, noisy],
        ["evaluate", noisy, "-t", "y", "-k", 3, "--role", "x=number", "--estimate", "mle", "--smoothing", 0],
        ["explain", model, noisy, "--row", 302],
        ["explain", model, "x=oops"],
        ["show", model],
        ["learn", model, noisy, "-o", out],
        ["forget", out, base],
        ["add", model, model, "-o", out],
    ):
        result = run(*args, "--json")
        json.loads(result.stdout, parse_constant=pytest.fail)
        assert "-q" not in args or result.stderr == ""
    for line in run("predict", model, noisy, "--json").stdout.splitlines():
        json.loads(line, parse_constant=pytest.fail)


@pytest.mark.parametrize(
    "command",
    [
        "fit t.csv -t y -o t.csv",
        "fit ./t.csv -t y -o link.csv",
        "fit days -t y -o days/a.csv",
        "fit t.csv -t y --like m.eo -o m.eo",
        "fit t.csv -t y --key-file key --buckets 1024 --text x -o key",
        "predict m.eo t.csv -o t.csv",
        "predict m.eo days/*.csv -o days/a.csv",
        "predict m.eo days -o days/a.csv",
        "predict m.eo t.csv -o m.eo",
        "predict m.eo t.csv --json --rule rule.json -o rule.json",
        "decide m.eo t.csv --cost a:b=2 -o m.eo",
        "audit m.eo p.json --by x -o p.json",
        "report m.eo p.json -o p.json",
        "compare p.json -t y --models naive --sizes 8 --repeats 2 --plot p.json",
        "density p.json -c x --plot p.json",
        "shift drift p.json t.csv --plot p.json",
        "explain m.eo x=1 --html m.eo",
        "explain m.eo t.csv --html t.csv",
        "net fit t.csv --graph drawn.bif -o drawn.bif",
        "net show drawn.svg --plot drawn.svg",
    ],
)
def test_what_is_read_is_not_written_over(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("t.csv", "days/a.csv", "days/b.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x,y\n" + "1,a\n2,b\n3,a\n" * 5)
    (tmp_path / "p.json").write_text('{"x": 1, "y": "a"}\n{"x": 2, "y": "b"}\n' * 20)
    (tmp_path / "link.csv").symlink_to("t.csv")
    (tmp_path / "key").write_text("secret")
    run("fit", "t.csv", "-t", "y", "-o", "m.eo")
    run("decide", "m.eo", "t.csv", "--cost", "a:b=2", "-o", "rule.json")
    for name in ("drawn.svg", "drawn.bif"):
        (tmp_path / name).write_text("network a {}")

    def held():
        return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    before = held()
    said = run(*command.split(), code=2).stderr
    assert said.endswith("is the file that is read, and would be lost; name another\n")
    assert held() == before


@pytest.mark.parametrize("command", ["fit none.csv -t y -o", "predict none.eo none.csv -o", "demo --csv"])
def test_a_folder_that_is_not_there_is_told_before_anything_is_read(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run(*command.split(), "no/where/x.csv", code=1).stderr
    assert said == "Error: no/where/x.csv: there is no folder no/where; make it first\n"


@pytest.mark.parametrize("command", ["learn", "forget", "shift labels"])
def test_a_model_that_is_changed_may_be_written_over(command, tmp_path):
    rows, mine = tmp_path / "t.csv", tmp_path / "m.eo"
    rows.write_text("x,y\n" + "1,a\n1,a\n2,b\n" * 20 + "1,b\n")
    run("fit", rows, "-t", "y", "--role", "x=category", "-o", mine)
    before = mine.read_bytes()
    run(*command.split(), mine, rows, "-o", mine)
    assert mine.read_bytes() != before


def test_standard_input_is_read_once(tmp_path):
    said = run("fit", "-", "-", "-t", "y", "-o", tmp_path / "m.eo", code=3, stdin="x,y\n1,a\n2,b\n").stderr
    assert said == "Error: - is standard input, which can be read once only: give it once\n"


@pytest.mark.parametrize("name", ["a\x85b", "a\x9b31mb", "a\u2028b", "a\u202eb", "a\x7fb"])
def test_json_sends_no_control_characters(name, tmp_path):
    rows = "\n".join(f'{{"c": {json.dumps(c)}, "y": "{y}"}}' for c, y in [(name, "u"), ("z", "v")] * 5)
    (tmp_path / "rows.jsonl").write_text(rows + "\n")
    run("fit", tmp_path / "rows.jsonl", "-t", "y", "--role", "c=category", "-o", tmp_path / "m.eo")
    for words in (["predict", tmp_path / "m.eo", tmp_path / "rows.jsonl"], ["show", tmp_path / "m.eo"]):
        found = run(*words, "--json").stdout
        assert len(found.splitlines()) == found.count("\n")
        assert re.search("[\x7f-\x9f\u2028\u202e]", found) is None
    assert (
        json.loads(run("predict", tmp_path / "m.eo", tmp_path / "rows.jsonl", "--json").stdout.split("\n")[0])["c"]
        == name
    )
