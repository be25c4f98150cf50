"""An explanation as HTML: complete in itself, escaped, and its colours add up."""

import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser

import pytest
from hypothesis import given

import evenodds as eo
from command import invoke
from evenodds.data.messages import messages
from evenodds.models.explanation import Explanation, Term
from evenodds.models.explanation_html import fragment, page
from evenodds.text.places import places
from evenodds.text.tokenise import Tokens, encoded, keys, words
from evenodds.text.words import EVENTS
from test_text_tokenise import document, options

TEXTS = ["free <b>prize</b> now", "free prize & lunch", "see you at lunch", "lunch at noon"]
Y = ["spam", "spam", "ham & eggs", "ham & eggs"]


class Strict(HTMLParser):
    """The tags and the text of a page; whatever is not closed in order is an error."""

    VOID = ("br", "hr", "meta", "input")

    def __init__(self, source):
        super().__init__(convert_charrefs=True)
        self.open, self.text, self.tags = [], [], []
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


@given(document, options)
def test_every_token_has_its_place(raw, settings):
    text = raw.decode("utf-8", "replace")
    read, where = places(text, settings)
    assert read == text
    if settings.function is None:
        assert len(where) == len(keys(raw, settings))
        assert all(0 <= start < stop <= len(text) for spans in where for start, stop in spans)


@pytest.mark.parametrize("text", ["The CAFÉ, l’été: 50% off!", "aa\x00bb 日本 ½ ﬁne", "\ud800 free \udfff", "", "!!"])
@pytest.mark.parametrize("how", [{}, {"punctuation": True, "min_length": 1}, {"stop_words": {"off"}}], ids=str)
def test_the_words_stand_where_they_are_said_to(text, how):
    settings = Tokens(**how)
    read, where = places(text, settings)
    found = [words(encoded(read[start:stop]), settings) for [(start, stop)] in where]
    assert found == [[word] for word in words(encoded(text), settings)]


@pytest.mark.parametrize("events", EVENTS)
@pytest.mark.parametrize(
    "how",
    [{}, {"ngrams": 2}, {"characters": (2, 4)}, {"buckets": 256}, {"neighbours": 1}, {"stem": "english"}],
    ids=str,
)
@pytest.mark.parametrize("temper", [False, True])
def test_the_pieces_are_the_text_and_add_up_to_the_terms(events, how, temper):
    nb = eo.NaiveBayes(columns=eo.Words(events, **how), smoothing=1, temper=temper).fit(TEXTS, Y)
    assert (nb.model_.exponent("text") == 1) == (not temper)
    for text in ("Free lunch, free prizze for you & me", "", "zzzz", "free free <i>"):
        [why] = nb.explain([text])
        [passage] = why.passages
        assert "".join(piece for piece, _ in passage.pieces) == text
        there = [term.log_odds for term in why.terms if term.value != "words that are not there"]
        assert sum(odds or 0.0 for _, odds in passage.pieces) == pytest.approx(sum(there), abs=1e-12)


def test_a_text_that_is_missing_or_cut_by_a_function_has_no_pieces():
    rows = [{"text": text, "n": n} for n, text in enumerate(TEXTS)]
    nb = eo.NaiveBayes({"text": eo.Words(), "n": eo.Gaussian}, smoothing=1).fit(rows, Y)
    assert nb.explain([{"text": None, "n": 1}])[0].passages == ()
    called = eo.NaiveBayes(columns=eo.Words(function=str.split), smoothing=1).fit(TEXTS, Y)
    assert called.explain(["free prize"])[0].passages == ()
    Strict(called.explain(["free prize"])[0]._repr_html_())


def test_what_a_person_sees():
    [why] = (
        eo.NaiveBayes(columns=eo.Words(), smoothing=1)
        .fit(TEXTS, Y)
        .explain(["Free <script>alert(1)</script> lunch&co"])
    )
    shown = Strict(why._repr_html_())
    text = "".join(shown.text)
    assert "Free <script>alert(1)</script> lunch&co" in text
    assert f"p({why.of}) = {why.probability:.4f}" in text
    assert {tag for tag, _ in shown.tags} == {"div", "p", "b", "span", "small", "br", "table", "tr", "td"}
    spans = {attrs["title"]: attrs["style"] for tag, attrs in shown.tags if tag == "span" and "title" in attrs}
    assert set(spans) == {f"{odds:+.3f}" for _, odds in why.passages[0].pieces if odds is not None}
    for title, style in spans.items():
        assert ("33,102,172" in style) == title.startswith("+")
    for term in why.terms:
        assert f"{term.log_odds:+.3f}" in text
    ET.fromstring(why._repr_html_().replace("<br>", "<br/>"))


def test_infinite_evidence_and_strange_names_are_shown():
    terms = (Term("<c>", '"x"', float("inf")), Term("d", None, float("-inf"), "a & b"))
    why = Explanation("<of>", "&", 0.0, terms, float("nan"), 1.0)
    text = "".join(Strict(fragment(why)).text)
    assert '<c> = "x"' in text
    assert "a & b" in text


def test_the_page_is_complete_in_itself(tmp_path):
    model, out = tmp_path / "spam.eo", tmp_path / "why.html"
    eo.NaiveBayes().fit(messages(), "label").save(model)
    out.write_text("old")
    done = invoke("explain", model, "win a <free> prize", "--html", out)
    assert (done.stdout, done.stderr) == ("", f"1 explanation → {out}\n")
    whole = out.read_text("utf-8")
    assert whole.startswith("<!doctype html>")
    assert "win a <free> prize" in "".join(Strict(whole.removeprefix("<!doctype html>")).text)
    assert not re.search(r"https?:|src=|url\(", whole)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["spam.eo", "why.html"]
    assert invoke("explain", model, "win a <free> prize", "--html", "-").stdout == whole
    both = invoke("explain", model, "free", "--html", "-", "--json", code=2)
    assert both.stderr == "Error: --json or --html, not both\n"
    nowhere = invoke("explain", model, "free", "--html", tmp_path / "no" / "why.html", code=1)
    assert nowhere.stdout == ""
    assert nowhere.stderr.startswith("Error: ")


def test_several_rows_are_one_page():
    nb = eo.NaiveBayes(columns=eo.Words(), smoothing=1).fit(TEXTS, Y)
    assert page(nb.explain(TEXTS), "a & b").count("<hr>") == 3
