"""A model in training: its optimizer and schedule, and how far it has come."""

from __future__ import annotations

from typing import Generic, TypeVar, cast

import torch
from torch import Tensor, nn

from ..records.encoding import Json
from .config import TrainingConfig
from .optimizers import build_optimizer
from .schedules import build_schedule
from .snapshot import Snapshot

__all__ = ["M", "TrainingState"]

M = TypeVar("M", bound=nn.Module)


class TrainingState(Generic[M]):
    """A model in training: its optimizer and schedule, and how far it has come.

    ``epoch`` and ``batch`` are those to come next, from zero; ``step`` counts those taken.
    """

    def __init__(self, model: M, config: TrainingConfig, *, total_steps: int) -> None:
        model.to(torch.float64 if config.precision == "float64" else torch.float32)
        if config.freeze_vectors:
            model.get_submodule("embedding").requires_grad_(False)
        self.model = model
        self.total_steps = total_steps
        self.optimizer = build_optimizer(model, config)
        self.schedule = build_schedule(self.optimizer, config, total_steps)
        self.epoch = 0
        self.batch = 0
        self.step = 0

    @property
    def device(self) -> torch.device:
        """Where the model is."""
        return next(self.model.parameters()).device

    @property
    def progress(self) -> float:
        """The share of all steps that was taken, from 0 to 1."""
        return self.step / self.total_steps

    @property
    def learning_rate(self) -> float:
        """The learning rate of the step to come."""
        return float(self.optimizer.param_groups[0]["lr"])

    def advance(self, batches: int) -> None:
        """Count a batch as done, in an epoch of so many."""
        self.step += 1
        self.batch += 1
        if self.batch == batches:
            self.epoch, self.batch = self.epoch + 1, 0

    def snapshot(self) -> Snapshot:
        """Return what ``restore`` needs; the tensors are the live ones, not copies."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        memory: dict[str, Json] = {}
        for number, kept in self.optimizer.state_dict()["state"].items():
            for name, value in kept.items():
                if isinstance(value, Tensor):
                    tensors[f"optimizer.{number}.{name}"] = value
                else:
                    memory[f"{number}.{name}"] = value
        values: dict[str, Json] = {
            "epoch": self.epoch,
            "batch": self.batch,
            "step": self.step,
            "learning_rates": [group["lr"] for group in self.optimizer.param_groups],
            "schedule": self.schedule.state_dict(),
            "optimizer": memory,
        }
        return Snapshot(tensors, values)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to where the snapshot was taken."""
        values = cast(dict[str, int], snapshot.values)
        self.epoch, self.batch, self.step = values["epoch"], values["batch"], values["step"]
        weights, memory = {}, dict[int, dict[str, object]]()
        for name, tensor in snapshot.tensors.items():
            part, _, rest = name.partition(".")
            if part == "model":
                weights[rest] = tensor
            else:
                number, _, key = rest.partition(".")
                memory.setdefault(int(number), {})[key] = tensor
        for name, value in cast(dict[str, Json], snapshot.values["optimizer"]).items():
            number, _, key = name.partition(".")
            memory.setdefault(int(number), {})[key] = value
        self.model.load_state_dict(weights)
        groups = self.optimizer.state_dict()["param_groups"]
        self.optimizer.load_state_dict({"state": memory, "param_groups": groups})
        self.schedule.load_state_dict(cast(dict[str, Json], snapshot.values["schedule"]))
        rates = cast(list[float], snapshot.values["learning_rates"])
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            group["lr"] = rate
