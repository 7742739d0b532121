"""A fitted classifier and a corpus to what its attention does there, in bounded memory.

How evenly it spreads its weight, which sentences decide for each class, and which labels are
perhaps wrong; how the weight of a word changes with its context is in ``context``.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from ..errors import ConfigError, DataError, nearest
from ..explain.answers import Answers
from ..explain.attention import pooling_layer, shares
from ..explain.erasing import erasers
from ..explain.erasure import without_each_sentence
from ..explain.fitted import Fitted, HasFitted, Question
from ..models.reader import chunks
from ..nn.rows import row_sum
from ..ragged import Ragged
from ..records.explanation import FAITHFUL, NOT_MEASURED, WEAK, ClassName, Receipt
from ..records.look import ClassSentences, Deciding, Evenness, Look, Suspect
from ..text.document import Document
from ..text.vocab import UNKNOWN
from .context import ContextTally

__all__ = [
    "Decided",
    "DecidingTally",
    "SpreadTally",
    "Watch",
    "entropies",
    "find_deciding_sentences",
    "look",
]

T = TypeVar("T")
SURE = 0.9
"""How probable an answer must be for its disagreement with a label to count."""
MEASURED = 50
"""How many of the surest disagreements have their reasons measured."""
SUGGESTED = 5_000  # the commonest words, among which a misspelt one is looked for
EVENNESS_BINS = 20
UNIFORM = 0.99
"""From this evenness on, weights are as good as uniform."""
LISTED = 12
"""How many deciding sentences are kept for each class."""
SHOWN_DOCUMENTS = 5
LEAST = 1e-6  # what a model in single precision loses by rounding alone is no loss
LONGEST = 400  # characters of a sentence that are kept


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
        for suspect in watch(
            (_measure_dispute(fitted, dispute) for dispute in disputes), "measured"
        )
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
        self.context = ContextTally(fitted.reader.vocab.words, _find_words(fitted, words))
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
            truth = set(map(str, self.fitted.labels.named(document.label)))
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


def _measure_dispute(fitted: Fitted, dispute: _Dispute) -> Suspect:
    """Ask for the reasons of one answer and how well they hold."""
    question = Question(label=dispute.answer)
    explanation = fitted.explain([dispute.document.text], question)[0]
    receipt = explanation.receipt
    labels = fitted.labels.named(dispute.document.label)
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


def _find_words(fitted: Fitted, words: Sequence[str]) -> list[str]:
    """The words that someone asked for as the vocabulary writes them, each once.

    One that the model reads in several tokens, as it does Chinese, must have tokens it knows.
    """
    vocab = fitted.reader.vocab
    found: list[str] = []
    for word in words:
        ids = vocab.encode([word]).ids.tolist()
        alike = vocab.read_as([word]).get(word)
        if not ids or alike or UNKNOWN in ids or (len(ids) > 1 and word.isascii()):
            near = alike or nearest(word, vocab.words[2:SUGGESTED])
            said = f"did you mean {near!r}?" if near else "choose a word of the training texts"
            raise ConfigError(f"the model knows no word {word!r}; {said}")
        found.append(vocab.words[ids[0]] if len(ids) == 1 else word)
    return list(dict.fromkeys(found))


def entropies(weights: Ragged) -> Tensor:
    """Return the entropy of each row of shares, in nats, (rows,); an empty row has none."""
    logs = torch.where(weights.values > 0, weights.values, 1.0).log()
    return -row_sum(weights.with_values(weights.values * logs))


class SpreadTally:
    """Counts how even the attention is, batch by batch."""

    def __init__(self) -> None:
        self._found: dict[str, list[Tensor]] = {}  # (rows, 2): entropy, items

    def add(self, answers: Answers) -> None:
        """Look at the attention of one batch."""
        for level, over in (("word", "token"), ("sentence", "sentence")):
            layer = pooling_layer(answers, over)
            if layer is not None:
                weights = shares(layer)
                weights = _add_up_words(weights, answers) if level == "word" else weights
                self._found.setdefault(level, []).append(_measure_rows(weights))

    def spreads(self) -> tuple[Evenness, ...]:
        """Return what was counted, one record a level; none for a level without rows."""
        found = ((level, torch.cat(parts)) for level, parts in self._found.items())
        return tuple(_spread(level, rows) for level, rows in found if len(rows))


def _add_up_words(weights: Ragged, answers: Answers) -> Ragged:
    """The weights of words, where some of the weights are those of their characters."""
    texts = answers.batch.texts
    if all(text.per_word is None for text in texts):
        return weights
    sizes = torch.from_numpy(
        np.concatenate([text.sum_by_word(np.ones(len(text))) for text in texts])
    )
    words = torch.arange(len(sizes)).repeat_interleave(sizes.long())
    summed = weights.values.new_zeros(len(sizes), weights.values.shape[1])
    first = (sizes.cumsum(0) - sizes).long()
    lengths = weights.row_ids[first].bincount(minlength=len(weights))
    return Ragged(summed.index_add_(0, words, weights.values), lengths)


def _measure_rows(weights: Ragged) -> Tensor:
    """Entropy and item count of each row that leaves a choice; of several hops the mean."""
    mean = weights.with_values(weights.values.mean(1))
    pairs = torch.stack([entropies(mean), mean.lengths.double()], dim=1)
    return pairs[mean.lengths > 1]


def _spread(level: str, rows: Tensor) -> Evenness:
    entropy, items = rows.unbind(1)
    evenness = (entropy / items.log()).clamp(0, 1)
    return Evenness(
        level=level,
        rows=len(rows),
        mean_items=float(items.mean()),
        effective_items=float(entropy.exp().mean()),
        evenness=float(evenness.mean()),
        uniform_rows=float((evenness >= UNIFORM).double().mean()),
        bins=tuple(torch.histc(evenness, EVENNESS_BINS, 0.0, 1.0).long().tolist()),
    )


@dataclass(frozen=True, slots=True)
class Decided:
    """The sentence of one document without which one of its answers loses most."""

    place: int  # of the document in its batch
    answer: int  # number of the class
    text: str
    drop: float
    flips: bool


def find_deciding_sentences(answers: Answers) -> Iterator[Decided]:
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
        for number in answers.answered(place):
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
        for place in range(len(places)):
            self._answered.update(answers.answered(place))
        for found in find_deciding_sentences(answers):
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
