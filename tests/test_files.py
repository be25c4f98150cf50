"""Files: the same rows give the same model, whatever the format, the batches and the compression."""

import bz2
import gzip
import io
import json
import lzma
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import evenodds as eo
from evenodds.data import csv as csv_module
from evenodds.data import typed_files
from evenodds.data.files import Files, read
from evenodds.data.memory import table
from evenodds.data.passes import number
from evenodds.data.source import Memory
from evenodds.data.sum import fold_of
from evenodds.data.typed_files import JsonReader, LineReader
from evenodds.data.values import _values, typed
from evenodds.models.learn import learn, more
from evenodds.texts import Marks, Texts
from evenodds.threads import in_order, threads_for

pytestmark = pytest.mark.filterwarnings("ignore::evenodds.SchemaWarning")


def rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(["ham", 'spam, or "junk"', "ünïcode\n"], n, p=[0.5, 0.3, 0.2])
    size = rng.lognormal(2, 1, n)
    size[rng.random(n) < 0.1] = np.nan
    colour = rng.choice(["red", "green", "blue", "a,b", 'q"q', "naïve"], n).astype(object)
    colour[rng.random(n) < 0.1] = None
    return pa.table(
        {
            "size": pa.array(size, from_pandas=True),
            "kicks": pa.array(rng.poisson(3, n)),
            "colour": pa.array(colour.tolist(), pa.string()),
            "flag": pa.array(rng.choice([True, False], n)),
            "day": pa.array([f"2024-{m:02}-11" for m in rng.integers(1, 13, n)]),
            "label": pa.array(y),
        }
    )


COLUMNS = {"day": eo.Column(parts=("month", "weekday")), "kicks": eo.Poisson, "size": eo.Gaussian}


def csv_bytes(t):
    out = io.BytesIO()
    pyarrow.csv.write_csv(t, out)
    return out.getvalue()


def write(t, path):
    name = path.name
    raw = None
    if ".csv" in name:
        raw = csv_bytes(t)
    elif ".tsv" in name:
        out = io.BytesIO()
        pyarrow.csv.write_csv(t, out, pyarrow.csv.WriteOptions(delimiter="\t"))
        raw = out.getvalue()
    elif ".jsonl" in name:
        raw = "".join(json.dumps(row) + "\n" for row in t.to_pylist()).encode()
    elif ".json" in name:
        raw = json.dumps(t.to_pylist(), indent=1).encode()
    elif name.endswith(".parquet"):
        pq.write_table(t, path, row_group_size=700)
    elif name.endswith(".arrow"):
        with pa.ipc.new_file(path, t.schema) as out:
            out.write_table(t, 500)
    elif name.endswith(".arrows"):
        with pa.ipc.new_stream(path, t.schema) as out:
            out.write_table(t, 500)
    if raw is not None:
        squeeze = {
            "gz": gzip.compress,
            "bz2": bz2.compress,
            "xz": lzma.compress,
            "zst": lambda b: pa.Codec("zstd").compress(b).to_pybytes(),
        }.get(name.rpartition(".")[2], lambda b: b)
        path.write_bytes(squeeze(raw))
    return path


