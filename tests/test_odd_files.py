"""Every command that reads a file, given odd ones: it works, or says in one sentence of the file what is wrong."""

import gzip

import numpy as np
import pytest

from command import invoke
from evenodds.cli import main

rng = np.random.default_rng(0)
ROWS = "x,y,k,label\n" + "".join(
    f"{rng.random():.3f},{rng.random():.3f},{'abc'[i % 3]},{('ham', 'spam')[rng.integers(2)]}\n" for i in range(40)
)
DATA = {
    "empty.csv": b"",
    "blank.csv": b"\n\n\n",
    "head.csv": b"x,y,k,label\n",
    "one-column.csv": b"label\nham\nspam\nham\n",
    "two-rows.csv": b"x,y,k,label\n.1,.2,a,ham\n.3,.4,b,spam\n",
    "one-class.csv": ROWS.replace("spam", "ham").encode(),
    "others.csv": b"a,b\n1,2\n3,4\n",
    "twice.csv": ROWS.replace("y", "x", 1).encode(),
    "long-name.csv": ROWS.replace("x", "x" * 1_000_000, 1).encode(),
    "utf16.csv": ROWS.encode("utf-16"),
    "nul.csv": ROWS.replace("a,", "\0,").encode(),
    "quote.csv": ROWS.replace("b,", '"b,', 1).encode(),
    "cut.csv.gz": gzip.compress(ROWS.encode())[:-20],
    "bytes.csv": rng.bytes(4096),
    "no.parquet": b"PAR1xxxxPAR1",
    "no.jsonl": b'{"x": 1\n[',
    "texts.csv": ROWS.replace("\n0.", "\n?").encode(),
}
OF_DATA = [
    "fit {} -t label -o out.eo",
    "fit {} -t label --bridge -o out.eo",
    "regress {} -t y",
    "mixture {} -c x,y -k 2",
    "predict nb.eo {}",
    "predict glm.eo {}",
    "predict mixture.eo {}",
    "evaluate nb.eo {}",
    "evaluate {} -t label --folds 2",
    "audit nb.eo {} --by k",
    "audit {} --by k -t label --predicted label",
    "report nb.eo {} -o out.html",
    "shift drift good.csv {}",
    "shift sites {} -t label --site k",
    "shift labels nb.eo {} -o out.eo",
    "decide nb.eo {} --cost ham:spam=10",
    "compare {} -t label --models naive --repeats 2",
    "explain nb.eo {}",
    "learn nb.eo {} -o out.eo",
    "forget nb.eo {} -o out.eo",
    "separate {} -t label",
    "density {} --column x",
    "net fit {} --graph k->label -o out.eo",
    "net learn {} --cut x=2 --cut y=2 -o out.eo",
    "bandit replay {} --policies ucb",
]
OF_MODELS = [
    "show {}",
    "words {}",
    "add {} nb.eo -o out.eo",
    "prune {} --min-count 2 -o out.eo",
    "predict {} good.csv",
    "evaluate {} good.csv",
    "audit {} good.csv --by k",
    "report {} good.csv -o out.html",
    "shift labels {} good.csv -o out.eo",
    "decide {} good.csv --cost ham:spam=10",
    "explain {} k=a",
    "learn {} good.csv -o out.eo",
    "forget {} good.csv -o out.eo",
    "fit good.csv -t label --like {} -o out.eo",
    "net show {}",
    "net query {} k",
    "net fair {} --by k -t label --predicted k",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("odd")
    (path / "good.csv").write_text(ROWS)
    for name, data in DATA.items():
        (path / name).write_bytes(data)
    (path / "folder").mkdir()
    for name, words in {
        "nb.eo": "fit {} -t label -o {}",
        "glm.eo": "regress {} -t y -o {}",
        "mixture.eo": "mixture {} -c x,y -k 2 -o {}",
        "net.eo": "net fit {} --graph k->label -o {}",
    }.items():
        said(words.format(path / "good.csv", path / name).split(), 0)
        (path / f"half-{name}").write_bytes((path / name).read_bytes()[:-200])
    return path


def said(words, *codes):
    done = invoke(*words, code=codes)
    if done.exit_code:
        sentence = done.stderr.splitlines()[-1]
        assert sentence.startswith("Error: "), (words, done.stderr)
        assert len(sentence) < 600, words
    return done


@pytest.mark.parametrize("command", OF_DATA)
def test_odd_data_end_in_an_answer_or_a_sentence(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name in [*DATA, "folder"]:
        said(command.format(name).split(), 0, 3)
    assert "there is no" in said(command.format("nothing.csv").split(), 1).stderr


@pytest.mark.parametrize("command", OF_MODELS)
def test_odd_models_are_refused_in_a_sentence(command, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name in ["empty.csv", "good.csv", "bytes.csv", "half-nb.eo", "half-glm.eo", "half-mixture.eo", "half-net.eo"]:
        assert name in said(command.format(name).split(), 3).stderr
    for name in ["glm.eo", "mixture.eo", "net.eo"]:
        said(command.format(name).split(), 0, 2, 3)
    for name in ["folder", "nothing.eo"]:
        assert name in said(command.format(name).split(), 1, 3).stderr


def test_a_text_where_a_file_is_expected_is_told_where_texts_go(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "mail.csv").write_text("label,text\n" + "".join(f"{'ham' if i % 2 else 'spam'},w{i}\n" for i in range(9)))
    said(["fit", "mail.csv", "-t", "label", "--text", "text", "-o", "mail.eo"], 0)
    stderr = said(["predict", "mail.eo", "it's a prize"], 1).stderr
    assert 'there is no file "it\'s a prize"' in stderr
    assert "`evenodds explain mail.eo 'it'\"'\"'s a prize'`" in stderr
    assert "--lines" in stderr
    assert "explain" not in said(["predict", "nb.eo", "a prize"], 1).stderr  # which has no text
    stderr = said(["explain", "mail.eo", "it's", "a", "prize"], 1).stderr
    assert "a text goes in quotes: evenodds explain mail.eo 'it'\"'\"'s a prize'" in stderr


@pytest.mark.parametrize("group", ["net", "shift", "bandit"])
def test_a_command_that_is_none_is_answered_with_those_there_are(group):
    stderr = said([group, "nb.eo"], 2).stderr
    assert "no command 'nb.eo'; the commands are " in stderr
    assert all(name in stderr for name in main.get_command(None, group).commands)
