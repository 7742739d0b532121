"""Which networks are trained for one classifier, in which order, and for how long.

One, or several that answer together, each with a seed of its own. With folds, a network for each is
trained first: how long the others are to be trained is what these took, and what they say of the
documents that each did not see is what is known of the model.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..models.base import Model
from ..models.ensemble import ensemble_of
from ..records.history import History
from ..training.config import TrainingConfig
from .training_documents import Prepared
from .wide import HeldOut

__all__ = ["Member", "TrainedMembers", "train_members"]


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """One trained network, and how its training went."""

    network: Model
    history: History


@dataclass(frozen=True, slots=True, eq=False)
class TrainedMembers:
    """The networks that answer together, how their trainings went, and what they say."""

    model: Model
    histories: Sequence[History]
    held_out: HeldOut | None  # what is said of the documents held out
    seconds: float  # of all trainings, those of folds too


class LearnNetwork(Protocol):
    """Trains a fresh network on the documents at some places, and judges it by others."""

    def __call__(
        self, training: TrainingConfig, places: NDArray[np.int64], judged: NDArray[np.int64]
    ) -> Member:
        """Train it; ``judged`` may be none."""
        ...


class AnswerHeldOut(Protocol):
    """Asks a network about the documents at some places, which a fold has held out."""

    def __call__(self, network: Model, places: NDArray[np.int64], fold: int) -> HeldOut | None:
        """Ask it; nothing where there is nothing to ask, or where that is ended by hand."""
        ...


def train_members(
    data: Prepared,
    training: TrainingConfig,
    *,
    seeds: int,
    learn: LearnNetwork,
    answer: AnswerHeldOut,
    begin: Callable[[str], None],
) -> TrainedMembers:
    """Train the networks of a model; ``begin`` is told of each before it is trained.

    Ctrl-C keeps what was trained until then; it is raised where that is nothing.
    """
    of_folds, members, answers = list[Member](), list[Member](), list[HeldOut]()
    try:
        for fold in range(data.fold_count):
            begin(f"fold {fold + 1} of {data.fold_count}")
            places, judged = data.sides(fold)
            member = learn(training, places, judged)
            of_folds.append(member)
            answered = answer(member.network, judged, fold)
            if answered is not None:
                answers.append(answered)
            if member.history.interrupted or answered is None:
                raise KeyboardInterrupt
        if of_folds:
            took = statistics.mean(_epochs_learnt(one.history, training) for one in of_folds)
            training = replace(training, epochs=round(took), patience=None)
        for name, seeded in _name_trainings(training, seeds, folded=bool(of_folds)):
            if name:
                begin(name)
            members.append(learn(seeded, data.training, data.validation))
            if members[-1].history.interrupted:
                break
    except KeyboardInterrupt:
        if not members and not of_folds:
            raise
    seconds = sum(member.history.seconds for member in (*of_folds, *members))
    before = [fold.history for fold in of_folds] if members else []
    if not members:  # ended in a fold: the network of the first one has learnt from most
        ended = replace(of_folds[0].history, stopped="interrupted")
        members, answers = [replace(of_folds[0], history=ended)], answers[:1]
    networks = [member.network for member in members]
    model = ensemble_of(networks, multilabel=data.labels.multilabel)
    if of_folds:
        held_out = HeldOut.joined(answers) if answers else None
    else:
        held_out = answer(model, data.validation, 0)
    histories = [member.history.with_folds(before) for member in members]
    return TrainedMembers(model, histories, held_out, seconds)


def _name_trainings(
    training: TrainingConfig, seeds: int, *, folded: bool
) -> Iterator[tuple[str, TrainingConfig]]:
    """The training of each network that is to answer, and its name where there are several."""
    for number in range(seeds):
        parts = ["all documents"] if folded else []
        if seeds > 1:
            parts.append(f"network {number + 1} of {seeds}")
        yield ", ".join(parts), replace(training, seed=training.seed + number)


def _epochs_learnt(history: History, training: TrainingConfig) -> int:
    """For how many epochs the weights that were kept have learnt.

    A training that cooled down went back to its best weights: the epochs after these are lost.
    """
    best, epochs = history.best_epoch or 1, history.epochs
    if not (training.cooling and history.stopped == "patience" and best == len(epochs) > 1):
        return best
    sign = -1 if history.monitor == "loss" else 1
    return 1 + max(epochs[:-1], key=lambda epoch: sign * epoch.validation[history.monitor]).epoch
