"""One message answered from the mapped file, without numpy: the same answer, to the bit."""

import subprocess
import sys
from bisect import bisect_left
from pathlib import Path

import numpy as np
import pytest

import evenodds as eo
from command import invoke, loaded
from evenodds import __main__, file
from evenodds.data.memory import Table
from evenodds.data.messages import messages
from evenodds.text import quick, tokenise
from evenodds.texts import Texts

EVENODDS = str(Path(sys.executable).parent / "evenodds")
TEXTS = messages()["text"].to_pylist()
STRANGE = ["", "zzzz qqqq", "free FREE free", "Naïve ÉTÉ 12 été", "a\x00b \ud800 free", "😀 prize 😀", "now " * 500]
WORDS = [
    eo.Words(),
    eo.Words(ngrams=2),
    eo.Words(ngrams=(2, 3), min_count=2),
    eo.Words(events="present", stop_words={"the", "free"}),
    eo.Words(events="bernoulli"),
    eo.Words(events="complement", accents=False, digits=False, punctuation=True, min_length=1),
    eo.Words(buckets=256),
    eo.Words(buckets=256, events="bernoulli", ngrams=2),
    eo.Words(characters=(2, 4), case=True),
    eo.Words(buckets=1 << 12, key="a secret", ngrams=2),
]


