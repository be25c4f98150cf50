"""A regression as one safe file: coefficients, their covariance and the design's values as arrays, the rest a header.

The layout is that of every `.eo` file (see `evenodds.file`), of the kind "regression". What is read is checked until
nothing can be wrong with it later: shapes against the number of coefficients, numbers against being numbers.
"""

from __future__ import annotations

import dataclasses
import reprlib
from typing import Any

import numpy as np

from evenodds.arguments import native
from evenodds.families import Bernoulli, Categorical
from evenodds.labels import canonical
from evenodds.models.arrays import array, numbers, plain_texts, texts
from evenodds.models.glm.design import Design, Term
from evenodds.models.glm.losses import FAMILIES
from evenodds.models.glm.plan import Roles
from evenodds.models.glm.prior import GaussianPrior
from evenodds.models.glm.problem import Step
from evenodds.models.glm.regression import Regression
from evenodds.models.glm.separated import EITHER
from evenodds.models.glm.settings import RegressionSettings, Totals
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
from evenodds.models.validate import check_values
from evenodds.schema import Schema

WRITTEN = {"max_iter": "most", "tol": "tolerance"}  # settings that files have under another name
NUMBERS = ("rows", "log_likelihood", "deviance", "null_deviance", "pearson", "dispersion", "cost", "slope")


# -- as the file has it ------------------------------------------------------------------------------------------------


def parts_of(model: Regression) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the header of a regression."""
    schema, design, totals = model.schema, model.design, model.totals
    arrays: dict[str, Any] = {
        "coefficients": model.coefficients,
        "inside": model.inside,
        "shift": design.shift,
        "scale": design.scale,
        "infinite": np.asarray(model.infinite, np.int64),
        "totals": np.array([getattr(totals, name) for name in NUMBERS]),
        "trace": np.array([dataclasses.astuple(step) for step in model.trace], float).reshape(-1, 4),
        "dropped": np.array(model.left_out, np.int64),
        **plain_texts("classes", [canonical(value) for value in model.classes]),
    }
    if model.covariance is not None:
        arrays["covariance"] = model.covariance
    for j, term in enumerate(design.categories):
        arrays |= plain_texts(f"category.{j}", list(term.values or ()))
    settings, more = _settings(model.settings)
    header = {
        "rows": totals.rows if np.isfinite(totals.rows) else 0,
        "schema": plain_schema(schema),
        "settings": settings,
        "roles": {name: value for name, value in vars(model.roles).items() if value is not None},
        "numbers": [term.column for term in design.numbers],
        "categories": [{"column": term.column, "reference": term.reference} for term in design.categories],
        "rank": totals.rank,
        "steps": totals.steps,
        "solver": totals.solver,
        "converged": totals.converged,
        "dropped_rows": totals.dropped_rows,
        "relations": list(model.relations),
        "notes": list(model.notes),
    }
    return {**arrays, **more}, header


def _settings(settings: RegressionSettings) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings as JSON has them; a prior's arrays apart."""
    written: dict[str, Any] = {"family": settings.family.__name__}
    for name in ("intercept", "errors", "solver", "tol", "max_iter", "rate", "missing", "variance"):
        value = getattr(settings, name)
        if value is not None:
            written[WRITTEN.get(name, name)] = native(value)
    written["reference"] = {name: canonical(value) for name, value in settings.reference.items()}
    arrays: dict[str, Any] = {}
    prior = settings.prior
    if isinstance(prior, str):
        written["prior"] = prior
    elif isinstance(prior, GaussianPrior):
        written["prior"] = {}
        for name in ("mean", "precision"):
            value = getattr(prior, name)
            if isinstance(value, np.ndarray):
                arrays[f"prior.{name}"] = value
            else:
                written["prior"][name] = value if isinstance(value, dict) else float(value)
    return written, arrays


# -- and back ----------------------------------------------------------------------------------------------------------

FIELDS = {
    "format", "kind", "rows", "schema", "settings", "roles", "numbers", "categories", "rank", "steps", "solver",
    "converged", "dropped_rows", "relations", "notes",
}  # fmt: skip


