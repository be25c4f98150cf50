"""Text in naive Bayes: worked examples, scikit-learn's numbers, what is said of words, and what is refused."""

import copy
import functools
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB
from sklearn.pipeline import Pipeline

import evenodds as eo
from evenodds import file
from evenodds.families.telling import telling
from evenodds.families.words import WordCounts
from evenodds.text.words import EVENTS

CITIES = ["Chinese Beijing Chinese", "Chinese Chinese Shanghai", "Chinese Macao", "Tokyo Japan Chinese"]
CHINA = ["yes", "yes", "yes", "no"]
D5 = ["Chinese Chinese Chinese Tokyo Japan"]


def fit(texts, y, events="counts", smoothing=1.0, words=None, **settings):
    column = eo.Words(events, smoothing=smoothing, **(words or {}))
    return eo.NaiveBayes(columns=column, **settings).fit(texts, y)


def shares(nb, column="text"):
    """What each word weighs in each class, as a probability; of Bernoulli events, that it is there."""
    found = nb.model_.distributions[column]
    counts = WordCounts.counts(nb.model_.column_tally(column))
    weights = found.weights.weights
    p = 1 / (1 + np.exp(-weights)) if found.words.events == "bernoulli" else np.exp(weights)
    return {counts.text(int(key)): dict(zip(nb.classes_.tolist(), row)) for key, row in zip(found.weights.keys, p)}


def rows_of(texts, **columns):
    return pd.DataFrame({"text": pd.Series(texts, dtype=object), **columns})


@functools.cache
def topics(n=300, seed=0, length=15, classes=2, size=300):
    """Texts of topics whose words overlap: those of topic c are drawn from shares of its own."""
    rng = np.random.default_rng(seed)
    shared = rng.dirichlet(np.full(size, 0.3))
    own = [0.6 * shared + 0.4 * rng.dirichlet(np.full(size, 0.3)) for _ in range(classes)]
    y = rng.integers(0, classes, n)
    y[:classes] = np.arange(classes)
    vocabulary = np.array([f"w{i}" for i in range(size)])
    texts = [" ".join(rng.choice(vocabulary, 1 + rng.poisson(length), p=own[c])) for c in y]
    return texts, np.array([f"topic {c}" for c in y])


# Introduction to Information Retrieval (Manning, Raghavan, Schütze 2008), chapter 13


def test_the_multinomial_example_of_the_information_retrieval_book():
    nb = fit(CITIES, CHINA)
    p = shares(nb)
    assert p["chinese"]["yes"] == pytest.approx(3 / 7, rel=1e-12)
    assert p["chinese"]["no"] == pytest.approx(2 / 9, rel=1e-12)
    for word in ("tokyo", "japan"):
        assert p[word]["yes"] == pytest.approx(1 / 14, rel=1e-12)
        assert p[word]["no"] == pytest.approx(2 / 9, rel=1e-12)
    joint = [3 / 4 * (3 / 7) ** 3 / 14**2, 1 / 4 * (2 / 9) ** 5]
    assert nb.predict_proba(D5)[0, 1] == pytest.approx(joint[0] / sum(joint), rel=1e-12)
    assert nb.predict_proba(D5)[0, 1] == pytest.approx(0.690, abs=5e-4)
    assert nb.predict(D5).tolist() == ["yes"]


def test_the_bernoulli_example_of_the_information_retrieval_book():
    nb = fit(CITIES, CHINA, "bernoulli")
    p = shares(nb)
    assert p["chinese"] == pytest.approx({"yes": 4 / 5, "no": 2 / 3})
    assert p["japan"] == pytest.approx({"yes": 1 / 5, "no": 2 / 3})
    assert p["beijing"] == pytest.approx({"yes": 2 / 5, "no": 1 / 3})
    yes = 3 / 4 * 4 / 5 * 1 / 5 * 1 / 5 * (1 - 2 / 5) ** 3
    no = 1 / 4 * 2 / 3 * 2 / 3 * 2 / 3 * (1 - 1 / 3) ** 3
    assert nb.predict_proba(D5)[0, 1] == pytest.approx(yes / (yes + no), rel=1e-12)
    assert nb.predict_proba(D5)[0, 1] == pytest.approx(0.191, abs=5e-4)


def test_a_bernoulli_example_by_hand():
    texts, y = ["win money", "win", "lunch", "lunch money"], ["spam", "spam", "ham", "ham"]
    nb = fit(texts, y, "bernoulli")  # p(win) = 3/4 and 1/4, p(money) = 2/4 and 2/4, p(lunch) = 1/4 and 3/4
    p = nb.predict_proba(["win win", "win lunch", "", "money"])[:, 1]
    assert p == pytest.approx([9 / 10, 1 / 2, 1 / 2, 1 / 2])
    assert nb.predict_joint_log_proba(["win"])[0, 1] == pytest.approx(math.log(1 / 2 * 3 / 4 * 1 / 2 * 3 / 4))


# The lectures on words


def test_ten_avocados_in_a_hundred_thousand_words():
    fruit = " ".join(["avocado"] * 10 + ["word"] * 99_990)
    nb = fit([fruit, "word"], ["a", "b"], estimate="mle")
    assert shares(nb)["avocado"]["a"] == pytest.approx(1e-4, rel=1e-12)
    smoothed = fit([fruit, "word"], ["a", "b"], smoothing=0.5)
    assert shares(smoothed)["avocado"]["a"] == pytest.approx(10.5 / (0.5 * 2 + 100_000), rel=1e-12)
    assert shares(smoothed)["avocado"]["b"] == pytest.approx(0.5 / (0.5 * 2 + 1), rel=1e-12)


