"""The frozen Unicode table is Python's own, but for two characters."""

import re
import unicodedata

from command import loaded
from evenodds.text import unicode
from evenodds.text.make_table import table
from evenodds.text.unicode import DIGIT, GAP, LETTER, MARK

EVERY = range(unicode.POINTS)
SAME = unicodedata.unidata_version == unicode.version()


def known(point):
    """Whether the frozen table and the running Python speak of the same character: a newer one has more of them."""
    return SAME or unicode.kind(point) != GAP


def test_a_word_is_what_re_takes_for_one():
    for point in filter(known, EVERY):
        assert (unicode.kind(point) in (LETTER, DIGIT)) == bool(re.match(r"\w", chr(point))), hex(point)


def test_digits_and_marks():
    for point in filter(known, EVERY):
        assert (unicode.kind(point) == DIGIT) == chr(point).isdecimal(), hex(point)
        if unicode.kind(point) == MARK:
            assert unicodedata.category(chr(point))[0] in "PS", hex(point)


def test_lower_case_is_pythons_but_for_the_dotted_capital():
    different = [chr(p) for p in filter(known, EVERY) if chr(unicode.lower(p)) != chr(p).lower()]
    assert different == ["İ"]
    assert chr(unicode.lower(ord("İ"))) == "i"
    assert "ΟΔΟΣ".lower() == "οδος"
    assert "".join(chr(unicode.lower(ord(c))) for c in "ΟΔΟΣ") == "οδοσ"  # whatever its neighbours


def test_lower_case_is_lowered_once_and_for_all():
    for point in unicode.table().upper:
        assert unicode.lower(unicode.lower(point)) == unicode.lower(point)


def test_without_accents_is_nfkd_less_what_combines():
    for point in filter(known, EVERY):
        parts = unicodedata.normalize("NFKD", chr(point))
        assert unicode.bare(point) == "".join(c for c in parts if not unicodedata.combining(c)), hex(point)


def test_text_without_accents_is_each_character_without():
    text = "Ǆ ﷺ 한국 ẛ̣ é e\u0301\u0323 ½ ﬁ Å Ω"
    parts = unicodedata.normalize("NFKD", text)
    assert "".join(unicode.bare(ord(c)) for c in text) == "".join(c for c in parts if not unicodedata.combining(c))


def test_the_file_is_what_the_script_writes():
    ours, theirs = unicode.table(), unicode.read(table())
    assert theirs.version == unicodedata.unidata_version
    for point in filter(known, EVERY):
        assert kind_in(ours, point) == kind_in(theirs, point), hex(point)
    for read in (lowered, bared):
        one, other = read(ours), read(theirs)
        assert {p: to for p, to in one.items() if known(p)} == {p: to for p, to in other.items() if known(p)}
    if SAME:
        assert ours == theirs


def kind_in(t, point):
    return t.kinds[t.blocks[point // unicode.BLOCK] * unicode.BLOCK + point % unicode.BLOCK]


def lowered(t):
    return dict(zip(t.upper, t.lower))


def bared(t):
    return {p: t.bare[start:stop].tolist() for p, start, stop in zip(t.accented, t.ends, t.ends[1:])}


def test_one_message_needs_no_numpy():
    program = """
from evenodds.text.quick import Quick
from evenodds.text.tokenise import Tokens
none, tokens = [0.0, 0.0], Tokens(ngrams=2, accents=False)
Quick("text", ["ham", "spam"], tokens, False, False, None, [1], [0.5, 0.5], none, none).proba("Ça coûte 5 €")
"""
    assert loaded(program) & {"numpy", "numba", "pyarrow"} == set()
