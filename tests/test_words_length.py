"""How long a text is: its counts brought to one length, and its length as a column."""

import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenodds as eo
from command import invoke as run
from evenodds.parts import part_of
from evenodds.text.bags import bags
from evenodds.text.count import FRACTION
from evenodds.text.tokenise import Tokens, texts
from evenodds.texts import Texts
from test_words import fit, shares, topics

WORDS = ["counts", "present", "complement"]
words = st.lists(st.sampled_from(["aa", "bb", "cc", "dd"]), max_size=8).map(" ".join)
labelled = st.lists(st.tuples(words, st.sampled_from("xy")), min_size=1, max_size=10)


def model(rows, **how):
    words = eo.Words(length="normalised", **how)
    nothing = eo.NaiveBayes(columns=words).fit(["aa", "bb"], ["x", "y"]).model_
    return nothing._with(eo.Tally.nothing()).learn([text for text, _ in rows], [label for _, label in rows])


# Counts of one length


def test_the_counts_of_a_text_by_hand():
    nb = fit(["aa aa aa bb bb bb bb", "aa cc"], ["x", "y"], words={"length": "normalised"})
    counts = nb.model_.tally.lists["text", "words"]
    x, y = (counts.table(group) for group in (nb.model_.tally.groups.texts().index(c) for c in "xy"))
    assert x == pytest.approx({"aa": 3 / 5, "bb": 4 / 5}, abs=1 / FRACTION)
    assert y == pytest.approx({"aa": math.sqrt(0.5), "cc": math.sqrt(0.5)}, abs=1 / FRACTION)
    assert counts.documents.tolist() == [1, 1]
    # (count + 1) / (all + 3), in tokens: as many as the counts of a text come to
    tokens = (3 / 5 + 4 / 5 + math.sqrt(2)) / 2
    assert shares(nb)["aa"]["x"] == pytest.approx((3 / 5 * tokens + 1) / (7 / 5 * tokens + 3), abs=1e-5)


def test_a_text_said_ten_times_over_is_learnt_as_once():
    long, short = ["free prize", "lunch"], ["free prize " * 10, "lunch"]
    one, other = (fit(texts, ["x", "y"], words={"length": "normalised"}) for texts in (long, short))
    np.testing.assert_allclose(one.predict_log_proba(long), other.predict_log_proba(long), atol=1e-5)
    raw = fit(short, ["x", "y"])
    assert not np.allclose(raw.predict_log_proba(long), fit(long, ["x", "y"]).predict_log_proba(long), atol=1e-2)


def test_a_message_is_weighed_word_by_word_all_the_same():
    texts, y = topics(60)
    nb = fit(texts, y, words={"length": "normalised"})
    once, twice = (nb.predict_joint_log_proba([text])[0] - nb.model_.log_prior for text in ("w1 w2", "w1 w2 w1 w2"))
    np.testing.assert_allclose(twice, 2 * once)
    [why] = nb.explain(texts[:1])
    assert why.prior + sum(term.log_odds for term in why.terms) == pytest.approx(why.total, abs=1e-9)


@pytest.mark.parametrize(
    "how", [{"events": events} for events in WORDS] + [{"ngrams": 2}, {"buckets": 1 << 20}], ids=str
)
@given(labelled, labelled)
def test_learning_stays_a_sum_to_the_last_bit(how, a, b):
    both = model(a + b, **how)
    assert model(b, **how) + model(a, **how) == both
    assert both - model(b, **how) == model(a, **how)
    assert eo.Model.from_bytes(both.to_bytes()) == both


def test_a_weight_of_two_is_two_texts():
    texts, y = topics(40)
    how = eo.NaiveBayes(columns=eo.Words(length="normalised"))
    weighed = how.fit(texts, y, sample_weight=np.full(40, 2)).model_
    assert weighed == how.fit(texts * 2, np.tile(y, 2)).model_


@pytest.mark.parametrize("events", WORDS)
def test_automatic_smoothing_is_of_tokens(events):
    texts, y = topics(1200, length=40)
    train, test = slice(0, 200), slice(200, None)
    how = {"length": "normalised"}
    grid = [0.01, 0.1, 0.3, 1, 3, 10]
    best = max(fit(texts[train], y[train], events, s, how).score(texts[test], y[test]) for s in grid)
    auto = fit(texts[train], y[train], events, "auto", how)
    assert auto.score(texts[test], y[test]) >= best - 0.01
    assert 0.01 < auto.model_.smoothing("text") < 10


def test_texts_without_words_have_no_length():
    nb = fit(["", "aa", "!"], ["x", "y", "x"], words={"length": "normalised"})
    assert nb.predict_proba([""])[0] == pytest.approx([2 / 3, 1 / 3])
    empty = eo.NaiveBayes({"text": eo.Words(length="normalised"), "n": eo.Gaussian})
    assert empty.fit([{"text": "", "n": 1}, {"text": "", "n": 2}] * 2, list("xyxy")).tables["text"].rows == []


def test_what_cannot_be_normalised():
    with pytest.raises(ValueError, match="length='long': expected one of 'as is', 'normalised'"):
        eo.Words(length="long")
    with pytest.raises(ValueError, match="a word there or not has no length"):
        eo.Words("bernoulli", length="normalised")


# The length as a column

MAIL = [{"text": "free prize now " * n, "label": "spam"} for n in (6, 7, 8, 9)] + [
    {"text": "free prize now " * n, "label": "ham"} for n in (1, 2, 1, 2)
]


