"""Every measured number on a page is that of a result that is kept in benchmarks/results."""

import doctest
import re

import pytest
from benchmarks import headlines, mutations, page, report, run, text_accuracy, text_data

ENVIRONMENT = {"commit": "abc1234", "cpu": "Abacus(R) Processor @ 1 Hz", "cores": 2, "busy": 0.0}
SAME = {"results": [], "environment": ENVIRONMENT}


def part(name, text=""):
    return f"<!-- results: {name} -->\n{text}<!-- end -->\n"


@pytest.fixture
def two_parts(monkeypatch):
    monkeypatch.setattr(page, "PARTS", {"one": lambda result: "a table", "two": lambda result: "another"})


def test_the_pages_say_what_the_results_say(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["page", "--check"])
    assert page.main() == 0, f"run python -m benchmarks.page\n{capsys.readouterr().out}"


def test_a_number_that_is_not_the_results_is_found(monkeypatch, capsys, tmp_path):
    spoilt = tmp_path / "README.md"
    spoilt.write_text(part("mutations", "All but one were noticed.\n"))
    monkeypatch.setattr(page, "pages", lambda: {spoilt: spoilt.read_text()})
    monkeypatch.setattr(page, "ROOT", tmp_path)
    monkeypatch.setattr("sys.argv", ["page", "--check"])
    assert page.main() == 1
    assert "-All but one were noticed." in capsys.readouterr().out
    assert "All but one" in spoilt.read_text()
    monkeypatch.setattr("sys.argv", ["page"])
    assert page.main() == 0
    assert "All but one" not in spoilt.read_text()


def test_every_result_and_every_part_is_on_a_page():
    shown = {name for text in page.pages().values() for name in page.names(text)}
    assert shown == set(page.PARTS)
    assert {page.file_of(name) for name in shown} >= set(page.results())


def test_links_to_sections_lead_to_one():
    links = [(page.ROOT / "README.md", one.where) for one in headlines.HEADLINES]
    for where, text in page.pages().items():
        links += [(where, found) for found in re.findall(r"\]\(([^)\s]*\.md#[^)\s]*)\)", text)]
    for where, link in links:
        target, _, anchor = link.partition("#")
        headings = re.findall(r"^#+ (.*)$", (where.parent / target).read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in [re.sub(r"[^\w\- ]", "", one).lower().replace(" ", "-") for one in headings], (where, link)


def test_every_formula_that_is_to_be_spoilt_is_there_once():
    source = page.ROOT / "src" / "evenodds"
    lost = [one for one in mutations.MUTATIONS if (source / one.where).read_text().count(one.old) != 1]
    assert [(one.where, one.old) for one in lost] == []
    assert {test for one in mutations.MUTATIONS for test in one.tests if not (page.ROOT / test).exists()} == set()


def test_all_scripts_that_are_shown_are_run():
    scripts = {script for script, *_ in run.RUNS}
    assert {show.__module__.partition(".")[2] for show in page.PARTS.values()} == scripts | {"headlines"}


@pytest.mark.usefixtures("two_parts")
def test_where_it_was_measured_is_said_at_the_end_of_a_section_and_where_it_changes():
    text = "## A\n" + part("one") + part("two") + "## B\n" + part("one")
    other = {**SAME, "environment": {**ENVIRONMENT, "commit": "def5678", "busy": 0.6}}
    said = "*Measured at `abc1234` on Abacus @ 1 Hz, 2 cores.*"
    same = page.rewritten(text, {"one": SAME, "two": SAME})
    assert same == "## A\n" + part("one", "a table\n") + part("two", f"another\n\n{said}\n") + "## B\n" + part(
        "one", f"a table\n\n{said}\n"
    )
    assert page.rewritten(same, {"one": SAME, "two": SAME}) == same
    changed = page.rewritten(text, {"one": SAME, "two": other})
    busy = "*Measured at `def5678` on Abacus @ 1 Hz, 2 cores; other processes kept 0.6 of them busy.*"
    assert changed.startswith("## A\n" + part("one", f"a table\n\n{said}\n") + part("two", f"another\n\n{busy}\n"))


def test_what_ran_beside_nobody_is_no_headline():
    alone = {
        "bandits_speed": {"decisions": {"ours": {"ucb": {"a second": 3.0}}}},
        "networks_answers": {"answers": [{"median_seconds": {"evenodds": 0.1}}]},
        "glm_speed": {"fits": [{"design": "table", "family": "poisson", "library": "evenodds", "seconds": 1.0}]},
    }
    assert len(headlines.shown(alone).splitlines()) == 2  # the table's head


@pytest.mark.usefixtures("two_parts")
def test_what_was_not_measured_leaves_its_place_empty():
    text = part("one", "old\n") + part("two", "old\n")
    assert page.rewritten(text, {"two": SAME}).startswith(part("one") + "<!-- results: two -->\nanother\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (part("speed"), "no part 'speed'; there are one, two"),
        ("<!-- results: one -->\n" + part("two"), "a part does not end"),
        (part("one") + "<!-- results: two -->\n", "a part does not end; there are one"),
    ],
)
@pytest.mark.usefixtures("two_parts")
def test_a_part_that_is_unknown_or_does_not_end_is_refused(text, said):
    with pytest.raises(ValueError, match=said):
        page.rewritten(text, {"one": SAME, "two": SAME})


@pytest.mark.parametrize("module", [report, text_accuracy, text_data], ids=lambda module: module.__name__)
def test_examples_in_docstrings_hold(module):
    assert doctest.testmod(module).failed == 0
