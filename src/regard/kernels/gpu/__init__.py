"""Recurrence and attention over ragged rows on a GPU, one launch forwards and one backwards.

Inputs in fp32 are multiplied as three tf32 products, which is as exact as fp32; inputs in bf16 are
multiplied as bf16 and summed in fp32, and the state between two steps is fp32. Triton itself is
imported when the first kernel is needed, never before.
"""

from __future__ import annotations

import functools
import importlib.util

import torch
from torch import Tensor

from ...errors import suggestion
from ...ragged import Ragged

__all__ = ["attend_rows", "can_attend", "can_recur", "describe", "recur"]

_GATES = {"rnn": 1, "gru": 3, "lstm": 4}
_DTYPES = (torch.float32, torch.bfloat16)
# Hidden units of all directions together; above, reading the weights takes longer than launches.
_MOST_UNITS = 512


def recur(
    cell: str,
    projected: Tensor,
    index: Tensor | None,
    rows: Ragged,
    weights: Tensor,
    biases: Tensor,
) -> Tensor:
    """Run a recurrent cell over every row, as ``nn.recurrence.recur`` defines it.

    An index that points outside of ``projected`` gives NaN, because finding it would make the host
    wait.
    """
    _check_shapes(cell, projected, index, rows, (weights, biases))
    _check_kind(projected, weights, biases, rows.lengths, *([] if index is None else [index]))
    from .plan import Launch, cut_for, longest_first, room_on
    from .recurrence import Recurrence

    directions, _, size = weights.shape
    tensors = (projected, weights, biases)
    launch = Launch(
        cell=cell,
        directions=directions,
        size=size,
        keep=torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors),
        index=None if index is None else index.contiguous(),
        # Rows of one program wait for its longest, so rows of like length go together.
        order=longest_first(rows.lengths),
        lengths=rows.lengths.contiguous(),
        offsets=rows.offsets,
        cut=cut_for(
            cell,
            size,
            many=len(rows) * directions > 8192,
            dtype=projected.dtype,
            room=room_on(projected.device),
        ),
    )
    # Triton launches on the current device, whatever device its tensors are on.
    with torch.cuda.device_of(projected):
        return Recurrence.apply(*(tensor.contiguous() for tensor in tensors), launch)


def attend_rows(scores: Tensor, values: Tensor, rows: Ragged) -> tuple[Tensor, Tensor]:
    """Weigh every row's values by the softmax of its scores.

    ``scores`` is (items,), ``values`` (items, size). Gives the sums, (rows, size), zero for an
    empty row, and the weights, (items,), always in fp32 so that they sum to one.
    """
    if scores.ndim != 1 or values.ndim != 2 or scores.shape != values.shape[:1]:
        raise ValueError(
            "attention needs scores (items,) and values (items, size), "
            f"got {tuple(scores.shape)} and {tuple(values.shape)}"
        )
    _check_count(rows, scores.shape[0])
    _check_kind(scores, values, rows.lengths)
    from .attention import RowAttention

    with torch.cuda.device_of(values):
        return RowAttention.apply(
            scores.contiguous(), values.contiguous(), rows.lengths.contiguous(), rows.offsets
        )


def can_recur(cell: str, projected: Tensor) -> bool:
    """Say whether ``recur`` can take this, and is the quickest way to do so."""
    return (
        cell in _GATES
        and can_attend(projected)
        and projected.shape[1] <= _GATES[cell] * _MOST_UNITS
    )


def can_attend(items: Tensor) -> bool:
    """Say whether ``attend_rows`` can take such items, (items, size)."""
    return (
        items.is_cuda and items.dtype in _DTYPES and items.ndim == 2 and not _obstacle(items.device)
    )


def describe() -> str:
    """Say in a line whether GPU kernels run here, how they multiply, or why they do not run."""
    if not torch.cuda.is_available():
        return "triton: not used, no GPU"
    obstacle = _obstacle(torch.device("cuda"))
    if obstacle:
        return f"triton: not used, {obstacle}; PyTorch is used"
    name = torch.cuda.get_device_name()
    return f"triton: {name}, fp32 as three tf32 products, bf16 with fp32 sums and state"


@functools.cache
def _obstacle(device: torch.device) -> str:
    """Why no kernel can run on the device; empty if one can. Tried once, with a small kernel."""
    if importlib.util.find_spec("triton") is None:
        return "the package triton is not installed"
    if torch.version.hip is not None or torch.cuda.get_device_capability(device) < (8, 0):
        return "the GPU is not an NVIDIA one of capability 8.0 or later"
    scores = torch.zeros(1, device=device)
    try:
        attend_rows(scores, scores[:, None], Ragged(scores, torch.ones_like(scores).long()))
    # Triton builds its launcher with the machine's own compiler; whatever is missing, others run.
    except Exception as error:
        return f"a first kernel failed with {type(error).__name__}"
    return ""


def _check_shapes(
    cell: str,
    projected: Tensor,
    index: Tensor | None,
    rows: Ragged,
    parameters: tuple[Tensor, Tensor],
) -> None:
    """Refuse shapes that do not belong together, before a kernel reads past their ends."""
    if cell not in _GATES:
        raise ValueError(f"there is no cell {cell!r}; {suggestion(cell, _GATES)}")
    weights, biases = parameters
    directions, size = weights.shape[0], weights.shape[-1]
    columns = _GATES[cell] * size
    found = (tuple(weights.shape), tuple(biases.shape), tuple(projected.shape))
    wanted = (
        (directions, columns, size),
        (directions, columns),
        (projected.shape[0], directions * columns),
    )
    if found != wanted or directions not in (1, 2):
        raise ValueError(
            f"a {cell} needs weights {wanted[0]}, biases {wanted[1]} and projected {wanted[2]}, "
            f"with one or two directions; got {found[0]}, {found[1]} and {found[2]}"
        )
    if index is not None and (index.ndim != 1 or index.dtype not in (torch.int32, torch.int64)):
        raise ValueError(
            f"index must be int64 of shape (items,), got {index.dtype} {tuple(index.shape)}"
        )
    _check_count(rows, projected.shape[0] if index is None else index.shape[0])


def _check_count(rows: Ragged, item_count: int) -> None:
    """Refuse rows of more or fewer items than there are."""
    if rows.values.shape[0] != item_count:
        raise ValueError(f"rows of {rows.values.shape[0]} items cannot lay out {item_count} items")


def _check_kind(first: Tensor, *others: Tensor) -> None:
    """Refuse tensors that a kernel cannot read: on a CPU, on two devices, or in another type."""
    for tensor in (first, *others):
        if tensor.is_floating_point() and tensor.dtype not in _DTYPES:
            raise ValueError(f"GPU kernels take float32 and bfloat16, got {tensor.dtype}")
        if tensor.device != first.device:
            raise ValueError(f"tensors lie on both {first.device} and {tensor.device}")
    from .plan import interpreted

    if not first.is_cuda and not interpreted():
        raise ValueError(f"GPU kernels cannot read tensors on {first.device}")
