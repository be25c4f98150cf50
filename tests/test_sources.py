"""Wherever rows come from, the model is the same: counts exactly, sums to 1e-12."""

import operator
import shutil
from dataclasses import dataclass
from pathlib import Path

import dask.bag
import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenodds as eo
from evenodds.data import shards
from evenodds.data import spark as on_spark
from evenodds.data.files import Files
from evenodds.data.workers import Sharded
from evenodds.models.glm import rows as glm_rows
from evenodds.models.learn_many import learn_many
from evenodds.models.mixture import rows as mixture_rows
from tables import mixed

N = 1200
WORDS = {"text": eo.Words(ngrams=2), "kicks": eo.Poisson, "height": eo.Gaussian, "colour": eo.Categorical}
START = [[165.0, 15.0], [185.0, 40.0]]


@pytest.fixture(scope="module")
def frame():
    X, y = mixed(N, holes=0.05)
    drawn = np.random.default_rng(1).choice([f"word{i}" for i in range(50)], (N, 5))
    X["text"] = [" ".join(line) for line in drawn]
    full = X[["height", "age"]].fillna(X[["height", "age"]].median())
    return X.assign(level=y, tall=full["height"], old=full["age"], count=X["kicks"].fillna(0.0))


@pytest.fixture(scope="module")
def folder(frame, tmp_path_factory):
    place = tmp_path_factory.mktemp("parts")
    for i in range(3):
        rows = frame.iloc[i * N // 3 : (i + 1) * N // 3]
        pq.write_table(pa.Table.from_pandas(rows, preserve_index=False), place / f"{i}.parquet")
    return place


@pytest.fixture(scope="module")
def spark(frame):
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java 17, and there is none")
    session = on_spark.session("local[2,3]")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return session.createDataFrame(pa.Table.from_pandas(frame, preserve_index=False)).persist()


@pytest.fixture
def data(request, frame, folder):
    """The rows, as each source has them."""
    if request.param == "memory":
        return frame
    if request.param == "duckdb":
        return duckdb.sql(f"select * from '{folder}/*.parquet'")
    return request.getfixturevalue("spark") if request.param == "spark" else Parts(folder, request.param)


@pytest.fixture(autouse=True)
def nothing_is_held(monkeypatch):
    """Small as they are, rows are read again for every pass."""
    monkeypatch.setattr(glm_rows, "HELD", 0)
    monkeypatch.setattr(mixture_rows, "HELD", 0)
    monkeypatch.setattr(mixture_rows, "SAMPLE", 100)


@dataclass(frozen=True)
class Parts:
    """A folder of Parquet files, read by this process, or by one or two workers."""

    folder: Path
    by: str

    def select(self, *names):
        """Files that have these columns alone."""
        place = self.folder.with_name("-".join(names))
        place.mkdir(exist_ok=True)
        for path in self.folder.glob("*.parquet"):
            pq.write_table(pq.read_table(path, columns=list(names)), place / path.name)
        return Parts(place, self.by).source

    @property
    def source(self):
        """What an estimator is given."""
        if self.by == "files":
            return str(self.folder / "*.parquet")
        return Sharded(Files((str(self.folder / "*.parquet"),)), int(self.by.split()[0]))


def picked(data, *names):
    """Some of the columns."""
    return data[list(names)] if isinstance(data, pd.DataFrame) else data.select(*names)


def naive_bayes(data):
    return eo.NaiveBayes(WORDS).fit(picked(data, *WORDS, "flag", "wait", "level"), "level").model_.tally


def network(data):
    found = eo.BayesNet("level -> colour; level, colour -> flag").fit(picked(data, "level", "colour", "flag"))
    return list(found.model_.tallies.values())


def regression(data):
    return eo.GLM(eo.Poisson).fit(picked(data, "tall", "old", "level", "count"), "count").model_.coefficients


def mixture(data):
    rows = picked(data, "tall", "old")
    found = eo.Mixture(k=2, start=START, columns=["tall", "old"], max_iter=20, tol=1e-3).fit(rows)
    return np.concatenate([found.weights_, found.means_.ravel(), [found.log_likelihood_]])


def audit(data):
    return eo.Audit(by="colour").of_columns(picked(data, "colour", "level"), "level", predicted="level").tally


MODELS = (naive_bayes, network, regression, mixture, audit)


def same(found, expected):
    """Counts exactly, sums to 1e-12."""
    if isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)
    elif isinstance(expected, np.ndarray):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)
    else:
        assert found.layout == expected.layout
        np.testing.assert_array_equal(found.counts, expected.counts)
        np.testing.assert_allclose(found.sums[0], expected.sums[0], rtol=1e-12, atol=0)
        assert found.lists.keys() == expected.lists.keys()
        assert all(found.lists[name] == one for name, one in expected.lists.items())


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@pytest.mark.parametrize("data", ["files", "1 worker", "2 workers", "duckdb", "spark"], indirect=True)
def test_any_source_gives_the_model_of_the_rows_in_memory(data, model, frame, monkeypatch):
    monkeypatch.setattr(shards, "ROWS", 200)
    same(model(data), model(frame))


@pytest.mark.parametrize("workers", [1, 2])
def test_workers_give_the_model_of_the_rows_in_memory(workers, frame, folder, monkeypatch):
    monkeypatch.setattr(shards, "ROWS", 200)
    chosen = {**WORDS, **dict.fromkeys(("age", "fare", "tall", "old", "count"), eo.Column(role="ignore"))}
    found, _ = learn_many(Files((str(folder),)), "level", chosen, workers=workers)
    same(found.tally, naive_bayes(frame))


def dask_parts(folder):
    return dask.bag.from_sequence(sorted(map(str, folder.glob("*.parquet"))))


def part(path, *names):
    """Some columns of a file, read by itself: DuckDB's own connection is not for several threads."""
    return pq.read_table(path, columns=list(names))


DASK = {
    "naive_bayes": lambda path: eo.NaiveBayes(WORDS).fit(part(path, *WORDS, "flag", "wait", "level"), "level").model_,
    "network": lambda path: (
        eo.BayesNet("level -> colour; level, colour -> flag").fit(part(path, "level", "colour", "flag")).model_
    ),
    "audit": lambda path: eo.Audit(by="colour").of_columns(path, "level", predicted="level"),
}


@pytest.mark.parametrize("model", [naive_bayes, network, audit], ids=lambda model: model.__name__)
def test_parts_that_dask_adds_give_the_model_of_the_rows_in_memory(model, frame, folder):
    found = dask_parts(folder).map(DASK[model.__name__]).fold(operator.add).compute(scheduler="threads")
    same(list(found.tallies.values()) if model is network else found.tally, model(frame))
