"""The documentation shows what the command line prints.

In README.md and docs/, every ```console block is run: a line `$ evenodds ...` is the command, what follows is its
output (stdout and stderr), where ... stands for anything. A page's commands run in order, in one empty directory: those
of README.md, and what only a shell understands, by a shell; the others, to save a hundred starts, within this process.
Commands that are not to be run belong in ```sh blocks.
"""

import os
import re
import shlex
import subprocess
import sys
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest

from command import PLAIN, invoke

ROOT = Path(__file__).parent.parent


def examples(page: Path) -> list[tuple[int, str, str]]:
    """(line number, command, expected output) for each command of a page."""
    found = []
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```console\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        for example in re.finditer(r"^\$ ((?:.*\\\n)*.*\n)((?:(?!\$ ).*\n)*)", block[1], re.MULTILINE):
            line = text.count("\n", 0, block.start(1) + example.start()) + 1
            found.append((line, example[1].strip(), example[2]))
    return found


PAGES = [page for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))] if examples(page)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_page_shows_what_is_printed(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for line, command, expected in examples(page):
        where = f"{page.relative_to(ROOT)}, line {line}: $ {command}"
        assert command.startswith("evenodds "), f"{where}\nis not an evenodds command; put it in a ```sh block"
        shown = by_a_shell(command) if page.name == "README.md" or for_a_shell(command) else here(command)
        printed = shown.rstrip() + "\n" if shown.strip() else ""
        wanted = expected.rstrip() + "\n" if expected.strip() else ""
        assert OutputChecker().check_output(wanted, printed, ELLIPSIS), f"{where}\nprints\n{printed}"


def for_a_shell(command: str) -> bool:
    """Whether it holds more than words."""
    return re.search(r"[|<>*$;&~`(]", re.sub(r"'[^']*'|\"[^\"$`]*\"", "", command)) is not None


def by_a_shell(command: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, shell=True, env={**os.environ, **PLAIN, "PATH": path}, encoding="utf-8",
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
    )  # fmt: skip
    return done.stdout


def here(command: str) -> str:
    words = shlex.split(command.replace("\\\n", " "))
    return invoke(*words[1:], code=range(4), environment=PLAIN).output


def test_what_is_for_a_shell():
    assert for_a_shell("evenodds a b.eo | head")
    assert for_a_shell('evenodds a "$HOME"')
    assert not for_a_shell("evenodds a 'x -> y; z' \"p(x) > 1\" --b=2")


def test_examples_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text\n```console\n$ evenodds a \\\n    --b\nout\n\nmore\n$ evenodds c\n```\n```sh\n$ rm\n```\n")
    assert examples(page) == [(3, "evenodds a \\\n    --b", "out\n\nmore\n"), (8, "evenodds c", "")]
