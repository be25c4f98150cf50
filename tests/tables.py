"""A small table with everything in it: seven families, holes, and a class that depends on all of them."""

import numpy as np
import pandas as pd

import evenodds as eo

COLUMNS = {
    "colour": eo.Categorical,
    "flag": eo.Bernoulli,
    "kicks": eo.Poisson,
    "height": eo.Gaussian,
    "fare": eo.LogGaussian,
    "age": eo.Binned,
    "wait": eo.Exponential,
}


def mixed(n: int = 120, seed: int = 0, holes: float = 0.1) -> tuple[pd.DataFrame, pd.Series]:
    """Features of every family with holes, and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    y[: min(n, 6)] = np.arange(min(n, 6)) % 3  # every class occurs
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "blue", "grün", "a rather long colour"], n).astype(object),
            "flag": (rng.random(n) < 0.2 + 0.3 * y).astype(float),
            "kicks": rng.poisson(1.0 + y).astype(float),
            "height": rng.normal(170 + 5 * y, 8),
            "fare": np.where(rng.random(n) < 0.2, 0.0, rng.lognormal(1 + 0.5 * y, 0.8)),
            "age": rng.gamma(2.0 + y, 10.0),
            "wait": rng.exponential(2.0 + y),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < holes)
    frame["colour"] = frame["colour"].astype(object).where(frame["colour"].notna(), None)
    return frame, pd.Series(np.array(["lo", "mid", "hi"], dtype=object)[y], name="level")


def fitted(n: int = 120, seed: int = 0, **settings) -> eo.NaiveBayes:
    return eo.NaiveBayes(COLUMNS, **settings).fit(*mixed(n, seed))
