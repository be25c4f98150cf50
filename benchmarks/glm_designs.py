"""What regressions are timed on, who fits it, and where the minimum is: `benchmarks.glm_speed` measures.

Three designs. "table" is what tables are like: numbers in units of their own, from thousandths to tens of thousands,
the mean of each up to three deviations from 0, and each half made of three hidden causes, so that columns are
correlated (most by .3 to .6). "dense" is a solver's easiest case: independent standard normals. "categories" are 8
categories of 41 values, so 320 one-hot columns and the intercept.

Everyone is given what it takes best: a numpy array, or a frame of pandas categoricals (glum and ours), a sparse one-hot
matrix (scikit-learn, which has no categories), a dense one (statsmodels, which has nothing else).
"""

from collections.abc import Callable
from typing import Any

import numpy as np

NUMBERS, COLUMNS, VALUES = 50, 8, 41


def data(design: str, family: str, rows: int) -> tuple[Any, Any]:
    """The columns and the target; the same for every library."""
    rng = np.random.default_rng(0)
    x: Any
    if design == "categories":
        x = rng.integers(0, VALUES, (rows, COLUMNS)).astype(np.int8)
        effects = rng.normal(size=(COLUMNS, VALUES)) * 0.2
        score = sum(effects[j][x[:, j]] for j in range(COLUMNS)) - 0.5
    else:
        x = rng.normal(size=(rows, NUMBERS))
        if design == "table":
            share = rng.normal(size=(3, NUMBERS))
            x = (x + rng.normal(size=(rows, 3)) @ (share / np.linalg.norm(share, axis=0))) / np.sqrt(2)
        score = x @ (rng.normal(size=NUMBERS) * 0.15) - 0.5
        if design == "table":
            x += rng.uniform(-3, 3, NUMBERS)
            x *= 10.0 ** rng.uniform(-3, 4, NUMBERS)
    if family == "poisson":
        return x, rng.poisson(np.exp(score)).astype(float)
    return x, (rng.random(rows) < 1 / (1 + np.exp(-score))).astype(float)


def frame(codes: Any) -> Any:
    """Codes as a frame of pandas categoricals."""
    import pandas as pd

    names = [f"v{value:02d}" for value in range(VALUES)]
    return pd.DataFrame({f"c{j}": pd.Categorical.from_codes(codes[:, j], names) for j in range(COLUMNS)})


def one_hot(codes: Any) -> Any:
    """Codes as a sparse matrix, the first value of each column left out."""
    from scipy.sparse import csr_matrix

    place = codes.astype(np.int32) - 1 + np.arange(COLUMNS, dtype=np.int32) * (VALUES - 1)
    real = codes > 0
    ends = np.concatenate([[0], np.cumsum(real.sum(axis=1))])
    return csr_matrix((np.ones(int(ends[-1])), place[real], ends), (len(codes), COLUMNS * (VALUES - 1)))


def prepared(library: str, design: str, x: Any) -> Any:
    """The columns as a library takes them best; not timed."""
    if design != "categories":
        return x
    if library in ("scikit-learn", "scaled"):
        return one_hot(x)
    if library == "statsmodels":
        return one_hot(x).toarray()
    return frame(x)