@pytest.mark.parametrize("events", EVENTS)
def test_a_word_never_seen_carries_no_evidence(events):
    nb = fit(CITIES, CHINA, events)
    assert nb.predict_proba(["Chinese syzygy"]).tolist() == nb.predict_proba(["Chinese"]).tolist()
    if events != "bernoulli":  # there the absence of all known words is evidence
        shares = [1 / 2, 1 / 2] if events == "complement" else [1 / 4, 3 / 4]
        assert nb.predict_proba(["syzygy"])[0] == pytest.approx(shares)


def test_a_prince_in_the_mail():
    texts = ["the prince"] * 10 + ["the"] * 190 + ["the prince"] * 2 + ["the"] * 798
    nb = fit(texts, ["spam"] * 200 + ["ham"] * 800, "bernoulli", estimate="mle")
    assert shares(nb)["prince"] == pytest.approx({"spam": 0.05, "ham": 0.0025})
    assert np.exp(nb.model_.log_prior) == pytest.approx([0.8, 0.2])
    assert nb.predict_proba(["the prince"])[0, 1] == pytest.approx(0.8333, abs=5e-5)


def test_two_words_there_and_one_that_is_not():
    def made(n, *tables):
        return [" ".join(f"x{j}" for j, p in enumerate(tables, 1) if i < round(n * p)) for i in range(n)]

    texts = made(80, 0.3, 0.1, 0.2) + made(20, 0.4, 0.6, 0.5)
    nb = fit(texts, ["a"] * 80 + ["b"] * 20, "bernoulli", estimate="mle")
    assert np.exp(nb.predict_joint_log_proba(["x1 x3"]))[0] == pytest.approx([0.0432, 0.016])
    assert nb.predict_proba(["x1 x3"])[0, 0] == pytest.approx(0.7297, abs=5e-5)


def test_the_log_odds_are_linear_in_the_words():
    nb = fit(CITIES, CHINA)
    p, weights = shares(nb), dict(zip(nb.coef_names_, nb.coef_[0]))
    for word, by_class in p.items():
        assert weights[f"text={word}"] == pytest.approx(math.log(by_class["yes"] / by_class["no"]))
    assert nb.intercept_ == pytest.approx([math.log(3)])
    z = math.log(3) + 3 * weights["text=chinese"] + weights["text=tokyo"] + weights["text=japan"]
    assert nb.decision_function(D5) == pytest.approx([z])
    assert nb.predict_proba(D5)[0, 1] == pytest.approx(1 / (1 + math.exp(-z)))


def test_words_said_again_are_believed_again():
    nb = fit(CITIES, CHINA, class_prior="uniform")
    once, thrice = nb.decision_function(["Tokyo", "Tokyo Tokyo Tokyo"])
    assert thrice == pytest.approx(3 * once)
    present = fit(CITIES, CHINA, "present", class_prior="uniform")
    assert len(set(present.decision_function(["Tokyo", "Tokyo Tokyo Tokyo"]).tolist())) == 1


def test_telling_words_are_common_and_lopsided():
    spam = ["the lottery the prize the"] * 40 + ["the the abracadabra"]
    ham = ["the lunch the meeting the"] * 40 + ["the the lottery"]
    nb = fit(spam + ham, ["spam"] * 41 + ["ham"] * 41)
    table = [row for row in nb.tables["text"].rows if row["class"] == "spam"]
    ranked = [row["word"] for row in table]
    assert ranked[:2] == ["prize", "lottery"]
    assert "abracadabra" in ranked[2:]  # a fluke
    assert "the" not in ranked
    p, n = shares(nb), 41 * 5 - 2 + 6 * 1.0  # as many tokens in either class, and a pseudo-count for each of six words
    for row in table:
        by_class = p[row["word"]]
        assert row["p"] == pytest.approx(by_class["spam"])
        assert row["log-odds"] == pytest.approx(math.log(by_class["spam"] / by_class["ham"]))
        wide = 1.96 * math.sqrt(1 / (n * by_class["spam"]) + 1 / (n * by_class["ham"]))
        assert [row["low"], row["high"]] == pytest.approx([row["log-odds"] - wide, row["log-odds"] + wide], rel=1e-4)
    worth = [(p[w]["spam"] + p[w]["ham"]) / 2 * math.log(p[w]["spam"] / p[w]["ham"]) for w in ranked]
    assert worth == sorted(worth, reverse=True)
    assert [row["count"] for row in table[:2]] == [40, 40]


def test_naive_parameters_are_few():
    texts = [" ".join(f"w{i}" for i in range(1000)), "w1", "w2"]
    assert fit(texts, ["a", "b", "b"], "bernoulli").n_parameters_["naive"] == 2001
    assert fit(texts, ["a", "b", "b"]).n_parameters_["naive"] == 1 + 2 * 999
    assert fit(texts, ["a", "b", "b"], words={"min_count": 2}).n_parameters_["naive"] == 1 + 2 * 1


def test_winner_meets_winners():
    texts, y = ["winners take all", "see you at lunch"], ["spam", "ham"]
    stemmed = fit(texts, y, words={"stem": "english"})
    assert stemmed.predict_proba(["winner"])[0, 1] > 0.6
    assert fit(texts, y).predict_proba(["winner"])[0, 1] == 0.5


# scikit-learn's numbers

ALPHAS = [0.01, 0.5, 1.0, 3.0]
NGRAMS = [1, 2, (2, 3)]


