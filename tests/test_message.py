"""One message, which is weighed without becoming a table first, gets what a table of it would get."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import evenodds as eo
from evenodds.__main__ import _explanation
from evenodds.data.messages import messages
from evenodds.text import quick

HOWS = {
    "counts": eo.Words(),
    "pairs": eo.Words(ngrams=2),
    "bernoulli": eo.Words(events="bernoulli"),
    "complement": eo.Words(events="complement", ngrams=(1, 2)),
    "hashed": eo.Words(events="present", buckets=1 << 10),
    "characters": eo.Words(characters=(2, 3)),
    "stop words": eo.Words(stop_words={"the", "a"}, min_length=1, punctuation=True),
    "stems": eo.Words(stem="english"),
    "neighbours": eo.Words(neighbours=1),
}
MODELS = {
    (name, unseen): eo.NaiveBayes(columns=how, unseen=unseen).fit(messages()["text"].to_pylist(), messages()["label"])
    for name, how in HOWS.items()
    for unseen in ("ignore", "prior")
}


@pytest.mark.parametrize("which", list(MODELS), ids=" ".join)
@settings(max_examples=20, deadline=None)
@given(text=st.one_of(st.text(), st.sampled_from(messages()["text"].to_pylist())))
def test_one_message_is_one_row_of_many(which, text):
    nb = MODELS[which]
    for say in (nb.predict_proba, nb.predict_log_proba, nb.predict_joint_log_proba, nb.decision_function, nb.predict):
        np.testing.assert_array_equal(say([text])[0], say([text, "see you at lunch"])[0])


def test_a_message_longer_than_the_readers_arrays():
    nb = MODELS["counts", "ignore"]
    for text in ("prize " * 10, "prize " * 100_000, "free lunch " * 300, "lunch"):
        np.testing.assert_array_equal(nb.predict_proba([text])[0], nb.predict_proba([text, text])[1])


def test_an_impossible_message_leaves_the_prior():
    nb = eo.NaiveBayes(columns=eo.Words(), estimate="mle").fit(["a1 b1", "c1 d1", "c1"], [0, 1, 1])
    for text, expected in (("b1 c1", [1 / 3, 2 / 3]), ("b1", [1, 0])):
        np.testing.assert_allclose(nb.predict_proba([text])[0], expected)
        np.testing.assert_array_equal(nb.predict_proba([text])[0], nb.predict_proba([text, text])[0])


def test_an_impossible_message_is_explained_by_the_prior_in_the_small_process_too(tmp_path):
    nb = eo.NaiveBayes(columns=eo.Words(), estimate="mle").fit(["a1 b1", "c1 d1", "c1"], [0, 1, 1])
    nb.save(tmp_path / "model.eo")
    [why] = nb.explain(["b1 c1"])
    assert (why.of, why.total) == (1, pytest.approx(np.log(2)))
    assert quick.load(tmp_path / "model.eo").log_joint("b1 c1") == nb.predict_joint_log_proba(["b1 c1"])[0].tolist()
    assert repr(_explanation(str(tmp_path / "model.eo"), "b1 c1")) == repr(why)


def test_threads_do_not_share_a_reader():
    nb, found = MODELS["pairs", "ignore"], {}
    texts = messages()["text"].to_pylist()[:50]
    expected = nb.predict_proba(texts)

    def work(k):
        found[k] = np.concatenate([nb.predict_proba([text]) for _ in range(5) for text in texts])

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        np.testing.assert_array_equal(found[k], np.tile(expected, (5, 1)))


def test_a_model_of_more_than_text_takes_the_rest_as_missing():
    rows = {"text": ["free prize", "lunch"] * 3, "size": [1.0, 2.0, 1.5, 2.5, 1.2, 2.2]}
    nb = eo.NaiveBayes(columns={"text": eo.Words()}).fit(rows, ["spam", "ham"] * 3)
    np.testing.assert_array_equal(nb.predict_proba(["free prize"]), nb.predict_proba([{"text": "free prize"}]))


def test_an_estimator_that_has_learnt_nothing_says_so():
    with pytest.raises(NotFittedError, match="is not fitted yet"):
        eo.NaiveBayes(columns=eo.Words()).predict_proba(["free prize"])