NAMES = [
    "t.csv",
    "t.csv.gz",
    "t.csv.zst",
    "t.csv.bz2",
    "t.csv.xz",
    "t.tsv",
    "t.tsv.gz",
    "t.jsonl",
    "t.jsonl.gz",
    "t.json",
    "t.parquet",
    "t.arrow",
    "t.arrows",
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("columns", [None, COLUMNS], ids=["decided", "told"])
def test_files_are_memory(tmp_path, name, columns):
    t = rows()
    known, _ = learn(Memory(table(t)), "label", columns)
    found, report = learn(read(write(t, tmp_path / name)), "label", columns)
    assert found == known
    assert found.rows == 3000
    assert report.rows == 3000
    assert not report.sentences()


@pytest.mark.parametrize("size", [200, 1000, 50_000])
@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.parquet", "t.arrow"])
def test_batches_change_nothing(tmp_path, monkeypatch, name, size):
    t = rows(min(4 * size, 3000))
    known, _ = learn(Memory(table(t)), "label", COLUMNS)
    monkeypatch.setattr(csv_module, "BLOCK", size)
    monkeypatch.setattr(typed_files, "CELLS", size)
    path = write(t, tmp_path / name)
    for threads in (1, 3):
        assert learn(read(path), "label", COLUMNS, threads=threads)[0] == known


def test_the_fold_of_a_row_does_not_depend_on_its_batch():
    whole = fold_of(0, 1000, None, 5, 3)
    np.testing.assert_array_equal(np.concatenate([fold_of(at, 250, None, 5, 3) for at in range(0, 1000, 250)]), whole)
    some = np.array([0, 7, 200])
    np.testing.assert_array_equal(fold_of(250, 250, some, 5, 3), whole[250 + some])
    assert np.bincount(whole).min() > 150


def test_the_shell_reads_files(tmp_path):
    t = rows()
    path = write(t, tmp_path / "t.csv")
    in_memory, from_file = eo.NaiveBayes().fit(t, "label"), eo.NaiveBayes().fit(str(path), "label")
    assert from_file.model_ == in_memory.model_
    assert from_file.feature_names_in_.tolist() == in_memory.feature_names_in_.tolist()
    features = t.drop_columns(["label"])
    np.testing.assert_array_equal(from_file.predict(path), in_memory.predict(features))
    np.testing.assert_array_equal(from_file.predict_proba(path), in_memory.predict_proba(features))
    np.testing.assert_array_equal(from_file.score_samples(path), in_memory.score_samples(features))
    half = write(t[:1500], tmp_path / "half.parquet")
    rest = write(t[1500:], tmp_path / "rest.jsonl")
    nb = eo.NaiveBayes(schema=in_memory.model_.schema).partial_fit(half, "label").partial_fit(rest, "label")
    assert nb.model_ == in_memory.model_
    assert (
        nb.forget(rest, "label").model_ == eo.NaiveBayes(schema=in_memory.model_.schema).fit(t[:1500], "label").model_
    )


def test_a_glob_is_all_its_files(tmp_path):
    t = rows()
    for i, name in enumerate(["a.csv", "b.csv", "c.csv"]):
        write(t[i * 1000 : (i + 1) * 1000], tmp_path / name)
    known, _ = learn(Memory(table(t)), "label")
    assert learn(read(tmp_path / "*.csv"), "label")[0] == known
    mixed = [write(t[:1000], tmp_path / "x.parquet"), tmp_path / "b.csv", write(t[2000:], tmp_path / "y.jsonl.gz")]
    assert learn(Files(tuple(map(str, mixed))), "label")[0] == known


def test_more_rows_are_added_and_taken_away(tmp_path):
    t = rows()
    whole, _ = learn(Memory(table(t)), "label")
    first = eo.Model(whole.schema, more(whole, Memory(table(t[:2000])), "label")[0].tally)
    second, report = more(first, read(write(t[2000:], tmp_path / "second.csv")), "label")
    assert report.rows == 1000
    assert first + second == whole
    assert whole - second == first


def test_weights_are_a_column(tmp_path):
    t = rows(600)
    weight = np.random.default_rng(1).integers(0, 4, 600)
    weighted = t.append_column("w", pa.array(weight))
    repeated = t.take(np.repeat(np.arange(600), weight))
    known, _ = learn(Memory(table(repeated)), "label", COLUMNS)
    found, _ = learn(read(write(weighted, tmp_path / "t.csv")), "label", COLUMNS, weights="w")
    assert found == known


@pytest.mark.parametrize(
    ("values", "kind", "classes"),
    [
        (["0", "1"], "int", [0, 1]),
        (["1.5", "2.0"], "float", [1.5, 2.0]),
        (["True", "False"], "bool", [False, True]),
        (["yes", "no"], "text", ["no", "yes"]),
        (["01", "02"], "text", ["01", "02"]),
    ],
)
def test_the_targets_type(tmp_path, values, kind, classes):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i % 7},{values[i % 2]}\n" for i in range(40)))
    model, _ = learn(read(path), "y")
    assert model.schema.target_kind == kind
    assert model.classes.tolist() == classes


