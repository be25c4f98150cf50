"""The command line. A command's module is imported only when the command runs, so that `evenodds --help` is instant."""

import gc
import importlib
import os
import sys
from typing import Any

import click

from evenodds.cli.commands import Command

# name: (where it lives, one line for --help). A new command is one new line.
COMMANDS = {
    "demo": ("evenodds.cli.demo:demo", "Train, evaluate and explain on embedded data."),
    "fit": ("evenodds.cli.fit:fit", "Learn a model from files, and save it."),
    "regress": ("evenodds.cli.regress:regress", "Linear, logistic, softmax or Poisson regression, with errors."),
    "mixture": ("evenodds.cli.mixture:mixture", "Which groups are the rows made of, and how many?"),
    "predict": ("evenodds.cli.predict:predict", "Add predictions to a file's rows."),
    "evaluate": ("evenodds.cli.evaluate:evaluate", "How good is a model, or a kind of model, on a file?"),
    "audit": ("evenodds.cli.audit:audit", "Does a model treat groups evenly? With intervals, and how sure."),
    "report": ("evenodds.cli.report:report", "One page: your data, your model, its evenness."),
    "shift": ("evenodds.cli.shift:shift", "Does it still hold, on new rows and at other sites?"),
    "decide": ("evenodds.cli.decide:decide", "From odds to a rule: by costs, or by promises."),
    "compare": ("evenodds.cli.compare:compare", "Which model is better, and from how many rows on?"),
    "explain": ("evenodds.cli.explain:explain", "Why does a model say what it says of a row?"),
    "show": ("evenodds.cli.show:show", "What a model has learnt, as tables."),
    "words": ("evenodds.cli.words:words", "The words that tell a model's classes apart."),
    "add": ("evenodds.cli.sums:add", "Add models: the model of all their rows."),
    "learn": ("evenodds.cli.sums:learn", "Teach a model more rows."),
    "forget": ("evenodds.cli.sums:forget", "Make a model forget rows, as if never learnt."),
    "prune": ("evenodds.cli.sums:prune", "Drop a model's rare words; it can no longer forget."),
    "separate": ("evenodds.cli.separate:separate", "Does a line separate the classes? With what margin, or why not?"),
    "density": ("evenodds.cli.density:density", "The shape of a column of numbers, for each group."),
    "net": ("evenodds.cli.net:net", "Bayesian networks: learn them, ask them, and see why."),
    "coin": ("evenodds.cli.coin:coin", "What heads and tails say of a coin."),
    "bayes": ("evenodds.cli.bayes:bayes", "Bayes' rule: from a prior and evidence to a posterior."),
    "bandit": ("evenodds.cli.bandit:bandit", "Choose between arms while learning what they pay."),
    "completion": ("evenodds.cli.completion:completion", "Print a script that completes commands in your shell."),
}
INTERRUPTED, NO_READER = 130, 141  # what a shell reports of a process ended by SIGINT and by SIGPIPE


class Group(click.Group):
    """A click group that answers a name it does not know with those it does, and lists them in the order of use."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of definition."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each command with the whole first sentence of its help."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, it.get_short_help_str(limit=1000)) for name, it in self.commands.items()])

    command_class = Command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Click's, for the names it knows."""
        known = self.list_commands(ctx)
        if args[0] not in known and not args[0].startswith("-"):
            import difflib

            close = difflib.get_close_matches(args[0], known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"the commands are {', '.join(known)}."
            raise click.UsageError(f"no command {args[0]!r}; {hint}", ctx)
        return super().resolve_command(ctx, args)


class LazyGroup(Group):
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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Click's, which prints --help and --version, perhaps to a full disk, or to nobody."""
        try:
            return super().parse_args(ctx, args)
        except BrokenPipeError:
            ctx.exit(NO_READER)
        except OSError as error:
            raise click.ClickException(error.strerror or str(error)) from error

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list under `evenodds --help`, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whatever it meets ends in one sentence and the documented exit code."""
        from evenodds.cli.output import BadDataError
        from evenodds.errors import DataError, by_options
        from evenodds.show import escaped_lines

        try:
            with by_options():
                result = super().invoke(ctx)
            sys.stdout.flush()
            return result
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except click.ClickException as error:
            vars(error)["message"] = escaped_lines(error.message)
            raise
        except BrokenPipeError:  # the reader, such as head, has seen enough
            ctx.exit(NO_READER)
        except DataError as error:
            raise BadDataError(escaped_lines(str(error))) from error
        except OSError as error:
            where = "" if error.filename is None else f"{error.filename or repr('')}: "
            raise click.ClickException(f"{where}{error.strerror or error}") from error
        except MemoryError:
            raise click.ClickException("there is not enough memory") from None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "show_default": True})
@click.version_option(package_name="evenodds", message="%(prog)s %(version)s")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Probabilistic learning people can see through.

    Answers go to stdout, messages to stderr. Exit codes: 0 fine, 1 failed, 2 wrong usage, 3 bad data, 130 interrupted,
    141 nobody reads on.
    """
    gc.set_threshold(200_000)  # looking for garbage while modules are loaded takes a tenth of a second, and finds none
    sys.setswitchinterval(5e-5)  # kernels run without the interpreter's lock: whoever comes back should not wait for it
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")  # Arrow's own keeps three times what it uses
    if sys.stdout is None:
        raise click.ClickException("standard output is closed")
    if os.environ.get("NO_COLOR"):
        ctx.color = False
    for stream in (sys.stdout, sys.stderr):  # a pipe that cannot encode → or × gets a ? instead of a traceback
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
