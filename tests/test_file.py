"""The .eo file: what is written can be read; what is damaged, foreign, newer or forged is refused in a sentence."""

import json
import mmap
import os
import pickle
import random
import signal
import stat
import subprocess
import sys
import threading
import time
import tracemalloc
import warnings

import numpy as np
import pytest
from benchmarks import hostile_files, spoiling
from safetensors.numpy import load as safetensors_load
from safetensors.numpy import save as safetensors_save

import evenodds as eo
from command import loaded
from evenodds import file, replacing
from golden.golden_model import HERE, golden

ARRAYS = {
    "bytes": np.arange(5, dtype=np.uint8),
    "doubles": np.array([[0.5, -1.0, 1e300], [0.0, np.pi, 2.0]]),
    "keys": np.array([0, 2**64 - 1], np.uint64),
    "nothing": np.zeros((2, 0)),
    "small": np.arange(-2, 3, dtype=np.int32),
    "whole": np.array([2**63 - 1, -(2**63)]),
}
PACKED = file.pack(ARRAYS, {"kind": "tally", "of": "grün"})
LISTED = {
    "a": {"dtype": "I64", "shape": [2], "data_offsets": [0, 16]},
    "b": {"dtype": "U8", "shape": [3], "data_offsets": [16, 19]},
}
INNER = {"format": 1, "kind": "tally"}
DATA = bytes(range(19))


def refused(words):
    return pytest.raises(file.FileError, match=words)


# What is written


def test_what_is_written_is_read():
    arrays, header = file.unpack(PACKED)
    assert header == {"format": 1, "kind": "tally", "of": "grün"}
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        assert arrays[name].dtype == array.dtype
        np.testing.assert_array_equal(arrays[name], array)


def test_safetensors_reads_it():
    arrays = safetensors_load(PACKED)
    assert arrays.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)


def test_arrays_are_aligned_and_in_native_order_whatever_they_were():
    strange = {
        "a": np.arange(6.0).reshape(2, 3).T,
        "b": np.arange(3, dtype=">i4"),
        "c": np.arange(9, dtype=np.uint8)[::3],
    }
    packed = file.pack(strange, {"kind": "tally"})
    contents = file.parse(packed)
    assert contents.start % 8 == 0
    assert all(entry.offset % file.WIDTHS[entry.dtype] == 0 for entry in contents.table.values())
    for name, array in file.unpack(packed)[0].items():
        assert array.flags.aligned
        np.testing.assert_array_equal(array, strange[name])


def test_a_file_without_arrays():
    assert file.unpack(file.pack({}, {"kind": "tally"})) == ({}, {"format": 1, "kind": "tally"})


def test_the_same_thing_has_the_same_bytes():
    turned = dict(reversed(ARRAYS.items()))
    assert file.pack(turned, {"of": "grün", "kind": "tally"}) == PACKED


def test_a_header_beyond_the_limit_is_not_written(monkeypatch):
    monkeypatch.setattr(file, "LONGEST", 1000)
    with pytest.raises(eo.DataError, match=r"the header would have 1,\d\d\d bytes, at most 1,000 can"):
        file.pack({f"a{i}": np.zeros(1) for i in range(20)}, {"kind": "tally"})


# Damage


