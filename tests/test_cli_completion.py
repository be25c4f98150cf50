"""`evenodds completion`: the scripts, and what they get back from the program."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import command

BIN = Path(sys.executable).parent


def run(*words, shell="", code=0):
    return command.invoke("completion", *words, code=code, environment={"SHELL": shell})


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}


@pytest.mark.parametrize(
    ("shell", "hook"),
    [
        ("bash", "complete -o nosort -F _evenodds_completion evenodds"),
        ("zsh", "compdef _evenodds_completion evenodds"),
        ("fish", 'complete --no-files --command evenodds --arguments "(_evenodds_completion)"'),
    ],
)
def test_the_script_is_for_this_program(shell, hook):
    result = run(shell)
    assert result.stderr == ""
    assert hook in result.stdout
    assert f"_EVENODDS_COMPLETE={shell}_complete" in result.stdout
    assert command.run("completion", shell).stdout == result.stdout  # of python -m evenodds, and not for that name


@pytest.mark.parametrize("path", ["/bin/bash", "/usr/local/bin/zsh", "/opt/homebrew/bin/fish"])
def test_without_argument_the_shell_is_guessed(path):
    assert run(shell=path).stdout == run(Path(path).name).stdout


@pytest.mark.parametrize(
    ("path", "found"),
    [("", "$SHELL is not set"), ("/bin/tcsh", "$SHELL is '/bin/tcsh'"), ("/bin/", "$SHELL is '/bin/'")],
)
def test_another_shell_is_wrong_usage(path, found):
    result = run(shell=path, code=2)
    assert result.stdout == ""
    assert result.stderr == f"Error: {found}, so which shell is it? Say evenodds completion bash, zsh or fish\n"


def test_an_unknown_name_is_wrong_usage():
    assert "'powershell' is not one of 'bash', 'zsh', 'fish'" in run("powershell", code=2).stderr


def test_help_says_where_to_put_it():
    page = run("--help").stdout
    assert all(where in page for where in ("~/.bashrc", "~/.zshrc", "~/.config/fish/completions/evenodds.fish"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_program_answers_what_the_script_asks(shell):
    """As each script asks: fish gives the word itself, the others its number."""
    which = {"COMP_CWORD": "ba" if shell == "fish" else "1"}
    done = subprocess.run(
        [BIN / "evenodds"], env=environment(_EVENODDS_COMPLETE=f"{shell}_complete", COMP_WORDS="evenodds ba", **which),
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    words = done.stdout.replace(",", "\n").replace("\t", "\n").split("\n")
    assert "plain" in words
    assert "bayes" in words
    assert "demo" not in words


def test_bash_completes_by_it():
    bash = shutil.which("bash")
    assert bash, "bash is needed to try the script"
    script = run("bash").stdout + (
        "\nCOMP_WORDS=(evenodds bayes --pri); COMP_CWORD=2; _evenodds_completion evenodds; echo ${COMPREPLY[@]}"
        "\nCOMPREPLY=(); COMP_WORDS=(evenodds dem); COMP_CWORD=1; _evenodds_completion evenodds; echo ${COMPREPLY[@]}"
    )
    done = subprocess.run([bash, "--norc", "-c", script], env=environment(), capture_output=True, encoding="utf-8")
    assert (done.stdout, done.stderr) == ("--prior\ndemo\n", "")
