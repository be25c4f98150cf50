"""Text is a sum: words add, subtract, are weighed, saved, hashed and read from files, and it is the same model."""

import functools
import itertools
import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from benchmarks import spoiling
from hypothesis import given, settings
from hypothesis import strategies as st

import evenodds as eo
from evenodds import file
from evenodds.audit.held_out import of_folds, of_model
from evenodds.data import csv as csv_module
from evenodds.data import memory, typed_files
from evenodds.data.files import read
from evenodds.data.memory import table
from evenodds.data.source import Memory
from evenodds.data.sum import fold_of
from evenodds.errors import DataError
from evenodds.families import WordCounts
from evenodds.models.explain import explain
from evenodds.models.learnt import Tables, coefficients, n_parameters
from evenodds.text.batches import bucket_keys
from evenodds.text.tokenise import keys
from evenodds.text.words import EVENTS
from test_words import MIXED, fit, mixed, topics

SETTINGS = [
    eo.Words(),
    eo.Words("present", ngrams=2),
    eo.Words("bernoulli", min_count=2),
    eo.Words("complement", ngrams=(2, 3)),
    eo.Words(buckets=1 << 16, prior="pooled"),
    eo.Words("bernoulli", buckets=1 << 20, ngrams=2),
    eo.Words(characters=(2, 3), stop_words=["the"]),
    eo.Words(stem="english", punctuation=True, smoothing=0.5),
    eo.Words("bernoulli", buckets=256, ngrams=2),
    eo.Words(buckets=1 << 20, key="a secret"),
    eo.Words(length="normalised", neighbours=1),
]
EVERY = pytest.mark.parametrize("words", SETTINGS, ids=repr)
VOCABULARY = ["the", "free", "prize", "prizes", "lunch", "Lunch", "日本", "a", "!", "né", "12"]

document = st.lists(st.sampled_from(VOCABULARY), max_size=6).map(" ".join)
rows = st.lists(st.tuples(document | st.none(), st.sampled_from(["ham", "spam", "other"])), min_size=1, max_size=12)
kinds = st.sampled_from(SETTINGS)


def learn(rows, words=SETTINGS[0], weights=None, **how):
    """The model of any rows, of one class too."""
    texts = pd.DataFrame({"text": pd.Series([text for text, _ in rows], dtype=object)})
    nb = eo.NaiveBayes(schema=eo.Schema({"text": column(words)}, "class"), **how)
    return nb.partial_fit(texts, [label for _, label in rows], sample_weight=weights).model_


@functools.cache
def column(words):
    return eo.NaiveBayes(columns=words).fit(["aa", "bb"], ["x", "y"]).model_.schema.columns["text"]


def texts_of(rows):
    return {"text": pa.array([text for text, _ in rows] + ["free lunch the", "", None], pa.string())}


def assert_same_model(a, b, rows):
    """The same counts to the last digit, and so the same bits of every answer."""
    assert a == b
    assert a.tally.to_bytes() == b.tally.to_bytes()
    assert a.log_proba(texts_of(rows)).tobytes() == b.log_proba(texts_of(rows)).tobytes()


