"""Policies as text: JSON for files, and a short form for the command line."""

from __future__ import annotations

import dataclasses
from typing import Any

from evenodds.bandits.forgetting import Fading, Windowed
from evenodds.bandits.policies import EXP3, UCB, UCB1, EpsilonGreedy, ExploreThenExploit, Greedy, Policy, Thompson
from evenodds.errors import DataError, did_you_mean
from evenodds.families import Beta, Gamma, NormalInverseGamma
from evenodds.show import plain

SHORT: dict[str, type[Policy]] = {
    "greedy": Greedy, "explore": ExploreThenExploit, "epsilon": EpsilonGreedy, "ucb": UCB, "ucb1": UCB1,
    "thompson": Thompson, "exp3": EXP3,
}  # fmt: skip
WRAPPERS: dict[str, type[Policy]] = {"window": Windowed, "fade": Fading}
CLASSES = {cls.__name__: cls for cls in (*SHORT.values(), *WRAPPERS.values())}
PRIORS: dict[str, Any] = {cls.__name__: cls for cls in (Beta, Gamma, NormalInverseGamma)}


def write(policy: Policy) -> dict[str, Any]:
    """A policy as JSON; what is as usual is left out.

    >>> write(Fading(UCB(1.5), 0.99))
    {'policy': 'Fading', 'of': {'policy': 'UCB', 'c': 1.5}, 'factor': 0.99}
    >>> read(write(Thompson(Beta(2, 3)))).prior
    Beta(a=2, b=3)
    """
    found: dict[str, Any] = {"policy": type(policy).__name__}
    for field in dataclasses.fields(policy):  # type: ignore[arg-type]
        value = getattr(policy, field.name)
        if isinstance(value, Policy):
            found["of"] = write(value)
        elif field.name == "prior" and value is not None:
            found["prior"] = {type(value).__name__: dataclasses.asdict(value)}
        elif value != field.default:
            found[field.name] = value
    return found


def read(said: Any) -> Policy:
    """The policy that such JSON says."""
    try:
        rest = dict(said)
        made = CLASSES[rest.pop("policy")]
        if "of" in rest:
            rest["policy"] = read(rest.pop("of"))
        if "prior" in rest:
            ((name, numbers),) = rest["prior"].items()
            rest["prior"] = PRIORS[name](**numbers)
        return made(**rest)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"this is no policy: {said!r:.200} ({error})") from None


def parse(text: str) -> Policy:
    """A policy as the command line names it: NAME, NAME=NUMBER, and behind @ what it forgets.

    >>> parse("ucb"), parse("epsilon=0.05"), parse("explore=450")
    (UCB(c=2.0), EpsilonGreedy(epsilon=0.05, since=inf), ExploreThenExploit(T0=450))
    >>> parse("thompson@window=500")
    Windowed(policy=Thompson(prior=None), window=500)
    """
    inner, at, outer = text.partition("@")
    name, equals, number = inner.partition("=")
    if name not in SHORT:
        raise DataError(did_you_mean(name, SHORT, "policy name"))
    fields = dataclasses.fields(SHORT[name])  # type: ignore[arg-type]
    if equals and (not fields or name == "thompson"):
        raise DataError(f"{name} takes no number")
    try:
        policy = SHORT[name](*([_number(number)] if equals else []))
        if at:
            how, _, size = outer.partition("=")
            if how not in WRAPPERS:
                raise DataError(f"behind @ expected window=ROUNDS or fade=FACTOR, not {outer!r}")
            policy = WRAPPERS[how](policy, _number(size))  # type: ignore[call-arg]
    except TypeError:
        raise DataError(f"{name} needs a number, as in {name}=100") from None
    return policy


def _number(text: str) -> float:
    """A number; a whole one as an integer, however it is written: 1e3 are rounds."""
    try:
        return plain(float(text))
    except ValueError:
        raise DataError(f"expected a number, not {text!r}") from None
