"""A fitted classifier and a corpus to what its attention does there, in bounded memory."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

from ..errors import ConfigError, DataError, nearest
from ..explain.answers import Answers
from ..explain.fitted import Fitted, HasFitted, Question
from ..models.reader import chunks
from ..records.look import Look, Suspect
from ..records.receipt import FAITHFUL, NOT_MEASURED, WEAK, Receipt
from ..text.document import Document, single_labels
from ..text.vocab import UNKNOWN
from .context import ContextTally
from .deciding import DecidingTally
from .spread import SpreadTally

__all__ = ["Watch", "look"]

T = TypeVar("T")
SURE = 0.9
"""How probable an answer must be for its disagreement with a label to count."""
MEASURED = 50
"""How many of the surest disagreements have their reasons measured."""
SUGGESTED = 5_000  # the commonest words, among which a misspelt one is looked for


class Watch(Protocol):
    """Passes items on, counting them for someone who waits."""

    def __call__(self, items: Iterable[T], what: str) -> Iterable[T]:
        """Pass on ``items``; ``what`` is a past participle such as "read"."""
        ...


def look(
    classifier: HasFitted,
    documents: Iterable[Document],
    *,
    words: Sequence[str] = (),
    title: str = "",
    watch: Watch = lambda items, what: items,
) -> Look:
    """Look through a corpus: words in context, evenness, deciding sentences, doubtful labels.

    ``words`` are those to see in context; without any, those are shown whose weight depends most
    on the answer.
    """
    fitted = classifier.fitted_
    tally = _Tally(fitted, words)
    for chunk in chunks(watch(documents, "looked through")):
        tally.add(chunk)
    if not tally.count:
        raise DataError("there are no documents to look through")
    disputes = sorted(tally.disputes, reverse=True)
    suspects = [
        suspect
        for suspect in watch((_measured(fitted, dispute) for dispute in disputes), "measured")
        if suspect.verdict in (FAITHFUL, WEAK)
    ]
    classes = fitted.labels.classes
    return Look(
        documents=tally.count,
        words=tally.context.contexts(classes),
        spreads=tally.spread.spreads(),
        classes=tally.deciding.classes(classes),
        labelled=tally.labelled,
        disagreements=tally.disagreements,
        measured=len(disputes),
        suspects=tuple(sorted(suspects, key=lambda suspect: -suspect.strength)),
        sure=SURE,
        title=title,
    )


@dataclass(frozen=True, order=True, slots=True)
class _Dispute:
    """A sure answer that a label contradicts; ordered by how sure, equal ones by place."""

    probability: float
    minus_index: int
    answer: str
    document: Document = field(compare=False)

    @property
    def index(self) -> int:
        return -self.minus_index


class _Tally:
    """What has been seen so far: counts of everything, the texts of the surest disputes alone."""

    def __init__(self, fitted: Fitted, words: Sequence[str]) -> None:
        self.fitted = fitted
        self.context = ContextTally(fitted.reader.vocab.words, _ids(fitted, words))
        self.spread, self.deciding = SpreadTally(), DecidingTally()
        self.count = self.labelled = self.disagreements = 0
        self.disputes: list[_Dispute] = []

    def add(self, chunk: list[Document]) -> None:
        for places, answers in self.fitted.answers([one.text for one in chunk]):
            self.context.add(answers)
            self.spread.add(answers)
            self.deciding.add(answers, [self.count + place for place in places])
            self._dispute(answers, places, chunk)
        self.count += len(chunk)

    def _dispute(self, answers: Answers, places: Sequence[int], chunk: list[Document]) -> None:
        """Keep the surest answers that the labels contradict."""
        for row, place in enumerate(places):
            document = chunk[place]
            if document.label is None:
                continue
            self.labelled += 1
            truth = {str(name) for name in single_labels(document.label)}
            for number in answers.chosen[row]:
                likely = float(answers.probabilities[row, number])
                answer = str(answers.classes[number])
                if likely < SURE or answer in truth:
                    continue
                self.disagreements += 1
                found = _Dispute(likely, -(self.count + place), answer, document)
                heapq.heappush(self.disputes, found)
                if len(self.disputes) > MEASURED:
                    heapq.heappop(self.disputes)


def _measured(fitted: Fitted, dispute: _Dispute) -> Suspect:
    """Ask for the reasons of one answer and how well they hold."""
    question = Question(label=dispute.answer, receipt=True)
    explanation = fitted.explain([dispute.document.text], question)[0]
    receipt = explanation.receipt
    labels = single_labels(dispute.document.label)
    return Suspect(
        index=dispute.index,
        labels=labels,
        answer=explanation.label,
        probability=dispute.probability,
        verdict=receipt.verdict if receipt else NOT_MEASURED,
        comprehensiveness=_comprehensiveness(receipt) if receipt else 0.0,
        explanation=replace(explanation, true_labels=labels),
    )


def _comprehensiveness(receipt: Receipt) -> float:
    found = [one.value for one in receipt.measures if one.name == "comprehensiveness"]
    return sum(found) / len(found) if found else 0.0


def _ids(fitted: Fitted, words: Sequence[str]) -> list[int]:
    """The ids of words that someone asked for, each once."""
    vocab = fitted.reader.vocab
    ids: list[int] = vocab.ids(words).tolist()
    for word, number in zip(words, ids, strict=True):
        if number == UNKNOWN:
            near = nearest(word, vocab.words[2:SUGGESTED])
            said = f"did you mean {near!r}?" if near else "choose a word of the training texts"
            raise ConfigError(f"the model knows no word {word!r}; {said}")
    return list(dict.fromkeys(ids))
