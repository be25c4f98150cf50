"""What stands in for a group: columns and words that tell it, with their share of the evidence."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import evenodds as eo
from evenodds.audit.counted import association, association_within, exact, lumped, means, moments_of
from evenodds.audit.crossed import cross
from evenodds.audit.stand_ins import evidence, of_model
from evenodds.audit.word_tests import _few_false, bonferroni, holm, word_tests
from evenodds.data.files import read


def people(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, n)
    y = (rng.random(n) < 0.3 + 0.3 * sex).astype(int)
    return pd.DataFrame(
        {
            "sex": np.where(sex, "m", "f"),
            "job": np.where(rng.random(n) < np.where(sex, 0.9, 0.1), "smith", "nurse"),  # the group, once more
            "thrift": rng.normal(y, 1.0),  # the class alone
            "noise": rng.integers(0, 4, n),
            "y": y,
        }
    )


def test_a_column_that_tells_the_group_is_named():
    rows = people()
    model = eo.NaiveBayes().fit(rows.drop(columns="sex"), "y").model_
    found = of_model(model, read(rows), "sex")
    assert found.named == ["job", "thrift"]
    line = {row["column"]: row for row in found.columns}
    assert line["job"]["in class"]
    assert not line["thrift"]["in class"]  # it tells the group only by way of the class
    assert line["job"]["V"] == pytest.approx(0.8, abs=0.03)
    assert sum(row["evidence"] for row in found.columns) == pytest.approx(1.0)
    assert found.share == pytest.approx(line["job"]["evidence"] + line["thrift"]["evidence"])
    assert line["noise"]["evidence"] < 0.01
    assert "a model without sex still has that" in found.sentences()[-1]
    with_it = of_model(eo.NaiveBayes().fit(rows, "y").model_, read(rows), "sex")
    assert with_it.sentences()[0].startswith("sex itself carries")
    assert "sex" not in with_it.named


def test_words_that_stand_in_for_a_group():
    rng = np.random.default_rng(1)
    n = 600
    sex, y = rng.integers(0, 2, n), rng.integers(0, 2, n)
    club = np.where(rng.random(n) < 0.5, np.where(sex, "rugby", "netball"), "chess")
    grade = np.where(rng.random(n) < np.where(y, 0.9, 0.2), "distinction", "pass")
    rows = pd.DataFrame({"cv": [f"captain of {a} {b}" for a, b in zip(club, grade)], "sex": sex, "hired": y})
    model = eo.NaiveBayes(columns={"cv": eo.Words()}).fit(rows[["cv", "hired"]], "hired").model_
    found = of_model(model, read(rows), "sex")
    assert {(row["word"], row["group"]) for row in found.words} == {("rugby", "1"), ("netball", "0")}
    assert all(row["evidence"] == 0.0 for row in found.words)  # they tell nothing of the class
    assert found.named == ["cv"]
    assert "rugby (1)" in " ".join(found.sentences())


def test_a_word_that_stands_in_is_so_many_times_as_frequent_as_elsewhere():
    """Of 100 women 80 say it, of 200 men 40: half a text more of each, of one text more."""
    says = ["captain" if i < n else "member" for n, of in ((80, 100), (40, 200)) for i in range(of)]
    rows = pd.DataFrame({"cv": says, "sex": ["f"] * 100 + ["m"] * 200, "hired": np.arange(300) % 2})
    model = eo.NaiveBayes(columns={"cv": eo.Words()}).fit(rows[["cv", "hired"]], "hired").model_
    found = {row["word"]: row for row in of_model(model, read(rows), "sex").words}
    assert (found["captain"]["group"], found["member"]["group"]) == ("f", "m")
    assert found["captain"]["log-ratio"] == pytest.approx(np.log((80.5 / 101) / (40.5 / 201)))
    assert found["member"]["log-ratio"] == pytest.approx(np.log((160.5 / 201) / (20.5 / 101)))


def test_nothing_stands_in_where_nothing_does():
    """Of 60 tables in which nothing tells the group, about 5 % name a column, whatever its effect."""
    alarms = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        rows = pd.DataFrame({"a": rng.integers(0, 3, 400), "b": rng.normal(size=400), "y": rng.integers(0, 2, 400)})
        rows["g"] = rng.choice(["u", "v"], 400)
        found = of_model(eo.NaiveBayes().fit(rows.drop(columns="g"), "y").model_, read(rows), "g")
        alarms += bool(found.named)
        if not found.named:
            assert found.sentences()[-1] == "No other column tells g: none stands in for it."
            assert found.share == 0.0
    assert alarms / 60 <= 0.12


def test_the_tally_of_class_and_group_has_both_sides():
    rows = people(500)
    model = eo.NaiveBayes().fit(rows.drop(columns="sex"), "y").model_
    of, report = cross(read(rows), model.schema, "sex")
    assert report.rows == 500
    assert of.whole.tally == model.tally
    women = rows[rows.sex == "f"].drop(columns="sex")
    alone = model._with(model.tally - model.tally).learn(women.drop(columns="y"), women["y"])
    assert of.without("m").tally == alone.tally
    assert (of.without("f") + of.without("m")).tally == of.without("x").tally == of.whole.tally


def test_evidence_is_mutual_information():
    table = np.array([[30.0, 10, 5], [20, 20, 15]])
    exact = stats.entropy(table.ravel()) * -1 + stats.entropy(table.sum(0)) + stats.entropy(table.sum(1))
    assert evidence(table) == pytest.approx(exact - 2 / 200)
    rng = np.random.default_rng(0)
    chance = [evidence(rng.multinomial(500, np.full(12, 1 / 12)).reshape(4, 3).astype(float)) for _ in range(300)]
    assert np.mean(chance) < 0.5 * 6 / 1000  # about half of what was taken off stays where it cannot be negative


def test_tests_of_words_are_those_of_tables_and_keep_their_promise():
    table, totals = np.array([[40.0, 22], [90, 95]]), np.array([200.0, 190])
    found = word_tests(table, totals, 0.95)
    for w in range(2):
        whole = np.stack([table[w], totals - table[w]])
        assert found.p[w] == pytest.approx(stats.chi2_contingency(whole, correction=False).pvalue)
    rng = np.random.default_rng(2)
    words, false = rng.uniform(0.05, 0.5, 200), 0
    for _ in range(200):
        counts = np.stack([rng.binomial(n, words) for n in (300, 250)], axis=1).astype(float)
        false += len(word_tests(counts, np.array([300.0, 250]), 0.95).sure) > 0
    assert 0.02 <= false / 200 <= 0.09


def test_a_stratified_test_sees_within_and_not_through_the_classes():
    """Simpson's: within each class the groups are alike, together they differ."""
    first, second = np.array([[90.0, 45], [10, 5]]), np.array([[5.0, 10], [45, 90]])
    assert association(first + second).p < 1e-4
    within = association_within([first, second])
    assert within.p == pytest.approx(1.0)
    assert within.v == 0.0
    some, more = np.array([[30.0, 20], [20, 30]]), np.array([[270.0, 30], [30, 70]])  # of 100 rows and of 400
    assert association_within([some, more]).v == pytest.approx((association(some).v + 4 * association(more).v) / 5)