def test_the_length_tells_what_the_words_do_not():
    rows = [{"text": row["text"]} for row in MAIL]
    nb = eo.NaiveBayes({"text": eo.Words(length_column=True)}).fit(MAIL, "label")
    assert list(nb.model_.schema.features) == ["text", "text.length"]
    assert nb.model_.schema.columns["text.length"] == eo.Column(eo.Binned, parts=("length",), source="text")
    [why] = nb.explain([{"text": "free prize now " * 8}])
    assert [term.value for term in why.terms if term.column == "text.length"] == [24]
    assert why.prior + sum(term.log_odds for term in why.terms) == pytest.approx(why.total)
    assert nb.predict(rows).tolist() == [row["label"] for row in MAIL]
    alone = eo.NaiveBayes({"text": eo.Column(parts=("length",))}).fit(MAIL, "label")
    assert list(alone.model_.schema.features) == ["text.length"]
    assert alone.predict(rows).tolist() == [row["label"] for row in MAIL]


@pytest.mark.parametrize("type_", [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())], ids=str)
def test_the_length_is_the_number_of_words(type_):
    texts = ["a b, c", None, "", "日本 é x2!", "w " * 200_000]
    found = part_of(pa.array(texts, pa.string()).cast(type_), "length", "text")
    np.testing.assert_array_equal(found, [3, np.nan, 0, 3, 200_000])


@pytest.mark.parametrize("tokens", [{}, {"ngrams": 3}, {"ngrams": (2, 2)}, {"ngrams": (2, 3)}, {"characters": (2, 3)}])
def test_a_text_has_as_many_tokens_as_are_cut_of_it(tokens):
    written, options = ["free prize in side now", "free", "", "win win win"], Tokens(**tokens)
    found, cut = bags(Texts.of(written), options), [texts(one, options) for one in written]
    assert found.lengths(distinct=False).tolist() == [len(one) for one in cut]
    assert found.lengths(distinct=True).tolist() == [len(set(one)) for one in cut]


def test_a_missing_text_has_no_length():
    nb = eo.NaiveBayes({"text": eo.Words(length_column=True)}).fit(MAIL, "label")
    assert nb.predict_proba([{"text": None}])[0] == pytest.approx([0.5, 0.5])
    assert nb.explain([{"text": None}])[0].terms[1].note == "missing: no evidence"


@pytest.mark.parametrize("name", ["mail.csv", "mail.jsonl", "mail.parquet"])
def test_files_are_memory(tmp_path, name):
    frame = pd.DataFrame(MAIL)
    path = tmp_path / name
    {"csv": frame.to_csv, "jsonl": lambda p, **_: frame.to_json(p, orient="records", lines=True)}.get(
        path.suffix[1:], frame.to_parquet
    )(path, index=False)
    for how in (eo.Words(length_column=True), eo.Column(parts=("length",))):
        from_file = eo.NaiveBayes({"text": how}).fit(str(path), "label")
        assert from_file.model_ == eo.NaiveBayes({"text": how}).fit(MAIL, "label").model_
        assert from_file.predict(str(path)).tolist() == frame["label"].tolist()
        from_file.save(tmp_path / "mail.eo")
        assert eo.Model.load(tmp_path / "mail.eo") == from_file.model_


def test_a_column_of_that_name_must_be_renamed():
    rows = [{"text": "aa bb", "text.length": 2}, {"text": "aa", "text.length": 1}]
    with pytest.raises(eo.DataError, match="the second is the length of the first; rename it"):
        eo.NaiveBayes({"text": eo.Words(length_column=True)}).fit(rows, ["x", "y"])


def test_on_the_command_line(tmp_path):
    data, path = tmp_path / "mail.csv", tmp_path / "mail.eo"
    data.write_text("text,label\n" + "".join(f"{row['text']},{row['label']}\n" for row in MAIL))
    fit = ["fit", data, "-t", "label", "--normalise", "--length-column", "-o", path]
    run(*fit, "--text", "text")
    words = eo.Model.load(path).schema.columns["text"].words
    assert words == eo.Words(length="normalised", length_column=True)
    assert "text.length = 3 " in run("explain", path, "free prize now").stdout
    assert "free prize now" in run("predict", path, "--lines", "-", stdin="free prize now\n").stdout
    assert "of text alone: --normalise, --length-column" in run(*fit, code=2).stderr


def test_what_is_said_of_text_is_said_of_the_columns_that_look_so(tmp_path):
    data, path = tmp_path / "mail.csv", tmp_path / "mail.eo"
    rows = [f"{word} and number {i} of it,{'ab'[i % 2]},{i % 3}\n" for i, word in enumerate(["free", "lunch"] * 60)]
    data.write_text("said,label,size\n" + "".join(rows))
    run("fit", data, "-t", "label", "--ngrams", 2, "-o", path)
    columns = eo.Model.load(path).schema.columns
    assert columns["said"].words == eo.Words(ngrams=2)
    assert columns["size"].words is None
    assert "accuracy" in run("evaluate", data, "-t", "label", "--folds", 3, "--ngrams", 2).stdout
    stderr = run("evaluate", data, "-t", "said", "--folds", 3, "--ngrams", 2, code=2).stderr
    assert stderr == "Error: of text alone: --ngrams; name a column of text with --text\n"
