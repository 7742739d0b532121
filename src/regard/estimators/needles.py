"""The needle test of a fitted classifier: where in a document is it blind?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..explain.methods import METHODS
from ..explain.needle import LENGTHS, PROTOCOLS, Haystack, Planted, Sought, cell, places, sought
from ..explain.redundancy import COPIES, LENGTH, Repeated, recalled, repeated
from ..explain.redundancy import PROTOCOLS as REPEATED
from ..explain.tally import Measured, mean_metric
from ..records.audit import Metric, NeedleMap
from ..records.explanation import Explanation
from ..text.tokenize import tokenize_many
from .explaining import answers_about

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["NeedleResult", "needle_test"]

DOCUMENTS = 10
"""How many documents are made for each length and position."""
REPEATS = 20
"""How many documents are made for each number of times that a sentence stands in them."""
CANDIDATES = 2000
SHORTEST, LONGEST = 4, 40  # words of a sentence that may be planted, or stand around


@dataclass(frozen=True, slots=True)
class NeedleResult:
    """The map of blind spots, recall over all of it, and where a sentence stands repeatedly."""

    map: NeedleMap
    recall: Metric
    repeated: tuple[Metric, ...] = ()


def needle_test(
    classifier: DocumentClassifier, texts: Sequence[str], *, method: str, seed: int = 0
) -> NeedleResult | None:
    """Plant sentences of the texts and look for them; None where too few can be planted."""
    draw = np.random.default_rng(seed)
    sentences = _sentences(classifier, texts, draw)
    if len(sentences) < 2:
        return None
    stack = Haystack.of(sentences, classifier.predict_proba(sentences))
    if not stack.hay or not stack.needles:
        return None
    cap = classifier.text.max_sentences
    found: list[list[Sought]] = []
    for length in LENGTHS if cap is None else sorted({*LENGTHS, 2 * cap}):
        for position in places(length, cap):
            planted = list(stack.planted(length, position, count=DOCUMENTS, draw=draw))
            found.append(_sought(classifier, planted, method))
    measured = [Measured(float(one.found), 1 / one.planted.length) for row in found for one in row]
    return NeedleResult(
        NeedleMap(method, tuple(map(cell, found))),
        mean_metric("needle_recall", measured, PROTOCOLS["needle_recall"], seed=seed),
        tuple(_repeated(classifier, stack, method=method, seed=seed)),
    )


def _repeated(
    classifier: DocumentClassifier, stack: Haystack, *, method: str, seed: int
) -> Iterator[Metric]:
    """Recall of a sentence that stands several times, for each number of times."""
    if (classifier.text.max_sentences or LENGTH) < LENGTH:
        return  # the map says what is not read
    for copies, (name, protocol) in zip(COPIES, REPEATED.items(), strict=True):
        draw = np.random.default_rng([seed, copies])
        planted = list(repeated(stack, copies, count=REPEATS, draw=draw))
        explained = _explained(classifier, planted, method)
        found = [
            recalled(one, explanation)
            for one, (explanation, _) in zip(planted, explained, strict=True)
        ]
        yield mean_metric(name, found, protocol, seed=seed)


def _sentences(
    classifier: DocumentClassifier, texts: Sequence[str], draw: np.random.Generator
) -> list[str]:
    """Sentences of the texts that are one sentence alone too, each once."""
    found: dict[str, None] = {}
    for tokens in tokenize_many(texts, classifier.text):
        for (start, end), words in zip(tokens.sentence_spans(), tokens.per_sentence, strict=True):
            if SHORTEST <= words <= LONGEST:
                found.setdefault(" ".join(tokens.text[start:end].split()))
    listed = list(found)
    some = [listed[place] for place in draw.permutation(len(listed))[:CANDIDATES].tolist()]
    alone = tokenize_many(some, classifier.text)
    return [text for text, tokens in zip(some, alone, strict=True) if len(tokens.per_sentence) == 1]


def _sought(classifier: DocumentClassifier, planted: list[Planted], method: str) -> list[Sought]:
    return [
        sought(one, explanation, answered=answered)
        for one, (explanation, answered) in zip(
            planted, _explained(classifier, planted, method), strict=True
        )
    ]


def _explained(
    classifier: DocumentClassifier, planted: Sequence[Planted | Repeated], method: str
) -> list[tuple[Explanation, bool]]:
    """What each document gives for the label that was planted, and whether it got that label."""
    found: dict[int, tuple[Explanation, bool]] = {}
    for spots, answers in answers_about(classifier, [one.text for one in planted]):
        chosen = tuple((planted[spot].number,) for spot in spots)
        explained = METHODS[method].explain(replace(answers, chosen=chosen))
        for row, spot in enumerate(spots):
            number = planted[spot].number
            answered = bool(answers.decided(answers.probabilities[row : row + 1], number)[0])
            found[spot] = explained[row], answered
    return [found[spot] for spot in range(len(planted))]
