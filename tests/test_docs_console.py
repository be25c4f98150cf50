"""The documentation shows what the command line prints.

In README.md and docs/, every ```console block is run: a line `$ evenodds ...` is the command, what follows is its
output (stdout and stderr), where ... stands for anything. A page's commands run in order, in one empty directory.
Commands that are not to be run belong in ```sh blocks.
"""

import os
import re
import subprocess
import sys
from doctest import ELLIPSIS, OutputChecker
from pathlib import Path

import pytest

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
def test_the_page_shows_what_is_printed(page, tmp_path):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    for line, command, expected in examples(page):
        where = f"{page.relative_to(ROOT)}, line {line}: $ {command}"
        assert command.startswith("evenodds "), f"{where}\nis not an evenodds command; put it in a ```sh block"
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, env=environment, encoding="utf-8",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300,
        )  # fmt: skip
        printed = done.stdout.rstrip() + "\n" if done.stdout.strip() else ""
        wanted = expected.rstrip() + "\n" if expected.strip() else ""
        assert OutputChecker().check_output(wanted, printed, ELLIPSIS), f"{where}\nprints\n{printed}"


def test_examples_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("text\n```console\n$ evenodds a \\\n    --b\nout\n\nmore\n$ evenodds c\n```\n```sh\n$ rm\n```\n")
    assert examples(page) == [(3, "evenodds a \\\n    --b", "out\n\nmore\n"), (8, "evenodds c", "")]