def oracle(model, texts, y, new, binary, ngrams=1, **how):
    vectors = CountVectorizer(binary=binary, ngram_range=(1, ngrams) if isinstance(ngrams, int) else ngrams, **how)
    return model.fit(vectors.fit_transform(texts), y).predict_log_proba(vectors.transform(new))


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("ngrams", NGRAMS)
@pytest.mark.parametrize(
    ("events", "model", "binary", "settings"),
    [
        ("counts", MultinomialNB, False, {}),
        ("present", MultinomialNB, True, {}),
        ("bernoulli", BernoulliNB, True, {}),
        ("complement", ComplementNB, False, {}),
    ],
    ids=EVENTS,
)
def test_the_probabilities_are_scikit_learns(events, model, binary, settings, ngrams, alpha):
    texts, y = topics(classes=3)
    new = ["", "w1 w2 unheard-of w1", *topics(40, 1)[0]]
    nb = fit(texts, y, events, alpha, {"ngrams": ngrams}, **settings)
    expected = oracle(model(alpha=alpha), texts, y, new, binary, ngrams)
    np.testing.assert_allclose(nb.predict_log_proba(new), expected, rtol=1e-9, atol=1e-9)


def test_characters_accents_and_one_letter_words_are_scikit_learns():
    texts, y = ["Ein Café à gogo", "À la carte, s'il vous plaît", "x y z", "le café noir"], ["a", "b", "a", "b"]
    for words, how in [
        ({"min_length": 1}, {"token_pattern": r"(?u)\b\w+\b"}),
        ({"accents": False}, {"strip_accents": "unicode"}),
        ({"case": True}, {"lowercase": False}),
        ({"stop_words": ["le", "la"]}, {"stop_words": ["le", "la"]}),
    ]:
        expected = oracle(MultinomialNB(), texts, y, texts, False, **how)
        np.testing.assert_allclose(fit(texts, y, words=words).predict_log_proba(texts), expected, rtol=1e-9)


@pytest.mark.parametrize(("events", "model"), [("present", MultinomialNB), ("bernoulli", BernoulliNB)])
def test_rare_words_are_not_used_and_stay_in_the_tally(events, model):
    texts, y = topics()
    rare = fit(texts, y, events, words={"min_count": 4})
    np.testing.assert_allclose(
        rare.predict_log_proba(texts), oracle(model(), texts, y, texts, True, min_df=4), rtol=1e-9, atol=1e-9
    )
    assert rare.model_.tally == fit(texts, y, events).model_.tally
    assert len(shares(rare)) < len(shares(fit(texts, y, events)))


def test_a_rare_word_becomes_frequent():
    nb = fit(["aa bb", "bb cc"], ["x", "y"], words={"min_count": 2})
    assert set(shares(nb)) == {"bb"}
    assert set(shares(nb.partial_fit(["aa"], ["y"]))) == {"aa", "bb"}


