"""Acting while learning: policies, worlds, simulation, offline evaluation, and decisions that survive a crash."""

from evenodds.bandits.adding import add
from evenodds.bandits.arms import Arms
from evenodds.bandits.contexts import LinThompson, LinUCB
from evenodds.bandits.dice import Dice
from evenodds.bandits.exact import expected_reward
from evenodds.bandits.experiment import Choice, Experiment, create
from evenodds.bandits.forgetting import Fading, Windowed
from evenodds.bandits.offline import Log, Replay, evaluate, frequencies, replay
from evenodds.bandits.policies import EXP3, UCB, UCB1, EpsilonGreedy, ExploreThenExploit, Greedy, Policy, Thompson
from evenodds.bandits.simulation import Simulation, simulate
from evenodds.bandits.states import States
from evenodds.bandits.study import crossing, growth, sensitivity
from evenodds.bandits.worlds import World, adversarial, bernoulli, drifting, gaussian, linear, poisson, switching

__all__ = [
    "EXP3", "UCB", "UCB1", "Arms", "Choice", "Dice", "EpsilonGreedy", "Experiment", "ExploreThenExploit", "Fading",
    "Greedy", "LinThompson", "LinUCB", "Log", "Policy", "Replay", "Simulation", "States", "Thompson", "Windowed",
    "World", "add", "adversarial", "bernoulli", "create", "crossing", "drifting", "evaluate", "expected_reward",
    "frequencies", "gaussian", "growth", "linear", "poisson", "replay", "sensitivity", "simulate", "switching",
]  # fmt: skip
