"""A DuckDB query as a source: the same model as of its rows in memory."""

import duckdb
import pytest

import evenodds as eo
from evenodds.data import query
from tables import COLUMNS, mixed


def query_of(frame, sql):
    connection = duckdb.connect()
    connection.register("rows", frame)
    return connection.sql(sql)


@pytest.mark.parametrize("rows", [1 << 17, 50])
def test_a_query_gives_the_model_of_its_rows(rows, monkeypatch):
    monkeypatch.setattr(query, "ROWS", rows)
    X, y = mixed(400)
    relation = query_of(X.assign(level=y, more=1), "select * exclude (more) from rows")
    nb, whole = eo.NaiveBayes(COLUMNS).fit(relation, "level"), eo.NaiveBayes(COLUMNS).fit(X, y)
    assert nb.model_ == whole.model_
    assert (nb.predict_proba(relation) == whole.predict_proba(X)).all()
    assert nb.fit(relation, "level").model_ == whole.model_  # it can be read again


def test_more_rows_from_a_query():
    X, y = mixed(400)
    half, rest = (query_of(X.assign(level=y), f"select * from rows {which} 200") for which in ("limit", "offset"))
    assert (
        eo.NaiveBayes(COLUMNS).fit(half, "level").partial_fit(rest, "level").model_
        == eo.NaiveBayes(COLUMNS).fit(X, y).model_
    )


def test_a_column_that_a_query_lacks_is_named():
    relation = duckdb.sql("select 1 as a, 2 as b")
    with pytest.raises(eo.DataError, match="column 'c' not found"):
        eo.NaiveBayes().fit(relation, "c")


def test_a_query_without_rows_is_refused():
    with pytest.raises(eo.DataError, match="the query has no rows"):
        eo.NaiveBayes().fit(duckdb.sql("select 1.5 x, 'a' y where false"), "y")


def test_a_regression_of_a_query():
    X, _ = mixed(400, holes=0.0)
    frame = X[["height", "age"]].assign(kicks=X["kicks"])
    glm = eo.GLM(eo.Poisson).fit(query_of(frame, "select * from rows"), "kicks")
    same = eo.GLM(eo.Poisson).fit(frame[["height", "age"]], frame["kicks"])
    assert glm.model_.coefficients == pytest.approx(same.model_.coefficients, rel=1e-9)