@pytest.mark.parametrize("events", EVENTS)
def test_fractional_weights_are_scikit_learns(events):
    texts, y = topics(120)
    weights = np.random.default_rng(0).gamma(1.0, 1.0, len(texts))
    model = {"bernoulli": BernoulliNB, "complement": ComplementNB}.get(events, MultinomialNB)()
    vectors = CountVectorizer(binary=events in ("present", "bernoulli"))
    expected = model.fit(vectors.fit_transform(texts), y, sample_weight=weights).predict_log_proba(
        vectors.transform(texts)
    )
    nb = eo.NaiveBayes(columns=eo.Words(events, smoothing=1.0)).fit(texts, y, sample_weight=weights)
    np.testing.assert_allclose(nb.predict_log_proba(texts), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("columns", [{}, {"colour": eo.Categorical}], ids=str)
def test_where_the_others_words_tell_a_class_its_share_does_not(columns, tmp_path):
    X, y = rows_of(["aa bb", "aa", "bb", "aa cc"], colour=list("rrgg")), ["x", "x", "x", "y"]
    for events in EVENTS:
        nb = eo.NaiveBayes({"text": eo.Words(events), **columns}).fit(X[["text", *columns]], y)
        expected = [0.5, 0.5] if events == "complement" else [0.75, 0.25]
        np.testing.assert_allclose(
            nb.predict_proba(X[["text", *columns]].assign(text=None, **dict.fromkeys(columns)))[0], expected
        )
        said = nb.model_.set(class_prior="estimated")
        np.testing.assert_allclose(np.exp(said.log_prior), [0.75, 0.25])
        said.save(tmp_path / "said.eo")
        assert eo.Model.load(tmp_path / "said.eo").settings.class_prior == "estimated"


# Estimates and priors


def test_the_pooled_prior_is_so_many_words_of_all_classes():
    nb = fit(CITIES, CHINA, smoothing=2.0, words={"prior": "pooled"})
    p = shares(nb)
    assert p["chinese"]["no"] == pytest.approx((1 + 2 * 6 / 11) / (3 + 2))
    assert p["tokyo"]["yes"] == pytest.approx((0 + 2 * 1 / 11) / (8 + 2))
    for label in ("yes", "no"):
        assert sum(by_class[label] for by_class in p.values()) == pytest.approx(1)


def test_the_pooled_prior_of_rows_of_little_weight():
    nb = eo.NaiveBayes(columns=eo.Words(prior="pooled", smoothing=2.0)).fit(CITIES, CHINA, sample_weight=[0.01] * 4)
    assert shares(nb)["chinese"]["no"] == pytest.approx((0.01 + 2 * 6 / 11) / (0.03 + 2))


def test_a_word_of_all_texts_says_nothing_whatever_their_weights():
    texts, y = topics(400, classes=20)
    weights = np.random.default_rng(0).gamma(1.0, 1.0, len(texts))
    nb = eo.NaiveBayes(columns=eo.Words("bernoulli", prior="pooled", smoothing=1.0))
    nb.fit([f"always {text}" for text in texts], y, sample_weight=weights)
    without, there = nb.predict_log_proba(["w1", "always w1"])
    assert without == pytest.approx(there, abs=1e-9)


def test_under_the_pooled_prior_a_word_of_all_texts_says_nothing():
    nb = fit(CITIES, CHINA, "bernoulli", 1.0, {"prior": "pooled"})
    assert nb.predict_proba(["Chinese Tokyo"])[0] == pytest.approx(nb.predict_proba(["Tokyo"])[0])
    assert shares(nb)["tokyo"]["no"] == pytest.approx((1 + 1 / 4) / (1 + 1))


def test_the_mode_is_one_less_in_each_pseudo_count():
    p = shares(fit(CITIES, CHINA, smoothing=1.5, estimate="map"))
    assert p["chinese"]["yes"] == pytest.approx(5.5 / (8 + 6 * 0.5))
    p = shares(fit(CITIES, CHINA, "bernoulli", 1.5, estimate="map"))
    assert p["tokyo"]["no"] == pytest.approx(1.5 / 2)
    assert p["tokyo"]["yes"] == pytest.approx(0.5 / 4)


def test_the_mode_at_the_border_is_no_negative_share():
    p = shares(fit(CITIES, CHINA, smoothing=0.5, estimate="map"))
    assert p["tokyo"]["yes"] == 0
    assert sum(by_class["yes"] for by_class in p.values()) == pytest.approx(1)


@pytest.mark.parametrize(("events", "what"), [("bernoulli", "all texts of a class"), ("complement", "one class only")])
def test_a_word_that_would_settle_everything_is_refused(events, what):
    nb = fit(CITIES, CHINA, events, estimate="mle")
    with pytest.raises(eo.DataError, match=rf"column 'text': the word '\w+' is in {what}.*smoothing above 0"):
        nb.predict(D5)


def test_a_text_that_is_impossible_everywhere_leaves_the_prior():
    nb = fit(CITIES, CHINA, estimate="mle")
    assert nb.predict_proba(["Shanghai Japan"])[0] == pytest.approx([1 / 4, 3 / 4])
    assert nb.predict_proba(["Japan"])[0].tolist() == [1, 0]
    [why] = nb.explain(["Shanghai Japan"])
    assert [(term.value, term.log_odds) for term in why.terms] == [("its words", 0.0)]
    assert why.prior == pytest.approx(why.total)


@pytest.mark.parametrize("estimate", ["mle", "mean"])
def test_a_class_without_texts_is_told_by_its_prior_alone(estimate):
    rows = rows_of(["aa bb", "bb cc", None, None], n=[1, 2, 1, 2])
    nb = eo.NaiveBayes({"text": eo.Words(smoothing=0.0), "n": eo.Column(role="ignore")}, estimate=estimate)
    p = nb.fit(rows, ["x", "y", "z", "z"]).predict_proba(rows_of(["bb"], n=[1]))[0]
    assert p[2] == pytest.approx(1 / 2)


# Texts that are missing, or empty, among other columns


@pytest.mark.parametrize("events", EVENTS)
def test_null_is_missing_and_empty_is_a_text_without_words(events):
    column = {"text": eo.Words(events, smoothing=1.0)}
    nb = eo.NaiveBayes(column).fit(rows_of(["aa bb", "bb", None, "", "bb cc"]), list("xxxyy"))
    counts = nb.model_.tally.lists["text", "words"]
    assert dict(zip(nb.model_.tally.groups.texts(), counts.documents.tolist())) == {"x": 2, "y": 2}
    assert nb.class_count_.tolist() == [3, 2]
    missing, empty = nb.predict_proba(rows_of([None, ""]))
    prior = [1 / 2, 1 / 2] if events == "complement" else [3 / 5, 2 / 5]
    assert missing == pytest.approx(prior)
    if events == "bernoulli":  # p = 2/4, 3/4, 1/4 of x and 1/4, 2/4, 2/4 of y
        x, y = 3 / 5 * (1 / 2 * 1 / 4 * 3 / 4), 2 / 5 * (3 / 4 * 1 / 2 * 1 / 2)
        assert empty == pytest.approx([x / (x + y), y / (x + y)])
    else:
        assert empty == pytest.approx(prior)


def mixed(n=90, seed=0):
    """Two columns of text, a number and a category, all with holes."""
    texts, y = topics(n, seed, length=5)
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "subject": [" ".join(text.split()[:2]) for text in texts],
            "body": texts,
            "length": [float(len(text)) for text in texts],
            "folder": rng.choice(["in", "out", "draft"], n),
        }
    )
    frame = frame.astype({"subject": object, "body": object, "folder": object})
    return frame.mask(rng.random(frame.shape) < 0.2, None), pd.Series(y, name="topic")


MIXED = {
    "subject": eo.Words("bernoulli"),
    "body": eo.Words(ngrams=2),
    "length": eo.Gaussian,
    "folder": eo.Categorical,
}


def test_each_column_adds_its_own_evidence():
    X, y = mixed()
    nb = eo.NaiveBayes(MIXED).fit(X, y)
    total = np.repeat(nb.model_.log_prior[None], len(X), axis=0)
    for name, family in MIXED.items():
        alone = eo.NaiveBayes({name: family}).fit(X[[name]], y)
        total += alone.predict_joint_log_proba(X[[name]]) - alone.model_.log_prior
    np.testing.assert_allclose(nb.predict_joint_log_proba(X), total, rtol=1e-9, atol=1e-9)
    assert nb.score(X, y) > 0.9


