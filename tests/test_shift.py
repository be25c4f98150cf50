"""Shift: false alarms as rare as promised, changes found, and class shares with honest intervals."""

import numpy as np
import pytest
from scipy import stats

import evenodds as eo
from evenodds import plots
from evenodds.audit.counted import association, counts_of, missing, moved
from evenodds.audit.delong import auc
from evenodds.audit.environments import environments
from evenodds.audit.invented import marked_scans, school_grades
from evenodds.audit.judge import tally
from evenodds.audit.label_shift import label_shares, label_shift
from evenodds.audit.pair import NEW, WHERE, Marked
from evenodds.audit.shift import counted_to_compare, drift, drift_since
from evenodds.audit.stand_ins import of_model
from evenodds.audit.word_tests import came
from evenodds.bandits import Greedy, simulate
from evenodds.data.files import read
from evenodds.data.reading import Reading
from evenodds.data.sum import sum_source
from evenodds.data.titanic import titanic
from evenodds.models.label_shift import new_balance
from evenodds.schema import Schema


def rows(n, seed, age=40.0, rome=0.5):
    rng = np.random.default_rng(seed)
    return {
        "age": rng.normal(age, 10, n),
        "city": np.where(rng.random(n) < rome, "Rome", "Oslo").tolist(),
        "car": rng.random(n) < 0.3,
    }


def test_false_alarms_are_as_rare_as_promised():
    """Of 150 pairs of samples of one distribution, about 5 % are said to differ anywhere."""
    alarms = joint = 0
    for seed in range(150):
        found = drift(rows(300, seed), rows(200, 1000 + seed))
        alarms += bool(found.changed)
        joint += found.joint_p < 0.05
    assert 0.01 <= alarms / 150 <= 0.09
    assert 0.01 <= joint / 150 <= 0.09


def test_the_test_of_a_column_is_exact_enough_also_with_rare_values():
    rng = np.random.default_rng(1)
    shares = np.array([0.5, 0.3, 0.1, 0.05, 0.03, 0.01, 0.005, 0.005])
    p = [
        association(np.stack([rng.multinomial(n, shares) for n in (400, 250)], axis=1).astype(float))[0]
        for _ in range(3000)
    ]
    assert 0.04 < np.mean(np.array(p) < 0.05) < 0.06


def test_what_changed_is_named():
    found = drift(rows(2000, 0), rows(2000, 1, age=45, rome=0.55))
    assert found.changed[0] == "age"
    assert "car" not in found.changed
    assert found.joint.auc > 0.55
    assert found.joint_p < 1e-6
    assert "can tell" in found.sentences()[-1]


@pytest.mark.parametrize("n", [10, 15, 20])
def test_a_column_of_few_rows_that_moved_altogether_is_told_so(n):
    rng = np.random.default_rng(n)
    found = drift(*({"age": rng.normal(mean, 1, n)} for mean in (0, 1000)), columns={"age": eo.Binned})
    [age] = found.columns
    assert found.changed == ["age"]
    assert (age["distance"], age["V"]) == pytest.approx((1.0, 1.0))
    sides = [[n, 0], [0, n]]
    assert age["p"] == pytest.approx(stats.fisher_exact(sides).pvalue)


def test_rows_that_are_all_told_apart_are_told_so():
    found = drift({"kind": ["a"] * 200}, {"kind": ["b"] * 200})
    assert (found.joint.auc, found.joint.error, found.joint_p) == (1.0, 0.0, 0.0)
    assert "a model can tell new rows from old ones (AUC 1.000)" in found.sentences()[-1]
    same = drift({"kind": ["a"] * 200}, {"kind": ["a"] * 200})
    assert (same.joint.error, same.joint_p) == (0.0, 0.5)
    assert "cannot tell" in same.sentences()[-1]


