"""Adam's moves of some rows of a table in C; ``nn.row_moves`` says what they are."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from .cpu_plan import check_tensor
from .jobs import Moving
from .native import required_library

__all__ = ["AdamNumbers", "drift_rows", "step_rows"]

_WORK_FOR_THREADS = 200_000  # numbers; fewer are moved before another thread wakes up


@dataclass(frozen=True, slots=True)
class AdamNumbers:
    """The numbers of one step of Adam, as ``nn.row_moves.AdamStep`` has them."""

    first_share: float
    second_share: float
    second_left: float
    rate: float
    root: float
    eps: float


def step_rows(
    rows: tuple[Tensor, Tensor, Tensor],
    places: Tensor,
    gradient: Tensor,
    *,
    numbers: AdamNumbers,
) -> None:
    """Move rows of a table, of the mean and of the mean square by a gradient, (places, size)."""
    check_tensor("gradient", gradient, (len(places), rows[0].shape[1]))
    job = _job(rows, places)
    job.fill(gradient=gradient.contiguous(), **asdict(numbers))
    _run(job, rows)


def drift_rows(
    rows: tuple[Tensor, Tensor, Tensor], places: Tensor, missed: Tensor, kinds: Tensor
) -> None:
    """Move rows of a table, of the mean and of the mean square by what they missed.

    ``missed``, (kinds, 6), holds what rows can have missed; ``kinds``, (places,), picks from it.
    """
    check_tensor("missed", missed, (len(missed), 6))
    if kinds.shape != places.shape:
        raise ValueError(f"there are {len(places)} places, but {len(kinds)} kinds")
    job = _job(rows, places)
    kinds = _checked("kinds", kinds, len(missed))
    job.fill(missed=missed.contiguous(), kinds=kinds)
    _run(job, rows)


def _job(rows: tuple[Tensor, Tensor, Tensor], places: Tensor) -> Moving:
    table, mean, square = rows
    count, size = table.shape
    for name, tensor in (("table", table), ("mean", mean), ("square", square)):
        check_tensor(name, tensor, (count, size))
    places = _checked("places", places, count)
    job = Moving()
    job.fill(row_count=len(places), size=size, places=places)
    job.fill(table=table, mean=mean, square=square)
    return job


def _checked(name: str, index: Tensor, count: int) -> Tensor:
    index = index.to(torch.int64).contiguous()
    if required_library().call("check_index", index.data_ptr(), len(index), count):
        raise IndexError(f"{name} must be from 0 to {count - 1}")
    return index


def _run(job: Moving, rows: tuple[Tensor, Tensor, Tensor]) -> None:
    native = required_library()
    enough = job.row_count * job.size > _WORK_FOR_THREADS
    threads = torch.get_num_threads() if enough else 1
    native.run("move", job, level=native.level_for(max(1, job.size)), threads=threads)
    # Whoever kept something made from the table must see that it has changed.
    for tensor in rows:
        torch.autograd.graph.increment_version(tensor)