def test_a_column_of_no_words_at_all_says_nothing():
    X = rows_of(["", "!", None, "?"], colour=["red", "red", "blue", "blue"])
    nb = eo.NaiveBayes({"text": eo.Words(), "colour": eo.Categorical}).fit(X, list("aabb"))
    alone = eo.NaiveBayes({"colour": eo.Categorical}).fit(X[["colour"]], list("aabb"))
    assert nb.predict_proba(X).tolist() == alone.predict_proba(X[["colour"]]).tolist()
    assert nb.tables["text"].rows == []
    assert [why.terms[0].log_odds for why in nb.explain(X)] == [0.0] * 4
    assert nb.n_parameters_["naive"] == alone.n_parameters_["naive"]


# Why: terms that add up


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("words", [{}, {"ngrams": 2}, {"buckets": 1 << 20}, {"prior": "pooled"}], ids=str)
def test_the_terms_of_words_add_up_to_the_log_odds(events, words):
    texts, y = topics(60, classes=3)
    nb = fit(texts, y, events, words=words)
    new = ["", "w1 w1 w1 w2", "nobody ever said this", "w3 nobody w4", "?!", *topics(20, 1)[0]]
    log_p = dict(zip(nb.classes_, nb.predict_log_proba(new).T))
    for i, why in enumerate(nb.explain(new)):
        added = why.prior + sum(term.log_odds for term in why.terms)
        assert added == pytest.approx(why.total, abs=1e-9)
        assert added == pytest.approx(log_p[why.of][i] - log_p[why.against][i], abs=1e-9)
        assert why.probability == pytest.approx(math.exp(log_p[why.of][i]))


def test_the_terms_add_up_among_other_columns_and_for_what_is_missing():
    X, y = mixed()
    nb = eo.NaiveBayes(MIXED).fit(X, y)
    odds = nb.decision_function(X)
    for i, why in enumerate(nb.explain(X, of="topic 1", against="topic 0")):
        assert why.prior + sum(term.log_odds for term in why.terms) == pytest.approx(odds[i], abs=1e-9)
    [missing] = nb.explain(X.head(1).assign(body=None))
    assert [term.note for term in missing.terms if term.column == "body"] == ["missing: no evidence"]


def test_terms_say_what_each_word_is_worth():
    [why] = fit(CITIES, CHINA).explain(["Chinese Tokyo Chinese syzygy"], of="yes")
    assert [(term.value, term.note) for term in why.terms] == [
        ("chinese", "2 times"),
        ("tokyo", ""),
        ("syzygy", "never seen: no evidence"),
    ]
    assert [term.log_odds for term in why.terms] == pytest.approx([2 * math.log(27 / 14), math.log(9 / 28), 0])


def test_absent_words_are_a_term_of_their_own():
    [why] = fit(CITIES, CHINA, "bernoulli").explain(["Chinese Tokyo"], of="yes", against="no")
    found = {term.value: term.log_odds for term in why.terms}
    assert found["chinese"] == pytest.approx(math.log(4 / 5 / (2 / 3)))
    assert found["tokyo"] == pytest.approx(math.log(1 / 5 / (2 / 3)))
    japan, others = math.log(4 / 5 / (1 / 3)), 3 * math.log(3 / 5 / (2 / 3))
    assert found["words that are not there"] == pytest.approx(japan + others)


def test_the_terms_of_two_impossible_classes():
    nb = fit(["aa bb", "bb cc", "cc dd"], list("xyz"), estimate="mle")
    [why] = nb.explain(["dd cc bb"], of="x", against="z")
    assert why.prior + sum(term.log_odds for term in why.terms) == why.total == 0


