"""Files counted shard by shard: by any number of processes, after a run that died, with broken ones among them."""

import errno
import gzip
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenodds as eo
from command import invoke
from evenodds.data import kept, shards
from evenodds.data.files import Files
from evenodds.data.processes import Workers
from evenodds.data.workers import Sharded
from evenodds.models import checkpoint
from evenodds.models.learn import learn
from evenodds.models.learn_many import learn_many
from evenodds.replacing import replacing
from tables import mixed


@pytest.fixture
def folder(tmp_path):
    """Four files of rows, in two formats; one of them has row groups."""
    for i in range(4):
        X, y = mixed(300, seed=i)
        X["text"] = [f"word{k % 7} other{k % 3}" for k in range(300)]
        rows = X.assign(level=y)
        if i % 2:
            rows.to_csv(tmp_path / f"{i}.csv", index=False)
        else:
            pq.write_table(
                pa.Table.from_pandas(rows, preserve_index=False), tmp_path / f"{i}.parquet", row_group_size=90
            )
    return tmp_path


def files(folder):
    return Files((str(folder),))


def columns():
    return {"text": eo.Words(), "kicks": eo.Poisson, "height": eo.Gaussian}


def test_any_number_of_workers_gives_the_same_bits_and_the_model_of_one_pass(folder, monkeypatch):
    monkeypatch.setattr(shards, "ROWS", 100)
    assert [shard.groups for shard in shards.shards_of(files(folder))] == [(0, 2), (2, 4), None, (0, 2), (2, 4), None]
    assert [shard.rows for shard in shards.shards_of(files(folder))] == [180, 120, None, 180, 120, None]
    one, report = learn_many(files(folder), "level", columns(), workers=1)
    two, _ = learn_many(files(folder), "level", columns(), workers=2)
    whole, plain = learn(files(folder), "level", columns())
    assert one.to_bytes() == two.to_bytes()
    assert one == whole
    assert one.rows == 1200
    assert report == plain


def test_a_run_that_died_goes_on_where_it_stopped(folder, tmp_path, monkeypatch):
    done = tmp_path.parent / f"{tmp_path.name}.done"
    calls = []

    def full(path):
        calls.append(path)
        if len(calls) == 7:  # two files are kept (four of these) beside the index, which is written after each
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return replacing(path)

    replacing = checkpoint.replacing
    monkeypatch.setattr(checkpoint, "replacing", full)
    with pytest.raises(OSError, match="No space left"):
        learn_many(files(folder), "level", columns(), checkpoint=done)
    monkeypatch.setattr(checkpoint, "replacing", replacing)
    kept = {path.name: path.stat().st_mtime_ns for path in done.glob("*.eo")}
    again, _ = learn_many(files(folder), "level", columns(), checkpoint=done)
    whole, _ = learn_many(files(folder), "level", columns())
    assert again.to_bytes() == whole.to_bytes()
    assert len(kept) >= 3  # the schema and two parts
    assert all((done / name).stat().st_mtime_ns == then for name, then in kept.items())


def test_digests_are_not_written_again_for_every_file(tmp_path, monkeypatch):
    (tmp_path / "rows").mkdir()
    for i in range(40):
        (tmp_path / "rows" / f"{i}.csv").write_text(f"x,y\n{i},a\n{i + 1},b\n")
    written = []
    monkeypatch.setattr(checkpoint, "replacing", lambda path: written.append(path) or replacing(path))
    learn_many(files(tmp_path / "rows"), "y", checkpoint=tmp_path / "done")
    index = json.loads((tmp_path / "done" / "files.json").read_text())
    assert len(index["files"]) == 40
    assert sum(path.endswith("files.json") for path in written) < 25
    written.clear()
    learn_many(files(tmp_path / "rows"), "y", checkpoint=tmp_path / "done")
    assert not written  # nothing is new


def test_a_folder_that_changes_is_counted_anew_only_where_it_has_changed(folder, tmp_path):
    done = tmp_path.parent / f"{tmp_path.name}.done"
    learn_many(files(folder), "level", columns(), checkpoint=done)
    before = {path.name for path in done.glob("*.eo")}
    (folder / "3.csv").unlink()
    X, y = mixed(200, seed=9)
    X.assign(level=y, text="new").to_csv(folder / "5.csv", index=False)
    os.rename(folder / "1.csv", folder / "6.csv")  # the same bytes under another name
    grown, _ = learn_many(files(folder), "level", None, checkpoint=done)
    assert len({path.name for path in done.glob("*.eo")} - before) == 1
    assert grown == learn(files(folder), "level", columns(), schema=grown.schema)[0]
    assert grown.rows == 1100


@pytest.mark.parametrize("harm", ["cut", "flip", "nothing", "report"])
def test_a_part_that_is_damaged_is_counted_again(folder, tmp_path, harm):
    done = tmp_path.parent / f"{tmp_path.name}.done"
    whole, _ = learn_many(files(folder), "level", columns(), checkpoint=done)
    part = next(path for path in sorted(done.glob("*.eo")) if path.name != "schema.eo")
    data = bytearray(part.read_bytes())
    if harm == "report":
        part.with_suffix(".json").write_text('{"rows": []}')
    elif harm == "flip":
        data[-20] ^= 1
    part.write_bytes({"cut": data[:50], "nothing": b""}.get(harm, bytes(data)))
    assert learn_many(files(folder), "level", columns(), checkpoint=done)[0] == whole


