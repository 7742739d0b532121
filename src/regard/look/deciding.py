"""Which sentence decides each document, and which sentences decide each class of a corpus."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from ..explain.answers import Answers
from ..explain.erasing import erasers
from ..explain.leave_one_out import without_each_sentence
from ..records.explanation import ClassName
from ..records.look import ClassSentences, Deciding

__all__ = ["Decided", "DecidingTally", "deciding_sentences"]

LISTED = 12
"""How many sentences are kept for each class."""
SHOWN_DOCUMENTS = 5
LEAST = 1e-6  # what a model in single precision loses by rounding alone is no loss
LONGEST = 400  # characters of a sentence that are kept


@dataclass(frozen=True, slots=True)
class Decided:
    """The sentence of one document without which one of its answers loses most."""

    place: int  # of the document in its batch
    answer: int  # number of the class
    text: str
    drop: float
    flips: bool


def deciding_sentences(answers: Answers) -> Iterator[Decided]:
    """Leave out each sentence of each document and name the one that is missed most.

    A document in which no sentence is missed gives nothing. The sentence that is named was really
    left out; of a very long document only those are that seem to count.
    """
    for place, eraser in enumerate(erasers(answers.model, answers.batch)):
        if not eraser.sentence_count:
            continue
        found = without_each_sentence(eraser, lambda logits: logits)
        left = answers.likely(found.values)  # (sentences, classes)
        whole = answers.likely(eraser.whole())
        text = answers.batch.texts[place]
        spans = text.sentence_spans()
        for number in answers.chosen[place]:
            drops = whole[0, number] - left[:, number]
            best = int(found.places[drops[found.places].argmax()])
            if drops[best] > LEAST:
                start, end = spans[best]
                now = answers.decided(left[best : best + 1], number)
                flips = bool(now[0] != answers.decided(whole, number)[0])
                yield Decided(place, number, text.text[start:end], float(drops[best]), flips)


@dataclass(slots=True)
class _Sentence:
    """One sentence, however its capitals and spaces, over all documents that it decides."""

    text: str
    drops: list[float] = field(default_factory=list)
    flips: int = 0
    documents: list[int] = field(default_factory=list)

    def record(self) -> Deciding:
        mean = sum(self.drops) / len(self.drops)
        some = tuple(self.documents[:SHOWN_DOCUMENTS])
        return Deciding(self.text, len(self.drops), mean, self.flips, some)


class DecidingTally:
    """An index of the sentences that decide each class, filled batch by batch."""

    def __init__(self) -> None:
        self._answered: Counter[int] = Counter()
        self._sentences: dict[tuple[int, str], _Sentence] = {}

    def add(self, answers: Answers, places: Sequence[int]) -> None:
        """Take in one batch; ``places`` are those of its documents in the corpus."""
        self._answered.update(number for numbers in answers.chosen for number in numbers)
        for found in deciding_sentences(answers):
            text = " ".join(found.text.split())
            text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
            entry = self._sentences.setdefault((found.answer, text.casefold()), _Sentence(text))
            entry.drops.append(found.drop)
            entry.flips += found.flips
            entry.documents.append(places[found.place])

    def classes(self, names: Sequence[ClassName]) -> tuple[ClassSentences, ...]:
        """Return the index, the class that was answered most first."""
        by_class: dict[int, list[_Sentence]] = {}
        for (number, _), sentence in self._sentences.items():
            by_class.setdefault(number, []).append(sentence)
        found = []
        for number, count in self._answered.most_common():
            # What a sentence carries over the whole corpus: often and a little, or once and all.
            ranked = sorted(by_class.get(number, []), key=lambda one: -sum(one.drops))
            records = tuple(sentence.record() for sentence in ranked[:LISTED])
            found.append(ClassSentences(names[number], count, records))
        return tuple(found)
