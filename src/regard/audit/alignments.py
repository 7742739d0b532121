"""Whether a translator needs what it looked at, over many alignments with receipts."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.alignment import Alignment
from ..records.audit import Metric
from .tally import Measured, Tally

__all__ = ["audit_alignments"]


def audit_alignments(alignments: Sequence[Alignment], seed: int = 0) -> tuple[Metric, ...]:
    """Put together the receipts of many alignments; those without any are left out."""
    tally = Tally(seed)
    for one in alignments:
        receipt = one.receipt
        if receipt is None or not receipt.written:
            continue
        count = len(receipt.written)
        tally.add(
            {
                "looked_at_drop": Measured(receipt.mean_drop, receipt.mean_random_drop),
                "looked_at_better": Measured(
                    receipt.better_count, receipt.random_better * count, share_of=count
                ),
            }
        )
    return tally.metrics()