def test_a_text_that_changed_is_a_column_that_changed():
    before = {"text": ["win a free prize now"] * 60 + ["lunch at noon"] * 60, "kind": ["a", "b"] * 60}
    after = {**before, "text": ["bitcoin wallet now"] * 60 + ["lunch at noon"] * 60}
    found = drift(before, after, columns={"text": eo.Words()})
    assert found.changed == ["text"]
    first, second, *_ = found.sentences()
    assert first == "1 of 2 columns changed: text."
    assert second.startswith("text: 5 words changed, most ")
    assert second.endswith((", from 50.0 % to 0.0 %.", ", from 0.0 % to 50.0 %."))
    assert plots.drifted(found)["data"]["values"][0] == {"column": "text", "moved": 0.5, "said": "changed"}
    alone = drift(*({"text": side["text"]} for side in (before, before)), columns={"text": eo.Words()})
    assert alone.sentences()[0] == "None of 1 column changed more than chance would have it."


def test_a_column_is_called_as_it_is_called():
    found = drift({"share%": [1.0, 2, 3] * 50}, {"share%": [7.0, 8, 9] * 50})
    assert found.sentences()[1].startswith("share%: 100.0 % of the rows moved")


def test_values_and_words_that_came_and_went():
    before = {"text": ["win a free prize now"] * 60 + ["lunch at noon"] * 60, "kind": ["a"] * 120}
    after = {"text": ["bitcoin wallet now"] * 60 + ["lunch at noon"] * 60, "kind": ["a"] * 80 + ["b"] * 40}
    found = drift(before, after, columns={"text": eo.Words()})
    told = {(row["word"], row["change"]) for row in found.words}
    assert {("bitcoin", "came"), ("prize", "went")} <= told
    assert not any(word == "lunch" for word, _ in told)
    [kind] = [row for row in found.columns if row["column"] == "kind"]
    assert kind["changed"]
    assert "new: b" in kind["said"]
    assert kind["distance"] == pytest.approx(1 / 3, abs=0.01)


def test_a_word_that_came_is_so_many_times_as_frequent():
    """In 10 of 100 texts, and then in 90 of 300: half a text more on both sides."""
    before, after = ({"text": ["sun"] * n + ["rain"] * (of - n)} for n, of in ((10, 100), (90, 300)))
    found = {row["word"]: row for row in drift(before, after, columns={"text": eo.Words()}).words}
    assert (found["sun"]["before"], found["sun"]["after"], found["sun"]["change"]) == (10, 90, "came")
    assert found["sun"]["log-ratio"] == pytest.approx(np.log((90.5 / 300) / (10.5 / 100)))
    assert found["rain"]["log-ratio"] == pytest.approx(np.log((210.5 / 300) / (90.5 / 100)))


