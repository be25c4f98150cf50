"""The weights that correct naive Bayes, by the one fitter of all regressions.

    minimise  Σ_i w_i · -log softmax_y(offset_i + features_i · W)  +  ½ strength · |W|²

Every class has weights of its own, W_c ~ N(0, 1/strength), so that no class is special. Of two classes only the
difference of the weights matters: N(0, 2/strength), and the softmax is the logistic.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenodds.families.leaves import Floats
from evenodds.models.alone import alone
from evenodds.models.bridge.features import Matrices
from evenodds.models.glm.blocks import SHARD, Block
from evenodds.models.glm.losses import Logistic, Loss, Softmax
from evenodds.models.glm.minimise import minimise
from evenodds.models.glm.sums import evaluate

ROUGH, FINE = 1e-2, 1e-5  # tolerances: of weights that are tried, and of those that are kept
ROUGHER, WIDE = 3e-2, 1 << 18  # the tolerance of very many weights, and how many those are
SHARDS, SHORTEST = 4, 1 << 11  # how many runs of rows there are at least, and how short they may be
SHARP = 1e-6  # of Newton's steps, the last of which squares the error
SMALL = 500  # coefficients, up to which Newton's steps are the sooner, and end nearer to the minimum
RANK = 1e-12  # of the largest: what is less is rounding
FREE = 1e-3  # precision of the intercepts, which keeps those of all classes from rising together


class Symmetric(Softmax):
    """The softmax in which every class has a score; `minimise` needs a prior then, or all scores could rise."""

    def __init__(self, classes: int) -> None:
        self.outputs = classes

    def _first(self, score: Floats, y: NDArray[Any]) -> tuple[Floats, Floats, Floats]:
        p, cost = self._shares(score)
        rows = np.arange(len(y))
        first = p.copy()
        first[rows, y] -= 1.0
        return cost - score[rows, y], first, p

    @staticmethod
    def _shares(score: Floats) -> tuple[Floats, Floats]:
        top = score.max(axis=1)
        raised = np.exp(score - top[:, None])
        total = raised.sum(axis=1)
        return raised / total[:, None], top + np.log(total)

    def mean(self, score: Floats) -> Floats:
        """p of every class."""
        return self._shares(score)[0]

    def total(self, score: Floats) -> Floats:
        """log Σ_j e^s_j."""
        return self._shares(score)[1]


class Problem(NamedTuple):
    """Rows with their design, classes, weights, and what naive Bayes says of them, (rows, classes)."""

    design: Matrices
    y: NDArray[np.int64]
    offset: Floats
    weights: Floats | None

    def some(self, rows: Any) -> Problem:
        """Some rows."""
        weights = None if self.weights is None else self.weights[rows]
        return Problem(self.design.some(rows), self.y[rows], self.offset[rows], weights)

    @property
    def width(self) -> int:
        """How many weights each class has, with its intercept."""
        return self.design.width

    @property
    def classes(self) -> int:
        """How many."""
        return self.offset.shape[1]

    @property
    def mass(self) -> float:
        """How many rows, by weight."""
        return len(self.y) if self.weights is None else float(self.weights.sum())


class Blocks:
    """Rows as `minimise` takes them, cut once."""

    def __init__(self, blocks: list[Block], width: int) -> None:
        self._blocks, self.width = blocks, width

    def shards(self) -> list[Block]:
        """All of them."""
        return self._blocks

    def block(self, shard: Block) -> Block:
        """One of them: it is there."""
        return shard


def _source(problem: Problem, scale: float) -> Blocks:
    """The rows of a problem in blocks."""
    two = problem.classes == 2
    whole = np.asarray(scale * problem.offset)
    offset, blocks = whole[:, 1] - whole[:, 0] if two else whole, []
    size = min(SHARD, max(SHORTEST, -(-len(problem.y) // SHARDS)))  # whatever the threads are: the same sums
    for start in range(0, len(problem.y), size):
        rows = slice(start, start + size)
        part = problem if len(problem.y) <= size else problem.some(rows)
        dense, sparse = part.design
        y = part.y.astype(float) if two else part.y
        none = np.empty((len(y), 0), np.int32)
        blocks.append(Block(dense, sparse, none, problem.width, y, part.weights, offset[rows], True))
    return Blocks(blocks, problem.width)


def narrowed(problem: Problem) -> Problem:
    """The same rows in fewer columns, of which a ridge regression makes the same scores.

    Its weights are a sum of rows, W = Φᵀ a, so only the rows' products Φ Φᵀ = Q Qᵀ matter: Q has a column for each
    row, however many words there are. Its columns are at right angles, so that a solver sees each by itself.
    """
    dense, sparse = problem.design
    few = problem.width <= len(problem.y)
    if few:
        whole = dense if sparse is None else np.column_stack([dense, sparse.toarray()])
        products = whole.T @ whole
    else:
        products = dense @ dense.T + (0.0 if sparse is None else (sparse @ sparse.T).toarray())
    if not products.any():
        return problem._replace(design=Matrices(np.empty((len(problem.y), 0)), None))
    with alone():
        values, vectors = np.linalg.eigh(products)
    some = values > RANK * values[-1]
    q = whole @ vectors[:, some] if few else vectors[:, some] * np.sqrt(values[some])
    return problem._replace(design=Matrices(q, None))


def widened(problem: Problem, narrow: Problem, weights: Floats) -> Floats:
    """The weights of a problem's own columns from those of the narrowed: W = Φᵀ Q (QᵀQ)^-1 w."""
    dense, sparse = problem.design
    q = narrow.design.dense
    along = (q / (q * q).sum(axis=0)) @ weights[1:]
    parts = [weights[:1], dense.T @ along, *([] if sparse is None else [sparse.T @ along])]
    return np.concatenate(parts)


