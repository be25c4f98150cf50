"""An audit in plain sentences, and as a page of text."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from evenodds.audit.gaps import NOT_ALL, Gap
from evenodds.audit.protected import AND, CROSS, EVERYONE
from evenodds.audit.rates import Rate
from evenodds.errors import several
from evenodds.show import Figure, Frame, cell, percent, plain

RECORDED = "An audit sees the groups and the labels that were recorded: if the labels are unfair, fair rates are too."

if TYPE_CHECKING:
    from evenodds.audit.audited import Audited, By

OF = {
    "base rate": ("Of 100 with {}", "are {}"),
    "selection rate": ("Of 100 with {}", "are said to be {}"),
    "TPR": ("Of 100 with {} that are {}", "are said to be"),
    "FNR": ("Of 100 with {} that are {}", "are said not to be"),
    "FPR": ("Of 100 with {} that are not {}", "are said to be"),
    "PPV": ("Of 100 with {} said to be {}", "are"),
    "accuracy": ("Of 100 with {}", "are judged right"),
}


def sure(p: float) -> str:
    """How sure: never a rounded 0 or 100 %.

    >>> sure(0.9921), sure(0.99999), sure(0.31), sure(0.0000001)
    ('99.2 %', 'more than 99.9 %', '31 %', 'less than 0.1 %')
    """
    if p > 0.999 or p < 0.001:
        return "more than 99.9 %" if p > 0.5 else "less than 0.1 %"
    return percent(p, 1).replace(".0 ", " ")


def hundred(rate: Rate, level: float) -> str:
    """How many of a hundred, and between what.

    >>> hundred(Rate(805, 1795, 0.4256, 0.4716, False, 806, 991), 0.95)
    '45 (43 to 47)'
    """
    low, high = rate.interval(level)
    return f"{100 * rate.expected:.0f} ({100 * low:.0f} to {100 * high:.0f})"


def sentence(audited: Audited, by: tuple[str, ...], positive: str, gap: Gap) -> str:
    """One gap, told."""
    known, level = audited.rates(by, positive)[gap.measure], audited.reads.level
    start, end = OF[gap.measure]
    high, low = (_who(by, name) for name in (gap.high, gap.low))
    start, end = start.format(high, positive), end.format(positive)
    few = " Few rows: the smaller group is drawn towards the others." if gap.small else ""
    points = f"{100 * gap.margin:g} points"
    return (
        f"{start}, {hundred(known[gap.high], level)} {end}; of 100 with {low}, {hundred(known[gap.low], level)}. "
        f"We are {sure(gap.sure)} sure that the gap exceeds {points}.{few}"
    )


def _who(by: tuple[str, ...], group: str) -> str:
    """A group with the names of its columns.

    >>> _who(("sex", "class"), "female & 1st"), _who(("race",), "Asian & Pacific")
    ('sex female & class 1st', 'race Asian & Pacific')
    """
    values = group.split(AND, len(by) - 1) if len(by) > 1 else [group]
    return AND.join(f"{column} {value}" for column, value in zip(by, values))


def sentences(audited: Audited) -> list[str]:
    """What a person should know: of every criterion the worst pair, and that they cannot all hold."""
    found, told = [], set()
    for by, c in itertools.product(audited.subsets, audited.positive):
        for criterion, gap in audited.criteria(by, c).items():
            if gap is None or (by, c, gap.measure) in told:
                continue
            told.add((by, c, gap.measure))
            found.append(f"{CROSS.join(by)}, {criterion}: {sentence(audited, by, c, gap)}")
    if any(len(audited.groups(by)[0]) > 1 for by in audited.subsets):
        found.append(NOT_ALL)
    return found + _few(audited)


def _few(audited: Audited) -> list[str]:
    """Which groups are small, and what is marked."""
    asked = [(by, audited.rates(by, c)) for by, c in itertools.product(audited.subsets, audited.positive)]
    if not any(r.small for _, known in asked for rates in known.values() for r in rates.values()):
        return []
    least = f"{audited.reads.small:g} rows"
    few = dict.fromkeys(_who(by, name) for by, known in asked for name, r in known["base rate"].items() if r.small)
    marked = f"A rate marked ~ is of fewer than {least}: its interval is wide."
    return [*([f"Fewer than {least}: {several(list(few), between='; ')}."] if few else []), marked]


def criteria(audited: Audited, by: By | None = None, positive: Any = None) -> Frame:
    """The four criteria side by side."""
    lines = []
    for name, gap in audited.criteria(by, positive).items():
        line: dict[str, Any] = {"criterion": name}
        if gap is not None:
            low, high = gap.interval
            line |= {
                "measure": gap.measure,
                "higher": gap.high,
                "lower": gap.low,
                "gap": Figure(gap.gap, ".4f"),
                percent(audited.reads.level): f"{low:.3f} to {high:.3f}",
                f"P(gap > {audited.reads.margin:g})": sure(gap.sure),
            }
        lines.append(line)
    return Frame(lines)


def page(audited: Audited) -> str:
    """The audit as text: tables, criteria, sentences."""
    rows = audited.rates((), audited.positive[0])["base rate"][EVERYONE].n
    parts = [f"{cell(plain(rows))} {'row' if rows == 1 else 'rows'}, audited by {', '.join(audited.reads.by)}"]
    for by, c in itertools.product(audited.subsets, audited.positive):
        title = CROSS.join(by) + (f": {c}" if len(audited.positive) > 1 else "")
        parts.append(f"{title}\n{audited.table(by, c)}\n\n{criteria(audited, by, c)}")
    return "\n\n".join([*parts, "\n".join(sentences(audited))])
