"""Which documents train and which validate: at random, by group or by time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..config import require, require_one_of
from ..errors import DataError
from .corpus.mapped import Corpus

__all__ = [
    "Split",
    "SplitBy",
    "deal_folds",
    "split_by_group",
    "split_by_time",
    "split_random",
    "split_validation",
]

SplitBy = Literal["random", "group", "time"]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The places of the documents on either side, in rising order."""

    training: NDArray[np.int64]
    validation: NDArray[np.int64]


def split_validation(
    corpus: Corpus,
    fraction: float = 0.1,
    *,
    seed: int,
    by: SplitBy = "random",
    indices: ArrayLike | None = None,
) -> Split:
    """Hold out about ``fraction`` of the chosen documents, or of all, for validation.

    At random the shares of the classes stay the same as far as whole documents allow; with
    several labels a document it is plain chance.
    """
    require_one_of("by", by, ("random", "group", "time"))
    chosen = np.arange(len(corpus)) if indices is None else np.asarray(indices, dtype=np.int64)
    if by == "group":
        split = split_by_group(_known(corpus.arrays.groups, chosen, by), fraction, seed=seed)
    elif by == "time":
        split = split_by_time(_known(corpus.arrays.times, chosen, by), fraction)
    else:
        split = split_random(_targets(corpus, chosen), fraction, seed=seed)
    return Split(np.sort(chosen[split.training]), np.sort(chosen[split.validation]))


def split_random(targets: ArrayLike, fraction: float, *, seed: int) -> Split:
    """Draw from each class its share; a class of one document stays in training."""
    classes = np.asarray(targets, dtype=np.int64)
    wanted = _count_wanted(len(classes), fraction)
    order = np.random.default_rng(seed).permutation(len(classes))
    sizes = np.bincount(classes)
    taken = _shares(sizes, wanted)
    # The first of each class in the shuffled order, as many as its share.
    by_class = order[np.argsort(classes[order], kind="stable")]
    starts = np.cumsum(sizes) - sizes
    place = np.arange(len(classes)) - np.repeat(starts, sizes)
    return _split(len(classes), by_class[place < np.repeat(taken, sizes)])


def deal_folds(
    corpus: Corpus, count: int, *, seed: int, indices: ArrayLike | None = None
) -> NDArray[np.int64]:
    """Deal the chosen documents, or all, out to so many folds, evenly of each class.

    Says of all documents which fold each is in. One that was not chosen, or whose class no other
    has, is in none, which is -1: it is never held out.
    """
    chosen = np.arange(len(corpus)) if indices is None else np.asarray(indices, dtype=np.int64)
    order = chosen[np.random.default_rng(seed).permutation(len(chosen))]
    classes = _targets(corpus, order)
    by_class = order[np.argsort(classes, kind="stable")]
    folds = np.full(len(corpus), -1, np.int64)
    folds[by_class] = np.arange(len(chosen)) % count
    alone = np.bincount(classes)[_targets(corpus, chosen)] == 1
    folds[chosen[alone]] = -1
    return folds


def _targets(corpus: Corpus, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """The classes of documents; with several labels a document all are of one."""
    single = corpus.labels is not None and not corpus.labels.multilabel
    return corpus.targets[chosen] if single else np.zeros(len(chosen), np.int64)


def split_by_group(groups: ArrayLike, fraction: float, *, seed: int) -> Split:
    """Draw whole groups that together hold at most ``fraction`` of the documents."""
    names, members = np.unique(np.asarray(groups), return_inverse=True)
    wanted = _count_wanted(len(members), fraction)
    if len(names) < 2:
        raise DataError("all documents are of one group, so none can be held out; split at random")
    sizes = np.bincount(members).tolist()
    taken: list[int] = []
    count = 0
    for group in np.random.default_rng(seed).permutation(len(names)).tolist():
        if count + sizes[group] <= wanted:
            taken.append(group)
            count += sizes[group]
    # Where every group is larger than what is wanted, the smallest comes nearest.
    taken = taken or [int(np.argmin(sizes))]
    return _split(len(members), np.flatnonzero(np.isin(members, taken)))


def split_by_time(times: ArrayLike, fraction: float) -> Split:
    """Hold out the latest documents; those of the same moment stay on one side."""
    moments = np.asarray(times, dtype=np.float64)
    wanted = _count_wanted(len(moments), fraction)
    border = np.sort(moments)[len(moments) - wanted]
    held_out = moments >= border
    if held_out.all():
        held_out = moments > border
    if not held_out.any():
        raise DataError("all documents are of one time, so none is the latest; split at random")
    return _split(len(moments), np.flatnonzero(held_out))


def _known(column: np.ndarray, chosen: NDArray[np.int64], by: str) -> np.ndarray:
    if not len(column) and len(chosen):
        raise DataError(f"a split by {by} needs a {by} column; use --{by}-column")
    return column[chosen]


def _count_wanted(count: int, fraction: float) -> int:
    require(0 < fraction < 1, f"the validation fraction must be between 0 and 1, got {fraction}")
    if count < 2:
        raise DataError(f"{count} documents cannot be split into training and validation")
    return min(max(round(count * fraction), 1), count - 1)


def _shares(sizes: NDArray[np.int64], wanted: int) -> NDArray[np.int64]:
    """How many of each class to take: in proportion, leaving one of each, ``wanted`` in all."""
    exact = sizes * (wanted / sizes.sum())
    most = np.maximum(sizes - 1, 0)
    taken = np.minimum(np.floor(exact).astype(np.int64), most)
    # What rounding left over goes to the classes that lost most by it, while they have any.
    while (short := wanted - int(taken.sum())) > 0 and (taken < most).any():
        losses = np.where(taken < most, exact - taken, -np.inf)
        chosen = np.argsort(-losses, kind="stable")[: min(short, int((taken < most).sum()))]
        taken[chosen] += 1
    if not taken.any():
        raise DataError(
            "every class has only one document, so none can be held out: is that the column of "
            "labels?"
        )
    return taken


def _split(count: int, validation: NDArray[np.int64]) -> Split:
    held_out = np.zeros(count, dtype=np.bool_)
    held_out[validation] = True
    return Split(np.flatnonzero(~held_out), np.flatnonzero(held_out))
