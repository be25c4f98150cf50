"""Thousands of runs at once: dice, rewards, and the policies over plain arrays.

The policies' meaning is in `policies.py`, which draws from the same dice; the tests hold the two together, choice by
choice. A run's rewards are a function of the seed, the run, the round and the arm alone, so that every policy meets the
same ones; a policy's own dice go on from round to round.

Longer than a module should be, for a reason: what kernels call must stand in their own file, whose age their compiled
code goes by.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from evenodds.bandits.layers import ENDS, HEIGHTS, TAIL
from evenodds.instructions import borrowing, text_kernel
from evenodds.kernel import product_error

GREEDY, EXPLORE, EPSILON, UCB, THOMPSON, EXP3, LIN_UCB, LIN_THOMPSON = range(8)
BERNOULLI, GAUSSIAN, POISSON, GIVEN, LINEAR = range(5)  # how rewards come about
# rows of what is known of the arms; from VALUE on they follow from the others, and from SHAPE on an arm may have two
N, MEAN, SQUARES, TOTAL, TOTAL_LOW, SECOND, SECOND_LOW, VALUE, ROOT, SHAPE, SLOPE, POWER, GAMMA, ROWS = range(14)
CODE, A, B, C, D, WINDOW, DISCOUNT = range(7)  # what a policy's settings say
BLOCK = 1024  # rounds played at once by every policy: their rewards stay in the cache

GOLDEN, MIX1, MIX2 = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
S30, S27, S31, S11, BYTE = (np.uint64(s) for s in (30, 27, 31, 11, 255))


@borrowing
def mixed(z: Any) -> Any:
    """The 64 bits at a place of the dice (splitmix64; Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> S30)) * MIX1
    z = (z ^ (z >> S27)) * MIX2
    return z ^ (z >> S31)


@borrowing
def fraction(b: Any) -> float:
    """Bits as a number from 0 to below 1."""
    return np.int64(b >> S11) * 1.1102230246251565e-16  # signed, for which there is an instruction


@borrowing
def uniform(s: Any) -> tuple[float, Any]:
    """A number from 0 to below 1, and the place of the dice after it."""
    s += GOLDEN
    return fraction(mixed(s)), s


@borrowing
def below(s: Any, n: int) -> tuple[int, Any]:
    """0, 1, ..., n - 1, each as probable as the others to 2^-50."""
    u, s = uniform(s)
    return int(u * n), s


@borrowing
def normal(s: Any) -> tuple[float, Any]:
    """A standard normal number, by layers of equal area."""
    while True:
        s += GOLDEN
        b = mixed(s)
        i = int(b & BYTE)
        x = (np.int64(b >> S11) * 2.220446049250313e-16 - 1.0) * ENDS[i]
        if abs(x) < ENDS[i + 1]:
            return x, s
        x, s = edge(s, i, x)
        if x < math.inf:
            return x, s


@borrowing
def edge(s: Any, i: int, x: float) -> tuple[float, Any]:
    """A number that is not surely below the curve: as it is, from the tail instead of the lowest layer, or endless."""
    while i == 0:
        u, s = uniform(s)
        v, s = uniform(s)
        far = -math.log(1.0 - u) / TAIL
        if -2.0 * math.log(1.0 - v) > far * far:
            return math.copysign(TAIL + far, x), s
    u, s = uniform(s)
    return (x if HEIGHTS[i] + u * (HEIGHTS[i + 1] - HEIGHTS[i]) < math.exp(-0.5 * x * x) else math.inf), s


@borrowing
def shaped(known: Any, j: int, shape: float) -> None:
    """Note what drawing Gamma(shape, 1) numbers needs; below 1 they come from the next shape, and without one are 0."""
    d = shape + 2.0 / 3.0 if shape < 1.0 else shape - 1.0 / 3.0
    known[SHAPE, j] = d if shape > 0.0 else 0.0
    if shape > 0.0:
        known[SLOPE, j], known[POWER, j] = 1.0 / math.sqrt(9.0 * d), 1.0 / shape if shape < 1.0 else 0.0


