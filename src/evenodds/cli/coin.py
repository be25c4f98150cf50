"""`evenodds coin`: what some tosses say of a coin."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING

import click

from evenodds.arguments import LEVEL
from evenodds.cli import options, said
from evenodds.cli.commands import Command
from evenodds.cli.output import WrongUsageError, print_json
from evenodds.errors import many
from evenodds.show import share, short, table

if TYPE_CHECKING:
    from evenodds.families import Beta

MOST = 10**9  # tosses: beyond it 1 - p of a one-sided coin would not have four digits
WIDE, HIGH = 60, 4  # columns and lines of the picture


@dataclass(frozen=True)
class Coin:
    """All that is known of a coin after some tosses; None where there is no such estimate."""

    heads: int
    tails: int
    prior: Beta
    posterior: Beta
    mle: float | None
    map: float | None
    mean: float
    credible: tuple[float, float]
    confidence: tuple[float, float]
    log_evidence: float
    log_bayes_factor: float


@click.command(cls=Command, no_args_is_help=True)
@click.argument("heads")
@click.argument("tails")
@click.option("--prior", default="1,1", metavar="A,B", help="What is known before: Beta(A, B).")
@click.option("--prob-of-heads-next", "only_next", is_flag=True, help="Print that one number.")
@options.as_json
def coin(heads: str, tails: str, prior: str, only_next: bool, as_json: bool) -> None:
    """What HEADS heads and TAILS tails say of a coin.

    The estimates of P(heads), how sure they are, the probability of the tosses, and whether they speak against a fair
    coin. The prior Beta(A, B) is worth A - 1 heads and B - 1 tails seen before; Beta(1, 1) is flat: no opinion.

    \b
    Two heads, no tails, nothing known before:
      evenodds coin 2 0
    The same of a coin that is thought to be about fair:
      evenodds coin 2 0 --prior 2,2
    """
    if only_next and as_json:
        raise WrongUsageError("--prob-of-heads-next is a bare number: leave out --json, which has it among the others")
    found = learn(read_count("HEADS", heads), read_count("TAILS", tails), *read_prior(prior))
    if only_next:
        click.echo(f"{found.mean:.12g}")
    elif as_json:
        print_json(as_data(found))
    else:
        click.echo(as_text(found))


def read_count(name: str, text: str) -> int:
    """A number of tosses."""
    if not (text.isascii() and text.isdigit()):
        raise WrongUsageError(f"{name}: {text!r} is not a whole number; expected 0, 1, 2, ...")
    if len(text) > len(str(MOST)) or int(text) > MOST:
        raise WrongUsageError(f"{name}: {text} are too many; expected at most {MOST:,}")
    return int(text)


def read_prior(text: str) -> tuple[float, float]:
    """(2, 2) from '2,2'; a half may be written .5 or 1/2."""
    try:
        numbers = said.numbers("--prior", text)
    except WrongUsageError:
        numbers = []
    if len(numbers) != 2 or not all(0 < number <= MOST for number in numbers):
        raise WrongUsageError(f"--prior: {text!r} is no Beta prior; expected two numbers above 0, as in 2,2 or 1/2,1/2")
    return numbers[0], numbers[1]


def learn(heads: int, tails: int, a: float, b: float) -> Coin:
    """The prior and the tosses, added; and what follows."""
    import numpy as np

    from evenodds.families import Bernoulli, Beta
    from evenodds.labels import Fixed
    from evenodds.tally import Leaf, Tally

    tosses = Tally.of(Fixed(1), {("toss", "sides"): Leaf(Fixed(2), np.array([[tails], [heads]]))})
    prior = Beta(a, b)
    posterior = prior + tosses
    evidence = float(Bernoulli.log_evidence(tosses, prior))
    no_mode = posterior.a == posterior.b == 1 or (posterior.a < 1 and posterior.b < 1)
    return Coin(
        heads=heads,
        tails=tails,
        prior=prior,
        posterior=posterior,
        mle=Bernoulli.estimate(tosses, "mle").mean if heads + tails else None,
        map=None if no_mode else posterior.mode,
        mean=float(posterior.mean),
        credible=posterior.interval(LEVEL),
        confidence=Bernoulli.confidence(tosses, LEVEL),
        log_evidence=evidence,
        log_bayes_factor=evidence - float(Bernoulli(0.5).log_likelihood(tosses)),
    )


def as_data(coin: Coin) -> dict[str, object]:
    """The same for machines; null is an estimate that does not exist, or a number too small or large for a float."""
    return {
        "heads": coin.heads,
        "tails": coin.tails,
        "prior": {"a": coin.prior.a, "b": coin.prior.b},
        "posterior": {"a": coin.posterior.a, "b": coin.posterior.b},
        "maximum_likelihood": coin.mle,
        "map": coin.map,
        "mean": coin.mean,
        "probability_of_heads_next": coin.mean,
        "credible_interval": {"level": LEVEL, "kind": "equal tails", "low": coin.credible[0], "high": coin.credible[1]},
        "confidence_interval": {
            "level": LEVEL,
            "kind": "Clopper-Pearson",
            "low": coin.confidence[0],
            "high": coin.confidence[1],
        },
        "log_evidence": coin.log_evidence,
        "evidence": exp(coin.log_evidence) if coin.log_evidence > -700 else None,
        "log_bayes_factor_against_fair": coin.log_bayes_factor,
        "bayes_factor_against_fair": exp(coin.log_bayes_factor) if abs(coin.log_bayes_factor) < 700 else None,
    }


def as_text(coin: Coin) -> str:
    """A page: estimates, intervals, evidence, and the posterior as a picture."""
    tosses = f"{many(coin.heads, 'head')} and {many(coin.tails, 'tail')}"
    factor = power(abs(coin.log_bayes_factor))
    compared = f"{factor} times as much as from a fair coin"
    if factor == "1":
        compared = "as much as from a fair coin"
    elif coin.log_bayes_factor < 0:
        compared = f"from a fair coin {factor} times as much"
    rows = [
        ["P(heads)", "", ""],
        ["maximum likelihood", share(coin.mle), "the share of heads" if coin.mle is not None else "no tosses"],
        ["MAP", share(coin.map), _about_the_mode(coin)],
        ["posterior mean", share(coin.mean), "and P(next toss is heads)"],
        ["95 % credible", _range(coin.credible), "equal tails, 2.5 % each"],
        ["95 % confidence", _range(coin.confidence), "exact (Clopper-Pearson)"],
    ]
    lines = [
        tosses,
        f"prior {_beta(coin.prior)}, posterior {_beta(coin.posterior)}",
        "",
        table(rows),
        "",
        f"Evidence: the tosses in order had probability {power(coin.log_evidence)} (log {coin.log_evidence:.5g}),",
        f"{compared}.",
        "",
    ]
    return "\n".join([*lines, *picture(coin.posterior)])


def _about_the_mode(coin: Coin) -> str:
    """What kind of mode the posterior has."""
    a, b = coin.posterior.a, coin.posterior.b
    if coin.map is None:
        return "every value is equally probable" if a == 1 else "endless both at 0 and at 1"
    return "the most probable value" if a > 1 and b > 1 else "most probable: the border"


def picture(posterior: Beta) -> list[str]:
    """The posterior density from 0 to 1 in blocks, its highest column as high as there is room."""
    import numpy as np

    log_density = posterior.log_prob((np.arange(WIDE) + 0.5) / WIDE)
    levels = np.round(np.exp(log_density - log_density.max()) * 8 * HIGH).astype(int)
    lines = ["".join(" ▁▂▃▄▅▆▇█"[min(max(n - 8 * line, 0), 8)] for n in levels) for line in reversed(range(HIGH))]
    half = WIDE // 2
    return [line.rstrip() for line in lines] + [f"{'0':<{half - 1}}0.5{'1':>{WIDE - half - 2}}"]


def power(log_x: float) -> str:
    """e to the log, also where no float is so small or large.

    >>> power(log(0.3)), power(-2000), power(2000)
    ('0.3', '10^-869', '10^869')
    """
    return short(exp(log_x)) if abs(log_x) < 690 else f"10^{log_x / log(10):.0f}"


def _beta(known: Beta) -> str:
    return f"Beta({known.a:.12g}, {known.b:.12g})"


def _range(ends: tuple[float, float]) -> str:
    return f"{share(ends[0])} to {share(ends[1])}"
