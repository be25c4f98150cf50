"""The house: nothing heavy is imported before it is needed, rooms are as the page draws them, modules are short."""

import ast
import re
import tomllib
from pathlib import Path

import pytest

from command import loaded

ROOT = Path(__file__).parents[1]


def test_importing_evenodds_loads_nothing_heavy():
    heavy = {"numpy", "scipy", "sklearn", "pyarrow", "numba", "pandas", "polars", "safetensors", "rich"}
    assert loaded("import evenodds") & heavy == set()


def test_a_model_needs_neither_scikit_learn_nor_a_compiler():
    program = """
import numpy as np
from evenodds.models.naive_bayes import Model
from evenodds.schema import Column, Schema
from evenodds.families import Gaussian, Bernoulli, Categorical, Binned
from evenodds.tally import Tally
schema = Schema({"x": Column(Gaussian), "f": Column(Bernoulli), "b": Column(Binned), "c": Column(Categorical)}, "y")
rows = {"x": [1.0, 2.0, 5.0, 6.0], "f": [0, 1, 1, 1], "b": [1.0, 2.0, 3.0, 9.0], "c": ["u", "v", "v", "v"]}
model = Model(schema, Tally.nothing()).learn(rows, np.array(["lo", "lo", "hi", "hi"]))
assert np.isfinite(model.log_proba(rows)).all()
assert model.log_proba(rows).argmax(axis=1).tolist() == [1, 1, 0, 0]
"""
    assert loaded(program) & {"sklearn", "numba"} == set()


@pytest.mark.parametrize("name", ["Bernoulli", "NaiveBayes", "Model", "Tally", "update", "weigh", "Column"])
def test_names_are_there_when_they_are_asked_for(name):
    import evenodds

    assert name in dir(evenodds)
    assert getattr(evenodds, name).__name__ == name


@pytest.mark.parametrize("room", ["audit", "bandits", "families", "plots"])
def test_rooms_are_there_when_they_are_asked_for(room):
    loaded(f"import evenodds; assert evenodds.{room}.__name__ == 'evenodds.{room}'; assert '{room}' in dir(evenodds)")


def test_what_is_listed_is_public():
    import evenodds

    assert set(dir(evenodds)) == {*evenodds.__all__, "audit", "bandits", "families", "plots", "__version__"}


def test_a_name_that_is_not_there_says_so():
    import evenodds

    with pytest.raises(AttributeError, match="module 'evenodds' has no attribute 'NaiveBeyes'"):
        evenodds.NaiveBeyes  # noqa: B018


def test_every_name_of_the_package_can_be_had():
    import evenodds

    for name in evenodds.__all__:
        assert getattr(evenodds, name) is not None


def test_the_page_on_architecture_names_every_room_and_every_public_name():
    import evenodds

    page = (ROOT / "docs" / "architecture.md").read_text()
    contract, models = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert "ignore_imports" not in contract | models
    rooms = {name.strip().removeprefix("evenodds.") for layer in contract["layers"] for name in layer.split(":")}
    folders = {path.parent.name for path in (ROOT / "src" / "evenodds").glob("*/__init__.py")}
    assert {room for room in folders if not re.search(rf"\b{room}\b", page)} == set()
    assert folders <= rooms
    depth = {
        name.strip().removeprefix("evenodds."): i
        for i, layer in enumerate(contract["layers"])
        for name in layer.split(":")
    }
    picture = page.split("```text\n")[1].split("```")[0]
    drawn = [
        name for names in re.findall(r"^ +(\w[\w, ]*?),?(?: …)?  ", picture, re.MULTILINE) for name in names.split(", ")
    ]
    assert set(drawn) > folders
    assert [depth[name] for name in drawn] == sorted(depth[name] for name in drawn)
    listed = re.findall(r"`(\w+)`", page.split("## Names")[1].split("##")[0])
    assert sorted(listed) == sorted(evenodds.__all__)
    assert len(evenodds.__all__) <= 40


def test_what_the_page_on_architecture_names_is_in_the_file_that_it_names():
    page = (ROOT / "docs" / "architecture.md").read_text()
    named = re.findall(r"`([\w/]+\.py)(?:: ([^`]+))?`(?: \(((?:`\w+`(?:, )?)+)\))?", page)
    assert len(named) > 100
    wrong = []
    for path, names, more in named:
        files = [*(ROOT / "src").rglob(path), *ROOT.glob(path)]
        defined = set().union(*map(_defined, files)) if files else set()
        wrong += [f"{path}: {name}" for name in re.findall(r"\w+", f"{names} {more}") if name not in defined]
        wrong += [] if files else [path]
    assert wrong == []


def _defined(path):
    """The names of a file: its functions, classes, methods and constants."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    made = {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return made | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def test_a_module_fits_in_a_head_or_says_why_not():
    source = ROOT / "src" / "evenodds"
    long = {
        path.relative_to(source).as_posix(): ast.get_docstring(ast.parse(path.read_text()))
        for path in source.rglob("*.py")
        if len(path.read_text().splitlines()) > 350
    }
    assert long.keys() <= {"bandits/kernels.py"}  # what kernels call must stand in their own file
    assert all("Longer than a module should be, for a reason" in said for said in long.values())