@borrowing
def gammas(known: Any, s: Any) -> Any:
    """Gamma numbers of the noted shapes (Marsaglia & Tsang 2000, with a quick test that is sharper for large ones)."""
    for j in range(known.shape[1]):
        d, c, power = known[SHAPE, j], known[SLOPE, j], known[POWER, j]
        drawn = d <= 0.0
        known[GAMMA, j] = 0.0
        if power > 0.0 and not drawn:
            u, s = uniform(s)
            power = (1.0 - u) ** power
        else:
            power = 1.0
        while not drawn:
            x, s = normal(s)
            v = 1.0 + c * x
            if v > 0.0:
                v = v * v * v
                u, s = uniform(s)
                drawn = 1.0 - u < 1.0 - 0.21 * c * c * x * x * x * x or taken(1.0 - u, x, d, v)
                known[GAMMA, j] = d * v * power
    return s


@borrowing
def taken(u: float, x: float, d: float, v: float) -> bool:
    """Whether a Gamma number is one, where the quick test does not know."""
    return math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v))


@borrowing
def best(index: Any, s: Any) -> tuple[int, Any]:
    """The arm of the largest index; the dice decide between equals."""
    top, arm, ties = index[0], 0, 0
    for a in range(1, len(index)):
        top = index[a] if index[a] > top else top
    for a in range(len(index)):
        if index[a] == top:
            arm, ties = a, ties + 1
    if ties > 1:
        nth, s = below(s, ties)
        for a in range(len(index)):
            if index[a] == top:
                if nth == 0:
                    return a, s
                nth -= 1
    return arm, s


@borrowing
def drawn(shares: Any, s: Any) -> tuple[int, Any]:
    """An arm with these probabilities."""
    u, s = uniform(s)
    for a in range(len(shares) - 1):
        u -= shares[a]
        if u < 0.0:
            return a, s
    return len(shares) - 1, s


@borrowing
def thompson(kind: int, known: Any, how: Any, index: Any, s: Any) -> Any:
    """A mean that each arm may have; endless where nothing is known of it."""
    s = gammas(known, s)
    for a in range(len(index)):
        if kind == BERNOULLI:
            heads, tails = known[GAMMA, 2 * a], known[GAMMA, 2 * a + 1]
            if heads + tails <= 0.0:  # too small for a double, which leaves a mean of 0 or 1
                u, s = uniform(s)
                heads = 1.0 if u * (how[A] + how[B] + known[N, a]) < how[A] + known[TOTAL, a] else 0.0
                tails = 1.0 - heads
            index[a] = heads / (heads + tails)
            continue
        n, mean, gamma = known[N, a], known[MEAN, a], known[GAMMA, a]
        strength = how[B] + n
        if kind == POISSON:
            index[a] = gamma / strength if known[SHAPE, a] > 0.0 else math.inf
        elif gamma > 0.0:
            between = how[B] * n * (mean - how[A]) ** 2 / strength
            variance = (how[D] + (known[SQUARES, a] + between) / 2.0) / gamma
            x, s = normal(s)
            index[a] = (how[B] * how[A] + n * mean) / strength + math.sqrt(variance / strength) * x
        else:
            index[a] = math.inf
    return s


@borrowing
def exp3(gains: Any, share: float, t: float, out: Any) -> None:
    """The shares of EXP3 after some gains."""
    k = len(out)
    if math.isnan(share):
        share = min(1.0, math.sqrt(k * math.log(k) / ((math.e - 1.0) * t)))
    top = gains[0]
    for a in range(1, k):
        top = max(top, gains[a])
    total = 0.0
    for a in range(k):
        out[a] = math.exp(share / k * (gains[a] - top))
        total += out[a]
    for a in range(k):
        out[a] = (1.0 - share) * out[a] / total + share / k