@given(rows, kinds, st.data())
def test_any_batches_in_any_order_are_one_fit(rows, words, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    parts = [rows[a:b] for a, b in itertools.pairwise([0, *cuts, len(rows)]) if b > a]
    whole = learn(rows, words)
    assert_same_model(sum(learn(part, words) for part in parts), whole, rows)
    assert_same_model(functools.reduce(lambda a, b: b + a, [learn(part, words) for part in parts]), whole, rows)
    assert_same_model(learn(data.draw(st.permutations(rows)), words), whole, rows)


@given(rows, rows, kinds)
def test_what_is_forgotten_was_never_learnt(a, b, words):
    both = learn(a + b, words)
    assert_same_model(both - learn(b, words), learn(a, words), a)
    forgetful = both.forget({"text": pa.array([text for text, _ in b], pa.string())}, [label for _, label in b])
    assert_same_model(forgetful, learn(a, words), a)
    assert (both - both).rows == 0
    assert not (both - both).classes.size


def test_words_that_were_never_learnt_cannot_be_forgotten():
    nb = fit(["aa bb", "bb cc", "cc"], list("xyy"))
    with pytest.raises(eo.DataError, match=r"never learnt: column 'text' would have 'bb' -1 times in class 'y'"):
        nb.forget(["bb bb"], ["y"])
    with pytest.raises(eo.DataError, match="never learnt: column 'text' would have 'zz'"):
        nb.forget(["zz"], ["y"])
    assert nb.forget(["cc"], ["y"]).model_ == fit(["aa bb", "bb cc"], list("xy")).model_


@EVERY
def test_learning_row_by_row_is_one_fit(words):
    texts, y = topics(40, length=6, classes=3)
    stream = eo.NaiveBayes(columns=words)
    for text, label in zip(texts, y):
        stream.partial_fit([text], [label])
    whole = eo.NaiveBayes(columns=words).fit(texts, y)
    assert stream.model_.tally == whole.model_.tally
    assert stream.predict_proba(texts).tobytes() == whole.predict_proba(texts).tobytes()


@given(rows, kinds, st.data())
def test_a_weight_of_two_is_two_texts_and_zero_is_none(rows, words, data):
    weights = data.draw(st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows)))
    repeated = [row for row, weight in zip(rows, weights) for _ in range(weight)]
    if repeated:
        assert_same_model(learn(rows, words, np.array(weights, float)), learn(repeated, words), rows)


@given(rows, kinds, st.sampled_from([0.5, 0.1, 1 / 3, 2.5]))
def test_fractional_weights_are_fading(rows, words, factor):
    weighted = learn(rows, words, np.full(len(rows), factor), smoothing=1.0)
    faded = learn(rows, words, smoothing=1.0).fade(factor)
    x = texts_of(rows)
    np.testing.assert_allclose(weighted.log_joint(x), faded.log_joint(x), rtol=1e-9, atol=1e-9)
    mine, theirs = (model.tally.lists["text", "words"] for model in (weighted, faded))
    assert mine.keys().tolist() == theirs.keys().tolist()
    np.testing.assert_allclose(mine.matrix()[1], theirs.matrix()[1], rtol=1e-12)


@given(rows, rows, kinds)
def test_fractional_weights_add_and_subtract(a, b, words):
    weights = np.linspace(0.1, 1.7, len(a + b))
    both = learn(a + b, words, weights, smoothing=1.0)
    one, two = learn(a, words, weights[: len(a)], smoothing=1.0), learn(b, words, weights[len(a) :], smoothing=1.0)
    x = texts_of(a + b)
    np.testing.assert_allclose((one + two).log_joint(x), both.log_joint(x), rtol=1e-9, atol=1e-9)
    left = both - two
    assert left.tally.lists["text", "words"].keys().tolist() == one.tally.lists["text", "words"].keys().tolist()
    np.testing.assert_allclose(left.log_joint(x), one.log_joint(x), rtol=1e-9, atol=1e-9)


@EVERY
@pytest.mark.parametrize("class_weight", ["balanced", {"topic 0": 3.0, "topic 2": 0.25}], ids=str)
def test_a_class_weight_is_a_weight_of_its_texts(words, class_weight):
    texts, y = topics(60, classes=3, length=6)
    counts = dict(zip(*np.unique(y, return_counts=True)))
    factors = class_weight if isinstance(class_weight, dict) else {c: len(y) / (3 * n) for c, n in counts.items()}
    weights = np.array([factors.get(label, 1.0) for label in y])
    by_class = eo.NaiveBayes(columns=words, class_weight=class_weight, smoothing=1.0).fit(texts, y)
    by_row = eo.NaiveBayes(columns=words, smoothing=1.0).fit(texts, y, sample_weight=weights)
    np.testing.assert_allclose(by_class.predict_log_proba(texts), by_row.predict_log_proba(texts), rtol=1e-9)


