"""Acting while learning: policies, worlds, simulation, offline evaluation, and decisions that survive a crash."""

from evenodds.bandits.arms import Arms
from evenodds.bandits.contexts import LinThompson, LinUCB
from evenodds.bandits.dice import Dice
from evenodds.bandits.exact import expected_reward
from evenodds.bandits.forgetting import Fading, Windowed
from evenodds.bandits.policies import EXP3, UCB, UCB1, EpsilonGreedy, ExploreThenExploit, Greedy, Policy, Thompson
from evenodds.bandits.simulation import Simulation, simulate
from evenodds.bandits.study import crossing, growth, sensitivity
from evenodds.bandits.worlds import World, adversarial, bernoulli, drifting, gaussian, linear, poisson, switching

__all__ = [
    "EXP3", "UCB", "UCB1", "Arms", "Dice", "EpsilonGreedy", "ExploreThenExploit", "Fading", "Greedy", "LinThompson",
    "LinUCB", "Policy", "Simulation", "Thompson", "Windowed", "World", "adversarial", "bernoulli", "crossing",
    "drifting", "expected_reward", "gaussian", "growth", "linear", "poisson", "sensitivity", "simulate", "switching",
]  # fmt: skip
