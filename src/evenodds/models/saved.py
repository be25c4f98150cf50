"""Any model from a file, whatever its kind."""

from __future__ import annotations

from typing import Any

from evenodds import file
from evenodds.replacing import Path


def load(path: Path) -> Any:
    """The model that was saved in a file: a `Model` of naive Bayes, which goes on learning, or a `Regression`."""
    if file.describe(path)["kind"] == "regression":
        from evenodds.models.glm.store import load as load_regression

        return load_regression(path)
    from evenodds.models.store import load as load_model

    return load_model(path)