def test_any_flipped_bit_is_refused():
    for at in range(8 * len(PACKED)):
        spoilt = bytearray(PACKED)
        spoilt[at // 8] ^= 1 << at % 8
        with refused("the run of bytes (is|has|was) "):
            file.unpack(bytes(spoilt))


def test_any_cut_is_refused_and_told():
    for size in range(len(PACKED)):
        with refused("is cut short|is not an evenodds model: it (is empty|does not begin)") as caught:
            file.unpack(PACKED[:size])
        if size > 120:
            assert str(caught.value) == f"the run of bytes is cut short: {size} of {len(PACKED)} bytes"


@pytest.mark.parametrize("more", [b"\0", b"\n", b" " * 8, PACKED])
def test_bytes_behind_the_end_are_refused_and_counted(more):
    with refused(f"has more bytes than were written: {len(PACKED) + len(more):,} of {len(PACKED)} bytes"):
        file.unpack(PACKED + more)


@pytest.mark.parametrize("length", [0, 7, 8, 100, 1 << 20, 100_000_008, 2**63, 2**64 - 1])
def test_a_wrong_length_of_the_header_is_damage(length):
    with refused(f"is damaged: its header cannot be {length:,} bytes long|is damaged: its checksum does not match"):
        file.unpack(length.to_bytes(8, "little") + PACKED[8:])


def test_a_checksum_in_capitals_is_damage():
    digits = PACKED[file.AT : file.AT + 8]
    i = next(i for i in range(8) if digits[i : i + 1].isalpha())
    at = file.AT + i
    with refused("is damaged"):
        file.unpack(PACKED[:at] + PACKED[at : at + 1].upper() + PACKED[at + 1 :])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is not an evenodds model: it is empty"),
        (b"PK\x03\x04" * 50, "is not an evenodds model: it does not begin like one"),
        (pickle.dumps({"weights": [1, 2, 3]}), "is not an evenodds model: it does not begin like one"),
        (b"\0" * 1000, "is not an evenodds model: it does not begin like one"),
        (safetensors_save({"w": np.zeros(3)}), "it looks like the safetensors file of another program"),
        (safetensors_save({"w": np.zeros(3)}, {"checksum": "no"}), "is not an evenodds model|is damaged|is cut short"),
    ],
    ids=["empty", "zip", "pickle", "zeros", "safetensors", "with a checksum"],
)
def test_files_of_other_programs(data, words):
    with refused(words):
        file.unpack(data)


# Forgeries: the checksums are right, the contents are not


def test_a_newer_format_says_to_upgrade():
    newer = spoiling.forge({"z": {"unheard": "of"}}, {"format": 2, "anything": []}, b"")
    with refused(r"was written by a newer evenodds \(format 2; this one reads up to 1\): upgrade evenodds"):
        file.unpack(newer)


@pytest.mark.parametrize("number", [0, -1, True, None, "1", 1.0, [1]])
def test_a_format_that_is_no_number(number):
    with refused("its format is .*, not a number"):
        file.unpack(spoiling.forge(LISTED, {**INNER, "format": number}, DATA))


def entry(**changes):
    return {**LISTED, "a": {**LISTED["a"], **changes}}


TABLES = {
    "a shape that is no list": (entry(shape=2), "impossible shape 2"),
    "a negative shape": (entry(shape=[-2]), r"impossible shape \[-2\]"),
    "a shape of truths": (entry(shape=[True, 2]), "impossible shape"),
    "a shape of doubles": (entry(shape=[2.0]), "impossible shape"),
    "a shape of texts": (entry(shape=["2"]), "impossible shape"),
    "a shape beyond the file": (entry(shape=[2**40]), "impossible shape"),
    "an empty shape beyond memory": (entry(shape=[0, 2**63], data_offsets=[0, 0]), "impossible shape"),
    "a shape of a hundred axes": (entry(shape=[1] * 100), "impossible shape"),
    "another size than the shape's": (entry(shape=[1]), "'a' has not as many bytes as its shape says"),
    "another type than the size's": (entry(dtype="I32"), "'a' has not as many bytes as its shape says"),
    "an unknown type": (entry(dtype="F16"), "'a' is of the unknown type 'F16'"),
    "a type that is no text": (entry(dtype=["I64"]), r"'a' is of the unknown type \['I64'\]"),
    "a gap before": (entry(data_offsets=[1, 17]), "'a' does not begin where the one before it ends"),
    "an overlap": (entry(data_offsets=[0, 24], shape=[3]), "'b' does not begin where the one before it ends"),
    "a place before the file": (entry(data_offsets=[-16, 0]), "'a' does not begin"),
    "a place beyond the file": (entry(data_offsets=[2**62, 2**62 + 16]), "'a' does not begin"),
    "an end before the beginning": (entry(data_offsets=[0, -16]), "'a' does not begin"),
    "a place that is no list": (entry(data_offsets=16), "'a' does not begin"),
    "a place of three numbers": (entry(data_offsets=[0, 16, 16]), "'a' does not begin"),
    "out of order": (dict(reversed(LISTED.items())), "'b' does not begin where the one before it ends"),
    "an entry that is no object": ({**LISTED, "a": 5}, "'a' has not just a type, a shape and a place"),
    "an entry with more in it": (entry(more=1), "'a' has not just a type, a shape and a place"),
    "an array less": ({"a": LISTED["a"]}, "its arrays do not end where the file does"),
    "no arrays": ({}, "its arrays do not end where the file does"),
    "an end beyond the file": (entry(data_offsets=[0, 24]), "'a' has not as many bytes as its shape says"),
    "a name twice": ({**LISTED, spoiling.TWICE + "a": LISTED["a"]}, "a name occurs twice in its header"),
    "a huge number": (entry(shape=[10**4000]), "the number '1000.*000' in its header is too large"),
    "a number that is none": (entry(shape=[float("nan")]), "its header has NaN for a number"),
    "an endless number": (entry(shape=[float("inf")]), "its header has Infinity for a number"),
    "endless nesting": (entry(shape=spoiling.DEEP), "its header is nested too deeply"),
}


