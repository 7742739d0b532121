"""Training one model with many processes, started by ``torchrun``.

Each process takes its share of every batch. Losses are sums with what to divide them by, so the
shares' gradients add up to that of the whole batch, however unequal the shares are.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import Tensor, nn

from ..errors import ConfigError
from ..tasks.loss import Loss
from ..training.batches import B, Batches, TrainingBatch
from ..training.loop import LossFunction
from ..training.seeds import derived_seed, seeded
from ..training.state import M
from ..training.teams import Alone, Team

__all__ = ["Processes", "is_first", "join_team", "own_device", "process_count", "process_rank"]


def process_count() -> int:
    """How many processes were started together, by ``torchrun`` or the like; one without it."""
    return int(os.environ.get("WORLD_SIZE", "1")) if "RANK" in os.environ else 1


def process_rank() -> int:
    """Which of the processes that were started together this one is, from 0."""
    return int(os.environ["RANK"]) if process_count() > 1 else 0


def is_first() -> bool:
    """Whether this process is alone, or the first of those that were started together."""
    return process_rank() == 0


def own_device(device: torch.device) -> torch.device:
    """The device of this process: on a machine with GPUs each process takes one of its own."""
    if device.type != "cuda" or device.index is not None or process_count() == 1:
        return device
    index, count = int(os.environ.get("LOCAL_RANK", "0")), torch.cuda.device_count()
    if index >= count:
        raise ConfigError(
            f"process {index + 1} on this machine finds {count} GPUs; "
            f"start at most {count} processes, or use device cpu"
        )
    return torch.device("cuda", index)


@contextmanager
def join_team(device: torch.device) -> Iterator[Team]:
    """Meet the processes that were started together, and part at the end; or stay alone."""
    if process_count() == 1:
        yield Alone()
        return
    if device.type == "cuda":
        torch.cuda.set_device(device)
    # The first optimizer imports this module, and its default arguments keep the group of that
    # moment for ever: imported now they keep none. A group that outlives its end has threads that
    # can abort the process on its way out.
    importlib.import_module("torch.distributed.nn.functional")
    dist.init_process_group("nccl" if device.type == "cuda" else "gloo")
    try:
        yield Processes(device)
    finally:
        dist.destroy_process_group()


class Processes:
    """The processes that train together, each with a copy of the model, as seen by one of them."""

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.rank = dist.get_rank()
        self.size = dist.get_world_size()

    def share_batches(self, batches: Batches[B]) -> Batches[B]:
        """Of every batch the part that this process takes."""
        return batches.share(self.rank, self.size)

    def share_loss(self, loss: LossFunction[M, B]) -> LossFunction[M, B]:
        """The same loss and gradients as if one process had taken the whole batch."""

        def shared(model: M, batch: B, progress: float) -> Loss:
            own = self._own_loss(model, batch, lambda: loss(model, batch, progress))
            weights = torch.stack([own.weight.to(own.total), own.documents.to(own.total)])
            weight, documents = self.add_up(weights)
            parameters = tuple(p for p in model.parameters() if p.requires_grad)
            return _SharedLoss(own.total, weight, own.penalty, documents, parameters, self)

        return shared

    def add_up(self, values: Tensor) -> Tensor:
        """The sum of what all processes hold; each of them gets the same."""
        total = values.detach().clone()
        dist.all_reduce(total)
        return total

    def agree(self, model: nn.Module) -> None:
        """Give every process the weights of the first."""
        for weight in model.state_dict().values():
            dist.broadcast(weight, 0)

    def spread(self, content: bytes) -> bytes:
        """Give every process the bytes of the first."""
        size = torch.tensor(len(content), device=self.device)
        dist.broadcast(size, 0)
        if size == 0:
            return b""
        data = torch.zeros(int(size), dtype=torch.uint8, device=self.device)
        if self.rank == 0:
            data.copy_(torch.frombuffer(bytearray(content), dtype=torch.uint8))
        dist.broadcast(data, 0)
        return data.cpu().numpy().tobytes()

    def _own_loss(self, model: nn.Module, batch: TrainingBatch, loss: Callable[[], Loss]) -> Loss:
        # The loop seeds every process alike; the same dropout on all shares would be no dropout
        # of the whole batch. This draw is the same everywhere, so an empty share must make it too.
        seed = int(torch.randint(2**62, ()))
        if len(batch) == 0:
            nothing = next(model.parameters()).new_zeros(())
            return Loss(nothing, nothing, nothing, nothing)
        with seeded(derived_seed(seed, self.rank), self.device):
            return loss()


@dataclass(frozen=True, slots=True, eq=False)
class _SharedLoss(Loss):
    """The loss of one share, divided by the weight of the whole batch."""

    parameters: tuple[nn.Parameter, ...]
    team: Processes

    def backward(self) -> Loss:
        """Add up the gradients of all shares; return the loss of the whole batch."""
        if self.total.requires_grad:
            self.mean.backward()
        sums = torch.stack([self.total.detach(), self.penalty.detach()])
        total, penalty = _add_up_gradients(self.parameters, sums, self.team)
        return Loss(total, self.weight, penalty, self.documents)


def _add_up_gradients(parameters: Iterable[nn.Parameter], sums: Tensor, team: Processes) -> Tensor:
    """Replace each gradient by its sum over the processes, in one message; so too for ``sums``."""
    # A parameter without a gradient takes part as zero: an empty share has none at all.
    gradients = []
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        elif parameter.grad.is_sparse:  # the others' have other rows
            parameter.grad = parameter.grad.to_dense()
        gradients.append(parameter.grad)
    flat = team.add_up(torch.cat([g.flatten() for g in gradients] + [sums.to(gradients[0])]))
    parts = flat.split([g.numel() for g in gradients] + [len(sums)])
    for gradient, part in zip(gradients, parts[:-1], strict=True):
        gradient.copy_(part.view_as(gradient))
    return parts[-1]
