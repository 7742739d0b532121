"""How good translations are: BLEU and chrF of sacrebleu, letters that are wrong, links of words.

Links say which words belong together: those a translator looked at against those that people drew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError, DataError, MissingExtra
from ..records.alignment import Alignment
from ..records.translation import AlignmentScores, GoldLinks, Link, TranslationScores, WrittenPair

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

__all__ = [
    "BLEU_COUNTS",
    "bleu_counts",
    "bleu_of_counts",
    "character_error_rate",
    "doubt_translations",
    "edit_distance",
    "links_of",
    "mean_effective_count",
    "rank_pairs",
    "require_sacrebleu",
    "score_links",
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


def rank_pairs(
    sources: Sequence[str], written: Sequence[str], references: Sequence[str], count: int = 10
) -> tuple[tuple[WrittenPair, ...], tuple[WrittenPair, ...]]:
    """Return the pairs that come least near to their references by chrF, and those nearest."""
    chrf = _metrics()[1]
    found = [
        WrittenPair(
            place, source, text, reference, float(chrf.sentence_score(text, [reference]).score)
        )
        for place, (source, text, reference) in enumerate(
            zip(sources, written, references, strict=True)
        )
    ]
    order = sorted(found, key=lambda pair: (pair.chrf, pair.index))
    return tuple(order[:count]), tuple(reversed(order[count:][-count:]))


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


def require_sacrebleu(extra: str = "translate", purpose: str = "scoring translations") -> None:
    """Raise ``MissingExtra`` where there is no sacrebleu: before all is written, not after."""
    try:
        import sacrebleu.metrics  # noqa: F401
    except ImportError as problem:
        raise MissingExtra("sacrebleu", extra, purpose) from problem


def _metrics() -> tuple[BLEU, CHRF]:
    require_sacrebleu()
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    return BLEU(), CHRF()


def character_error_rate(written: Sequence[str], references: Sequence[str]) -> float:
    """Return the edits of all texts together, a letter of the references; 0 is perfect.

    It is over one where more was written than is right. A letter is a code point. Where all
    references are empty it is 0 if nothing was written, and 1 otherwise.
    """
    if len(written) != len(references):
        raise DataError(f"{len(written)} texts do not fit {len(references)} references")
    edits = sum(map(edit_distance, written, references))
    letters = sum(map(len, references))
    return edits / letters if letters else float(edits > 0)


def edit_distance(written: str, reference: str) -> int:
    """Return how many letters must be put in, taken out or replaced (Levenshtein, 1966)."""
    if written == reference:
        return 0
    letters = np.array([ord(letter) for letter in reference], dtype=np.int64)
    places = np.arange(len(letters) + 1)
    edits = places  # from nothing to each beginning of the reference
    for letter in written:
        kept = edits[:-1] + (letters != ord(letter))
        taken_out = edits + 1
        best = np.concatenate([taken_out[:1], np.minimum(taken_out[1:], kept)])
        # Whatever is put in costs one more than the place before: a running least, place by place.
        edits = np.minimum.accumulate(best - places) + places
    return int(edits[-1])


def mean_effective_count(alignments: Iterable[Alignment]) -> float | None:
    """Return how many pieces of the source counted for a written piece, on average.

    The mean is over the steps of all texts together; None where nothing was written.
    """
    counts = [alignment.effective_counts for alignment in alignments]
    steps = np.concatenate(counts) if counts else np.zeros(0)
    return float(steps.mean()) if len(steps) else None


def links_of(alignment: Alignment, *, threshold: float | None = None) -> frozenset[Link]:
    """Return which words belong together by the weights; words stand between white space.

    Each word of the target is linked to the heaviest of the source, or, with a threshold, to all
    of at least that weight.
    """
    weights = alignment.by_words().weights
    if threshold is not None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"threshold must be above 0 and at most 1, got {threshold}")
        chosen = weights >= threshold
    else:
        chosen = np.zeros(weights.shape, dtype=bool)
        if weights.size:
            chosen[np.arange(len(weights)), weights.argmax(1)] = True
    # A word that has no piece at all has looked at nothing.
    return frozenset(
        (source, target) for target, source in np.argwhere(chosen & (weights > 0)).tolist()
    )


def score_links(found: Sequence[frozenset[Link]], gold: Sequence[GoldLinks]) -> AlignmentScores:
    """Score links against those of people, over all pairs together (Och and Ney, 2003).

    Where there is nothing to find, all of it was found; where nothing was found, nothing is wrong.
    """
    if len(found) != len(gold):
        raise DataError(f"links of {len(found):,} pairs do not fit {len(gold):,} lines of links")
    both = list(zip(found, gold, strict=True))
    links = sum(map(len, found))
    sure = sum(len(known.sure) for known in gold)
    sure_found = sum(len(links & known.sure) for links, known in both)
    possible_found = sum(len(links & known.possible) for links, known in both)
    return AlignmentScores(
        pairs=len(both),
        links=links,
        precision=possible_found / links if links else 1.0,
        recall=sure_found / sure if sure else 1.0,
        error_rate=1 - (sure_found + possible_found) / (links + sure) if links + sure else 0.0,
    )
