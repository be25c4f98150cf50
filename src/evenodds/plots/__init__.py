"""Pictures: one function, one Vega-Lite dictionary. Nothing is needed to make one; vl-convert turns it into a file."""

from evenodds.plots.densities import densities
from evenodds.plots.learning_curves import learning_curves
from evenodds.plots.mixture import mixture
from evenodds.plots.regret import regret
from evenodds.plots.reliability import reliability
from evenodds.plots.save import save

__all__ = ["densities", "learning_curves", "mixture", "regret", "reliability", "save"]
