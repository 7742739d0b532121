"""Items times a matrix in C, for prediction: a row has the same bits in any company."""

from __future__ import annotations

import torch
from torch import Tensor

from .cpu_plan import check_tensor
from .jobs import Projecting, padded, padded_rows
from .native import required_library

__all__ = ["project", "project_into"]

_WORK_FOR_THREADS = 5_000_000  # products; fewer are done before another thread wakes up


def project(items: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Return ``items @ weight.t() + bias``, (items, width); no gradient goes back through it."""
    result = torch.empty(len(items), len(weight))
    _run(items, weight, bias, places=None, result=result)
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
    _run(items, weight, bias, places=places, result=result)


def _run(
    items: Tensor, weight: Tensor, bias: Tensor, *, places: Tensor | None, result: Tensor
) -> None:
    width, size = weight.shape
    check_tensor("items", items, (len(items), size))
    check_tensor("weight", weight, (width, size))
    check_tensor("bias", bias, (width,))
    count = len(items) if places is None else len(places)
    native = required_library()
    job = Projecting()
    job.fill(row_count=count, size=size, width=width, width_step=padded(width))
    job.fill(items=items.detach().contiguous(), places=places, result=result)
    job.fill(matrix=padded_rows(weight.t()), bias=padded_rows(bias))
    enough = count * size * width > _WORK_FOR_THREADS
    threads = torch.get_num_threads() if enough else 1
    native.run("project", job, level=native.level_for(max(1, width)), threads=threads)
