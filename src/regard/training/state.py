"""A model in training: its optimizer and schedule, and how far it has come."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Generic, TypeVar, cast

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LinearLR

from ..records.encoding import Json
from .checkpoint import Snapshot
from .config import TrainingConfig
from .optimizers import build_optimizer, build_schedule
from .row_adam import row_optimizers

__all__ = ["M", "TrainingState"]

M = TypeVar("M", bound=nn.Module)


class TrainingState(Generic[M]):
    """A model in training: its optimizer and schedule, and how far it has come.

    ``epoch`` and ``batch`` are those to come next, from zero; ``step`` counts those taken.
    ``cooling`` is the epoch over which the learning rate falls to nothing, ahead of its schedule.
    """

    def __init__(self, model: M, config: TrainingConfig, *, total_steps: int) -> None:
        model.to(torch.float64 if config.precision == "float64" else torch.float32)
        if config.freeze_vectors:
            model.get_submodule("embedding").requires_grad_(False)
        self.model = model
        self.parameters = tuple(model.parameters())
        self.total_steps = total_steps
        self.row_optimizers = row_optimizers(model, config)
        apart = [rows.weight for rows in self.row_optimizers]
        self.optimizer = build_optimizer(model, config, others=apart)
        self.schedule = build_schedule(self.optimizer, config, total_steps)
        self.epoch = 0
        self.batch = 0
        self.step = 0
        self.cooling: int | None = None

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return self.parameters[0].device

    @property
    def progress(self) -> float:
        """The share of all steps that was taken, from 0 to 1."""
        return self.step / self.total_steps

    @property
    def learning_rate(self) -> float:
        """The learning rate of the step to come."""
        return float(self.optimizer.param_groups[0]["lr"])

    @property
    def cooled(self) -> bool:
        """Whether the learning rate has fallen to nothing ahead of its schedule."""
        return self.cooling is not None and self.epoch > self.cooling

    def cool(self, steps: int) -> None:
        """Let the learning rate fall to nothing over the epoch to come, which has so many steps."""
        self.cooling = self.epoch
        self.schedule = LinearLR(self.optimizer, 1.0, 0.0, total_iters=steps)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let the model read a batch to learn from inside."""
        with ExitStack() as stack:
            for rows in self.row_optimizers:
                stack.enter_context(rows.reading())
            yield

    def forget_gradients(self) -> None:
        """Let go of the gradients of the last step."""
        for parameter in self.parameters:
            parameter.grad = None

    def move(self) -> None:
        """Move the weights by their gradients, and the learning rate on."""
        for rows in self.row_optimizers:
            rows.step(self.learning_rate)
        self.optimizer.step()
        self.schedule.step()

    def settle(self) -> None:
        """Make all moves that words still have to make which the last batches did not hold."""
        for rows in self.row_optimizers:
            rows.settle()

    def advance(self, batches: int) -> None:
        """Count a batch as done, in an epoch of so many."""
        self.step += 1
        self.batch += 1
        if self.batch == batches:
            self.epoch, self.batch = self.epoch + 1, 0

    def snapshot(self) -> Snapshot:
        """Return what ``restore`` needs; the tensors are the live ones, not copies.

        Words that still have moves to make have them afterwards too, so that taking a snapshot
        changes nothing.
        """
        values: dict[str, Json] = {
            "epoch": self.epoch,
            "batch": self.batch,
            "step": self.step,
            "cooling": self.cooling,
            "learning_rates": [group["lr"] for group in self.optimizer.param_groups],
            "schedule": self.schedule.state_dict(),
        }
        parts = {
            "place": Snapshot(values=values),
            "model": Snapshot(self.model.state_dict()),
            "optimizer": _memory_of(self.optimizer),
        }
        rows = {f"rows-{n}": rows.snapshot() for n, rows in enumerate(self.row_optimizers)}
        return Snapshot.join({**parts, **rows})

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken."""
        place = snapshot.under("place").values
        values = cast(dict[str, int], place)
        self.epoch, self.batch, self.step = values["epoch"], values["batch"], values["step"]
        if place["cooling"] is not None:
            self.cool(1)  # of how many steps it is, stands in the state of the schedule
        self.cooling = cast(int | None, place["cooling"])
        self.model.load_state_dict(snapshot.under("model").tensors)
        _remember(self.optimizer, snapshot.under("optimizer"))
        for number, rows in enumerate(self.row_optimizers):
            rows.restore(snapshot.under(f"rows-{number}"))
        self.schedule.load_state_dict(cast(dict[str, Json], place["schedule"]))
        rates = cast(list[float], place["learning_rates"])
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate


def _memory_of(optimizer: Optimizer) -> Snapshot:
    """What an optimizer remembers, each thing under the number of its parameter and its name."""
    tensors, values = dict[str, Tensor](), dict[str, Json]()
    for number, kept in optimizer.state_dict()["state"].items():
        for name, value in kept.items():
            where = tensors if isinstance(value, Tensor) else values
            where[f"{number}.{name}"] = value
    return Snapshot(tensors, values)


def _remember(optimizer: Optimizer, snapshot: Snapshot) -> None:
    memory = dict[int, dict[str, object]]()
    for key, value in {**snapshot.tensors, **snapshot.values}.items():
        number, _, name = key.partition(".")
        memory.setdefault(int(number), {})[name] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": memory, "param_groups": groups})