def test_parts_of_other_columns_are_refused(folder, tmp_path):
    done = tmp_path.parent / f"{tmp_path.name}.done"
    learn_many(files(folder), "level", columns(), checkpoint=done)
    with pytest.raises(eo.DataError, match=r"begun with other columns: use another folder"):
        learn_many(files(folder), "level", {"kicks": eo.Gaussian}, checkpoint=done)
    with pytest.raises(eo.DataError, match=r"begun with other settings"):
        learn_many(files(folder), "colour", checkpoint=done)


def test_broken_files_stop_the_run_or_are_named(folder):
    whole, _ = learn_many(files(folder), "level", columns())
    rows = (folder / "1.csv").read_bytes()
    (folder / "7.csv.gz").write_bytes(gzip.compress(rows)[:-30])
    (folder / "8.parquet").write_bytes((folder / "0.parquet").read_bytes()[:-9])
    with pytest.raises(eo.DataError, match=r"7\.csv\.gz is damaged or cut short"):
        learn_many(files(folder), "level", columns())
    for workers in (1, 2):
        model, report = learn_many(files(folder), "level", columns(), workers=workers, on_error="skip")
        assert model == whole  # nothing of a broken file is in the sum
        assert {os.path.basename(name) for name in report.skipped} == {"7.csv.gz", "8.parquet"}
        assert any("7.csv.gz was not counted: " in line for line in report.sentences())


def test_a_worker_that_is_killed_costs_time_and_nothing_else(folder):
    whole, _ = learn_many(files(folder), "level", columns())
    killed = []

    def kill():
        while not killed:
            for child in multiprocessing.active_children():
                time.sleep(0.3)
                os.kill(child.pid, signal.SIGKILL)
                killed.append(child.pid)
                break
            time.sleep(0.01)

    thread = threading.Thread(target=kill)
    thread.start()
    model, _ = learn_many(files(folder), "level", columns(), workers=2)
    thread.join()
    assert killed
    assert model.to_bytes() == whole.to_bytes()
    assert multiprocessing.active_children() == []


def test_a_script_that_starts_itself_again_is_told_so(folder):
    script = folder.parent / "script.py"
    script.write_text(
        "from evenodds.data.files import Files\nfrom evenodds.models.learn_many import learn_many\n"
        f"learn_many(Files(({str(folder)!r},)), 'level', workers=2)\n"
    )
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False, timeout=120)
    assert "must stand under if __name__ == '__main__'" in run.stderr.splitlines()[-1]


def test_standard_input_is_not_for_many(folder):
    with pytest.raises(eo.DataError, match="read once only"):
        learn_many(Files(("-",)), "level", workers=2)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="that workers have begun is told by Linux's /proc")
def test_interrupted_it_leaves_nothing_behind(tmp_path):
    rng = np.random.default_rng(0)
    for i in range(6):
        lines = "".join(f"{a},{b}\n" for a, b in zip(rng.random(200_000).round(6), rng.integers(0, 2, 200_000)))
        (tmp_path / f"{i}.csv").write_text("x,y\n" + lines)
    command = [sys.executable, "-m", "evenodds", "fit", "*.csv", "-t", "y", "-o", "m.eo", "--workers", "2"]
    run = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True)
    children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
    while len(children.read_text().split()) < 3:  # two workers, and the interpreter's own helper
        time.sleep(0.01)
    time.sleep(0.3)  # they are told what to do, and still have to load
    os.kill(run.pid, signal.SIGINT)  # as a shell script sends it: to this process alone
    _, said = run.communicate(timeout=60)
    assert run.returncode == 130
    assert b"Traceback" not in said
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{i}.csv" for i in range(6)]
    left = True
    for _ in range(100):  # the interpreter's own helper goes a moment after its parent
        try:
            os.killpg(run.pid, 0)
        except ProcessLookupError:
            left = False
            break
        time.sleep(0.1)
    assert not left


@pytest.mark.parametrize("option", ["--temper", "--tune", "--bridge"])
def test_rows_that_are_looked_at_again_are_the_same_for_any_number_of_workers(folder, tmp_path, monkeypatch, option):
    monkeypatch.setattr(kept, "LEAST", 100)  # of 1,200 rows some are kept, and which is told by their numbers
    monkeypatch.setattr(shards, "ROWS", 100)
    found = []
    for workers in (0, 2, 1)[: 3 if option == "--temper" else 2]:  # a process takes seconds to begin
        out, more = tmp_path / f"{workers}.model", ["--workers", workers] if workers else []
        invoke("fit", f"{folder}/*.csv", f"{folder}/*.parquet", "-t", "level", "-o", out, option, "-q", *more)
        found.append(eo.load(out))
    assert found[1:] == found[:-1]


def test_rows_are_counted_only_where_a_file_does_not_say_how_many_it_has(folder, monkeypatch):
    monkeypatch.setattr(shards, "ROWS", 100)
    read, killed = [], []
    monkeypatch.setattr(Workers, "kill", killed.append)
    monkeypatch.setattr(Workers, "begin", lambda self, name, task, *given: read.append(name) or (lambda: task(*given)))
    assert Sharded(files(folder), 2).rows == [180, 120, 300, 180, 120, 300]
    assert read == [str(folder / "1.csv"), str(folder / "3.csv")]
    assert killed == []


def test_rows_that_are_looked_at_again_are_not_stored(folder, tmp_path):
    refused = invoke("fit", folder, "-t", "level", "-o", tmp_path / "m.model", "--temper", code=2)
    assert "of which nothing is stored" in refused.stderr


def test_any_sum_over_files_is_made_by_workers(folder):
    near = Sharded(files(folder), 2)
    one, two = (eo.NaiveBayes(columns()).fit(x, "level") for x in (str(folder), near))
    assert one.model_ == two.model_
    np.testing.assert_array_equal(two.predict_proba(near), one.predict_proba(str(folder)))
