"""Bandits: numbers that are known, and the laws between the readable policies and the compiled ones."""

import dataclasses
import itertools
import math
from statistics import fmean, stdev

import numpy as np
import pytest
from scipy import stats

from evenodds.bandits import (
    EXP3,
    UCB,
    UCB1,
    Arms,
    Dice,
    EpsilonGreedy,
    ExploreThenExploit,
    Fading,
    Greedy,
    LinThompson,
    LinUCB,
    Thompson,
    Windowed,
    World,
    adversarial,
    bernoulli,
    crossing,
    drifting,
    expected_reward,
    gaussian,
    growth,
    kernels,
    linear,
    naming,
    poisson,
    sensitivity,
    simulate,
    switching,
)
from evenodds.bandits.likeliest import BREAKS, _cuts, best_shares
from evenodds.bandits.simulation import Simulation, plainly, rewards_of
from evenodds.families import Bernoulli, Beta, Gamma, Gaussian, NormalInverseGamma, Poisson

NINE = [i / 10 for i in range(1, 10)]
PLAIN = [
    Greedy(),
    ExploreThenExploit(31),
    EpsilonGreedy(0.2),
    EpsilonGreedy(1.0, since=20),
    UCB(),
    UCB1(),
    Thompson(),
    EXP3(),
    EXP3(0.2),
    Windowed(UCB(), 40),
    Windowed(Thompson(), 25),
    Windowed(Greedy(), 10),
    Fading(UCB(), 0.97),
    Fading(Thompson(), 0.95),
    Fading(EpsilonGreedy(0.3, since=10), 0.9),
]
WORLDS = {
    "bernoulli": bernoulli([0.2, 0.5, 0.6]),
    "gaussian": gaussian([10.2, 10.5, 10.6], 0.5),
    "poisson": poisson([0.5, 2.0, 2.5]),
    "switching": switching([[0.9, 0.1, 0.5], [0.1, 0.8, 0.5]], at=[100]),
    "drifting": drifting([[0.9, 0.1], [0.1, 0.8]], at=[150]),
}


def name(value):
    return getattr(value, "name", str(value))


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("policy", PLAIN, ids=name)
def test_the_compiled_policy_makes_the_choices_of_the_plain_one(policy, world):
    for seed in range(2):
        fast = simulate([policy], WORLDS[world], 200, 2, random_state=seed, choices=True)
        for run in range(2):
            assert fast.choices[0, run].tolist() == plainly(policy, WORLDS[world], 200, run, seed)


@pytest.mark.parametrize("width", [1, 3])  # less than there are arms, and as many
@pytest.mark.parametrize("policy", [LinUCB(), LinUCB(0.3, 2.0), LinThompson(0.2), Greedy()], ids=name)
def test_the_compiled_policy_of_contexts_makes_the_choices_of_the_plain_one(policy, width):
    world = linear(np.array([[0.5, 1.0, 0.0], [0.5, -1.0, 0.2], [0.4, 0.0, 0.9]])[:, :width])
    fast = simulate([policy], world, 150, 2, choices=True)
    for run in range(2):
        assert fast.choices[0, run].tolist() == plainly(policy, world, 150, run)


def test_the_kernel_is_its_own_python():
    settings = np.array([policy.settings(Bernoulli) for policy in PLAIN])
    seeds, dice = np.array([3, 4], np.uint64), np.tile(np.array([5, 6], np.uint64), (len(PLAIN), 1))
    found = []
    for run in (kernels.simulate.compiled, kernels.simulate.plain):
        p = len(PLAIN)
        out = [np.zeros((p, 2, 2)), np.zeros((p, 2, 2)), np.zeros((p, 2, 2)), np.zeros((p, 2, 2), np.int64)]
        out += [np.zeros((p, 2, 2), np.int64), np.zeros((p, 2, 60), np.int64)]
        run(settings, seeds, dice, 0, 0, np.array([[0.6, 0.5]]), 1.0, 0, 60, np.array([10, 60]), *out)
        found.append(b"".join(array.tobytes() for array in out))
    assert found[0] == found[1]


