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

from evenodds.instructions import shared, text_kernel
from evenodds.kernel import product_error

GREEDY, EXPLORE, EPSILON, UCB, THOMPSON, EXP3, LIN_UCB, LIN_THOMPSON = range(8)
BERNOULLI, GAUSSIAN, POISSON, GIVEN, LINEAR = range(5)  # how rewards come about
N, MEAN, SQUARES, TOTAL, TOTAL_LOW, SECOND, SECOND_LOW, ROOT, VALUE = range(9)  # rows of what is known of the arms
CODE, A, B, C, D, WINDOW, DISCOUNT = range(7)  # what a policy's settings say
BLOCK = 1024  # rounds played at once by every policy: their rewards stay in the cache

GOLDEN, MIX1, MIX2 = (np.uint64(c) for c in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))
S30, S27, S31, S11, S8, BYTE = (np.uint64(s) for s in (30, 27, 31, 11, 8, 255))
LAYERS = 256
TAIL = 3.6541528853610088  # where the lowest of 256 layers of equal area under exp(-x²/2) ends (Marsaglia & Tsang 2000)


def _layers() -> tuple[Any, Any]:
    """The layers' right ends, and the curve's height there."""
    area = TAIL * math.exp(-TAIL * TAIL / 2) + math.sqrt(math.pi / 2) * math.erfc(TAIL / math.sqrt(2))
    x, y = np.zeros(LAYERS + 1), np.zeros(LAYERS + 1)
    x[0], x[1] = area / math.exp(-TAIL * TAIL / 2), TAIL
    y[1] = math.exp(-TAIL * TAIL / 2)
    for i in range(2, LAYERS):
        y[i] = y[i - 1] + area / x[i - 1]
        x[i] = math.sqrt(-2 * math.log(y[i]))
    y[LAYERS] = 1.0
    return x, y


ENDS, HEIGHTS = _layers()


@shared
def bits(state: Any) -> Any:
    """The next 64 bits (splitmix64; Steele, Lea and Flood 2014)."""
    state[0] += GOLDEN
    z = state[0]
    z = (z ^ (z >> S30)) * MIX1
    z = (z ^ (z >> S27)) * MIX2
    return z ^ (z >> S31)


@shared
def uniform(state: Any) -> float:
    """A number from 0 to below 1."""
    return np.int64(bits(state) >> S11) * 1.1102230246251565e-16  # signed, for which there is an instruction


@shared
def below(state: Any, n: int) -> int:
    """0, 1, ..., n - 1, each as probable as the others to 2^-50."""
    return int(uniform(state) * n)


@shared
def normal(state: Any) -> float:
    """A standard normal number, by layers of equal area."""
    while True:
        b = bits(state)
        i = int(b & BYTE)
        x = (np.int64(b >> S11) * 2.220446049250313e-16 - 1.0) * ENDS[i]
        if abs(x) < ENDS[i + 1]:
            return x
        if i == 0:  # the tail
            while True:
                far = -math.log(1.0 - uniform(state)) / TAIL
                if -2.0 * math.log(1.0 - uniform(state)) > far * far:
                    return TAIL + far if x > 0 else -TAIL - far
        elif HEIGHTS[i] + uniform(state) * (HEIGHTS[i + 1] - HEIGHTS[i]) < math.exp(-0.5 * x * x):
            return x


@shared
def gamma(state: Any, shape: float) -> float:
    """A Gamma(shape, 1) number (Marsaglia & Tsang 2000)."""
    if shape < 1.0:
        power = (1.0 - uniform(state)) ** (1.0 / shape)
        shape += 1.0
    else:
        power = 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal(state)
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            u = 1.0 - uniform(state)
            if u < 1.0 - 0.0331 * x * x * x * x or math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v)):
                return d * v * power


@shared
def best(index: Any, state: Any) -> int:
    """The arm of the largest index; the dice decide between equals."""
    top, arm, ties = index[0], 0, 0
    for a in range(1, len(index)):
        if index[a] > top:
            top, arm = index[a], a
    for a in range(len(index)):
        ties += int(index[a] == top)
    if ties > 1:
        nth = below(state, ties)
        for a in range(len(index)):
            if index[a] == top:
                if nth == 0:
                    return a
                nth -= 1
    return arm


@shared
def drawn(shares: Any, state: Any) -> int:
    """An arm with these probabilities."""
    u = uniform(state)
    for a in range(len(shares) - 1):
        u -= shares[a]
        if u < 0.0:
            return a
    return len(shares) - 1


@shared
def thompson(kind: int, known: Any, a: int, how: Any, state: Any) -> float:
    """A mean that arm a may have; endless where nothing is known of it."""
    n, mean = known[N, a], known[MEAN, a]
    if kind == POISSON:
        shape, rate = how[A] + known[TOTAL, a], how[B] + n
        return gamma(state, shape) / rate if rate > 0.0 and shape > 0.0 else math.inf
    strength, shape = how[B] + n, how[C] + n / 2.0
    if strength <= 0.0 or shape <= 0.0:
        return math.inf
    between = how[B] * n * (mean - how[A]) ** 2 / strength
    scale = how[D] + (known[SQUARES, a] + between) / 2.0
    variance = scale / gamma(state, shape)
    return (how[B] * how[A] + n * mean) / strength + math.sqrt(variance / strength) * normal(state)


