"""What holds for every command, each tried with one line of arguments; and that the page on them names them all."""

import contextlib
import json
import re
import shutil
import sys
from pathlib import Path

import click
import pytest

from command import invoke
from evenodds.cli import COMMANDS, main, options
from evenodds.cli.commands import Listed
from evenodds.families import FAMILIES

PAGE = (Path(__file__).parent.parent / "docs" / "command-line.md").read_text(encoding="utf-8")

# Each as people type it. A new command is one new line here, and the tests say so.
LINES = {
    "demo": "",
    "fit": "people.csv -t survived -o new.eo",
    "regress": "people.csv -t survived -f bernoulli",
    "mixture": "geyser.csv -k 2",
    "predict": "titanic.eo people.csv",
    "evaluate": "titanic.eo people.csv",
    "audit": "titanic.eo people.csv --by sex",
    "report": "titanic.eo people.csv -o report.json",
    "shift drift": "people.csv people.csv -t survived",
    "shift sites": "people.csv -t survived --site class",
    "shift labels": "titanic.eo people.csv -o new.eo",
    "decide": "titanic.eo people.csv --cost no:yes=2 -o rule.json",
    "compare": "people.csv -t survived --models naive --sizes 100 --repeats 2",
    "explain": "titanic.eo people.csv",
    "show": "titanic.eo",
    "words": "spam.eo",
    "add": "titanic.eo titanic.eo -o new.eo",
    "learn": "titanic.eo people.csv",
    "forget": "titanic.eo people.csv -o new.eo",
    "prune": "spam.eo -o new.eo",
    "separate": "geyser.csv -t kind",
    "density": "geyser.csv -c wait",
    "net fit": "people.csv -t survived -o new.eo",
    "net learn": "people.csv --search chow-liu",
    "net query": "net.eo survived",
    "net separated": "net.eo sex class",
    "net fair": "net.eo --by sex -t survived --inputs class",
    "net show": "net.eo sex",
    "net sample": "net.eo -n 3",
    "net convert": "net.eo new.bif",
    "coin": "2 1",
    "bayes": "--prior disease=.001 --test 1,.01",
    "bandit simulate": ".6,.5 --rounds 50 --runs 2",
    "bandit replay": "log.csv --policies thompson",
    "bandit create": "new.bandit green red",
    "bandit decide": "button.bandit v1 v2",
    "bandit reward": "button.bandit v0 1",
    "bandit report": "button.bandit",
    "bandit arms": "button.bandit --add blue",
    "bandit export": "button.bandit",
    "bandit add": "button.bandit other.bandit -o both.bandit",
    "completion": "bash",
}  # fmt: skip
SILENT = {"report", "net convert", "bandit create", "bandit add"}  # they write a file, and print no answer
LINE_BY_LINE = {"predict", "net sample", "bandit decide", "bandit export"}  # a JSON object on each line


def leaves():
    """Every command by the words that call it."""
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        for below in getattr(command, "commands", None) or [""]:
            yield f"{name} {below}".strip(), command.commands[below] if below else command


