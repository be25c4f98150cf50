"""How the command line behaves in a pipe, on a terminal, and when it is interrupted."""

import os
import pty
import select
import signal
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from command import invoke, loaded
from evenodds.cli import COMMANDS
from evenodds.cli.data import WORTH_A_BAR
from evenodds.cli.paths import PICTURES
from evenodds.plots.save import KINDS

PROGRAM = "from evenodds.cli import main\ntry: main({!r})\nexcept SystemExit as end: assert end.code == 0"
EVENODDS = str(Path(sys.executable).parent / "evenodds")
PLAIN = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("cli")
    run("demo", "--csv", "people.csv", folder=place)
    run("fit", "people.csv", "-t", "survived", "-o", "titanic.eo", folder=place)
    lines = (place / "people.csv").read_text().splitlines(keepends=True)
    blank = (" " * 1023 + "\n") * (WORTH_A_BAR >> 10)  # no rows: what is large takes not long
    (place / "big.csv").write_text(lines[0] + "".join(lines[1:]) * 50 + blank)
    return place


def run(*args, folder, stdin=None, env=None):
    done = subprocess.run([EVENODDS, *args], cwd=folder, input=stdin, capture_output=True, env=env or PLAIN)
    assert done.returncode == 0, done.stderr.decode()
    return done


def on_a_terminal(*args, folder, env=None):
    """What a command prints to a terminal on stderr, and what goes to a pipe on stdout."""
    ours, theirs = pty.openpty()
    out = folder / "out.txt"
    with open(out, "wb") as file:
        process = subprocess.Popen(
            [EVENODDS, *args], cwd=folder, stdout=file, stderr=theirs, stdin=theirs, env={**PLAIN, **(env or {})}
        )
    os.close(theirs)
    shown = b""
    while True:
        ready, _, _ = select.select([ours], [], [], 0.2)
        if ready:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            shown += part
        elif process.poll() is not None:
            break
    assert process.wait() == 0, shown
    os.close(ours)
    return out.read_text(), shown.decode()


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command_imports_nothing_heavy(command):
    heavy = {"numpy", "sklearn", "pyarrow", "scipy", "numba", "rich"}
    assert loaded(PROGRAM.format([command, "--help"])) & heavy == set()


@pytest.mark.parametrize(
    "command", [["explain", "titanic.eo", "sex=male"], ["predict", "titanic.eo", "people.csv"], ["show", "titanic.eo"]]
)
def test_scikit_learn_is_not_imported(folder, command):
    found = loaded(PROGRAM.format(command), cwd=folder)
    assert "numpy" in found
    assert found & {"sklearn", "pandas", "polars"} == set()


def test_a_reader_that_has_seen_enough(folder):
    command = f"set -o pipefail; '{EVENODDS}' predict titanic.eo - < big.csv | head -3; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True, env=PLAIN)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0] == "class,sex,age,survived,survived_predicted,survived_probability"
    assert len(lines) == 4
    assert lines[3] == "141"


def test_interrupted_is_130(folder):
    process = subprocess.Popen(
        [EVENODDS, "fit", "-", "-t", "survived", "-o", "never.eo"],
        cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=PLAIN,
    )  # fmt: skip
    process.stdin.write((folder / "big.csv").read_bytes()[: 1 << 20])  # more than a pipe holds: it is reading
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == b""
    assert b"Traceback" not in err
    assert not (folder / "never.eo").exists()


def test_nothing_but_data_on_stdout(folder):
    done = run("predict", "titanic.eo", "big.csv", folder=folder)
    assert done.stderr == b""
    assert done.stdout.count(b"\n") == 2201 * 50 + 1
    out, shown = on_a_terminal("predict", "titanic.eo", "big.csv", folder=folder)
    assert out.encode() == done.stdout
    assert "predicting" in shown  # the bar
    done = run("fit", "big.csv", "-t", "survived", "-o", "big.eo", folder=folder)
    assert done.stdout == b""
    assert b"\x1b" not in done.stderr
    assert b"\r" not in done.stderr
    out, shown = on_a_terminal("fit", "big.csv", "-t", "survived", "-o", "big.eo", folder=folder)
    assert out == ""
    assert "110,050 rows" in shown


