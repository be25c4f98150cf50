"""`evenodds audit` and `evenodds report`: the page stands alone, its headings are in order, its tables are there."""

import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import evenodds as eo
from command import invoke as run
from evenodds import plots
from evenodds.audit.metrics import Metrics, tally
from evenodds.data.files import read
from evenodds.plots.groups_page import Groups
from evenodds.plots.paper import Paper, Section
from evenodds.plots.report import _honest, report
from evenodds.show import Frame


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    rng = np.random.default_rng(0)
    n = 800
    sex = rng.choice(["f", "m"], n)
    y = np.where(rng.random(n) < np.where(sex == "m", 0.6, 0.4), "repaid", "lost")
    income = rng.normal(30 + 5 * (y == "repaid"), 6).round(1)
    rows = pd.DataFrame({"sex": sex, "income": income, "<b>&": rng.integers(0, 3, n), "y": y})
    rows.loc[:20, "income"] = np.nan
    rows.loc[rows.index[-400:]].to_csv(folder / "new.csv", index=False)
    eo.NaiveBayes().fit(rows[:400], "y").save(folder / "m.eo")
    return folder


class Page(HTMLParser):
    """What matters of a page: headings, and elements that would fetch or run something."""

    def __init__(self):
        super().__init__()
        self.headings, self.fetching, self.open, self.images = [], [], [], []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag in ("script", "link", "iframe", "object", "embed", "img", "image", "base", "form"):
            self.fetching.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and not (value or "").startswith("#"):
                self.fetching.append(value)
            if name.startswith("on"):
                self.fetching.append(name)
        if given.get("role") == "img":
            self.images.append(given.get("aria-label"))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()


def test_the_page_stands_alone(made):
    run("report", made / "m.eo", made / "new.csv", "--by", "sex", "-o", made / "r.html")
    text = (made / "r.html").read_text()
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.fetching == []
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert page.headings[0] == 1
    assert page.headings.count(1) == 1
    assert all(b <= a + 1 for a, b in zip(page.headings, page.headings[1:]))
    assert page.images
    assert all(page.images)
    assert text.count("<figure>") == text.count("<svg") == text.count("<details>") == len(page.images)
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    order = [text.index(title) for title in ("Your data", "Your model", "How good it is", "How it treats groups")]
    assert order == sorted(order)
    assert "<b>&" not in text  # a column's name is no markup
    assert "&lt;b&gt;&amp;" in text
    assert "are said to be" in text
    assert 'name="viewport"' in text


