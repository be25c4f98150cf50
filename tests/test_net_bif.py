"""BIF files: read, written, read back the same; and refused with the line."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenodds.errors import DataError
from evenodds.models.bayes_net import tables
from evenodds.models.bayes_net.bif import parse, read
from evenodds.models.bayes_net.network import Network
from networks import ASIA, random_network

LAWN = """network lawn { property a note; }
// a comment
variable rain { type discrete [ 2 ] { yes, no }; property x = 1; }
variable wet { type discrete [ 3 ] { dry, damp, "soaking, wet" }; }
probability ( rain ) { table 0.2, 0.8; }
probability ( wet | rain ) {
  /* rows */
  (yes) 0.1, 0.2, 0.7;
  default 0.8 0.1 0.1;
}
"""


def test_what_is_read():
    states, parents, tables = parse(LAWN)
    assert states == {"rain": ("yes", "no"), "wet": ("dry", "damp", "soaking, wet")}
    assert parents == {"rain": (), "wet": ("rain",)}
    assert tables["wet"].tolist() == [[0.1, 0.2, 0.7], [0.8, 0.1, 0.1]]


def test_a_whole_table_has_the_nodes_own_states_changing_last():
    text = LAWN[: LAWN.index("  /*")] + "table 0.1, 0.8, 0.2, 0.1, 0.7, 0.1; }"
    assert parse(text)[2]["wet"].tolist() == [[0.1, 0.2, 0.7], [0.8, 0.1, 0.1]]


def test_rows_that_are_rounded_are_renormalised_and_others_refused():
    text = LAWN.replace("0.2, 0.8", "0.2000003, 0.8")
    assert parse(text)[2]["rain"].sum() == pytest.approx(1, abs=1e-15)
    with pytest.raises(DataError, match=r"line 5: the table of 'rain' adds up to 1.00001: expected 1"):
        parse(LAWN.replace("0.2, 0.8", "0.20001, 0.8"))


def same(a, b):
    assert dict(a.structure.parents) == dict(b.structure.parents)
    assert list(a.structure.nodes) == list(b.structure.nodes)
    assert a.states == b.states
    assert all(np.array_equal(a.tables[node], b.tables[node]) for node in a.tables)


def network_of(text):
    states, parents, tables = parse(text)
    return Network.given(parents, tables, states)


NAMES = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=6), min_size=2, max_size=3, unique=True)


@given(st.integers(0, 2**32 - 1), NAMES, st.text(st.characters(codec="utf-8"), max_size=5))
def test_the_round_trip_is_exact_whatever_the_names(seed, states, name):
    rng = np.random.default_rng(seed)
    network = random_network(rng, int(rng.integers(1, 7)), zeros=0.2)
    same(network, network_of(network.to_bif()))
    node, below = f"x{name}", "property"
    table = {node: rng.dirichlet(np.ones(len(states))), below: rng.dirichlet(np.ones(len(states)), len(states))}
    strange = Network.given({node: (), below: (node,)}, table, {node: states, below: states})
    same(strange, network_of(strange.to_bif()))


def test_files_and_encodings(tmp_path):
    ASIA.write_bif(tmp_path / "asia.bif")
    same(ASIA, Network.read(tmp_path / "asia.bif"))
    text = LAWN.replace("damp", "größer")
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "latin-1"):
        (tmp_path / "x.bif").write_bytes(text.encode(encoding))
        assert read(tmp_path / "x.bif")[0]["wet"][1] == "größer"
    assert read(tmp_path / "x.bif", "latin-1")[0]["wet"][1] == "größer"
    with pytest.raises(DataError, match="not in the encoding utf-8"):
        read(tmp_path / "x.bif", "utf-8")
    with pytest.raises(DataError, match="none that Python knows"):
        read(tmp_path / "x.bif", "klingon")
    with pytest.raises(DataError, match="none that Python knows"):
        read(tmp_path / "x.bif", "\udcff")


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("variable wet", "variable rain", "line 4: the variable 'rain' is declared twice"),
        ("[ 3 ]", "[ 4 ]", "line 4: the variable 'wet' says [ 4 ] and has 3 states"),
        ("[ 3 ]", "[ 99999999999999999999 ]", "has 3 states"),
        ("discrete [ 3", "continuous [ 3", "line 4: found 'continuous', expected 'discrete'"),
        ("damp,", "dry,", "line 4: node 'wet' has the state 'dry' twice"),
        ("( wet | rain )", "( wet | rian )", "line 6: variable 'rian' not found; did you mean 'rain'?"),
        ("( wet | rain )", "( wet | rain, rain )", "line 6: the variable 'wet' has itself, or one parent twice"),
        ("( wet | rain )", "( wet | wet )", "line 6: the variable 'wet' has itself"),
        ("( wet | rain )", "( rain )", "line 6: the variable 'rain' has two probability blocks"),
        ("(yes) 0.1", "(yess) 0.1", "line 8: variable 'rain': state 'yess' not found; did you mean 'yes'?"),
        ("(yes) 0.1", "(yes, no) 0.1", "line 8: a row of 'wet' has 2 values for 1 parents"),
        ("0.2, 0.7", "0.9", "line 8: a row has 2 numbers: expected 3"),
        ("0.2, 0.7", "0.2, much", "line 8: found 'much', expected a number"),
        ("0.2, 0.7", "0.2, -0.7", "line 8: a row holds -0.7: expected probabilities"),
        ("0.2, 0.7", "0.2, nan", "line 8: a row holds nan"),
        ("default 0.8 0.1 0.1;", "", "line 6: the table of 'wet' has no row (no)"),
        ("default", "(yes)", "line 9: the table of 'wet' has the row (yes) twice"),
        ("default", "default 1 0 0; default", "line 9: the table of 'wet' has two defaults"),
        ("default", "table 1;", "line 9: the table of 'wet' is given twice"),
        ("table 0.2, 0.8;", "tabel 0.2, 0.8;", "line 5: found 'tabel', expected '(', 'table' or 'default'"),
        ("table 0.2, 0.8; }", "table 0.2, 0.8", "line 6: found 'probability', expected a number"),
        ("0.1;\n}", "0.1;\n", "found the end of the file, expected '}'"),
        ("network", "netwrok", "line 1: found 'netwrok', expected 'network', 'variable' or 'probability'"),
        ('"soaking, wet"', '"soaking, wet', "line 4: a quote begins here and does not end"),
        ("/* rows */", "/* rows ", "line 7: a comment begins here and does not end; end it, or take it out"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(old, new, sentence):
    assert old in LAWN
    with pytest.raises(DataError) as refused:
        parse(LAWN.replace(old, new, 1))
    assert sentence in str(refused.value)


def test_networks_that_are_not_whole():
    with pytest.raises(DataError, match="it has no variables"):
        parse("network x { }")
    with pytest.raises(DataError, match="the variable 'wet' has no probability block"):
        parse(LAWN[: LAWN.index("probability ( wet")])
    with pytest.raises(DataError, match="it has no variables"):
        parse("")


def test_a_table_too_large_for_memory_is_refused_before_it_is_made():
    nodes = [f"n{i}" for i in range(60)]
    text = "".join(f"variable {n} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for n in nodes)
    text += f"probability ( n0 | {', '.join(nodes[1:])} ) {{ default 0.5, 0.5; }}"
    with pytest.raises(DataError, match=r"line 61: the table of 'n0' has 1,152,921,504,606,846,976 cells"):
        parse(text)


@pytest.mark.parametrize("text", ['"' + '\\"' * 200_000, "/* " * 200_000], ids=["quotes", "comments"])
def test_what_does_not_end_is_looked_for_once(text):
    """Not from each of them again to the end of the text, which would take hours."""
    with pytest.raises(DataError, match=r"line 1: a (quote|comment) begins here and does not end"):
        parse(text)


def test_a_short_file_of_many_large_tables_is_refused(monkeypatch):
    monkeypatch.setattr(tables, "CELLS", 100)
    text = "".join(f"variable x{i} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for i in range(8))
    text += "".join(f"probability ( x{i} ) {{ table 0.5, 0.5; }}\n" for i in range(5))
    child = "probability ( x{} | x0, x1, x2, x3, x4 ) {{ default 0.25, 0.75; (a, a, a, a, b) 0.5, 0.5; }}\n"
    with pytest.raises(DataError, match="line 15: the table of 'x6' has 64 cells, those before it 74, more than 100"):
        parse(text + "".join(map(child.format, (5, 6, 7))))
    monkeypatch.undo()
    table = parse(text + "".join(map(child.format, (5, 6, 7))))[2]["x7"]
    assert table[0, 0, 0, 0].tolist() == [[0.25, 0.75], [0.5, 0.5]]


def test_a_cycle_in_a_file_is_named(tmp_path):
    text = LAWN.replace("probability ( rain ) { table 0.2, 0.8; }", "probability ( rain | wet ) { default 0.2, 0.8; }")
    (tmp_path / "cycle.bif").write_text(text)
    with pytest.raises(DataError, match=r"cycle.bif: the graph has a cycle: rain -> wet -> rain"):
        Network.read(tmp_path / "cycle.bif")


def test_spoilt_text_is_refused_in_words_or_is_a_network():
    rng = random.Random(7)
    whole = ASIA.to_bif()
    marks = [
        *'{}()[],;|"\n \\/*',
        "probability",
        "variable",
        "type",
        "table",
        "default",
        "property",
        "0",
        "-1",
        "1e999",
    ]
    refused = 0
    for _ in range(2000):
        text = whole
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text) + 1)
            how = rng.randrange(4)
            if how == 0:
                text = text[:at] + rng.choice(marks) + text[at:]
            elif how == 1:
                text = text[:at] + text[at + rng.randint(1, 30) :]
            elif how == 2:
                end = min(at + rng.randint(1, 60), len(text))
                text = text[:end] + text[at:end] + text[end:]
            else:
                text = text[:at]
        try:
            network = network_of(text)
        except DataError:
            refused += 1
        else:
            same(network, network_of(network.to_bif()))
    assert refused > 1000