@shared
def exp3(gains: Any, share: float, t: float, out: Any) -> None:
    """The shares of EXP3 after some gains."""
    k = len(gains)
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


@shared
def choose(kind: int, how: Any, known: Any, t: float, index: Any, state: Any) -> int:
    """The arm that a policy pulls in round t; `index` is left as it saw the arms."""
    k, code = len(index), int(how[CODE])
    if code == THOMPSON and kind == BERNOULLI:
        for a in range(k):
            heads = known[TOTAL, a]
            x = gamma(state, how[A] + heads)
            index[a] = x / (x + gamma(state, how[B] + (known[N, a] - heads)))
        return best(index, state)
    if code == THOMPSON:
        for a in range(k):
            index[a] = thompson(kind, known, a, how, state)
        return best(index, state)
    if code == EXP3:
        exp3(known[TOTAL], how[A], t, index)
        return drawn(index, state)
    if code == EXPLORE:
        for a in range(k):
            tried = known[MEAN, a] if known[N, a] > 0.0 else -math.inf
            index[a] = -known[N, a] if t <= how[A] else tried
        return best(index, state)
    width = how[A] * math.sqrt(math.log(t)) if code == UCB else 0.0
    for a in range(k):
        index[a] = known[VALUE, a] + width * known[ROOT, a]
    arm = best(index, state)
    if code == EPSILON and index[arm] < math.inf and uniform(state) < how[A] * min(1.0, how[B] / t):
        return below(state, k)
    return arm


@shared
def learn(kind: int, known: Any, arm: int, x: float, weight: float) -> None:
    """Add a reward to an arm's sums; a weight of -1 forgets it. Of measured rewards, what rounding took is kept too."""
    n = known[N, arm] + weight
    known[N, arm] = n
    if n <= 0.0:
        known[MEAN, arm] = known[SQUARES, arm] = known[ROOT, arm] = 0.0
        known[VALUE, arm] = math.inf
    else:
        known[ROOT, arm] = 1.0 / math.sqrt(n)
    if kind != GAUSSIAN:
        known[TOTAL, arm] += weight * x
        if n > 0.0:
            known[MEAN, arm] = known[VALUE, arm] = known[TOTAL, arm] / n
        return
    add, error = weight * x, product_error(weight, x, weight * x)
    for row in (TOTAL, SECOND):
        old = known[row, arm]
        total = old + add
        part = total - old
        known[row + 1, arm] += (old - (total - part)) + (add - part) + error
        known[row, arm] = total
        add, error = add * x, product_error(add, x, add * x) + error * x
    if n <= 0.0:
        return
    total, low = known[TOTAL, arm], known[TOTAL_LOW, arm]
    mean = (total + low) / n
    product, whole = total * mean, n * mean
    left = ((total - whole) - product_error(n, mean, whole)) + low  # Σ (x - mean), which is rounding alone
    squares = (known[SECOND, arm] - product) + (
        known[SECOND_LOW, arm] - product_error(total, mean, product) - low * mean
    )
    known[MEAN, arm] = known[VALUE, arm] = mean
    known[SQUARES, arm] = max(0.0, squares - mean * left)


@shared
def leading(value: Any) -> int:
    """The arm with the best mean, if it is the only one and all were pulled; otherwise -1."""
    leader, ties = 0, 0
    for a in range(1, len(value)):
        if value[a] > value[leader]:
            leader = a
    for a in range(len(value)):
        ties += int(value[a] == value[leader])
    return leader if ties == 1 and value[leader] < math.inf else -1


@shared
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


