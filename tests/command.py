"""The command line, as a process of its own and within this one."""

import os
import subprocess
import sys

from click.testing import CliRunner

from evenodds.cli import main

PLAIN = {"NO_COLOR": "1", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}


def run(*words, stdin=None, cwd=None):
    """What `evenodds` with these words prints, without colours."""
    environment = {**os.environ, **PLAIN}
    command = [sys.executable, "-m", "evenodds", *map(str, words)]
    return subprocess.run(
        command, input=stdin, capture_output=True, encoding="utf-8", env=environment, cwd=cwd, check=False
    )


def here(*words, stdin=None):
    """The same within this process, which saves a second, and what breaks is raised here."""
    done = _invoked(words, stdin, PLAIN)
    return subprocess.CompletedProcess(words, done.exit_code, done.stdout, done.stderr)


def invoke(*words, code=0, stdin=None, environment=None):
    """The same as click tells it, which must end with this exit code, or with one of these."""
    done = _invoked(words, stdin, environment)
    assert done.exit_code in ([code] if isinstance(code, int) else code), f"{words}\n{done.output}"
    return done


def _invoked(words, stdin, environment):
    texts = [os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words]
    runner = CliRunner(env=environment)
    return runner.invoke(main, texts, input=stdin, catch_exceptions=False, prog_name="evenodds")


def loaded(program, cwd=None):
    """The top-level packages in memory after a program has run in a fresh interpreter."""
    program += "\nimport sys; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, encoding="utf-8", cwd=cwd, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.splitlines()[-1].split())
