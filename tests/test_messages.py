"""The embedded messages: their form, their variety, and how hard they are."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.naive_bayes import MultinomialNB
from sklearn.pipeline import make_pipeline

import evenodds
from evenodds.data.messages import COLUMNS, FILE, messages, pairs


def words(text):
    return re.findall(r"\w\w+", text.lower())


def test_the_table_is_the_file():
    table = messages()
    assert table.column_names == list(COLUMNS)
    assert list(zip(table["label"].to_pylist(), table["text"].to_pylist())) == list(pairs())
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert lines[0].split("\t") == list(COLUMNS)
    assert len(lines) == len(pairs()) + 1


def test_the_file_is_inside_the_package_so_that_a_wheel_has_it():
    assert Path(evenodds.__file__).parent in FILE.parents


def test_there_are_a_few_hundred_of_each_and_neither_is_most():
    counts = Counter(label for label, _ in pairs())
    assert set(counts) == {"ham", "spam"}
    assert sum(counts.values()) >= 400
    assert min(counts.values()) > 0.4 * sum(counts.values())


def test_they_are_clean_lines_that_any_reader_of_tsv_takes():
    for _, text in pairs():
        assert text == text.strip()
        assert 1 <= len(text) <= 250
        assert not re.search(r'[\t\r\n"\x00-\x1f]', text), text


def test_no_message_comes_twice_nor_nearly():
    """No templates: two messages share at most half of their words (Jaccard), short ones apart."""
    bags = [(text, set(words(text))) for _, text in pairs() if len(words(text)) >= 5]
    alike = [
        (a, b) for i, (a, left) in enumerate(bags) for b, right in bags[:i] if 2 * len(left & right) > len(left | right)
    ]
    assert alike == []


def test_they_are_mixed_so_that_any_run_of_them_has_both():
    labels = [label for label, _ in pairs()]
    for start in range(0, len(labels) - 40, 40):
        assert len(set(labels[start : start + 40])) == 2


def test_addresses_and_numbers_to_call_lead_nowhere():
    """Reserved names (RFC 2606), and service numbers in the range kept for fiction (555 01xx)."""
    every = "\n".join(text for _, text in pairs())
    hosts, numbers = (re.findall(what, every) for what in (r"[a-z][\w-]*\.[a-z]{2,}", r"\b0[89]00[ \d]+"))
    assert hosts
    assert numbers
    assert [host for host in hosts if not host.endswith(".example")] == []
    assert [number for number in numbers if not re.match(r"0[89]00 555 01\d\d\b", number)] == []


@pytest.mark.parametrize("word", ["free", "prize", "parcel", "account", "urgent", "invoice", "password", "offer"])
def test_telling_words_are_on_both_sides(word):
    assert {label for label, text in pairs() if word in words(text)} == {"ham", "spam"}


@pytest.mark.parametrize("ngrams", [1, 2])
def test_naive_bayes_is_right_about_19_times_in_20_and_not_always(ngrams):
    table = messages()
    texts, labels = np.array(table["text"].to_pylist(), object), np.array(table["label"].to_pylist())
    model = make_pipeline(CountVectorizer(ngram_range=(1, ngrams)), MultinomialNB())
    accuracy = cross_val_score(model, texts, labels, cv=StratifiedKFold(10, shuffle=True, random_state=0)).mean()
    assert 0.93 < accuracy < 0.98