def test_the_result_is_the_same_for_any_number_of_threads_and_any_company():
    alone = simulate([UCB()], NINE, 500, 20, threads=1)
    others = simulate([Thompson(), UCB(), Greedy()], NINE, 500, 20, threads=3)
    assert alone.regret[0].tobytes() == others.regret[1].tobytes()
    assert alone.pulls[0].tobytes() == others.pulls[1].tobytes()


@pytest.mark.parametrize("world", [*WORLDS.values(), World(kernels.BERNOULLI, np.array([[0.6, 0.5], [0.5, 0.6]]))])
def test_a_world_has_one_row_of_means_or_one_for_each_round(world):
    assert len(world.table(3000)) in (1, 3000)


def test_all_policies_meet_the_same_rewards_and_regret_is_the_best_arm_in_hindsight():
    world = bernoulli([0.3, 0.6, 0.5])
    played = simulate([UCB(), Thompson()], world, 300, 3, choices=True, random_state=9)
    for p, run in itertools.product(range(2), range(3)):
        rewards, truth, _ = rewards_of(world, 300, run, 9)
        chosen = played.choices[p, run]
        for mark, t in enumerate(played.marks):
            earned = rewards[np.arange(t), chosen[:t]].sum()
            assert played.regret[p, run, mark] == rewards[:t].sum(axis=0).max() - earned
        assert played.pseudo[p, run, -1] == pytest.approx(0.6 * 300 - truth[np.arange(300), chosen].sum())
        assert played.pulls[p, run].tolist() == np.bincount(chosen, minlength=3).tolist()


def test_the_greedy_trap():
    arms = Arms.nothing(Bernoulli, 2).learn(0, 0).learn(1, 1)
    for t in range(3, 30):
        assert Greedy().choose(arms, t, Dice(t)) == 1
        arms = arms.learn(1, 0)
    played = simulate([Greedy()], [0.6, 0.5], 4000, 4000, choices=True)
    trapped = (played.pulls[0, :, 0] == 1).mean()
    # first rewards 0 and 1: .2. Arm 1 must also go on above 0, which it does; other traps (1 and 1, then bad luck) add
    first = np.array([rewards_of(bernoulli([0.6, 0.5]), 2, run)[0] for run in range(400)])
    order = played.choices[0, :400, 0]
    rewards = np.stack([first[np.arange(400), np.where(order == a, 0, 1), a] for a in (0, 1)], axis=1)
    caught = (rewards == [0, 1]).all(axis=1)
    assert 0.14 < caught.mean() < 0.26
    assert (played.pulls[0, :400, 0][caught] == 1).all()
    assert trapped >= 0.2 - 3 * math.sqrt(0.2 * 0.8 / 4000)


def test_the_textbook_indices():
    arms = Arms.of_sums(Bernoulli, [10, 5], [6, 2], [6, 2])
    assert UCB().index(arms, 16).round(5).tolist() == [1.65311, 1.88932]
    assert UCB().index(Arms.nothing(Bernoulli, 2).learn(0, 1), 2).tolist()[1] == math.inf


def test_the_textbook_regrets():
    """Means .1 ... .9, 10,000 rounds; the textbook's numbers have standard errors too."""
    expected = {
        Greedy(): (452, 55), ExploreThenExploit(450): (256, 21), EpsilonGreedy(0.1): (434, 4), UCB(): (562, 2),
        UCB1(): (328, 1), Thompson(): (41, 1),
    }  # fmt: skip
    played = simulate(list(expected), NINE, 10_000, 160)
    for row, (value, error) in zip(played.regret_table, expected.values()):
        assert abs(row["regret"] - value) <= 3 * math.hypot(row["±"], error), row


