"""A word never seen, read as the known one most like it."""

import numpy as np
import pytest

import evenodds as eo
from command import invoke as run
from evenodds import __main__
from evenodds.labels import Labels
from evenodds.text import quick
from evenodds.text.neighbours import Nearest
from evenodds.text.words import EVENTS

TEXTS = ["you are a winner of prizes", "winner takes prizes", "dinner at seven tonight", "we have dinner tonight"]
Y = ["spam", "spam", "ham", "ham"]


def fit(**words):
    return eo.NaiveBayes(columns=eo.Words(**words), smoothing=1).fit(TEXTS, Y)


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("more", [{}, {"ngrams": 2}, {"ngrams": (2, 2)}, {"stem": "english"}], ids=str)
def test_a_word_spelt_wrong_is_the_word(events, more):
    nb = fit(events=events, neighbours=1, **more)
    right = nb.predict_joint_log_proba(["the winner takes prizes", "winner winner tonight"])
    wrong = nb.predict_joint_log_proba(["the winnner takse prizzes", "winner winnner tonihgt"])
    np.testing.assert_array_equal(right, wrong)
    exact = fit(events=events, **more)
    np.testing.assert_array_equal(
        right, exact.predict_joint_log_proba(["the winner takes prizes", "winner " * 2 + "tonight"])
    )
    assert not np.array_equal(
        wrong, exact.predict_joint_log_proba(["the winnner takse prizzes", "winner winnner tonihgt"])
    )


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("more", [{}, {"ngrams": 2}, {"stem": "english"}, {"stop_words": {"winner"}}], ids=str)
@pytest.mark.parametrize("unseen", ["ignore", "prior"])
def test_the_terms_say_what_was_read_and_add_up(events, more, unseen):
    nb = eo.NaiveBayes(columns=eo.Words(events, neighbours=2, **more), smoothing=1, unseen=unseen).fit(TEXTS, Y)
    for text in ("winnner winner zzzz", "dinnr tonite", "", "prizse prizes prizes"):
        [why] = nb.explain([text])
        total = why.prior + sum(term.log_odds for term in why.terms)
        assert total == pytest.approx(why.total, abs=1e-12)
        joint = nb.predict_joint_log_proba([text])[0]
        assert why.total == pytest.approx(abs(joint[0] - joint[1]), abs=1e-12)


def test_explain_names_both_words():
    nb = fit(neighbours=1)
    assert [term.value for term in nb.explain(["winnner winner"])[0].terms] == ["winnner, read as winner", "winner"]
    [once] = fit(neighbours=1, events="present").explain(["winnner winner"])
    assert [term.value for term in once.terms] == ["winnner, read as winner / winner"]
    [pairs] = fit(neighbours=1, ngrams=(2, 2)).explain(["winnner takes"])
    assert [term.value for term in pairs.terms] == ["winnner takes, read as winner takes"]


def test_few_letters_and_numbers_are_not_read_as_others():
    nearest = Nearest(Labels.of(["the", "free", "2019", "a2345", "prices", "responsible"]), 2)
    words = [b"tha", b"fre", b"2018", b"b2345", b"fere", b"prixzes", b"rezponsyble", b"free"]
    assert nearest(words) == {b"fere": b"free", b"rezponsyble": b"responsible"}
    assert Nearest(Labels.of(["free"]), 1)([]) == {}
    assert Nearest(Labels.of([]), 1)([b"free"]) == {}


def test_a_word_seen_too_rarely_to_be_used_is_not_read_as():
    assert [t.note for t in fit(neighbours=1, min_count=2).explain(["sevven winnner"])[0].terms] == [
        "",
        "never seen: no evidence",
    ]


def test_many_texts_in_shards_are_read_like_each_alone():
    rng = np.random.default_rng(0)
    nb = fit(neighbours=1)
    words = ["winner", "winnner", "tonihgt", "dinner", "zzzz", "pirzes"]
    texts = [" ".join(rng.choice(words, 40)) for _ in range(600)]
    together = nb.predict_joint_log_proba(texts)
    np.testing.assert_array_equal(together, np.concatenate([nb.predict_joint_log_proba([text]) for text in texts]))


def test_what_is_remembered_has_an_end(monkeypatch):
    monkeypatch.setattr("evenodds.text.neighbours._REMEMBERED", 10)
    nearest = Nearest(Labels.of(["winner"]), 1)
    for i in range(30):
        letters = chr(ord("a") + i % 26)
        assert nearest([b"winnner", f"zzzz{letters}{letters}".encode()]) == {b"winnner": b"winner"}
        assert len(nearest._found) <= 12


def test_it_is_saved_and_one_message_goes_the_long_way(tmp_path, capsys):
    path = tmp_path / "spam.eo"
    nb = fit(neighbours=2)
    nb.save(path)
    again = eo.NaiveBayes.load(path)
    assert again.model_ == nb.model_
    assert again.model_.schema.columns["text"].words.neighbours == 2
    assert quick.load(path) is None
    assert __main__.explain(str(path), "winnner") is None
    assert "text = winnner, read as winner" in run("explain", path, "winnner").stdout


def test_on_the_command_line(tmp_path):
    data, model = tmp_path / "mail.csv", tmp_path / "mail.eo"
    data.write_text("text,label\n" + "".join(f"{text},{y}\n" for text, y in zip(TEXTS, Y)))
    fit = ["fit", data, "-t", "label", "-o", model, "--neighbours", 1]
    run(*fit, "--text", "text")
    assert eo.Model.load(model).schema.columns["text"].words == eo.Words(neighbours=1)
    assert run(*fit, code=2).stderr == "Error: of text alone: --neighbours; name a column of text with --text\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"neighbours": 3}, "neighbours=3: expected 0, 1 or 2 edits"),
        ({"neighbours": True}, "neighbours=True: expected 0, 1 or 2 edits"),
        ({"neighbours": 1, "buckets": 256}, "buckets keep no words to be alike"),
        ({"neighbours": 1, "characters": (2, 3)}, "words alike share their characters"),
    ],
)
def test_what_cannot_be(words, message):
    with pytest.raises(ValueError, match=message):
        eo.Words(**words)
