"""How good captions are: BLEU-1 to BLEU-4 of sacrebleu, against all that people wrote.

As in the papers: words in lower case, no punctuation, and the nearest reference in length.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..records.caption import CaptionScores
from .translations import BLEU_COUNTS, require_sacrebleu

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

__all__ = ["caption_bleu_counts", "plain_words", "require_caption_bleu", "score_captions"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def plain_words(text: str) -> str:
    """Return the words of a caption alone, in lower case, a space between them."""
    return " ".join(_WORD.findall(text.lower()))


def score_captions(
    written: Sequence[str], references: Sequence[Sequence[str]], *, title: str = ""
) -> CaptionScores:
    """Score what was written about each picture against all its references."""
    if len(written) != len(references):
        raise DataError(f"{len(written)} captions do not fit references of {len(references)}")
    if not written:
        raise DataError("there are no captions to score")
    texts, told = _plain(written, references)
    orders = [_bleu(order).corpus_score(texts, told).score for order in (1, 2, 3, 4)]
    metric = _bleu(4)
    metric.corpus_score(texts, told)
    exact = [text in map(plain_words, some) for text, some in zip(texts, references, strict=True)]
    return CaptionScores(
        pictures=len(texts),
        bleu_1=float(orders[0]),
        bleu_2=float(orders[1]),
        bleu_3=float(orders[2]),
        bleu_4=float(orders[3]),
        signature=str(metric.get_signature()),
        exact=sum(exact) / len(exact),
        title=title,
    )


def caption_bleu_counts(
    written: Sequence[str], references: Sequence[Sequence[str]]
) -> NDArray[np.float64]:
    """Return the sums that BLEU-4 is made of, (10,), as ``bleu_counts`` does of translations."""
    if not written:
        return np.zeros(BLEU_COUNTS)
    found = _bleu(4).corpus_score(*_plain(written, references))
    return np.array([*found.counts, *found.totals, found.sys_len, found.ref_len], dtype=np.float64)


def _plain(
    written: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """The words alone, and the references as sacrebleu has them: a list of first ones, and so on.

    Where a picture has fewer references than others its first stands in, which changes nothing.
    """
    most = max(map(len, references))
    if not most or not all(references):
        raise DataError("a picture without references cannot be scored")
    streams = [
        [plain_words(some[place if place < len(some) else 0]) for some in references]
        for place in range(most)
    ]
    return [plain_words(text) for text in written], streams


def require_caption_bleu() -> None:
    """Raise ``MissingExtra`` where there is nothing to score captions with."""
    require_sacrebleu("images", "scoring captions")


def _bleu(order: int) -> BLEU:
    require_caption_bleu()
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(max_ngram_order=order, tokenize="none")