def test_a_window_wins_where_the_world_switches():
    world = switching([[0.5, 0.2, 0.8], [0.5, 0.9, 0.3], [0.6, 0.1, 0.1]], at=[4000, 8000])
    losers = [Greedy(), ExploreThenExploit(100), UCB(), UCB1()]
    winners = [Windowed(UCB(), 400), Windowed(UCB1(), 400), Fading(UCB1(), 0.998), Windowed(Thompson(), 400)]
    played = simulate(losers + winners, world, 12_000, 24)
    for plain, short in itertools.product(range(4), range(4, 8)):
        gap = played.dynamic[plain, :, -1] - played.dynamic[short, :, -1]
        assert gap.mean() > 3 * gap.std() / math.sqrt(24), (played.names[plain], played.names[short])


def test_a_table_of_regret_is_made_of_its_runs():
    played = simulate([Greedy(), UCB()], [0.6, 0.5], 60, 5)
    for p, row in enumerate(played.regret_table):
        last, of_means = (runs[p, :, -1].tolist() for runs in (played.regret, played.pseudo))
        assert (row["regret"], row["±"]) == pytest.approx((fmean(last), stdev(last) / math.sqrt(5)))
        assert (row["pseudo-regret"], row["pseudo ±"]) == pytest.approx(
            (fmean(of_means), stdev(of_means) / math.sqrt(5))
        )
        low, *_, high = sorted(last)  # a twentieth of four steps is a fifth of the first
        second, fourth = sorted(last)[1], sorted(last)[3]
        assert (row["5 %"], row["95 %"]) == pytest.approx((low + (second - low) / 5, high - (high - fourth) / 5))
    gaps = (played.regret[0, :, -1] - played.regret[1, :, -1]).tolist()
    assert played.difference(0, 1) == pytest.approx((fmean(gaps), stdev(gaps) / math.sqrt(5)))


def test_curves_of_regret_have_the_band_of_their_level():
    played = simulate([Greedy(), UCB()], [0.6, 0.5], 60, 5)
    curves = played.curves(level=0.8)
    assert curves["round"] == played.marks.tolist() * 2
    for row, runs in zip(curves, played.regret.transpose(0, 2, 1).reshape(-1, 5), strict=True):
        low, second, _, fourth, high = sorted(runs.tolist())  # a tenth of four steps is .4 of the first
        assert (row["low"], row["high"]) == pytest.approx((low + 0.4 * (second - low), high - 0.4 * (high - fourth)))
        assert (row["mean"], row["error"]) == pytest.approx((fmean(runs), stdev(runs) / math.sqrt(5)))


def test_exp3_bears_an_adversary_that_ruins_ucb():
    rounds = 6000
    ahead = np.zeros((rounds, 2))
    ahead[:400, 0] = 1.0  # arm 0 is good until everyone is sure of it
    ahead[400:, 1] = 1.0
    played = simulate([Greedy(), UCB(0.1), EXP3(0.1)], adversarial(ahead), rounds, 40)
    greedy, ucb, exp3 = played.regret[:, :, -1].mean(axis=1)
    assert exp3 < 0.5 * min(greedy, ucb)


def test_contexts_pay():
    world = linear([[0.5, 1.0], [0.5, -1.0]])
    played = simulate([LinUCB(), LinThompson(0.3), Thompson()], world, 1000, 20)
    lost = played.dynamic[:, :, -1].mean(axis=1)
    assert lost[:2].max() < 0.1 * lost[2]


def test_ucb_covers():
    played = simulate([UCB(), UCB(0.3)], [0.6, 0.5], 2000, 40, coverage=True)
    sure, unsure = played.coverage_table
    assert min(sure["arm 0"], sure["arm 1"]) > 0.999
    assert min(unsure["arm 0"], unsure["arm 1"]) < min(sure["arm 0"], sure["arm 1"])
    [early] = simulate([UCB()], [0.6, 0.5, 0.4], 2, 1, coverage=True).coverage_table
    assert sum(early[f"arm {a}"] is None for a in range(3)) == 2  # in whose rounds nothing was known of two of them