def test_words_that_are_repeated_raise_no_false_alarm():
    """A text that says a word says it ten times: by tokens it would be ten times as sure as it is."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        texts = [["lunch " * 10 if rng.random() < 0.3 else "noon " * 10 for _ in range(120)] for _ in range(2)]
        alarms += len(drift(*({"text": some} for some in texts), columns={"text": eo.Words()}).words) > 0
    assert alarms / 60 <= 0.12


def since(model, new):
    """What changed since a model was learnt, in the rows of a table."""
    how = Reading(Schema(counted_to_compare(model).columns, WHERE))
    return drift_since(model, sum_source(Marked(read(new), NEW), how, 1)[0])


def mails(seed, n=400, **more):
    """Texts of words that are repeated within a text; more=share: a word that is in this share of them."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(60)]
    texts = []
    for _ in range(n):
        said = [f"{word} " * int(rng.geometric(0.2)) for word in words if rng.random() < 0.15]
        texts.append("".join(said) + " ".join(word for word, share in more.items() if rng.random() < share))
    return {"text": texts, "y": ["a", "b"] * (n // 2)}


@pytest.mark.parametrize("events", ["counts", "present"])
def test_words_of_a_model_raise_no_false_alarm(events):
    alarms = 0
    for seed in range(60):
        model = eo.NaiveBayes(columns={"text": eo.Words(events=events)}).fit(mails(seed), "y").model_
        alarms += bool(since(model, mails(seed + 1000)).changed)
    assert alarms / 60 <= 0.1


def test_a_word_came_by_the_exact_binomial_test_as_if_each_token_had_been_a_text():
    before, now = np.array([0.0, 3, 20, 73, 500]), np.array([12.0, 14, 31, 1, 60])
    found = came(np.stack([before, now], axis=1), np.array([400.0, 300]), 0.95)
    at_most = np.minimum(before, 400)
    assert found.p == pytest.approx(stats.binom.sf(now - 1, at_most + now, 3 / 7))
    assert found.sure.tolist() == [0, 1, 2]


def test_a_model_that_counts_words_tells_what_came_and_that_it_cannot_tell_what_went():
    model = eo.NaiveBayes(columns={"text": eo.Words()}).fit(mails(0, gone=0.3), "y").model_
    found = since(model, mails(1, prize=0.3))
    assert [(row["word"], row["change"]) for row in found.words] == [("prize", "came")]
    assert "text: 1 word came, most 'prize', from at most 0.0 % to 3" in repr(found)
    assert "text: counted by words, not by texts, so that what came can be told, and not what went." in repr(found)
    assert found.to_dict()["notes"]
    texts = eo.NaiveBayes(columns={"text": eo.Words(events="present")}).fit(mails(0, gone=0.3), "y").model_
    assert {(row["word"], row["change"]) for row in since(texts, mails(1, prize=0.3)).words} == {
        ("prize", "came"), ("gone", "went"),
    }  # fmt: skip


def test_words_of_which_nothing_is_known_are_not_tested():
    even = eo.NaiveBayes(columns={"text": eo.Words(length="normalised")}).fit(mails(0), "y").model_
    pruned = eo.NaiveBayes(columns={"text": eo.Words()}).fit(mails(0), "y").model_.prune(3)
    for model in (even, pruned):
        found = since(model, mails(1, prize=0.3))
        assert found.changed == []
        assert "so that nothing can be told of its words" in repr(found)


def test_a_model_and_no_rows_cannot_be_compared():
    model = eo.NaiveBayes().fit(rows(100, 0), "city").model_
    with pytest.raises(eo.DataError, match="has no rows"):
        since(model, {name: np.array(values)[:0] for name, values in rows(100, 1).items()})


def test_a_value_that_no_row_has_moves_nothing():
    """Of a column without holes that is how many rows lack it; counted as one row, it took a share from what moved."""
    table = np.array([[30.0, 20], [70, 80]])
    assert moved(np.vstack([table, [[0.0, 0]]])) == moved(table) > 0


@pytest.mark.parametrize("seed", range(8))
def test_what_sums_of_weights_have_lost_is_not_missing(seed):
    rng = np.random.default_rng(seed)
    sides = []
    for _ in range(2):
        columns = {"city": rng.choice(["Rome", "Oslo", "Bern"], 1000)}
        y, weights = rng.choice(["a", "b"], 1000), 7 * rng.random(1000)
        sides.append(eo.NaiveBayes().fit(columns, y, sample_weight=weights).model_)
        assert not counts_of(sides[-1], "city")[1][-1].any()
        assert missing(sides[-1], "city") == 0
    [line] = drift_since(sides[0], sides[1].tally).columns
    assert "(missing)" not in line["said"]


@pytest.mark.parametrize(("values", "before", "after"), [(2, 2000, 2000), (8, 2000, 500), (5000, 2000, 3000)])
def test_rows_that_chance_moves_have_not_moved(values, before, after):
    """Of 5,000 values, most of which are rare, half of the rows are elsewhere by chance."""
    rng, found, raw = np.random.default_rng(1), [], []
    shares = rng.dirichlet(np.full(values, 0.5))
    for _ in range(100):
        table = np.stack([rng.multinomial(n, shares) for n in (before, after)], axis=1).astype(float)
        raw.append(np.abs(np.diff(table / table.sum(axis=0), axis=1)).sum() / 2)
        found.append(moved(table[table.sum(axis=1) > 0]))
    assert np.mean(found) < min(0.05, 0.7 * np.mean(raw))
    assert moved(np.array([[before, 0.0], [0, after]])) > 0.99


def test_too_many_sites_are_refused_before_they_take_an_hour():
    people = {"name": [f"n{i}" for i in range(120)], "sex": ["f", "m"] * 60, "y": [0, 1, 1, 0] * 30}
    with pytest.raises(eo.DataError, match=r"'name' has 120 values.*at most 100 sites"):
        environments(people, "y", "name")


def test_known_rows_that_are_not_like_the_new_ones_are_told():
    """Nine in ten of the rows known to be of b are said to be, and one of ten of a: but of the new ones 99 in 100."""
    y = np.repeat(["a", "b"], 500)
    log_p = np.log(np.where((np.arange(1000) % 10 == 0)[:, None] ^ (y == "b")[:, None], [0.1, 0.9], [0.9, 0.1]))
    judged = tally(y, log_p, ["a", "b"])
    with pytest.raises(eo.DataError, match="of 'a' there would have to be fewer than none"):
        label_shares(judged, [10, 990], ["a", "b"])
    assert label_shares(judged, [100, 900], ["a", "b"]).high[0] < 0.1


def test_files_are_compared_as_tables_are(tmp_path):
    import pandas as pd

    paths = []
    for i, age in enumerate((40, 44)):
        pd.DataFrame(rows(500, i, age=age)).to_csv(tmp_path / f"{i}.csv", index=False)
        paths.append(tmp_path / f"{i}.csv")
    found, again = drift(*paths), drift(*(pd.read_csv(path) for path in paths))
    assert found.model.tally == again.model.tally
    assert found.columns["p"] == again.columns["p"]


@pytest.mark.parametrize("level", [95, 0, 1, True, np.nan, "95 %"])
def test_a_level_that_is_no_probability_is_refused(level):
    people = titanic()
    model = eo.NaiveBayes().fit(people, "survived").model_
    one, other = ({"age": np.random.default_rng(0).normal(mean, 10, 60)} for mean in (40, 60))
    played = simulate([Greedy()], [0.6, 0.5], rounds=5, runs=2)
    judged = tally(["a", "b"] * 9, np.log(np.full((18, 2), 0.5)), ["a", "b"])
    for ask in (
        lambda: drift(one, other, level=level),
        lambda: label_shift(model, read(people), level=level),
        lambda: label_shares(judged, [9, 9], ["a", "b"], level),
        lambda: of_model(model, read(people), "sex", level=level),
        lambda: auc(np.array([0.0, 2]), np.array([2.0, 0]), level),
        lambda: played.curves(level=level),
        lambda: environments(people, "survived", "sex", level=level),
        lambda: eo.Audit(by="sex", level=level),
    ):
        with pytest.raises(ValueError, match=r"level=.*: expected a probability between 0 and 1, such as 0\.95"):
            ask()


def test_what_cannot_be_compared_is_said():
    with pytest.raises(eo.DataError, match="not found"):
        drift({"a": [1, 2, 1]}, {"b": [1, 2, 1]})
    with pytest.raises(eo.DataError, match="no rows"):
        drift({"a": ["x", "y"]}, {"a": np.array([], dtype=str)})
    sides = {"a": ["x", "y"] * 20, "label": [0, 1] * 20}, {"a": ["x", "y"] * 20}
    assert drift(*sides, target="label").columns["column"] == ["a"]  # it is not known of new rows yet
    with pytest.raises(eo.DataError, match="column 'lable' not found; did you mean 'label'"):
        drift(*sides, target="lable")


# Label shift


def noisy(share, n, seed, sharp=1.0):
    """Rows of which a share is of class 1, seen through noise; and exact log p(c | x) under even shares."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    x = rng.normal(sharp * (2 * y - 1), 1.0)
    odds = 2 * sharp * x
    return y, x, np.column_stack([-np.logaddexp(0, odds), -np.logaddexp(0, -odds)])


def test_shares_by_em_are_covered_by_their_interval():
    held = 0
    for seed in range(300):
        found = new_balance(noisy(0.2, 300, seed)[2], np.log([0.5, 0.5]))
        held += abs(found.shares[1] - 0.2) <= 1.96 * found.errors[1]
    assert 0.92 <= held / 300 <= 0.98


def test_errors_of_shares_are_the_same_whichever_share_is_the_rest_of_the_others():
    p, prior = np.random.default_rng(0).dirichlet([0.3, 0.5, 0.8], 400), np.array([0.5, 0.3, 0.2])
    found = new_balance(np.log(p), np.log(prior))
    assert found.shares.argmax() == 2
    ratio = p / prior
    slope = (ratio[:, 1:] - ratio[:, :1]) / (ratio @ found.shares)[:, None]  # the first is the rest here
    covariance = np.linalg.inv(slope.T @ slope)
    np.testing.assert_allclose(found.errors**2, [covariance.sum(), *np.diag(covariance)], rtol=1e-9)


def test_shares_by_the_confusion_matrix_are_covered_by_their_interval():
    held = 0
    for seed in range(300):
        y, _, log_p = noisy(0.5, 400, seed)
        said = np.bincount(noisy(0.2, 400, 500 + seed)[2].argmax(axis=1), minlength=2)
        found = label_shares(tally(y, log_p, [0, 1]), said, [0, 1], random_state=seed)
        held += found.low[1] <= 0.2 <= found.high[1]
    assert 0.92 <= held / 300 <= 0.98


def test_a_model_adapts_to_new_shares():
    y, x, _ = noisy(0.5, 4000, 0)
    new_y, new_x, _ = noisy(0.1, 4000, 1)
    model = eo.NaiveBayes(columns=eo.Gaussian).fit(x[:, None], y)
    adapted = model.adapt(new_x[:, None])
    shares = dict(zip(adapted.classes_, np.exp(adapted.model_.log_prior)))
    assert shares[1] == pytest.approx(0.1, abs=0.02)

    def loss(one):
        return -one.predict_log_proba(new_x[:, None])[np.arange(4000), new_y].mean()

    assert loss(adapted) < loss(model) - 0.05
    assert adapted.predict_proba(new_x[:, None])[:, 1].mean() == pytest.approx(shares[1], abs=1e-6)
    tempered = eo.NaiveBayes(columns=eo.Gaussian, temper=True).fit(x[:, None], y)
    told = new_balance(tempered.predict_log_proba(new_x[:, None]), tempered.model_.log_prior)
    again = tempered.adapt(new_x[:, None]).predict_proba(new_x[:, None])
    assert again[:, 1].mean() == pytest.approx(told.shares[1], abs=1e-6)


def test_shares_that_cannot_be_told_are_refused():
    _, x, _ = noisy(0.5, 200, 0)
    blind = eo.NaiveBayes(columns=eo.Gaussian).fit(x[:, None], np.random.default_rng(0).integers(0, 2, 200))
    with pytest.raises(eo.DataError, match="do not tell how often"):
        blind.adapt(x[:, None])
    with pytest.raises(eo.DataError, match="no rows"):
        blind.model_.adapt(np.empty((0, 1)))
    even = np.log(np.full((100, 2), 0.5))
    with pytest.raises(eo.DataError, match="singular value"):
        label_shares(tally(np.arange(100) % 2, even, [0, 1]), [10, 10], [0, 1])


# Environments


def test_the_hospital_mark_is_found_out():
    found = environments(marked_scans(), "sick", "hospital")
    assert found.worst["site"] == "A"
    assert found.worst["left out"] < found.worst["seen"] - 0.2
    leaks = {row["column"]: row for row in found.leaks}
    assert leaks["mark"]["V with site"] > 0.8
    assert leaks["mark"]["evidence"] > 0.5
    assert leaks["opacity"]["V with site"] < leaks["mark"]["V with site"]


def test_evidence_that_flips_its_sign():
    rng = np.random.default_rng(2)
    site = rng.integers(0, 2, 4000)
    y = rng.integers(0, 2, 4000)
    water = rng.random(4000) < np.where(y == site, 0.8, 0.2)
    data = {"site": np.array(["land", "sea"])[site].tolist(), "water": water, "beak": rng.normal(y), "bird": y}
    found = environments(data, "bird", "site")
    assert {row["column"] for row in found.flips} == {"water"}


def test_the_log_odds_of_what_flips_are_those_of_its_four_counts():
    """400 of 500 birds of one class are on a lake, 100 of the other; at the other site it is the other way round."""
    lakes = {("land", 0): 400, ("land", 1): 100, ("sea", 0): 150, ("sea", 1): 300}
    cells = [(site, bird, "lake" if i < n else "wood") for (site, bird), n in lakes.items() for i in range(500)]
    found = environments(dict(zip(("site", "bird", "where"), map(list, zip(*cells)))), "bird", "site")
    [lake] = [row for row in found.flips if row["value"] == "lake"]
    assert (lake["for 1 at"], lake["for 0 at"]) == ("sea", "land")
    at_sea = np.log(300.5 / 200.5) - np.log(150.5 / 350.5)
    assert (lake["log-odds"], lake["log-odds there"]) == pytest.approx((at_sea, -2 * np.log(400.5 / 100.5)))


def test_words_that_flip_and_give_a_site_away():
    """A forum where "sick" is praise, a clinic where it is not; each says its own name."""
    rng = np.random.default_rng(4)
    n = 1200
    site, good = rng.integers(0, 2, n), rng.integers(0, 2, n)
    says = rng.random(n) < np.where(good == site, 0.8, 0.1)
    words = [f"{['clinic', 'forum'][s]} {'sick' if w else 'plain'} {'fine' if g else 'poor'}"
             for s, w, g in zip(site, says, good)]  # fmt: skip
    data = {"site": np.array(["clinic", "forum"])[site].tolist(), "text": words, "good": good}
    found = environments(data, "good", "site", columns={"text": eo.Words()})
    assert {row["value"] for row in found.flips} == {"sick", "plain"}
    assert {(row["word"], row["site"]) for row in found.words.rows[:2]} == {("clinic", "clinic"), ("forum", "forum")}
    assert "Give the site away: text" in repr(found)


def test_leaving_a_site_out_is_learning_the_others():
    data = marked_scans(900)
    found = environments(data, "sick", "hospital")
    hospital = np.array(data["hospital"])
    columns = {"mark": np.array(data["mark"]), "opacity": np.array(data["opacity"])}
    others = hospital != "B"
    schema = eo.NaiveBayes().fit(columns, data["sick"]).model_.schema
    model = eo.NaiveBayes(schema=schema).fit({k: v[others] for k, v in columns.items()}, data["sick"][others])
    right = np.mean(model.predict({k: v[~others] for k, v in columns.items()}) == data["sick"][~others])
    assert next(row["left out"] for row in found.sites if row["site"] == "B") == pytest.approx(right)


def test_grades_pulled_to_the_schools_history():
    found = eo.Audit(by=["school", "cohort"]).of_columns(school_grades(), "able", predicted="grade")
    both = ("school", "cohort")
    worst = found.worst(both, "1", "TPR")
    assert worst.low == "state & large"
    assert worst.sure > 0.999
    found_by = found.rates(both, "1")
    assert found_by["FPR"]["private & large"].rate > 0.5 > 0.05 > found_by["FPR"]["state & large"].rate
    for measure in ("TPR", "FPR"):  # where the teacher is believed, schools are alike
        assert abs(found_by[measure]["state & small"].rate - found_by[measure]["private & small"].rate) < 0.03
    bases = [rate.rate for rate in found_by["base rate"].values()]
    assert max(bases) - min(bases) < 0.06  # and their pupils are