def test_without_vl_convert_the_tables_are_there(made, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    run("report", made / "m.eo", made / "new.csv", "--by", "sex", "-o", made / "plain.html")
    text = (made / "plain.html").read_text()
    assert "<svg" not in text
    assert "vl-convert is not installed" in text
    assert text.count("<table>") > 5


def test_markdown_and_json_say_the_same(made):
    for kind in ("md", "json"):
        run("report", made / "m.eo", made / "new.csv", "--by", "sex", "-o", made / f"r.{kind}")
    data = json.loads((made / "r.json").read_text())
    assert data["audit"]["by"] == ["sex"]
    assert all(sentence in (made / "r.md").read_text() for sentence in data["audit"]["sentences"])
    refused = run("report", made / "m.eo", made / "new.csv", "-o", made / "r.pdf", code=2)
    assert "expected a name that ends with" in refused.stderr


def test_a_report_without_groups_and_of_many_classes(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 300)
    rows = pd.DataFrame({"x": rng.normal(y), "g": rng.choice(["a", "b"], 300), "y": y})
    rows.to_csv(tmp_path / "d.csv", index=False)
    eo.NaiveBayes().fit(rows, "y").save(tmp_path / "m.eo")
    for more in ([], ["--by", "g"]):
        run("report", tmp_path / "m.eo", tmp_path / "d.csv", "-o", tmp_path / "r.html", *more)
        assert ("How it treats groups" in (tmp_path / "r.html").read_text()) == bool(more)


def test_rows_that_were_learnt_are_told_from_others(made, tmp_path):
    rows = pd.read_csv(made / "new.csv")
    eo.NaiveBayes().fit(rows, "y").save(tmp_path / "learnt.eo")
    for model, learnt in ((made / "m.eo", False), (tmp_path / "learnt.eo", True)):
        run("report", model, made / "new.csv", "-o", tmp_path / "r.md")
        assert ("the very rows that it was learnt from" in (tmp_path / "r.md").read_text()) == learnt


def test_of_rows_that_were_learnt_nothing_is_said_about_honesty_or_change(made, tmp_path):
    rows = pd.read_csv(made / "new.csv")
    eo.NaiveBayes().fit(rows, "y").save(tmp_path / "learnt.eo")
    for model, learnt in ((made / "m.eo", False), (tmp_path / "learnt.eo", True)):
        run("report", model, made / "new.csv", "-o", tmp_path / "r.md")
        page = (tmp_path / "r.md").read_text()
        assert ("Its probabilities are" in page) != learnt
        assert ("Nothing: these are the rows" in page) == learnt


@pytest.mark.parametrize(
    ("factor", "shift", "said"),
    [(1, 0, "are honest, as far as 4,000 rows can tell"), (2, 0, "are too sure"), (0.5, 0, "are too timid"),
     (1, 0.5, "of 'yes' are too high"), (1, -0.5, "of 'yes' are too low"), (-1, 0, "are the wrong way round")],
)  # fmt: skip
def test_honesty_is_said_as_surely_as_the_slope_is_known(factor, shift, said):
    rng = np.random.default_rng(0)
    odds = rng.normal(0, 1.5, 4000)
    y = np.where(rng.random(4000) < 1 / (1 + np.exp(-odds)), "yes", "no")
    told = factor * odds + shift
    log_p = -np.logaddexp(0, np.stack([told, -told], axis=1))
    [sentence] = _honest(Metrics.of(tally(y, log_p, ["no", "yes"]), ["no", "yes"]))
    assert f"Its probabilities {said}" in sentence


def test_ten_rows_do_not_show_that_a_model_is_too_timid():
    log_p = np.log([[0.6, 0.4]] * 5 + [[0.4, 0.6]] * 5)
    metrics = Metrics.of(tally(["no"] * 4 + ["yes"] * 5 + ["no"], log_p, ["no", "yes"]), ["no", "yes"])
    assert metrics.slope > 2
    assert "are honest, as far as 10 rows can tell" in _honest(metrics)[0]


def test_a_column_that_almost_knows_the_answer_is_named_and_a_good_one_is_not(tmp_path):
    # Of titanic3 the boat that took a person: known of 477 of the 500 who survived and of 9 of the 809 who did not.
    boat = ["4"] * 477 + [None] * 23 + ["4"] * 9 + [None] * 800
    y = [1] * 500 + [0] * 809
    sex = ["female"] * 339 + ["male"] * 161 + ["female"] * 127 + ["male"] * 682
    data = pd.DataFrame({"survived": y, "sex": sex, "boat": boat, "deck": np.tile(["a", "b"], 655)[:1309]})
    data.to_csv(tmp_path / "people.csv", index=False)
    said = report(eo.NaiveBayes().fit(data, "survived").model_, read(tmp_path / "people.csv")).sections[0].sentences
    assert "Almost know the answer, so ask whether they are known in time: boat." in said


def test_a_report_says_what_is_so_and_guesses_no_reasons(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 300)
    rows = pd.DataFrame({"x": rng.normal(y).round(2), "g": ["a"] * 280 + ["b"] * 20, "z": rng.normal(size=300), "y": y})
    rows.to_csv(tmp_path / "d.csv", index=False)
    run("fit", tmp_path / "d.csv", "-t", "y", "--role", "z=ignore", "-o", tmp_path / "m.eo")
    run("report", tmp_path / "m.eo", tmp_path / "d.csv", "--by", "g", "-o", tmp_path / "r.md")
    page = (tmp_path / "r.md").read_text()
    assert "- Left out: z.\n" in page
    assert re.search(r"Of all 300 rows, \d+ are said to be '0', \d+ '1', \d+ '2'\.", page)
    assert "Fewer than 30 rows: g b." in page
    assert "**p(g | y)**" in page  # of three classes there is no nomogram


def test_a_group_does_not_stand_in_for_itself(made):
    told = json.loads(run("audit", made / "m.eo", made / "new.csv", "--by", "sex", "--stand-ins", "--json").stdout)
    [own] = [row for row in told["stand_ins"][0]["columns"] if row["column"] == "sex"]
    assert own["V"] > 0.9
    assert not own["stands in"]


def test_of_a_group_of_which_nothing_was_said_nothing_is_drawn():
    found = eo.Audit(by="g").of_predictions(
        ["yes", "no"] * 20,
        {"g": ["a", "b"] * 20},
        predicted=["yes", "no"] * 20,
    )
    drawn = plots.groups(found, "PPV")["data"]["values"]
    assert [row["group"] for row in drawn] == ["a"]


def test_one_group_has_no_table_of_gaps(tmp_path):
    found = eo.Audit(by="g").of_predictions(["yes", "no"] * 20, {"g": ["a"] * 40}, predicted=["yes", "no"] * 20)
    assert "criterion" not in Groups(found).paper("one").html()


def test_an_arrow_is_not_cut_in_two():
    section = Section("Paths", ["class -> survived"], [Frame([{"path": "sex -> class -> survived"}])])
    assert Paper("p", [section]).html().count('<span class="whole">-&gt;</span>') == 3


def test_missing_cells_are_counted_whatever_the_column(tmp_path):
    rng = np.random.default_rng(2)
    rows = {name: rng.integers(0, 2, 100).astype(object) for name in ("flag", "count", "wait", "bell", "logs", "bins")}
    rows |= {"kind": rng.choice(["a", "b"], 100).astype(object), "text": np.array(["a b", "c"] * 50, object)}
    for i, name in enumerate(rows):
        rows[name][: 5 * i] = None
    families = dict(zip(rows, (eo.Bernoulli, eo.Poisson, eo.Exponential, eo.Gaussian, eo.LogGaussian, eo.Binned)))
    model = eo.NaiveBayes(columns={**families, "kind": eo.Categorical, "text": eo.Words()})
    rows["y"] = np.arange(100) % 2
    data = report(model.fit(rows, "y").model_, read(rows)).sections[0]
    [columns] = [part for part in data.parts if part.title == "Columns"]
    assert [row["missing"] for row in columns] == pytest.approx([0.05 * i for i in range(8)])
    assert data.sentences[1] == "Most often missing: text (35.0 %), kind (30.0 %), bins (25.0 %)."


def test_a_picture_of_letters_is_for_the_terminal_alone(made):
    for kind in ("html", "md"):
        run("report", made / "m.eo", made / "new.csv", "--by", "sex", "-o", made / f"letters.{kind}")
        assert not set("○●◉½") & set((made / f"letters.{kind}").read_text())


def test_the_audit_of_a_model_and_of_a_column_agree(made):
    one = run("audit", made / "m.eo", made / "new.csv", "--by", "sex", "--json", "-q")
    rows = pd.read_csv(made / "new.csv")
    model = eo.NaiveBayes.load(made / "m.eo")
    rows["p"] = model.predict_proba(rows.drop(columns="y"))[:, 1]
    rows.to_csv(made / "scored.csv", index=False)
    two = run("audit", made / "scored.csv", "--by", "sex", "--target", "y", "--score", "p", "--json", "-q")
    a, b = (json.loads(done.stdout) for done in (one, two))
    rate = [line for line in a["rates"] if line["measure"] in ("TPR", "FPR", "PPV", "selection rate")]
    assert rate == [line for line in b["rates"] if line["measure"] in ("TPR", "FPR", "PPV", "selection rate")]
    text = run("audit", made / "m.eo", made / "new.csv", "--by", "sex").output
    assert "demographic parity" in text


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["new.csv", "--by", "sex"], 2, "give a model and a file"),
        (["new.csv", "--by", "sex", "--score", "income"], 2, "--target"),
        (["new.csv", "--by", "sex", "--score", "income", "--target", "y"], 3, "column 'income': 31 is no probability"),
        (["m.eo", "new.csv", "--by", "sax"], 3, "did you mean 'sex'"),
        (
            ["m.eo", "new.csv", "--by", "sex", "--positive", "maybe"],
            3,
            "class 'maybe' not found; the classes are 'lost', 'repaid'",
        ),
        (["m.eo", "new.csv", "--by", "sex", "-o", "audit.pdf"], 2, "expected a name that ends with"),
        (["m.eo", "new.csv", "--by", "sex", "-o", "audit.html", "--json"], 2, "not both"),
        (["new.csv", "--by", "sex", "--predicted", "y", "--target", "y", "--stand-ins"], 2, "are for a model"),
    ],
)
def test_what_cannot_be_audited_is_said(made, monkeypatch, words, code, said):
    monkeypatch.chdir(made)
    assert said in run("audit", *words, code=code).stderr