def test_one_run_of_one_round_is_told_as_such():
    assert repr(simulate([UCB()], [0.6, 0.5], 1, 1)).startswith("1 run of 1 round\n")


def test_growth_and_crossing():
    played = simulate([UCB1(), EpsilonGreedy(0.1)], [0.3, 0.7], 20_000, 40)
    ucb, epsilon = growth(played)
    assert (ucb["like"], epsilon["like"]) == ("log T", "T")
    assert epsilon["per round"] == pytest.approx(0.1 / 2 * 0.4, rel=0.1)
    assert 10 < crossing(played, 0, 1) < 20_000
    assert crossing(played, 1, 0) is None


def test_growth_and_crossing_by_hand():
    """Three policies' regret at six rounds; where it grows is told by the last four, from a tenth of the rounds on."""
    marks = np.array([1, 50, 100, 200, 500, 1000])
    early = marks < 100
    lost = np.array([np.where(early, 777.0, 2 * np.log(marks) + 3), np.where(early, 777.0, 0.25 * marks + 1),
                     [5.0, 900, 99, 1, 1, 1]])  # fmt: skip
    runs = np.stack([lost - 1, lost + 1], axis=1)
    none = np.zeros((3, 0, 2), np.int64)
    played = Simulation(["log", "line", "late"], 1000, marks, runs, runs, runs, none, none, none)
    log, line, late = growth(played)
    assert (log["like"], log["per log round"], log["R² of log T"]) == ("log T", pytest.approx(2), pytest.approx(1))
    assert (line["like"], line["per round"], line["R² of T"]) == ("T", pytest.approx(0.25), pytest.approx(1))
    fitted = stats.linregress(marks[~early], lost[2, ~early])
    assert (late["per round"], late["R² of T"]) == pytest.approx((fitted.slope, fitted.rvalue**2))
    assert crossing(played, 2, 0) == 200  # ahead at first, behind at 50 and 100, and ahead from there on
    assert crossing(played, 0, 2) is None
    assert crossing(played, 0, 1) == 100  # equal is not ahead
    ahead = dataclasses.replace(played, pseudo=runs - np.arange(3)[:, None, None] * 1e6)
    assert crossing(ahead, 2, 1) == 1


def test_sensitivity_names_a_setting_that_is_none():
    with pytest.raises(ValueError, match="has no setting 'd'; it has c"):
        sensitivity(UCB(), "d", [1], [0.5, 0.6], 10)


def brute(policy, means, rounds):
    """Every history apart, by the plain policy."""

    def go(arms, t):
        if t > rounds:
            return 0.0
        total = 0.0
        for a, share in enumerate(policy.shares(arms, t)):
            if share > 0:
                for reward, chance in ((1.0, means[a]), (0.0, 1 - means[a])):
                    total += share * chance * (reward + go(policy.learn(arms, t, a, reward), t + 1))
        return total

    return go(Arms.nothing(Bernoulli, len(means)), 1)


@pytest.mark.parametrize("policy", PLAIN, ids=name)
def test_the_exact_reward_is_that_of_all_histories(policy):
    assert expected_reward(policy, [0.6, 0.5], 4) == pytest.approx(brute(policy, [0.6, 0.5], 4), abs=1e-12)


def test_what_cannot_be_gone_through_is_refused_as_soon_as_it_is_seen(monkeypatch):
    monkeypatch.setattr("evenodds.bandits.exact.MOST", 120)  # of all rounds together; 56 of the sixth alone
    expected_reward(EpsilonGreedy(0.1), [0.6, 0.5], 5)
    with pytest.raises(ValueError, match="10 rounds lead to more than 120 states; simulate them, or take fewer rounds"):
        expected_reward(EpsilonGreedy(0.1), [0.6, 0.5], 10)