# What it has learnt


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("classes", [2, 3])
def test_weights_times_counts_are_the_decision(events, classes):
    texts, y = topics(60, classes=classes)
    nb = fit(texts, y, events, words={"ngrams": 2})
    names = [name.removeprefix("text=") for name in nb.coef_names_]
    vectors = CountVectorizer(ngram_range=(1, 2), vocabulary=names, binary=events in ("present", "bernoulli"))
    decision = vectors.transform(texts) @ nb.coef_.T + nb.intercept_
    if classes == 2:
        np.testing.assert_allclose(decision.ravel(), nb.decision_function(texts), rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_allclose(decision, nb.predict_joint_log_proba(texts), rtol=1e-9, atol=1e-9)


def test_rows_are_drawn_and_checked_without_their_texts():
    X, y = mixed()
    nb = eo.NaiveBayes(MIXED).fit(X, y)
    assert nb.sample(5, random_state=0).column_names == ["length", "folder", "topic"]
    assert {(row["a"], row["b"]) for row in nb.check(X, y).rows} == {("length", "folder")}
    assert set(nb.tables) == set(MIXED)
    assert {row["word"] for row in nb.tables["body"].rows} <= set(" ".join(X["body"].dropna()).split()) | bigrams(X)
    only = fit(CITIES, CHINA)
    assert only.sample(3, random_state=0).column_names == ["class"]
    assert only.check(CITIES, CHINA).rows == []


def bigrams(X):
    return {" ".join(pair) for text in X["body"].dropna() for pair in zip(text.split(), text.split()[1:])}


@pytest.mark.parametrize("events", EVENTS)
def test_tables_of_every_kind_of_events(events):
    texts, y = topics()
    rows = fit(texts, y, events, words={"buckets": 1 << 20}).tables["text"].rows
    assert len(rows) == 20
    assert all(row["low"] < row["log-odds"] < row["high"] for row in rows)
    assert all(0 < row["p"] < 1 for row in rows)
    assert [row["word"] for row in rows] == [row["word"] for row in fit(texts, y, events).tables["text"].rows]
    hidden = fit(texts, y, events, words={"buckets": 1 << 20, "key": "secret"}).tables["text"].rows
    assert all(row["word"].startswith("#") for row in hidden)


# Smoothing by itself


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("words", [{}, {"prior": "pooled"}], ids=["flat", "pooled"])
@pytest.mark.parametrize("events", EVENTS)
def test_automatic_smoothing_is_as_good_as_a_grid(events, words, seed):
    texts, y = topics(1200, seed)
    train, test = slice(0, 200), slice(200, None)
    grid = [0.01, 0.1, 0.3, 1, 3, 10] if not words else [1, 10, 30, 100, 300, 1000]
    best = max(fit(texts[train], y[train], events, s, words).score(texts[test], y[test]) for s in grid)
    auto = fit(texts[train], y[train], events, "auto", words)
    error = math.sqrt(best * (1 - best) / len(texts[test]))
    assert auto.score(texts[test], y[test]) >= best - max(0.01, 2 * error)  # the best of six is best by luck too


@pytest.mark.parametrize("prior", ["flat", "pooled"])
@pytest.mark.parametrize("events", EVENTS)
def test_what_tells_classes_apart_is_each_token_left_out(events, prior):
    texts, y = topics(30, classes=3, size=40)
    nb = fit(texts, y, events, words={"prior": prior})
    tally, column = nb.model_.column_tally("text"), nb.model_.schema.columns["text"]
    counts = WordCounts.counts(tally)
    n = counts.matrix()[1]
    sizes = counts.documents if events == "bernoulli" else n.sum(axis=0)
    classes = sizes / sizes.sum()
    for strength in (0.1, 2.0):
        total = 0.0
        for row in n[n.sum(axis=1) > 1]:
            pseudo = strength * (1 if prior == "flat" else row.sum() / sizes.sum())
            mass = strength * (1 if prior == "pooled" else 2 if events == "bernoulli" else len(n))
            for c in np.flatnonzero(row):
                left, of = row - (np.arange(3) == c), sizes - (np.arange(3) == c)
                joint = classes * (left + pseudo) / (of + mass)
                total += row[c] * math.log(joint[c] / joint.sum())
        assert telling(tally, column)(strength) == pytest.approx(total, rel=1e-9)


TINY = [
    (["aa bb", "cc"], ["x", "y"]),
    (["same", "same"], ["x", "y"]),
    (["", "?"], ["x", "y"]),
    (["", "aa"], ["x", "y"]),
    (["aa"], ["x"]),
    (["aa bb bb", "bb cc"], ["x", "x"]),
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("weight", [1.0, 0.3, 1e-6])
@pytest.mark.parametrize(("texts", "y"), TINY, ids=lambda value: "/".join(value))
@pytest.mark.parametrize("prior", ["flat", "pooled"])
@pytest.mark.parametrize("events", EVENTS)
def test_automatic_smoothing_of_next_to_nothing(events, prior, texts, y, weight):
    nb = eo.NaiveBayes(columns=eo.Words(events, prior=prior))
    nb.partial_fit(texts, y, sample_weight=np.full(len(y), weight))
    assert 0 < nb.model_.smoothing("text") < math.inf
    assert np.isfinite(nb.predict_log_proba([*texts, "zz"])).all()


@pytest.mark.filterwarnings("error")
def test_automatic_smoothing_is_of_all_other_classes_or_shared_by_the_n_grams_of_a_place():
    """What tells the tokens of a class best: the complement of one of three has two classes' pseudo-counts."""
    texts, y = topics(60, classes=3)
    plain, complement, pairs = (
        eo.NaiveBayes(columns=how).fit(texts, y).model_
        for how in (eo.Words(), eo.Words("complement"), eo.Words(ngrams=2))
    )
    assert complement.smoothing("text") == pytest.approx(2 * plain.smoothing("text"))
    told = telling(pairs.column_tally("text"), pairs.schema.columns["text"])

    def score(strength):
        return told(strength) - (math.log(strength) / 2) ** 2 / 2

    found = 2 * pairs.smoothing("text")
    assert score(found) >= max(score(found * 1.05), score(found / 1.05))


def test_automatic_smoothing_of_weighted_classes():
    nb = fit(CITIES, CHINA, smoothing="auto", class_weight="balanced")
    assert 0 < nb.model_.smoothing("text") < 100
    assert nb.predict_proba(D5).sum() == pytest.approx(1)


def test_a_column_may_be_smoothed_unlike_the_others():
    X, y = mixed()
    words = {"subject": eo.Words(smoothing=0.25), "body": eo.Words()}
    nb = eo.NaiveBayes(words, smoothing=3.0).fit(X[["subject", "body"]], y)
    assert [nb.model_.smoothing(name) for name in words] == [0.25, 3.0]


# scikit-learn's tools


def test_texts_in_a_pipeline_in_folds_and_in_a_grid():
    texts, y = topics(200)
    pipe = Pipeline([("bayes", eo.NaiveBayes(columns=eo.Words()))])
    assert cross_val_score(pipe, texts, y, cv=3).mean() > 0.85
    grid = {"bayes__columns": [eo.Words(), eo.Words(ngrams=2)], "bayes__smoothing": [0.1, 1.0]}
    search = GridSearchCV(pipe, grid, cv=3).fit(texts, y)
    assert search.best_score_ > 0.85
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    by_hand = eo.NaiveBayes(columns=eo.Words(), smoothing=1.0)
    at = search.cv_results_["params"].index({"bayes__columns": eo.Words(), "bayes__smoothing": 1.0})
    assert search.cv_results_["mean_test_score"][at] == cross_val_score(by_hand, texts, y, cv=3).mean()


@pytest.mark.parametrize("words", [eo.Words(ngrams=2, stop_words=["w1"]), eo.Words(function=str.split)], ids=repr)
def test_an_estimator_is_cloned_and_pickled(words):
    texts, y = topics(60)
    nb = eo.NaiveBayes(columns={"text": words}).fit(texts, y)
    back = pickle.loads(pickle.dumps(nb))
    assert back.model_ == nb.model_
    assert back.predict_proba(texts).tobytes() == nb.predict_proba(texts).tobytes()
    again = clone(nb)
    assert again.columns == {"text": words}
    assert not hasattr(again, "model_")
    assert again.fit(texts, y).model_ == nb.model_


@pytest.mark.parametrize("how", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))], ids=["copy", "pickle"])
def test_what_has_answered_reads_messages_of_any_length_where_it_goes(how):
    nb, new = fit(CITIES, CHINA), ["Chinese Tokyo Japan", "Shanghai"]
    cold = len(pickle.dumps(nb))
    expected = [nb.predict_proba([text]).tolist() for text in new]
    words, same = nb.model_.distributions["text"], how(nb)
    assert [same.predict_proba([text]).tolist() for text in new] == expected
    alone = how(words)
    assert [alone.log_prob([text]).tolist() for text in new] == [words.log_prob([text]).tolist() for text in new]
    for text in new:
        sums = [one.weights.message(text.encode(), one.words.tokens).sums.tolist() for one in (words, alone)]
        assert sums[0] == sums[1]
    assert len(pickle.dumps(nb)) == cold  # a value: what was made of it to answer stays here


