"""How near what was written comes to references: BLEU and chrF as sacrebleu counts them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, MissingExtra
from ..records.translation import TranslationScores

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

__all__ = ["BLEU_COUNTS", "bleu_counts", "bleu_of_counts", "score_translations"]

BLEU_COUNTS = 10
"""How many sums BLEU is made of: matches and n-grams of four lengths, and both texts' lengths."""


def score_translations(
    written: Sequence[str], references: Sequence[str], *, title: str = ""
) -> TranslationScores:
    """Score texts against one reference each: cased, not tokenised, sacrebleu's own settings."""
    if len(written) != len(references):
        raise DataError(f"{len(written)} texts do not fit {len(references)} references")
    if not written:
        raise DataError("there are no pairs to score")
    bleu, chrf = _metrics()
    bleu_score = bleu.corpus_score(list(written), [list(references)]).score
    chrf_score = chrf.corpus_score(list(written), [list(references)]).score
    exact = [text == reference for text, reference in zip(written, references, strict=True)]
    return TranslationScores(
        pairs=len(written),
        bleu=float(bleu_score),
        chrf=float(chrf_score),
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
        exact=sum(exact) / len(exact),
        title=title,
    )


def bleu_counts(written: Sequence[str], references: Sequence[str]) -> NDArray[np.float64]:
    """Return the sums that BLEU is made of, (10,); those of several shares may be added up."""
    if not written:
        return np.zeros(BLEU_COUNTS)
    found = _metrics()[0].corpus_score(list(written), [list(references)])
    return np.array([*found.counts, *found.totals, found.sys_len, found.ref_len], dtype=np.float64)


def bleu_of_counts(counts: NDArray[np.float64]) -> float:
    """Return BLEU, 0 to 100, of what ``bleu_counts`` gave."""
    whole = [round(count) for count in counts.tolist()]
    score = _metrics()[0].compute_bleu(
        correct=whole[:4], total=whole[4:8], sys_len=whole[8], ref_len=whole[9], smooth_method="exp"
    )
    return float(score.score)


def _metrics() -> tuple[BLEU, CHRF]:
    try:
        from sacrebleu.metrics.bleu import BLEU
        from sacrebleu.metrics.chrf import CHRF
    except ImportError as problem:
        raise MissingExtra("sacrebleu", "translate", "scoring translations") from problem
    return BLEU(), CHRF()
