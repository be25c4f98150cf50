"""`evenodds show`: what a model has learnt, as tables a person reads."""

from __future__ import annotations

import dataclasses
from typing import Any

import click

from evenodds.cli import data, options
from evenodds.cli.commands import Command
from evenodds.cli.output import WrongUsageError, print_json, print_lines


@click.command(cls=Command, no_args_is_help=True)
@click.argument("model", type=click.Path())
@click.argument("columns", nargs=-1)
@options.as_json
def show(model: str, columns: tuple[str, ...], as_json: bool) -> None:
    """What a model has learnt: its classes, and for each column p(value | class) with 95 % credible intervals.

    \b
      evenodds show titanic.eo
      evenodds show titanic.eo sex age
    """
    from evenodds.models.naive_bayes import Model

    learnt: Any = data.load_any(model)
    if learnt.kind == "network":
        raise WrongUsageError(f"{model} is a network: evenodds net show takes it")
    if columns and not isinstance(learnt, Model):
        raise WrongUsageError(f"{model} is a {learnt.kind}: it is shown whole")
    if learnt.kind == "bridge":
        from evenodds.models.bridge.corrections import corrections

        shown_weights, tried = corrections(learnt), [one._asdict() for one in learnt.tried]
        if as_json:
            scales = {"scale": learnt.scale, "strength": learnt.strength}
            print_json({"rows": learnt.rows, **scales, "tried": tried, "weights": shown_weights.to_dicts()})
        else:
            print_lines(f"{learnt!r}\n\n{shown_weights!r}")
        return
    if learnt.kind == "mixture":
        print_json(learnt.to_dict()) if as_json else print_lines(learnt.describe())
        return
    if not isinstance(learnt, Model):
        summary = learnt.summary()
        print_json(summary.to_dict()) if as_json else print_lines(repr(summary))
        return
    from evenodds.errors import DataError, did_you_mean, many
    from evenodds.models.learnt import Tables, n_parameters

    features = learnt.schema.features
    for name in columns:
        if name not in features:
            raise DataError(f"{model}: {did_you_mean(name, features)}")
    tables = Tables(learnt)
    shown = {name: tables[name] for name in columns or features}
    size = n_parameters(learnt)
    if as_json:
        print_json(
            {
                "target": learnt.schema.target,
                "rows": learnt.rows,
                "classes": data.classes(learnt),
                "parameters": size,
                "temper": None if learnt.temper is None else dataclasses.asdict(learnt.temper),
                "columns": {name: column.described for name, column in learnt.schema.columns.items()},
                "tables": {name: table.to_dicts() for name, table in shown.items()},
            }
        )
        return
    if not columns:
        print_lines(f"{data.summary(learnt)}; {many(size['naive'] or 0, 'parameter')}\n\n{learnt.schema!r}\n")
        if learnt.temper is not None:
            print_lines("how much is believed\n" + "\n".join(learnt.temper.sentences()) + "\n")
    print_lines("\n\n".join(repr(table) if len(table) else f"{table.title}\nsays nothing" for table in shown.values()))
