"""How near what was written comes to references: BLEU and chrF as sacrebleu counts them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, MissingExtra
from ..records.translation import TranslationScores

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

__all__ = [
    "BLEU_COUNTS",
    "bleu_counts",
    "bleu_of_counts",
    "doubt_translations",
    "score_translations",
]

BLEU_COUNTS = 10
"""How many sums BLEU is made of: matches and n-grams of four lengths, and both texts' lengths."""


FEWEST_TO_DOUBT = 30
"""Of fewer texts nothing is said."""
LEAST_CHRF = 10.0
"""Below it hardly a letter is right; unrelated sentences of one language have more."""


def doubt_translations(written: Sequence[str], references: Sequence[str]) -> str | None:
    """Say why these texts can hardly be translations; None where nothing speaks against them.

    A model that has learned nothing yet writes the same about every source.
    """
    if len(written) < FEWEST_TO_DOUBT:
        return None
    ((text, count),) = Counter(written).most_common(1)
    ((_, usual),) = Counter(references).most_common(1)
    if count > max(0.3 * len(written), 3 * usual):
        shown = text if len(text) <= 60 else f"{text[:57]}..."
        return f"{shown!r} is written about {count} of {len(written)} of them"
    different = len(set(written))
    if different < 0.2 * len(set(references)):
        return f"only {different} different texts are written about {len(written)} of them"
    try:
        chrf = float(_metrics()[1].corpus_score(list(written), [list(references)]).score)
    except MissingExtra:  # then nobody wants scores
        return None
    if chrf < LEAST_CHRF:
        return f"hardly a letter is as in the references (chrF {chrf:.1f} of 100)"
    return None


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