def test_rare_values_stand_together_as_soon_as_they_are_enough():
    table = np.array([[9.0, 1], [20, 30], [2, 1], [50, 9]])
    assert lumped(table, 13).tolist() == [[20, 30], [50, 9], [11, 2]]  # 13 of them
    assert lumped(table, 14).tolist() == [[31, 32], [50, 9]]


def test_a_group_of_few_does_not_silence_the_others():
    """A column told by itself: a third group of a dozen rows is put together with another."""
    same = np.diag([393.0, 195, 12])
    assert association(same).v == pytest.approx(1.0, abs=0.01)
    assert association(same).p < 1e-50
    few = np.array([[200.0, 100, 3], [100, 200, 2]])
    assert association(few).p == association(np.array([[203.0, 100], [102, 200]])).p
    rng = np.random.default_rng(5)
    shares = np.array([0.4, 0.3, 0.2, 0.06, 0.04])
    sizes = (500, 300, 12, 6)
    p = [
        association(np.stack([rng.multinomial(n, shares) for n in sizes], axis=1).astype(float)).p for _ in range(3000)
    ]
    assert 0.04 < np.mean(np.array(p) < 0.05) < 0.06


def test_v_is_bergsmas_and_about_0_where_nothing_is_told():
    square = association(np.array([[30.0, 20], [20, 30]]))  # χ² = 4 of 100 rows, less 1/99; sides of 2 - 1/99
    assert square.v == pytest.approx(np.sqrt((0.04 - 1 / 99) / (1 - 1 / 99)))
    rng = np.random.default_rng(0)
    nothing = [association(rng.multinomial(120, [1 / 12] * 12).reshape(3, 4).astype(float)).v for _ in range(200)]
    assert np.median(nothing) == 0.0


