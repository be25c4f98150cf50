"""A command as ours are: an option that takes one value is given once, one that takes a list may be given again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click

WITHOUT = ("--ignore", "--drop", "--exclude", "--omit")  # what people type to leave a column out
INSTEAD = {"--role": "--role COLUMN=ignore leaves a column out", "--columns": "--columns names those that stay"}


class Command(click.Command):
    """A click command that refuses an option given twice; click would keep the last, and not say so."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Click's, if every option that keeps one value is given one."""
        if not ctx.resilient_parsing:
            try:
                _, _, typed = self.make_parser(ctx).parse_args(args=list(args))
            except click.NoSuchOption as error:
                cures = [INSTEAD[name] for param in self.params for name in param.opts if name in INSTEAD]
                if error.option_name not in WITHOUT or not cures:
                    raise
                raise click.UsageError(f"No such option {error.option_name!r}: {cures[0]}", ctx) from None
            for param, times in Counter(typed).items():
                if times > 1 and isinstance(param, click.Option) and _keeps_one(param):
                    names = "/".join([param.opts[-1], *param.secondary_opts])
                    raise click.UsageError(f"{names} is given {times} times, and takes one value", ctx)
        return super().parse_args(ctx, args)


class Listed(click.Option):
    """An option of values with commas between; given again, its values are joined."""

    def add_to_parser(self, parser: Any, ctx: click.Context) -> None:
        """Keep all that is typed."""
        parser.add_option(obj=self, opts=self.opts, dest=self.name, action="append", nargs=1)

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """One text of all that was typed."""
        return super().type_cast_value(ctx, ",".join(value) if isinstance(value, list) else value)


def _keeps_one(option: click.Option) -> bool:
    """Whether the last value would win; a flag without an opposite says the same again."""
    switch = option.is_flag and not option.secondary_opts
    return not (option.multiple or switch or isinstance(option, Listed))
