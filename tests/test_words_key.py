"""Buckets that depend on a secret."""

import pickle

import numpy as np
import pytest

import evenodds as eo
from command import invoke as run
from evenodds import file
from evenodds.data.messages import messages
from test_words import topics

TEXTS, Y = topics(80)


def fit(**words):
    return eo.NaiveBayes(columns=eo.Words(buckets=1 << 20, **words), smoothing=1).fit(TEXTS, Y)


def counted(nb):
    return nb.model_.tally.lists["text", "words"]


def test_a_key_moves_the_words_and_changes_no_answer():
    plain, keyed, other = fit(), fit(key="a secret"), fit(key="another")
    keys = [set(counted(nb).keys().tolist()) for nb in (plain, keyed, other)]
    assert all(len(a & b) <= 2 for a, b in ((keys[0], keys[1]), (keys[1], keys[2]), (keys[0], keys[2])))
    np.testing.assert_allclose(keyed.predict_proba(TEXTS), plain.predict_proba(TEXTS), rtol=1e-9)
    how = [{"buckets": 1 << 20, "key": "a secret"}, {}]
    one, two = (eo.NaiveBayes(columns=eo.Words(ngrams=2, **more), smoothing=1).fit(TEXTS[:20], Y[:20]) for more in how)
    np.testing.assert_allclose(one.predict_proba(TEXTS[:20]), two.predict_proba(TEXTS[:20]), rtol=1e-9)


def test_one_secret_is_one_key_in_any_form():
    assert eo.Words(buckets=256, key="geheim") == eo.Words(buckets=256, key=b"geheim")
    seed = eo.Words(buckets=256, key="geheim").key
    assert eo.Words(buckets=256, key=seed) == eo.Words(buckets=256, key="geheim")
    assert eo.Words(buckets=256, key="geheim") != eo.Words(buckets=256, key="Geheim")
    assert eo.Words(buckets=256, key=1 << 63).seed == 1 << 63
    assert eo.Words(buckets=256, key="ab\ud800").seed


def test_the_secret_is_shown_nowhere(tmp_path):
    nb = fit(key="a secret")
    nb.save(tmp_path / "m.eo")
    seed = nb.model_.schema.columns["text"].words.seed
    for shown in (repr(nb), repr(nb.model_), repr(nb.model_.schema), repr(nb.model_.schema.columns)):
        assert "key=…" in shown
        assert "a secret" not in shown
        assert str(seed) not in shown
    assert b"a secret" not in (tmp_path / "m.eo").read_bytes()


@pytest.mark.parametrize(("how", "there"), [({}, True), ({"buckets": 256, "key": "a secret"}, False)], ids=str)
def test_the_words_are_in_the_file_unless_a_key_hides_them(how, there):
    nb = eo.NaiveBayes(columns=eo.Words(**how), smoothing=1).fit(["confidential lunch", "lunch"], ["x", "y"])
    assert (b"confidential" in nb.model_.to_bytes()) is there


def test_models_of_different_keys_are_not_added():
    for other in (fit(key="another"), fit()):
        with pytest.raises(
            ValueError, match="column 'text' was hashed with different keys, so that a bucket is not the same"
        ):
            fit(key="a secret").model_ + other.model_
    with pytest.raises(ValueError, match="is modelled differently"):
        fit(key="a secret").model_ + fit(key="another", ngrams=2).model_
    same = fit(key="a secret").model_
    assert (same + fit(key=b"a secret").model_) - same == same


def test_the_seed_is_in_the_file(tmp_path):
    nb = fit(key="a secret")
    nb.save(tmp_path / "m.eo")
    again = eo.NaiveBayes.load(tmp_path / "m.eo")
    assert again.model_ == nb.model_
    assert again.predict_proba(TEXTS).tolist() == nb.predict_proba(TEXTS).tolist()
    assert pickle.loads(pickle.dumps(nb)).predict(TEXTS).tolist() == nb.predict(TEXTS).tolist()
    _, header = file.read(tmp_path / "m.eo")
    assert header["schema"]["columns"][0]["words"]["key"] == eo.Words(buckets=256, key="a secret").seed


@pytest.mark.parametrize("key", ["", b"", 0, -1, 1 << 64, True, 1.5, ["a"]])
def test_what_is_no_secret(key):
    with pytest.raises(ValueError, match="Words: key is no secret"):
        eo.Words(buckets=256, key=key)


def test_a_key_is_of_buckets():
    with pytest.raises(ValueError, match="key without buckets: a file holds the words themselves then"):
        eo.Words(key="a secret")


def test_on_the_command_line(tmp_path):
    data, secret, model = (str(tmp_path / name) for name in ("mail.csv", "secret", "mail.eo"))
    run("demo", "--messages", data)
    (tmp_path / "secret").write_bytes(b"a secret\n")
    fit = ["fit", data, "-t", "label", "--text", "text", "-o", model, "--key-file", secret]
    run(*fit, "--buckets", 4096)
    assert eo.Model.load(model).schema.columns["text"].words == eo.Words(buckets=4096, key="a secret")
    assert eo.Model.load(model).rows == len(messages())
    hidden = run("words", model, "-n", 1).stdout
    assert hidden.count("#") == 2
    run(*fit[:-2], "--buckets", 1048576)
    named = run("words", model, "-n", 1).stdout
    assert [line.split()[1] for line in named.splitlines()[2:]] == ["the", "your"]
    for wrong, says in (([], "key without buckets"), (["--buckets", "1000"], "expected a power of two")):
        assert says in run(*fit, *wrong, code=2).stderr
    (tmp_path / "secret").write_bytes(b"\n")
    assert f"{secret} is empty" in run(*fit, "--buckets", 4096, code=2).stderr
    (tmp_path / "secret").unlink()
    assert secret in run(*fit, "--buckets", 4096, code=1).stderr
