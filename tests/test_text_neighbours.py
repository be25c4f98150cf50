"""Lookalikes of a word, against every edit written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.labels import Labels
from evenodds.text.neighbours import Lookalikes

words = st.text("abcé日", max_size=6)


def one_edit(word, alphabet):
    """All that one edit makes of a word."""
    cuts = [(word[:i], word[i:]) for i in range(len(word) + 1)]
    return {
        *(a + b[1:] for a, b in cuts if b),
        *(a + c + b for a, b in cuts for c in alphabet),
        *(a + c + b[1:] for a, b in cuts if b for c in alphabet),
        *(a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1),
    }


@given(words, st.lists(words, max_size=40))
def test_one_edit_away_are_those_that_one_edit_makes(word, known):
    found = Lookalikes(Labels.of(known)).near(word.encode())
    assert set(found) == {other for other in known if other != word and other in one_edit(word, "abcé日")}
    assert len(set(found)) == len(found)


@given(words, st.lists(words, max_size=40))
def test_two_edits_away(word, known):
    near = one_edit(word, "abcé日")
    far = {text for other in near for text in one_edit(other, "abcé日")}
    found = Lookalikes(Labels.of(known)).near(word.encode(), distance=2)
    once = [other for other in found if other in near]
    assert found[: len(once)] == once  # the nearer first
    assert set(once) == {other for other in known if other != word and other in near}
    # a letter is edited once only: "ab" to "bca" by a swap and then a letter put between is three edits
    assert set(found) <= (far | near) - {word}
    assert set(found) >= {other for other in known if other != word and plain_edits(word, other) == 2}


def plain_edits(a, b):
    """Levenshtein's distance: no swaps."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j - 1] + (x != y), before[j] + 1, row[-1] + 1))
    return row[-1]


def test_the_most_similar_come_first():
    known = Lookalikes(Labels.of(["free", "frees", "tree", "three", "fee", "fred", "lunch", ""]))
    assert known.near(b"free") == ["frees", "fred", "fee", "tree"]
    assert known.near(b"free", distance=2) == ["frees", "fred", "fee", "tree", "three"]
    assert known.near(b"fre") == ["fred", "free", "fee"]
    assert known.near(b"f") == [""]


def test_a_lexicon_may_be_empty():
    assert Lookalikes(Labels.of([])).near(b"free") == []
    known = Lookalikes(Labels.of(["free"]))
    assert [known.near(word) for word in (b"fre", b"xyz", b"x" * 100_000)] == [["free"], [], []]


def test_letters_that_share_their_last_bits_are_told_apart():
    known = Lookalikes(Labels.of([f"a{chr(ord('b') + 64 * i)}c" for i in range(3)]))
    assert len(known.near(b"abc")) == 2


def test_the_distance_is_one_or_two():
    with pytest.raises(ValueError, match="distance is 3, expected 1 or 2"):
        Lookalikes(Labels.of(["free"])).near(b"free", distance=3)


def test_many_words():
    rng = np.random.default_rng(0)
    many = {"".join(rng.choice(list("etaoinshr"), rng.integers(3, 9))) for _ in range(5000)}
    known = Lookalikes(Labels.of(many))
    for word in ("hairs", "onset", "tiara"):
        assert set(known.near(word.encode())) == (one_edit(word, "etaoinshr") & many) - {word}
