"""The table of operations × learners, read off the learners themselves.

yes        the same bits as if the rows had been learnt together, or never: the tally is made of counts
to 1e-12   of the largest term ever added: the tally holds sums as well, or the operation multiplies
held       to 1e-12, with what is read off all rows at once (cuts, widths) held as it is
"""

from __future__ import annotations

from typing import Any

from evenodds.families import FAMILIES, Family
from evenodds.show import Frame

EXAMPLES: dict[str, Any] = {"numbers": [0.0, 1.0], "codes": ["a", "b"], "texts": ["a text"]}


def holds_sums(family: type[Family]) -> bool:
    """Whether a family's tally holds sums beside its counts."""
    return any(spec.is_sum for spec in family.tally(EXAMPLES[family.cells]).layout.specs.values())


def operations() -> Frame:
    """What can be done with each learner's tally, and how exactly; everything here is learnt in one pass."""
    exact = {family.__name__: "to 1e-12" if holds_sums(family) else "yes" for family in FAMILIES.values()}
    exact["NaiveBayes"] = "as its columns"
    exact["BayesNet"] = exact["Categorical"]  # which each of its tables is
    held = {family.__name__: "held" for family in FAMILIES.values() if family.held}
    return Frame(
        [
            {
                "learner": name,
                "add": how,
                "subtract": how,
                "fade": "to 1e-12",
                "leave one out": held.get(name, how),
                "one pass": "yes",
            }
            for name, how in sorted(exact.items())
        ]
    )
