"""Rows on Spark: the same models as of rows in memory; and what happens when something goes wrong there."""

import os
import re
import shutil
import signal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenodds as eo
from command import invoke as run
from evenodds.data import spark as on_spark
from evenodds.data.passes import Summed, added
from evenodds.data.spark import Spark
from tables import mixed


@pytest.fixture(scope="session")
def session():
    """Two processors of this machine; a task may fail twice."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17, and there is none")
    found = on_spark.session("local[2,3]")
    found.conf.set("spark.sql.shuffle.partitions", "2")
    yield found
    found.stop()


@pytest.fixture(scope="session")
def rows():
    """Rows with everything in them, and a text."""
    X, y = mixed(900)
    words = np.random.default_rng(0).choice([f"word{i}" for i in range(400)], (900, 5))
    return pa.Table.from_pandas(X.assign(text=[" ".join(w) for w in words], level=y), preserve_index=False)


@pytest.fixture(scope="session")
def frame(session, rows):
    return session.createDataFrame(rows).persist()


COLUMNS = {"text": eo.Words(ngrams=2), "kicks": eo.Poisson, "height": eo.Gaussian, "colour": eo.Categorical}


def test_long_sums_are_cut_by_keys_and_merged_as_a_tree(frame, rows):
    whole = eo.NaiveBayes(COLUMNS).fit(rows, "level")
    seven = Spark(frame.repartition(7), piece=20_000, here=0, fan_in=3)
    found = eo.NaiveBayes(COLUMNS).fit(seven, "level")
    assert found.model_.tally.lists["text", "words"] == whole.model_.tally.lists["text", "words"]
    assert found.model_ == whole.model_


def test_rows_are_kept_by_their_numbers_as_if_they_were_here(frame, rows):
    tempered = [eo.NaiveBayes(COLUMNS, temper=True).fit(x, "level").model_ for x in (frame, rows)]
    assert tempered[0].temper == tempered[1].temper
    assert tempered[0] == tempered[1]


def test_a_dataframe_with_answers(frame, rows):
    nb = eo.NaiveBayes(COLUMNS).fit(rows, "level")
    answered = on_spark.scored(frame, nb.predict_proba, ["hi", "lo", "mid"]).toArrow()
    assert answered.column_names == [*rows.column_names, "hi", "lo", "mid"]
    found = np.column_stack([answered[name].to_numpy() for name in ("hi", "lo", "mid")])
    np.testing.assert_array_equal(found, nb.predict_proba(rows))
    np.testing.assert_array_equal(nb.predict(frame), nb.predict(rows))


def test_columns_may_have_any_name(session, rows):
    odd = dict(zip(rows.column_names, ["house price", "a.b", "`", "c`d.e"]))
    renamed = rows.rename_columns([odd.get(name, name) for name in rows.column_names])
    frame = session.createDataFrame(renamed)
    one, two = (eo.NaiveBayes().fit(x, "level") for x in (renamed, frame))
    assert one.model_ == two.model_
    answered = on_spark.scored(frame, one.predict_proba, ["p hi", "p.lo", "mid"]).toArrow()
    assert answered.column_names == [*renamed.column_names, "p hi", "p.lo", "mid"]


def test_what_goes_wrong_there_is_said_here(frame):
    with pytest.raises(eo.DataError, match="did you mean 'height'"):
        eo.NaiveBayes().fit(frame, "heigth")
    with pytest.raises(eo.DataError, match=r"^partition 0: missing cells \(NaN\) in columns .*first in row"):
        eo.GLM(eo.Poisson).fit(frame.select("kicks", "height", "age").dropna(subset=["kicks"]), "kicks")


def killed(where, always):
    """Work that ends its own process, once or whenever it is tried."""

    def work(batch):
        if always or not os.path.exists(where):
            Path(where).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return Summed([], numbers=np.array([batch.rows]))

    return work


def test_a_worker_that_is_killed_is_replaced(frame, rows, tmp_path):
    batches = Spark(frame).batches(["kicks"])
    found = added(killed(str(tmp_path / "once"), False), batches, total=Summed.total)
    assert (tmp_path / "once").exists()
    assert found.numbers.tolist() == [rows.num_rows]


def test_workers_that_are_always_killed_are_named(frame, tmp_path):
    with pytest.raises(eo.DataError, match=r"the DataFrame: a Python worker of Spark was killed, and no retry"):
        added(killed(str(tmp_path / "always"), True), Spark(frame).batches(["kicks"]), total=Summed.total)


def test_a_file_that_is_cut_short_is_named(session, rows, tmp_path):
    for i in range(2):
        pq.write_table(rows, tmp_path / f"{i}.parquet")
    data = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(eo.DataError, match=r"1\.parquet"):
        eo.NaiveBayes(COLUMNS).fit(on_spark.rows_at([str(tmp_path)]), "level")


def test_rows_that_change_between_two_passes_are_refused(frame):
    source = Spark(frame)
    batches = source.batches(["kicks"])
    source._rows["kicks",] = {place: rows + 1 for place, rows in source.rows(("kicks",)).items()}
    with pytest.raises(eo.DataError, match="persist the DataFrame first"):
        list(batches.numbered(True).each(len))


def test_the_command_line_counts_on_spark(session, rows, tmp_path):
    path = str(tmp_path / "rows.csv")
    rows.to_pandas().to_csv(path, index=False)
    for engine in ("local", "spark"):
        out = str(tmp_path / f"{engine}.eo")
        run("fit", path, "-t", "level", "-o", out, "--engine", engine, "-q")
        run("predict", out, path, "--engine", engine, "-o", f"{out}.csv", "-q")
    local, there = (eo.load(tmp_path / f"{engine}.eo") for engine in ("local", "spark"))
    assert there == local
    assert (tmp_path / "spark.eo.csv").read_bytes() == (tmp_path / "local.eo.csv").read_bytes()
    refused = run("fit", path, "-t", "level", "-o", "x.eo", "--master", "local[2]", code=2)
    assert "--master is Spark's" in refused.stderr


def test_what_is_not_installed_is_said(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(eo.DataError, match=r"Spark needs Java 17 or newer, and there is none: install a JRE"):
        on_spark.session()
    monkeypatch.setitem(__import__("sys").modules, "pyspark.sql", None)
    with pytest.raises(eo.DataError, match=r"pip install 'evenodds\[spark\]'"):
        on_spark.session()


def test_the_page_is_right(session, rows, tmp_path):
    page = (Path(__file__).parent.parent / "docs" / "scale.md").read_text()
    code = re.search(r"```python spark\n(.*?)```", page, re.DOTALL).group(1)
    pq.write_table(rows, tmp_path / "mail.parquet")
    there = {}
    exec(code.replace("mail.parquet", str(tmp_path / "mail.parquet")), there)  # Java does not know where Python went
    assert there["nb"].model_ == eo.NaiveBayes(columns={"text": eo.Words()}).fit(rows, "level").model_
    assert there["answered"].count() == rows.num_rows
