"""Counting and weighing documents, against the plain tokeniser, scikit-learn, and the laws of a tally."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from evenodds.errors import DataError
from evenodds.labels import Labels
from evenodds.text import list_kernels, tokenise
from evenodds.text.bags import bags
from evenodds.text.batches import Reader, bucket_keys, replacements, replacing
from evenodds.text.count import count
from evenodds.text.counts import Counts, one_lexicon
from evenodds.text.keys import key
from evenodds.text.quick import Quick
from evenodds.text.score import Weights
from evenodds.text.tables import Links
from evenodds.text.tokenise import Tokens
from evenodds.texts import Texts
from test_text_kernels import ends, read
from test_text_tokenise import OPTIONS, document, options

labelled = st.lists(st.tuples(document, st.integers(-1, 2)), max_size=8)
N = 3


def tally(rows, settings=Tokens(), **how):  # noqa: B008
    return count(Texts.of([data for data, _ in rows]), np.array([c for _, c in rows], np.int64), N, settings, **how)


def by_hand(rows, settings, distinct=False):
    """Per class how often each key occurs."""
    found = [Counter() for _ in range(N)]
    for data, c in rows:
        if c >= 0:
            keys = tokenise.keys(data, settings)
            found[c].update(set(keys) if distinct else keys)
    return [dict(sorted(each.items())) for each in found]


def as_dicts(counts):
    return [dict(zip(keys.tolist(), numbers.tolist())) for keys, numbers in counts.lists]


@given(labelled, options, st.booleans())
def test_counts_are_those_by_hand(rows, settings, distinct):
    counts = tally(rows, settings, distinct=distinct)
    assert as_dicts(counts) == by_hand(rows, settings, distinct)
    assert counts.documents.tolist() == [sum(c == group for _, c in rows) for group in range(N)]
    assert counts.tokens.tolist() == [sum(each.values()) for each in by_hand(rows, settings, distinct)]


@given(labelled)
def test_the_matrix_is_the_lists_side_by_side(rows):
    counts = tally(rows)
    keys, matrix = counts.matrix()
    assert keys.tolist() == sorted({h for each in as_dicts(counts) for h in each})
    assert matrix.tolist() == [[each.get(h, 0) for each in as_dicts(counts)] for h in keys.tolist()]


@given(labelled, options)
def test_texts_are_read_back(rows, settings):
    counts = tally(rows, settings)
    for group in range(N):
        texts = Counter()
        for data, c in rows:
            if c == group:
                texts.update(tokenise.texts(data.decode("utf-8", "replace"), settings))
        assert counts.table(group) == texts


@given(labelled, labelled, labelled, options)
def test_counts_are_a_sum(a, b, c, settings):
    one, two, three = (tally(rows, settings) for rows in (a, b, c))
    nothing = Counts.nothing(N)
    assert tally(a + b, settings) == one + two == two + one
    assert (one + two) + three == one + (two + three)
    assert one + nothing == one
    assert one - one == nothing
    assert (one + two) - two == one


@given(labelled, options, st.integers(1, 300), st.sampled_from([1, 2, 3]))
def test_shards_and_threads_change_nothing(rows, settings, shard, threads):
    assert tally(rows, settings, shard=shard, threads=threads) == tally(rows, settings)
    assert tally(rows[::-1], settings) == tally(rows, settings)


@given(labelled, options, st.booleans())
def test_hashed_and_exact_agree(rows, settings, distinct):
    exact, hashed = tally(rows, settings, distinct=distinct), tally(rows, settings, buckets=1 << 20, distinct=distinct)
    for (keys, numbers), (buckets, totals) in zip(exact.lists, hashed.lists):
        places = bucket_keys(keys, 1 << 20)
        assert buckets.tolist() == sorted(set(places.tolist()))
        assert totals.tolist() == [int(numbers[places == h].sum()) for h in buckets]
    assert hashed + hashed - hashed == hashed
    assert not len(hashed.lexicon)


@given(labelled)
def test_few_buckets_hold_everything(rows):
    assert tally(rows, buckets=256).tokens.tolist() == tally(rows).tokens.tolist()


def test_counts_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    vocabulary = [f"Word{i}" for i in range(3000)] + ["é", "ça", "naïve", "日本", "x"]
    documents = [" ".join(rng.choice(vocabulary, rng.integers(0, 80))) for _ in range(400)]
    classes = rng.integers(0, N, len(documents))
    vectors = CountVectorizer(ngram_range=(1, 2))
    matrix = vectors.fit_transform(documents)
    counts = count(Texts.of(documents), classes, N, Tokens(ngrams=2), shard=5000, threads=2)
    names = vectors.get_feature_names_out()
    for group in range(N):
        total = np.asarray(matrix[classes == group].sum(axis=0)).ravel()
        assert counts.table(group) == {names[i]: total[i] for i in np.flatnonzero(total)}


def test_documents_may_lie_anywhere_in_the_blob():
    blob = np.frombuffer(b"xx one two yy three", np.uint8)
    texts = Texts(blob, np.array([14, 3], np.int32), np.array([19, 10], np.int32))
    assert count(texts, np.array([0, 0]), 1).table(0) == {"one": 1, "three": 1, "two": 1}


def test_classes_are_moved():
    counts = count(Texts.of(["aa", "bb", "aa bb"]), np.array([0, 1, 2]), 3)
    moved = counts.grouped(4, np.array([3, 0, 0]))
    assert [moved.table(g) for g in range(4)] == [{"aa": 1, "bb": 2}, {}, {}, {"aa": 1}]
    assert moved.documents.tolist() == [2, 0, 0, 1]


def test_forgetting_the_last_pair_forgets_its_words():
    settings = Tokens(ngrams=(2, 3))
    rows = [(b"aa bb cc", 0), (b"bb cc dd", 1)]
    left = tally(rows, settings) - tally(rows[:1], settings)
    assert left == tally(rows[1:], settings)
    assert sorted(left.lexicon.texts()) == ["bb", "cc", "dd"]


@pytest.mark.parametrize("seed", [0, 77])
def test_stems_are_counted(seed):
    settings = Tokens(stem="english", stop_words={"the"}, ngrams=2, seed=seed)
    rows = [(b"The winners win prizes", 0), (b"winner wins the prize", 0), (b"others", -1)]
    counts = tally(rows, settings)
    assert counts.table(0) == {"prize": 2, "win": 2, "winner": 2, "win prize": 2, "winner win": 2}
    assert sorted(counts.lexicon.texts()) == ["prize", "win", "winner"]
    assert (np.diff(counts.lexicon.keys) > 0).all()
    assert as_dicts(counts) == by_hand(rows, settings)
    known = counts.keys()
    scores = Weights(known, np.ones((len(known), 1))).score(Texts.of([data for data, _ in rows]), settings)
    assert scores.sums.ravel().tolist() == [5, 5, 0]


def test_what_cannot_be_counted_is_refused():
    texts = Texts.of(["aa"])
    with pytest.raises(ValueError, match="1 documents but 2 classes"):
        count(texts, np.array([0, 1]), 2)
    with pytest.raises(ValueError, match="buckets is 1000, expected a power of two"):
        count(texts, np.array([0]), 1, buckets=1000)
    with pytest.raises(ValueError, match="a class is 5, expected less than 2"):
        count(texts, np.array([5]), 2)
    with pytest.raises(ValueError, match="counts over all words and over 256 buckets cannot be added"):
        count(texts, np.array([0]), 1) + count(texts, np.array([0]), 1, buckets=256)
    with pytest.raises(ValueError, match="counts of 1 and 2 classes"):
        count(texts, np.array([0]), 1) + count(texts, np.array([0]), 2)


def test_two_words_with_one_key_are_refused():
    one, other = Labels.of(["aa"]), Labels.of(["bb"])
    with pytest.raises(DataError, match="words 'aa' and 'bb' have the same 64-bit key"):
        one_lexicon([one, Labels(one.keys, other.blob, other.ends)])
    keys = np.array([7], np.uint64)
    with pytest.raises(ValueError, match="two n-grams have the same 64-bit key"):
        Links.all([Links(keys, keys), Links(keys, keys + np.uint64(1))])


def test_a_bucket_is_shown_by_its_number():
    counts = count(Texts.of(["aa"]), np.array([0]), 1, buckets=256)
    assert counts.table(0) == {"aa": 1}
    counts = replace(counts, sample=None)
    assert counts.table(0) == {f"#{key(b'aa') >> 56}": 1}
    assert repr(counts) == "Counts(1 classes, 1 of 256 buckets, 1 documents)"


@pytest.mark.parametrize("classes", [1, 2, 5])
@given(rows=labelled, settings=options, distinct=st.booleans(), seed=st.integers(0, 9))
def test_scores_are_those_of_plain_python_to_the_bit(classes, rows, settings, distinct, seed):
    known = tally(rows[: len(rows) // 2 + 1], settings).keys()
    weights = np.random.default_rng(seed).normal(size=(len(known), classes))
    texts = Texts.of([data for data, _ in rows])
    scores = Weights(known, weights).score(texts, settings, distinct=distinct, threads=2, shard=100)
    none, found = [0.0] * classes, (known.tolist(), weights.ravel().tolist())
    quick = Quick("text", list(range(classes)), settings, distinct, False, None, *found, none, none)
    for d, (data, _) in enumerate(rows):
        keys = tokenise.keys(data, settings)
        every = list(dict.fromkeys(keys)) if distinct else keys
        assert scores.sums[d].tolist() == quick.log_joint(data.decode("utf-8", "replace"))
        assert scores.tokens[d] == len(every)
        assert scores.known[d] == len([h for h in every if h in set(known.tolist())])


def test_scores_of_buckets():
    texts = Texts.of(["aa bb", "cc"])
    counts = count(texts, np.array([0, 0]), 1, buckets=256)
    keys = counts.lists[0].keys
    assert Weights(keys, np.ones((len(keys), 1)), 256).score(texts).sums.ravel().tolist() == [2.0, 1.0]


@pytest.mark.parametrize("classes", [1, 2, 5])
@given(
    rows=labelled,
    settings=options,
    distinct=st.booleans(),
    known=st.sets(st.integers(0, 255), min_size=10, max_size=60),
)
def test_a_table_of_all_buckets_says_what_plain_python_says(classes, rows, settings, distinct, known):
    """From 32 buckets of 256 on, weights are a table; of buckets that are not known nothing is said."""
    buckets = np.array(sorted(known), np.uint64)
    weights = np.random.default_rng(0).normal(size=(256, classes))[sorted(known)]
    texts = Texts.of([data for data, _ in rows])
    found = Weights(bucket_keys(buckets << np.uint64(56), 256), weights, 256)
    how = {"distinct": distinct, "threads": 2, "shard": 100}
    scores = found.score(texts, settings, **how)
    of = dict(zip(sorted(known), weights))
    for d, (data, _) in enumerate(rows):
        each = [key >> 56 for key in tokenise.keys(data, settings)]
        each = list(dict.fromkeys(each)) if distinct else each
        expected = sum((of[b] for b in each if b in of), np.zeros(classes))
        assert scores.sums[d].tolist() == expected.tolist()
        assert scores.tokens[d] == len(each)
        assert scores.known[d] == sum(b in of for b in each)
    assert found.weights.tolist() == weights.tolist()
    for b in range(256):
        row = found.of((b << 56) | 1)
        assert (None if row is None else row.tolist()) == (of[b].tolist() if b in of else None)


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 keys but weights of shape"):
        Weights(np.array([1, 2], np.uint64), np.ones((3, 1)))


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_keys_that_crowd_and_the_largest_key_are_found_and_no_others(classes):
    top = (1 << 64) - 1
    crowd = [1, 2, 3, 5, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, top - 1, top]
    asked = np.array([0, *crowd, 4, top - 2, 1 << 62], np.uint64)
    for some in ([], crowd, crowd[:-1], crowd[-1:], crowd[4:7]):
        known = np.array(some, np.uint64)
        weights = np.random.default_rng(0).normal(size=(len(known), classes))
        of = dict(zip(some, weights.tolist()))
        sums, many = np.zeros((len(asked), classes)), np.zeros((2, len(asked)), np.int64)
        list_kernels.add_weights(asked, np.arange(1, len(asked) + 1), *Weights(known, weights)._find, sums, *many)
        assert sums.tolist() == [of.get(int(key), [0.0] * classes) for key in asked]
        assert many.tolist() == [[int(key in of) for key in asked.tolist()], [1] * len(asked)]


@given(labelled, options, st.sampled_from([None, 1 << 20]), st.integers(1, 300))
def test_bags_are_the_distinct_tokens(rows, settings, buckets, shard):
    found = bags(Texts.of([data for data, _ in rows]), settings, buckets=buckets, shard=shard)
    start = 0
    for (data, _), end in zip(rows, found.ends):
        keys = np.array(tokenise.keys(data, settings), np.uint64)
        expected = Counter((keys if buckets is None else bucket_keys(keys, buckets)).tolist())
        assert list(zip(found.keys[start:end].tolist(), found.times[start:end].tolist())) == list(expected.items())
        start = end
    assert start == len(found.keys)


@pytest.mark.parametrize("settings", OPTIONS)
def test_every_code_point_is_folded_alike(settings):
    many = [" ".join(f"a{chr(p)}b{chr(p)}" for p in range(s, s + 64)) for s in range(0, 0x110000, 64)]
    many = [text for text in many if not any(0xD800 <= ord(c) < 0xE000 for c in text)]
    texts = Texts.of(many[:1500:3] + many[-20:])
    reader = Reader(texts, settings, replaced=replacing(replacements(settings, [])))
    levels = reader.read(0, len(texts.starts))
    for d in range(len(texts.starts)):
        found = [h for level in levels[settings.lengths[0] - 1 :] for h in level.keys[slice(*ends(level, d))].tolist()]
        assert found == tokenise.keys(texts.document(d), settings)


def test_a_token_of_ten_megabytes():
    long = b"Ab" * 5_000_000
    keys, words, _ = read(Texts.of([b"short " + long + b" end"]), Tokens())
    assert keys == [[key(b"short"), key(long.lower()), key(b"end")]]
    assert words[1] == long.lower()