@given(rows)
def test_nulls_count_for_the_class_alone(rows):
    known = [(text, label) for text, label in rows if text is not None]
    model = learn(rows)
    assert model.rows == len(rows)
    if known:
        mine, theirs = (learn(some).tally.lists["text", "words"] for some in (rows, known))
        assert mine.documents.sum() == theirs.documents.sum() == len(known)
        assert mine.pooled().numbers.tolist() == theirs.pooled().numbers.tolist()


@given(rows, st.sampled_from(EVENTS), st.sampled_from([2, 3, 100]))
def test_a_minimum_count_never_changes_the_tally(rows, events, least):
    usual, rare = learn(rows, eo.Words(events)), learn(rows, eo.Words(events, min_count=least))
    assert rare.tally.to_bytes() == usual.tally.to_bytes()
    found = rare.distributions.get("text")
    each, totals = usual.tally.lists["text", "words"].pooled()
    assert (found.weights.keys.tolist() if found else []) == each[totals >= least].tolist()


# Shards and threads


@EVERY
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 2.0, 90)], ids=["rows", "weighted"])
def test_threads_and_shards_change_no_bit(monkeypatch, words, weights):
    texts, y = topics(90, length=6, classes=3)
    how = {"columns": words, "smoothing": 1.0}
    whole = eo.NaiveBayes(**how).fit(texts, y, sample_weight=weights)
    monkeypatch.setattr(memory, "SHARD", 17)
    one, two, four = (eo.NaiveBayes(threads=n, **how).fit(texts, y, sample_weight=weights) for n in (1, 2, 4))
    assert one.model_.tally.to_bytes() == two.model_.tally.to_bytes() == four.model_.tally.to_bytes()
    assert one.predict_proba(texts).tobytes() == four.predict_proba(texts).tobytes()
    np.testing.assert_allclose(one.predict_log_proba(texts), whole.predict_log_proba(texts), rtol=1e-9)
    if weights is None:
        assert one.model_.tally.to_bytes() == whole.model_.tally.to_bytes()


def test_many_texts_at_once_are_scored_like_each_alone():
    texts, y = topics(1200)
    nb = fit(texts, y, words={"ngrams": 2})
    together = nb.predict_joint_log_proba(texts)
    alone = np.concatenate([nb.predict_joint_log_proba([text]) for text in texts[::60]])
    assert together[::60].tobytes() == alone.tobytes()


# Hashed words


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize("ngrams", [1, 2])
def test_hashed_is_exact_where_no_buckets_collide(events, ngrams):
    texts, y = topics(60, classes=3)
    exact, hashed = (fit(texts, y, events, words={"ngrams": ngrams, "buckets": b}) for b in (None, 1 << 24))
    known = exact.model_.tally.lists["text", "words"].keys()
    assert len(np.unique(bucket_keys(known, 1 << 24))) == len(known)
    assert hashed.predict_joint_log_proba(texts).tobytes() == exact.predict_joint_log_proba(texts).tobytes()
    assert hashed.n_parameters_ == exact.n_parameters_
    assert hashed.model_.smoothing("text") == exact.model_.smoothing("text")


@pytest.mark.parametrize("events", ["present", "bernoulli"])
def test_two_words_of_one_bucket_are_there_once(events):
    texts, y = topics(100, length=200)
    nb = fit(texts, y, events, words={"buckets": 256})
    counts = nb.model_.tally.lists["text", "words"]
    assert (counts.matrix()[1] <= counts.documents).all()
    words = {
        text: [int(key) for key in bucket_keys(np.array(keys(text.encode()), np.uint64), 256)] for text in texts[:5]
    }
    for text, found in words.items():
        weights = dict(zip(counts.keys().tolist(), nb.model_.distributions["text"].weights.weights))
        total = nb.model_.log_prior + nb.model_.distributions["text"].constant
        total = total + sum(weights[key] for key in set(found))
        assert len(set(found)) < len(set(text.split()))
        np.testing.assert_allclose(nb.predict_joint_log_proba([text])[0], total, rtol=1e-9)
        [why] = nb.explain([text])
        assert why.prior + sum(term.log_odds for term in why.terms) == pytest.approx(why.total, abs=1e-9)


