"""Fifteen published regressions, digit by digit.

    python -m benchmarks.glm_reference [--save]

Every fit of `glm/reference_fits.json` in the data folder: R's and the textbooks' data, the coefficients and standard
errors as statsmodels has them at a tolerance of 1e-14. A number is how many significant digits agree in the worst
coefficient, the worst standard error, the deviance and the log-likelihood, 15 at most.
"""

import json
import math
from typing import Any

import pandas as pd

import evenodds as eo
from benchmarks import report, tables
from evenodds.models.glm.inference import standard_errors
from evenodds.models.glm.regression import Regression

OURS = {  # their names of coefficients that we call otherwise: a yes is a flag of its own
    "Intercept": "intercept",
    "wc[yes]": "wc",
    "hc[yes]": "hc",
    "wool[B]:tension[M]": "B:M",
    "wool[B]:tension[H]": "B:H",
}
C = eo.Categorical
FORMULAS: dict[str, dict[str, Any]] = {
    "ucla_admissions_logit": {"y": "admit", "x": ["gre", "gpa", "rank"], "as": {"rank": C}},
    "ucla_awards_poisson": {"y": "num_awards", "x": ["prog", "math"], "as": {"prog": C}},
    "crabs_poisson": {"y": "satellites", "x": ["width"]},
    "crabs_logit": {"y": "some", "x": ["width"]},
    "ships_poisson": {
        "y": "incidents",
        "x": ["type", "year", "period"],
        "as": {"type": C, "year": C, "period": C},
        "exposure": "service",
    },
    "warpbreaks_poisson": {
        "y": "breaks",
        "x": ["wool", "tension", "B:M", "B:H"],
        "as": {"wool": C, "tension": C},
        "reference": {"tension": "L"},
    },
    "birthwt_logit": {"y": "low", "x": ["age", "lwt", "race", "ftv"], "as": {"race": C}},
    "medpar_poisson": {"y": "los", "x": ["hmo", "white", "type2", "type3"]},
    "menarche_binomial": {"y": "Menarche", "x": ["Age"], "trials": "Total"},
    "plasma_logit": {"y": "ESR", "x": ["fibrinogen"]},
    "default_logit": {"y": "default", "x": ["balance"]},
    "mroz_logit": {"y": "lfp", "x": ["k5", "k618", "age", "wc", "hc", "lwg", "inc"]},
    "quine_poisson": {
        "y": "Days",
        "x": ["Eth", "Sex", "Age", "Lrn"],
        "as": dict.fromkeys(["Eth", "Sex", "Age", "Lrn"], C),
    },
    "insurance_poisson": {
        "y": "Claims",
        "x": ["District", "Group", "Age"],
        "as": dict.fromkeys(["District", "Group", "Age"], C),
        "exposure": "Holders",
    },
    "ucb_loglinear": {
        "y": "Freq",
        "x": ["Admit", "Gender", "Dept"],
        "as": dict.fromkeys(["Admit", "Gender", "Dept"], C),
    },
}


def frame_of(name: str, file: str) -> pd.DataFrame:
    """The table with the columns that the formula makes of it."""
    frame = pd.read_csv(tables.data_folder() / "glm" / file)
    if name == "crabs_logit":
        frame["some"] = (frame["satellites"] > 0).astype(int)
    if name == "ships_poisson":
        frame = frame[frame["service"] > 0]
    if name == "warpbreaks_poisson":
        for level in ("M", "H"):
            frame[f"B:{level}"] = ((frame["wool"] == "B") & (frame["tension"] == level)).astype(float)
    return frame


def digits(ours: float, theirs: float) -> float:
    """Significant digits that agree, 15 at most."""
    if ours == theirs:
        return 15.0
    return min(15.0, -math.log10(abs(ours - theirs) / abs(theirs))) if theirs else -math.log10(abs(ours))


def fit(name: str, reference: dict[str, Any]) -> Regression:
    """Our fit of a formula."""
    how, family = FORMULAS[name], eo.Poisson if reference["family"] == "poisson" else eo.Bernoulli
    frame = frame_of(name, reference["file"])
    extra = {role: frame[how[role]] for role in ("exposure", "trials") if role in how}
    references = how.get("reference") or bases(name, reference, how, frame)
    glm = eo.GLM(family, columns=how.get("as"), reference=references)
    return glm.fit(frame[how["x"]], frame[how["y"]], **extra).model_


def bases(name: str, reference: dict[str, Any], how: dict[str, Any], frame: pd.DataFrame) -> dict[str, Any]:
    """The reference of each category: the value that has no coefficient."""
    found = {}
    for column in how.get("as", {}):
        values = {str(value) for value in frame[column].unique()}
        named = {name.partition("[")[2].rstrip("]") for name in reference["coef"] if name.startswith(f"{column}[")}
        (found[column],) = values - named
    return found


def judged(name: str, reference: dict[str, Any]) -> dict[str, float]:
    """The digits of one fit."""
    model = fit(name, reference)
    errors = dict(zip(model.names, standard_errors(model).tolist()))
    pairs = {OURS.get(theirs, theirs): theirs for theirs in reference["coef"]}
    assert len(pairs) == len(model.names), f"{name}: {model.names} and {list(reference['coef'])}"
    return {
        "coefficients": min(digits(model[ours], reference["coef"][theirs]) for ours, theirs in pairs.items()),
        "errors": min(digits(errors[ours], reference["se"][theirs]) for ours, theirs in pairs.items()),
        "deviance": digits(model.totals.deviance, reference["deviance"]),
        "null deviance": digits(model.totals.null_deviance, reference["null_deviance"]),
        "log-likelihood": digits(model.totals.log_likelihood, reference["loglik"]),
    }


def shown(result: report.Result) -> str:
    """Every fit."""
    found = result["digits"]
    columns = list(next(iter(found.values())))
    rows = [[name, *(f"{row[column]:.1f}" for column in columns)] for name, row in found.items()]
    return report.table(["digits", *columns], rows)


def worst(result: report.Result) -> str:
    """The least of them in a sentence."""
    found = result["digits"].values()
    least = {what: math.floor(min(row[what] for row in found)) for what in ("coefficients", "errors")}
    return report.paragraph(
        f"{len(found)} published regressions agree with statsmodels at its tightest in at least",
        f"{least['coefficients']} digits of every coefficient and {least['errors']} of every standard error",
        "([benchmarks](../benchmarks/README.md#regressions-digits)).",
    )


def main() -> None:
    given = report.options(__doc__).parse_args()
    references = json.loads((tables.data_folder() / "glm" / "reference_fits.json").read_text())["fits"]
    found = {name: judged(name, reference) for name, reference in references.items()}
    report.finish("glm_reference", {"digits": found}, shown, given.save)


if __name__ == "__main__":
    main()
