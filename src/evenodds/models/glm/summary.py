"""A regression on one page: what was fitted, how well, and each coefficient with its error and interval."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from evenodds.errors import many, remedy
from evenodds.families import Categorical, Gaussian
from evenodds.models.glm.inference import table, uses_t
from evenodds.models.glm.prior import GaussianPrior
from evenodds.show import Figure, Frame, cell, percent, plain, printed

if TYPE_CHECKING:
    from evenodds.models.glm.regression import Regression

WORDS = {
    "newton": "Newton's method",
    "lbfgs": "L-BFGS",
    "ascent": "gradient ascent",
}
EXACT = 1e-26  # of the target's squares, below which what is left over is rounding
OVER = 1.5  # Pearson's statistic over its expectation, above which a Poisson's variance is said to be too small


class Summary:
    """The page, for a terminal (`print`) and for a notebook."""

    def __init__(self, model: Regression, level: float = 0.95) -> None:
        self.model, self.level = model, level
        self.table = table(model, level)

    @property
    def lines(self) -> list[str]:
        """What stands above the table."""
        model, totals = self.model, self.model.totals
        steps = f", {many(totals.steps, 'step')}" if totals.solver in WORDS else ""
        solver = WORDS.get(totals.solver, totals.solver)
        done = "" if totals.converged else ", not converged"
        found = [
            f"{model.family.__name__} regression of {model.schema.target!r}: {model.loss.transfer}",
            f"{many(totals.rows, 'row')}, {many(totals.rank, 'coefficient')}; {solver}{steps}{done}",
            f"log-likelihood {cell(totals.log_likelihood)}, AIC {cell(model.aic)}, BIC {cell(model.bic)}",
        ]
        if model.family is Gaussian:
            told = " (told)" if model.settings.variance is not None else f" (divisor {self._divisor()})"
            share = 1 - totals.deviance / totals.null_deviance if totals.null_deviance > 0 else np.nan
            share = round(share, 12) + 0.0  # of nothing explained, rounding may leave less than nothing
            found.append(
                f"residual sd {cell(float(np.sqrt(totals.dispersion)))}{told}; R² {cell(share)}"
                if np.isfinite(totals.dispersion)
                else "residual sd unknown: no rows are left over"
            )
        else:
            alone = "the intercept alone" if model.design.intercept else "no coefficient"
            found.append(f"deviance {cell(totals.deviance)}, of {alone} {cell(totals.null_deviance)}")
        found.append(self._prior())
        references = ", ".join(
            f"{printed(column)} = {printed(value)}" for column, value in model.design.references.items()
        )
        if references:
            found.append(f"reference: {references}")
        if model.family is Categorical:
            found.append(f"each class against {str(model.classes[0])!r}")
        elif model.classes:
            found.append(f"probability of {str(model.classes[1])!r} against {str(model.classes[0])!r}")
        return found

    def _divisor(self) -> str:
        """What the sum of squares was divided by, in words."""
        totals = self.model.totals
        if self.model.settings.prior is not None:
            return "rows - coefficients determined by the data"
        spare = totals.spare
        return (
            f"rows - coefficients = {spare:,.0f}"
            if float(spare).is_integer()
            else f"Σ weights - coefficients = {spare:,.4g}"
        )

    def _prior(self) -> str:
        settings = self.model.settings
        errors = "from the model" if settings.errors == "model" else f"robust ({settings.errors})"
        if isinstance(settings.prior, GaussianPrior):
            kind = "Gaussian prior: Laplace posterior"
        elif settings.prior == "jeffreys":
            kind = "Jeffreys' prior"
        else:
            kind = "maximum likelihood"
        judge = "Student's t" if uses_t(self.model) else "normal"
        return f"{kind}; errors {errors}, {judge}; {percent(self.level)} intervals"

    @property
    def notes(self) -> list[str]:
        """What else should be known, in sentences: of the fit, and of how far its errors can be believed."""
        found, totals = list(self.model.notes), self.model.totals
        if self.exact:
            found.append(
                "the columns give the target exactly: what is left over is rounding, so the log-likelihood, AIC, "
                "BIC, errors and all that follows from them say nothing; does a column tell the answer?"
            )
        if self.model.family.__name__ == "Poisson" and totals.spare > 0 and self.model.settings.errors == "model":
            ratio = totals.pearson / totals.spare
            if ratio > OVER:
                found.append(
                    f"the counts vary {ratio:.1f} times as much as a Poisson's (Pearson's statistic / "
                    f"{totals.spare:,.0f}), so these errors are too small; "
                    + remedy("errors='HC1' are robust", "--errors HC1 gives robust ones")
                )
        return found

    @property
    def exact(self) -> bool:
        """Whether least squares left nothing over but rounding, though it had rows to spare."""
        model, totals = self.model, self.model.totals
        if model.family is not Gaussian or model.settings.prior is not None or model.settings.variance is not None:
            return False
        constant = float(model.coefficients[0]) if model.design.intercept else 0.0  # a target may be nothing else
        squares = totals.null_deviance + totals.spare * (constant * constant)  # which overflows to infinity
        return totals.spare > 0 and totals.deviance <= EXACT * squares

    def __repr__(self) -> str:
        notes = [f"note: {note}" for note in self.notes]
        return "\n".join([*self.lines, "", repr(self._shown()), *([""] if notes else []), *notes])

    def _repr_html_(self) -> str:
        head = "<br>".join(map(html.escape, self.lines))
        notes = "".join(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
        return f"<p>{head}</p>{self._shown()._repr_html_()}{notes}"

    def _shown(self) -> Frame:
        """The table with as many decimals as each coefficient's error gives a meaning: three digits of the error."""
        rows = []
        for row in self.table.to_dicts():
            error = row.get("error")
            if error is not None and 0 < error < np.inf:
                form = f".{max(0, 2 - math.floor(math.log10(error)))}f"
                forms = dict.fromkeys(("estimate", "error", "low", "high"), form) | {"z": ".2f", "t": ".2f", "p": ".3g"}
                known = [name for name in forms if row.get(name) is not None]
                row |= {name: Figure(row[name], forms[name]) for name in known}
            rows.append(row)
        return Frame(rows)

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for JSON."""
        model, totals = self.model, self.model.totals
        return {
            "family": model.family.__name__,
            "target": model.schema.target,
            "transfer": model.loss.transfer,
            "rows": plain(totals.rows),
            "rank": totals.rank,
            "solver": totals.solver,
            "steps": totals.steps,
            "converged": totals.converged,
            "log_likelihood": totals.log_likelihood,
            "aic": model.aic,
            "bic": model.bic,
            "deviance": totals.deviance,
            "null_deviance": totals.null_deviance,
            "pearson": totals.pearson,
            "dispersion": totals.dispersion,
            "residual_degrees_of_freedom": plain(totals.spare),
            "errors": model.settings.errors,
            "level": self.level,
            "references": model.design.references,
            "classes": [str(value) for value in model.classes],
            "coefficients": self.table.to_dicts(),
            "dropped": list(model.dropped),
            "relations": list(model.relations),
            "notes": self.notes,
        }