@pytest.mark.parametrize("smoothing", [None, "auto", 0.0, 5.0])
def test_text_is_told_in_many_ways_and_is_one_column(smoothing, tmp_path):
    told = [eo.Words(smoothing=smoothing), eo.Column(words=eo.Words(smoothing=smoothing))]
    told += [eo.Column(WordCounts, smoothing=smoothing), eo.Column(smoothing=smoothing, words=eo.Words())]
    told += [WordCounts, eo.Words, eo.Column(WordCounts), eo.Column(words=eo.Words())] if smoothing is None else []
    models = [eo.NaiveBayes({"text": how}).fit({"text": CITIES}, CHINA).model_ for how in told]
    assert all(model == models[0] for model in models)
    assert models[0].schema.columns["text"].described == repr(eo.Words(smoothing=smoothing))
    assert all(model.smoothing("text") == smoothing for model in models if isinstance(smoothing, float))
    models[0].save(tmp_path / "now.eo")
    arrays, header = file.read(tmp_path / "now.eo")
    header["schema"]["columns"][0].pop("smoothing", None)  # as Column(words=...) was written once
    assert eo.Model.from_bytes(file.pack(arrays, header)) == models[0]


def test_texts_come_in_many_forms():
    texts, y = topics(30)
    nb = fit(texts, y)
    expected = nb.predict_proba(texts)
    frame = pd.DataFrame({"text": texts})
    forms = [np.array(texts), np.array(texts, object), pd.Series(texts), frame, {"text": texts}, frame["text"].array]
    forms += [[{"text": text} for text in texts], pd.DataFrame({"text": pd.Categorical(texts)}), tuple(texts)]
    for form in forms:
        assert nb.predict_proba(form).tobytes() == expected.tobytes()
        assert fit(form, y).model_.tally == nb.model_.tally


def test_a_list_of_texts_may_have_holes():
    nb = fit(["aa bb", None, "bb"], list("xxy"))
    assert nb.model_ == fit(pd.Series(["aa bb", None, "bb"]), list("xxy")).model_
    assert nb.predict_proba(["aa", None])[1] == pytest.approx([2 / 3, 1 / 3])


# What is refused


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"events": "words"}, "events='words': expected one of 'counts', 'present', 'bernoulli', 'complement'"),
        ({"prior": "round"}, "prior='round': expected one of 'flat', 'pooled'"),
        ({"buckets": 1000}, r"buckets=1000: expected a power of two from 2\^8 to 2\^24"),
        ({"buckets": 128}, "buckets=128"),
        ({"buckets": True}, "buckets=True"),
        ({"min_count": -1}, "min_count=-1: expected 0 or more"),
        ({"min_count": math.nan}, "min_count=nan"),
        ({"min_count": "2"}, "min_count='2'"),
        ({"smoothing": -1}, "smoothing=-1: expected 0 or more, or 'auto'"),
        ({"smoothing": math.inf}, "smoothing=inf"),
        ({"smoothing": "some"}, "smoothing='some'"),
        ({"ngrams": 0}, r"ngrams is 0, expected a number of words, or \(shortest, longest\)"),
        ({"ngrams": (2, 1)}, r"ngrams is \(2, 1\)"),
        ({"ngrams": "2"}, r"ngrams='2': expected a number of words, or \(shortest, longest\)"),
        ({"ngrams": (1, 2, 3)}, r"ngrams=\(1, 2, 3\)"),
        ({"ngrams": 1.5}, "ngrams=1.5"),
        ({"characters": 3}, r"characters=3: expected \(shortest, longest\)"),
        ({"characters": (3, 2)}, r"characters is \(3, 2\)"),
        ({"characters": (1, 10**9)}, "characters=.*up to 256"),
        ({"characters": (2, 3), "ngrams": 2}, "characters and ngrams are both given"),
        ({"characters": (2, 3), "stem": "english"}, "characters and stem are both given"),
        ({"min_length": 0}, "min_length is 0, expected 1 or more"),
        ({"min_length": 10**6}, "min_length=1000000: expected a number from 1 to 256"),
        ({"stop_words": "the"}, "stop_words='the': expected a set of words"),
        ({"stop_words": [1]}, "stop_words=.*expected a set of words"),
        ({"stop_words": 7}, "stop_words=7: expected a set of words"),
        ({"stem": True}, "stem=True: expected a language"),
        ({"function": "split"}, "function='split': expected a callable"),
        ({"case": "no"}, "case='no': expected True or False"),
    ],
    ids=str,
)
def test_bad_settings_say_so(how, words):
    with pytest.raises(ValueError, match=f"^Words: {words}"):
        eo.Words(**how)


