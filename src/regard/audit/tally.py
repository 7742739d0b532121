"""From what single documents gave a measure to its mean, with an interval and a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..explain.rankings import Floats
from ..records.alignment import Alignment
from ..records.audit import FEWEST_DOCUMENTS, Metric
from ..records.measures import MEASURES
from ..tasks.bootstrap import percentiles

__all__ = ["DRAWS", "Measured", "Tally", "audit_alignments", "mean_metric"]

DRAWS = 1000


@dataclass(frozen=True, slots=True)
class Measured:
    """What one document gave a measure, and what the baseline gave it there."""

    value: float
    baseline: float
    share_of: float | None = None  # what the mean is divided by, where the measure is a share


class Tally:
    """Gathers what documents give, by the name of the measure."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._found: dict[str, list[Measured]] = {}

    def add(self, found: dict[str, Measured]) -> None:
        """Add what one document gave."""
        for name, measured in found.items():
            self._found.setdefault(name, []).append(measured)

    def values(self, name: str) -> list[float]:
        """What each document gave a measure."""
        return [one.value for one in self._found.get(name, ())]

    def metrics(self) -> tuple[Metric, ...]:
        """Return the means, in the order of ``MEASURES``; those that nothing gave are left out."""
        return tuple(
            mean_metric(name, self._found[name], seed=self._seed)
            for name in MEASURES
            if self._found.get(name)
        )


def mean_metric(name: str, found: Sequence[Measured], *, seed: int = 0) -> Metric:
    """Average over documents; the interval comes from drawing them again with replacement.

    Of fewer than ``FEWEST_DOCUMENTS`` there is none. Where documents say what they are shares of,
    the value is the mean of one over that of the other.
    """
    measure = MEASURES[name]
    values = np.array([one.value for one in found])
    baselines = np.array([one.baseline for one in found])
    whole = np.array([1.0 if one.share_of is None else one.share_of for one in found])
    interval = None
    if len(found) >= FEWEST_DOCUMENTS:
        draws = np.random.default_rng(seed).integers(len(found), size=(DRAWS, len(found)))
        interval = percentiles(_share(values[draws], whole[draws]))
    return Metric(
        name=name,
        value=float(_share(values, whole)),
        interval=interval,
        baseline=float(_share(baselines, whole)),
        documents=len(found),
        protocol=measure.protocol,
        better=measure.better,
        baseline_name=measure.baseline,
    )


def _share(values: Floats, whole: Floats) -> Floats:
    total = whole.mean(-1)
    return np.divide(values.mean(-1), total, out=np.zeros_like(total), where=total != 0)


def audit_alignments(alignments: Sequence[Alignment], seed: int = 0) -> tuple[Metric, ...]:
    """Put together the receipts of many alignments; those without any are left out.

    What looks are worth is told of the pieces that the source decides.
    """
    tally = Tally(seed)
    for one in alignments:
        receipt = one.receipt
        if receipt is None or not receipt.written:
            continue
        count = len(receipt.decided)
        tally.add({"source_decides": Measured(count, 0.0, share_of=len(receipt.written))})
        if not count:
            continue
        tally.add(
            {
                "looked_at_drop": Measured(receipt.mean_drop, receipt.mean_random_drop),
                "looked_at_better": Measured(
                    receipt.better_count, receipt.random_better * count, share_of=count
                ),
            }
        )
    return tally.metrics()
