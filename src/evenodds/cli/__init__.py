"""The command line. A command's module is imported only when the command runs, so that `evenodds --help` is instant."""

import importlib
import sys

import click

# name: (where it lives, one line for --help). A new command is one new line.
COMMANDS = {
    "bayes": ("evenodds.cli.bayes:bayes", "Bayes' rule: from a prior and evidence to a posterior."),
    "demo": ("evenodds.cli.demo:demo", "Train, evaluate and explain on embedded data."),
}


class LazyGroup(click.Group):
    """A click group that knows its commands by name and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, imported now."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        command = getattr(importlib.import_module(module), name)
        assert isinstance(command, click.Command), f"{module}:{name} is not a click command"
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list under `evenodds --help`, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Click's, but an unknown name is answered from the table."""
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the commands are {', '.join(COMMANDS)}."
            raise click.UsageError(f"no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="evenodds", message="%(prog)s %(version)s")
def main() -> None:
    """Probabilistic learning people can see through.

    Answers go to stdout, messages to stderr. Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 bad data.
    """
    for stream in (sys.stdout, sys.stderr):  # a pipe that cannot encode → or × gets a ? instead of a traceback
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
