"""Bayes' rule: how evidence turns a prior into a posterior.

    P(a | b) = P(b | a) P(a) / P(b)        with  P(b) = Σ P(b | a) P(a)  over all hypotheses a

or, a's line divided by the line of all others, in odds:

    posterior odds = prior odds × P(b | a) / P(b | not a)

A rare disease: 1 person in 1,000 has it; the test finds everyone who has it, and 1 % of those who have not.

>>> prior = {"disease": 0.001, "healthy": 0.999}
>>> first = update(prior, {"disease": 1, "healthy": 0.01}, "test 1 positive")
>>> print(f"{first.probabilities['disease']:.4f}, P(positive) = {first.evidence:.5f}")
0.0910, P(positive) = 0.01099
>>> print(first.people().sentence())
of 1,000 people, 11 show this evidence: 1 disease and 10 healthy, so 1 in 11

Evidence comes in sequence: one posterior is the next prior. A second, different test:

>>> second = update(first, DiagnosticTest(sensitivity=0.9, false_positives=0.05).likelihoods(prior), "test 2 positive")
>>> print(f"{second.probabilities['disease']:.3f}")
0.643

Each likelihood is given the hypothesis *and the evidence before*. So test 1 a second time is new evidence only if its
results are independent given the disease; if it only repeats itself, the second result is certain either way:

>>> independent, repeats_itself = {"disease": 1, "healthy": 0.01}, {"disease": 1, "healthy": 1}
>>> print(f"{update(first, independent).probabilities['disease']:.3f}")
0.909
>>> print(f"{update(first, repeats_itself).probabilities['disease']:.3f}")
0.091

A background event c needs no code of its own: give every prior and likelihood given c, and the answer is P(a | b, c).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import exp, fsum, inf, isclose, log, nan

POPULATIONS = tuple(10**k for k in range(3, 10))  # a thousand to a billion: beyond that no one can picture it


class ImpossibleEvidenceError(ValueError):
    """What was seen has probability 0, so there is no posterior: P(b) = 0 cannot be divided by."""


@dataclass(frozen=True)
class DiagnosticTest:
    """A yes/no test for the first of two hypotheses.

    >>> DiagnosticTest(sensitivity=0.75, false_positives=0.125).likelihoods(["disease", "healthy"], "negative")
    {'disease': 0.25, 'healthy': 0.875}
    """

    sensitivity: float  # P(positive | the first)
    false_positives: float  # P(positive | the second) = 1 - specificity

    def likelihoods(self, hypotheses: Iterable[str], result: str = "positive") -> dict[str, float]:
        """P(result | hypothesis) for the two hypotheses; the result is "positive" or "negative"."""
        names = list(hypotheses)
        if len(names) != 2:
            raise ValueError(f"a test tells 2 hypotheses apart, not {len(names)}: give a likelihood for each instead")
        if result not in ("positive", "negative"):
            raise ValueError(f"a test result is 'positive' or 'negative', not {result!r}")
        rates = _checked({"sensitivity": self.sensitivity, "false positives": self.false_positives}, "test")
        return {a: p if result == "positive" else 1 - p for a, p in zip(names, rates.values())}


@dataclass(frozen=True)
class Belief:
    """How probable each hypothesis is, held as ln P(hypothesis, all evidence so far).

    Evidence is added to the logs, never multiplied, so no sequence is too long and its order does not matter.
    """

    log_joint: dict[str, float]

    @property
    def probabilities(self) -> dict[str, float]:
        """P(hypothesis | all evidence so far)."""
        total = _log_sum(self.log_joint.values())
        return {a: exp(w - total) for a, w in self.log_joint.items()}

    def odds(self, hypothesis: str) -> float:
        """P(hypothesis) / P(any other); inf when no other is possible."""
        return _exp(self.log_odds(hypothesis))

    def log_odds(self, hypothesis: str) -> float:
        """The natural log of the odds: it stays finite where the odds have become too large or small for a float."""
        others = _log_sum(w for a, w in self.log_joint.items() if a != hypothesis)
        return inf if others == -inf else self.log_joint[hypothesis] - others

    def people(self, population: int | None = None) -> "People":
        """Of `population` people drawn from the first prior, those who show all the evidence so far.

        Left out, it is 1,000, or the first power of ten above it at which whole numbers tell the story.
        """
        for size in POPULATIONS if population is None else (population,):
            people = People(size, {a: size * exp(w) for a, w in self.log_joint.items()})
            if people.whole():
                break
        return people


@dataclass(frozen=True)
class Posterior(Belief):
    """What to believe after `event`, and why; `update` makes it.

    "prince" is in 5 % of spam and in 0.25 % of other mail; 20 % of mail is spam:

    >>> seen = update({"spam": 0.2, "ham": 0.8}, {"spam": 0.05, "ham": 0.0025}, "prince")
    >>> print(f"{seen.probabilities['spam']:.4f}")
    0.8333
    >>> print(f"{seen.prior.odds('spam'):.2f} x {seen.likelihood_ratio('spam'):.0f} = {seen.odds('spam'):.0f}")
    0.25 x 20 = 5
    """

    event: str
    likelihoods: dict[str, float]  # P(event | hypothesis, evidence before)
    prior: Belief  # before this event, after the earlier ones

    @property
    def evidence(self) -> float:
        """P(event | evidence before) = Σ P(event | hypothesis) P(hypothesis)."""
        return exp(_log_sum(self.log_joint.values()) - _log_sum(self.prior.log_joint.values()))

    def likelihood_ratio(self, hypothesis: str) -> float:
        """P(event | hypothesis) / P(event | any other); nan when the others were ruled out before."""
        before = _log_sum(w for a, w in self.prior.log_joint.items() if a != hypothesis)
        after = _log_sum(w for a, w in self.log_joint.items() if a != hypothesis)
        if before == -inf:
            return nan
        return inf if after == -inf else _exp(_log(self.likelihoods[hypothesis]) - (after - before))


@dataclass(frozen=True)
class People:
    """Natural frequencies: how many of `population` show the evidence, by hypothesis."""

    population: int
    counts: dict[str, float]

    def whole(self) -> bool:
        """Whether the counts, rounded to whole people, still give every hypothesis its share to 5 %."""
        total, rounded = fsum(self.counts.values()), sum(map(round, self.counts.values()))
        return rounded > 0 and all(isclose(round(n) * total, n * rounded, rel_tol=0.05) for n in self.counts.values())

    def shown(self) -> dict[str, float]:
        """The counts as a reader wants them: whole people where that is fair, else two digits of the small ones."""
        return {a: round(n) if n >= 10 or self.whole() else float(f"{n:.2g}") for a, n in self.counts.items()}

    def share(self, hypothesis: str) -> str:
        """'1 in 11': among those who show the evidence, how many belong to the hypothesis."""
        shown = self.shown()
        total = sum(shown.values())
        return "fewer than 1" if total < 0.05 else f"{_number(shown[hypothesis])} in {_number(total)}"

    def sentence(self, noun: str = "people") -> str:
        """All counts in words, and the share of the first hypothesis."""
        shown = self.shown()
        total = _number(sum(shown.values()))
        if sum(shown.values()) < 0.05:
            return f"of {self.population:,} {noun}, fewer than 1 shows this evidence"
        *groups, last = (f"{_number(n)} {a}" for a, n in shown.items())
        listed = f"{', '.join(groups)} and {last}" if groups else last
        show = "shows" if total == "1" else "show"
        share = self.share(next(iter(shown)))
        return f"of {self.population:,} {noun}, {total} {show} this evidence: {listed}, so {share}"


def update(
    prior: Mapping[str, float] | Belief, likelihoods: Mapping[str, float], event: str = "the evidence"
) -> Posterior:
    """The posterior from P(event | hypothesis) and a prior that adds up to 1, or an earlier posterior.

    Naive Bayes: classes of .8 and .2, two words present and one absent.

    >>> print(f"{update({'a': 0.8, 'b': 0.2}, {'a': 0.3 * 0.9 * 0.2, 'b': 0.4 * 0.4 * 0.5}).probabilities['a']:.4f}")
    0.7297
    >>> update({"fair": 0.5, "two heads": 0.5}, {"fair": 0, "two heads": 0}, "edge")
    Traceback (most recent call last):
    evenodds.models.bayes_rule.ImpossibleEvidenceError: impossible evidence: every hypothesis gives 'edge' probability 0
    """
    before = prior if isinstance(prior, Belief) else _belief(prior)
    names = before.log_joint
    for a in likelihoods:
        if a not in names:
            raise ValueError(f"{event}: {a!r} is not a hypothesis; the hypotheses are {', '.join(map(repr, names))}")
    for a in names:
        if a not in likelihoods:
            raise ValueError(f"{event}: no likelihood for hypothesis {a!r}; give P({event} | {a})")
    likelihoods = _checked({a: likelihoods[a] for a in names}, event)
    joint = {a: names[a] + _log(p) for a, p in likelihoods.items()}
    if _log_sum(joint.values()) == -inf:
        every = "every hypothesis that is still possible" if any(likelihoods.values()) else "every hypothesis"
        raise ImpossibleEvidenceError(f"impossible evidence: {every} gives {event!r} probability 0")
    return Posterior(joint, event, likelihoods, before)


def normalise(joint: Mapping[str, float]) -> dict[str, float]:
    """P(a | b) from the joint P(a, b): divided by its sum, which is P(b).

    >>> normalise({"a": 0.1, "not a": 0.4})
    {'a': 0.2, 'not a': 0.8}
    """
    total = fsum(_checked(joint, "joint").values())
    if total == 0:
        raise ImpossibleEvidenceError("impossible evidence: every joint probability is 0")
    return {a: p / total for a, p in joint.items()}


def _belief(prior: Mapping[str, float]) -> Belief:
    total = fsum(_checked(prior, "prior").values())
    if not isclose(total, 1, abs_tol=1e-9):
        terms = " + ".join(f"{a} {p:g}" for a, p in prior.items())
        raise ValueError(f"the priors must add up to 1; {terms or 'nothing'} = {total:.10g}")
    return Belief({a: _log(p) for a, p in prior.items()})


def _checked(probabilities: Mapping[str, float], what: str) -> dict[str, float]:
    for name, p in probabilities.items():
        if not 0 <= p <= 1:  # refuses nan too
            raise ValueError(f"{what}: {name} = {p:g} is not a probability; expected a number from 0 to 1")
    return dict(probabilities)


def _log(p: float) -> float:
    return log(p) if p > 0 else -inf


def _exp(w: float) -> float:
    return exp(w) if w < 709 else inf  # math.exp raises where the float would be inf


def _log_sum(logs: Iterable[float]) -> float:
    logs = list(logs)
    top = max(logs, default=-inf)
    return top if top == -inf else top + log(fsum(exp(w - top) for w in logs))


def _number(n: float) -> str:
    if 0 < n < 0.05:
        return "fewer than 1"
    return f"{n:,.0f}" if n >= 1000 else f"{n:.4g}"
