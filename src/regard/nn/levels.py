"""Rows read and pooled in one go, for prediction: the states of a row never leave the cache."""

from __future__ import annotations

from torch import Tensor, nn

from ..ragged import Ragged
from .encoders import RecurrentEncoder
from .pooling import AttentionPooling, Pooled

__all__ = ["pool_projected", "pool_read"]


def pool_read(encoder: nn.Module, pooling: nn.Module, items: Ragged) -> Pooled | None:
    """Do what ``pooling(encoder(items))`` does, or nothing where it cannot be done in one go.

    It can be done on a CPU, in evaluation, where nobody asks for gradients, with a recurrent
    encoder and an attention that the kernels in C know.
    """
    if not isinstance(encoder, RecurrentEncoder) or not encoder.attends:
        return None
    return pool_projected(encoder, pooling, items, encoder.project(items.values), indexed=False)


def pool_projected(
    encoder: RecurrentEncoder,
    pooling: nn.Module,
    rows: Ragged,
    projected: Tensor,
    *,
    indexed: bool = True,
) -> Pooled | None:
    """Do as ``pool_read`` does with what ``encoder.project`` made of the items, (distinct, ...).

    The rows hold the number of the projected item that each item reads; where they are not
    ``indexed``, item n reads number n.
    """
    attention = pooling.in_c() if isinstance(pooling, AttentionPooling) else None
    if attention is None or not encoder.attends:
        return None
    index = rows.values if indexed else None
    vectors, weights = encoder.attend(projected, index, rows, attention)
    return Pooled(vectors, rows.with_values(weights))
