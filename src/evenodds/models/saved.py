"""Any model from a file, whatever its kind."""

from __future__ import annotations

import os
from typing import Any

from evenodds import file
from evenodds.replacing import Path


def load(path: Path) -> Any:
    """The model that was saved in a file: a `Model` of naive Bayes, a `Bridge` or a `Regression`."""
    arrays, header = file.read(path)  # once: it may be a pipe
    if header["kind"] == "regression":
        from evenodds.models.glm.store import model_of as regression_of

        return regression_of(arrays, header, os.fspath(path))
    if header["kind"] == "bridge":
        from evenodds.models.bridge.store import model_of as bridge_of

        return bridge_of(arrays, header, os.fspath(path))
    from evenodds.models.store import model_of

    return model_of(arrays, header, os.fspath(path))