def frequent(problem: Problem, most: int) -> tuple[Problem, NDArray[np.intp]]:
    """The same rows with so many weights at most, those of the columns that most rows have; and which they are."""
    dense, sparse = problem.design
    places, first = np.arange(problem.width), 1 + dense.shape[1]
    many = max(0, most // problem.classes - first)
    if sparse is None or many >= sparse.shape[1]:
        return problem, places
    rows = np.bincount(sparse.indices, minlength=sparse.shape[1])
    kept = np.sort(np.argsort(-rows, kind="stable")[:many])
    fewer = problem._replace(design=Matrices(dense, sparse[:, kept]))
    return fewer, np.concatenate([places[:first], first + kept])


class Around(NamedTuple):
    """A Gaussian prior of the weights: each one's mean and precision, (width, classes)."""

    mean: Any
    precision: Any


def around_zero(strength: float, width: int, classes: int) -> Around:
    """Every weight N(0, 1/strength); the intercepts nearly free."""
    precision = np.full((width, classes), strength)
    precision[0] = FREE
    return Around(np.zeros((width, classes)), precision)


def correct(
    problem: Problem,
    scale: float,
    prior: Around,
    *,
    start: Floats | None = None,
    tolerance: float = FINE,
    threads: int | None = None,
) -> Floats:
    """The weights of each class, (1 + columns, classes), of highest posterior."""
    source, classes = _source(problem, scale), problem.classes
    mean, precision = prior
    begin = mean if start is None else start
    loss: Loss = Symmetric(classes)
    if classes == 2:  # of w = W_1 - W_0: variances add
        loss = Logistic()
        mean, begin = mean[:, 1] - mean[:, 0], begin[:, 1] - begin[:, 0]
        precision = 1.0 / (1.0 / precision).sum(axis=1)
    small = begin.size <= SMALL
    how: Any = {"solver": "newton", "tolerance": SHARP} if small else {"solver": "lbfgs", "tolerance": tolerance}
    found = minimise(loss, mean, precision, source, start=begin, threads=threads, **how).coefficients
    return np.stack([-found / 2, found / 2], axis=1) if classes == 2 else np.ascontiguousarray(found)


def roughly(problem: Problem) -> float:
    """The tolerance of weights that are tried."""
    return ROUGHER if problem.width * problem.classes > WIDE else ROUGH


def curvature(problem: Problem, scale: float, weights: Floats, threads: int | None = None) -> Floats:
    """The diagonal of the Hessian of the rows' cost: how sure they make each weight, (1 + columns, classes)."""
    source = _source(problem, scale)
    if problem.classes == 2:  # the log-odds' p (1 - p) is the curvature in either class's score
        w = weights[:, 1] - weights[:, 0]
        found = evaluate(Logistic(), source, w, 1, threads).hessian
        assert found is not None
        return np.stack([found, found], axis=1)
    found = evaluate(Symmetric(problem.classes), source, weights, 1, threads).hessian
    assert found is not None
    return found


def scores(problem: Problem, scale: float, weights: Floats) -> Floats:
    """scale · offset + features · W."""
    return problem.design.scores(weights, scale * problem.offset)
