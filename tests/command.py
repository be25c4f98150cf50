"""The command line as a process of its own."""

import os
import subprocess
import sys


def run(*words, stdin=None, cwd=None):
    """What `evenodds` with these words prints, without colours."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "80", "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-m", "evenodds", *map(str, words)]
    return subprocess.run(
        command, input=stdin, capture_output=True, encoding="utf-8", env=environment, cwd=cwd, check=False
    )
