"""`tune="loo"`: what each column is modelled as is chosen by how well left-out rows' classes are told."""

import dataclasses
import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import evenodds as eo
from command import invoke
from evenodds.cells import as_column
from evenodds.data.decide import decide
from evenodds.data.kept import Learnt
from evenodds.data.memory import table
from evenodds.data.sum import sum_table, target_codes
from evenodds.families import Binned, Categorical, Gaussian, Gaussians, Kernel, LogGaussian, Poisson
from evenodds.models import descent
from evenodds.models import tune as tuning
from evenodds.models.alternatives import alternatives, narrow
from evenodds.models.left_out import tempered
from evenodds.models.naive_bayes import Model
from evenodds.models.settings import Settings
from evenodds.models.tune import Tuned, tune, widened
from evenodds.schema import Column, Schema


def wide_of(x: Any, y: Any, columns: Any = None, told: Any = (), weights: Any = None, **settings: Any) -> Any:
    """The wide model of some rows, and the rows as learnt."""
    rows = table(x)
    target = target_codes(as_column(y), rows.rows)
    schema = widened(Schema(decide(rows, columns), "class", "int"), told)
    learnt = Learnt(rows, target, weights)
    return Model(schema, sum_table(rows, schema, target, weights), Settings(**settings)), learnt


def tuned(x: Any, y: Any, columns: Any = None, told: Any = (), threads: int | None = None, **settings: Any) -> Tuned:
    wide, learnt = wide_of(x, y, columns, told, **settings)
    return tune(wide, [learnt], threads, told)


