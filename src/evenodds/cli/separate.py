"""`evenodds separate`: does a line separate the classes of a file, with what margin, and if not, why not?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import data, options
from evenodds.cli.commands import Command
from evenodds.cli.output import WrongUsageError, print_json
from evenodds.show import printed, table

if TYPE_CHECKING:
    from evenodds.models.separators.separation import Separation
    from evenodds.models.separators.separator import Separator


@click.command(cls=Command, no_args_is_help=True)
@click.argument("paths", nargs=-1, required=True, metavar="DATA...")
@click.option("-t", "--target", metavar="COLUMN", help="The column of the classes.")
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="COLUMN=ROLE",
    help="What a column is: number, category, ignore. Repeatable; decided if not given.",
)
@options.missing
@options.reading
@options.as_json
def separate(
    paths: tuple[str, ...],
    target: str | None,
    roles: tuple[str, ...],
    missing: str,
    reading: options.Input,
    as_json: bool,
) -> None:
    """Find the line that separates the classes with the largest distance, or the proof that none does.

    Numbers are taken as they are; a category becomes a column of 0 and 1 for each of its values but the first. Where
    classes are separated, the coefficients of a logistic or softmax regression that run to infinity are named.

    \b
      evenodds separate iris.csv --target species
      evenodds separate people.csv -t survived --role cabin=ignore --json
    """
    if target is None:
        raise WrongUsageError("which column holds the classes? Name it with --target")
    from evenodds.models.glm.separated_rows import read_rows
    from evenodds.text.words import Words

    told = options.columns_of(roles, Words(), target) or None
    source, quiet = reading.files(paths).rereadable(), reading.quiet
    with data.notes(quiet), data.progress(source, "reading", quiet):
        rows = read_rows(source, target, told, missing == "drop", reading.threads)
    verdict, found = rows.judged(str if as_json else printed)
    data.say_report(rows.report, quiet)
    if as_json:
        print_json(_as_data(verdict, found, rows))
        return
    click.echo(table(_weights(found, rows)) + "\n")
    click.echo(table(_result(verdict, found, rows)))


def _weights(found: Separator, rows: Any) -> list[list[str]]:
    """The line's weights, a column for each class where there are more than two."""
    rule = found.rule
    heads = [f"weight ({printed(str(c))})" for c in rows.classes] if len(rule.weights) > 1 else ["weight"]
    lines = [
        [name, *(f"{w + 0.0:.6g}" for w in weights)]
        for name, weights in zip(map(printed, rows.names[1:]), rule.weights.T, strict=True)
    ]
    return [["column", *heads], *lines, ["constant", *(f"{c:.6g}" for c in rule.constants)]]


def _result(verdict: Separation, found: Separator, rows: Any) -> list[list[str]]:
    """What was found, line by line."""
    shown = [
        ["rows", f"{len(rows.codes):,} of {len(rows.classes)} classes"],
        ["separable", "yes" if found.separable else "no"],
        ["regression", verdict.sentence()],
    ]
    if found.certificate is None:
        return [
            *shown,
            ["euclidean margin", f"{found.euclidean_margin:.6g}: the nearest row's distance from the line"],
            ["margin", f"{found.margin:.6g}: of (x, 1), as the perceptron's bound has it"],
        ]
    numbers = rows.numbers[found.certificate.rows] + 1
    proof = ", ".join(f"{w:.4g} × row {i}" for i, w in zip(numbers, found.certificate.weights))
    wrong = int((found.rule.codes(rows.X[:, 1:]) != rows.codes).sum())
    return [
        *shown,
        ["least slack", f"{found.slack:.6g}, with {wrong:,} rows on the wrong side"],
        ["proof", f"{proof} add up to 0"],
    ]


def _as_data(verdict: Separation, found: Separator, rows: Any) -> dict[str, object]:
    proof = found.certificate
    return {
        "rows": len(rows.codes),
        "classes": [str(c) for c in rows.classes],
        "separable": found.separable,
        "verdict": verdict.verdict,
        "infinite": [
            {
                "column": one.name,
                "class": str(rows.classes[one.group]),
                "sign": one.sign,
                "certain": one.certain,
            }
            for one in verdict.infinite
        ],
        "overlapping_rows": len(verdict.rows),
        "euclidean_margin": found.euclidean_margin,
        "margin": found.margin,
        "slack": found.slack,
        "certificate": None
        if proof is None
        else {
            "rows": (rows.numbers[proof.rows] + 1).tolist(),
            "against": [str(rows.classes[c]) for c in proof.others],
            "weights": proof.weights.tolist(),
            "residual": proof.residual,
        },
        "columns": rows.names[1:],
        "weights": found.rule.weights.tolist(),
        "constants": found.rule.constants.tolist(),
        "report": rows.report.to_dict(),
    }