@borrowing
def choose(kind: int, how: Any, known: Any, t: float, width: float, index: Any, s: Any) -> tuple[int, Any]:
    """The arm that a policy pulls in round t; `index` is left as it saw the arms."""
    code = int(how[CODE])
    if code == EXP3:
        exp3(known[TOTAL], how[A], t, index)
        return drawn(index, s)
    if code == THOMPSON:
        return best(index, thompson(kind, known, how, index, s))
    for a in range(len(index)):
        if code == EXPLORE:
            tried = known[MEAN, a] if known[N, a] > 0.0 else -math.inf
            index[a] = -known[N, a] if t <= how[A] else tried
        else:
            index[a] = known[VALUE, a] + width * known[ROOT, a]
    return best(index, s)


@borrowing
def learn(kind: int, how: Any, known: Any, arm: int, x: float, weight: float) -> None:
    """Add a reward to an arm's sums; a weight of -1 forgets it."""
    n = known[N, arm] + weight
    known[N, arm] = n
    if kind == GAUSSIAN:
        measure(known, arm, x, weight)
    else:
        known[TOTAL, arm] += weight * x
        known[MEAN, arm] = known[TOTAL, arm] / n if n > 0.0 else 0.0
    prepare(kind, how, known, arm)


@borrowing
def measure(known: Any, arm: int, x: float, weight: float) -> None:
    """Add a measured reward to the sums of x and x², with what rounding takes from them, and form the moments."""
    add, error = weight * x, product_error(weight, x, weight * x)
    for row in (TOTAL, SECOND):
        old = known[row, arm]
        total = old + add
        part = total - old
        known[row + 1, arm] += (old - (total - part)) + (add - part) + error
        known[row, arm] = total
        add, error = add * x, product_error(add, x, add * x) + error * x
    n, total, low = known[N, arm], known[TOTAL, arm], known[TOTAL_LOW, arm]
    known[MEAN, arm] = known[SQUARES, arm] = 0.0
    if n <= 0.0:
        return
    mean = (total + low) / n
    product, whole = total * mean, n * mean
    left = ((total - whole) - product_error(n, mean, whole)) + low  # Σ (x - mean), which is rounding alone
    squares = (known[SECOND, arm] - product) + (
        known[SECOND_LOW, arm] - product_error(total, mean, product) - low * mean
    )
    known[MEAN, arm], known[SQUARES, arm] = mean, max(0.0, squares - mean * left)


@borrowing
def prepare(kind: int, how: Any, known: Any, a: int) -> None:
    """What choosing needs of an arm, formed when the arm changes."""
    n, total = known[N, a], known[TOTAL, a]
    known[VALUE, a] = known[MEAN, a] if n > 0.0 else math.inf
    if how[CODE] == UCB:
        known[ROOT, a] = 1.0 / math.sqrt(n) if n > 0.0 else 0.0
    elif how[CODE] == THOMPSON and kind == BERNOULLI:
        shaped(known, 2 * a, how[A] + total)
        shaped(known, 2 * a + 1, how[B] + (n - total))
    elif how[CODE] == THOMPSON:
        shape = how[A] + total if kind == POISSON else how[C] + n / 2.0
        shaped(known, a, shape if how[B] + n > 0.0 else 0.0)


@borrowing
def solve(inverse: Any, cross: Any, x: Any, a: int, along: Any) -> tuple[float, float]:
    """x·w and x'A⁻¹x of arm a, whose A⁻¹ and Σ r x are known; `along` becomes A⁻¹x."""
    mean = variance = 0.0
    for i in range(len(x)):
        along[i] = 0.0
        for j in range(len(x)):
            along[i] += inverse[a, i, j] * x[j]
        mean += along[i] * cross[a, i]
        variance += along[i] * x[i]
    return mean, max(0.0, variance)


