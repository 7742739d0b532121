"""The rows of a table of vectors in C: which occur, their projection, and Adam's moves of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import torch
from torch import Tensor

from ..native import required_library
from .jobs import MoveJob, ProjectJob, check_tensor, padded, padded_rows

__all__ = ["AdamNumbers", "distinct", "drift_rows", "project", "project_into", "step_rows"]


def distinct(ids: Tensor, limit: int) -> tuple[Tensor, Tensor]:
    """Return the ids that occur, ascending, and which of them stands where, (ids,)."""
    if ids.ndim != 1 or ids.dtype != torch.int64 or ids.device.type != "cpu":
        kind = f"{ids.dtype} {tuple(ids.shape)} on {ids.device}"
        raise ValueError(f"ids must be torch.int64 of shape (ids,) on cpu, got {kind}")
    ids = ids.contiguous()
    marks = torch.zeros(limit // 64 + 1, dtype=torch.int64)
    ranks = torch.empty(limit, dtype=torch.int32)
    found, index = torch.empty(min(len(ids), limit), dtype=torch.int64), torch.empty_like(ids)
    addresses = [tensor.data_ptr() for tensor in (marks, ranks, found, index)]
    count = required_library().call("find_distinct", ids.data_ptr(), len(ids), limit, *addresses)
    if count < 0:
        raise IndexError(
            f"ids must be from 0 to {limit - 1}, got {int(ids.min())} to {int(ids.max())}"
        )
    return found[:count], index


_PRODUCTS_FOR_THREADS = 5_000_000  # products; fewer are done before another thread wakes up


def project(items: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return ``items @ weight.t() + bias``, (items, width); no gradient goes back through it."""
    result = torch.empty(len(items), len(weight))
    _project(items, weight, bias, places=None, result=result)
    return result


def project_into(
    result: Tensor, places: Tensor, *, items: Tensor, weight: Tensor, bias: Tensor
) -> None:
    """Fill the rows of ``result`` at these places, (count,), with the items there, projected."""
    check_tensor("result", result, (len(items), len(weight)))
    places = places.to(torch.int64).contiguous()
    native = required_library()
    if native.call("check_index", places.data_ptr(), len(places), len(items)):
        raise IndexError(f"places must be from 0 to {len(items) - 1}")
    _project(items, weight, bias, places=places, result=result)


def _project(
    items: Tensor, weight: Tensor, bias: Tensor, *, places: Tensor | None, result: Tensor
) -> None:
    width, size = weight.shape
    check_tensor("items", items, (len(items), size))
    check_tensor("weight", weight, (width, size))
    check_tensor("bias", bias, (width,))
    count = len(items) if places is None else len(places)
    native = required_library()
    job = ProjectJob()
    job.fill(row_count=count, size=size, width=width, width_step=padded(width))
    job.fill(items=items.detach().contiguous(), places=places, result=result)
    job.fill(matrix=padded_rows(weight.t()), bias=padded_rows(bias))
    enough = count * size * width > _PRODUCTS_FOR_THREADS
    threads = torch.get_num_threads() if enough else 1
    native.run("project", job, instructions=native.instructions_for(max(1, width)), threads=threads)


_MOVES_FOR_THREADS = 200_000  # numbers; fewer are moved before another thread wakes up


@dataclass(frozen=True, slots=True)
class AdamNumbers:
    """The numbers of one step of Adam, as ``nn.table_rows.AdamStep`` has them."""

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
    job = _moving(rows, places)
    job.fill(gradient=gradient.contiguous(), **asdict(numbers))
    _move(job, rows)


def drift_rows(
    rows: tuple[Tensor, Tensor, Tensor], places: Tensor, missed: Tensor, kinds: Tensor
) -> None:
    """Move rows of a table, of the mean and of the mean square by what they missed.

    ``missed``, (kinds, 6), holds what rows can have missed; ``kinds``, (places,), picks from it.
    """
    check_tensor("missed", missed, (len(missed), 6))
    if kinds.shape != places.shape:
        raise ValueError(f"there are {len(places)} places, but {len(kinds)} kinds")
    job = _moving(rows, places)
    kinds = _checked_places("kinds", kinds, len(missed))
    job.fill(missed=missed.contiguous(), kinds=kinds)
    _move(job, rows)


def _moving(rows: tuple[Tensor, Tensor, Tensor], places: Tensor) -> MoveJob:
    table, mean, square = rows
    count, size = table.shape
    for name, tensor in (("table", table), ("mean", mean), ("square", square)):
        check_tensor(name, tensor, (count, size))
    places = _checked_places("places", places, count)
    job = MoveJob()
    job.fill(row_count=len(places), size=size, places=places)
    job.fill(table=table, mean=mean, square=square)
    return job


def _checked_places(name: str, index: Tensor, count: int) -> Tensor:
    index = index.to(torch.int64).contiguous()
    if required_library().call("check_index", index.data_ptr(), len(index), count):
        raise IndexError(f"{name} must be from 0 to {count - 1}")
    return index


def _move(job: MoveJob, rows: tuple[Tensor, Tensor, Tensor]) -> None:
    native = required_library()
    enough = job.row_count * job.size > _MOVES_FOR_THREADS
    threads = torch.get_num_threads() if enough else 1
    native.run("move", job, instructions=native.instructions_for(max(1, job.size)), threads=threads)
    # Whoever kept something made from the table must see that it has changed.
    for tensor in rows:
        torch.autograd.graph.increment_version(tensor)