def fitter(library: str, design: str, family: str, tolerance: float | None) -> Callable[[Any, Any], tuple[Any, float]]:
    """What fits: it returns the coefficients without the intercept, in the order of the columns, and the intercept."""
    peer: Any
    if library == "evenodds":
        import evenodds as eo

        peer = eo.GLM(eo.Poisson if family == "poisson" else eo.Bernoulli)
    elif library == "glum":
        from glum import GeneralizedLinearRegressor

        kind = "poisson" if family == "poisson" else "binomial"
        peer = GeneralizedLinearRegressor(
            family=kind, alpha=0, gradient_tol=tolerance, drop_first=design == "categories", max_iter=1000
        )
    elif library in ("scikit-learn", "scaled"):
        from sklearn.linear_model import LogisticRegression, PoissonRegressor

        told = {} if tolerance is None else {"tol": tolerance}
        if family == "poisson":
            peer = PoissonRegressor(alpha=0, max_iter=1_000, **told)
        else:
            peer = LogisticRegression(C=np.inf, max_iter=1_000, **told)
    else:
        import statsmodels.api as sm

        kind = sm.families.Poisson() if family == "poisson" else sm.families.Binomial()

        def theirs(x: Any, y: Any) -> tuple[Any, float]:
            told = {} if tolerance is None else {"tol": tolerance, "tol_criterion": "params"}
            found = sm.GLM(y, sm.add_constant(x), kind).fit(**told)
            return found.params[1:], float(found.params[0])

        return theirs

    def fit(x: Any, y: Any) -> tuple[Any, float]:
        found = peer.fit(x, y)
        return np.ravel(found.coef_), float(np.ravel(found.intercept_)[0])

    def scaled(x: Any, y: Any) -> tuple[Any, float]:
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler(with_mean=design != "categories")
        slopes, constant = fit(scaler.fit_transform(x), y)
        slopes = slopes / scaler.scale_
        return slopes, constant - (float(slopes @ scaler.mean_) if design != "categories" else 0.0)

    return scaled if library == "scaled" else fit


def deviations(design: str, x: Any) -> Any:
    """The standard deviation of each column."""
    if design != "categories":
        return np.std(x, axis=0)
    share = np.asarray(one_hot(x).mean(axis=0)).ravel()
    return np.sqrt(share * (1 - share))


def minimum(design: str, family: str, x: Any, y: Any, start: tuple[Any, float]) -> Any:
    """The coefficients of least cost, the intercept's first, by plain Newton steps until they are rounding."""
    columns = x if design != "categories" else one_hot(x).tocsc()
    scale = np.r_[1.0, deviations(design, x)]
    shift = np.mean(x, axis=0) if design == "table" else 0.0  # taken off for the digits' sake, and put back
    b = np.r_[start[1] + float(np.sum(start[0] * shift)), start[0]] * scale
    for _ in range(25):
        score = columns @ (b[1:] / scale[1:]) + (b[0] - float(np.sum(shift * b[1:] / scale[1:])))
        mean = np.exp(score) if family == "poisson" else 1 / (1 + np.exp(-score))
        away, w = mean - y, mean if family == "poisson" else mean * (1 - mean)
        gradient, hessian = np.zeros(len(b)), np.zeros((len(b), len(b)))
        step = len(y) if design == "categories" else 1 << 14
        for at in range(0, len(y), step):
            part = slice(at, at + step)
            if design == "categories":
                gradient[1:] += columns.T @ away
                hessian[1:, 1:] += (columns.T @ columns.multiply(w[:, None]).tocsc()).toarray()
                hessian[0, 1:] += columns.T @ w
            else:
                z = x[part] - shift
                gradient[1:] += z.T @ away[part]
                hessian[1:, 1:] += z.T @ (z * w[part, None])
                hessian[0, 1:] += z.T @ w[part]
        gradient[0], hessian[0, 0], hessian[1:, 0] = away.sum(), w.sum(), hessian[0, 1:]
        change = np.linalg.solve(hessian / scale / scale[:, None], gradient / scale)
        b = b - change
        if np.abs(change).max() <= 1e-12 * np.abs(b).max():
            break
    return np.r_[b[0] - float(np.sum(shift * b[1:] / scale[1:])), b[1:] / scale[1:]]


def error(spread: Any, best: Any, found: tuple[Any, float]) -> float:
    """The largest error of a coefficient times its column's deviation, as a share of the largest such product."""
    if not np.all(np.isfinite(found[0])):
        return float("inf")
    return float((np.abs(found[0] - best[1:]) * spread).max() / (np.abs(best[1:]) * spread).max())