def test_buckets_that_collide_count_together():
    texts, y = topics(200)
    nb = fit(texts, y, words={"buckets": 256})
    counts = nb.model_.tally.lists["text", "words"]
    assert len(counts.keys()) < len({word for text in texts for word in text.split()})
    assert counts.tokens.sum() == sum(len(text.split()) for text in texts)
    assert nb.score(texts, y) > 0.85


# Saved and loaded


@EVERY
@pytest.mark.parametrize("weights", [None, np.linspace(0.1, 2.0, 60)], ids=["rows", "weighted"])
def test_a_model_read_back_is_the_same_model(tmp_path, words, weights):
    texts, y = topics(60, classes=3, length=8)
    nb = eo.NaiveBayes(columns=words).fit(texts, y, sample_weight=weights)
    nb.save(tmp_path / "words.eo")
    back = eo.load(tmp_path / "words.eo")
    assert back == nb.model_
    assert back.schema.columns["text"].words == words
    assert back.to_bytes() == (tmp_path / "words.eo").read_bytes()
    assert back.log_proba(texts).tobytes() == nb.predict_log_proba(texts).tobytes()
    more, labels = topics(20, seed=1, classes=3)
    assert back.learn(more, labels) == nb.model_.learn(more, labels)
    if weights is None:
        assert back.learn(more, labels).forget(more, labels) == back
    assert repr(Tables(back)) == repr(nb.tables)


def test_a_model_of_many_columns_read_back():
    X, y = mixed()
    nb = eo.NaiveBayes(MIXED).fit(X, y)
    back = eo.NaiveBayes.of(eo.Model.from_bytes(nb.model_.to_bytes()))
    assert back.model_ == nb.model_
    assert back.predict_proba(X).tobytes() == nb.predict_proba(X).tobytes()
    assert [why.terms for why in back.explain(X)] == [why.terms for why in nb.explain(X)]
    assert (back + nb).model_ == (nb + nb).model_


def test_a_model_of_texts_without_words_and_of_no_rows_read_back():
    empty = fit(["", "?"], ["x", "y"]).model_
    assert eo.Model.from_bytes(empty.to_bytes()) == empty
    nothing = empty - empty
    again = eo.Model.from_bytes(nothing.to_bytes())
    assert again == nothing
    assert again.learn(["aa"], ["x"]).rows == 1


@functools.cache
def originals():
    X, y = mixed(24)
    models = [eo.NaiveBayes(MIXED).fit(X, y).model_, fit(["", "?"], ["x", "y"]).model_]
    for words, weights in zip(SETTINGS, itertools.cycle([None, np.linspace(0.1, 2.0, 12)])):
        texts, labels = topics(12, classes=3, length=4)
        models.append(eo.NaiveBayes(columns=words).fit(texts, labels, sample_weight=weights).model_)
    return [model.to_bytes() for model in models]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(4))
def test_a_spoilt_file_is_refused_in_a_sentence_or_is_a_model(seed):
    refused = sound = 0
    for i in range(400):
        spoilt = spoiling.spoil(originals(), seed, i)
        try:
            model = eo.Model.from_bytes(spoilt.data)
        except file.FileError as error:
            refused += str(error).startswith("the run of bytes ")
            continue
        sound += 1
        use(model)
    assert refused + sound == 400
    assert sound > 5