def test_a_language_without_a_stemmer():
    with pytest.raises(ValueError, match="stem='klingon' is not a language of snowballstemmer"):
        fit(CITIES, CHINA, words={"stem": "klingon"})


def test_settings_in_any_form_are_the_same_settings():
    assert eo.Words(stop_words=["b", "a"]) == eo.Words(stop_words=frozenset({"a", "b"}))
    assert eo.Words(ngrams=[1, 2]) == eo.Words(ngrams=(1, 2))
    numpys = eo.Words(ngrams=np.int64(2), neighbours=np.int32(1), smoothing=np.float32(0.5), min_count=np.int8(3))
    assert numpys == eo.Words(ngrams=2, neighbours=1, smoothing=0.5, min_count=3)
    assert [type(number) for number in (numpys.ngrams, numpys.smoothing)] == [int, float]
    assert eo.Words(characters=np.array([2, 4]).tolist()) == eo.Words(characters=(np.int64(2), np.int64(4)))
    assert hash(eo.Words(stop_words={"a"})) == hash(eo.Words(stop_words=("a",)))
    assert (
        repr(eo.Words("present", ngrams=2, stop_words={"a"})) == "Words(events='present', ngrams=2, stop_words=1 words)"
    )


@pytest.mark.parametrize("x", [[1, 2, 3, 4], [0.5, None, 1.5, 2.5], [True, False, True, True]], ids=str)
def test_numbers_are_no_texts(x):
    with pytest.raises(eo.DataError, match=r"column 'x' holds \w+, not text"):
        eo.NaiveBayes({"x": eo.Words()}).fit({"x": x}, CHINA)
    with pytest.raises(eo.DataError, match=r"column 'text' holds \w+, not text"):
        fit(CITIES, CHINA).predict({"text": x})


def test_models_that_cut_words_differently_are_not_added():
    one, two = fit(CITIES, CHINA), fit(CITIES, CHINA, words={"ngrams": 2})
    with pytest.raises(ValueError, match=r"column 'text' is modelled differently: .*Words\(.*ngrams=2"):
        one + two


def test_a_function_cannot_be_saved_and_says_so(tmp_path):
    nb = fit(CITIES, CHINA, words={"function": str.split})
    with pytest.raises(eo.DataError, match=r"the model cannot be saved: column 'text': .*cannot be written to a file"):
        nb.save(tmp_path / "words.eo")
    assert not list(tmp_path.iterdir())
    assert set(shares(nb)) == {"Chinese", "Beijing", "Shanghai", "Macao", "Tokyo", "Japan"}


@pytest.mark.parametrize("prior", ["flat", "pooled"])
def test_a_word_never_seen_may_have_its_smoothing_mass(prior):
    settings = {"columns": eo.Words(prior=prior), "smoothing": 2.0}
    nb = eo.NaiveBayes(**settings, unseen="prior").fit(["aa bb", "cc"], ["x", "y"])
    plain = eo.NaiveBayes(**settings).fit(["aa bb", "cc"], ["x", "y"])
    mass = {"flat": [2 / (2 * 3 + 2), 2 / (2 * 3 + 1)], "pooled": [2 / 4 / (2 + 2), 2 / 4 / (2 + 1)]}[prior]
    extra = nb.predict_joint_log_proba(["zz aa zz"]) - plain.predict_joint_log_proba(["zz aa zz"])
    np.testing.assert_allclose(extra, [2 * np.log(mass)])
    [why] = nb.explain(["zz aa zz"])
    assert why.prior + sum(term.log_odds for term in why.terms) == pytest.approx(why.total)


def test_a_text_never_learnt_is_not_forgotten_with_its_class():
    nb = eo.NaiveBayes(columns=eo.Words()).fit(["aa bb", "cc"], ["x", "y"])
    for text in ("zz", "aa cc"):
        with pytest.raises(eo.DataError, match="never learnt: column 'text' would have"):
            nb.model_.forget([text], ["y"])
    assert nb.model_.forget(["cc"], ["y"]).classes.tolist() == ["x"]


@pytest.mark.parametrize("words", [{}, {"ngrams": 2}, {"length": "normalised"}])
@pytest.mark.parametrize("events", ["counts", "present"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_weights_of_what_is_counted_are_those_of_the_whole_table(events, words, smoothing):
    """Neighbours are found by the whole table of counts, so that a model with them takes the longer way."""
    short, long = (
        fit(CITIES, CHINA, events, smoothing, {**words, "neighbours": n}).model_.distributions["text"] for n in (0, 1)
    )
    assert np.array_equal(short.weights.keys, long.weights.keys)
    np.testing.assert_allclose(short.weights.weights, long.weights.weights, rtol=1e-14)