@borrowing
def play(
    kind: int, how: Any, rewards: Any, truth: Any, contexts: Any, t0: int, known: Any, ring: Any, inverse: Any,
    cross: Any, index: Any, along: Any, s: Any, choices: Any, covered: Any, earned: Any, pulls: Any,
) -> Any:  # fmt: skip
    """A block of rounds, from round t0 + 1 on; choices[i] is the arm of the i-th. Gives the place of the dice."""
    k, code, window, fade = rewards.shape[1], int(how[CODE]), int(how[WINDOW]), how[DISCOUNT]
    forgets, value, root = window > 0 or fade < 1.0, known[VALUE], known[ROOT]
    # one pull changes one index, and time lifts the others by what their roots allow: while the leader is above what
    # they can have reached, they need not be looked at
    leads = code in (GREEDY, EPSILON, UCB) and not forgets and not len(covered)
    leader, second, slope, since = 0, math.inf, 0.0, 0.0
    for a in range(k):
        prepare(kind, how, known, a)
    for i in range(len(choices)):
        t = float(t0 + i + 1)
        if forgets:
            t = 1.0
            for a in range(k):
                t += known[N, a]
        width = how[A] * math.sqrt(math.log(t)) if code == UCB else 0.0
        top, reached = value[leader] + width * root[leader], second + (width - since) * slope
        if leads and top - reached > 1e-12 * (abs(top) + width * slope):
            arm = leader
        elif code >= LIN_UCB:
            for a in range(k):
                mean, variance = solve(inverse, cross, contexts[i], a, along)
                z = 1.0
                if code == LIN_THOMPSON:
                    z, s = normal(s)
                index[a] = mean + how[A] * math.sqrt(variance) * z
            arm, s = best(index, s)
        else:
            arm, s = choose(kind, how, known, t, width, index, s)
            if leads:
                leader, second, slope, since = arm, -math.inf, 0.0, width
                for a in range(k):
                    if a != arm:
                        second, slope = max(second, index[a]), max(slope, root[a])
        if code == EPSILON and value[arm] < math.inf:
            u, s = uniform(s)
            if u < how[A] * min(1.0, how[B] / t):
                arm, s = below(s, k)
        choices[i] = arm
        if len(covered) and code == UCB:
            for a in range(k):
                if known[N, a] > 0.0:
                    covered[1, a] += 1
                    covered[0, a] += int(truth[i, a] <= index[a])
        x = rewards[i, arm]
        earned[0] += x
        earned[1] += truth[i, arm]
        pulls[arm] += 1
        if code >= LIN_UCB:
            _, variance = solve(inverse, cross, contexts[i], arm, along)
            for p in range(len(along)):
                cross[arm, p] += x * contexts[i, p]
                for q in range(len(along)):
                    inverse[arm, p, q] -= along[p] * along[q] / (1.0 + variance)
            continue
        if code == EXPLORE and t > how[A]:
            continue  # it has decided
        if fade < 1.0:
            for a in range(k):
                known[N, a] *= fade
                known[SQUARES, a] *= fade
                for row in range(TOTAL, SECOND_LOW + 1):
                    known[row, a] *= fade
                prepare(kind, how, known, a)
        if window:
            place = (t0 + i) % window
            if t0 + i >= window:
                learn(kind, how, known, int(ring[0, place]), ring[1, place], -1.0)
            ring[0, place], ring[1, place] = arm, x
        learn(kind, how, known, arm, x, 1.0 / index[arm] if code == EXP3 else 1.0)
        if arm != leader:
            second, slope = max(second, value[arm] + since * root[arm]), max(slope, root[arm])
    return s


@borrowing
def world(kind: int, means: Any, spread: float, seed: Any, t0: int, rewards: Any, truth: Any, contexts: Any) -> None:
    """What every arm would give in a block of rounds, and with which mean; the means' rows are rounds, or just one."""
    rounds, k = rewards.shape
    d = contexts.shape[1]
    each = np.uint64(2 * k + 2 * d)  # dice kept for each round
    for i in range(rounds):
        s = seed + np.uint64(t0 + i) * each * GOLDEN
        for j in range(d):
            contexts[i, j] = 1.0
            if j > 0:
                u, s = uniform(s)
                contexts[i, j] = 2.0 * u - 1.0
        row = t0 + i if len(means) > 1 and kind != LINEAR else 0
        if kind == BERNOULLI:
            for a in range(k):  # several at once: the dice's places are known beforehand
                truth[i, a] = means[row, a]
                rewards[i, a] = 1.0 if fraction(mixed(s + np.uint64(a + 1) * GOLDEN)) < means[row, a] else 0.0
            continue
        for a in range(k):
            if kind == LINEAR:
                mean = 0.0
                for j in range(d):
                    mean += means[a, j] * contexts[i, j]
            else:
                mean = means[row, a]
            truth[i, a] = mean
            if kind == POISSON:
                u, s = uniform(s)
                p, n = math.exp(-mean), 0
                while u >= p and n < 1000:
                    u -= p
                    n += 1
                    p *= mean / n
                rewards[i, a] = n
            elif kind == GIVEN:
                rewards[i, a] = mean
            else:
                u, s = uniform(s)
                v, s = uniform(s)
                radius = math.sqrt(-2.0 * math.log(1.0 - u))
                rewards[i, a] = mean + spread * radius * math.cos(6.283185307179586 * v)


