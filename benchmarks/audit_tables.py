"""Audits of real rows: COMPAS by race, as published; adult by sex × race, by our own model; what stands in for sex.

    python -m benchmarks.audit_tables --save

The data folder is $EVENODDS_DATA, or `../shared/data` beside the repository. COMPAS: a decile of 5 or more is "high"
(ProPublica 2016); the rates that were published are asserted. Adult: naive Bayes learns the 32,561 rows of the training
file, as `NaiveBayes(temper=True)` does it, and is audited on the 16,281 of the test file. Then once more without sex
and relationship, which almost says it: the other columns still tell.
"""

from typing import Any

import pandas as pd

import evenodds as eo
from benchmarks import report
from benchmarks.tables import data_folder
from evenodds.audit import stand_ins
from evenodds.audit.plainly import sentences
from evenodds.data.files import read

PUBLISHED = {"African-American": (805, 1795, 532, 1901), "Caucasian": (349, 1488, 461, 966), "Asian": (2, 23, 3, 9),
             "Native American": (3, 8, 1, 10)}  # fmt: skip
SHOWN = ("selection rate", "TPR", "FPR", "PPV")


def compas() -> dict[str, Any]:
    """False positives and negatives by race, held against what was published."""
    rows = pd.read_csv(data_folder() / "compas" / "compas_two_years.csv.gz")
    rows["high"] = (rows["decile_score"] >= 5).astype(int)
    found = eo.Audit(by="race").of_columns(rows, "two_year_recid", predicted="high")
    rates = found.rates(("race",), "1")
    for race, (false, innocent, missed, again) in PUBLISHED.items():
        fpr, fnr = rates["FPR"][race], rates["FNR"][race]
        assert (fpr.k, fpr.n, fnr.k, fnr.n) == (false, innocent, missed, again), race
    return _kept(found)


def adult() -> dict[str, Any]:
    """A model of income, audited by sex × race; then without the columns that say sex."""
    train, test = (data_folder() / "adult" / f"adult_{part}.csv.gz" for part in ("train", "test"))
    kept: dict[str, Any] = {}
    for name, without in (("all columns", []), ("without sex, relationship", ["sex", "relationship"])):
        told = {column: eo.Column(role="ignore") for column in without}
        model = eo.NaiveBayes(columns=told or None, temper=True).fit(str(train), "income")
        found = eo.Audit(by=["sex", "race"], positive=">50K").of(model, str(test))
        instead = stand_ins.of_model(model.model_, read(str(test)), "sex")
        kept[name] = {**_kept(found), "stand_ins": instead.to_dict(), "instead": instead.sentences()}
    return kept


def _kept(found: Any) -> dict[str, Any]:
    finest, wanted = " × ".join(found.reads.by), ("k", "n", "rate", "low", "high")
    lines = [
        {name: line[name] for name in ("by", "group", "measure", *wanted)}
        for line in found.lines()
        if line["measure"] in (*SHOWN, "FNR", "accuracy") and line["by"] == finest
    ]
    return {"rates": lines, "sentences": sentences(found)}


def _rates(found: dict[str, Any]) -> str:
    """A line a group."""
    groups: dict[str, dict[str, str]] = {}
    for line in found["rates"]:
        told = "" if line["rate"] is None else f"{line['rate']:.3f} ({line['low']:.3f} to {line['high']:.3f})"
        groups.setdefault(line["group"], {})[line["measure"]] = told
    return report.table(["group", *SHOWN], [[group, *(row[m] for m in SHOWN)] for group, row in groups.items()])


def shown_compas(result: report.Result) -> str:
    """COMPAS by race."""
    return _rates(result["compas"])


def shown_adult(result: report.Result) -> str:
    """Adult: what the audit says of sex, by both, and what it says without the columns that say sex."""
    every, without = result["adult"].values()
    return report.blocks(
        report.paragraph(_of_sex(every)),
        _rates(every),
        report.paragraph("With all columns,", *every["instead"]),
        report.paragraph("Without sex and relationship:", _of_sex(without), *without["instead"]),
    )


def _of_sex(found: dict[str, Any]) -> str:
    """What the audit says of equal opportunity by sex."""
    subject = "sex, equal opportunity: "
    return next(str(said).removeprefix(subject) for said in found["sentences"] if said.startswith(subject))


def shown(result: report.Result) -> str:
    """All of it."""
    return report.blocks("COMPAS", shown_compas(result), "Adult", shown_adult(result))


def main() -> None:
    given = report.options(__doc__).parse_args()
    report.finish("audit_tables", {"compas": compas(), "adult": adult()}, shown, given.save)


if __name__ == "__main__":
    main()