def test_nothing_is_left_to_chance_before_each_arm_has_been_tried():
    arms = Arms.nothing(Bernoulli, 3).learn(0, 1)
    assert EpsilonGreedy(0.3).shares(arms, 2).tolist() == [0.0, 0.5, 0.5]
    every = arms.learn(1, 0).learn(2, 0)
    assert EpsilonGreedy(0.3).shares(every, 4) == pytest.approx([0.8, 0.1, 0.1])
    assert EpsilonGreedy(0.3, since=2).shares(every, 4) == pytest.approx([0.9, 0.05, 0.05])


@pytest.mark.parametrize("policy", [p for p in PLAIN if not isinstance(p, EXP3 | Fading | Windowed)], ids=name)
def test_ten_rounds_exactly_and_simulated(policy):
    exact = expected_reward(policy, [0.6, 0.5], 10)
    played = simulate([policy], [0.6, 0.5], 10, 20_000)
    earned = 6 - played.pseudo[0, :, -1]
    assert abs(earned.mean() - exact) < 4 * earned.std() / math.sqrt(20_000) + 1e-12
    assert 5.0 < exact < 6.0


@pytest.mark.parametrize("policy", [*PLAIN, LinUCB(), LinThompson(0.2)], ids=name)
def test_an_arm_is_chosen_as_often_as_its_share_says(policy):
    arms = policy.start(Bernoulli, 3, 2).seeing(np.array([1.0, 0.5]))
    for t, (arm, reward) in enumerate([(0, 1), (1, 0), (2, 1), (0, 0), (1, 1), (2, 0), (0, 1)], 1):
        arms = policy.learn(arms, t, arm, reward)
    shares, many = policy.shares(arms, 1000.0), 3000
    assert shares.sum() == pytest.approx(1)
    often = np.bincount([policy.choose(arms, 1000.0, Dice(seed)) for seed in range(many)], minlength=3) / many
    assert (np.abs(often - shares) <= 4.5 * np.sqrt(shares * (1 - shares) / many)).all()


@pytest.mark.parametrize("share", [None, 0.2])
def test_the_shares_of_exp3_are_its_formula(share):
    arms = Arms.nothing(Bernoulli, 3).learn(0, 1, 4.0).learn(2, 1, 2.5)
    explores = math.sqrt(3 * math.log(3) / ((math.e - 1) * 50)) if share is None else share
    raised = np.exp(explores / 3 * np.array([4.0, 0.0, 2.5]))
    expected = (1 - explores) * raised / raised.sum() + explores / 3
    np.testing.assert_allclose(EXP3(share).shares(arms, 50.0), expected, rtol=1e-12)


def test_shares_are_probabilities_of_being_the_best():
    """Against draws, for every family; and exactly, P(Beta(a,b) > Beta(c,d)) by its finite sum."""
    rng = np.random.default_rng(0)
    posteriors = [
        Beta(np.array([7.0, 3, 30]), np.array([5.0, 4, 25])),
        Beta(np.array([0.5, 0.5]), np.array([0.5, 3.0])),
        Gamma(np.array([5.0, 9, 2]), np.array([2.0, 4, 1])),
        NormalInverseGamma(np.array([0.0, 0.5]), np.array([2.0, 5]), np.array([0.5, 2]), np.array([1.0, 1])),
        Beta(np.array([9000.0, 50, 1]), np.array([1000.0, 5, 1])),
    ]
    for posterior in posteriors:
        drawn = posterior.sample(200_000, rng)
        means = drawn[0] if isinstance(drawn, tuple) else drawn
        seen = np.bincount(means.argmax(axis=1), minlength=means.shape[1]) / len(means)
        np.testing.assert_allclose(best_shares(posterior), seen, atol=5e-3)
    a, b, c, d = 7, 5, 3, 4
    log_beta = lambda x, y: math.lgamma(x) + math.lgamma(y) - math.lgamma(x + y)  # noqa: E731
    exact = sum(
        math.exp(log_beta(c + i, b + d) - math.log(b + i) - log_beta(1 + i, b) - log_beta(c, d)) for i in range(a)
    )
    assert best_shares(Beta(np.array([a, c]), np.array([b, d])))[0] == pytest.approx(exact, abs=1e-10)


