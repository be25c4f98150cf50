"""A network as a classifier: scikit-learn's own checks, frames with holes, and the commands that take any model."""

import csv
import json
import os
import pickle
import threading

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.utils.estimator_checks import parametrize_with_checks

import evenodds as eo
from command import invoke as run
from evenodds.data.files import Files
from evenodds.data.titanic import counts
from evenodds.models.bayes_net.classifier import NetworkClassifier
from evenodds.models.bayes_net.network import Network
from evenodds.models.bayes_net.reading import PARTS
from networks import ASIA


@parametrize_with_checks([eo.BayesNet(), eo.BayesNet(search="tan"), eo.BayesNet(search="hill-climbing")])
def test_common_checks(estimator, check):
    check(estimator)


def people(n, seed=0):
    """Numbers and texts with holes, and a class that depends on both."""
    rng = np.random.default_rng(seed)
    age, port = rng.integers(0, 90, n).astype(float), rng.choice(["a", "b", "c"], n).astype(object)
    y = np.where((age > 40) ^ (port == "a"), "yes", "no")
    age[rng.random(n) < 0.1] = np.nan
    port[rng.random(n) < 0.1] = None
    return pd.DataFrame({"age": age, "port": port}), pd.Series(y, name="out")


def test_numbers_are_cut_where_a_target_is_told_and_stay_so():
    X, y = people(600)
    net = eo.BayesNet(search="tan").fit(X, y)
    assert len(net.network.states["age"]) == PARTS
    assert list(net.feature_names_in_) == ["age", "port"]
    assert net.classes_.tolist() == ["no", "yes"]
    p = net.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    assert net.score(X, y) > 0.75
    assert eo.BayesNet().fit(X, y).score(X, y) < 0.75  # a star cannot say "either, not both"
    halves = eo.BayesNet(search="tan").fit(X[:300], y[:300])
    cuts = halves.network.columns
    assert halves.partial_fit(X[300:], y[300:]).network.columns == cuts
    assert halves.network.rows == 600
    assert halves.forget(X[300:], y[300:]).network == eo.BayesNet(search="tan").fit(X[:300], y[:300]).network
    with pytest.raises(ValueError, match="different numbers"):
        eo.BayesNet("port -> age").fit(X)
    with pytest.raises(ValueError, match=r"'age' has .* different numbers"):
        eo.BayesNet(target="age").fit(X)


def test_holes_whole_columns_and_impossible_rows():
    X, y = people(400)
    net = eo.BayesNet(search="tan").fit(X, y)
    some = [{"age": 50}, {}, {"port": "a", "age": None}, {"port": "never seen"}]
    p = net.predict_proba(some)
    np.testing.assert_allclose(p[1], net.query("out").probabilities)
    np.testing.assert_allclose(p[1], p[3])
    np.testing.assert_allclose(p[2], net.query("out", port="a").probabilities)
    np.testing.assert_array_equal(net.predict_proba(X[["age"]]), net.predict_proba(X.assign(port=None)))
    odds = net.decision_function(X)
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), net.predict_proba(X)[:, 1])
    explained = net.explain(X.head(5))
    for one, log_odds, said in zip(explained, odds, net.predict(X.head(5))):
        assert one.total == pytest.approx(abs(log_odds))
        assert one.of == said
        assert one.prior + sum(term.log_odds for term in one.terms) == pytest.approx(one.total)


def test_tools_of_scikit_learn_on_frames_with_holes():
    X, y = people(300)
    found = GridSearchCV(eo.BayesNet(), {"search": ["star", "tan"], "prior": ["pooled", "flat"]}, cv=3).fit(X, y)
    assert found.best_params_["search"] == "tan"
    p = cross_val_predict(eo.BayesNet(search="tan"), X, y, method="predict_proba", cv=3)
    assert (np.array(["no", "yes"])[p.argmax(axis=1)] == y).mean() > 0.7
    net = eo.BayesNet(search="tan", prior="bdeu").fit(X, y)
    assert pickle.loads(pickle.dumps(net)).model_ == net.model_
    assert clone(net).get_params() == net.get_params()


