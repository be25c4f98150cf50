"""Rare words dropped for good: the answers are those of looking away from them, and there is no forgetting."""

import numpy as np
import pytest

import evenodds as eo
from command import invoke as run
from evenodds.data.messages import messages
from evenodds.text.words import EVENTS
from test_words import fit, topics


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("words", [{}, {"ngrams": 2}, {"buckets": 1 << 10}], ids=str)
@pytest.mark.parametrize("least", [2, 3.5])
def test_a_pruned_model_answers_as_one_that_looks_away(events, words, least):
    texts, y = topics(80, classes=3)
    whole, some = fit(texts, y, events, words=words), fit(texts, y, events, words={**words, "min_count": least})
    pruned = whole.model_.prune(least)
    np.testing.assert_array_equal(pruned.log_proba(texts), some.model_.log_proba(texts))
    assert len(pruned.to_bytes()) < len(whole.model_.to_bytes())
    assert not whole.model_.pruned  # a model is a value
    assert pruned.prune(least) == pruned


def test_a_pruned_model_learns_and_fades_and_cannot_forget():
    texts, y = topics(80)
    nb = fit(texts, y).prune(2)
    assert nb.model_.pruned
    assert nb.partial_fit(["w1 w1"], ["topic 0"]).model_.rows == 81
    assert nb.fade(0.5).model_.pruned
    other = fit(texts, y)
    for take in (
        lambda: nb.forget(texts[:1], y[:1]),
        lambda: nb.model_ - other.model_,
        lambda: other.model_ - nb.model_,
    ):
        with pytest.raises(eo.DataError, match="a pruned model cannot forget: its rare words are gone; learn all rows"):
            take()
    assert (other.model_ + nb.model_).pruned


def test_that_it_was_pruned_is_saved(tmp_path):
    texts, y = topics(80)
    pruned = fit(texts, y).prune(3).model_
    pruned.save(tmp_path / "small.eo")
    again = eo.Model.load(tmp_path / "small.eo")
    assert again == pruned
    assert again.pruned


def test_columns_that_are_no_text_stay():
    rows = [{"text": "free prize", "n": 1}, {"text": "lunch prize", "n": 5}] * 4 + [{"text": "once", "n": 2}] * 2
    nb = eo.NaiveBayes({"text": eo.Words(), "n": eo.Gaussian}, smoothing=1).fit(rows, ["a", "b"] * 5)
    pruned = nb.model_.prune(3)
    assert repr(pruned.distributions["n"]) == repr(nb.model_.distributions["n"])
    assert "once" not in pruned.tally.lists["text", "words"].table(0)


def test_what_cannot_be_pruned():
    with pytest.raises(eo.DataError, match="no words to prune: none of its columns is text"):
        eo.NaiveBayes().fit([{"a": 1}, {"a": 2}], [0, 1]).prune(2)
    for wrong in (-1, float("nan"), float("inf"), "two", None):
        with pytest.raises(ValueError, match=r"min_count=.*: expected a number, 0 or more"):
            fit(*topics(20)).prune(wrong)


def test_the_command(tmp_path):
    spam, small = tmp_path / "spam.eo", tmp_path / "small.eo"
    eo.NaiveBayes().fit(messages(), "label").save(spam)
    before = spam.read_bytes()
    done = run("prune", spam, "--min-count", 3, "-o", small)
    assert done.stdout == ""
    assert "pruned) → " in done.stderr
    assert spam.read_bytes() == before
    assert eo.Model.load(small) == eo.Model.load(spam).prune(3)
    assert '"rows"' in run("prune", spam, "-o", small, "--json").stdout
    forget = run("forget", small, "-", stdin="text,label\nfree prize,spam\n", code=3)
    assert forget.stdout == ""
    assert "a pruned model cannot forget" in forget.stderr
    assert "-o" in run("prune", spam, code=2).stderr