GRAPH = ["--graph", "sex -> income; income -> y"]


def test_an_audit_is_a_page_too(made):
    for kind in ("html", "md", "json"):
        run("audit", made / "m.eo", made / "new.csv", "--by", "sex", *GRAPH, "-o", made / f"a.{kind}")
    text, data = (made / "a.md").read_text(), json.loads((made / "a.json").read_text())
    assert all(sentence in text for sentence in data["sentences"])
    assert data["stand_ins"][0]["by"] == "sex"
    assert data["graphs"][0]["criteria"]["independence"]["holds"] is False
    page = Page()
    page.feed((made / "a.html").read_text())
    assert page.open == []
    assert page.fetching == []
    order = ["What it can say", "Who was audited", "How it treats groups", "What stands in", "What the graph says"]
    places = [text.index(title) for title in order]
    assert places == sorted(places)
    assert text.index("A graph is what somebody believes") < text.index("independence, sex ⟂ said y")


def test_stand_ins_and_graphs_on_the_terminal_and_as_json(made):
    text = run("audit", made / "m.eo", made / "new.csv", "--by", "sex", "--stand-ins", *GRAPH).output
    assert "sex itself carries" in text
    assert "A graph is what somebody believes" in text
    done = run("audit", made / "m.eo", made / "new.csv", "--by", "sex", "--stand-ins", "--json", "-q")
    assert {"rates", "stand_ins", "report"} <= set(json.loads(done.stdout))
    done = run("audit", made / "m.eo", made / "new.csv", "--by", "sex", *GRAPH, "--json", "-q")
    assert {"graphs", "stand_ins"} & set(json.loads(done.stdout)) == {"graphs"}


