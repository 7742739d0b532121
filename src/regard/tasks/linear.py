"""Linear models over sparse vectors by a convex solver: no draws, so the same data give the same.

One class of several is learnt by a support vector machine for each, against all the others, with
the squared hinge for a loss; several labels a document by one logistic regression a label. All
columns are solved for together.

Features are many times as many as rows, and the best weights are sums of rows. So the solver moves
along the rows: what it keeps, adds and multiplies is a number a row, and not one a feature.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from .predictions import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["MAX_STEPS", "Linear", "bayes_ratios", "fit_linear"]

MAX_STEPS = 80
MEMORY = 6  # pairs of steps that L-BFGS remembers
TOLERANCE = 1e-4  # of the slope, as a share of the steepest where all weights are zero
PRECISION = 1e-7  # of the sum of losses: products are in single precision
MAX_TRIALS = 10  # of how far a step goes
ENOUGH_LOWER, LESS_STEEP = 1e-4, 0.9  # what a step must reach, as shares of what a slope promises
SMOOTHING = 1.0  # what every feature is counted more in naive Bayes' ratios
_UNSEEN = 20.0  # how far below all others a class lies that no document has
_SURE = 4.0  # the logit of a margin of one, which is what the hinge asks for


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """Weights of features for each class: logits are ``vectors @ weights + intercepts``."""

    weights: Floats  # (features, classes)
    intercepts: Floats  # (classes,)
    solution: Floats | None = None  # of the solver: another one for these rows may start there

    def logits(self, vectors: csr_matrix) -> Floats:
        """Return the logits of rows of features, (rows, classes)."""
        found: Floats = vectors @ self.weights + self.intercepts
        return found


def fit_linear(
    vectors: csr_matrix,
    labels: Integers,
    *,
    class_count: int,
    penalty: float,
    mixing: csr_matrix | None = None,
    scales: Floats | None = None,
    counts: NDArray[np.floating] | None = None,
    start: Linear | None = None,
    steps: int = MAX_STEPS,
) -> Linear:
    """Make the sum of the losses and of ``penalty / 2`` times the squared weights smallest.

    ``labels`` are class numbers, or zeros and ones (rows, classes). ``mixing``, (features, parts),
    says that features are made of parts, and that what is weighed are those. ``scales``, (parts,
    classes), are what a part is multiplied by for each class before it is weighed: those of naive
    Bayes make the weights that it trusts cheap. ``counts`` says how much each row counts, (rows,),
    or each label of it, (rows, classes). ``start`` is where to begin, which changes how long it
    takes and hardly what is found. After ``steps`` steps it ends, wherever it is.

    BLAS gets one thread. The libraries of NumPy and SciPy keep a pool each, whose idle threads
    spin in the way of the other's, and most of a fit is then spent waiting.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, user_api="blas"):
        problem = _Problem(vectors, mixing, labels, class_count, penalty, scales, counts)
        first = problem.start(None if start is None else start.solution)
        return problem.unpacked(_descend(problem, first, TOLERANCE * problem.steepest, steps))


@dataclass(frozen=True, slots=True, eq=False)
class _Vector:
    """A direction of weights and intercepts, as a sum of rows.

    ``own`` says how often each row is added, for each column, and what is added to the intercepts;
    ``image`` is what that changes at each row, (rows, columns), and the intercepts once more. The
    product of two directions is then one of ``own`` with ``image``.
    """

    own: Floats  # (rows + 1, columns)
    image: Floats  # (rows + 1, columns)

    def times(self, other: _Vector) -> float:
        """The product of two directions."""
        return float(np.vdot(self.own, other.image))

    def moved(self, rate: float, other: _Vector) -> _Vector:
        """As far along another direction as it says."""
        return _Vector(self.own + rate * other.own, self.image + rate * other.image)

    def scaled(self, rate: float) -> _Vector:
        """As many times as long."""
        return _Vector(rate * self.own, rate * self.image)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """Where the solver stands: the weights, what is to be made smallest, and how it slopes."""

    weights: _Vector
    value: float
    slope: _Vector
    steepest: float  # the slope along the weight or the intercept along which it is largest


