"""How much hangs on the words that a model's explanations point at, whatever kind of model.

Words are cut out of the text itself and the model is asked again, so that all contenders are
measured by one yardstick. The same shares of words are taken as in a receipt.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..explain.rankings import BINS, random_sets, ranks_of, tops
from ..records.comparison import Faithfulness
from ..records.explanation import Explanation
from ..records.weights import Weights
from .contenders import Candidate, Explaining

__all__ = ["measure_faithfulness"]

RANDOM = 5  # random sets of words a share
FLIP = BINS.index(0.2)  # the share of words without which answers are looked at


def measure_faithfulness(
    candidate: Candidate, texts: Sequence[str], *, seed: int = 0
) -> Faithfulness | None:
    """Take away the words that count most, and random ones; nothing where nothing is explained."""
    if not isinstance(candidate, Explaining) or not texts:
        return None
    explained = candidate.explain(list(texts), receipt=False)
    found = [
        (explanation, words)
        for explanation in explained
        if (words := explanation.decisions[0].words) is not None and len(words) > 1
    ]
    if not found:
        return None
    versions = [
        version
        for place, (explanation, words) in enumerate(found)
        for version in _versions(explanation, words, np.random.default_rng([seed, place]))
    ]
    likely = candidate.predict_proba(versions)
    classes = [str(name) for name in candidate.classes_]
    numbers = [classes.index(str(explanation.label)) for explanation, _ in found]
    asked = likely.reshape(len(found), -1, likely.shape[1])
    whole, erased = asked[:, 0], asked[:, 1:].reshape(len(found), 1 + RANDOM, len(BINS), -1)
    rows = np.arange(len(found))
    lost = (whole[rows, numbers][:, None, None] - erased[rows, :, :, numbers]).mean(2)
    changed = erased[:, :, FLIP].argmax(-1) != whole.argmax(-1)[:, None]
    return Faithfulness(
        method=explained[0].method,
        documents=len(found),
        lead=float((lost[:, 0] - lost[:, 1:].mean(1)).mean()),
        flips=float(changed[:, 0].mean()),
        random_flips=float(changed[:, 1:].mean()),
    )


def _versions(explanation: Explanation, words: Weights, draw: np.random.Generator) -> list[str]:
    """The text as it is, then without the heaviest words, then without random ones."""
    amounts = np.array(words.amounts)
    own = tops(ranks_of(amounts, draw))
    gone = np.concatenate([own, random_sets(len(amounts), RANDOM, draw)]).reshape(-1, len(amounts))
    spans = [(piece[0], piece[1]) for piece in words.pieces]
    return [explanation.source, *(_without(explanation.source, spans, row) for row in gone)]


def _without(text: str, spans: Sequence[tuple[int, int]], gone: NDArray[np.bool_]) -> str:
    cut = [(0, 0), *(span for span, out in zip(spans, gone, strict=True) if out)]
    cut.append((len(text), len(text)))
    return "".join(text[end:start] for (_, end), (start, _) in pairwise(cut))
