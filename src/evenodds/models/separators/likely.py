"""Separated or overlapping? Most tables tell by Newton's method, without a linear program.

    minimise  Σ log(1 + e^(-u·b))        over the directions b that are left

If every u·b is above 0 on the way, b separates them. If the sum has a minimum, its slope there is 0: the u, each with
the weight 1 / (1 + e^(u·b)), add up to 0, and since every weight is above 0, each direction without objection leaves
all of them where they are (Stiemke 1915). Where some of the u are separated and the others overlap, the weights of the
separated go to nothing on the way; the others, tried by themselves, have a minimum and are held. Each answer is checked
against rounding errors; where there is none, it is for the linear program to find.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from evenodds.families.leaves import Floats
from evenodds.models.separators.face import Face
from evenodds.models.separators.vectors import SURE, Combination, Flags, Indices, Rows

STEPS = 40
FEW = 20  # u for each dimension, which are asked first
HELD = 1 << 25  # numbers, up to which all u are asked
FLAT = 1e-10  # of the mean curvature: added to all, for directions that no row's curvature is left in
GONE = 1e-7  # of a weight: that of a u which is separated, as it seems
ROUNDS = 6


def likely(rows: Rows, face: Face, lengths: Floats, held: Flags) -> Floats | Combination | None:
    """A direction (in the face's coordinates) of which every free u says > 0, or some u that hold each other at 0.

    None where neither was found.
    """
    T, free = face.matrix, np.flatnonzero(~held)
    k = T.shape[1]
    some = np.random.default_rng(2).choice(free, min(len(free), FEW * k), replace=False)
    few = rows.take(some) @ T / lengths[some, None]
    b, curve = _settled(few, np.zeros(k))
    if curve is None or len(some) < len(free):
        found, error = rows.scores(T @ b)
        if (found[free] > error[free]).all():
            return b
    overlapping = _overlapping(few, b, curve) if (few @ b).min() <= 0 else None
    if overlapping is not None:
        which, weights = some[overlapping[0]], overlapping[1]
        share = weights / lengths[which]
        return Combination(which, share / share.sum())
    if len(some) == len(free) or len(free) * k > HELD:
        return None
    whole = np.concatenate([product / lengths[which, None] for which, product, _ in rows.times(T, face.sizes)])[free]
    b, curve = _settled(whole, b)
    found, error = rows.scores(T @ b)
    return b if (found[free] > error[free]).all() else None


def _overlapping(u: Floats, b: Floats, curve: Floats | None) -> tuple[Indices, Floats] | None:
    """The u that hold each other, and their weights; the others are left out until those that are left prove it."""
    which = np.arange(len(u))
    for _ in range(ROUNDS):
        weights = _weights(u[which] @ b)
        if curve is not None:
            values, axes = np.linalg.eigh(curve)
            flat = values <= 1e-9 * values[-1]
            # so small a change of the weights, each in proportion, makes the sum exactly 0, whatever rounding has done
            firm = flat.all() or values[~flat][0] > 4 * SURE * float(weights.sum())
            astray = np.linalg.norm(u[which] @ axes[:, flat], axis=1) > 1e-9
            if firm and not astray.any():
                return which, weights
            which = which[~astray]
        else:
            which = which[weights > GONE]
        if len(which) < 2:
            return None
        part = u[which]
        b, curve = _settled(part, b)
        if curve is None and (part @ b).min() > 0:
            return None
    return None


def _weights(margins: Floats) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(np.minimum(margins, 700.0))))


def _settled(u: Floats, b: Floats) -> tuple[Floats, Floats | None]:
    """Newton's method until all u are above 0, or there is no slope: then with the curvature there."""
    k = len(b)
    step, last = np.zeros(k), np.inf
    for _ in range(STEPS):
        cost, slope, curve, margins = _sums(u, b)
        if margins.min() > 0:
            break
        if not cost <= last:  # too far: half of the way back
            step = step / 2
            b = b - step
            continue
        if np.linalg.norm(slope) <= SURE * float(_weights(margins).sum()):
            return b, curve
        prop = FLAT * float(np.trace(curve)) / k
        try:
            step = -cho_solve(cho_factor(curve + prop * np.eye(k), lower=True), slope)
        except LinAlgError:
            break
        b, last = b + step, cost if np.abs(step).max() > 1e-6 else np.inf  # the cost is all rounding at the end
    return b, None


def _sums(u: Floats, b: Floats) -> tuple[float, Floats, Floats, Floats]:
    """The cost, its slope, its curvature, and the margins of the u."""
    margin = u @ b
    small = np.exp(-np.abs(margin))
    cost = float((np.maximum(-margin, 0.0) + np.log1p(small)).sum())
    weight = np.where(margin > 0, small, 1.0) / (1.0 + small)
    root = u * np.sqrt(weight * (1.0 - weight))[:, None]
    return cost, -(u.T @ weight), root.T @ root, margin