def test_where_rows_are_too_few_for_pearson_the_test_is_fishers():
    rng = np.random.default_rng(6)
    for table in rng.integers(0, 30, (300, 2, 2)).astype(float):
        assert exact(table) == pytest.approx(stats.fisher_exact(table).pvalue)
    rare = association(np.array([[37.0, 0], [0, 963]]))  # a column told by itself, as rare as the group
    assert rare.v == pytest.approx(1.0, abs=1e-6)
    assert rare.p == pytest.approx(stats.fisher_exact([[37, 0], [0, 963]]).pvalue)
    eighths, two = np.full(8, 1 / 8), np.array([0.963, 0.037])
    for sizes, shares in (((15, 15), eighths), ((963, 37), eighths), ((963, 37), two), ((20, 8, 5), eighths)):
        p = [
            association(np.stack([rng.multinomial(n, shares) for n in sizes], axis=1).astype(float)).p
            for _ in range(1000)
        ]
        assert 0.005 < np.mean(np.array(p) < 0.05) < 0.065, sizes
    assert association(np.array([[0.3, 0.2], [0.2, 0.3]])).p == 1.0  # weights that add up to one row say nothing


def test_a_column_that_is_the_group_stands_in_for_it_however_rare_it_is():
    rng = np.random.default_rng(7)
    few = rng.random(1000) < 0.037
    rows = pd.DataFrame({"abroad": np.where(few, "yes", "no"), "permit": np.where(few, "green", "none")})
    rows["size"], rows["y"] = rng.normal(5.0 * few, 1), rng.integers(0, 2, 1000)
    found = of_model(eo.NaiveBayes().fit(rows.drop(columns="abroad"), "y").model_, read(rows), "abroad")
    assert found.named == ["permit", "size"]


def test_tests_are_judged_together_as_holm_and_as_benjamini_and_hochberg_do():
    assert holm([0.02, 0.001, 0.03], 0.95) == [True, True, True]  # .001 · 3, .02 · 2 and .03 are .05 at most
    assert holm([0.04, 0.03, 0.001], 0.95) == [False, False, True]  # .03 · 2 is not, and ends it: .04 does not count
    p = np.array([0.9, 0.024, 0.039, 0.009, 0.029])  # beside .01, .02, …, .05: the fourth is the last that is within
    assert _few_false(p, 0.95).tolist() == [3, 1, 4, 2]
    assert bonferroni(p) == pytest.approx(5 * 0.009)
    assert bonferroni(p[:1]) == 0.9


def test_moments_of_classes_are_those_of_their_rows():
    x, y = np.array([1.0, 2, 4, 7, 9]), list("aaabb")
    model = eo.NaiveBayes(columns=eo.Gaussian).fit({"x": x}, y).model_
    n, mean, variance = moments_of(model, "x")
    assert (n.tolist(), mean.tolist()) == ([3, 2], pytest.approx([7 / 3, 8]))
    assert variance.tolist() == pytest.approx([x[:3].var(ddof=1), x[3:].var(ddof=1)])


def test_means_are_compared_as_welch_does():
    rng = np.random.default_rng(3)
    a, b = rng.normal(0, 1, 80), rng.normal(0.4, 2, 50)
    sides = [np.array([f(x) for x in (a, b)]) for f in (len, np.mean, lambda x: x.var(ddof=1))]
    assert means(*sides).p == pytest.approx(stats.ttest_ind(a, b, equal_var=False).pvalue)
    p = []
    for _ in range(2000):
        x, y = rng.normal(0, 1, 30), rng.normal(0, 3, 60)
        p.append(
            means(np.array([30.0, 60]), np.array([x.mean(), y.mean()]), np.array([x.var(ddof=1), y.var(ddof=1)])).p
        )
    assert 0.04 < np.mean(np.array(p) < 0.05) < 0.06
    told = means(np.array([100.0, 300]), np.array([0.0, 1]), np.array([4.0, 1]))
    errors = np.array([4 / 100, 1 / 300])
    t, degrees = 1 / np.sqrt(errors.sum()), errors.sum() ** 2 / (errors[0] ** 2 / 99 + errors[1] ** 2 / 299)
    assert told.distance == pytest.approx(2 * stats.norm.cdf(0.5 / np.sqrt((4 * 100 + 1 * 300) / 400)) - 1)
    assert told.v == pytest.approx(np.sqrt((t**2 - 1) / (t**2 + degrees)))
    assert means(np.array([5.0, 5]), np.array([1.0, 1]), np.zeros(2)).p == 1.0
    assert means(np.array([5.0, 5]), np.array([1.0, 2]), np.zeros(2)).p == 0.0
