"""`evenodds completion`: the shell learns the commands and options."""

from __future__ import annotations

import os
from pathlib import PurePath

import click

from evenodds.cli.commands import Command
from evenodds.cli.output import WrongUsageError

SHELLS = ("bash", "zsh", "fish")
PROGRAM = "evenodds"  # the installed script's name, whatever this process was started as


@click.command(cls=Command)
@click.argument("shell", type=click.Choice(SHELLS), required=False)
def completion(shell: str | None) -> None:
    """Print the script by which your shell completes evenodds' commands and options with the tab key.

    Without SHELL it is guessed from the environment variable of that name. To switch completion on for good:

    \b
    bash (4.4 or newer), in ~/.bashrc:
      eval "$(evenodds completion bash)"
    zsh, in ~/.zshrc, after compinit:
      eval "$(evenodds completion zsh)"
    fish, once:
      evenodds completion fish > ~/.config/fish/completions/evenodds.fish
    """
    from click.shell_completion import get_completion_class

    from evenodds.cli import main

    kind = get_completion_class(shell or guess(os.environ.get("SHELL", "")))
    assert kind is not None, "click knows bash, zsh and fish"
    click.echo(kind(main, {}, PROGRAM, f"_{PROGRAM.upper()}_COMPLETE").source(), nl=False)


def guess(path: str) -> str:
    """The shell of a path like /usr/bin/zsh.

    >>> guess("/usr/bin/zsh"), guess("/opt/homebrew/bin/fish")
    ('zsh', 'fish')
    """
    name = PurePath(path).name
    if name not in SHELLS:
        found = f"$SHELL is {path!r}" if path else "$SHELL is not set"
        raise WrongUsageError(f"{found}, so which shell is it? Say evenodds completion bash, zsh or fish")
    return name
