"""A mixture as one safe file: weights and parameters as arrays, the rest a header.

The layout is that of every `.eo` file (see `evenodds.file`), of the kind "mixture". What is read is checked until
nothing can be wrong with it later.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from evenodds.arguments import native
from evenodds.families import Bernoulli, Categorical, Gaussian, Poisson
from evenodds.labels import Labels
from evenodds.layout import axis_of
from evenodds.models.arrays import array
from evenodds.models.header import (
    a_family,
    a_flag,
    a_list,
    a_number,
    a_text,
    a_whole,
    expect,
    plain_schema,
    read_schema,
)
from evenodds.models.mixture.em import Components
from evenodds.models.mixture.factors import Factors
from evenodds.models.mixture.model import MixtureModel, Tried
from evenodds.models.mixture.normals import Normals
from evenodds.models.mixture.settings import FAMILIES, MOST_COMPONENTS, MixtureSettings
from evenodds.schema import Schema

FIGURES = ("log_likelihood", "bic", "icl")  # of each number of components that was tried; NaN where there is none
COUNTS = ("k", "parameters", "converged", "steps", "note")
PARAMETERS: dict[type[Any], tuple[str, ...]] = {
    Gaussian: ("mean", "variance"),
    Bernoulli: ("p",),
    Poisson: ("rate",),
    Categorical: ("shares",),
}
BOUNDS = {"variance": (np.finfo(float).tiny, np.inf), "p": (0.0, 1.0), "rate": (0.0, np.inf)}
FIELDS = {"format", "kind", "rows", "schema", "settings", "tried"}
LARGEST = 1e301  # of a parameter: the square of the largest number there may be
SETTINGS = {"family", "covariance", "criterion", "start", "starts", "tolerance", "most"}
CALLED = {
    "starts": "n_init",
    "tolerance": "tol",
    "most": "max_iter",
}  # what a setting is called here that the file calls otherwise


# -- as the file has it ------------------------------------------------------------------------------------------------


def parts_of(model: MixtureModel) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the header of a mixture."""
    components, settings = model.components, model.settings
    figures = [[np.nan if (x := getattr(one, name)) is None else x for name in FIGURES] for one in model.tried]
    arrays: dict[str, Any] = {
        "weights": components.weights,
        "trace": np.array(model.trace),
        "tried": np.array(figures),
    }
    if isinstance(components, Normals):
        arrays |= {"means": components.means, "covariances": components.covariances}
    else:
        for j, column in enumerate(components.columns.values()):
            arrays |= {f"column.{j}.{name}": getattr(column, name) for name in PARAMETERS[type(column)]}
            if isinstance(column, Categorical):
                arrays |= {f"column.{j}.labels.{part}": a for part, a in column.labels.arrays().items()}
    header = {
        "rows": model.rows,
        "schema": plain_schema(model.schema),
        "settings": {
            "family": settings.family.__name__,
            **{name: native(getattr(settings, CALLED.get(name, name))) for name in sorted(SETTINGS - {"family"})},
            **({} if settings.prior is None else {"prior": native(settings.prior)}),
        },
        "tried": [{name: value for name in COUNTS if (value := getattr(one, name)) is not None} for one in model.tried],
    }
    return arrays, header


# -- and back ----------------------------------------------------------------------------------------------------------


def model_of(arrays: dict[str, Any], header: dict[str, Any]) -> MixtureModel:
    """The model of a file's arrays and header; whatever does not fit together is refused."""
    expect(header, "header", FIELDS)
    schema, settings = read_schema(header["schema"]), _read_settings(header["settings"])
    if not schema.features or any(how.family is not settings.family for how in schema.features.values()):
        raise ValueError("its columns are not those of its family")
    rows, tried = a_number(header["rows"]), _read_tried(arrays, header["tried"])
    if not rows > 0:
        raise ValueError("its rows are no number of rows")
    weights = _numbers(arrays, "weights", (len(arrays["weights"]),))
    if not len(weights) or np.any(weights < 0) or not np.isclose(weights.sum(), 1.0, rtol=1e-6):
        raise ValueError("its weights do not add up to 1")
    components = _read_components(arrays, settings, schema, weights)
    steps = [one.steps for one in tried if one.k == components.k and one.steps is not None]
    if len(steps) != 1:
        raise ValueError("it does not say how it was fitted")
    trace = _numbers(arrays, "trace", (len(arrays["trace"]),), finite=False)
    if steps[0] != len(trace) - 1 or not steps[0] or not np.isfinite(trace[1:]).all() or not trace[0] < np.inf:
        raise ValueError("it has no steps, or such as never were")
    return MixtureModel(schema, settings, components, rows, tuple(map(float, trace)), tried)