def test_a_target_without_a_name_is_no_feature():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"class": rng.choice(["1st", "2nd", "3rd"], 300), "sex": rng.choice(["f", "m"], 300)})
    y = np.where(X["class"] == "1st", "saved", "lost")  # told by the feature `class` alone
    for told in (y, pd.Series(y, name="sex")):
        net = eo.BayesNet().fit(X, told)
        assert list(net.feature_names_in_) == ["class", "sex"]
        assert net.score(X, y) == 1.0
        assert net.partial_fit(X, told).score(X, y) == 1.0


def test_a_file_is_looked_at_once_and_so_is_a_pipe(tmp_path, monkeypatch):
    taken, sample = [], Files.sample
    monkeypatch.setattr(Files, "sample", lambda self: taken.append(1) or sample(self))
    net = eo.BayesNet(target="y").fit({name: ["0", "1", "1", "0"] * 5 for name in "abcdey"})
    text, rows = "a,b,c,d,e\n" + "0,1,0,1,0\n" * 20, {name: [value] * 20 for name, value in zip("abcde", "01010")}
    (tmp_path / "rows.csv").write_text(text)
    for ask in (net.predict_proba, net.score_samples):
        taken.clear()
        np.testing.assert_array_equal(ask(tmp_path / "rows.csv"), ask(rows))
        assert len(taken) == 1
        pipe = tmp_path / f"{ask.__name__}.csv"
        os.mkfifo(pipe)
        writing = threading.Thread(target=pipe.write_text, args=(text,), daemon=True)
        writing.start()
        np.testing.assert_array_equal(ask(pipe), ask(rows))
        writing.join()


def test_score_samples_is_the_log_of_a_rows_probability():
    X, y = people(300)
    net = eo.BayesNet(search="tan").fit(X, y)
    rows = X.assign(out=y).head(20)
    np.testing.assert_array_equal(net.score_samples(rows), net.log_prob(rows))
    log_p = net.score_samples(X.head(20))  # the target is integrated out
    np.testing.assert_allclose(net.score_samples(rows) - log_p, np.log([
        p[list(net.classes_).index(one)] for p, one in zip(net.predict_proba(X.head(20)), y)]))  # fmt: skip
    numbers = eo.BayesNet().fit(np.arange(12).reshape(6, 2) % 3, [0, 1] * 3)
    assert numbers.score_samples(np.array([[0, 1]])).shape == (1,)


def test_nothing_is_left_of_an_earlier_fit():
    X, y = people(100)
    net = eo.BayesNet().fit(X, y)
    net.fit(np.arange(20).reshape(10, 2) % 3, [0, 1] * 5)
    assert not hasattr(net, "feature_names_in_")
    net.set_params(graph="port").fit(X)
    assert not hasattr(net, "classes_")
    with pytest.raises(ValueError, match="no target"):
        net.predict(X)


