"""The commands that read files and models: fit, predict, evaluate, explain, show, add, learn, forget."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import evenodds as eo
from command import invoke as run
from evenodds import file
from evenodds.data.memory import table as table_of
from evenodds.data.messages import pairs
from evenodds.data.sum import fold_of
from evenodds.data.titanic import titanic
from evenodds.families import WordCounts


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "people.csv"
    run("demo", "--csv", path)
    return path


@pytest.fixture(scope="module")
def model(people):
    path = people.parent / "titanic.eo"
    run("fit", people, "-t", "survived", "-o", path)
    return path


def table(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_fit_is_the_librarys(model):
    assert eo.load(model) == eo.NaiveBayes().fit(titanic(), "survived").model_


def test_fit_tells_people_on_stderr_and_machines_on_stdout(people, tmp_path):
    result = run("fit", people, "-t", "survived", "-o", tmp_path / "m.eo")
    assert result.stdout == ""
    assert "2,201 rows of 2 classes of 'survived' (no 1,490, yes 711)" in result.stderr
    data = json.loads(run("fit", people, "-t", "survived", "-o", tmp_path / "m.eo", "--json").stdout)
    assert data["rows"] == 2201
    assert data["classes"] == {"no": 1490, "yes": 711}
    assert data["columns"] == {
        "class": "Categorical",
        "sex": "Categorical",
        "age": "Categorical",
    }
    assert run("fit", people, "-t", "survived", "-o", tmp_path / "m.eo", "-q").output == ""


def test_fit_takes_roles_and_settings(people, tmp_path):
    options = ["--role", "age=ignore", "--smoothing", 2, "--prior", "flat", "--estimate", "mean", "--unseen", "prior"]
    run("fit", people, "-t", "survived", "-o", tmp_path / "m.eo", *options, "--class-prior", "no=.5,yes=.5")
    model = eo.load(tmp_path / "m.eo")
    assert list(model.schema.features) == ["class", "sex"]
    settings = model.settings
    assert (settings.smoothing, settings.prior, settings.estimate, settings.unseen) == (2.0, "flat", "mean", "prior")
    assert np.exp(model.log_prior).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("role", "family"), [("category", eo.Categorical), ("text", WordCounts), ("id", None), ("ignore", None)]
)
def test_a_column_is_what_it_is_told_to_be(people, tmp_path, role, family):
    run("fit", people, "-t", "survived", "-o", tmp_path / "r.eo", "--role", f"age={role}")
    told = eo.load(tmp_path / "r.eo").schema.features.get("age")
    assert (told and told.family) is family


def test_what_is_said_of_text_is_said_of_standard_input_too(tmp_path):
    path = tmp_path / "messages.csv"
    path.write_text("label,text\n" + "".join(f'{label},"{text}"\n' for label, text in pairs() if '"' not in text))
    run("fit", path, "-t", "label", "--ngrams", 2, "-o", tmp_path / "file.eo")
    run("fit", "-", "-t", "label", "--ngrams", 2, "-o", tmp_path / "pipe.eo", stdin=path.read_bytes())
    assert eo.load(tmp_path / "pipe.eo") == eo.load(tmp_path / "file.eo")


@pytest.mark.parametrize("role", ["number", "gaussian", "log-gaussian", "count", "flag"])
def test_texts_told_to_be_numbers_are_counted_as_unreadable(people, tmp_path, role):
    result = run("fit", people, "-t", "survived", "-o", tmp_path / "r.eo", "--role", f"age={role}", "--json")
    assert json.loads(result.stdout)["report"]["unreadable_cells"]["age"]["count"] == 2201


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--role", "age"], "expected COLUMN=ROLE"),
        (["--role", "age=categry"], "did you mean 'category'?"),
        (["--role", "age=date:minute"], "expected some of year, month, day"),
        (["--smoothing", "much"], "'much' is not a number; expected .001, 1/1000 or 0.1%, or auto"),
        (["--smoothing", "-1"], "expected 0 or more, or 'auto'"),
        (["--class-prior", "even"], "expected 'auto', 'estimated', 'uniform'"),
        (["--separator", "ab"], "--separator='ab': expected one ASCII character"),
        (["--encoding", "klingon"], "--encoding='klingon' is not known"),
        (["--role", "survived=category"], "'survived' is the column of --target, and has no other role"),
        (["--text", "sex", "--weight", "sex"], "'sex' is the column of --weight, and has no other role"),
        (["--text", "sex", "--role", "sex=flag"], "'sex' is given twice"),
        (["--ngrams", "1"], "of text alone: --ngrams; name a column of text with --text"),
    ],
)
def test_wrong_usage_is_exit_2(people, tmp_path, options, sentence):
    result = run("fit", people, "-t", "survived", "-o", tmp_path / "m.eo", *options, code=2)
    assert sentence in result.stderr
    assert not (tmp_path / "m.eo").exists()


def test_columns_that_are_not_there(people, model, tmp_path):
    result = run("fit", people, "-t", "survivd", "-o", tmp_path / "m.eo", code=3)
    assert "column 'survivd' not found; did you mean 'survived'?" in result.stderr
    result = run("fit", people, "-t", "survived", "--role", "sexx=flag", "-o", tmp_path / "m.eo", code=3)
    assert "did you mean 'sex'?" in result.stderr
    assert "did you mean 'sex'?" in run("show", model, "sexx", code=3).stderr
    assert "did you mean 'sex'?" in run("explain", model, "sexx=male", code=3).stderr
    other = tmp_path / "other.csv"
    other.write_text("klass,sex,age\n1st,male,adult\n")
    assert "column 'class' not found; did you mean 'klass'?" in run("predict", model, other, code=3).stderr


def test_predict_adds_columns_to_the_rows_as_they_are(model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text('name;class;sex;age\n"O""Hara; Mary";3rd;female;child\nX;1st;male;adult\nY;;;\n')
    result = run("predict", model, path)
    lines = result.stdout.splitlines()
    assert lines[0] == "name;class;sex;age;survived_predicted;survived_probability"
    assert lines[1].startswith('"O""Hara; Mary";3rd;female;child;yes;0.')
    assert lines[3].startswith("Y;;;;no;0.67")
    shares = run("predict", model, path, "--all").stdout.splitlines()
    assert shares[0].endswith("p(survived=no);p(survived=yes)")
    p = [float(x) for x in shares[1].rsplit(";", 3)[1:]]
    assert abs(p[1] + p[2] - 1) < 1e-5
    assert p[0] == max(p)
    only = run("predict", model, path, "--only").stdout.splitlines()
    assert only[0] == "survived_predicted;survived_probability"
    objects = [json.loads(line) for line in run("predict", model, path, "--json").stdout.splitlines()]
    assert objects[0]["name"] == 'O"Hara; Mary'
    assert objects[0]["survived_predicted"] == "yes"
    assert objects[2]["class"] is None


def test_a_role_of_the_target_is_wrong_usage_wherever_roles_are_taken(people):
    for command in ("regress", "separate", "compare", "shift sites --site class", f"shift drift {people}"):
        said = run(*command.split(), people, "-t", "survived", "--role", "survived=category", code=2).stderr
        assert "'survived' is the column of --target" in said, command


def test_a_separator_as_shells_hand_it_over(model, people, tmp_path):
    path = tmp_path / "new.txt"
    path.write_text(people.read_text().replace(",", "\t"))
    for tab in ("tab", "\\t", "\t"):
        found = run("predict", model, path, "--separator", tab).stdout.splitlines()[0]
        assert found == "class\tsex\tage\tsurvived\tsurvived_predicted\tsurvived_probability"
    assert "the columns are 'class\\tsex" in run("predict", model, path, "--separator", "", code=3).stderr


def test_predict_adds_columns_to_lines_whose_commas_separate_nothing(tmp_path):
    texts = ["see you, at noon", 'a "free" prize, call now, today', "won", "tabs\there, too"]
    messages, path = tmp_path / "messages.csv", tmp_path / "texts.csv"
    run("demo", "--messages", messages)
    run("fit", messages, "-t", "label", "-o", tmp_path / "spam.eo")
    path.write_text("\n".join(["text", *texts]) + "\n")
    found = table(run("predict", tmp_path / "spam.eo", path).stdout)
    assert [row["text"] for row in found] == texts
    assert {row["label_predicted"] for row in found} == {"ham", "spam"}
    only = table(run("predict", tmp_path / "spam.eo", path, "--only").stdout)
    assert [row["label_predicted"] for row in only] == [row["label_predicted"] for row in found]


def test_words_of_a_class_that_is_none_name_the_model_and_the_cure(tmp_path):
    messages, model = tmp_path / "messages.csv", tmp_path / "spam.eo"
    run("demo", "--messages", messages)
    run("fit", messages, "-t", "label", "-o", model)
    said = run("words", model, "--class", "span", code=3).stderr
    assert f"{model}: class 'span' not found; did you mean 'spam'?" in said


@pytest.mark.parametrize("separator", [";", ","])
def test_what_predict_adds_has_the_files_decimal_mark(tmp_path, separator):
    rows = [f'"{i % 5},{i % 7}"{separator}{"np"[i % 3 % 2]}\n' for i in range(60)]
    path, scored, model = tmp_path / "t.csv", tmp_path / "scored.csv", tmp_path / "m.eo"
    path.write_text(f"x{separator}y\n" + "".join(rows))
    run("fit", path, "-t", "y", "-o", model)
    run("predict", model, path, "-o", scored, "--all")
    answered = [json.loads(line) for line in run("predict", model, path, "--json").stdout.splitlines()]
    with open(scored, newline="") as file:
        found = list(csv.DictReader(file, delimiter=separator))
    assert [float(row["y_probability"].replace(",", ".")) for row in found] == [r["y_probability"] for r in answered]
    quantiles = json.loads(run("density", scored, "-c", "p(y=n)", "--json").stdout)["groups"][0]["quantiles"]
    assert 0 < quantiles["0.05"] < quantiles["0.95"] < 1


def test_lists_and_structures_are_passed_on_as_json(tmp_path):
    path, model = tmp_path / "t.jsonl", tmp_path / "m.eo"
    rows = [{"x": i % 5, "more": {"a": [1, None], "b": "ü"}, "y": "np"[i % 2]} for i in range(40)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run("fit", path, "-t", "y", "-o", model)
    assert [json.loads(row["more"]) for row in table(run("predict", model, path).stdout)] == [r["more"] for r in rows]


def test_predict_says_what_the_library_says(model, people, tmp_path):
    found = table(run("predict", model, people, "--all").stdout)
    rows = titanic().drop_columns(["survived"])
    known = np.exp(eo.load(model).log_proba(rows))
    np.testing.assert_allclose([float(row["p(survived=yes)"]) for row in found], known[:, 1], rtol=1e-5)
    assert [row["sex"] for row in found] == rows["sex"].to_pylist()
    for name in ("p.parquet", "p.jsonl", "p.csv.gz"):
        path = tmp_path / name
        if name.endswith("parquet"):
            pq.write_table(rows, path)
        elif name.endswith("jsonl"):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows.to_pylist()))
        else:
            import gzip

            path.write_bytes(gzip.compress(people.read_bytes()))
        again = table(run("predict", model, path).stdout)
        assert [row["survived_predicted"] for row in again] == [row["survived_predicted"] for row in found]
        assert [row["class"] for row in again] == rows["class"].to_pylist()


def test_predict_to_a_file(model, people, tmp_path):
    out = tmp_path / "out.csv"
    result = run("predict", model, people, "-o", out)
    assert result.stdout == ""
    assert out.read_text() == run("predict", model, people).stdout
    assert out.read_text() == run("predict", model, people, "-o", "-").stdout


@pytest.mark.parametrize("words", ["fit {people} -t survived -o", "learn {model} {people} -o", "demo --csv"])
def test_a_file_that_is_written_has_a_name(model, people, words):
    before = model.read_bytes()
    wrong = run(*words.format(people=people, model=model).split(), "", code=2)
    assert "expected the name of a file" in wrong.stderr
    assert model.read_bytes() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device without an end")
def test_a_device_without_an_end_is_not_read_to_it(model, people, monkeypatch):
    monkeypatch.setattr(file, "LONGEST", 10_000)
    for words in (["predict", model, people, "--rule"], ["fit", people, "-t", "survived", "-o", "x.eo", "--key-file"]):
        assert "has more than 10,000 bytes" in run(*words, "/dev/full", code=3).stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device without space")
def test_a_device_without_space_is_named(model, people):
    for words in (["fit", people, "-t", "survived", "-o"], ["add", model, model, "-o"]):
        assert "Error: /dev/full: No space left on device" in run(*words, "/dev/full", code=1).stderr


def test_what_an_error_repeats_of_a_command_has_no_control_characters():
    assert "\\x1b[31m" in run("demo", "\x1b[31m", code=2).stderr


def test_a_model_is_no_stream(people, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "- is standard output" in run("fit", people, "-t", "survived", "-o", "-", code=2).stderr
    assert list(tmp_path.iterdir()) == []
    assert run("demo", "--csv", "-").stdout == people.read_text()


def test_predicted_names_do_not_clash(model, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("class,sex,age,survived_predicted\n1st,male,adult,?\n")
    assert run("predict", model, path).stdout.startswith("class,sex,age,survived_predicted,survived_predicted_,")


def test_evaluate_a_model_and_by_folds(model, people):
    page = run("evaluate", model, people).stdout
    assert "accuracy" in page
    data = json.loads(run("evaluate", model, people, "--json").stdout)
    nb = eo.NaiveBayes().fit(titanic(), "survived")
    truth = titanic()["survived"].to_pylist()
    assert abs(data["accuracy"] - nb.score(titanic().drop_columns(["survived"]), truth)) < 1e-9
    folds = json.loads(run("evaluate", people, "-t", "survived", "-k", 10, "--json").stdout)
    assert folds["folds"] == 10
    assert 0.76 < folds["accuracy"] < 0.80
    assert folds["rows"] == 2201
    again = json.loads(run("evaluate", people, "-t", "survived", "-k", 10, "--seed", 1, "--json").stdout)
    assert again["log_loss"] != folds["log_loss"]
    piped = run("evaluate", "-", "-t", "survived", "-k", 10, "--json", stdin=people.read_bytes())
    assert json.loads(piped.stdout)["log_loss"] == folds["log_loss"]
    for more in (["-k", 10], ["-k", 10, "-t", "survived"], ["--leave-one-out", "-t", "survived"]):
        both = run("evaluate", model, people, *more, code=3).stderr
        assert both == f"Error: {model} is a model, but with --folds or --target one is learnt from the rows: " + (
            "leave out either\n"
        )


def test_folds_are_refits(people):
    """The sum of the other folds is the model that a refit without the fold would give."""
    from evenodds.audit.held_out import of_folds
    from evenodds.audit.metrics import Metrics, tally
    from evenodds.data.files import read
    from evenodds.data.sum import fold_of

    found = of_folds(read(people), "survived", 5, random_state=3).metrics()
    rows = titanic()
    fold = fold_of(0, rows.num_rows, None, 5, 3)
    assert set(np.bincount(fold) // 100) <= {3, 4, 5}
    total = None
    for k in range(5):
        mine, rest = rows.take(np.flatnonzero(fold == k)), rows.take(np.flatnonzero(fold != k))
        model = eo.NaiveBayes().fit(rest, "survived").model_
        part = tally(mine["survived"], model.log_proba(mine), model.classes)
        total = part if total is None else total + part
    assert Metrics.of(total, ["no", "yes"]).to_dict() == found.to_dict()


@pytest.mark.parametrize("option", ["--tune", "--bridge"])
def test_evaluate_by_folds_judges_what_fit_would_learn_without_each(option, tmp_path):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 300)
    frame = pd.DataFrame({"a": rng.normal(y, 1.0), "b": rng.normal(size=300) + y, "c": rng.choice(list("xyz"), 300)})
    frame.assign(y=y).to_csv(tmp_path / "all.csv", index=False)
    judged = json.loads(run("evaluate", tmp_path / "all.csv", "-t", "y", "-k", 3, option, "--json").stdout)
    fold, log = fold_of(0, 300, None, 3, 0), 0.0
    for k in range(3):
        frame.assign(y=y)[fold != k].to_csv(tmp_path / "rest.csv", index=False)
        run("fit", tmp_path / "rest.csv", "-t", "y", option, "-o", tmp_path / "m.eo", "-q")
        log_p = eo.load(tmp_path / "m.eo").log_proba(table_of(frame[fold == k]))
        log -= log_p[np.arange(len(log_p)), y[fold == k]].sum()
    assert judged["log_loss"] == pytest.approx(log / 300, rel=1e-9)
    assert "needs --folds" in run("evaluate", tmp_path / "m.eo", tmp_path / "all.csv", option, code=2).stderr


def test_an_unknown_column_is_named_beside_text_too(tmp_path):
    path = tmp_path / "mixed.csv"
    lines = [f"{i % 7}.5,we met at the {word} again {i},{word > 'b'}" for i, word in enumerate("abcd" * 30)]
    path.write_text("height,note,y\n" + "\n".join(lines))
    run("fit", path, "-t", "y", "--text", "note", "-o", tmp_path / "m.eo", "-q")
    done = run("explain", tmp_path / "m.eo", "heigth=2", code=3)
    assert "column 'heigth' not found; did you mean 'height'?" in done.stderr


def test_a_name_in_a_line_that_was_read_as_data_is_told_with_the_option(tmp_path):
    path = tmp_path / "mushrooms.csv"
    path.write_text("p,x\ne,s\np,y\ne,x\n")
    for command in (["fit", path, "-o", tmp_path / "m.eo"], ["regress", path], ["evaluate", path, "-k", "2"]):
        done = run(*command, "-t", "p", code=3)
        assert (
            "column 'p' not found; the columns are 'x0', 'x1' (line 1 was read as data; --header reads" in done.stderr
        )


def test_evaluate_usage(model, people):
    assert "--folds" in run("evaluate", people, code=2).stderr
    assert "--target" in run("evaluate", people, "-k", 3, code=2).stderr
    assert "need --folds" in run("evaluate", model, people, "--smoothing", 3, code=2).stderr


def test_explain_a_row_and_rows(model, people):
    page = run("explain", model, "sex=female", "class=3rd").stdout
    nb = eo.NaiveBayes().fit(titanic(), "survived")
    assert page.strip() == repr(nb.explain([{"sex": "female", "class": "3rd"}]))
    assert "\x1b" not in page
    [one] = json.loads(run("explain", model, "sex=female", "class=3rd", "--json", "--of", "no").stdout)
    assert one["of"] == "no"
    assert abs(one["prior"] + sum(term["log_odds"] for term in one["terms"]) - one["total"]) < 1e-9
    two = json.loads(run("explain", model, people, "--row", 2201, "--row", 1, "--json").stdout)
    some = json.loads(run("explain", model, people, "--json").stdout)
    assert f"the first {len(some)} if not given" in " ".join(run("explain", "--help").stdout.split())
    rows = titanic().drop_columns(["survived"])
    assert [e["probability"] for e in two] == pytest.approx(
        [nb.explain(rows[i : i + 1])[0].probability for i in (0, 2200)]
    )
    assert "there is no row 9999" in run("explain", model, people, "--row", 9999, code=3).stderr
    assert "class 'maybe' not found" in run("explain", model, "sex=male", "--of", "maybe", code=3).stderr
    assert "log-odds of no against yes" in run("explain", model, "sex=female", "--against", "yes").stdout
    assert "against itself" in run("explain", model, "sex=male", "--of", "no", "--against", "no", code=3).stderr
    assert "not both" in run("explain", model, "sex=male", people, code=2).stderr
    assert "--row: is for the rows of a file" in run("explain", model, "sex=male", "--row", 17, code=2).stderr
    assert "'sex' is given twice" in run("explain", model, "sex=male", "sex=female", code=2).stderr


def test_explain_takes_a_date_beside_text(tmp_path):
    table, saved = tmp_path / "mail.csv", tmp_path / "mail.eo"
    texts = ("see you at lunch today my friend", "claim your free prize now winner")
    rows = [f"2024-{1 + i % 12:02}-01,{texts[i % 2]} {i},{('ham', 'spam')[i % 2]}\n" for i in range(300)]
    table.write_text("day,text,label\n" + "".join(rows))
    run("fit", table, "-t", "label", "--text", "text", "--role", "day=date", "-o", saved)
    page = run("explain", saved, "text=free prize", "day=2024-03-01").stdout
    assert "day.month = 3" in page
    assert "text = free" in page
    assert "day.month = 3" in run("explain", saved, "day=2024-03-01").stdout


def test_explain_says_what_was_wrong_with_a_file(model, tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("class,sex,age\n" + "1st,male,adult\n" * 30 + "1st,male\n")
    assert "note: 1 row has the wrong number of cells" in run("explain", model, path).stderr
    assert run("explain", model, path, "-q").stderr == ""


def test_explain_shows_flags_as_they_are_written(tmp_path):
    table, saved = tmp_path / "horses.csv", tmp_path / "horses.eo"
    table.write_text("surgery,outcome\n" + "yes,died\nno,lived\nno,died\n,lived\n" * 10)
    run("fit", table, "-t", "outcome", "-o", saved)
    assert "surgery = no " in run("explain", saved, "surgery=no").stdout
    assert "surgery = 1 " in run("explain", saved, "surgery=1").stdout
    first, *_, third = run("explain", saved, table).stdout.split("\n\n")
    assert "surgery = yes " in first
    assert "surgery = no " in third
    assert "surgery = missing " in run("explain", saved, table, "--row", 4).stdout
    dated = tmp_path / "dated.csv"
    days = [f"2024-{1 + i % 12:02}-01" for i in range(400)]
    rows = (f"{'yes' if i % 3 else 'no'},{day},{'died' if i % 2 else 'lived'}" for i, day in enumerate(days))
    dated.write_text("\n".join(["surgery,day,outcome", *rows]))
    run("fit", dated, "-t", "outcome", "--role", "day=date", "-o", saved)
    assert "surgery = no " in run("explain", saved, "surgery=no", "day=2024-05-06").stdout


def test_show(model):
    page = run("show", model).stdout
    assert "p(sex | survived)" in page
    assert "2,201 rows of 2 classes" in page
    assert run("show", model, "age").stdout.startswith("p(age | survived)")
    data = json.loads(run("show", model, "--json").stdout)
    assert set(data["tables"]) == {"class", "sex", "age"}
    assert data["parameters"] == {"naive": 11, "joint": 31}


def test_add_learn_and_forget_are_exact(model, tmp_path):
    rows = titanic().to_pylist()

    def save(name, some):
        with open(tmp_path / name, "w", newline="") as file:
            out = csv.DictWriter(file, rows[0])
            out.writeheader()
            out.writerows(some)
        return tmp_path / name

    monday, tuesday = save("monday.csv", rows[0::2]), save("tuesday.csv", rows[1::2])
    a, b, week = tmp_path / "a.eo", tmp_path / "b.eo", tmp_path / "week.eo"
    run("fit", monday, "-t", "survived", "-o", a)
    run("fit", tuesday, "-t", "survived", "-o", b)
    before = a.read_bytes()
    data = json.loads(run("add", a, b, "-o", week, "--json").stdout)
    assert data["rows"] == 2201
    assert eo.load(week) == eo.load(model)
    run("forget", week, tuesday)
    assert eo.load(week) == eo.load(a)
    run("learn", a, tuesday, "-o", week)
    assert eo.load(week) == eo.load(model)
    assert a.read_bytes() == before
    assert "never learnt" in run("forget", a, tuesday, tuesday, code=3).stderr
    assert a.read_bytes() == before
    other = save("other.csv", rows)
    run("fit", other, "-t", "sex", "-o", tmp_path / "other.eo")
    refused = run("add", a, tmp_path / "other.eo", "-o", week, code=3).stderr
    assert "cannot be added: column 'sex' is in one model only: fit one --like the other" in refused
    run("fit", monday, "--smoothing", 5, "--like", a, "-o", tmp_path / "other.eo")
    assert "differ in smoothing ('auto' and 5.0)" in run("add", a, tmp_path / "other.eo", "-o", week, code=3).stderr
    run("fit", save("few.csv", rows[:50]), "--like", model, "-o", tmp_path / "few.eo")
    assert eo.load(tmp_path / "few.eo").schema == eo.load(model).schema