LEAVES = dict(leaves())


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with everything that the lines name; some of the rows are broken, and some are told about."""
    folder = tmp_path_factory.mktemp("made")
    with contextlib.chdir(folder):
        invoke("demo", "--csv", "people.csv", "--messages", "messages.csv", "--geyser", "geyser.csv")
        invoke("fit", "people.csv", "-t", "survived", "-o", "titanic.eo")
        invoke("fit", "messages.csv", "-t", "label", "-o", "spam.eo")
        invoke("net", "fit", "people.csv", "-t", "survived", "-o", "net.eo")
        for name in ("button.bandit", "other.bandit"):
            invoke("bandit", "create", name, "green", "red")
            invoke("bandit", "decide", name, f"v0 of {name}" if name == "other.bandit" else "v0")
        geyser = Path("geyser.csv").read_text().splitlines()
        kinds = ["kind", *("ab"[i % 2] for i in range(len(geyser)))]
        rows = "".join(f"{line},{kind}\n" for line, kind in zip(geyser, kinds))
        Path("geyser.csv").write_text(f"{rows}1,2,3,4,5,6\n")
        with open("people.csv", "a") as people:
            people.write("1st,male\n")
        with open("log.csv", "w") as log:
            log.write("arm,reward,propensity\n" + "x,1,.5\ny,0,.5\nx,0,.5\ny,1,.5\n" * 5 + ",1,.5\nx,much,.5\n")
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)


def test_every_command_has_a_line():
    assert set(LEAVES) == set(LINES)
    assert {name for name, command in LEAVES.items() if not takes_json(command)} == {*SILENT, "completion"}


def takes(command, name):
    return any(param.name == name for param in command.params)


def takes_json(command):
    return takes(command, "as_json")


@pytest.mark.parametrize("name", [name for name in LEAVES if takes_json(LEAVES[name])])
def test_json_is_all_there_is_on_stdout(here, name):
    shown = invoke(*name.split(), *LINES[name].split(), "--json").stdout
    for text in shown.splitlines() if name in LINE_BY_LINE else [shown]:
        json.loads(text, parse_constant=pytest.fail)


@pytest.mark.parametrize("name", LEAVES)
def test_what_cannot_be_read_is_one_sentence(here, name):
    """Each file that a line names is missing, empty, full of noise, or a folder; a traceback would be raised here."""
    words = LINES[name].split()
    Path("empty.csv").write_bytes(b"")
    Path("noise.csv").write_bytes(bytes(range(256)) * 20)
    Path("folder.csv").mkdir()
    for at, word in enumerate(words):
        if not Path(word).is_file():
            continue
        for bad in ("none.csv", "empty.csv", "noise.csv", "folder.csv"):
            said = invoke(*name.split(), *words[:at], bad, *words[at + 1 :], code=(1, 2, 3))
            assert said.stdout == ""
            errors = [line for line in said.stderr.splitlines() if line.startswith("Error: ")]
            assert len(errors) == 1, said.stderr
            assert bad in errors[0]
            told = [line for line in said.stderr.splitlines() if not line.startswith(("note: ", "Usage: ", "Try "))]
            assert list(filter(None, told)) == errors


@pytest.mark.parametrize("name", [name for name in LEAVES if name not in SILENT])
def test_a_full_disk_is_one_sentence(here, name, monkeypatch, capsys):
    words = [*name.split(), *LINES[name].split(), *(["--json"] if takes_json(LEAVES[name]) else [])]
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as end:
            main(words, prog_name="evenodds")
    assert end.value.code == 1
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("note: ")]
    assert said == ["Error: No space left on device"]


@pytest.mark.parametrize("name", LEAVES)
def test_help_shows_what_is_taken_if_nothing_is_said(name):
    context = click.Context(LEAVES[name], parent=click.Context(main, **main.context_settings))
    for param in LEAVES[name].params:
        if isinstance(param, click.Option) and not param.is_flag and isinstance(param.default, (str, int, float)):
            assert f"[default: {param.default}" in param.get_help_record(context)[1]


@pytest.mark.parametrize("name", LEAVES)
def test_every_option_says_what_it_is(name):
    told = {param.opts[-1]: param.help or "" for param in LEAVES[name].params if isinstance(param, click.Option)}
    short = {opt: words for opt, words in told.items() if len(words.split()) < 3 or not words.endswith((".", "?"))}
    assert short.keys() - {"--json"} == set()


@pytest.mark.parametrize("group", ["net", "shift", "bandit"])
def test_a_group_lists_its_commands_in_the_order_of_use_with_whole_sentences(group):
    found = invoke(group, "--help").stdout.partition("Commands:\n")[2]
    assert re.findall(r"^  (\w+) ", found, re.MULTILINE) == [
        it.split()[1] for it in LINES if it.startswith(f"{group} ")
    ]
    assert "..." not in found


SINGLE = [
    (name, param)
    for name, command in LEAVES.items()
    for param in command.params
    if isinstance(param, click.Option) and not (param.multiple or param.is_flag or isinstance(param, Listed))
]


@pytest.mark.parametrize(("name", "param"), SINGLE, ids=[f"{name} {param.opts[-1]}" for name, param in SINGLE])
def test_an_option_of_one_value_given_twice_is_refused(name, param):
    said = invoke(*name.split(), param.opts[0], "1", param.opts[-1], "2", code=2)
    assert f"Error: {param.opts[-1]} is given 2 times, and takes one value" in said.stderr
    assert said.stdout == ""


def test_lists_given_twice_are_joined(here):
    once = invoke("audit", "titanic.eo", "people.csv", "--by", "sex,class")
    assert invoke("audit", "titanic.eo", "people.csv", "--by", "sex", "--by", "class").stdout == once.stdout
    assert invoke("audit", "titanic.eo", "people.csv", "--by", "sex", "--by", "sex", code=2).stderr
    line = ["bandit", "simulate", ".6,.5", "--rounds", "5", "--runs", "2", "--policies"]
    assert invoke(*line, "ucb", "--policies", "greedy").stdout == invoke(*line, "ucb,greedy").stdout


def test_a_switch_and_its_opposite_are_refused(here):
    said = invoke("show", "titanic.eo", "--json", "--json")
    assert json.loads(said.stdout)
    said = invoke("predict", "titanic.eo", "people.csv", "--header", "--no-header", code=2)
    assert "--header/--no-header is given 2 times" in said.stderr


@pytest.mark.parametrize(
    "line",
    [
        "audit people.csv --by sex -t survived --predicted class --threshold .3",
        "bandit simulate .6,.5 --drift",
        "bandit simulate .6,.5 --at 5",
        "net learn people.csv --ess 5",
        "net learn people.csv --search chow-liu --max-parents 8",
        "shift drift titanic.eo people.csv --seed 4",
        "report titanic.eo people.csv -o r.html --positive yes",
        "explain titanic.eo sex=male --separator ;",
        "explain titanic.eo sex=male --encoding latin1",
        "explain spam.eo money --no-header",
        "fit people.csv -t survived -o new.eo --bridge --temper",
    ],
)
def test_an_option_without_a_say_is_refused(here, line):
    words = line.split()
    option = next(word for word in reversed(words) if word.startswith("--")).replace("--no-", "--")
    said = invoke(*words, code=2)
    assert option in said.stderr.splitlines()[-1]
    assert said.stdout == ""


REPORTED = (
    "fit", "learn", "forget", "regress", "mixture", "separate", "compare", "net fit", "net learn", "shift drift",
    "shift sites", "shift labels", "decide", "density", "bandit replay", "evaluate", "audit",
)  # fmt: skip


@pytest.mark.parametrize("name", REPORTED)
def test_json_tells_what_was_wrong_with_some_rows(here, name):
    assert json.loads(invoke(*name.split(), *LINES[name].split(), "--json").stdout)["report"]["rows"] > 0


WRITTEN = ("fit", "add", "learn", "forget", "prune", "regress", "mixture", "net fit", "net learn")


@pytest.mark.parametrize("name", WRITTEN)
def test_json_tells_which_model_was_written(here, name):
    line = [*name.split(), *LINES[name].replace("-o new.eo", "").split(), "-o", "new.eo", "--json"]
    assert json.loads(invoke(*line).stdout)["model"] == "new.eo"
    assert Path("new.eo").exists()


@pytest.mark.parametrize(
    ("line", "cure"),
    [
        ("predict titanic.eo people.csv -o said.parquet", "name it .csv, or .jsonl and add --json"),
        ("predict titanic.eo people.csv -o said.csv.gz", "name it .csv"),
        ("predict titanic.eo people.csv -o said.jsonl", "add --json"),
        ("net fit people.csv -t survived -o net.svg", "ends with .eo, .bif"),
        ("net convert net.eo net.png", "ends with .eo, .bif"),
    ],
)
def test_a_name_that_says_another_kind_of_file_is_refused(here, line, cure):
    assert cure in invoke(*line.split(), code=2).stderr
    assert not Path(line.split()[-1]).exists()


def test_the_line_of_separate_is_an_answer(here):
    assert "weight" in invoke("separate", "geyser.csv", "-t", "kind", "-q").stdout


def test_remedies_are_options(here):
    """What is to be done is told as it is typed, not as Python has it."""
    Path("three.csv").write_text("sex,y,x\n" + "".join(f"{'fm'[i % 2]},{'abc'[i % 3]},{i % 7}\n" for i in range(300)))
    Path("counts.csv").write_text("n,trials,x,o\n" + "".join(f"{i % 4},5,{i % 7},{i % 3}\n" for i in range(60)))
    Path("two.csv").write_text("n,x\n1,2\n")
    Path("bare.csv").write_text("n,trials,x\n1,5,3\n")
    invoke("fit", "three.csv", "-t", "y", "-o", "three.eo")
    invoke("regress", "counts.csv", "-t", "n", "-f", "poisson", "--offset", "o", "-o", "counts.eo")
    for line, code, cure in (
        ("audit three.eo three.csv --by sex --threshold .5", 3, "--threshold 0.5 is for two classes"),
        ("net learn three.csv --columns x,y --cut x=1", 3, "--cut x=1: expected 2 parts or more"),
        ("net learn three.csv --columns x,y --cut x=3,2", 3, "--cut x=3,2: expected ascending numbers"),
        ("net query net.eo sex -g class=crew --method weighting --draws 9", 0, "or with --method gibbs"),
        ("regress counts.csv -t n -f bernoulli --trials trials --prior jeffreys", 3, "--prior jeffreys takes rows of"),
        ("regress two.csv -t n -f gaussian --prior 1", 3, "give more of them, or leave --prior out"),
        ("predict counts.eo bare.csv", 3, "the offset 'o': the rows to be predicted need that column"),
        ("mixture geyser.csv -c wait -k 3 --max-iter 1", 0, "allow more steps (--max-iter)"),
    ):
        said = invoke(*line.split(), code=code).stderr
        assert cure in said
        assert not re.search(r"[a-z]=['{]|\b(columns|max_iter|offset|variance|cuts|threshold)=", said), said


def test_coverage_is_counted_on_demand():
    line = ["bandit", "simulate", ".6,.5", "--policies", "ucb", "--rounds", "20", "--runs", "2"]
    assert "mean ≤ index" not in invoke(*line).stdout
    assert "mean ≤ index" in invoke(*line, "--coverage").stdout
    assert json.loads(invoke(*line, "--json").stdout)["coverage"] == []


def test_only_what_counts_takes_threads():
    assert {name for name in ("density", "explain", "bandit replay") if takes(LEAVES[name], "threads")} == set()
    assert takes(LEAVES["fit"], "threads")


def test_the_page_has_a_heading_for_every_command():
    headings = [word for line in re.findall(r"^##+ (.*)$", PAGE, re.MULTILINE) for word in re.findall(r"[\w-]+", line)]
    assert set(COMMANDS) - set(headings) == set()
    assert [name for name in LINES if " " in name and f"`{name}" not in PAGE] == []


def test_the_page_has_every_role_in_its_table():
    table = re.search(r"^\| role .*?\n\n", PAGE, re.MULTILINE | re.DOTALL)[0]
    firsts = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    assert set(options.EVERY_ROLE) - set(re.findall(r"`([\w-]+)", " ".join(firsts))) == set()


def test_the_page_names_every_option():
    named = set(re.findall(r"--[a-z][\w-]*", PAGE))
    long = {opt for command in LEAVES.values() for param in command.params for opt in param.opts if opt[:2] == "--"}
    assert long - named == set()
    assert named - long - {"--help", "--version", "--no-header"} == set()


def test_every_family_of_a_column_has_a_role():
    words = {"WordCounts"}  # whose role is a column's own: --text
    assert set(options.ROLES.values()) | words == {family.__name__ for family in FAMILIES.values()}


WHOLE = [
    (name, param)
    for name, command in LEAVES.items()
    for param in command.params
    if isinstance(param.type, click.types.IntParamType) and param.name != "buckets"  # a power of two: judged by Words
]


@pytest.mark.parametrize(("name", "param"), WHOLE, ids=[f"{name} {param.opts[-1]}" for name, param in WHOLE])
def test_a_number_that_no_memory_holds_is_refused(name, param):
    with pytest.raises(click.BadParameter, match=r"is more than|is not in the range"):
        param.type.convert(str(10**30), param, None)