def test_colours_on_a_terminal_only_and_never_with_no_color(folder):
    def shown(**env):
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [EVENODDS, "explain", "titanic.eo", "sex=male"],
            cwd=folder,
            stdout=theirs,
            stderr=theirs,
            env={**PLAIN, **env},
        )
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        assert process.wait() == 0
        os.close(ours)
        return text

    assert b"\x1b[3" in shown()
    assert b"\x1b[3" not in shown(NO_COLOR="1")
    assert b"\x1b" not in run("explain", "titanic.eo", "sex=male", folder=folder).stdout


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["predict", "nothing.eo", "people.csv"], 1, "nothing.eo"),
        (["predict", "titanic.eo", "nothing.csv"], 1, "nothing.csv: there is no such file"),
        (["predict", "people.csv", "people.csv"], 3, "people.csv"),
        (["fit", "no/*.csv", "-t", "y", "-o", "m.eo"], 3, "no file matches 'no/*.csv'"),
        (["fit", ".", "-t", "y", "-o", "m.eo"], 3, "column 'y' not found"),
        (["fit", "people.csv", "-t", "survived", "-o", "no/such/m.eo"], 1, "no/such/m.eo"),
        (["fit", "people.csv", "-o", "m.eo"], 2, "--target"),
        (["fit", "people.csv", "-t", "survived"], 2, "--output"),
        (["audit", "titanic.eo", "people.csv", "--by", "sex", "--margin", "nan"], 2, "nan is not a number"),
        (["audit", "titanic.eo", "people.csv", "--by", "sex,sex"], 2, "each once"),
        (["regress", "people.csv", "-t", "survived", "--level", "nan"], 2, "nan is not a number"),
        (
            ["net", "learn", "people.csv", "--criterion", "bdeu", "--ess", "inf"],
            2,
            "--ess: expected a number of pseudo-rows above 0",
        ),
        (["net", "sample", "titanic.eo", "--seed", "-1"], 2, "--seed"),
        (["fit", "people.csv", "-t", "survived", "-o", "m.eo", "--weight", ""], 3, "column '' not found"),
        (
            ["fit", "people.csv", "-t", "survived", "-o", "m.eo", "--role", "a=flag", "--role", "a=id"],
            2,
            "'a' is given",
        ),
        (["evalute"], 2, "did you mean 'evaluate'?"),
        (["fit", "people.csv", "--traget", "x", "-o", "m.eo"], 2, "--target"),
        (["fit", "people.csv", "--ignore", "age"], 2, "--role COLUMN=ignore leaves a column out"),
        (["mixture", "people.csv", "--drop", "age"], 2, "--columns names those that stay"),
        (["density", "people.csv", "--ignore", "age"], 2, "No such option '--ignore'.\n"),
    ],
)
def test_exit_codes(folder, args, code, sentence):
    done = subprocess.run([EVENODDS, *args], cwd=folder, capture_output=True, text=True, env=PLAIN)
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_what_the_library_warned_of_is_said_where_the_work_fails(tmp_path):
    (tmp_path / "t.csv").write_text("name,y\n" + "".join(f"n{i},{i % 2}\n" for i in range(400)))
    args = [EVENODDS, "fit", "t.csv", "-t", "y", "-o", "m.eo"]
    done = subprocess.run(args, cwd=tmp_path, capture_output=True, text=True, env=PLAIN)
    note, error = done.stderr.splitlines()
    assert note.startswith("note: column 'name'")
    assert error.startswith("Error: no column is left to learn from")


def test_adding_and_pruning_can_be_quiet(folder):
    assert run("add", "titanic.eo", "titanic.eo", "-o", "two.eo", "-q", folder=folder).stderr == b""
    run("demo", "--messages", "messages.csv", folder=folder)
    run("fit", "messages.csv", "-t", "label", "-o", "spam.eo", folder=folder)
    assert run("prune", "spam.eo", "-o", "two.eo", "--quiet", folder=folder).stderr == b""


def test_pictures_are_of_the_kinds_that_can_be_saved():
    assert set(PICTURES) == set(KINDS)


def test_names_and_classes_say_their_control_characters_and_very_long_ones_are_shortened(tmp_path, monkeypatch):
    """A file's header and cells cannot drive the terminal of who reads about them, nor fill it."""
    bad = "\x1b]0;mine\x07\u202e\n"
    rows = "".join(f'"{"abc"[i % 3]}{bad}",{i % 7}.5,"{"no" if i % 2 else "yes" + bad}"\n' for i in range(60))
    (tmp_path / "rows.csv").write_text(f'"name{bad}",{"h" * 100_000},y\n{rows}')
    monkeypatch.chdir(tmp_path)
    for args in ("fit rows.csv -t y -o m.eo", "show m.eo", "explain m.eo rows.csv --row 1", "separate rows.csv -t y",
                 "regress rows.csv -t y", "evaluate rows.csv -t y -k 2"):  # fmt: skip
        said = invoke(*args.split()).output
        assert r"\x1b]0;mine\x07\u202e\n" in said, args
        assert not set(said) & set("\x1b\x07\u202e"), args
        assert max(map(len, said.splitlines())) < 2_000, args


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\x1b]0;mine\x07\u202e"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A file whose columns and classes are named to do harm, and a model of it."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = "".join(f"{i % 7 + i % 2}.5,{'ab'[i % 3 % 2]}{HOSTILE},{'ny'[i % 2]}{HOSTILE}\n" for i in range(90))
    (folder / "rows.csv").write_text(f"x{HOSTILE},g{HOSTILE},y{HOSTILE}\n{rows}")
    invoke("fit", folder / "rows.csv", "-t", f"y{HOSTILE}", "-o", folder / "m.eo")
    invoke("net", "fit", folder / "rows.csv", "-t", f"y{HOSTILE}", "-o", folder / "n.eo")
    return folder


