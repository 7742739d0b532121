"""Linear models over sparse vectors by a convex solver: no draws, so the same data give the same.

One class of several is learnt by a support vector machine for each, against all the others, with
the squared hinge for a loss; several labels a document by one logistic regression a label. All
columns are solved for together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .predictions import Floats, Integers

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["MAX_STEPS", "Linear", "bayes_ratios", "fit_linear"]

MAX_STEPS = 80
MEMORY = 6  # pairs of steps that L-BFGS remembers: each takes as much room as the weights
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
    solution: Floats | None = None  # as the solver found it, from which a like problem may start

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
        first = np.zeros(problem.size)
        if start is not None and start.solution is not None and len(start.solution) == len(first):
            first = start.solution
        steepest = float(np.abs(problem(np.zeros_like(first))[1]).max(initial=0.0))
        return problem.unpacked(_descend(problem, first, TOLERANCE * steepest, steps))


def _descend(
    problem: Callable[[Floats], tuple[float, Floats]], first: Floats, flat: float, steps: int
) -> Floats:
    """Go down to where no slope is above ``flat``, by L-BFGS (Nocedal and Wright, section 7.2).

    SciPy's heeds bounds, which there are none of here, and that takes most of its time.
    """
    place = first.astype(np.float64)
    value, slope = problem(place)
    pairs: deque[tuple[Floats, Floats]] = deque(maxlen=MEMORY)
    for _ in range(steps):
        if np.abs(slope).max(initial=0.0) <= flat:
            break
        direction = _bent(slope, pairs)
        # The first direction is the slope itself, which says nothing about how far to go.
        rate = 1.0 if pairs else 1 / max(float(np.linalg.norm(direction)), 1.0)
        found = _search(problem, place, direction, value, float(direction @ slope), rate)
        if found is None and pairs:
            pairs.clear()  # they bend the way so far that it leads nowhere: on by the slope itself
            continue
        if found is None:
            break
        rate, lower, after = found
        direction *= rate
        place += direction
        turned = after - slope
        if direction @ turned > 0:
            pairs.append((direction, turned))
        gain, value, slope = value - lower, lower, after
        if gain <= PRECISION * max(abs(value), 1.0):
            break
    return place


def _bent(slope: Floats, pairs: Sequence[tuple[Floats, Floats]]) -> Floats:
    """Turn against the slope, bent by how it turned on the last steps."""
    from scipy.linalg.blas import daxpy  # adds in place: a copy of millions of weights is slow

    direction = -slope
    shares = []
    for moved, turned in reversed(pairs):
        shares.append(float(moved @ direction) / float(moved @ turned))
        direction = daxpy(turned, direction, a=-shares[-1])
    if pairs:
        moved, turned = pairs[-1]
        direction *= float(moved @ turned) / float(turned @ turned)
    for (moved, turned), share in zip(pairs, reversed(shares), strict=True):
        further = share - float(turned @ direction) / float(moved @ turned)
        direction = daxpy(moved, direction, a=further)
    return direction


def _search(
    problem: Callable[[Floats], tuple[float, Floats]],
    place: Floats,
    direction: Floats,
    value: float,
    descent: float,
    rate: float,
) -> tuple[float, float, Floats] | None:
    """Find how far to go: well below where one stands, to where it is clearly less steep.

    With it come the value and the slope there; nothing where rounding leaves no way down.
    """
    near, far = 0.0, np.inf
    for _ in range(MAX_TRIALS):
        found, slope = problem(place + rate * direction)
        if not found <= value + ENOUGH_LOWER * rate * descent:
            far = rate
            # The valley of a parabola through both ends, as far as it is not near one of them.
            valley = descent * rate**2 / (2 * (value + descent * rate - found))
            rate = float(np.fmin(np.fmax(valley, near + (far - near) / 10), (near + far) / 2))
        elif slope @ direction < LESS_STEEP * descent:
            near = rate
            rate = (near + far) / 2 if far < np.inf else 2 * near
        else:
            return rate, found, slope
    return None


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


class _Problem:
    """What is made smallest, and its slope, over one flat vector: all weights, then intercepts.

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
        vectors = vectors.astype(np.float32, copy=False)
        self.vectors, self.penalty, self.class_count = vectors, penalty, class_count
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
        self.scales = scales
        if scales is not None:
            chosen = scales[:, self.present]
            self.scales = chosen[:, 1:] if self.halved else chosen
        self.counts = None
        if counts is not None:
            self.counts = np.asarray(counts, np.float64).reshape(len(labels), -1)
        # The transpose as rows of its own: products with it write memory in order.
        self.transposed = vectors.T.tocsr()
        self.mixing = self.unmixing = None
        parts = vectors.shape[1]
        if mixing is not None:
            self.mixing = mixing.astype(np.float32, copy=False)
            self.unmixing = self.mixing.T.tocsr()
            parts = mixing.shape[1]
        self.shape = (parts, self.truth.shape[1])
        self.size = (parts + 1) * self.truth.shape[1]

    def __call__(self, packed: Floats) -> tuple[float, Floats]:
        weights, intercepts = self._cut(packed)
        scaled = weights if self.scales is None else weights * self.scales
        mixed = self._mixed(scaled.astype(np.float32))
        logits = (self.vectors @ mixed).astype(np.float64) + intercepts
        losses, errors = self._loss(logits)
        if self.counts is not None:
            losses, errors = losses * self.counts, errors * self.counts
        slopes = self.transposed @ errors.astype(np.float32)
        if self.unmixing is not None:
            slopes = self.unmixing @ slopes
        slopes = slopes.astype(np.float64)
        if self.scales is not None:
            slopes *= self.scales
        slopes += self.penalty * weights
        loss = float(losses.sum() + self.penalty / 2 * np.vdot(weights, weights))
        return loss, np.concatenate([slopes.ravel(), errors.sum(0)])

    def _loss(self, logits: Floats) -> tuple[Floats, Floats]:
        """The losses of each row, and how they slope along its logits."""
        from scipy.special import expit

        if self.several:
            losses = np.logaddexp(0, logits) - self.truth * logits
            return losses, expit(logits) - self.truth
        signs = 2 * self.truth - 1
        short = np.maximum(1 - signs * logits, 0)
        return short**2, -2 * signs * short

    def _mixed(self, weights: NDArray[np.floating]) -> NDArray[np.floating]:
        """The weights of features, from those of what they are made of."""
        return weights if self.mixing is None else self.mixing @ weights

    def _cut(self, packed: Floats) -> tuple[Floats, Floats]:
        size = self.shape[0] * self.shape[1]
        return packed[:size].reshape(self.shape), packed[size:]

    def unpacked(self, packed: Floats) -> Linear:
        """The weights of all classes; one that no row has is never answered."""
        weights, intercepts = self._cut(packed)
        if self.scales is not None:
            weights = weights * self.scales
        weights = self._mixed(weights).astype(np.float64)
        if not self.several:
            weights, intercepts = _SURE * weights, _SURE * intercepts
        if self.halved:
            weights = np.concatenate([-weights, weights], axis=1) / 2
            intercepts = np.concatenate([-intercepts, intercepts]) / 2
        found = np.zeros((len(weights), self.class_count))
        found[:, self.present] = weights
        biases = np.full(self.class_count, intercepts.min(initial=0.0) - _UNSEEN)
        biases[self.present] = intercepts
        return Linear(found, biases, packed)
