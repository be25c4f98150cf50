"""Smoothing chosen by imagined texts: a function of the counts, and of what whole texts say."""

import numpy as np
import pytest

import evenodds as eo
from evenodds.families.imagined import _draw, imagined
from evenodds.families.words import WordCounts
from evenodds.text.words import Words
from test_words import topics

DISTINCT = ["present", "bernoulli"]


def counted(texts, y, **how):
    model = eo.NaiveBayes(Words(**how), smoothing=1).fit(texts, y).model_
    return WordCounts.counts(model.column_tally("text"))


def long_and_short(n=300, seed=0):
    """Two classes of texts over many rare words; those of one class are few and short."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.2, "rare", "often")
    words = [f"w{i}" for i in range(2000)]
    weights = 1 / np.arange(1, 2001)
    texts = []
    for label in y:
        shift = 300 if label == "rare" else 0
        many = 1 + rng.geometric(0.2 if label == "rare" else 0.05)
        texts.append(" ".join(words[i] for i in (rng.choice(2000, many, p=weights / weights.sum()) + shift) % 2000))
    return texts, y


@pytest.mark.parametrize("events", DISTINCT)
def test_the_choice_depends_on_the_counts_alone(events):
    texts, y = topics(120, length=8, classes=3)
    whole = eo.NaiveBayes(Words(events=events)).fit(texts, y)
    order = np.random.default_rng(3).permutation(len(texts))
    parts = [order[:50], order[50:]]
    a, b = (eo.NaiveBayes(Words(events=events)).partial_fit([texts[i] for i in p], [y[i] for i in p]) for p in parts)
    assert (b + a).model_.smoothing("text") == (a + b).model_.smoothing("text") == whole.model_.smoothing("text")


@pytest.mark.parametrize("events", DISTINCT)
def test_what_is_scored_is_each_imagined_text_without_itself(events):
    """The closed form against scoring each text by a model whose counts are one less: the plain way."""
    texts, y = topics(60, length=5, classes=3)
    counts, strength = counted(texts, y, events=events), 0.4
    drawn = _draw(counts)
    keys, matrix = counts.matrix()
    n, documents = matrix.astype(float), counts.documents.astype(float)
    total = 0.0
    for i, (c, weight) in enumerate(zip(drawn.classes, drawn.weights)):
        rows = np.searchsorted(keys, drawn.keys[drawn.text == i])
        rest = n.copy()
        rest[rows, c] -= 1
        size = documents - (np.arange(3) == c)
        used = rest.sum(axis=1) > 0
        there = np.zeros(len(keys), bool)
        there[rows] = True
        if events == "bernoulli":
            p = (rest + strength) / (size + 2 * strength)
            log_p = np.where(there[:, None], np.log(p), np.log1p(-p))[used].sum(axis=0)
        else:
            mass = rest[used] + strength
            log_p = np.log(mass / mass.sum(axis=0))[there[used]].sum(axis=0)
        joint = log_p + np.log(documents / documents.sum())
        total += weight * (joint[c] - np.logaddexp.reduce(joint))
    assert imagined(counts, Words(events=events))(strength) == pytest.approx(total, rel=1e-9)


def test_imagined_texts_look_like_their_class():
    texts, y = long_and_short()
    counts = counted(texts, y, events="present")
    drawn = _draw(counts)
    assert drawn.weights.sum() == pytest.approx(len(texts))
    for c in range(2):
        mine = np.isin(drawn.text, np.flatnonzero(drawn.classes == c))
        assert np.isin(drawn.keys[mine], counts.lists[c].keys).all()
        mean = float(counts.lists[c].numbers.sum() / counts.documents[c])
        drawn_mean = mine.sum() / (drawn.classes == c).sum()
        assert 0.6 * mean < drawn_mean < 1.3 * mean


def test_absent_words_do_not_drown_a_class_of_few_short_texts():
    """Left-out tokens alone would choose ten times as much, and hide the rare class."""
    texts, y = long_and_short(400)
    new, truth = long_and_short(400, seed=1)
    nb = eo.NaiveBayes(Words(events="bernoulli")).fit(texts, y)
    chosen = nb.model_.smoothing("text")
    accuracy = {
        strength: float((nb.classes_[nb.model_.set(smoothing=strength).log_proba(new).argmax(axis=1)] == truth).mean())
        for strength in (chosen, 10 * chosen, 0.001, 0.01, 0.1, 1.0, 10.0)
    }
    assert accuracy[chosen] > max(accuracy.values()) - 0.02
    assert min(accuracy.values()) < accuracy[chosen] - 0.05


@pytest.mark.parametrize("events", DISTINCT)
def test_odd_counts_still_choose(events):
    for texts, y, weights in (
        (["", "", "aa"], list("xyy"), None),
        (["aa", "bb"], list("xy"), [1e-6, 2.5]),
        (["aa bb"] * 4, list("xxyy"), [0.1, 0.2, 0.3, 0.4]),
    ):
        nb = eo.NaiveBayes(Words(events=events)).fit(texts, y, sample_weight=weights)
        assert 0 < nb.model_.smoothing("text") < 1e5
        assert np.isfinite(nb.predict_log_proba(texts)).all()


def test_the_others_of_a_class_have_their_own_pseudo_counts_each():
    texts, y = topics(100, length=8, classes=4)
    one, other = (
        eo.NaiveBayes(Words(events=e)).fit(texts, y).model_.smoothing("text") for e in ("counts", "complement")
    )
    assert other == pytest.approx(3 * one)
