"""Pictures: one function, one Vega-Lite dictionary. Nothing is needed to make one; vl-convert turns it into a file."""

from evenodds.plots.bars import confusion, drifted, waterfall, words
from evenodds.plots.boundary import boundary
from evenodds.plots.curves import precision_recall, roc
from evenodds.plots.densities import densities
from evenodds.plots.groups import groups
from evenodds.plots.learning_curves import learning_curves
from evenodds.plots.mixture import mixture
from evenodds.plots.model import nomogram
from evenodds.plots.regret import regret
from evenodds.plots.reliability import reliability
from evenodds.plots.save import save

__all__ = [
    "boundary",
    "confusion",
    "densities",
    "drifted",
    "groups",
    "learning_curves",
    "mixture",
    "nomogram",
    "precision_recall",
    "regret",
    "reliability",
    "roc",
    "save",
    "waterfall",
    "words",
]
