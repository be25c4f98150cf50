"""The tokeniser in plain Python, against `re` and scikit-learn."""

import re
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from evenodds.text import keys as plain
from evenodds.text import tokenise
from evenodds.text.tokenise import Tokens, keys, stemmer, texts, words
from test_text_unicode import known

PIECES = [
    *(
        b"a",
        b"I",
        b"the",
        b"THE",
        b"Internationalization",
        b"x" * 70,
        b"Zebra_9",
        b"2024",
        b" ",
        b"\n",
        b"  ",
        b"!",
        b"...",
        b"'s",
    ),
    *(
        b"\x00",
        b"\x01",
        b"\x1f",
        b"\x7f",
        b"\t",
        b"_",
        b"__",
        b"0123456789abcdef",
        b"ab",
        b"abcdefgh",
        b"abcdefghi",
        b"A" * 64,
    ),
    *(
        s.encode()
        for s in [
            "é",
            "É",
            "Straße",
            "İ",
            "Σ",
            "ΟΔΟΣ",
            "ς",
            "Ⱥ",
            "K",
            "Å",
            "ﷺ",
            "ﬁ",
            "½",
            "²",
            "한국",
            "日本語",
            "٣",
            "५",
        ]
    ),
    *(
        s.encode()
        for s in [
            "😀",
            "👍🏽",
            "👨‍👩‍👧",
            "e\u0301",
            "\u0301",
            "\ufeff",
            "\u00a0",
            "\u2028",
            "ǅ",
            "𝔘",
            "𐐀",
            "\U0010ffff",
            "\ufffd",
            "я",
            "Я",
        ]
    ),
    *(
        b"\xff",
        b"\xc3",
        b"\xc0\xaf",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xed\xb0\x80",
        b"\xf0\x9f\x98",
        b"\xf4\x90\x80\x80",
        b"\xf8\x88",
    ),
    *(b"\x80", b"\xbf\xbf", b"\xe0\x80\x80", b"\xf0\x80\x80\x80", b"\xc3(", b"\xe2(\xa1", b"\xf0\x9f("),
]
document = st.lists(st.sampled_from(PIECES), max_size=30).map(b"".join) | st.binary(max_size=200)
documents = st.lists(document, max_size=6)


def between_blanks(text):
    """What stands between blanks: nothing at all, where there are two."""
    return text.split(" ")


OPTIONS = [
    Tokens(),
    Tokens(min_length=1),
    Tokens(min_length=5),
    Tokens(case=True),
    Tokens(accents=False),
    Tokens(digits=False, case=True),
    Tokens(punctuation=True),
    Tokens(punctuation=True, accents=False, digits=False, min_length=3),
    Tokens(ngrams=2),
    Tokens(ngrams=(3, 3), min_length=1),
    Tokens(ngrams=(2, 4), punctuation=True),
    Tokens(characters=(1, 3)),
    Tokens(characters=(2, 2), accents=False, min_length=1, punctuation=True),
    Tokens(stop_words=frozenset({"The", "ab", "é"}), ngrams=2),
    Tokens(function=str.split, ngrams=2, stop_words=frozenset({"THE"})),
    Tokens(function=between_blanks, ngrams=2),
    Tokens(seed=0x0123456789ABCDEF, ngrams=2, stop_words=frozenset({"ab"})),
    Tokens(seed=2**64 - 1, characters=(1, 2)),
]
options = st.sampled_from(OPTIONS)


letters = st.text(max_size=200).map(lambda text: "".join(c for c in text if known(ord(c)) or c.isspace()))


def like_scikit_learn(text, **settings):
    """What CountVectorizer makes of a text, its two documented differences made the same."""
    text = text.replace("İ", "i").replace("Σ", "σ")
    return CountVectorizer(**settings).build_analyzer()(text)


@given(letters | document.map(lambda d: d.decode("utf-8", "replace")).filter(lambda d: all(map(known, map(ord, d)))))
def test_words_are_those_of_scikit_learn(text):
    assert texts(text) == like_scikit_learn(text.encode("utf-8", "replace").decode())


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Tokens(ngrams=2), {"ngram_range": (1, 2)}),
        (Tokens(ngrams=(2, 3)), {"ngram_range": (2, 3)}),
        (Tokens(case=True), {"lowercase": False}),
        (Tokens(accents=False), {"strip_accents": "unicode"}),
        (Tokens(min_length=1), {"token_pattern": r"(?u)\b\w+\b"}),
        (Tokens(min_length=4), {"token_pattern": r"(?u)\b\w{4,}\b"}),
        (Tokens(punctuation=True, min_length=1), {"token_pattern": r"(?u)\w+|[!-/:-@\[-^`{-~]"}),
        (Tokens(stop_words={"the", "at"}, ngrams=2), {"stop_words": ["the", "at"], "ngram_range": (1, 2)}),
    ],
)
def test_options_are_those_of_scikit_learn(ours, theirs):
    text = "The Cafés of Zürich: 12½ ﬁne 日本語 words, at I/O_9 — naïve 한국 (the end)! A b cd"
    if ours.punctuation:
        text = text.replace("—", "-")
    assert texts(text, ours) == like_scikit_learn(text, **theirs)


def test_every_code_point_between_two_letters():
    for start in range(0, 0x110000, 0x1000):
        points = [p for p in range(start, start + 0x1000) if known(p) and not 0xD800 <= p < 0xE000]
        text = " ".join(f"a{chr(p)}b" for p in points)
        lowered = text.replace("İ", "i").replace("Σ", "σ").lower()
        assert texts(text) == re.findall(r"(?u)\b\w\w+\b", lowered)


