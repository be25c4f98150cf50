"""An audit as tables, and as plain values for JSON."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from evenodds.audit.plainly import sentences
from evenodds.audit.protected import CROSS, EVERYONE
from evenodds.audit.rates import MEASURES, Rate
from evenodds.show import Figure, Frame, apart, plain

if TYPE_CHECKING:
    from evenodds.audit.audited import Audited


def table(audited: Audited, by: tuple[str, ...], positive: str) -> Frame:
    """One line a group."""
    known, losses = audited.rates(by, positive), audited.losses(by)
    means, aucs = audited.mean_p(by, positive), audited.aucs(by, positive)
    lines, group = [], CROSS.join(by) or "group"
    for name in audited.groups(by)[0]:
        line: dict[str, Any] = {"rows": plain(known["base rate"][name].n)}
        for measure in MEASURES:
            line[measure] = _shown(known[measure][name])
        if audited.scored:
            found = aucs.get(name)
            line |= {"mean p": means.get(name), "AUC": found and found.auc, "log loss": losses[name].mean}
        lines.append({group: name, **apart(line, (group,))})
    return Frame(lines)


def lines(audited: Audited) -> Iterator[dict[str, Any]]:
    """Every number with its interval, a line each."""
    for by, c in itertools.product([(), *audited.subsets], audited.positive):
        where = {"by": CROSS.join(by), "class": c}
        for measure, known in audited.rates(by, c).items():
            for name, r in known.items():
                line = {**where, "group": name, "measure": measure, "k": plain(r.k), "n": plain(r.n)}
                line |= {"rate": r.rate, "low": r.low, "high": r.high, "small": r.small}
                if r.small:
                    low, high = r.interval(audited.reads.level)
                    line |= {"pooled": r.expected, "pooled low": low, "pooled high": high}
                yield line
        for name, a in audited.aucs(by, c).items():
            if a is not None:
                yield {**where, "group": name, "measure": "AUC", "rate": a.auc, **_ends(a.interval)}
        for name, loss in audited.losses(by).items():
            yield {**where, "group": name, "measure": "log loss", "rate": loss.mean, **_ends(loss.interval)}
        for name, mean in audited.mean_p(by, c).items():
            yield {**where, "group": name, "measure": "mean p", "rate": mean}


def to_dict(audited: Audited) -> dict[str, Any]:
    """All of it as plain values."""
    reads, classes = audited.reads, audited.positive
    criteria = [
        {"by": CROSS.join(by), "class": c, "criterion": name, **(g.to_dict() if g else {})}
        for by, c in itertools.product(audited.subsets, classes)
        for name, g in audited.criteria(by, c).items()
    ]
    honest = {
        CROSS.join(by) or EVERYONE: {
            c: {name: one.to_dict() for name, one in audited.reliability(by, c).items()} for c in classes
        }
        for by in ([(), *audited.subsets] if audited.scored else ())
    }
    return {
        "by": list(reads.by),
        "level": reads.level,
        "margin": reads.margin,
        "small": reads.small,
        "classes": list(audited.classes),
        "rates": list(lines(audited)),
        "gaps": audited.gaps.to_dicts(),
        "criteria": criteria,
        "calibration": honest,
        "sentences": sentences(audited),
    }


def _ends(interval: tuple[float, float] | None) -> dict[str, float | None]:
    return dict(zip(("low", "high"), interval or (None, None)))


def _shown(rate: Rate) -> Figure | None:
    """A share as tables show it: after ~ if of few rows, which is what the room before it is filled with."""
    return None if rate.rate is None else Figure(rate.rate, "~>7.4f" if rate.small else ".4f")