def test_a_report_has_the_graph_if_one_is_given(made):
    run("report", made / "m.eo", made / "new.csv", "--by", "sex", *GRAPH, "-o", made / "g.md")
    assert "sex in the graph" in (made / "g.md").read_text()
    assert "--by" in run("report", made / "m.eo", made / "new.csv", *GRAPH, "-o", made / "g.md", code=2).stderr
    wrong = ["--graph", "sax -> y"]
    refused = run("report", made / "m.eo", made / "new.csv", "--by", "sex", *wrong, "-o", made / "g.md", code=3)
    assert "did you mean 'sax'" in refused.stderr


def test_bridges_have_pages_too(made):
    rows = pd.read_csv(made / "new.csv")
    bridge = eo.NaiveLogistic().fit(rows, "y")
    bridge.save(made / "b.eo")
    for command in ("report", "audit"):
        run(command, made / "b.eo", made / "new.csv", "--by", "sex", "-o", made / f"b-{command}.md")
        assert "Instead of sex" in (made / f"b-{command}.md").read_text()
    text = (made / "b-report.md").read_text()
    assert "Its odds are tempered" in text
    assert bridge.model_.temper.sentences()[-1] in text
    assert "not tempered" not in text


def test_a_tempered_model_says_how_much_it_believes(made):
    rows = pd.read_csv(made / "new.csv")
    model = eo.NaiveBayes(temper=True).fit(rows, "y")
    model.save(made / "t.eo")
    run("report", made / "t.eo", made / "new.csv", "-o", made / "t.md")
    text = (made / "t.md").read_text()
    sentences = [one.replace("&", "&amp;").replace("<", "&lt;") for one in model.model_.temper.sentences()]
    assert all(f"- {sentence}" in text for sentence in sentences)
    assert "<b>" not in text  # a column's name is no markup in Markdown either


def test_gaussians_and_counts_have_reports_too(tmp_path):
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 300)
    rows = pd.DataFrame({"x": rng.normal(y), "n": rng.poisson(2 + y), "g": rng.choice(["a", "b"], 300), "y": y})
    rows.to_csv(tmp_path / "d.csv", index=False)
    eo.NaiveBayes(columns={"x": eo.Gaussian, "n": eo.Poisson}).fit(rows, "y").save(tmp_path / "m.eo")
    run("report", tmp_path / "m.eo", tmp_path / "d.csv", "--by", "g", "-o", tmp_path / "r.md")
    assert "Instead of g" in (tmp_path / "r.md").read_text()
