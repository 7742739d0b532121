"""The training loop: a generator that yields after each step."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from ..errors import DataError
from ..tasks.loss import Loss
from .batches import B, Batches
from .config import TrainingConfig
from .optimizers import clip_gradients
from .seeds import derived_seed, seeded
from .state import M, TrainingState

__all__ = ["LossFunction", "Step", "count_steps", "train"]

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