def model_of(arrays: dict[str, Any], header: dict[str, Any]) -> Regression:
    """The model of a file's arrays and header; whatever does not fit together is refused."""
    expect(header, "header", FIELDS)
    schema = read_schema(header["schema"])
    settings = _read_settings(header["settings"], arrays)
    roles = _read_roles(header["roles"])
    design = _read_design(arrays, header, settings.intercept, schema)
    check_values(schema, named := texts(arrays, "classes"))
    classes = tuple(schema.values(named))
    if (settings.family in (Bernoulli, Categorical) and roles.trials is None) != (len(classes) >= 2):
        raise ValueError("its classes are not those of its family")
    outputs = len(classes) - 1 if settings.family is Categorical else 1
    width = design.width
    shape = (width,) if outputs == 1 else (width, outputs)
    coefficients, inside = (numbers(arrays, part, shape) for part in ("coefficients", "inside"))
    n = width * outputs
    covariance = None
    if "covariance" in arrays:
        covariance = numbers(arrays, "covariance", (n, n), finite=False)
        if np.isinf(covariance).any() or np.any(np.diag(covariance) < 0):
            raise ValueError("its covariance is none")
    infinite = array(arrays, "infinite", np.int64, (n,) if arrays["infinite"].size else (0,))
    if not np.isin(infinite, (-1, 0, 1, EITHER)).all():
        raise ValueError("its infinite coefficients have no sign")
    dropped = array(arrays, "dropped", np.int64, (len(arrays["dropped"]),))
    if np.any((dropped < 0) | (dropped >= width)):
        raise ValueError("it drops a column that it has not")
    figures = numbers(arrays, "totals", (len(NUMBERS),), finite=False)
    totals = Totals(
        **dict(zip(NUMBERS, map(float, figures))),
        rank=a_whole(header["rank"]),
        steps=a_whole(header["steps"]),
        solver=a_text(header["solver"]),
        converged=a_flag(header["converged"]),
        dropped_rows=a_whole(header["dropped_rows"]),
    )
    if not totals.rows > 0 or not 0 <= totals.rank <= n:
        raise ValueError("its rows or its rank are no numbers of rows or coefficients")
    if any(figure < 0 or np.isinf(figure) for figure in (totals.rows, totals.dispersion)):
        raise ValueError("its rows or the variance of its noise are less than nothing, or without end")
    trace = numbers(arrays, "trace", (len(arrays["trace"]), 4), finite=False)
    if np.any((trace[:, 0] < 0) | ~(trace[:, 0] < 2**53)):
        raise ValueError("its steps are not numbered")
    steps = tuple(Step(int(row[0]), float(row[1]), float(row[2]), float(row[3])) for row in trace)
    return Regression(
        schema,
        design,
        settings,
        roles,
        classes,
        coefficients,
        inside,
        covariance,
        totals,
        tuple(dropped.tolist()),
        tuple(a_text(one) for one in a_list(header["relations"])),
        infinite,
        tuple(a_text(one) for one in a_list(header["notes"])),
        steps,
    )


def _read_design(arrays: dict[str, Any], header: dict[str, Any], intercept: bool, schema: Schema) -> Design:
    terms = tuple(Term(a_text(column)) for column in a_list(header["numbers"]))
    categories = []
    for j, written in enumerate(a_list(header["categories"])):
        expect(written, "category", {"column", "reference"})
        values = tuple(texts(arrays, f"category.{j}"))
        reference = a_text(written["reference"])
        if reference not in values or len(set(values)) < len(values):
            raise ValueError(f"the reference of its column {reprlib.repr(written['column'])} is not one of its values")
        categories.append(Term(a_text(written["column"]), values, reference))
    kinds = {name: how.family is Categorical for name, how in schema.features.items()}
    listed = {**{t.column: False for t in terms}, **{t.column: True for t in categories}}
    wordy = any(how.family is not None and how.family.cells == "texts" for how in schema.features.values())
    if wordy or kinds != listed or len(terms) + len(categories) != len(listed):
        raise ValueError("its coefficients are not those of its columns")
    shift, scale = (numbers(arrays, part, (len(terms),)) for part in ("shift", "scale"))
    if np.any(scale <= 0):
        raise ValueError("its columns have no scale")
    return Design(terms, tuple(categories), intercept, shift, scale)


def _read_roles(written: Any) -> Roles:
    names = {field.name for field in dataclasses.fields(Roles)}
    expect(written, "roles", {"target"}, frozenset(names))
    return Roles(**{name: a_text(value) for name, value in written.items()})


def _read_settings(written: Any, arrays: dict[str, Any]) -> RegressionSettings:
    optional = frozenset({"rate", "variance", "prior"})
    expect(
        written,
        "settings",
        {"family", "intercept", "errors", "solver", *WRITTEN.values(), "missing", "reference"},
        optional,
    )
    reference = written["reference"]
    if not isinstance(reference, dict):
        raise ValueError("its references are none")
    read: dict[str, Any] = {
        "family": a_family(written["family"], FAMILIES),
        "intercept": a_flag(written["intercept"]),
        "max_iter": a_whole(written[WRITTEN["max_iter"]]),
        "tol": a_number(written[WRITTEN["tol"]]),
        "reference": {name: a_text(value) for name, value in reference.items()},
        **{name: a_text(written[name]) for name in ("errors", "solver", "missing")},
        **{name: a_number(written[name]) for name in ("rate", "variance") if name in written},
    }
    if "prior" in written:
        read["prior"] = _read_prior(written["prior"], arrays)
    return RegressionSettings(**read)


def _read_prior(written: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(written, str):
        return written
    expect(written, "prior", set(), frozenset({"mean", "precision"}))
    parts: dict[str, Any] = {}
    for name in ("mean", "precision"):
        if name not in written:
            parts[name] = arrays[f"prior.{name}"]
        elif isinstance(written[name], dict):
            parts[name] = {key: a_number(value) for key, value in written[name].items()}
        else:
            parts[name] = a_number(written[name])
    return GaussianPrior(**parts)