def test_arms_of_few_rewards_have_long_tails():
    """Against draws: a mean known from little more than one reward may be anywhere, above as well as below."""
    rng = np.random.default_rng(0)
    for shape in (0.5, 0.1, 0.02):
        known = NormalInverseGamma(
            np.array([0.0, 1.0, 0.5]), np.array([1.0, 2, 9]), np.array([shape, 0.5, 4]), np.ones(3)
        )
        v = known.scale / np.maximum(rng.gamma(known.shape, size=(400_000, 3)), 1e-300)
        means = known.mean + np.sqrt(v / known.strength) * rng.normal(size=v.shape)
        seen = np.bincount(means.argmax(axis=1), minlength=3) / len(means)
        np.testing.assert_allclose(best_shares(known), seen, atol=4e-3)


def test_hundreds_of_arms_share_the_places_where_they_are_looked_at():
    rng = np.random.default_rng(0)
    n = rng.integers(100, 2000, 400)
    heads = rng.binomial(n, 0.1)
    known = Beta(1.0 + heads, 1.0 + n - heads)
    quantiles = known.quantile(BREAKS[:, None])
    assert len(np.unique(quantiles)) > 9000
    assert len(np.unique(_cuts(quantiles))) < 1000
    shares = best_shares(known)
    assert shares.sum() == pytest.approx(1)
    seen = np.bincount(known.sample(20_000, rng).argmax(axis=1), minlength=400) / 20_000
    np.testing.assert_allclose(shares, seen, atol=0.01)


def test_an_arm_alone_is_the_best():
    for family in (Bernoulli, Gaussian, Poisson):
        arms = Arms.nothing(family, 1)
        for _ in range(3):
            assert Thompson().shares(arms, 1.0).tolist() == [1.0]
            arms = arms.learn(0, 1)


def test_dice_are_fair():
    dice, n = Dice(1), 4000
    normal = np.array([dice.normal() for _ in range(n)])
    gammas = np.array([dice.gammas(*[shape] * n) for shape in (0.3, 2.5)])
    assert abs(normal.mean()) < 4 / math.sqrt(n)
    assert abs(normal.var() - 1) < 4 * math.sqrt(2 / n)
    assert np.abs(gammas.mean(axis=1) - [0.3, 2.5]).max() < 4 * math.sqrt(2.5 / n)
    faces = np.bincount([dice.below(6) for _ in range(6000)], minlength=6)
    assert ((faces - 1000) ** 2 / 1000).sum() < 25  # χ² of 5 degrees, p = .0001
    ties = [Dice(i).best([1.0, 1.0, 0.0]) for i in range(500)]
    assert 200 < sum(ties) < 300


def test_far_tails_of_the_normal_dice():
    import evenodds.bandits.kernels as k

    k.simulate.compiled  # noqa: B018  so that the compiler knows the dice
    import numba

    @numba.njit
    def many(s, n):
        out = np.empty(n)
        for i in range(n):
            out[i], s = k.normal(s)
        return out

    x = many(np.uint64(11), 2_000_000)
    for cut in (0.5, 2.0, 3.0, 3.7, 4.2):
        expected = 2 * stats.norm.sf(cut) * len(x)
        assert abs((np.abs(x) > cut).sum() - expected) < 4.5 * math.sqrt(expected)
    assert abs(x.mean()) < 4.5 / math.sqrt(len(x))


