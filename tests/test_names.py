"""docs/names.md holds every option and every public parameter, with one meaning each, and says where sides differ."""

import importlib
import inspect
import re
from pathlib import Path

import click
import pytest

import evenodds as eo
from test_cli_laws import LEAVES

PAGE = (Path(__file__).parent.parent / "docs" / "names.md").read_text(encoding="utf-8")
DIFFER = "defaults differ"


def quoted(text):
    return re.findall(r"`([^`]+)`", text)


def listed(text, what):
    """What a section says it is of: the names behind `Python:`, or behind `Commands:`."""
    found = re.search(rf"^{what}: (.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    return quoted(found[1]) if found else []


def rows_of(text):
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:1] == "|"]
    return [(quoted(python), quoted(flag), meaning) for python, flag, meaning in cells[2:]]


SECTIONS = {text.partition("\n")[0]: text + "\n\n" for text in PAGE.split("\n## ")[1:]}
ROWS = {title: rows_of(text) for title, text in SECTIONS.items()}
PYTHON = {title: listed(text, "Python") for title, text in SECTIONS.items()}
COMMANDS = {title: listed(text, "Commands") for title, text in SECTIONS.items()}
SHARED = "Everywhere"


def called(name):
    """What a name of the page is: `GLM.summary`, `audit.shift.drift`."""
    where, module = eo, "evenodds"
    for part in name.split("."):
        module = f"{module}.{part}"
        where = getattr(where, part) if hasattr(where, part) else importlib.import_module(module)
    return where


def defaults(name):
    """Each parameter's default; a class's are those of its constructor and its `fit`."""
    found = {}
    it = called(name)
    for each in [it, it.fit] if inspect.isclass(it) and hasattr(it, "fit") else [it]:
        found |= {key: p.default for key, p in inspect.signature(each).parameters.items() if key != "self"}
    return found


def options(command):
    return {opt: param for param in LEAVES[command].params if isinstance(param, click.Option) for opt in param.opts}


def long(param):
    """The name of an option on the page: the long one, where it has one."""
    return next((opt for opt in param.opts if opt[:2] == "--"), param.opts[0])


def plain(value):
    """A default as both sides would write it."""
    value = getattr(value, "__name__", value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return str(value).lower()


def test_all_that_is_public_and_every_command_has_a_section():
    public = {name for name in eo.__all__ if callable(called(name)) and not is_trouble(called(name))}
    assert public - {name for names in PYTHON.values() for name in names} == set()
    assert {command for names in COMMANDS.values() for command in names} == set(LEAVES)


def is_trouble(it):
    return inspect.isclass(it) and issubclass(it, Exception)


@pytest.mark.parametrize("title", SECTIONS)
def test_every_parameter_is_in_its_table(title):
    told = {name for python, _, _ in ROWS[title] + ROWS[SHARED] for name in python}
    assert {f"{name}: {key}" for name in PYTHON[title] for key in defaults(name) if key not in told} == set()


@pytest.mark.parametrize("command", LEAVES)
def test_every_option_is_in_a_table(command):
    of = [title for title, commands in COMMANDS.items() if command in commands]
    told = {flag for title in [*of, SHARED] for _, flags, _ in ROWS[title] for flag in flags}
    assert {long(param) for param in options(command).values()} - told == set()


@pytest.mark.parametrize("title", SECTIONS)
def test_a_table_names_nothing_that_is_not_there(title):
    everywhere = title == SHARED
    names = [name for found in PYTHON.values() for name in found] if everywhere else PYTHON[title]
    commands = LEAVES if everywhere else COMMANDS[title]
    known = {key for name in names for key in defaults(name)} | {opt for c in commands for opt in options(c)}
    assert {name for python, flags, _ in ROWS[title] for name in python + flags} - known == set()


@pytest.mark.parametrize("title", SECTIONS)
def test_a_name_means_one_thing_in_a_table(title):
    for side in (0, 1):
        names = [name for row in ROWS[title] for name in row[side]]
        assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize(("title", "row"), [(title, row) for title, rows in ROWS.items() for row in rows])
def test_defaults_are_the_same_or_said_to_differ(title, row):
    python, flags, meaning = row
    everywhere = title == SHARED
    names = [name for found in PYTHON.values() for name in found] if everywhere else PYTHON[title]
    theirs = [defaults(name)[key] for name in names for key in python if key in defaults(name)]
    theirs = {plain(value) for value in theirs if value is not inspect.Parameter.empty}
    ours = [
        options(c)[flag] for c in (LEAVES if everywhere else COMMANDS[title]) for flag in flags if flag in options(c)
    ]
    ours = {
        plain(param.default) for param in ours if not param.is_flag and isinstance(param.default, str | int | float)
    }
    differ = len(ours | theirs) > 1 and bool(ours) and bool(theirs)
    assert differ == (DIFFER in meaning), f"{ours} on the command line, {theirs} in Python"