@given(document)
def test_what_is_not_utf8_is_replaced_as_python_does(data):
    assert words(data) == words(data.decode("utf-8", "replace").encode())


def test_unreadable_bytes_are_marks():
    assert words(b"ab\xffcd \xed\xa0\x80", Tokens(punctuation=True)) == [
        b"ab",
        "�".encode(),
        b"cd",
        *["�".encode()] * 3,
    ]


def test_a_text_with_a_lone_surrogate_can_be_read():
    assert texts("ab\ud800cd") == ["ab", "cd"]


def test_digits_are_folded():
    assert texts("call 0800-123 ٣٤ x²", Tokens(digits=False)) == ["call", "0000", "000", "00", "x²"]


def test_emoji_are_tokens_of_their_own():
    assert texts("so 😀😀 ok!?", Tokens(punctuation=True)) == ["so", "😀", "😀", "ok", "!", "?"]


def test_characters():
    assert texts("No, no", Tokens(characters=(2, 3))) == [
        *[" n", "no", "o ", " n", "no", "o "],
        *[" no", "no ", "o n", " no", "no "],
    ]
    assert texts("?!", Tokens(characters=(1, 1))) == []
    assert texts("é!", Tokens(characters=(1, 1), min_length=1, punctuation=True)) == [" ", "é", " ", "!", " "]


def test_stop_words_are_folded_like_the_text():
    assert texts("The CAFÉ bar", Tokens(stop_words={"THE", "Café"}, accents=False)) == ["bar"]


def test_a_function_of_ones_own():
    assert texts("It is-not", Tokens(function=lambda text: text.split("-"), ngrams=2)) == ["It is", "not", "It is not"]


def test_words_are_stemmed():
    assert texts("winners of prizes, running", Tokens(stem="english")) == ["winner", "of", "prize", "run"]
    assert texts("Häuser und Kinder", Tokens(stem="german", stop_words={"und"})) == ["haus", "kind"]
    with pytest.raises(ValueError, match=r"'klingon' is not a language of snowballstemmer; it has .*english"):
        texts("winners", Tokens(stem="klingon"))


def test_a_missing_stemmer_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "snowballstemmer", None)
    monkeypatch.setattr(tokenise, "_STEMMERS", threading.local())
    with pytest.raises(ImportError, match="pip install snowballstemmer"):
        texts("winners", Tokens(stem="english"))


def test_threads_do_not_share_a_stemmer():
    words = ["running", "prizes", "winners", "nationally", "happiness"] * 50
    once = [stemmer("english")(word) for word in words]
    with ThreadPoolExecutor(4) as pool:
        assert all(found == once for found in pool.map(lambda _: [stemmer("english")(w) for w in words], range(16)))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"min_length": 0}, "min_length is 0, expected 1 or more"),
        ({"ngrams": 0}, "ngrams is 0"),
        ({"ngrams": (2, 1)}, "ngrams is"),
        ({"ngrams": 257}, "ngrams is 257, expected a number of words, or (shortest, longest), from 1 to 256"),
        ({"seed": -1}, "seed is not a whole number from 0 to 2^64 - 1"),
        ({"seed": 2**64}, "seed is not a whole number from 0 to 2^64 - 1"),
        ({"characters": (0, 2)}, "characters is"),
        ({"characters": (1, 2), "ngrams": 2}, "characters and ngrams are both given"),
        ({"characters": (1, 2), "stem": "english"}, "characters and stem are both given"),
        ({"stop_words": "the"}, "expected a set of words"),
    ],
)
def test_options_that_make_no_sense_are_refused(settings, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Tokens(**settings)


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_the_last_word_is_had_back(prefix, word):
    assert plain.last(plain.join(prefix, word), prefix) == word


def unsealed(h, seed):
    """Undo `keys.sealed`, step by step: what it hides is not lost."""
    other = ((seed << 32) | (seed >> 32)) & plain.MASK
    for secret, factor in ((seed, plain.STEP), (other, plain.MIX), (seed, plain.STEP)):
        h ^= h >> 32
        h = (h * pow(factor, -1, 2**64)) & plain.MASK ^ secret
    return h


@given(st.integers(0, 2**64 - 1), st.integers(1, 2**64 - 1))
def test_a_sealed_key_stands_for_one_word(h, seed):
    assert unsealed(plain.sealed(h, seed), seed) == h
    assert plain.sealed(h, 0) == h


def test_a_seed_is_not_shown():
    assert "98765" not in repr(Tokens(seed=98765))
    assert Tokens(seed=98765) != Tokens()


@given(document, options)
def test_there_is_a_key_for_every_text(data, settings):
    text = data.decode("utf-8", "replace")
    found, every = texts(text, settings), keys(text.encode(), settings)
    assert len(found) == len(every)
    if settings.lengths[1] == 1:
        assert every == [plain.sealed(plain.key(token.encode()), settings.seed) for token in found]


def test_pairs_are_joined_keys():
    a, b, c = (plain.key(word) for word in (b"aa", b"bb", b"cc"))
    pairs = [plain.join(a, b), plain.join(b, c)]
    assert keys(b"aa bb cc", Tokens(ngrams=3)) == [a, b, c, *pairs, plain.join(pairs[0], c)]
