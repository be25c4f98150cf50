"""Digits of least squares on NIST's certified linear data sets, beside numpy, scikit-learn and statsmodels. `--save`.

A number is how many digits agree with the certified value, -log10 |found / certified - 1|, at most 15 (all that are
certified); of several values it is the worst. Where the certified value is 0, the cell is the largest absolute value
found. Polynomials are given to everyone as doubles, each power rounded once ("doubles"); ours takes them also as
`powers` makes them, with their rounding errors kept ("powers"). numpy and scikit-learn give no standard errors; the
residual standard deviation is formed from their residuals. scikit-learn drops directions whose singular value is below
1e-6 of the largest unless told `tol=0`, so it is there twice. statsmodels is left out, with a sentence, if it is not
installed.
"""

import csv
import json
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LinearRegression

from benchmarks import report
from benchmarks.tables import data_folder
from benchmarks.timing import there
from evenodds.models.glm.least_squares import least_squares, powers

ALL = 15.0  # certified values have 15 digits


class Problem(NamedTuple):
    """One data set: the design as double-doubles, the certified values."""

    name: str
    X: Any
    y: Any
    constant: bool
    estimates: list[float]
    errors: list[float]
    residual_sd: float


class Answer(NamedTuple):
    """What a contender says of a problem; no errors if it gives none."""

    coefficients: Any
    errors: Any
    residual_sd: float


def problems() -> list[Problem]:
    """The eight data sets, as their models say: straight lines, polynomials, and Longley's table."""
    folder = data_folder() / "nist_strd" / "linear"
    found = []
    for name, certified in json.loads((folder / "certified.json").read_text()).items():
        with (folder / f"{name}.csv").open() as file:
            columns = {k: np.array(v, float) for k, v in _columns(csv.DictReader(file)).items()}
        parameters = certified["parameters"]
        y = columns.pop("y")
        constant = "B0" in parameters
        if len(columns) > 1:
            plain = np.column_stack([np.ones(len(y)), *columns.values()])
            X = np.stack([plain, np.zeros_like(plain)])
        else:
            X = powers(columns["x"], len(parameters) - constant)[:, :, 0 if constant else 1 :]
        found.append(
            Problem(
                name,
                X,
                y,
                constant,
                [float(p["estimate"]) for p in parameters.values()],
                [float(p["sd"]) for p in parameters.values()],
                float(certified["residual_sd"]),
            )
        )
    return found


def _columns(rows: Any) -> dict[str, list[str]]:
    """The columns of a table of rows."""
    read = list(rows)
    return {name: [row[name] for row in read] for name in read[0]}


def _ours(problem: Problem, X: Any) -> Answer:
    names = [f"B{j}" for j in range(X.shape[-1])]
    fit = least_squares(lambda: [(X, problem.y, None)], names, 0 if problem.constant else None)
    variance = fit.rss / (fit.rows - fit.rank)
    return Answer(fit.coefficients, np.sqrt(variance * np.diag(fit.covariance)), math.sqrt(variance))


def _of_residuals(problem: Problem, coefficients: Any, fitted: Any) -> Answer:
    rows, p = problem.X[0].shape
    return Answer(coefficients, None, math.sqrt(float(np.square(problem.y - fitted).sum()) / (rows - p)))


def _numpy(problem: Problem) -> Answer:
    b = np.linalg.lstsq(problem.X[0], problem.y, rcond=None)[0]
    return _of_residuals(problem, b, problem.X[0] @ b)


def _sklearn(problem: Problem, tol: float = 1e-6) -> Answer:
    X = problem.X[0][:, 1:] if problem.constant else problem.X[0]
    fit = LinearRegression(fit_intercept=problem.constant, tol=tol).fit(X, problem.y)
    b = [fit.intercept_, *fit.coef_] if problem.constant else fit.coef_
    return _of_residuals(problem, np.array(b), fit.predict(X))


def _statsmodels(problem: Problem) -> Answer:
    import statsmodels.api as sm

    fit = sm.OLS(problem.y, problem.X[0]).fit()
    return Answer(fit.params, fit.bse, math.sqrt(fit.mse_resid))


CONTENDERS: dict[str, Callable[[Problem], Answer]] = {
    "ours, powers": lambda problem: _ours(problem, problem.X),
    "ours, doubles": lambda problem: _ours(problem, problem.X[0]),
    "numpy lstsq": _numpy,
    "LinearRegression": _sklearn,
    "LinearRegression, tol=0": lambda problem: _sklearn(problem, tol=0.0),
    "statsmodels OLS": _statsmodels,
}


def digits(found: Any, certified: Any) -> float | str | None:
    """The fewest correct digits; the largest absolute value, as text, if the certified ones are 0."""
    if found is None:
        return None
    pairs = list(zip(np.atleast_1d(found).tolist(), np.atleast_1d(certified).tolist()))
    if not any(c for _, c in pairs):
        return f"{max(abs(f) for f, _ in pairs):.0e}"
    return min(max(0.0, ALL if f == c else min(ALL, -math.log10(abs(f / c - 1)))) for f, c in pairs)


def shown(result: report.Result) -> str:
    """A table a quantity: a line a data set, a column a contender."""
    parts = []
    for quantity, by_problem in result["digits"].items():
        who = list(next(iter(by_problem.values())))
        rows = [[name, *(_cell(cells[one]) for one in who)] for name, cells in by_problem.items()]
        parts.append(report.table([quantity, *who], rows))
    return report.blocks(*parts)


def _cell(value: float | str | None) -> str:
    return "-" if value is None else value if isinstance(value, str) else f"{value:.1f}"


def main() -> None:
    given = report.options(__doc__).parse_args()
    statsmodels = there("statsmodels")
    if statsmodels is None:
        CONTENDERS.pop("statsmodels OLS")
    quantities = ("coefficients", "standard errors", "residual sd")
    found: dict[str, dict[str, dict[str, Any]]] = {quantity: {} for quantity in quantities}
    for problem in problems():
        for name, solve in CONTENDERS.items():
            answer = solve(problem)
            certified = (problem.estimates, problem.errors, problem.residual_sd)
            for quantity, f, c in zip(quantities, answer, certified):
                found[quantity].setdefault(problem.name, {})[name] = digits(f, c)
    peers = {} if statsmodels is None else {"statsmodels": statsmodels.__version__}
    report.finish("nist", {"digits": found, "peers": peers}, shown, given.save)


if __name__ == "__main__":
    main()
