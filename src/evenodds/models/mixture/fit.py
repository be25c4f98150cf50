"""A mixture from its rows: several starts on a sample, the best goes on over all rows; and how many components."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenodds.errors import DataError, warn
from evenodds.families.distribution import Seed, generator
from evenodds.kernel import compiler
from evenodds.models.alone import alone
from evenodds.models.mixture.em import Components, Run, em
from evenodds.models.mixture.factors import Factors, over
from evenodds.models.mixture.model import MixtureModel, Tried
from evenodds.models.mixture.priors import CollapsedError, Prior
from evenodds.models.mixture.rows import MixtureRows, Survey, survey
from evenodds.models.mixture.settings import MixtureSettings
from evenodds.models.mixture.start import chosen_rows, started

SHORT = 15  # steps after which starts are compared (Biernacki, Celeux and Govaert 2003)


def fit_mixture(
    rows: MixtureRows,
    settings: MixtureSettings,
    ks: list[int],
    random_state: Seed = None,
    threads: int | None = None,
    start: Components | list[Any] | None = None,
) -> tuple[MixtureModel, Survey]:
    """The mixture of the rows, with as many components as the criterion likes best, from a given `start` or several."""
    compiler()  # a pass is never few numbers
    with alone():
        found = survey(rows, threads)
        fitter = _Fitter(found, settings, generator(random_state), start)
        return fitter.chosen(ks), found


@dataclass(frozen=True, eq=False)
class _Fitter:
    survey: Survey
    settings: MixtureSettings
    rng: np.random.Generator
    start: Components | list[Any] | None

    def chosen(self, ks: list[int]) -> MixtureModel:
        """The best number of components."""
        different = self.survey.sample.rows
        able = [k for k in ks if k <= different]
        if not able:
            shown = "one sample" if self.survey.telling == 1 else f"{self.survey.telling:,} rows"
            raise DataError(
                f"{shown}, {different:,} of them different, cannot tell {min(ks):,} components apart: "
                f"ask for at most {different:,}"
            )
        runs: dict[int, Run] = {}
        tried = []
        failed: CollapsedError | None = None
        for k in able:
            try:
                runs[k] = self._run(k)
                tried.append(self._tried(k, runs[k]))
            except CollapsedError as collapsed:
                failed = collapsed
                tried.append(Tried(k, note=collapsed.sentence(k, self.settings.prior)))
        if not runs:
            assert failed is not None
            raise DataError(failed.sentence(able[-1], self.settings.prior))
        best = min((one for one in tried if one.bic is not None), key=lambda one: getattr(one, self.settings.criterion))
        return self._model(runs[best.k], tuple(tried))

    def _prior(self, strength: float | None) -> Prior:
        return Prior(self.survey.columns, strength, self.settings.family)

    def _run(self, k: int) -> Run:
        """The best of several starts; those that collapse are left."""
        settings, found = self.settings, self.survey
        prior = self._prior(settings.prior)
        # a value that the sample lacks must stay possible
        gently = prior if found.small or prior.strength is not None else self._prior(1.0)
        sample = lambda work: [work(found.sample)]  # noqa: E731
        if self.start is not None:
            return em(self._given(prior), found.each, prior, settings.tol, settings.max_iter)
        runs: list[Run] = []
        collapsed: CollapsedError | None = None
        for begin in self._starts(k, gently):
            try:
                runs.append(em(begin, sample, gently, settings.tol, min(SHORT, settings.max_iter)))
            except CollapsedError as error:
                collapsed = error
        for run in sorted(runs, key=lambda run: -run.objective):
            try:
                if not found.small:
                    run = em(run.components, sample, gently, settings.tol, settings.max_iter)
                before = run.trace[:-1] if found.small else ()
                done = em(run.components, found.each, prior, settings.tol, settings.max_iter - len(before))
                return dataclasses.replace(done, trace=(*before, *done.trace))
            except CollapsedError as error:
                collapsed = error
        assert collapsed is not None
        raise collapsed

    def _given(self, prior: Prior) -> Components:
        """The start that was given: components, or a row for each."""
        assert self.start is not None
        if isinstance(self.start, list):
            return started(self.start, prior, self.settings)
        return over(self.start, prior) if isinstance(self.start, Factors) else self.start

    def _starts(self, k: int, prior: Prior) -> list[Components]:
        sample, far = self.survey.sample, self.settings.start == "k-means++"
        found = []
        for _ in range(1 if k == 1 else self.settings.n_init):
            rows = chosen_rows(sample, k, prior, far, self.rng)
            found.append(started([x[rows] for x in sample.columns], prior, self.settings))
        return found

    def _tried(self, k: int, run: Run) -> Tried:
        free, log = run.components.parameters, run.expected.log_likelihood
        bic = free * np.log(max(self.survey.weight, 1.0)) - 2 * log
        return Tried(k, log, free, float(bic), float(bic + 2 * run.expected.entropy), run.converged, run.steps)

    def _model(self, run: Run, tried: tuple[Tried, ...]) -> MixtureModel:
        components = run.components
        if self.start is None:
            components = components.ordered(np.argsort(-components.weights, kind="stable"))
        model = MixtureModel(self.survey.schema, self.settings, components, self.survey.weight, run.trace, tried)
        if not run.converged:
            from sklearn.exceptions import ConvergenceWarning

            warn(model.notes[0], ConvergenceWarning)
        return model
