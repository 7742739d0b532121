"""Whether a translator needs what it looked at, over many alignments with receipts."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.alignment import Alignment
from ..records.audit import Metric
from .tally import Measured, Protocol, Tally

__all__ = ["PROTOCOLS", "audit_alignments"]

PROTOCOLS = {
    "looked_at_drop": Protocol(
        "probability that a written piece loses without the pieces of the source it looked at "
        "most, as many as counted for it, told all that was written before; mean over its text",
        baseline="random pieces",
    ),
    "looked_at_better": Protocol(
        "share of written pieces that lose more without what they looked at than without as many "
        "random pieces of the source, in the mean",
        baseline="random pieces",
    ),
}


def audit_alignments(alignments: Sequence[Alignment], seed: int = 0) -> tuple[Metric, ...]:
    """Put together the receipts of many alignments; those without any are left out."""
    tally = Tally(PROTOCOLS, seed)
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
