"""`evenodds bayes`: Bayes' rule, step by step."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import isnan

import click

from evenodds.cli import options, said
from evenodds.cli.commands import Command
from evenodds.cli.output import BadDataError, WrongUsageError, print_json
from evenodds.models.bayes_rule import Belief, DiagnosticTest, ImpossibleEvidenceError, Posterior, update
from evenodds.show import odds, probability, short, table


@dataclass(frozen=True)
class Evidence:
    """One --test or --evidence. The same source twice is the same test twice."""

    source: str
    result: str
    likelihoods: dict[str, float]

    @property
    def event(self) -> str:
        """What was seen: 'test 1 positive'."""
        return f"{self.source} {self.result}".strip()


@click.command(cls=Command, no_args_is_help=True)
@click.option("--prior", "priors", multiple=True, required=True, metavar="NAME=P,...", help="What is believed before.")
@click.option(
    "--test",
    "tests",
    multiple=True,
    metavar="[NAME:]SENSITIVITY,FALSE-POSITIVES[,negative]",
    help="A test of two hypotheses and its result, positive unless said. Repeatable.",
)
@click.option(
    "--evidence",
    "pieces",
    multiple=True,
    metavar="[NAME:]HYPOTHESIS=P,...",
    help="P(evidence | hypothesis) for every hypothesis. Repeatable.",
)
@click.option(
    "--people",
    type=options.Whole(),
    metavar="N",
    help="Count in N people. By default 1,000, or as many as whole numbers need.",
)
@options.as_json
def bayes(
    priors: tuple[str, ...], tests: tuple[str, ...], pieces: tuple[str, ...], people: int | None, as_json: bool
) -> None:
    """Bayes' rule: from a prior and evidence to a posterior.

    A single prior NAME=P is completed by "not NAME". Numbers may be written .001, 1/1000 or 0.1%.
    Tests come before other evidence; the order does not change the answer.

    \b
    A disease that 1 in 1,000 has, a test that finds all of them and 1% of the others:
      evenodds bayes --prior disease=.001 --test sensitivity=1,false-positives=.01
    The same in short, then a second test, which is negative:
      evenodds bayes --prior disease=.001 --test 1,.01 --test .9,.05,negative
    One test twice, and what that is worth:
      evenodds bayes --prior disease=.001 --test 1,.01 --test 1,.01
    Any evidence, any number of hypotheses:
      evenodds bayes --prior spam=.2,ham=.8 --evidence "prince: spam=.05, ham=.0025"
    """
    try:
        prior = read_prior(priors)
        sources: dict[str, object] = {}
        evidence = read_tests(tests, list(prior), sources) + read_evidence(pieces, sources)
        if not evidence:
            raise ValueError("there is no evidence to learn from: add --test or --evidence")
        steps = in_sequence(prior, evidence)
    except ImpossibleEvidenceError as error:
        raise BadDataError(str(error)) from error
    except ValueError as error:
        raise WrongUsageError(str(error)) from error
    if as_json:
        print_json(as_data(prior, evidence, steps, people))
    else:
        click.echo(as_text(prior, evidence, steps, people, "people" if tests else "cases"))


def in_sequence(prior: dict[str, float], evidence: Iterable[Evidence]) -> list[Posterior]:
    """The posterior after each piece of evidence."""
    steps: list[Posterior] = []
    for piece in evidence:
        steps.append(update(steps[-1] if steps else prior, piece.likelihoods, piece.event))
    return steps


def repeated(evidence: Iterable[Evidence]) -> list[str]:
    """The sources that appear more than once."""
    sources = [piece.source for piece in evidence]
    return [source for source in dict.fromkeys(sources) if sources.count(source) > 1]


def if_repeating(prior: dict[str, float], evidence: Sequence[Evidence]) -> Posterior | None:
    """The posterior if each source only repeats itself: its first result counts. None if one contradicts itself."""
    distinct = {piece.event: piece for piece in evidence}
    if len(distinct) > len({piece.source for piece in evidence}):
        return None
    return in_sequence(prior, distinct.values())[-1]


# Reading: every mistake is a sentence that names the option.


def read_prior(texts: Iterable[str]) -> dict[str, float]:
    """{'disease': .001, 'not disease': .999} from disease=.001."""
    prior = said.shares("--prior", ",".join(texts).split(","))
    if len(prior) == 1:
        [(name, p)] = prior.items()
        prior[f"not {name}"] = 1 - p
    return prior


def read_tests(texts: Iterable[str], hypotheses: list[str], sources: dict[str, object]) -> list[Evidence]:
    """Tests by numbers or by name: 'PCR: .9,.05,negative', 'sensitivity=.9,specificity=.95'."""
    tests = []
    for text in texts:
        name, _, rest = text.rpartition(":")
        rates, result = dict[str, float](), "positive"
        unnamed = iter(("sensitivity", "false-positives"))
        for part in map(str.strip, rest.split(",")):
            key, equals, value = part.rpartition("=")
            if part in ("positive", "negative"):
                result = part
            elif key := key.strip() if equals else next(unnamed, ""):
                if key in rates:
                    raise ValueError(f"--test: {key} is given twice in {text!r}")
                rates[key] = said.number("--test", value)
            else:
                raise ValueError(f"--test: expected positive or negative after the two rates, not {part!r}")
        if "specificity" in rates and "false-positives" not in rates:
            rates["false-positives"] = 1 - rates.pop("specificity")
        if set(rates) != {"sensitivity", "false-positives"}:
            raise ValueError(f"--test: expected sensitivity and false-positives (or specificity), not {text!r}")
        if len(hypotheses) != 2:
            raise ValueError(f"--test: a test tells 2 hypotheses apart, not {len(hypotheses)}; use --evidence instead")
        test = DiagnosticTest(rates["sensitivity"], rates["false-positives"])
        source = source_name(sources, name.strip(), "test", test)
        tests.append(Evidence(source, result, test.likelihoods(hypotheses, result)))
    return tests


def read_evidence(texts: Iterable[str], sources: dict[str, object]) -> list[Evidence]:
    """Likelihoods by hypothesis: 'prince: spam=.05, ham=.0025'."""
    pieces = []
    for text in texts:
        name, _, rest = text.rpartition(":")
        likelihoods = said.shares("--evidence", rest.split(","))
        pieces.append(Evidence(source_name(sources, name.strip(), "evidence", likelihoods), "", likelihoods))
    return pieces


def source_name(sources: dict[str, object], name: str, kind: str, numbers: object) -> str:
    """The name given, or 'test 2'; without a name the same numbers are the same source."""
    if not name:
        same = (s for s, n in sources.items() if n == numbers and s.startswith(f"{kind} "))
        name = next(same, f"{kind} {len(sources) + 1}")
    if sources.setdefault(name, numbers) != numbers:
        raise ValueError(f"--{kind}: {name!r} is given twice with different numbers; give the second another name")
    return name


# Showing


def as_text(
    prior: dict[str, float], evidence: Sequence[Evidence], steps: Sequence[Posterior], people: int | None, noun: str
) -> str:
    """A line per step (and per hypothesis, if there are more than two), the last step in people, and the caveat."""
    names = list(prior) if len(prior) > 2 else list(prior)[:1]
    label = names[0] if len(names) == 1 else "hypothesis"
    rows = [["evidence", "P(evidence)", "hypothesis", f"P({label})", "odds × likelihood ratio", noun]]
    for step in steps:
        crowd = step.people(people)
        for name in names:
            before, ratio, after = step.prior.log_odds(name), step.likelihood_ratio(name), step.log_odds(name)
            row = [
                name,
                f"{probability(before)} → {probability(after)}",
                f"{odds(before)} × {'anything' if isnan(ratio) else short(ratio)} = {odds(after)}",
                f"{crowd.share(name)} (of {crowd.population:,})",
            ]
            rows.append([step.event, short(step.evidence), *row] if name == names[0] else ["", "", *row])
    if len(names) == 1:
        rows = [row[:2] + row[3:] for row in rows]
    sentence = crowd.sentence(noun)
    lines = [table(rows), "", f"{sentence[0].upper()}{sentence[1:]}."]
    if sources := repeated(evidence):
        once = if_repeating(prior, evidence)
        lines += [
            "",
            f"Counted more than once: {', '.join(sources)}. The answer is",
            f"  {in_words(steps[-1], names)} if the results are independent given each hypothesis,",
            f"  {in_words(once, names)} if a repetition only repeats the first result."
            if once
            else "  undefined if a repetition only repeats the first result: here they contradict each other.",
        ]
    return "\n".join(lines)


def in_words(belief: Belief, names: Iterable[str]) -> str:
    """'P(disease) = 0.0910'."""
    return ", ".join(f"P({name}) = {probability(belief.log_odds(name))}" for name in names)


def as_data(
    prior: dict[str, float], evidence: Sequence[Evidence], steps: Sequence[Posterior], people: int | None
) -> dict[str, object]:
    """The same for machines."""
    data: dict[str, object] = {"prior": prior, "posterior": steps[-1].probabilities}
    data["steps"] = [
        {
            "evidence": step.event,
            "likelihoods": step.likelihoods,
            "probability_of_evidence": step.evidence,
            "prior": step.prior.probabilities,
            "posterior": step.probabilities,
            "prior_odds": {a: step.prior.odds(a) for a in prior},
            "likelihood_ratio": {a: step.likelihood_ratio(a) for a in prior},
            "posterior_odds": {a: step.odds(a) for a in prior},
            "people": asdict(step.people(people)),
        }
        for step in steps
    ]
    if sources := repeated(evidence):
        once = if_repeating(prior, evidence)
        data["repeated"] = {
            "evidence": sources,
            "posterior_if_independent": steps[-1].probabilities,
            "posterior_if_it_repeats_itself": once and once.probabilities,
        }
    return data
