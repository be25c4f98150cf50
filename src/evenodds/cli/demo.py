"""`evenodds demo`: the whole idea in one screen, on the 2,201 people of the Titanic."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

from evenodds.cli import options
from evenodds.cli.commands import Command
from evenodds.cli.output import print_json, print_lines
from evenodds.cli.paths import STREAM, Written, writing
from evenodds.errors import many

if TYPE_CHECKING:
    from evenodds.audit.metrics import Metrics
    from evenodds.models.classifier import NaiveBayes
    from evenodds.models.explanation import Explanation
    from evenodds.show import Frame

TARGET, FOLDS = "survived", 10
MESSAGE = "You have won a FREE phone, claim it now"
SOMEONE = {"class": "3rd", "sex": "female", "age": None}


@dataclass(frozen=True)
class Score:
    """How well rows were predicted by a model that had not seen them."""

    name: str
    accuracy: float
    log_loss: float


@click.command(cls=Command)
@click.option(
    "--csv", "csv_path", type=Written(stream=True), help="Write the data to this CSV file, and no more; - is stdout."
)
@click.option("--messages", "text_path", type=Written(stream=True), help="The same with the messages.")
@click.option("--geyser", "geyser_path", type=Written(stream=True), help="The same with Old Faithful's eruptions.")
@options.as_json
def demo(csv_path: str | None, text_path: str | None, geyser_path: str | None, as_json: bool) -> None:
    """Train, evaluate and explain naive Bayes on the people of the Titanic, and on messages.

    Embedded data, no network, a few seconds. What is shown: that learning is a sum; how well the model predicts people
    it has not seen; why it says what it says; what it has learnt; and where its assumption is wrong.
    """
    from evenodds.data.titanic import titanic
    from evenodds.models.classifier import NaiveBayes

    written = csv_path is not None or text_path is not None or geyser_path is not None
    if written:
        options.refuse("of the demo: the data are CSV", "as_json")
    people = titanic()
    if csv_path is not None:
        save_csv(people, csv_path)
    if text_path is not None:
        from evenodds.data.messages import messages

        save_csv(messages(), text_path)
    if geyser_path is not None:
        from evenodds.data.geyser import geyser

        save_csv(geyser(), geyser_path)
    if written:
        return
    whole = NaiveBayes().fit(people, TARGET)
    halves = [NaiveBayes().fit(half, TARGET).model_ for half in (people[0::2], people[1::2])]
    judged = held_out(people, TARGET)
    shown = Shown(
        whole,
        add=halves[0] + halves[1] == whole.model_,
        forget=whole.model_ - halves[1] == halves[0],
        halves=(halves[0].rows, halves[1].rows),
        scores=[Score("naive Bayes", judged.accuracy, judged.log_loss), Score("class shares alone", *judged.baseline)],
        why=explained(whole),
        alike=alike(people),
        doubt=whole.check(people, TARGET),
        women=women_who_died(people),
        text=read_messages(),
    )
    if as_json:
        print_json(as_data(shown))
    else:
        click.echo(as_text(shown))


def save_csv(rows: Any, path: str) -> None:
    """Embedded data as a CSV file, to try the other commands on."""
    import csv
    import io

    lines = io.StringIO()
    out = csv.DictWriter(lines, rows.column_names, lineterminator="\n")
    out.writeheader()
    out.writerows(rows.to_pylist())
    with writing(path) as file:
        file.write(lines.getvalue().encode())
    if path != STREAM:
        print_lines(f"{many(rows.num_rows, 'row')} → {path}", err=True)


@dataclass(frozen=True)
class Text:
    """What was found out about a few hundred invented messages."""

    rows: int
    spam: int
    score: Score
    words: dict[str, list[str]]  # by class, the most telling
    why: Explanation


def read_messages() -> Text:
    """Learn, judge and explain messages."""
    from evenodds.data.messages import messages
    from evenodds.models.classifier import NaiveBayes
    from evenodds.models.learnt import top_words

    letters = messages()
    model = NaiveBayes().fit(letters, "label")
    judged = held_out(letters, "label")
    words: dict[str, list[str]] = {}
    for row in top_words(model.model_, "text", 8):
        words.setdefault(row["label"], []).append(row["word"])
    [why] = model.explain([{"text": MESSAGE}])
    score = Score("messages", judged.accuracy, judged.log_loss)
    return Text(letters.num_rows, letters["label"].to_pylist().count("spam"), score, words, why)


@dataclass(frozen=True)
class Shown:
    """All that the demo found out."""

    model: NaiveBayes
    add: bool  # the halves add up to the whole
    forget: bool  # the whole without one half is the other
    halves: tuple[float, float]
    scores: list[Score]
    why: Explanation
    alike: tuple[int, int]  # people like the one explained: survivors, all
    doubt: Frame
    women: tuple[int, int, float]
    text: Text


def held_out(rows: Any, target: str) -> Metrics:
    """How well rows are predicted, fold by fold, by a model that has not seen them."""
    from evenodds.audit.held_out import of_folds
    from evenodds.data.memory import table
    from evenodds.data.source import Memory

    return of_folds(Memory(table(rows)), target, FOLDS).metrics()


def explained(model: NaiveBayes) -> Explanation:
    """Why the model says what it says of one person."""
    return model.explain([SOMEONE], of="yes")[0]


def alike(people: Any) -> tuple[int, int]:
    """How many of the people like that one survived, and how many there were."""
    like = [row for row in people.to_pylist() if all(row[name] == v for name, v in SOMEONE.items() if v is not None)]
    return sum(row[TARGET] == "yes" for row in like), len(like)


def women_who_died(people: Any) -> tuple[int, int, float]:
    """How many, how many of them in 3rd class, and how many there would be if class and sex were independent."""
    died = [row for row in people.to_pylist() if row[TARGET] == "no"]
    women = [row for row in died if row["sex"] == "female"]
    third = sum(row["class"] == "3rd" for row in women)
    return len(women), third, len(women) * sum(row["class"] == "3rd" for row in died) / len(died)


def as_data(shown: Shown) -> dict[str, object]:
    """The demo as one JSON object."""
    model = shown.model
    return {
        "rows": model.model_.rows,
        "classes": dict(zip(model.classes_.tolist(), map(int, model.class_count_))),
        "parameters": model.n_parameters_,
        "halves_add_up_to_the_whole": shown.add,
        "forgetting_gives_the_half_back": shown.forget,
        "held_out": [vars(score) for score in shown.scores],
        "explanation": {**shown.why.to_dict(), "survivors_alike": shown.alike[0], "people_alike": shown.alike[1]},
        "tables": {name: frame.to_dicts() for name, frame in model.tables.items()},
        "most_dependent": shown.doubt.to_dicts(),
        "women_who_died": dict(zip(("people", "in_3rd_class", "expected_if_independent"), shown.women)),
        "text": {
            "messages": shown.text.rows,
            "spam": shown.text.spam,
            "held_out": vars(shown.text.score),
            "telling_words": shown.text.words,
            "explanation": shown.text.why.to_dict(),
        },
    }


def as_text(shown: Shown) -> str:
    """The demo as a page of 80 columns."""
    from evenodds.show import Frame

    model, (a, b) = shown.model, shown.halves
    survivors, number = shown.alike
    women, third, expected = shown.women
    size, doubt = model.n_parameters_, shown.doubt[0]
    people, saved = model.model_.rows, int(model.class_count_[1])
    scores = Frame([{"": s.name, "accuracy": s.accuracy, "log loss": s.log_loss} for s in shown.scores])
    pages = [
        (
            f"The Titanic: {people:,} people, {saved:,} survivors. What do class, sex and age tell?",
            "",
        ),
        (
            "1. Learning is a sum",
            f"model of {a:,} people + model of {b:,} others == model of all? {_yes(shown.add)}\n"
            f"model of all - model of the {b:,} == model of the {a:,}?       {_yes(shown.forget)}",
        ),
        (
            f"2. How good is it? {FOLDS} folds, each predicted by the sum of the other {FOLDS - 1}",
            f"{scores}",
        ),
        (
            "3. Why? A woman in 3rd class whose age nobody wrote down",
            f"{shown.why}\n\n"
            f"Each term is log( p(value | yes) / p(value | no) ); the sum is the answer.\n"
            f"In fact {survivors} of the {number} women and girls in 3rd class survived: {survivors / number:.0%}.",
        ),
        (
            f"4. What has it learnt? {size['naive']} numbers (the full joint has {size['joint']}), among them",
            f"{model.tables['sex']}\n\nlow to high is the 95 % credible interval.",
        ),
        (
            f"5. Where is it naive? Given {TARGET}, columns are taken to be independent",
            f"{shown.doubt}\n\n"
            f"Not so: above all {doubt['a']} and {doubt['b']}. Of {women} women who died {third} were in 3rd class;\n"
            f"were the two independent, it would be {expected:.0f}. So answer 3 is too hopeful.",
        ),
        (
            f"6. Text: {shown.text.rows} messages, {shown.text.spam} of them spam, word by word",
            f"{FOLDS} folds: {shown.text.score.accuracy:.1%} of the messages right, "
            f"log loss {shown.text.score.log_loss:.3f}\n"
            + "".join(f"most telling of {c + ':':<5} {', '.join(w)}\n" for c, w in shown.text.words.items())
            + f"\n{MESSAGE!r}\n{shown.text.why}",
        ),
        ("Next: evenodds fit ROWS.csv --target COLUMN -o MODEL.eo, and evenodds --help", ""),
    ]
    return "\n\n".join(f"{head}\n\n{indent(body, '   ')}" if body else head for head, body in pages)


def _yes(truth: bool) -> str:
    return "yes, exactly" if truth else "no"