def test_the_quick_test_of_gamma_numbers_takes_none_that_the_slow_one_would_not():
    """1 - .21 c² x⁴ is nowhere above exp(x²/2 + d (1 - v + log v)), v = (1 + c x)³, c² = 1 / (9 d), d from 2/3 on."""
    along = np.concatenate([np.geomspace(1e-9, 1, 20_000) - 1, np.linspace(0.001, 5, 5000)])  # c x
    for d in np.concatenate([np.linspace(2 / 3, 3, 50), np.geomspace(3, 1e6, 50)]):
        slow = np.exp(4.5 * d * along**2 + d * (1 - (1 + along) ** 3 + 3 * np.log1p(along)))
        assert (1 - 0.21 * 9 * d * along**4 <= slow + 1e-15).all()


@pytest.mark.parametrize("shape", [0.02, 0.7, 1.0, 3.0, 400.0])
def test_gamma_numbers_follow_their_distribution(shape):

    drawn = np.array(Dice(5).gammas(*[shape] * 4000))
    assert stats.kstest(drawn, "gamma", args=(shape,)).pvalue > 1e-4


def test_thompson_bears_numbers_too_small_for_a_double():
    tiny = Thompson(Beta(1e-4, 3e-4))
    played = simulate([tiny], [0.6, 0.5], 100, 40, choices=True)
    assert played.choices[0, 0].tolist() == plainly(tiny, [0.6, 0.5], 100)
    means = [tiny.draws(Arms.nothing(Bernoulli, 1), Dice(seed))[0] for seed in range(2000)]
    assert abs(np.mean(means) - 0.25) < 4 * math.sqrt(0.25 * 0.75 / 2000)
    faded = Fading(Thompson(), 0.9)  # an arm that fades for thousands of rounds is one of which nothing is known
    played = simulate([faded], gaussian([1.0, 5.0, 1.0]), 9000, 1, choices=True)
    assert played.choices[0, 0, :400].tolist() == plainly(faded, gaussian([1.0, 5.0, 1.0]), 400)
    assert (played.pulls[0, 0] > 0).all()


def test_families_of_arms_agree_with_sums():
    for family, rewards in ((Bernoulli, [1, 0, 1]), (Gaussian, [0.5, -1.5, 2.0]), (Poisson, [3, 0, 2])):
        arms = Arms.nothing(family, 2)
        for reward in rewards:
            arms = arms.learn(1, reward)
        sums = Arms.of_sums(family, [0, 3], [0, sum(rewards)], [0, sum(r * r for r in rewards)])
        assert arms.n.tolist() == sums.n.tolist() == [0, 3]
        np.testing.assert_allclose(arms.mean, sums.mean)
        assert arms.forget(1, rewards[0]).n.tolist() == [0, 2]
        np.testing.assert_allclose(arms.fade(0.5).n, [0, 1.5])


def test_a_prior_starts_the_arms():
    hopeful = simulate([Thompson(Beta(1, 1)), Thompson()], [0.6, 0.5], 200, 4, choices=True)
    assert (hopeful.choices[0] == hopeful.choices[1]).all()
    with pytest.raises(ValueError, match="none of Bernoulli rewards; try Beta"):
        simulate([Thompson(Gamma(1, 1))], [0.6, 0.5], 10)
    with pytest.raises(ValueError, match="both numbers must be above 0"):
        simulate([Thompson(Beta(0, 1))], [0.6, 0.5], 10)