def test_numbers_as_categories_are_the_same_category_however_written(tmp_path):
    one, two = tmp_path / "1.csv", tmp_path / "2.csv"
    one.write_text("zip,y\n" + "1,a\n2,b\n" * 20)
    two.write_text("zip,y\n" + "1.0,a\n2.0,b\n" * 20)
    columns = {"zip": eo.Categorical}
    a, _ = learn(read(one), "y", columns)
    b, _ = learn(read(two), "y", columns)
    assert a == b
    in_memory, _ = learn(Memory(table(pa.table({"zip": [1, 2] * 20, "y": ["a", "b"] * 20}))), "y", columns)
    assert a == in_memory
    assert a.log_proba([{"zip": 1}]).tolist() == in_memory.log_proba([{"zip": 1}]).tolist()


@pytest.mark.parametrize("late", ["SW1A", "01067", "N", "no", "-", "1.5e3", "true"])
@pytest.mark.parametrize("early", [["10115", "20095"], ["true", "false"]], ids=["numbers", "flags"])
def test_a_category_keeps_every_label_whatever_it_began_with(tmp_path, early, late):
    cells = [*early * 5000, *[late] * 40]
    y = ["a", "b"] * (len(cells) // 2)
    path = write(pa.table({"zip": cells, "y": y}), tmp_path / "t.csv")
    found, report = learn(read(path), "y", {"zip": eo.Categorical})
    assert report.sentences() == []
    written = ["1500" if cell == "1.5e3" and early[0] != "true" else cell for cell in cells]
    assert found == learn(Memory(table(pa.table({"zip": written, "y": y}))), "y", {"zip": eo.Categorical})[0]


@pytest.mark.parametrize("missing", ["", '""', "NA", ".", "-", "None", '" . "'])
@pytest.mark.parametrize(
    ("cells", "family"),
    [(["0.5", "1.5", "2.5"], eo.Binned), (["7", "8"], eo.Binned), (["true", "FALSE"], eo.Bernoulli)],
)
def test_what_is_missing_among_numbers_does_not_make_them_a_category(tmp_path, missing, cells, family):
    path = tmp_path / "t.csv"
    rows = [(missing if i % 3 == 0 else f'"{cells[i % len(cells)]}"', "ab"[i % 2]) for i in range(300)]
    path.write_text('"x","y"\n' + "".join(f'{x},"{y}"\n' for x, y in rows))
    model, report = learn(read(path), "y")
    assert model.schema.columns["x"].family is family
    assert model.tally["x", "rows" if family is eo.Binned else "sides"].sum() == 200
    assert report.sentences() == []


def test_a_bad_cell_is_missing_counted_and_reported(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{i % 30}.5,{'yes' if i % 3 else 'no'},{'a' if i % 2 else 'b'}" for i in range(12_000)]
    clean = "\n".join(["x,f,y", *lines, ""])
    for at, line in ((11_000, "oops,yes,a"), (11_001, "1.5,perhaps,b"), (11_002, "inf,no,b"), (11_003, "1,yes,")):
        lines[at] = line
    path.write_text("\n".join(["x,f,y", *lines, ""]))
    model, report = learn(read(path), "y")
    assert report.cells["x"].count == 2
    assert report.cells["x"].example == "oops"
    assert report.cells["x"].where.endswith("line 11,002")
    assert report.cells["f"].count == 1
    assert report.no_target.count == 1
    assert model.rows == 11_999
    path.write_text(clean)
    assert learn(read(path), "y")[1].sentences() == []


def test_a_flag_that_turns_out_not_to_be_one(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("f,y\n" + "0,a\n1,b\n" * 6000 + "2,a\n" + "1,a\n" * 5)
    model, report = learn(read(path), "y")
    assert model.schema.columns["f"].family is eo.Bernoulli
    assert (report.cells["f"].count, report.cells["f"].example) == (1, "2")


def test_a_few_bad_cells_in_the_sample_do_not_make_a_category(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{i * 0.37:.2f},{'ab'[i % 2]}\n" for i in range(500)) + "unknown,a\nn.a.,b\n")
    model, report = learn(read(path), "y")
    assert model.schema.columns["x"].family is eo.Binned
    assert report.cells["x"].count == 2


def test_identifiers_are_left_out_with_a_warning_and_may_be_overridden(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,code,y\n" + "".join(f"{i + 1000},c{i:05},{'ab'[i % 2]}\n" for i in range(500)))
    left_out = pytest.warns(eo.SchemaWarning, match="'id', 'code' has almost no value twice")
    with left_out, pytest.raises(eo.DataError, match="no column is left to learn from"):
        learn(read(path), "y")
    model, _ = learn(read(path), "y", {"id": eo.Gaussian})
    assert list(model.schema.features) == ["id"]


def test_decimal_commas_separators_and_encodings(tmp_path):
    path = tmp_path / "t.csv"
    text = "größe;preis;y\n" + "".join(
        f"{i % 40 + 1},5;1.{i % 1000:03},75;{'für' if i % 2 else 'gegen'}\n" for i in range(300)
    )
    path.write_bytes(text.encode("cp1252"))
    source = read(path)
    model, report = learn(source, "y", eo.Gaussian)
    assert not report.cells
    assert sorted(model.classes) == ["für", "gegen"]
    assert abs(float(model.distributions["größe"].mean.mean()) - np.mean([i % 40 + 1.5 for i in range(300)])) < 0.5
    assert "cp1252" in str(source.dialects[str(path)])
    assert "comma" in str(source.dialects[str(path)])


def test_no_separator_is_one_column(tmp_path):
    path = tmp_path / "t.tsv"
    path.write_text("text\ta\nfree,\tprize\n")
    source = Files((str(path),), separator="")
    assert source.sample()["text\ta"].to_pylist() == ["free,\tprize"]


@pytest.mark.parametrize(
    ("different", "odd", "missing", "numeric"),
    [(57, 3, 0, True), (56, 4, 0, False), (20, 1, 0, True), (19, 1, 0, False), (48, 3, 50, False), (57, 3, 50, True)],
)
def test_a_twentieth_of_what_is_there_may_be_no_number_among_20_that_are(different, odd, missing, numeric):
    cells = [*map(str, range(different)), *["oops"] * odd, *[" NA "] * missing]
    assert pa.types.is_integer(typed(Texts.of(cells), Marks()).type) == numeric


def test_whole_numbers_are_those_of_64_bits_with_a_sign_or_without():
    ends = [-(2**63) - 1, -(2**63), 2**64 - 1, 2**64]
    found = _values([str(end) for end in ends], "int", Marks())
    assert found == [None, str(-(2**63)), str(2**64 - 1), None]


def test_a_pipe_is_read_once(tmp_path, monkeypatch):
    t = rows()
    known, _ = learn(Memory(table(t)), "label")
    for name in ("t.csv", "t.csv.gz", "t.jsonl", "t.parquet", "t.arrow"):
        raw, pipe = write(t, tmp_path / name).read_bytes(), tmp_path / f"{name}.pipe"
        os.mkfifo(pipe)
        writing = threading.Thread(target=pipe.write_bytes, args=(raw,), daemon=True)
        writing.start()
        with open(pipe) as stdin:
            monkeypatch.setattr(sys, "stdin", stdin)
            source = read("-")
            source.sample()  # however often its first rows are looked at
            assert learn(source, "label")[0] == known
        writing.join()


class Shard:
    """Something that can be seen to be gone."""

    rows = 1


def oldest(work):
    """How many shards back the oldest is that is still held when the next one is made."""
    seen, back = [], 0

    def every():
        nonlocal back
        for i in range(30):
            back = max([back, *(i - j for j, one in enumerate(seen) if one() is not None)])
            shard = Shard()
            seen.append(weakref.ref(shard))
            yield shard
            del shard

    for _ in work(every()):
        pass
    return back


def of_a_pipe(shards):
    source = Files(())
    source.names, source._started = ("a",), ([next(shards), next(shards)], shards)
    return in_order(lambda shard: None, source.batches(), 1)


@pytest.mark.parametrize(
    ("work", "back"),
    [
        (lambda shards: in_order(lambda shard: None, number(shards), 1), 0),
        (lambda shards: in_order(lambda shard: None, number(shards), 2), 4),
        (of_a_pipe, 1),  # the two that were looked at
    ],
    ids=["one thread", "two threads", "a pipe"],
)
def test_what_has_been_worked_on_is_let_go(work, back):
    assert oldest(work) <= back


def test_rows_of_json_are_let_go_once_they_are_cells():
    lines = b"".join(json.dumps({"a": i}).encode() + b"\n" for i in range(30_000))
    reader = JsonReader(io.BytesIO(lines), "t.jsonl")
    assert [batch.rows for batch in reader.batches()] == [10_000] * 3
    assert reader._first == []


def test_a_list_on_a_line_of_its_own_is_left_out_wherever_it_stands():
    lines = [b'{"a": 1}\n'] * 10_000  # as many as are read at a time
    for before in (5_000, 10_000):
        text = b"".join([*lines[:before], b"[1, 2]\n", *lines])
        found = list(JsonReader(io.BytesIO(text), "t.jsonl").batches())
        assert sum(batch.rows for batch in found) == before + 10_000
        [broken] = [batch.report.broken for batch in found if batch.report.broken]
        assert (broken.count, broken.where) == (1, f"t.jsonl, line {before + 1:,}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "cp1252"])
@pytest.mark.parametrize("told", [True, False])
def test_lines_are_read_in_any_encoding(tmp_path, encoding, told):
    path, lines = tmp_path / "t.txt", ["müde bären", "", "schöne grüße"]
    path.write_bytes("\n".join(lines).encode(encoding))
    [batch] = Files((str(path),), lines="text", encoding=encoding if told else None).batches()
    assert batch.column("text").texts() == lines


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n"])
@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 1 << 10])
def test_batches_of_lines_change_nothing(monkeypatch, size, end):
    monkeypatch.setattr(typed_files, "LINES", size << 4)
    lines = ["one", "", "", "a b\rc", "größe", "x" * 12, "last"]
    batches = list(LineReader(io.BytesIO(("\r\n".join(lines) + end).encode()), "t.txt", "text").batches())
    assert [text for batch in batches for text in batch.column("text").texts()] == lines + [""] * (end == "\n\n")
    starts = np.cumsum([0, *(batch.rows for batch in batches)])
    assert [batch.start for batch in batches] == starts[:-1].tolist()


def test_a_line_that_is_too_long_is_refused_with_its_number(monkeypatch):
    monkeypatch.setattr(typed_files, "LINES", 64)
    for begun in ("a\nb\n", "abcdefg\n" * 9):  # the long one begins in the middle of a piece, or of none
        reader = LineReader(io.BytesIO((begun + "x" * 63 + "\n" + "y" * 64 + "\n").encode()), "t.txt", "text")
        with pytest.raises(eo.DataError, match=f"t.txt, line {begun.count(chr(10)) + 2}: longer than"):
            list(reader.batches())


def test_all_processors_may_be_asked_for():
    assert threads_for(-1) == threads_for(None) >= 1


def test_a_file_is_learnt_without_loading_pandas(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("amount,count,colour,y\n" + "".join(f"{i / 8},{i},{'rg'[i % 2]},{i % 3}\n" for i in range(200)))
    program = (
        "import sys; from evenodds.data.files import Files; from evenodds.models.learn import learn;"
        f"learn(Files(({str(path)!r},)), 'y'); print('pandas' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"


@pytest.mark.parametrize(
    "estimator",
    [eo.NaiveBayes(), eo.NaiveLogistic(), eo.GLM(eo.Bernoulli), eo.BayesNet(target="y"), eo.Mixture(k=1)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_file_without_rows_has_nothing_to_be_told(tmp_path, estimator):
    rows = {"x": [0.0, 1.0, 2.0, 0.0, 1.0, 1.0], "y": ["a", "a", "b", "b", "a", "b"]}
    named = {} if isinstance(estimator, (eo.Mixture, eo.BayesNet)) else {"y": "y"}
    estimator.fit({"x": rows["x"]} if isinstance(estimator, eo.Mixture) else rows, **named)
    (tmp_path / "none.csv").write_text("x,y\n")
    for ask in (estimator.predict, estimator.predict_proba):
        with pytest.raises(eo.DataError, match=r"none\.csv has no rows"):
            ask(str(tmp_path / "none.csv"))


def test_categories_of_a_file_may_all_be_missing(tmp_path):
    (tmp_path / "learnt.csv").write_text("colour,class\n" + "red,a\nblue,b\n" * 5)
    (tmp_path / "new.csv").write_text("colour\n" + "NA\n" * 3)
    nb = eo.NaiveBayes(columns={"colour": eo.Categorical}).fit(tmp_path / "learnt.csv", "class")
    np.testing.assert_allclose(nb.predict_proba(tmp_path / "new.csv"), 0.5)