@shared
def play(
    kind: int, how: Any, rewards: Any, truth: Any, contexts: Any, t0: int, known: Any, ring: Any, inverse: Any,
    cross: Any, index: Any, along: Any, state: Any, choices: Any, covered: Any,
) -> None:  # fmt: skip
    """A block of rounds, from round t0 + 1 on; choices[i] is the arm of the i-th."""
    k, code, window, fade = rewards.shape[1], int(how[CODE]), int(how[WINDOW]), how[DISCOUNT]
    by_mean = code in (GREEDY, EPSILON) and not window and fade == 1.0
    leader, value = -1, known[VALUE]  # by mean alone, one pull changes one value: the best need not be sought each time
    for i in range(len(choices)):
        t = float(t0 + i + 1)
        if window or fade < 1.0:
            t = 1.0
            for a in range(k):
                t += known[N, a]
        if by_mean and leader < 0:
            leader = leading(value)
        if leader >= 0:
            arm = leader
            if code == EPSILON and uniform(state) < how[A] * min(1.0, how[B] / t):
                arm = below(state, k)
        elif code >= LIN_UCB:
            for a in range(k):
                mean, variance = solve(inverse, cross, contexts[i], a, along)
                width = 1.0 if code == LIN_UCB else normal(state)
                index[a] = mean + how[A] * math.sqrt(variance) * width
            arm = best(index, state)
        else:
            arm = choose(kind, how, known, t, index, state)
        choices[i] = arm
        if len(covered) and code == UCB:
            for a in range(k):
                if known[N, a] > 0.0:
                    covered[1, a] += 1
                    covered[0, a] += int(truth[i, a] <= index[a])
        x = rewards[i, arm]
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
                if known[N, a] > 0.0:
                    known[ROOT, a] = 1.0 / math.sqrt(known[N, a])
                for row in range(TOTAL, SECOND_LOW + 1):
                    known[row, a] *= fade
        if window:
            place = (t0 + i) % window
            if t0 + i >= window:
                learn(kind, known, int(ring[0, place]), ring[1, place], -1.0)
            ring[0, place], ring[1, place] = arm, x
        before = value[arm]
        learn(kind, known, arm, x, 1.0 / index[arm] if code == EXP3 else 1.0)
        if (arm == leader and value[arm] < before) or (arm != leader and value[arm] >= value[leader]):
            leader = -1


@shared
def world(
    kind: int, means: Any, spread: float, seed: Any, t0: int, rewards: Any, truth: Any, contexts: Any, state: Any
) -> None:
    """What every arm would give in a block of rounds, and with which mean; the means' rows are rounds, or just one."""
    rounds, k = rewards.shape
    d = contexts.shape[1]
    each = np.uint64(2 * k + 2 * d)  # dice kept for each round
    for i in range(rounds):
        state[0] = seed + np.uint64(t0 + i) * each * GOLDEN
        for j in range(d):
            contexts[i, j] = 1.0 if j == 0 else 2.0 * uniform(state) - 1.0
        row = t0 + i if len(means) > 1 and kind != LINEAR else 0
        for a in range(k):
            mean = means[row, a]
            if kind == LINEAR:
                mean = 0.0
                for j in range(d):
                    mean += means[a, j] * contexts[i, j]
            truth[i, a] = mean
            if kind == BERNOULLI:
                rewards[i, a] = 1.0 if uniform(state) < mean else 0.0
            elif kind == POISSON:
                u, p, n = uniform(state), math.exp(-mean), 0
                while u >= p and n < 1000:
                    u -= p
                    n += 1
                    p *= mean / n
                rewards[i, a] = n
            elif kind == GIVEN:
                rewards[i, a] = mean
            else:
                radius = math.sqrt(-2.0 * math.log(1.0 - uniform(state)))
                rewards[i, a] = mean + spread * radius * math.cos(6.283185307179586 * uniform(state))


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
    state, known = np.zeros(1, np.uint64), np.zeros((policies, 9, k))
    ring, linear = np.zeros((policies, 2, longest)), width if settings[:, CODE].max() >= LIN_UCB else 0
    inverse, cross = np.zeros((policies, k, linear, linear)), np.zeros((policies, k, linear))
    sums, mean_sums, earned = np.zeros(k), np.zeros(k), np.zeros((2, policies))
    own = np.zeros((policies, 1), np.uint64)
    for run in range(runs):
        for numbers in (sums, mean_sums):
            numbers[:] = 0.0
        known[:], cross[:], inverse[:], earned[:] = 0.0, 0.0, 0.0, 0.0
        known[:, VALUE] = math.inf
        own[:, 0] = dice[:, run]
        for p in range(policies):
            for a in range(k):
                for j in range(linear):
                    inverse[p, a, j, j] = 1.0 / settings[p, B] if settings[p, B] > 0.0 else 1.0
        top, mark = 0.0, 0
        for t0 in range(0, rounds, BLOCK):
            size = min(BLOCK, rounds - t0)
            world(kind, means, spread, seeds[run], t0, rewards[:size], truth[:size], contexts[:size], state)
            for p in range(policies):
                play(
                    learnt, settings[p], rewards, truth, contexts, t0, known[p], ring[p], inverse[p], cross[p],
                    index, along, own[p], choices[p, :size], covered[p],
                )  # fmt: skip
                if len(history):
                    history[p, run, t0 : t0 + size] = choices[p, :size]
            for i in range(size):
                highest = truth[i, 0]
                for a in range(k):
                    sums[a] += rewards[i, a]
                    mean_sums[a] += truth[i, a]
                    highest = max(highest, truth[i, a])
                top += highest
                for p in range(policies):
                    arm = choices[p, i]
                    earned[0, p] += rewards[i, arm]
                    earned[1, p] += truth[i, arm]
                    pulls[p, run, arm] += 1
                if mark < len(marks) and t0 + i + 1 == marks[mark]:
                    for p in range(policies):
                        regret[p, run, mark] = sums.max() - earned[0, p]
                        pseudo[p, run, mark] = mean_sums.max() - earned[1, p]
                        dynamic[p, run, mark] = top - earned[1, p]
                    mark += 1