def use(model):
    """All that can be asked of a model: an answer without NaN, or a sentence on settings that do not fit its rows."""
    names = [how.source or name for name, how in model.schema.features.items()]
    x = {name: pa.array(["1", None], pa.string()) for name in names}
    try:
        if len(model.classes):
            assert not np.isnan(model.log_proba(x)).any()
            repr(Tables(model))
            n_parameters(model)
            assert model + model - model == model
        if len(model.classes) > 1:
            repr(explain(model, table(x)))
        assert eo.Model.from_bytes(model.to_bytes()) == model
    except ValueError as error:
        if not re.search("class_prior|without smoothing that would settle|a pruned model cannot forget", str(error)):
            raise


@pytest.mark.parametrize(
    ("array", "change", "words"),
    [
        ("numbers", lambda n: -n, "counted less than nothing"),
        ("documents", lambda n: n + 5, "more texts than rows"),
        ("documents", lambda n: n * 0, "words without texts"),
        ("numbers", lambda n: n + 5, "in more texts than there are"),
        ("keys", lambda n: n[::-1].copy(), "not in ascending order"),
        ("lexicon.keys", lambda n: n + np.uint64(1), "no text"),
        ("ends", lambda n: n + 1, "does not cut"),
    ],
)
def test_a_forged_list_of_words_is_refused_and_told(array, change, words):
    arrays, header = file.unpack(fit(["aa bb", "bb cc", "cc"], list("xyy"), "present").model_.to_bytes())
    header.pop("format")
    forged = file.pack({**arrays, f"list0.{array}": change(arrays[f"list0.{array}"])}, header)
    with pytest.raises(file.FileError, match=words):
        eo.Model.from_bytes(forged)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("events", "odd"), ("ngrams", [1]), ("buckets", 256), ("function", "len"), ("case", 1), ("stop_words", "the")],
)
def test_forged_settings_of_words_are_refused(setting, value):
    arrays, header = file.unpack(fit(["aa bb", "bb cc"], list("xy")).model_.to_bytes())
    header.pop("format")
    header["schema"]["columns"][0]["words"][setting] = value
    with pytest.raises(file.FileError, match="column 'text': "):
        eo.Model.from_bytes(file.pack(arrays, header))


# Files


def mail(n=200):
    """Rows with two columns of text beside others; the texts have what CSV must quote."""
    X, y = mixed(n)
    body = [text if text is None else text.replace("w1 ", 'w1, "w2"\n') for text in X["body"]]
    columns = {"subject": pa.array(X["subject"].tolist(), pa.string()), "body": pa.array(body, pa.string())}
    columns |= {
        "length": pa.array(X["length"], from_pandas=True),
        "folder": pa.array(X["folder"].tolist(), pa.string()),
    }
    return pa.table({**columns, "topic": pa.array(y.tolist())})


def written(folder, rows, name):
    path = folder / name
    if name.endswith("parquet"):
        pq.write_table(rows, path, row_group_size=37)
    elif name.endswith("jsonl"):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
    else:
        pyarrow.csv.write_csv(rows, path)
    return str(path)


@pytest.mark.filterwarnings("ignore::evenodds.SchemaWarning")
@pytest.mark.parametrize("size", [700, 1 << 20])
@pytest.mark.parametrize("name", ["mail.csv", "mail.jsonl", "mail.parquet"])
def test_files_are_memory(tmp_path, monkeypatch, name, size):
    rows = mail()
    if name.endswith("csv"):  # which has no other way to say null than an empty text
        for i in (0, 1):
            rows = rows.set_column(i, rows.column_names[i], rows.column(i).fill_null(""))
    monkeypatch.setattr(csv_module, "BLOCK", size)
    monkeypatch.setattr(typed_files, "CELLS", size)
    inside = eo.NaiveBayes(MIXED, smoothing=1.0).fit(rows, "topic")
    path = written(tmp_path, rows, name)
    outside = eo.NaiveBayes(MIXED, smoothing=1.0).fit(path, "topic")
    for name in ("subject", "body"):
        assert outside.model_.column_tally(name) == inside.model_.column_tally(name)
    np.testing.assert_allclose(
        outside.predict_log_proba(path), inside.predict_log_proba(rows.drop(["topic"])), rtol=1e-9, atol=1e-9
    )
    part = written(tmp_path, rows.slice(0, 50), f"part.{path.rpartition('.')[2]}")
    rest = eo.NaiveBayes(schema=inside.model_.schema, smoothing=1.0).fit(rows.slice(50), "topic")
    assert outside.forget(part, "topic").model_.column_tally("body") == rest.model_.column_tally("body")