def mixed(n: int, seed: int = 0) -> tuple[dict[str, Any], Any]:
    """Numbers of several shapes, a category, a flag and a text, all of which depend on the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    words = np.array(["free", "prize", "now", "lunch", "meeting", "report"])
    shares = np.array([[1, 1, 2, 3, 3, 2], [3, 3, 2, 1, 1, 2]]) / 12
    return {
        "height": rng.normal(y, 1.5),
        "income": np.exp(rng.normal(0.8 * y, 1.0)),
        "clicks": rng.poisson(1 + 1.5 * y).astype(float),
        "noise": rng.normal(size=n),
        "colour": np.array(["red", "green", "blue"])[
            (rng.integers(0, 3, n) + (y & rng.integers(0, 2, n))) % 3
        ].tolist(),
        "text": [" ".join(rng.choice(words, rng.integers(3, 12), p=shares[k])) for k in y],
    }, y


class TestAlternatives:
    def test_the_families_that_numbers_can_be(self) -> None:
        even = np.linspace(0.25, 9.75, 20)
        x = {"below": even - 1, "above": even, "count": np.tile([0.0, 3.0, 1.0, 7.0], 5)}
        wide, _ = wide_of(x, np.arange(20) % 2, dict.fromkeys(x, Column()))
        found = {name: {one.column.family for one in every if one.used} for name, every in alternatives(wide).items()}
        assert found == {
            "below": {Binned, Gaussian, Kernel},
            "above": {Binned, Gaussian, Kernel, LogGaussian},
            "count": {Binned, Gaussian, LogGaussian, Poisson},
        }

    @pytest.mark.parametrize(("step", "widths"), [(0.01, 3), (0.2, 2), (0.4, 1), (1.0, 0)])
    def test_no_kernel_is_narrower_than_the_step_to_which_values_were_rounded(self, step: float, widths: int) -> None:
        rng = np.random.default_rng(0)
        x = {"rounded": step * np.round(rng.normal(0, 2, 500) / step)}
        wide, _ = wide_of(x, rng.integers(0, 2, 500))
        assert [one.column.family for one in alternatives(wide)["rounded"]].count(Kernel) == widths

    def test_a_mixture_is_tried_where_one_is_asked_for_and_chosen_where_it_is_best(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 300)
        humps = np.where(y == 0, rng.normal(6.0 * rng.choice([-1, 1], 300), 1.0), rng.normal(0, 1.5, 300))
        x = {"humps": humps, "noise": rng.normal(size=300)}
        asked = dict.fromkeys(x, Column(components=2))
        wide, _ = wide_of(x, y, asked)
        for every in alternatives(wide).values():
            assert Column(Gaussians, components=2) in [one.column for one in every]
            assert all(one.column.family is Gaussians or one.column.components is None for one in every)
        tuned, plain = (eo.NaiveBayes(columns, tune="loo").fit(x, y) for columns in (asked, None))
        assert tuned.model_.schema.columns["humps"] == Column(Gaussians, components=2)
        assert plain.model_.schema.columns["humps"].family is not Gaussians

    @pytest.mark.parametrize("weighted", [False, True])
    def test_a_picked_tally_is_the_tally_of_the_column_alone(self, weighted: bool) -> None:
        x, y = mixed(200)
        x["height"][:3] = np.nan
        weights = np.random.default_rng(1).random(200) if weighted else None
        wide, learnt = wide_of(x, y, weights=weights)
        every = alternatives(wide)
        assert set(every) == set(x)
        for name, some in every.items():
            for one in some:
                model = narrow(wide, {name: one})
                alone = sum_table(learnt.rows, model.schema, learnt.target, weights)
                assert model.tally == alone, (name, one.column)
                assert set(model.tally.layout.specs) == set(alone.layout.specs)

    def test_told_columns_have_no_others(self) -> None:
        x, y = mixed(60)
        columns = {"height": Gaussian, "text": eo.Words(events="present"), "colour": Categorical}
        wide, _ = wide_of(x, y, columns, told=columns)
        every = alternatives(wide, columns)
        for name in columns:
            assert [one.column for one in every[name]] == [decide(table(x), columns)[name]]
        assert len(every["income"]) > 5

    def test_bare_words_say_only_that_it_is_text(self) -> None:
        x, y = mixed(60)
        wide, _ = wide_of(x, y, {"text": eo.Words()}, told=["text"])
        every = alternatives(wide, ["text"])["text"]
        assert {(one.column.words.events, one.column.words.ngrams) for one in every} == set(
            itertools.product(("counts", "present", "bernoulli", "complement"), (1, 2))
        )
        assert all(one.used for one in every)


class TestChoice:
    def test_a_gaussian_column_is_gaussian_and_a_log_normal_one_log_gaussian(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 5000)
        x = {"height": rng.normal(y, 1 + y), "income": np.exp(rng.normal(y, 1 + 0.5 * y))}
        chosen = tuned(x, y).model.schema.columns
        assert chosen["height"].family is Gaussian
        assert chosen["height"].variance == "per_class"
        assert chosen["income"].family is LogGaussian

    def test_counts_are_poisson(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 5000)
        x = {"clicks": rng.poisson(1 + 6 * y).astype(float), "others": rng.poisson(3 + 6 * y).astype(float)}
        assert {column.family for column in tuned(x, y).model.schema.columns.values()} == {Poisson}

    def test_noise_does_no_harm(self) -> None:
        rng = np.random.default_rng(0)
        y = rng.integers(0, 2, 600)
        told = rng.normal(1.5 * y)
        new_y = rng.integers(0, 2, 4000)
        new = rng.normal(1.5 * new_y)

        def loss(noise: int) -> float:
            rng = np.random.default_rng(1)
            x = {"told": told} | {f"noise{k}": rng.normal(size=600) for k in range(noise)}
            rows = {"told": new} | {f"noise{k}": rng.normal(size=4000) for k in range(noise)}
            log_p = tuned(x, y).model.log_proba(rows)
            return float(-log_p[np.arange(4000), new_y].mean())

        assert loss(10) < loss(0) + 0.01

    def test_what_is_chosen_is_what_refits_would_choose(self) -> None:
        """Every combination of one column's alternatives, each a model of its own, tempered by brute force."""
        rng = np.random.default_rng(0)  # the best two are 0.02 nats apart; other seeds have a draw
        y = rng.integers(0, 2, 150)
        x = {"income": np.exp(rng.normal(y, 1.0 + y))}
        wide, learnt = wide_of(x, y)
        found = {}
        for one in alternatives(wide)["income"]:
            if not one.used:
                continue
            schema = Schema({"income": one.column}, "class", "int")
            model = Model(schema, sum_table(learnt.rows, schema, learnt.target)).tempered(x, y)
            left = [model.forget({"income": [v]}, [c]).log_proba({"income": [v]})[0, c] for v, c in zip(x["income"], y)]
            found[one.column.described] = float(-np.mean(left))
        best = min(found, key=found.__getitem__)
        result = tune(wide, [learnt])
        assert result.model.schema.columns["income"].described == best
        told = {row["as"]: row["log loss"] for row in result.record}
        assert told[best] == pytest.approx(found[best], abs=2e-3)

    def test_the_model_is_that_of_the_chosen_schema_learnt_alone(self) -> None:
        x, y = mixed(400)
        result = tuned(x, y)
        schema = result.model.schema
        assert set(schema.columns) == set(x)
        rows = table(x)
        target = target_codes(as_column(y), rows.rows)
        alone = tempered(Model(schema, sum_table(rows, schema, target)), [Learnt(rows, target)])
        assert result.model == alone

    def test_any_number_of_threads(self) -> None:
        x, y = mixed(300)
        one, two = tuned(x, y, threads=1), tuned(x, y, threads=3)
        assert one.model == two.model
        assert one.record.to_dicts() == two.record.to_dicts()

    def test_the_order_of_columns_changes_nothing(self) -> None:
        x, y = mixed(300)
        backwards = dict(reversed(list(x.items())))
        assert dict(tuned(x, y).model.schema.columns) == dict(tuned(backwards, y).model.schema.columns)

    def test_told_columns_stay_as_told(self) -> None:
        x, y = mixed(300)
        columns = {
            "height": Column(Gaussian, variance="pooled"),
            "noise": Binned,
            "colour": Column(Categorical, smoothing=3.0),
        }
        chosen = tuned(x, y, columns, told=columns).model.schema.columns
        assert chosen["height"] == columns["height"]
        assert chosen["colour"] == columns["colour"]
        assert dataclasses.replace(chosen["noise"], smoothing=None) == Column(Binned)

    def test_the_last_column_is_not_left_out(self) -> None:
        rng = np.random.default_rng(0)
        model = tuned({"noise": rng.normal(size=200)}, rng.integers(0, 2, 200)).model
        assert len(model.schema.features) == 1

    @pytest.mark.parametrize(
        "settings", [{"estimate": "mean"}, {"prior": "flat"}, {"class_weight": "balanced"}, {"smoothing": 2.0}]
    )
    def test_under_other_settings(self, settings: dict[str, Any]) -> None:
        x, y = mixed(200)
        result = tuned(x, y, **settings)
        assert result.model.settings == Settings(**settings)
        assert np.isfinite(result.model.log_proba(x)).all()
        if "smoothing" in settings:
            assert all(column.smoothing is None for column in result.model.schema.columns.values())

    def test_a_class_of_one_row(self) -> None:
        x, y = mixed(100)
        two = tuned({name: column[1:] for name, column in x.items()}, y[1:])
        y = y.copy()
        y[0] = 2
        three = tuned(x, y)
        assert len(three.model.classes) == 3
        apart = [abs(a["log loss"] - b["log loss"]) for a, b in zip(two.record, three.record, strict=False)]
        assert max(apart[:5]) < 0.05

    @pytest.mark.parametrize("times", [np.full(60, 2), np.arange(60) % 3 + 1, np.r_[np.ones(59, int), 5]], ids=len)
    def test_weight_2_is_two_rows(self, times: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(descent, "FEW", 0)  # which rows are in a fold together is chance
        x, y = mixed(60, 1)
        x = {name: np.asarray(x[name]) for name in ("height", "income", "colour")}
        y[-1] = 2  # a class of one row, which weighs 5
        each = np.repeat(np.arange(60), times)
        twice = eo.NaiveBayes(tune="loo").fit({name: cells[each] for name, cells in x.items()}, y[each])
        heavy = eo.NaiveBayes(tune="loo").fit(x, y, sample_weight=times)
        assert heavy.model_.schema == twice.model_.schema
        assert heavy.model_.tally == twice.model_.tally
        losses = [[row["log loss"] for row in nb.tuning_] for nb in (heavy, twice)]
        np.testing.assert_allclose(losses[0], losses[1], rtol=1e-9)

    def test_luck_is_that_of_so_many_rows_as_the_weights_say(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(descent, "FEW", 0)
        x, y = mixed(60, 1)
        x, times = {name: np.asarray(x[name]) for name in ("height", "income")}, np.arange(60) % 3 + 1
        each = np.repeat(np.arange(60), times)
        gains = []
        for rows, classes, weights in (
            (x, y, times.astype(float)),
            ({name: cells[each] for name, cells in x.items()}, y[each], None),
        ):
            wide, learnt = wide_of(rows, classes, weights=weights)
            one = descent.Descent(wide, alternatives(wide), [learnt], 1)
            now = {name: one.losses(name, every[0])[0] for name, every in one.tried.items()}
            gains.append([one._gain(now[name] - one.losses(name, a)[0]) for name, e in one.tried.items() for a in e])
        np.testing.assert_allclose(gains[0], gains[1], rtol=1e-9, atol=1e-9)

    def test_more_rows_than_are_needed_are_sampled(self, monkeypatch: pytest.MonkeyPatch) -> None:
        x, y = mixed(400)
        monkeypatch.setattr(tuning, "NUMBERS", 2 * 40 * 100)
        result = tuned(x, y)
        assert result.model.temper is not None
        assert result.model.temper.rows == 400


class TestRecord:
    def test_it_tells_what_was_tried_and_chosen(self) -> None:
        x, y = mixed(300)
        result = tuned(x, y)
        rows = result.record.to_dicts()
        assert {row["column"] for row in rows} == set(x)
        for name, column in result.model.schema.columns.items():
            [chosen] = [row for row in rows if row["column"] == name and row["chosen"]]
            assert chosen["as"] == column.described
        assert len({round(row["log loss"], 3) for row in rows if row["chosen"]}) == 1
        left_out = {row["column"]: row["log loss"] for row in rows if row["as"] == "left out"}
        assert max(left_out, key=left_out.__getitem__) == "text"


class TestEstimator:
    def test_the_estimator_and_the_function_are_one(self) -> None:
        x, y = mixed(300)
        nb = eo.NaiveBayes(tune="loo").fit(x, y)
        result = tuned(x, y)
        assert nb.model_ == result.model
        assert nb.tuning_.to_dicts() == result.record.to_dicts()

    def test_a_table_and_a_file_are_tuned_alike(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(tuning, "ROWS", 2100)
        x, y = mixed(2500)
        rows = pa.table({name: pa.array(column) for name, column in (x | {"class": y}).items() if name != "text"})
        path = tmp_path / "rows.parquet"
        pq.write_table(rows, path)
        of_table, of_file = eo.NaiveBayes(tune="loo").fit(rows, "class"), eo.NaiveBayes(tune="loo").fit(path, "class")
        assert of_table.model_ == of_file.model_
        assert of_file.model_.temper.rows == 2100

    def test_it_is_saved_and_goes_on_learning(self, tmp_path: Path) -> None:
        x, y = mixed(300)
        nb = eo.NaiveBayes(tune="loo").partial_fit(x, y)
        nb.save(tmp_path / "model.eo")
        loaded = eo.NaiveBayes.load(tmp_path / "model.eo")
        assert loaded.model_ == nb.model_
        more, more_y = mixed(100, seed=1)
        schema = nb.model_.schema
        nb.partial_fit(more, more_y)
        assert nb.model_.rows == 400
        assert nb.model_.schema == schema
        assert nb.model_.temper is not None

    def test_what_was_told_is_told(self) -> None:
        x, y = mixed(200)
        x["noise"] = np.arange(200.0) % 7
        nb = eo.NaiveBayes(columns={"noise": Poisson, "income": Column(smoothing=2.0)}, tune="loo").fit(x, y)
        assert nb.model_.schema.columns["noise"] == Column(Poisson)
        assert nb.model_.schema.columns["income"].smoothing == 2.0
        everything = eo.NaiveBayes(columns=Gaussian, tune="loo").fit(np.stack([x["height"], x["noise"]], axis=1), y)
        assert set(everything.model_.schema.columns.values()) == {Column(Gaussian)}

    def test_texts_alone(self) -> None:
        x, y = mixed(200)
        nb = eo.NaiveBayes(tune="loo").fit(x["text"], y)
        assert nb.score(x["text"], y) > 0.8

    @pytest.mark.parametrize("columns", [None, {"text": eo.Words()}], ids=["decided", "told"])
    @pytest.mark.parametrize("beside", [[], ["height"]], ids=["text", "table"])
    @pytest.mark.parametrize("estimate", ["map", "mle"])
    def test_a_text_that_cannot_be_left_out_is_no_text_that_is_dropped(
        self, columns: Any, beside: list[str], estimate: str
    ) -> None:
        x, y = mixed(60)
        rows = {name: x[name] for name in [*beside, "text"]}
        rows["text"] = [f"{text} {i} {i + 1}" for i, text in enumerate(rows["text"])]
        for how in ({"tune": "loo"}, {"temper": True}):
            with pytest.raises(eo.DataError, match=r"column 'text', .* use 'mean' or 'predictive'"):
                eo.NaiveBayes(columns, estimate=estimate, **how).fit(rows, y)

    def test_a_word_that_is_none_is_refused(self) -> None:
        with pytest.raises(ValueError, match="tune='best': expected None or 'loo'"):
            eo.NaiveBayes(tune="best").fit(*mixed(20))

    def test_the_command_line_tells_what_was_chosen(self, tmp_path: Path) -> None:
        x, y = mixed(300)
        path, model = tmp_path / "rows.parquet", tmp_path / "model.eo"
        pq.write_table(pa.table({name: pa.array(column) for name, column in (x | {"class": y}).items()}), path)
        fit = ["fit", path, "-t", "class", "--tune", "-o", model]
        assert "by default  left out  tried" in invoke(*fit).stderr
        told = json.loads(invoke(*fit, "--json").stdout)["tuning"]
        for told_row, row in zip(told, eo.NaiveBayes(tune="loo").fit(path, "class").tuning_, strict=True):
            assert told_row == row | {"log loss": pytest.approx(row["log loss"])}
        assert eo.load(model).temper is not None


def test_what_an_earlier_fit_tried_does_not_stay(tmp_path: Path) -> None:
    x, path = np.arange(40.0), tmp_path / "rows.csv"
    y = (x > 17).astype(int)
    path.write_text("x,y\n" + "".join(f"{a},{b}\n" for a, b in zip(x, y)))
    for rows, target in ((x[:, None], y), (path, "y")):
        nb = eo.NaiveBayes(tune="loo").fit(rows, target)
        assert nb.tuning_.rows
        assert not hasattr(nb.set_params(tune=None).fit(rows, target), "tuning_")
