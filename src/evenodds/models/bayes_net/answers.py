"""What a network answers: probabilities of one node's states, or of several nodes' together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.errors import DataError
from evenodds.families.leaves import Floats
from evenodds.models.bayes_net.tables import place
from evenodds.show import Frame, apart


class NetworkWarning(UserWarning):
    """Something about a network that a person should know."""


@dataclass(frozen=True, eq=False)
class Answer:
    """p(nodes | evidence): an array with an axis for each node, read by its states' names.

    >>> coin = Answer(("side",), (("heads", "tails"),), np.array([0.6, 0.4]))
    >>> coin["heads"]
    0.6
    >>> coin
    side        p
    heads  0.6000
    tails  0.4000
    """

    nodes: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    probabilities: Floats
    low: Floats | None = None  # of an interval for each, where the tables' own uncertainty was carried along
    high: Floats | None = None

    def __getitem__(self, values: Any) -> float:
        """The probability of these values, one for each node."""
        given = values if isinstance(values, tuple) else (values,)
        if len(given) != len(self.nodes):
            raise DataError(
                f"the answer is about {', '.join(self.nodes)}: give {len(self.nodes)} values, not {len(given)}"
            )
        where = tuple(place(node, value, states) for node, value, states in zip(self.nodes, given, self.states))
        return float(self.probabilities[where])

    def to_dict(self) -> dict[Any, float]:
        """{value: p} of one node; {(value, value): p} of several."""
        keys = self.states[0] if len(self.nodes) == 1 else list(itertools.product(*self.states))
        return dict(zip(keys, self.probabilities.ravel().tolist()))

    @property
    def most_probable(self) -> Any:
        """The value, or values, that are the most probable."""
        where = np.unravel_index(int(np.argmax(self.probabilities)), self.probabilities.shape)
        best = tuple(states[i] for states, i in zip(self.states, where))
        return best[0] if len(best) == 1 else best

    @property
    def frame(self) -> Frame:
        """A line for every value."""
        every = {"p": self.probabilities, "low": self.low, "high": self.high}
        figures = apart({name: one.ravel().tolist() for name, one in every.items() if one is not None}, self.nodes)
        return Frame(
            [
                {**dict(zip(self.nodes, values)), **{name: one[i] for name, one in figures.items()}}
                for i, values in enumerate(itertools.product(*self.states))
            ]
        )

    def __repr__(self) -> str:
        return repr(self.frame)

    def _repr_html_(self) -> str:
        return self.frame._repr_html_()


def likelihood(node: str, value: Any, states: tuple[str, ...], state_of: Callable[[str, Any], Any]) -> Floats | int:
    """Evidence about one node: the place of the value it has or, softly, how likely the finding is in each state.

    A mapping or a list says how likely; a set says that the value is one of these.
    """
    if isinstance(value, (set, frozenset)):
        value = dict.fromkeys(value, 1.0)
    if isinstance(value, Mapping):
        found = np.zeros(len(states))
        places = [place(node, state_of(node, state), states) for state in value]
        found[places] = _likelihoods(node, list(value.values()))
    elif isinstance(value, (list, tuple, np.ndarray)):
        found = _likelihoods(node, value)
        if found.shape != (len(states),):
            raise DataError(f"the evidence about {node!r} has {found.size} numbers for {len(states)} states")
    else:
        return place(node, state_of(node, value), states)
    if not np.all((found >= 0) & np.isfinite(found)) or not found.any():
        raise DataError(f"the evidence about {node!r} is {found.tolist()}: expected likelihoods, 0 or more, not all 0")
    return found


def _likelihoods(node: str, given: Any) -> Floats:
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(
            f"the evidence about {node!r} is {given!r:.80}: expected a likelihood for each state; where it is one of "
            "some values, give these as a set, {'yes', 'no'}"
        ) from None