def _descend(problem: _Line, place: _Place, flat: float, steps: int) -> _Place:
    """Go down to where no slope is above ``flat``, by L-BFGS (Nocedal and Wright, section 7.2)."""
    pairs: deque[tuple[_Vector, _Vector]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        if place.steepest <= flat:
            break
        direction = _bent(place.slope, pairs)
        # The first direction is the slope itself, which says nothing about how far to go.
        rate = 1.0 if pairs else 1 / max(math.sqrt(direction.times(direction)), 1.0)
        rate = _search(problem, place, direction, rate)
        if not rate and pairs:
            pairs.clear()  # they bend the way so far that it leads nowhere: on by the slope itself
            continue
        if not rate:
            break
        after = problem.place(place.weights.moved(rate, direction))
        moved, turned = direction.scaled(rate), after.slope.moved(-1.0, place.slope)
        if moved.times(turned) > 0:
            pairs.append((moved, turned))
        gain, place = place.value - after.value, after
        if gain <= PRECISION * max(abs(place.value), 1.0):
            break
    return place


def _bent(slope: _Vector, pairs: Sequence[tuple[_Vector, _Vector]]) -> _Vector:
    """Turn against the slope, bent by how it turned on the last steps."""
    direction = slope.scaled(-1.0)
    shares = []
    for moved, turned in reversed(pairs):
        shares.append(moved.times(direction) / moved.times(turned))
        direction = direction.moved(-shares[-1], turned)
    if pairs:
        moved, turned = pairs[-1]
        direction = direction.scaled(moved.times(turned) / turned.times(turned))
    for (moved, turned), share in zip(pairs, reversed(shares), strict=True):
        further = share - turned.times(direction) / moved.times(turned)
        direction = direction.moved(further, moved)
    return direction


def _search(problem: _Line, place: _Place, direction: _Vector, rate: float) -> float:
    """Find how far to go: well below where one stands, to where it is clearly less steep.

    Zero where rounding leaves no way down.
    """
    value, descent = place.value, direction.times(place.slope)
    near, far = 0.0, math.inf
    along = problem.along(place, direction)
    for _ in range(MAX_TRIALS):
        found, slope = along(rate)
        if not found <= value + ENOUGH_LOWER * rate * descent:
            far = rate
            # The valley of a parabola through both ends, as far as it is not near one of them.
            valley = descent * rate**2 / (2 * (value + descent * rate - found))
            rate = float(np.fmin(np.fmax(valley, near + (far - near) / 10), (near + far) / 2))
        elif slope < LESS_STEEP * descent:
            near = rate
            rate = (near + far) / 2 if far < math.inf else 2 * near
        else:
            return rate
    return 0.0


def bayes_ratios(
    vectors: csr_matrix, labels: Integers, class_count: int, mixing: csr_matrix | None = None
) -> Floats:
    """Return how much likelier each feature is in a class than outside of it, (features, classes).

    In logarithms, as in Wang and Manning, "Baselines and Bigrams" (2012). Where features are made
    of parts by ``mixing``, (features, parts), it is said of these.
    """
    truth = labels if labels.ndim == 2 else np.eye(class_count)[labels]
    counted = np.column_stack([truth, np.ones(len(labels))])
    inside = np.asarray(_there(vectors).T @ counted, dtype=np.float64)
    if mixing is not None:
        inside = np.asarray(_there(mixing).T @ inside)
    inside, outside = inside[:, :-1], inside[:, -1:] - inside[:, :-1]
    inside, outside = inside + SMOOTHING, outside + SMOOTHING
    ratios: Floats = np.log(inside / inside.sum(0)) - np.log(outside / outside.sum(0))
    return ratios


def _there(vectors: csr_matrix) -> csr_matrix:
    """One where there is anything."""
    from scipy.sparse import csr_matrix

    ones = np.ones(vectors.nnz, np.float32)
    return csr_matrix((ones, vectors.indices, vectors.indptr), vectors.shape)


class _Line(Protocol):
    """What a descent asks of what it makes smallest."""

    def place(self, weights: _Vector) -> _Place:
        """How low it is there, and how it slopes."""

    def along(self, place: _Place, direction: _Vector) -> Callable[[float], tuple[float, float]]:
        """Say of each rate how low it is so far along a direction, and how it slopes along it."""


class _Problem:
    """What is made smallest: the sum of the losses and what squared weights cost.

    Between two classes one column decides, half of it for either.
    """

    def __init__(
        self,
        vectors: csr_matrix,
        mixing: csr_matrix | None,
        labels: Integers,
        class_count: int,
        penalty: float,
        scales: Floats | None,
        counts: NDArray[np.floating] | None,
    ) -> None:
        self.vectors = vectors.astype(np.float32, copy=False)
        self.penalty, self.class_count = penalty, class_count
        self.several = labels.ndim == 2
        if self.several:
            self.present = np.arange(class_count)
            self.truth = labels.astype(np.float64)
        else:
            self.present = np.flatnonzero(np.bincount(labels, minlength=class_count))
            self.truth = (labels[:, None] == self.present).astype(np.float64)
        self.halved = not self.several and len(self.present) == 2
        if self.halved:
            self.truth = self.truth[:, 1:]
        self.scales = None
        if scales is not None:
            chosen = scales[:, self.present]
            self.scales = np.abs(chosen[:, 1:] if self.halved else chosen).astype(np.float32)
        self.counts = None
        if counts is not None:
            self.counts = np.asarray(counts, np.float64).reshape(len(labels), -1)
        # The transposes as rows of their own: products with them write memory in order.
        self.transposed = self.vectors.T.tocsr()
        self.mixing = self.unmixing = None
        if mixing is not None:
            self.mixing = mixing.astype(np.float32, copy=False)
            self.unmixing = self.mixing.T.tocsr()
        self.steepest = 0.0  # where all weights are zero

    def start(self, solution: Floats | None) -> _Place:
        """Where to begin: at zero, or where a like problem ended."""
        zero = np.zeros((len(self.truth) + 1, self.truth.shape[1]))
        first = self.place(_Vector(zero, zero))
        self.steepest = first.steepest
        if solution is None or solution.shape != zero.shape:
            return first
        return self.place(self._vector(solution)[0])

    def place(self, weights: _Vector) -> _Place:
        """How low it is there, and how it slopes."""
        losses, errors = self._loss(weights.image[:-1] + weights.own[-1])
        slope, steepest = self._vector(np.concatenate([errors, errors.sum(0)[None]]), weights)
        value = float(losses.sum()) + self.penalty / 2 * _squared(weights)
        return _Place(weights, value, slope, steepest)

    def along(self, place: _Place, direction: _Vector) -> Callable[[float], tuple[float, float]]:
        """Say of each rate how low it is so far along a direction, and how it slopes along it."""
        weights = place.weights
        logits = weights.image[:-1] + weights.own[-1]
        change = direction.image[:-1] + direction.own[-1]
        squares = _squared(weights), _squared(weights, direction), _squared(direction)

        def at(rate: float) -> tuple[float, float]:
            losses, errors = self._loss(logits + rate * change)
            length = squares[0] + 2 * rate * squares[1] + rate**2 * squares[2]
            slope = float(np.vdot(errors, change)) + self.penalty * (squares[1] + rate * squares[2])
            return float(losses.sum()) + self.penalty / 2 * length, slope

        return at

    def _vector(self, own: Floats, weights: _Vector | None = None) -> tuple[_Vector, float]:
        """The sum of rows that ``own`` says, and its largest weight or intercept.

        ``weights`` are added to it as often as squared weights cost.
        """
        cost = self.penalty if weights is not None else 0.0
        if weights is not None:
            own = own.copy()
            own[:-1] += cost * weights.own[:-1]
        summed = self._scale(self._unmixed(self.transposed @ own[:-1].astype(np.float32)))
        steepest = max(_largest(summed), _largest(own[-1]))
        image = np.empty_like(own)
        image[:-1] = self.vectors @ self._mixed(self._scale(summed))
        image[-1] = own[-1]
        return _Vector(own, image), steepest

    def _loss(self, logits: Floats) -> tuple[Floats, Floats]:
        """The losses of each row, and how they slope along its logits."""
        from scipy.special import expit

        if self.several:
            losses = np.logaddexp(0, logits) - self.truth * logits
            errors = expit(logits) - self.truth
        else:
            signs = 2 * self.truth - 1
            short = np.maximum(1 - signs * logits, 0)
            losses, errors = short**2, -2 * signs * short
        if self.counts is not None:
            losses, errors = losses * self.counts, errors * self.counts
        return losses, errors

    def _mixed(self, weights: NDArray[np.floating]) -> NDArray[np.floating]:
        """The weights of features, from those of what they are made of."""
        return weights if self.mixing is None else self.mixing @ weights

    def _unmixed(self, slopes: NDArray[np.floating]) -> NDArray[np.floating]:
        """The slopes of parts, from those of features."""
        return slopes if self.unmixing is None else self.unmixing @ slopes

    def _scale(self, weights: NDArray[np.floating]) -> NDArray[np.floating]:
        """Scale weights where they stand: a copy of millions of them is slow."""
        if self.scales is not None:
            weights *= self.scales
        return weights

    def unpacked(self, place: _Place) -> Linear:
        """The weights of all classes; one that no row has is never answered."""
        solution = place.weights.own
        summed = self._unmixed(self.transposed @ solution[:-1].astype(np.float32))
        weights = self._mixed(self._scale(self._scale(summed))).astype(np.float64)
        intercepts = solution[-1]
        if not self.several:
            weights, intercepts = _SURE * weights, _SURE * intercepts
        if self.halved:
            weights = np.concatenate([-weights, weights], axis=1) / 2
            intercepts = np.concatenate([-intercepts, intercepts]) / 2
        found = np.zeros((len(weights), self.class_count))
        found[:, self.present] = weights
        biases = np.full(self.class_count, intercepts.min(initial=0.0) - _UNSEEN)
        biases[self.present] = intercepts
        return Linear(found, biases, solution)


def _squared(one: _Vector, other: _Vector | None = None) -> float:
    """The product of the weights of two directions, or of one with itself; intercepts are free."""
    other = other or one
    return float(np.vdot(one.own[:-1], other.image[:-1]))


def _largest(values: NDArray[np.floating]) -> float:
    return max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