def test_exploring_that_does_not_come_out_even():
    played = simulate([ExploreThenExploit(7)], [0.5, 0.5, 0.5], 7, 50)
    assert (np.sort(played.pulls[0], axis=1) == [2, 2, 3]).all()
    assert len({tuple(row) for row in played.pulls[0].tolist()}) == 3
    never = simulate([ExploreThenExploit(1)], [0.1, 0.9], 50, 50)
    assert (never.pulls[0].max(axis=1) == 50).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: EpsilonGreedy(1.5), "from 0 to 1"),
        (lambda: ExploreThenExploit(0), "at least one round"),
        (lambda: ExploreThenExploit(float("nan")), "T0=nan: expected a whole number"),
        (lambda: UCB(-1), "from 0 on"),
        (lambda: UCB(float("inf")), "c=inf: expected a finite number"),
        (lambda: UCB("2"), "c='2': expected a finite number"),
        (lambda: EpsilonGreedy("often"), "epsilon='often': expected a probability"),
        (lambda: LinUCB(ridge=None), "ridge=None: expected"),
        (lambda: EXP3("all"), "share='all': expected a number above 0"),
        (lambda: Fading(UCB(), None), "factor=None: expected a number between 0 and 1"),
        (lambda: Windowed("ucb", 5), "'ucb' has no form that forgets"),
        (lambda: gaussian([1], "wide"), "spread='wide': expected a standard deviation"),
        (lambda: LinUCB(ridge=float("inf")), "both finite"),
        (lambda: EXP3(2), "up to 1"),
        (lambda: Windowed(EXP3(), 5), "no form that forgets"),
        (lambda: Windowed(UCB(), 0), "from 1 on"),
        (lambda: Windowed(UCB(), 2.5), "window=2.5: expected a whole number of rounds"),
        (lambda: Windowed(UCB(), float("inf")), "window=inf: expected a whole number of rounds"),
        (lambda: Fading(UCB(), 1), "between 0 and 1"),
        (lambda: bernoulli([0.5, 1.5]), "1.5 is no probability"),
        (lambda: bernoulli([]), "at least one arm"),
        (
            lambda: bernoulli([[0.6, 0.5], [0.5, 0.6]]),
            r"the shape \(2, 2\): expected one for each arm",
        ),
        (lambda: gaussian([[1.0], [2.0]]), "the shape"),
        (lambda: poisson([[1.0, 2.0]]), "the shape"),
        (lambda: simulate([UCB()], [[0.6], [0.5]], 5000), "the shape"),
        (lambda: poisson([-1]), "from 0 to 500"),
        (lambda: gaussian([1], -1), "standard deviation"),
        (lambda: switching([[0.1], [0.2]], at=[5, 6]), "expected 1 growing"),
        (lambda: simulate([], [0.5], 5), "no policies"),
        (lambda: simulate([UCB()], [0.5], 0), "rounds=0"),
        (lambda: simulate([UCB()], [0.5], 2.5), "rounds=2.5: expected a whole number"),
        (lambda: simulate([UCB()], [0.5], float("nan")), "rounds=nan: expected a whole number"),
        (lambda: simulate([UCB()], [0.5], 5, runs="many"), "runs='many': expected a whole number"),
        (lambda: simulate(UCB(), [0.5], 5), "is not a list: give the policies in one"),
        (lambda: simulate([UCB], [0.5], 5), "UCB.* is no policy: expected one such as UCB()"),
        (lambda: simulate([UCB()], adversarial([[1, 0]]), 5), "5 were asked for"),
        (lambda: simulate([LinUCB()], [0.5, 0.6], 5), "needs contexts"),
        (lambda: expected_reward(LinUCB(), [0.5, 0.6], 5), "needs contexts"),
        (lambda: expected_reward(UCB(), [0.5, 1.6], 5), "1.6 is no probability"),
        (lambda: expected_reward(UCB(), [0.5, 0.6], 0), "rounds=0"),
        (lambda: growth(simulate([UCB()], [0.5, 0.6], 2, 2)), "too few"),
    ],
)
def test_what_cannot_be_is_refused_in_words(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_rounds_are_whole_however_they_are_written():
    assert naming.parse("explore=1e3") == ExploreThenExploit(1000)
    assert naming.parse("ucb@window=5e2") == Windowed(UCB(), 500)
    with pytest.raises(ValueError, match=r"window=2\.5"):
        naming.parse("ucb@window=2.5")


def test_a_constant_may_be_a_whole_number_of_any_size():
    whole, same = (simulate([UCB(c=c)], arms=[0.6, 0.5], rounds=20, runs=3, random_state=0) for c in (10**30, 1e30))
    np.testing.assert_array_equal(whole.pulls, same.pulls)
