"""A network's file, spoilt in a thousand ways: refused in a sentence, or a network that works."""

import copy
import functools
import warnings

import numpy as np
import pytest

import evenodds as eo
import spoilt
from evenodds import file
from evenodds.models.bayes_net.network import Network

ROWS = {"a": list("xxyy") * 3, "b": ["u,", "v\\", "u,", "v\\"] * 3, "c": list("stts") * 3, "n": [1, 2, 3] * 4}


@functools.cache
def originals():
    """Files of networks that were learnt, given, told something, and all of it together."""
    weights = np.linspace(0.1, 2, 12)
    fitted = [
        eo.BayesNet("a, b -> c; c -> n").fit(ROWS),
        eo.BayesNet("a, b -> c", target="c", prior="bdeu", smoothing=2).fit(ROWS, sample_weight=weights),
        eo.BayesNet("a -> c", tables={"a": {"x": 0.25, "y": 0.75}}, states={"c": ["t", "s", "r"]}).fit(ROWS),
        eo.BayesNet(target="c", cuts={"n": [2]}, estimate="mle").fit(ROWS),
        eo.BayesNet("a -> c", missing="em").fit({**ROWS, "a": [None, *ROWS["a"][1:]]}),
    ]
    return [one.model_.to_bytes() for one in fitted]


def use(network):
    """All that can be asked of a network."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for node in network.structure.nodes:
            network.table(node)
            network.values(node)
        network.marginals()
        network.sample(3, random_state=0)
        network.to_bif()
        cut = network.columns.cuts
        network.log_prob({n: ["1" if n in cut else network.states[n][0], None] for n in network.structure.nodes})
        repr(network)
        if not network.by_hand:
            network.structure_score()
            network + network
    assert Network.from_bytes(network.to_bytes()) == network


@pytest.mark.parametrize("seed", range(4))
def test_a_spoilt_file_is_refused_in_a_sentence_or_is_a_network(seed):
    spoilt.check(Network, originals(), use, seed)


@pytest.mark.parametrize("which", range(5))
def test_the_originals_work(which):
    use(Network.from_bytes(originals()[which]))


def without_labels(arrays, header, at):
    """Groups that are numbers."""
    header["nodes"][at]["tally"]["groups"] = "fixed"
    arrays[f"n{at}.groups.keys"] = np.arange(len(arrays[f"n{at}.groups.keys"]), dtype=np.int32)
    del arrays[f"n{at}.groups.blob"], arrays[f"n{at}.groups.ends"]


def ending_in_a_backslash(arrays, header, at):
    arrays[f"n{at}.groups.blob"] = arrays[f"n{at}.groups.blob"].copy()
    arrays[f"n{at}.groups.blob"][-1] = ord("\\")


def without_a_comma(arrays, header, at):
    """A group that is one value where two parents have two."""
    blob = arrays[f"n{at}.groups.blob"].copy()
    blob[blob == ord(",")] = ord("x")
    arrays[f"n{at}.groups.blob"] = blob


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without_labels, "not grouped by the values of its parents"),
        (ending_in_a_backslash, "does not stand for the values of 2 parents"),
        (without_a_comma, "does not stand for the values of 2 parents"),
    ],
)
def test_groups_that_are_not_the_parents_values_are_refused(change, sentence):
    arrays, header = file.unpack(eo.BayesNet("a, n -> c").fit(ROWS).model_.to_bytes())
    some, told = dict(arrays), copy.deepcopy(header)
    change(some, told, [one["name"] for one in told["nodes"]].index("c"))
    told.pop("format")
    with pytest.raises(file.FileError, match=sentence):
        Network.from_bytes(file.pack(some, told))
