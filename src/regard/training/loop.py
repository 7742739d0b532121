"""The training loop: a generator that yields after each step.

What its callers keep of the steps: the mean loss of the epoch under way, and the best epoch so far.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor

from ..errors import DataError
from ..records.history import Epoch
from ..tasks.loss import Loss
from .batches import B, Batches
from .checkpoint import Snapshot
from .config import TrainingConfig
from .optimizers import clip_gradients
from .seeds import derived_seed, seeded
from .state import M, TrainingState

__all__ = ["EarlyStopping", "LossFunction", "RunningLoss", "Step", "count_steps", "train"]


LossFunction = Callable[[M, B, float], Loss]
"""What a model makes of a batch costs, after this share of all steps, from 0 to 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step of a training; its numbers count from one.

    With several processes the loss is that of the whole batch; documents and tokens are those
    that this process read.
    """

    epoch: int
    batch: int  # in its epoch
    batches: int  # in this epoch
    step: int  # since the beginning
    total_steps: int  # of all epochs together
    result: Loss
    gradient_norm: Tensor  # (), before it was clipped
    learning_rate: float
    documents: int
    tokens: int
    seconds: float

    @property
    def loss(self) -> float:
        """The mean loss of the batch, penalty included; on a GPU this waits for the step to end."""
        return float(self.result.mean)

    @property
    def penalty(self) -> float:
        """The part of the loss that the model itself adds; on a GPU this waits too."""
        return float(self.result.penalty / self.result.documents)

    @property
    def ends_epoch(self) -> bool:
        """Whether this was the last batch of its epoch."""
        return self.batch == self.batches


def train(
    model: M,
    batches: Batches[B],
    *,
    loss: LossFunction[M, B],
    config: TrainingConfig,
    state: TrainingState[M] | None = None,
) -> Generator[Step]:
    """Train the model in place, and yield each step once it is taken; to stop early, stop asking.

    With a ``state`` the training goes on from there. Between two steps the caller may do what it
    likes with the model: dropout is drawn from the settings' seed and the number of the step.
    Within an epoch, vectors of words that the last batches did not hold may lag behind; they are
    as they should be when the epoch ends, when the generator is closed, and after
    ``state.settle()``.
    """
    if state is None:
        state = TrainingState(model, config, total_steps=count_steps(batches, config))
    try:
        yield from _steps(state, batches, loss=loss, config=config)
    finally:
        # When Python itself ends nobody looks at the model any more, and torch would abort it.
        if not sys.is_finalizing():
            state.settle()


def _steps(
    state: TrainingState[M],
    batches: Batches[B],
    *,
    loss: LossFunction[M, B],
    config: TrainingConfig,
) -> Iterator[Step]:
    while state.epoch < config.epochs:
        epoch, count = state.epoch, batches.count(state.epoch)
        began = time.perf_counter()
        for batch in batches.read(epoch, state.batch):
            place, rate = state.batch + 1, state.learning_rate
            result, norm = _learn(state, batch, loss=loss, config=config)
            state.advance(count)
            if state.epoch > epoch:
                state.settle()
            yield Step(
                epoch=epoch + 1,
                batch=place,
                batches=count,
                step=state.step,
                total_steps=state.total_steps,
                result=result,
                gradient_norm=norm,
                learning_rate=rate,
                documents=len(batch),
                tokens=batch.token_count,
                seconds=time.perf_counter() - began,
            )
            # What the caller did with the step is not part of the next one's time.
            began = time.perf_counter()
        if state.epoch == epoch:
            raise DataError(f"epoch {epoch + 1} was to have {count} batches, got {state.batch}")


def count_steps(batches: Batches[B], config: TrainingConfig) -> int:
    """Return how many steps all epochs have together."""
    steps = sum(batches.count(epoch) for epoch in range(config.epochs))
    if steps == 0:
        raise DataError("there is nothing to train on: the training data have no documents")
    return steps


def _learn(
    state: TrainingState[M], batch: B, *, loss: LossFunction[M, B], config: TrainingConfig
) -> tuple[Loss, Tensor]:
    """Move the weights once; return what the batch cost, and how large its gradient was."""
    device = state.device
    model = state.model.train()
    state.forget_gradients()
    with seeded(derived_seed(config.seed, "step", state.step), device):
        mixed = torch.autocast(device.type, torch.bfloat16, config.precision == "bfloat16")
        with mixed, state.reading():
            cost = loss(model, batch.to(device), state.progress)
        result = cost.backward()
    norm = clip_gradients(state.parameters, config.clip)
    state.move()
    return result, norm


class RunningLoss:
    """Adds up what the steps of an epoch cost, each document counting the same."""

    def __init__(self, device: torch.device) -> None:
        self._sums = torch.zeros(2, dtype=torch.float64, device=device)
        self.seconds = 0.0

    def add(self, step: Step) -> None:
        """Take note of a step."""
        result = step.result
        self._sums[0] += result.mean * result.documents
        self._sums[1] += result.documents
        self.seconds += step.seconds

    @property
    def mean(self) -> float:
        """The mean loss of the documents so far; on a GPU this waits for the device."""
        return float(self._sums[0] / self._sums[1])

    @property
    def documents(self) -> int:
        """How many documents there were so far; on a GPU this waits for the device."""
        return int(self._sums[1])

    def snapshot(self) -> Snapshot:
        """Return what ``restore`` needs."""
        return Snapshot({"sums": self._sums}, {"seconds": self.seconds})

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken."""
        self._sums.copy_(snapshot.tensors["sums"])
        self.seconds = cast(float, snapshot.values["seconds"])