def test_classes_that_come_later():
    X, y = people(100)
    net = eo.BayesNet().partial_fit(X, y, classes=["maybe", "no", "yes"])
    assert net.classes_.tolist() == ["maybe", "no", "yes"]
    assert net.partial_fit(X[:3], ["maybe"] * 3).classes_.tolist() == ["maybe", "no", "yes"]
    assert net.predict_proba(X).shape == (100, 3)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("net")
    rows = [{k: v for k, v in row.items() if k != "people"} for row in counts() for _ in range(row["people"])]
    with open(path / "people.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_commands_take_a_network_that_tells_something(folder):
    run("net", "learn", folder / "people.csv", "--search", "tan", "-t", "survived", "-o", folder / "tan.eo")
    network = Network.load(folder / "tan.eo")
    assert network.target == "survived"
    assert eo.BayesNet.load(folder / "tan.eo").predict([{"sex": "female", "class": "1st"}]) == ["yes"]
    head = folder / "head.csv"
    head.write_text("sex,age,class\nfemale,adult,1st\nmale,,3rd\n")
    said = list(csv.DictReader(run("predict", folder / "tan.eo", head, "--all").stdout.splitlines()))
    p = network.query("survived", given={"sex": "male", "class": "3rd"})
    assert said[0]["survived_predicted"] == "yes"
    assert said[1]["survived_predicted"] == "no"
    assert float(said[1]["p(survived=no)"]) == pytest.approx(p["no"], rel=1e-6)
    [why] = json.loads(run("explain", folder / "tan.eo", "sex=female", "class=1st", "--json").stdout)
    assert why["of"] == "yes"
    assert "explain" in run("explain", folder / "tan.eo", head, "--row", 2, "--html", "-").stdout
    judged = json.loads(run("evaluate", folder / "tan.eo", folder / "people.csv", "--json").stdout)
    tan = NetworkClassifier(network, "survived")
    rows = pd.read_csv(folder / "people.csv")
    right = (tan.classes[tan.proba(rows).argmax(axis=1)] == rows["survived"]).mean()
    assert judged["accuracy"] == pytest.approx(right)
    audit = ("audit", folder / "tan.eo", folder / "people.csv", "--by", "sex")
    assert "sex" in run(*audit).stdout
    assert "itself carries" in run(*audit, "--stand-ins").stdout
    assert "A graph is what somebody believes" in run(*audit, "--graph", "sex -> class; sex, class -> survived").stdout
    run(*audit, "-o", folder / "audit.html")
    assert "What stands in for a group" in (folder / "audit.html").read_text()
    run("fit", folder / "people.csv", "-t", "survived", "-o", folder / "nb.eo")
    assert "tan.eo" in run("evaluate", folder / "nb.eo", folder / "people.csv", "--beside", folder / "tan.eo").stdout
    for words in (
        ("report", folder / "tan.eo", folder / "people.csv", "-o", folder / "x.html"),
        ("show", folder / "tan.eo"),
    ):
        assert "is a network: evenodds" in run(*words, code=2).stderr
    refused = run("evaluate", folder / "tan.eo", folder / "people.csv", "--leave-one-out", code=2).stderr
    assert "tan.eo is a network" in refused


def test_a_target_is_told_when_a_network_is_converted(folder):
    ASIA.write_bif(folder / "asia.bif")
    run("net", "convert", folder / "asia.bif", folder / "asia.eo", "--target", "lung")
    (folder / "patients.csv").write_text("smoke,xray\nyes,yes\nno,\n")
    refused = run("predict", folder / "asia.eo", folder / "patients.csv", code=3).stderr
    assert "'asia' not found" in refused
    names = [node for node in ASIA.structure.nodes if node != "lung"]
    (folder / "patients.csv").write_text(",".join(names) + "\n" + ",".join("" for _ in names) + "\n")
    said = list(csv.DictReader(run("predict", folder / "asia.eo", folder / "patients.csv").stdout.splitlines()))
    assert float(said[0]["lung_probability"]) == pytest.approx(0.945)
    assert "did you mean 'lung'" in run("net", "convert", folder / "asia.bif", "x.eo", "-t", "lunge", code=3).stderr


def test_a_score_of_files_takes_the_target_of_each_row(tmp_path):
    rows = pd.DataFrame({"fever": ["high", "none"] * 10, "ill": ["yes", "no"] * 10})
    rows.to_csv(path := tmp_path / "ill.csv", index=False)
    net = eo.BayesNet(target="ill").fit(str(path))
    assert net.score(str(path), rows["ill"]) == net.score(rows, "ill") == 1
    with pytest.raises(eo.DataError, match="give the target of each row to score"):
        net.score(str(path), "ill")