@borrowing
def offered(rewards: Any, truth: Any, step: int, sums: Any, mean_sums: Any) -> float:
    """Add to what each arm would have paid, and to its mean, and give the best means' sum; means stay for a step."""
    top = 0.0
    for i in range(len(rewards)):
        for a in range(len(sums)):
            sums[a] += rewards[i, a]
    for i in range(0, len(rewards), step):
        top += step * truth[i].max()
        for a in range(len(sums)):
            mean_sums[a] += step * truth[i, a]
    return top


@text_kernel
def simulate(
    settings: Any, seeds: Any, dice: Any, kind: int, learnt: int, means: Any, spread: float, width: int, rounds: int,
    marks: Any, regret: Any, pseudo: Any, dynamic: Any, pulls: Any, covered: Any, history: Any,
) -> None:  # fmt: skip
    """Play every policy in every run: regrets at the marked rounds (policies, runs, marks), pulls and choices.

    seeds[run] starts a run's rewards and dice[policy, run] a policy's dice. `covered` and `history` may be empty.
    """
    policies, runs, k = len(settings), len(seeds), pulls.shape[2]
    longest = int(max(1.0, settings[:, WINDOW].max()))
    rewards, truth, contexts = np.empty((BLOCK, k)), np.empty((BLOCK, k)), np.empty((BLOCK, width))
    choices, index, along = np.empty((policies, BLOCK), np.int64), np.empty(k), np.empty(width)
    known, place = np.zeros((policies, ROWS, 2 * k)), np.zeros(policies, np.uint64)
    ring, linear = np.zeros((policies, 2, longest)), width if settings[:, CODE].max() >= LIN_UCB else 0
    inverse, cross = np.zeros((policies, k, linear, linear)), np.zeros((policies, k, linear))
    sums, mean_sums, earned = np.zeros(k), np.zeros(k), np.zeros((policies, 2))
    still = len(means) == 1 and kind != LINEAR
    for run in range(runs):
        sums[:], mean_sums[:], known[:], cross[:], inverse[:], earned[:] = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        place[:] = dice[:, run]
        for p in range(policies):
            for a in range(k):
                for j in range(linear):
                    inverse[p, a, j, j] = 1.0 / settings[p, B] if settings[p, B] > 0.0 else 1.0
        top, mark, t0 = 0.0, 0, 0
        while t0 < rounds:
            size = min(BLOCK, marks[mark] - t0)
            world(kind, means, spread, seeds[run], t0, rewards[:size], truth[:size], contexts[:size])
            for p in range(policies):
                place[p] = play(
                    learnt, settings[p], rewards, truth, contexts, t0, known[p], ring[p], inverse[p], cross[p],
                    index, along, place[p], choices[p, :size], covered[p], earned[p], pulls[p, run],
                )  # fmt: skip
                if len(history):
                    history[p, run, t0 : t0 + size] = choices[p, :size]
            top += offered(rewards[:size], truth, size if still else 1, sums, mean_sums)
            t0 += size
            if t0 == marks[mark]:
                for p in range(policies):
                    regret[p, run, mark] = sums.max() - earned[p, 0]
                    pseudo[p, run, mark] = mean_sums.max() - earned[p, 1]
                    dynamic[p, run, mark] = top - earned[p, 1]
                mark += 1