@pytest.mark.parametrize("what", TABLES)
def test_a_forged_table_of_arrays_is_refused(what):
    listed, words = TABLES[what]
    with refused("is not an evenodds model: .*" + words):
        file.unpack(spoiling.forge(listed, INNER, DATA))


def test_an_array_that_is_not_aligned_is_refused():
    listed = {
        "b": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
        "a": {"dtype": "I64", "shape": [2], "data_offsets": [3, 19]},
    }
    with refused("'a' does not begin where the one before it ends"):
        file.unpack(spoiling.forge(listed, INNER, DATA))


@pytest.mark.parametrize(
    ("inner", "words"),
    [
        ([1], "its header is not an object"),
        ("text", "its header is not an object"),
        ({"format": 1}, "it does not say what it holds"),
        ({**INNER, "kind": 3}, "it does not say what it holds"),
        ({**INNER, "x": spoiling.DEEP}, "nested too deeply"),
        ({**INNER, spoiling.TWICE + "kind": "model"}, "a name occurs twice"),
        ({**INNER, "x": 1e999}, "Infinity"),
        ({**INNER, "x": 10**30}, "too large"),
    ],
    ids=str,
)
def test_a_forged_header_is_refused(inner, words):
    with refused("is not an evenodds model: .*" + words):
        file.unpack(spoiling.forge(LISTED, inner, DATA))


def rewritten(old, new, pad=8):
    """A forged file with some text of its header replaced, and its length and checksum made right again."""
    forged = spoiling.forge(LISTED, INNER, DATA)
    text = forged[8 : -len(DATA)].rstrip().replace(old, new)
    length = -(-(len(text) + 8) // 8) * 8 + pad
    text = text.replace(b'"bytes":"%d"' % len(forged), b'"bytes":"%d"' % (8 + length + len(DATA)))
    at = file.AT - 8
    return spoiling.signed((text[:at] + b"0" * 8 + text[at + 8 :]).ljust(length)) + DATA


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (b'"},"a"', b'","more":"x"},"a"', "its header has more metadata than evenodds writes"),
        (b'\\"format\\":1', b'\\"format\\":1,\\"x\\":1e999', "the number '1e999' in its header is too large"),
        (b'"shape"', b"'shape'", "its header is not JSON"),
        (b'"shape"', b'"sh\xffpe"', "is not an evenodds model: its header is not UTF-8"),
    ],
    ids=["metadata", "endless", "quotes", "not UTF-8"],
)
def test_a_forged_text_of_the_header_is_refused(old, new, words):
    assert file.unpack(rewritten(b"", b""))[1] == INNER
    with refused(words):
        file.unpack(rewritten(old, new))


def test_a_header_of_a_length_that_would_shift_the_data_is_refused():
    with refused("is damaged: its header cannot be"):
        file.unpack(rewritten(b"", b"", pad=1))


def test_a_header_beyond_the_limit_is_not_read(monkeypatch):
    monkeypatch.setattr(file, "LONGEST", 80)
    with refused("is damaged: its header cannot be"):
        file.unpack(PACKED)


def test_the_forger_is_good():
    """The refusals above are for what was changed: unchanged, the forgery is read."""
    arrays, header = file.unpack(spoiling.forge(LISTED, INNER, DATA))
    assert (arrays["b"].tolist(), header) == ([16, 17, 18], INNER)


