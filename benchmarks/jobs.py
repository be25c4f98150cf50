"""The jobs that are timed and weighed: `JOBS[name](table, y)` makes ready, and gives the call to measure."""

from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.naive_bayes import CategoricalNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder

Call = Callable[[], object]
Job = Callable[[Any, Any], Call]


def to_pandas(table: Any) -> pd.DataFrame:
    """What scikit-learn is given: the frame itself, or the frame made from the Arrow table."""
    return table.to_pandas() if isinstance(table, pa.Table) else table


def _gaussian_nb_fit(table: Any, y: Any) -> Call:
    frame = to_pandas(table)
    return lambda: GaussianNB().fit(frame, y)


def _gaussian_nb_predict(table: Any, y: Any) -> Call:
    frame = to_pandas(table)
    model = GaussianNB().fit(frame, y)
    return lambda: model.predict_proba(frame)


def _categorical_nb_fit(table: Any, y: Any) -> Call:
    return lambda: CategoricalNB().fit(table, y)


def _ordinal_categorical_nb_fit(table: Any, y: Any) -> Call:
    frame = to_pandas(table)
    return lambda: make_pipeline(OrdinalEncoder(dtype=int), CategoricalNB()).fit(frame, y)


def _polars_count(table: Any, y: Any) -> Call:
    """The counts of class by value for every column, all at once, so that polars can use its threads."""
    frame = pl.from_arrow(table) if isinstance(table, pa.Table) else pl.from_pandas(table)
    assert isinstance(frame, pl.DataFrame)
    lazy = frame.with_columns(y=y).lazy()
    return lambda: pl.collect_all([lazy.group_by(["y", name]).len() for name in frame.columns])


def ours(family: str, estimate: str = "predictive", threads: int | None = None) -> Any:
    """Our naive Bayes with one family for all columns."""
    import evenodds as eo

    return eo.NaiveBayes(columns=getattr(eo, family), estimate=estimate, threads=threads)


def _our_fit(family: str) -> Job:
    def prepare(table: Any, y: Any) -> Call:
        return lambda: ours(family).fit(table, y)

    return prepare


def _our_predict(family: str, estimate: str) -> Job:
    def prepare(table: Any, y: Any) -> Call:
        model = ours(family, estimate).fit(table, y)
        return lambda: model.predict_proba(table)

    return prepare


JOBS: dict[str, Job] = {
    "GaussianNB, fit": _gaussian_nb_fit,
    "GaussianNB, predict": _gaussian_nb_predict,
    "CategoricalNB, fit": _categorical_nb_fit,
    "OrdinalEncoder + CategoricalNB, fit": _ordinal_categorical_nb_fit,
    "polars group-by": _polars_count,
    "ours, fit moments (Gaussian)": _our_fit("Gaussian"),
    "ours, fit full tally (Binned)": _our_fit("Binned"),
    "ours, fit (Categorical)": _our_fit("Categorical"),
    "ours, predict plug-in Gaussian": _our_predict("Gaussian", "mle"),
    "ours, predict Binned": _our_predict("Binned", "predictive"),
    "ours, predict Student-t": _our_predict("Gaussian", "predictive"),
}