@pytest.mark.parametrize(
    "args",
    [
        ["audit", "m.eo", "rows.csv", "--by", f"g{HOSTILE}"],
        ["decide", "m.eo", "rows.csv", "--leave-one-out", "--at-most", f"n{HOSTILE}=0.5"],
        ["mixture", "rows.csv", "-k", "2"],
        ["regress", "rows.csv", "-t", f"y{HOSTILE}"],
        ["density", "rows.csv", "-c", f"x{HOSTILE}", "--by", f"g{HOSTILE}"],
        ["shift", "sites", "rows.csv", "-t", f"y{HOSTILE}", "--site", f"g{HOSTILE}"],
    ],
)
def test_what_is_printed_for_people_drives_no_terminal(hostile, monkeypatch, args):
    monkeypatch.chdir(hostile)
    said = invoke(*args).output
    assert r"\x1b]0;mine\x07\u202e" in said
    assert not set(said) & set("\x1b\x07\u202e")


STRANGE = "\x1b]0;mine\x07\u202e"  # what a file may be called


@pytest.mark.parametrize(
    "args",
    [
        ["fit", "rows.csv", "-t", f"y{HOSTILE}", "--temper", "-o", f"{STRANGE}.eo"],
        ["fit", f"{STRANGE}.csv", "-t", f"y{HOSTILE}", "-o", "new.eo"],
        ["add", "m.eo", "m.eo", "-o", f"{STRANGE}.eo"],
        ["explain", "m.eo", "rows.csv", "--html", f"{STRANGE}.html"],
        ["net", "fit", "rows.csv", "--graph", '"' + f'y{HOSTILE}" -> "g{HOSTILE}"', "-o", f"{STRANGE}.eo"],
        ["net", "separated", f'a -> "{STRANGE}" -> b', "a", "b"],
        ["demo", "--geyser", f"{STRANGE}.csv"],
    ],
)
def test_names_of_files_and_what_is_said_of_columns_drive_no_terminal(hostile, monkeypatch, args):
    monkeypatch.chdir(hostile)
    (hostile / f"{STRANGE}.csv").write_bytes((hostile / "rows.csv").read_bytes())
    said = invoke(*args).output
    assert r"\x1b]0;mine\x07\u202e" in said
    assert not set(said) & set("\x1b\x07\u202e")


def test_a_file_that_is_no_model_is_named_without_driving_the_terminal(tmp_path):
    path = tmp_path / f"{STRANGE}.eo"
    path.write_text("no model")
    said = subprocess.run([EVENODDS, "explain", path, "a message"], capture_output=True, env=PLAIN, encoding="utf-8")
    assert (said.returncode, said.stdout) == (3, "")
    assert r"\x1b]0;mine\x07\u202e.eo is not an evenodds model" in said.stderr


def test_arms_and_cells_are_printed_as_they_are_on_a_pipe_too(tmp_path):
    invoke("bandit", "create", tmp_path / "one.bandit", "red\x1b[31m", "blue\x1b[34m")
    assert invoke("bandit", "decide", tmp_path / "one.bandit", "1").stdout in ("red\x1b[31m\n", "blue\x1b[34m\n")
    (tmp_path / "rows.csv").write_text("a,b\n" + "x\x1b[31m,y\n" * 4)
    invoke("net", "fit", tmp_path / "rows.csv", "--graph", "a -> b", "-o", tmp_path / "n.eo")
    assert invoke("net", "sample", tmp_path / "n.eo", "-n", "1").stdout == "a,b\nx\x1b[31m,y\n"


@pytest.mark.parametrize(
    ("page", "args"),
    [
        ("e.html", ["explain", "m.eo", "rows.csv", "--html"]),
        ("r.html", ["report", "m.eo", "rows.csv", "--by", f"g{HOSTILE}", "-o"]),
        ("r.md", ["report", "m.eo", "rows.csv", "--by", f"g{HOSTILE}", "-o"]),
        ("a.html", ["audit", "m.eo", "rows.csv", "--by", f"g{HOSTILE}", "-o"]),
        ("d.html", ["density", "rows.csv", "-c", f"x{HOSTILE}", "--by", f"g{HOSTILE}", "--plot"]),
        ("d.svg", ["density", "rows.csv", "-c", f"x{HOSTILE}", "--by", f"g{HOSTILE}", "--plot"]),
        ("m.html", ["mixture", "rows.csv", "-k", "2", "--plot"]),
        ("n.svg", ["net", "show", "n.eo", "--plot"]),
    ],
)
def test_pages_and_pictures_run_nothing_that_a_file_names(hostile, monkeypatch, page, args):
    monkeypatch.chdir(hostile)
    invoke(*args, page)
    text = (hostile / page).read_text(encoding="utf-8")
    assert "mine" in text
    assert "<script>alert" not in text
    assert "<img src=x" not in text
    assert not set(text) & set("\x1b\x07\u202e")
    if page.endswith(".svg"):
        ElementTree.fromstring(text)