def test_a_long_reason_is_not_repeated_at_length():
    model = golden()
    arrays, header = file.unpack(model.to_bytes())
    header["settings"]["estimate"] = "x" * 100_000
    with refused("its .*|estimate=.*") as caught:
        eo.Model.from_bytes(file.pack(arrays, header))
    assert len(str(caught.value)) < 500


# Files


@pytest.fixture
def path(tmp_path):
    return tmp_path / "spam.eo"


def test_a_file_is_described_without_numpy(path):
    golden().save(path)
    assert file.describe(path) == {"format": 1, "kind": "naive bayes", "rows": 29.25, "bytes": path.stat().st_size}
    program = f"from evenodds import file; file.describe({str(path)!r})"
    assert loaded(program) & {"numpy", "pyarrow", "safetensors", "scipy"} == set()


def test_a_description_is_not_given_of_a_damaged_header(path):
    golden().save(path)
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)
    with refused(f"^{path} is damaged: its checksum does not match$"):
        file.describe(path)


def test_a_large_file_is_mapped_and_may_be_saved_over(path, monkeypatch):
    monkeypatch.setattr(file, "SMALL", 0)
    model = golden()
    model.save(path)
    back = eo.load(path)
    assert not back.tally.counts.flags.writeable
    base = back.tally.counts
    while isinstance(base, np.ndarray):
        base = base.base
    assert isinstance(getattr(base, "obj", base), mmap.mmap)
    (back + back).save(path)
    assert back == model
    assert eo.load(path) == model + model


def test_an_empty_file_that_would_be_mapped(path, monkeypatch):
    monkeypatch.setattr(file, "SMALL", 1)
    path.write_bytes(b"")
    with refused("it is empty"):
        eo.load(path)


def test_what_the_system_refuses_is_its_own_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.eo"):
        eo.load(tmp_path / "nothing.eo")
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        eo.load(tmp_path)
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        golden().save(tmp_path)
    with pytest.raises(FileNotFoundError) as caught:
        golden().save(tmp_path / "no" / "folder.eo")
    assert caught.value.filename == str(tmp_path / "no" / "folder.eo")
    assert os.listdir(tmp_path) == []


def test_a_new_file_has_the_permissions_of_any_new_file(path):
    before = os.umask(0o027)
    try:
        file.write(path, ARRAYS, {"kind": "tally"})
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("mode", [0o600, 0o664, 0o444 | 0o200])
def test_an_old_file_keeps_its_permissions(path, mode):
    path.write_bytes(b"old")
    path.chmod(mode)
    file.write(path, ARRAYS, {"kind": "tally"})
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert path.read_bytes() != b"old"


def test_a_file_that_may_not_be_written_is_not_replaced(path, monkeypatch):
    path.write_bytes(b"old")
    monkeypatch.setattr(replacing.os, "access", lambda *_: False)  # root may write everything
    with pytest.raises(PermissionError, match=r"spam\.eo"):
        file.write(path, ARRAYS, {"kind": "tally"})
    assert (path.read_bytes(), os.listdir(path.parent)) == (b"old", ["spam.eo"])


@pytest.mark.parametrize("there", [True, False], ids=["to a file", "to nothing"])
def test_a_link_stays_and_its_target_is_replaced(tmp_path, there):
    (tmp_path / "models").mkdir()
    target, link = tmp_path / "models" / "v1.eo", tmp_path / "current.eo"
    if there:
        target.write_bytes(b"old")
    link.symlink_to("models/v1.eo")
    file.write(link, ARRAYS, {"kind": "tally"})
    assert os.readlink(link) == "models/v1.eo"
    assert not target.is_symlink()
    assert file.read(target)[1]["kind"] == "tally"
    assert os.listdir(target.parent) == ["v1.eo"]


def test_a_pipe_is_written_to_and_read_from_not_replaced(tmp_path):
    pipe, model = tmp_path / "pipe", golden()
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(eo.load(pipe)))
    reader.start()
    model.save(pipe)
    reader.join()
    assert read == [model]
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)


@pytest.mark.parametrize("failing", ["fsync", "replace", "fchmod"])
@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_failure_leaves_the_old_file_and_nothing_else(path, monkeypatch, failing, error):
    def fail(*_):
        raise error

    golden().save(path)
    before = path.read_bytes()
    monkeypatch.setattr(replacing.os, failing, fail)
    with pytest.raises(type(error)):
        file.write(path, ARRAYS, {"kind": "tally"})
    assert (path.read_bytes(), os.listdir(path.parent)) == (before, ["spam.eo"])


