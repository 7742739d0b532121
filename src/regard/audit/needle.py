"""The needle test: a telling sentence is planted among others, and must be found again.

Both come from the reader's own texts. A needle is a sentence that alone gets its label with great
certainty; the hay are those that alone say least. So where the evidence is, is known exactly.

Attention is shared out, and without one of two equal sentences the answer hardly moves. So an
explanation may find a sentence that stands alone, and lose it where it stands twice: needles are
planted several times too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..explain.fitted import Fitted
from ..explain.methods import METHODS
from ..explain.rankings import Floats
from ..records.audit import Metric, NeedleCell, NeedleMap
from ..records.explanation import Explanation
from ..records.weights import Span
from ..text.tokenize import tokenize_many
from .tally import Measured, mean_metric

__all__ = [
    "COPIES",
    "LENGTH",
    "LENGTHS",
    "Haystack",
    "NeedleResult",
    "PlantedDocument",
    "RepeatedDocument",
    "Sought",
    "choose_places",
    "count_cell",
    "measure_recall",
    "needle_test",
    "plant_copies",
    "seek",
]

LENGTHS = (5, 10, 20, 40)
NEEDLES = 5
"""How many sentences of each class are planted, the surest ones."""
POSITIONS = 5

COPIES = (2, 4)
"""How many times one sentence is planted, to see whether it is missed where it is repeated."""
LENGTH = 20
"""How many sentences such documents have."""
DOCUMENTS = 10
"""How many documents are made for each length and position."""
REPEATS = 20
"""How many documents are made for each number of times that a sentence stands in them."""
CANDIDATES = 2000
SHORTEST, LONGEST = 4, 40  # words of a sentence that may be planted, or stand around


@dataclass(frozen=True, slots=True)
class PlantedDocument:
    """A document with one telling sentence, and where it stands."""

    text: str
    span: Span
    number: int  # of the class that the sentence tells
    length: int
    position: int


@dataclass(frozen=True, slots=True)
class Sought:
    """What became of one planted sentence."""

    planted: PlantedDocument
    found: bool  # it has the largest score
    read: bool  # the model saw it
    answered: bool  # the document got its label


@dataclass(frozen=True, slots=True)
class Haystack:
    """Sentences that say little, and for each class some that say much."""

    hay: tuple[str, ...]
    needles: tuple[tuple[str, int], ...]

    @classmethod
    def of(cls, sentences: Sequence[str], likely: Floats) -> Haystack:
        """Sort sentences by what each alone makes the model say, (sentences, classes)."""
        surest = [np.argsort(-likely[:, number])[:NEEDLES] for number in range(likely.shape[1])]
        needles = tuple(
            (sentences[place], number)
            for number, places in enumerate(surest)
            for place in places.tolist()
            if likely[place].argmax() == number
        )
        usual = np.median(likely, axis=0)
        telling = np.abs(likely - usual).max(1)
        quiet = np.argsort(telling, kind="stable")[: max(1, len(sentences) // 2)]
        taken = {text for text, _ in needles}
        hay = tuple(sentences[place] for place in quiet.tolist() if sentences[place] not in taken)
        return cls(hay, needles)

    def plant(
        self, length: int, position: int, *, count: int, draw: np.random.Generator
    ) -> Iterator[PlantedDocument]:
        """Make documents of so many sentences with a needle at one position, from 0."""
        for _ in range(count):
            needle, number = self.needles[draw.integers(len(self.needles))]
            rest = draw.choice(len(self.hay), length - 1, replace=length - 1 > len(self.hay))
            sentences = [self.hay[place] for place in rest.tolist()]
            sentences.insert(position, needle)
            # A blank line ends a sentence, whatever it is made of.
            before = "".join(f"{sentence}\n\n" for sentence in sentences[:position])
            span = (len(before), len(before) + len(needle))
            yield PlantedDocument("\n\n".join(sentences), span, number, length, position)


def choose_places(length: int, cap: int | None) -> list[int]:
    """The positions to try in documents of one length; both sides of a cap are among them."""
    found = {round(step * (length - 1) / (POSITIONS - 1)) for step in range(POSITIONS)}
    if cap is not None and cap < length:
        found |= {cap - 1, cap}
    return sorted(found)


def seek(planted: PlantedDocument, explanation: Explanation, *, answered: bool) -> Sought:
    """See whether an explanation gives the planted sentence more than any other."""
    sentences = explanation.decisions[0].level("sentence")
    if sentences is None:
        return Sought(planted, found=False, read=False, answered=answered)
    inside = np.array(
        [start < planted.span[1] and end > planted.span[0] for start, end in sentences.pieces],
        dtype=bool,
    )
    amounts = np.array(sentences.amounts)
    read = bool(inside.any())
    # More than any other: where all are equal nothing has been found.
    others = float(amounts[~inside].max(initial=-np.inf))
    found = read and float(amounts[inside].max()) > others
    return Sought(planted, found=found, read=read, answered=answered)


def count_cell(found: Sequence[Sought]) -> NeedleCell:
    """Count what became of the sentences planted at one position of one length."""
    return NeedleCell(
        length=found[0].planted.length,
        position=found[0].planted.position,
        documents=len(found),
        found=sum(one.found for one in found),
        unread=sum(not one.read for one in found),
        answered=sum(one.answered for one in found),
    )


@dataclass(frozen=True, slots=True)
class RepeatedDocument:
    """A document that holds one telling sentence several times, and where."""

    text: str
    spans: tuple[Span, ...]
    number: int  # of the class that the sentence tells


def plant_copies(
    stack: Haystack, copies: int, *, count: int, draw: np.random.Generator
) -> Iterator[RepeatedDocument]:
    """Make documents of ``LENGTH`` sentences with a needle so many times, at places drawn."""
    for _ in range(count):
        needle, number = stack.needles[draw.integers(len(stack.needles))]
        chosen = draw.choice(len(stack.hay), LENGTH, replace=len(stack.hay) < LENGTH)
        sentences = [stack.hay[place] for place in chosen.tolist()]
        places = sorted(draw.choice(LENGTH, copies, replace=False).tolist())
        for place in places:
            sentences[place] = needle
        # A blank line stands between two sentences.
        starts = np.cumsum([0, *(len(sentence) + 2 for sentence in sentences)]).tolist()
        spans = tuple((starts[place], starts[place] + len(needle)) for place in places)
        yield RepeatedDocument("\n\n".join(sentences), spans, number)


def measure_recall(planted: RepeatedDocument, explanation: Explanation) -> Measured:
    """Return the share of the copies that are among as many heaviest sentences."""
    copies = len(planted.spans)
    chance = copies / LENGTH
    sentences = explanation.decisions[0].level("sentence")
    if sentences is None:
        return Measured(0.0, chance)
    inside = np.array(
        [
            any(start < last and end > first for first, last in planted.spans)
            for start, end in sentences.pieces
        ],
        dtype=bool,
    )
    amounts = np.array(sentences.amounts)
    # Of equal scores the hay comes first: where all are equal nothing has been found.
    heaviest = np.lexsort((inside, -amounts))[:copies]
    return Measured(float(inside[heaviest].sum()) / copies, chance)


@dataclass(frozen=True, slots=True)
class NeedleResult:
    """The map of blind spots, recall over all of it, and where a sentence stands repeatedly."""

    map: NeedleMap
    recall: Metric
    repeated: tuple[Metric, ...] = ()


def needle_test(
    fitted: Fitted, texts: Sequence[str], *, method: str, seed: int = 0
) -> NeedleResult | None:
    """Plant sentences of the texts and look for them; None where too few can be planted."""
    draw = np.random.default_rng(seed)
    sentences = _gather_sentences(fitted, texts, draw)
    if len(sentences) < 2:
        return None
    stack = Haystack.of(sentences, fitted.likely(sentences))
    if not stack.hay or not stack.needles:
        return None
    cap = fitted.reader.text.max_sentences
    found: list[list[Sought]] = []
    for length in LENGTHS if cap is None else sorted({*LENGTHS, 2 * cap}):
        for position in choose_places(length, cap):
            planted = list(stack.plant(length, position, count=DOCUMENTS, draw=draw))
            found.append(_seek(fitted, planted, method))
    measured = [Measured(float(one.found), 1 / one.planted.length) for row in found for one in row]
    return NeedleResult(
        NeedleMap(method, tuple(map(count_cell, found))),
        mean_metric("needle_recall", measured, seed=seed),
        tuple(_recall_repeated(fitted, stack, method=method, seed=seed)),
    )


def _recall_repeated(
    fitted: Fitted, stack: Haystack, *, method: str, seed: int
) -> Iterator[Metric]:
    """Recall of a sentence that stands several times, for each number of times."""
    if (fitted.reader.text.max_sentences or LENGTH) < LENGTH:
        return  # the map says what is not read
    for copies in COPIES:
        name = f"needle_recall_{copies}"
        draw = np.random.default_rng([seed, copies])
        planted = list(plant_copies(stack, copies, count=REPEATS, draw=draw))
        explained = _explain(fitted, planted, method)
        found = [
            measure_recall(one, explanation)
            for one, (explanation, _) in zip(planted, explained, strict=True)
        ]
        yield mean_metric(name, found, seed=seed)


def _gather_sentences(fitted: Fitted, texts: Sequence[str], draw: np.random.Generator) -> list[str]:
    """Sentences of the texts that are one sentence alone too, each once."""
    found: dict[str, None] = {}
    for tokens in tokenize_many(texts, fitted.reader.text):
        for (start, end), words in zip(tokens.sentence_spans(), tokens.per_sentence, strict=True):
            if SHORTEST <= words <= LONGEST:
                found.setdefault(" ".join(tokens.text[start:end].split()))
    listed = list(found)
    some = [listed[place] for place in draw.permutation(len(listed))[:CANDIDATES].tolist()]
    alone = tokenize_many(some, fitted.reader.text)
    return [text for text, tokens in zip(some, alone, strict=True) if len(tokens.per_sentence) == 1]


def _seek(fitted: Fitted, planted: list[PlantedDocument], method: str) -> list[Sought]:
    return [
        seek(one, explanation, answered=answered)
        for one, (explanation, answered) in zip(
            planted, _explain(fitted, planted, method), strict=True
        )
    ]


def _explain(
    fitted: Fitted, planted: Sequence[PlantedDocument | RepeatedDocument], method: str
) -> list[tuple[Explanation, bool]]:
    """What each document gives for the label that was planted, and whether it got that label."""
    found: dict[int, tuple[Explanation, bool]] = {}
    for spots, answers in fitted.answers([one.text for one in planted]):
        chosen = tuple((planted[spot].number,) for spot in spots)
        explained = METHODS[method].explain(replace(answers, chosen=chosen))
        for row, spot in enumerate(spots):
            number = planted[spot].number
            answered = bool(answers.decided(answers.probabilities[row : row + 1], number)[0])
            found[spot] = explained[row], answered
    return [found[spot] for spot in range(len(planted))]