class EarlyStopping:
    """Remembers the best epoch, and for how many epochs there was no progress.

    The best epoch is the one with the best score. Progress is a score more than ``min_delta``
    better than that of the last progress, so small gains can add up to one.
    """

    def __init__(self, config: TrainingConfig) -> None:
        self._config = config
        self._best = -math.inf
        self._progress = -math.inf
        self.best_epoch: int | None = None
        self.waited = 0

    def judge(self, epoch: Epoch) -> bool:
        """Take note of an epoch; return whether it is the best so far.

        Without validation data the last epoch is the best.
        """
        score = self._score(epoch)
        improved = score is None or score > self._best
        if improved:
            self.best_epoch = epoch.epoch
        if score is None:
            return True
        self._best = max(score, self._best)
        if score > self._progress + self._config.min_delta:
            self._progress, self.waited = score, 0
        else:
            self.waited += 1
        return improved

    @property
    def exhausted(self) -> bool:
        """Whether there was no progress for as many epochs as the settings have patience."""
        return self._config.patience is not None and self.waited >= self._config.patience

    def snapshot(self) -> Snapshot:
        """Return what ``restore`` needs."""
        seen = self._best > -math.inf
        return Snapshot(
            values={
                "best": self._best if seen else None,
                "progress": self._progress if seen else None,
                "best_epoch": self.best_epoch,
                "waited": self.waited,
            }
        )

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken."""
        best = cast(float | None, snapshot.values["best"])
        progress = cast(float | None, snapshot.values["progress"])
        self._best = -math.inf if best is None else best
        self._progress = -math.inf if progress is None else progress
        self.best_epoch = cast(int | None, snapshot.values["best_epoch"])
        self.waited = cast(int, snapshot.values["waited"])

    def _score(self, epoch: Epoch) -> float | None:
        """The score of an epoch, larger is better; None without validation data."""
        scores, monitor = epoch.validation, self._config.monitor
        if monitor != "loss" and (monitor != "bleu" or scores.get("bleu")):
            return scores.get(monitor)
        # BLEU of texts below four words is 0 however good they are. Any BLEU beats a loss.
        return -scores["loss"] if "loss" in scores else None
