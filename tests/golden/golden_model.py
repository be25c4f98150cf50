"""The model in the golden files: every family, a date's part, holes, weights, priors and settings.

`python tests/golden/golden_model.py 1` writes format-1.eo and format-1.json, and refuses to write them a second time.
"""

import json
import sys
from pathlib import Path

import numpy as np

import evenodds as eo
from evenodds import file
from evenodds.families import ZeroAndLog

HERE = Path(__file__).parent
COLUMNS = {
    "colour": eo.Column(eo.Categorical, prior=eo.Dirichlet({"red": 2, "green": 1})),
    "shape": eo.Column(eo.Categorical),
    "height": eo.Column(eo.Gaussian, variance="pooled", prior=eo.NormalInverseGamma(30.0, 1.0, 1.0, 50.0)),
    "width": eo.Column(eo.Gaussian),
    "kicks": eo.Column(eo.Poisson, prior=eo.Gamma(2.0, 1.0)),
    "flag": eo.Column(eo.Bernoulli, prior=eo.Beta(2, 3), smoothing=3.0),
    "year": eo.Column(eo.Binned, origin=2000.0, bins=3),
    "fare": eo.Column(eo.LogGaussian, prior=ZeroAndLog(eo.Beta(1, 2), eo.NormalInverseGamma(2.0, 1.0, 1.0, 1.0))),
    "day": eo.Column(role="ignore", parts=("weekday",)),
    "day.weekday": eo.Column(eo.Categorical, parts=("weekday",), source="day"),
}
N = 30
ROWS = {
    "colour": [(None, "red", "blue", "grün", "a rather long colour")[7 * i % 5] for i in range(N)],
    "shape": ["round" if i % 3 else "square" for i in range(N)],
    "height": [None if i % 7 == 3 else 25.0 + 37 * i % 40 / 4 for i in range(N)],
    "width": [11 * i % 13 / 8 for i in range(N)],
    "kicks": [i * i % 5 for i in range(N)],
    "flag": [None if i % 11 == 5 else i % 2 for i in range(N)],
    "year": [1985.0 + 11 * i % 30 for i in range(N)],
    "fare": [17 * i % 23 / 2 for i in range(N)],
    "day": [f"2024-03-{i + 1:02}" for i in range(N)],
}
CLASSES = np.array([(i * i + i // 4) % 3 - 1 for i in range(N)])
WEIGHTS = np.array([1.0, 0.5, 2.25, 1.0, 0.125] * 6)
SETTINGS = {"class_prior": {-1: 0.25, 0: 0.5, 1: 0.25}, "class_weight": {1: 2.0}, "unseen": "prior"}


def golden() -> eo.Model:
    """The model as today's code learns it."""
    nothing = eo.Model(eo.Schema(COLUMNS, "side", "int"), eo.Tally.nothing())
    return nothing.learn(ROWS, CLASSES, WEIGHTS).set(**SETTINGS)


def main() -> None:
    number = int(sys.argv[1])
    path = HERE / f"format-{number}.eo"
    if number != file.FORMAT or path.exists():
        sys.exit(f"{path.name} exists, or is not of the format {file.FORMAT} that is written today")
    model = golden()
    model.save(path)
    said = {"rows": ROWS, "classes": model.classes.tolist(), "log_proba": model.log_proba(ROWS).tolist()}
    path.with_suffix(".json").write_text(json.dumps(said, ensure_ascii=False, indent=1) + "\n")


if __name__ == "__main__":
    main()