def test_null_and_empty_texts_of_files_differ(tmp_path):
    rows = pa.table({"text": ["aa bb", None, "", "cc"], "class": ["x", "x", "y", "y"]})
    for name in ("texts.jsonl", "texts.parquet"):
        nb = eo.NaiveBayes({"text": eo.Words("bernoulli")}).fit(written(tmp_path, rows, name), "class")
        assert sorted(nb.model_.tally.lists["text", "words"].documents.tolist()) == [1, 2]
        assert nb.model_ == eo.NaiveBayes({"text": eo.Words("bernoulli")}).fit(rows, "class").model_


# Judged


@EVERY
def test_folds_are_fits_without_them(words):
    texts, y = topics(150, classes=3, length=6)
    source = Memory(table({"text": texts, "topic": y.tolist()}))
    judged = of_folds(source, "topic", 4, {"text": words}, random_state=3).metrics()
    fold = fold_of(0, len(texts), None, 4, 3)
    right, surprise = 0, 0.0
    for k in range(4):
        train, test = (np.flatnonzero(some).tolist() for some in (fold != k, fold == k))
        nb = eo.NaiveBayes(columns=words).fit([texts[i] for i in train], y[train])
        log_p = nb.predict_log_proba([texts[i] for i in test])
        own = np.searchsorted(nb.classes_, y[test])
        right += (log_p.argmax(axis=1) == own).sum()
        surprise -= log_p[np.arange(len(test)), own].sum()
    assert judged.accuracy == pytest.approx(right / len(texts))
    assert judged.log_loss == pytest.approx(surprise / len(texts), rel=1e-9)


def test_a_model_is_judged_on_a_file(tmp_path):
    rows = mail(120)
    nb = eo.NaiveBayes(MIXED).fit(rows, "topic")
    judged = of_model(nb.model_, read(written(tmp_path, rows, "mail.parquet"))).metrics()
    assert judged.accuracy == pytest.approx(nb.score(rows.drop(["topic"]), rows["topic"].to_pylist()))


@settings(max_examples=20)
@given(rows, kinds)
def test_what_is_learnt_can_be_read(rows, words):
    model = learn(rows, words)
    assert len(repr(Tables(model))) > 0
    assert n_parameters(model)["naive"] >= 0
    linear = coefficients(model)
    assert np.isfinite(linear.weights).all()
    assert len(linear.names) == linear.weights.shape[1]


def test_each_text_has_a_group_and_one_of_weight_0_is_none():
    with pytest.raises(DataError, match="the group is missing in row 2; drop such rows"):
        WordCounts.tally(["ham", "egg", "spam"], groups=["a", "b", None])
    with pytest.raises(DataError, match="1 group values for 2 rows"):
        WordCounts.tally(["ham", "egg"], groups=["a"])
    rest = WordCounts.tally(["ham", "egg"], groups=["a", "b"], weights=[1, 0])
    assert rest == WordCounts.tally(["ham"], groups=["a"])
    assert rest.groups.texts() == ["a"]


def test_a_prior_of_words_is_told_by_their_settings():
    column = eo.Column(WordCounts, prior=eo.Dirichlet(1))
    with pytest.raises(DataError, match=r"column 'text': prior=Dirichlet\(1\): words have none but Words\(prior="):
        eo.NaiveBayes({"text": column}).fit({"text": ["ham egg", "spam"]}, ["a", "b"]).predict({"text": ["ham"]})