def _read_components(arrays: dict[str, Any], settings: MixtureSettings, schema: Schema, weights: Any) -> Components:
    k, names = len(weights), tuple(schema.features)
    d = len(names)
    if settings.joint:
        means, covariances = _numbers(arrays, "means", (k, d)), _numbers(arrays, "covariances", (k, d, d))
        try:
            np.linalg.cholesky(covariances)
        except np.linalg.LinAlgError:
            raise ValueError("its covariances are none") from None
        tied = settings.covariance == "tied"
        if not np.array_equal(covariances, covariances.transpose(0, 2, 1)) or (tied and np.ptp(covariances, 0).any()):
            raise ValueError("its covariances are none")
        return Normals(weights, names, means, covariances, tied)
    columns: dict[str, Any] = {}
    for j, name in enumerate(names):
        if settings.family is Categorical:
            labels = axis_of("labels", f"column.{j}.labels", arrays, set())
            shares = _numbers(arrays, f"column.{j}.shares", (len(labels), k))
            if np.any(shares < 0) or not np.allclose(shares.sum(axis=0), 1.0, rtol=1e-6):
                raise ValueError("its shares do not add up to 1")
            columns[name] = Categorical(shares, cast(Labels, labels))
            continue
        given = {part: _numbers(arrays, f"column.{j}.{part}", (k,)) for part in PARAMETERS[settings.family]}
        for part, x in given.items():
            low, high = BOUNDS.get(part, (-np.inf, np.inf))
            if np.any((x < low) | (x > high)):
                raise ValueError(f"its {part} is out of bounds")
        columns[name] = settings.family(**given)
    spherical = settings.covariance == "spherical"
    if spherical and any(np.any(c.variance != columns[names[0]].variance) for c in columns.values()):
        raise ValueError("its variances differ between columns")
    return Factors(weights, columns, spherical)


def _numbers(arrays: dict[str, Any], name: str, shape: tuple[int, ...], finite: bool = True) -> Any:
    found = array(arrays, name, np.float64, shape)
    if finite and not (np.abs(found) <= LARGEST).all():
        raise ValueError(f"its array {name!r} has numbers that are none, or too large")
    return found


def _read_tried(arrays: dict[str, Any], written: Any) -> tuple[Tried, ...]:
    listed = a_list(written)
    figures = _numbers(arrays, "tried", (len(listed), len(FIGURES)), finite=False)
    found = []
    for one, line in zip(listed, figures):
        expect(one, "number of components", {"k", "note"}, frozenset(COUNTS))
        told: dict[str, Any] = {name: a_whole(one[name]) for name in ("k", "parameters", "steps") if name in one}
        if any(not 0 <= value < 2**53 for value in told.values()) or told["k"] > MOST_COMPONENTS:
            raise ValueError("its numbers of components are none")
        known = {"parameters", "converged", "steps"} <= one.keys()
        if known != bool(np.isfinite(line).all()):
            raise ValueError("a number of components that was tried has no figures")
        if known:
            told |= dict(zip(FIGURES, map(float, line))) | {"converged": a_flag(one["converged"])}
        found.append(Tried(**told, note=a_text(one["note"])))
    return tuple(found)


def _read_settings(written: Any) -> MixtureSettings:
    expect(written, "settings", SETTINGS, frozenset({"prior"}))
    return MixtureSettings(
        a_family(written["family"], FAMILIES),
        a_text(written["covariance"]),  # type: ignore[arg-type]
        a_number(written["prior"]) if "prior" in written else None,
        a_text(written["criterion"]),
        a_text(written["start"]),
        a_whole(written["starts"]),
        a_number(written["tolerance"]),
        a_whole(written["most"]),
    )