@pytest.fixture(scope="module", params=WORDS, ids=str)
def saved(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("quick") / "spam.eo"
    nb = eo.NaiveBayes(columns={"text": request.param}).fit(messages(), "label")
    nb.save(path)
    return nb, path


def test_the_same_numbers(saved):
    nb, path = saved
    model = quick.load(path)
    some = TEXTS[::25] + STRANGE
    rows = Table({"text": Texts.of(some)}, len(some))
    assert [model.log_joint(text) for text in some] == nb.predict_joint_log_proba(rows).tolist()
    np.testing.assert_allclose([model.proba(text) for text in some], nb.predict_proba(rows))


def test_the_same_words_on_the_command_line(saved, capsys):
    _, path = saved
    for text in [*TEXTS[::60], *STRANGE[1:], "free \udcff\udcfe! prize"]:
        assert __main__.explain(str(path), text) == 0
        assert capsys.readouterr().out == invoke("explain", path, text).stdout


def test_a_document_of_strange_bytes_has_the_words_of_its_score(saved):
    nb, _ = saved
    words = nb.model_.distributions["text"]
    for text in STRANGE:
        total = words.constant + sum(times * weights for _, times, weights in words.tokens(text) if weights is not None)
        np.testing.assert_allclose(words.log_prob(Texts.of([text]))[0], total, rtol=1e-12)


def test_bytes_that_are_no_text_are_explained_on_the_command_line(saved):
    _, path = saved
    for more in ([], ["--of", "spam", "--against", "ham"]):
        argument = b"free \xff\xfe! prize \xed\xa0\x80"
        done = subprocess.run([EVENODDS, "explain", path, argument, *more], capture_output=True)
        assert (done.returncode, done.stderr) == (0, b"")


def test_nothing_heavy_is_imported(saved):
    _, path = saved
    program = (
        f"import sys; sys.argv = ['evenodds', 'explain', {str(path)!r}, 'free prize']\n"
        "from evenodds.__main__ import main\n"
        "try: main()\nexcept SystemExit as end: assert end.code == 0"
    )
    assert loaded(program) & {"numpy", "click", "pyarrow", "numba", "rich"} == set()


def test_what_is_not_a_message_for_it_goes_the_long_way(tmp_path):
    path = tmp_path / "mixed.eo"
    rows = [
        {"text": "free prize now", "age": 3, "label": "a"},
        {"text": "see you at lunch", "age": 5, "label": "b"},
    ] * 9
    eo.NaiveBayes(columns={"text": eo.Words()}).fit(rows, "label").save(path)
    assert quick.load(path) is None
    done = subprocess.run([EVENODDS, "explain", path, "free prize"], capture_output=True, text=True)
    assert done.returncode == 3
    assert "other columns than one of text: give rows as COLUMN=VALUE, as in text=TEXT, or a file" in done.stderr
    lines = subprocess.run(
        [EVENODDS, "predict", path, "--lines", "-"], input="free prize", capture_output=True, text=True
    )
    assert "one of text: give a file with the columns 'text', 'age', without --lines" in lines.stderr
    for model, code in (("nothing.eo", 1), (__file__, 3)):
        done = subprocess.run([EVENODDS, "explain", model, "free prize"], capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, "Traceback" in done.stderr) == (code, False)


FAULT = r"damaged|cut short|not an evenodds model|newer|more bytes"


def test_files_cut_short_are_refused_in_words(tmp_path):
    path = tmp_path / "spam.eo"
    eo.NaiveBayes(columns=eo.Words()).fit(TEXTS, messages()["label"]).save(path)
    data, rng = path.read_bytes(), np.random.default_rng(0)
    for end in rng.integers(0, len(data), 100):
        path.write_bytes(data[:end])
        with pytest.raises(file.FileError, match=FAULT):
            quick.load(path)


def test_no_spoilt_number_is_used(tmp_path):
    path, every = tmp_path / "spam.eo", " ".join({word for text in TEXTS for word in text.split()})
    eo.NaiveBayes(columns=eo.Words()).fit(TEXTS, messages()["label"]).save(path)
    data, rng = path.read_bytes(), np.random.default_rng(0)
    right, (_, table, start, _) = quick.load(path).log_joint(every), file.parse(data)
    used = [at for name, at in table.items() if name.startswith(quick.PREFIX)]
    inside = [(at.offset, at.offset + 8 * int(np.prod(at.shape))) for at in used]
    answered = 0
    for _ in range(300):
        spoilt, at = bytearray(data), int(rng.integers(len(data)))
        spoilt[at] ^= 1 << int(rng.integers(8))
        path.write_bytes(spoilt)
        if at < start or any(low <= at < high for low, high in inside):
            with pytest.raises(file.FileError, match=FAULT):
                quick.load(path).log_joint(every)  # every word, so every block
        else:  # in the tally, which one message does not look at; who opens the model does
            assert quick.load(path).log_joint(every) == right
            answered += 1
            with pytest.raises(file.FileError, match="damaged"):
                file.read(path)
    assert 50 < answered < 250


def test_a_block_that_is_not_looked_at_need_not_be_read(tmp_path):
    path = tmp_path / "many.eo"
    texts = [f"word{i} word{i + 1}" for i in range(3_000)]
    eo.NaiveBayes(columns=eo.Words()).fit(texts, np.arange(3_000) % 2).save(path)
    model = quick.load(path)
    model.log_joint("word17")
    blocks = [len(model.keys.known) / len(model.keys.sums), len(model.weights.known) / len(model.weights.sums)]
    assert max(blocks) < 1
    assert model.weights.known == {
        8 * 2 * bisect_left(list(model.keys), tokenise.keys(b"word17", model.tokens)[0]) // quick.BLOCK
    }


def test_a_file_without_sums_of_blocks_is_checked_as_a_whole(tmp_path):
    path = tmp_path / "spam.eo"
    eo.NaiveBayes(columns=eo.Words()).fit(TEXTS, messages()["label"]).save(path)
    new = quick.load(path).log_joint("free prize")
    arrays, header = file.read(path)
    arrays = {name: np.array(array) for name, array in arrays.items() if not name.endswith(".sums")}
    del header["format"], header["quick"]["checksum"]
    data = file.pack(arrays, header)
    path.write_bytes(data)
    assert quick.load(path).log_joint("free prize") == new
    path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    with pytest.raises(file.FileError, match="damaged"):
        quick.load(path)


def test_files_forged_to_fit_their_checksum_are_refused_or_answer(tmp_path):
    path = tmp_path / "spam.eo"
    eo.NaiveBayes(columns=eo.Words()).fit(TEXTS, messages()["label"]).save(path)
    arrays, header = file.read(path)
    arrays = {name: np.array(array) for name, array in arrays.items()}
    header.pop("format")
    for change in (
        lambda a, h: h.update(quick={}),
        lambda a, h: h["quick"].update(classes=["only"]),
        lambda a, h: h["quick"].update(classes=7),
        lambda a, h: h["quick"].update(tokens={"ngrams": 0}),
        lambda a, h: h["quick"].update(tokens={"function": "os.system"}),
        lambda a, h: h["quick"].update(tokens={"strange": 1}),
        lambda a, h: h["quick"].update(tokens=None),
        lambda a, h: h["quick"].update(tokens={"stem": "klingon"}),
        lambda a, h: h["quick"].update(tokens={"characters": [1, 10**9]}),
        lambda a, h: h["quick"].update(exponent=10**400),
        lambda a, h: h["quick"].update(shrink=-1e308),
        lambda a, h: h["quick"].update(buckets=5),
        lambda a, h: h["quick"].update(buckets=300),
        lambda a, h: a.update({"quick.weights": a["quick.weights"][:-1]}),
        lambda a, h: a.update({"quick.prior": np.zeros(3)}),
        lambda a, h: a.update({"quick.keys": a["quick.keys"].view(np.int64)}),
        lambda a, h: a.pop("quick.constant"),
        lambda a, h: a.pop("quick.keys.sums"),
        lambda a, h: h["quick"].update(checksum="0"),
    ):
        forged, about = dict(arrays), {**header, "quick": dict(header["quick"])}
        change(forged, about)
        path.write_bytes(file.pack(forged, about))
        with pytest.raises(file.FileError, match=FAULT):
            quick.load(path)
    forged = {**arrays, "quick.keys": arrays["quick.keys"][::-1].copy()}
    _sealed(path, forged, header)
    assert len(quick.load(path).proba("free prize")) == 2
    for name in ("constant", "prior"):
        _sealed(path, {**arrays, f"quick.{name}": np.array([np.nan, 0.0])}, header)
        with pytest.raises(file.FileError, match="a class has no number"):
            quick.load(path)
    for weight in (np.nan, np.inf, 1e308):
        _sealed(path, {**arrays, "quick.weights": np.full_like(arrays["quick.weights"], weight)}, header)
        with pytest.raises(file.FileError, match="a word weighs more than any can"):
            quick.load(path).proba("free prize")


def _sealed(path, arrays, header):
    """A file of these arrays, all of whose checksums are right."""
    sums = {
        f"quick.{name}.sums": np.array(quick.sums(arrays[f"quick.{name}"].view(np.uint8).reshape(-1).data), np.uint64)
        for name in ("keys", "weights")
    }
    arrays = arrays | sums
    raw = [arrays[f"quick.{name}"].view(np.uint8).data for name in ("keys.sums", "weights.sums", "constant", "prior")]
    path.write_bytes(file.pack(arrays, {**header, "quick": {**header["quick"], "checksum": quick.checksum_of(*raw)}}))