def large(times=1):
    """A model whose file takes a megabyte."""
    texts = [f"a category of its own, the {i}th" for i in range(15_000)]
    nothing = eo.Model(eo.Schema({"c": eo.Column(eo.Categorical)}, "y"), eo.Tally.nothing())
    return nothing.learn({"c": texts}, np.array(["a", "b", "c"] * 5000)).fade(times)


def test_a_full_disk_leaves_the_old_file(path):
    golden().save(path)
    before = path.read_bytes()
    large().save(path.parent / "large.eo")
    program = """
import resource, sys
from evenodds import file
arrays, header = file.read(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
file.write(sys.argv[2], arrays, header)
"""
    command = [sys.executable, "-c", program, path.parent / "large.eo", path]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.stderr.endswith(f"OSError: [Errno 27] File too large: {str(path)!r}\n")
    assert path.read_bytes() == before
    assert sorted(os.listdir(path.parent)) == ["large.eo", "spam.eo"]


def test_a_process_that_is_killed_leaves_one_whole_file_or_the_other(path):
    models = [large(), large(2)]
    others = [path.parent / name for name in ("one", "two")]
    for model, other in zip(models, others):
        model.save(other)
    models[0].save(path)
    program = """
import sys
from evenodds import file
both = [file.read(name) for name in sys.argv[2:]]
print("ready", flush=True)
while True:
    for arrays, header in both:
        file.write(sys.argv[1], arrays, header)
"""
    rng = random.Random(0)
    for _ in range(6):
        saving = subprocess.Popen([sys.executable, "-c", program, path, *others], stdout=subprocess.PIPE)
        assert saving.stdout.readline() == b"ready\n"
        time.sleep(0.1 * rng.random())
        saving.send_signal(signal.SIGKILL)
        saving.wait()
        saving.stdout.close()
        assert eo.load(path) in models


# Golden files


@pytest.mark.parametrize("number", range(1, file.FORMAT + 1))
def test_old_files_open_and_say_what_they_said(number):
    model = eo.load(HERE / f"format-{number}.eo")
    said = json.loads((HERE / f"format-{number}.json").read_text())
    assert model.classes.tolist() == said["classes"]
    np.testing.assert_allclose(model.log_proba(said["rows"]), said["log_proba"], rtol=0, atol=1e-12)


def test_todays_code_writes_what_is_in_the_golden_file_of_its_format():
    path = HERE / f"format-{file.FORMAT}.eo"
    then, now = eo.load(path), golden()
    assert then.schema == now.schema
    assert then.settings == now.settings
    assert then.tally.layout == now.tally.layout
    np.testing.assert_array_equal(then.tally.counts, now.tally.counts)
    np.testing.assert_allclose(then.tally.sums[0], now.tally.sums[0], rtol=1e-13)  # logs differ by a bit elsewhere
    contents = [file.parse(data) for data in (path.read_bytes(), now.to_bytes())]
    assert contents[0].header == contents[1].header
    assert contents[0].table == contents[1].table
    assert safetensors_load(path.read_bytes())["counts"].shape == now.tally.counts.shape


# Hundreds of spoilt models; benchmarks/hostile_files.py has thousands


def test_spoilt_models_are_refused_in_a_sentence_or_work():
    originals = [model.to_bytes() for model in spoiling.models()]
    found = {}
    tracemalloc.start()
    try:
        for i in range(400):
            spoilt = spoiling.spoil(originals, 1, i)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome = hostile_files.judge(spoilt.data)
            assert hostile_files.fine(spoilt, outcome, originals), (i, spoilt.how, outcome)
            assert outcome.what != "refused" or "\n" not in outcome.sentence
            found[outcome.what] = found.get(outcome.what, 0) + 1
    finally:
        tracemalloc.stop()
    assert found.keys() == {"refused", "read and used"}
    assert found["refused"] > 320
    assert found["read and used"] > 8


def test_the_models_that_are_spoilt_work_before():
    for model in spoiling.models()[1:]:
        for use in hostile_files.uses(model):
            use()
        assert np.isfinite(model.log_proba(spoiling.ROWS)).any(axis=1).all()
