"""What has been fitted, as all who ask it need it: texts in, answers and explanations out.

An estimator makes one of itself. Explanations, audits, looks and comparisons know nothing else of
estimators.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from ..config import require, require_one_of
from ..data.batch import Batch
from ..data.labels import LabelIndex
from ..data.readers import read_strings
from ..errors import ConfigError, suggestion
from ..models.base import Model
from ..models.reader import TextReader, chunks
from ..records.explanation import ClassName, Explanation
from ..records.weights import Span
from ..tasks.classify import probabilities
from ..text.document import Tokens
from .answers import Answers, holding, likeliest
from .erasing import answer, erasers
from .methods import DEFAULT_METHOD, METHODS
from .receipts import with_receipts
from .shares import with_shares

__all__ = ["Fitted", "HasFitted", "Question"]


@dataclass(frozen=True, slots=True)
class Question:
    """What to explain about each text, and how."""

    method: str = "default"
    label: ClassName | None = None  # None: whatever the answer is
    against: ClassName | None = None  # for a contrast; None: the likeliest other label
    receipt: bool = True  # whether to measure how faithful the explanation is


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """A trained network, how it reads texts, and what it means by its numbers."""

    model: Model
    reader: TextReader
    labels: LabelIndex
    temperature: float = 1.0
    default_method: str = DEFAULT_METHOD  # of explanation: what "default" stands for
    network: str = ""  # what kind of network it is

    def likely(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return the probability of each class, (texts, classes)."""
        with self.reader.kept.in_use():  # all of it is one call
            return np.concatenate([np.zeros((0, len(self.labels))), *self.stream(texts)])

    def stream(self, texts: Iterable[str]) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities of texts chunk by chunk, (texts, classes)."""
        for answered in self.reader.stream(self.model, texts):
            logits, multilabel = answered.logits.double(), self.labels.multilabel
            yield probabilities(logits, multilabel, temperature=self.temperature).numpy()

    def likely_without(
        self, texts: Sequence[str], spans: Sequence[Sequence[Span]]
    ) -> NDArray[np.float64]:
        """Return the probability of each class of texts without words, (texts, classes).

        Of each text the words in some spans of it are taken out as erasure does it: the others
        stay in their sentences.
        """
        found = np.zeros((len(texts), len(self.labels)))
        self.model.eval()
        for read in self.reader.batches(texts):
            made = zip(read.places, erasers(self.model, read.batch), read.batch.texts, strict=True)
            asked = [
                eraser.keep_words(text.words_outside(spans[place])[np.newaxis])
                for place, eraser, text in made
            ]
            logits, multilabel = torch.cat(answer(asked)), self.labels.multilabel
            likely = probabilities(logits, multilabel, temperature=self.temperature)
            found[list(read.places)] = likely.numpy()
        return found

    def labels_from(self, likely: NDArray[np.float64]) -> NDArray[np.generic]:
        """Return the labels, by name, that these probabilities, (texts, classes), stand for."""
        names = self.labels.array
        if not self.labels.multilabel:
            return names[likely.argmax(axis=1)]
        rows = np.empty(len(likely), dtype=object)
        for place, row in enumerate(likely):
            rows[place] = tuple(names[row > 0.5].tolist())
        return rows

    def answers(
        self,
        texts: Sequence[str],
        question: Question = Question(),
    ) -> Iterator[tuple[tuple[int, ...], Answers]]:
        """Answer texts in batches; with each batch come the places of its texts."""
        label, against = self._number(question.label), self._number(question.against)
        require(
            against is None or against != label,
            "a label cannot be contrasted with itself; "
            f"label and against are both {question.label!r}",
        )
        for read in self.reader.batches(texts):
            answers = self.answer(read.batch)
            chosen = answers.chosen if label is None else ((label,),) * len(read.places)
            yield (
                read.places,
                replace(answers, complete=read.complete, chosen=chosen, against=against),
            )

    def answer(self, batch: Batch) -> Answers:
        """Answer one batch; what is answered is what will be explained."""
        if self.model.training:
            self.model.eval()
        with torch.no_grad():
            output = self.model(batch)
        multilabel, temperature = self.labels.multilabel, self.temperature
        likely = probabilities(output.logits.double(), multilabel, temperature=temperature).cpu()
        return Answers(
            model=self.model,
            batch=batch,
            output=output,
            probabilities=likely,
            classes=self.labels.classes,
            chosen=holding(likely) if multilabel else likeliest(likely),
            multilabel=multilabel,
            temperature=temperature,
        )

    def explain(
        self,
        texts: Iterable[str],
        question: Question = Question(),
    ) -> list[Explanation]:
        """Explain the answer about each text, in the order of the texts."""
        name = self.default_method if question.method == "default" else question.method
        require_one_of("method", name, METHODS)
        require(
            question.against is None or name == "contrast",
            f"against={question.against!r} is for the method contrast, not for {name}",
        )
        found: list[Explanation] = []
        for some in chunks(read_strings(texts)):
            placed: dict[int, Explanation] = {}
            for places, answers in self.answers(some, question):
                explained = with_shares(answers, METHODS[name].explain(answers))
                if question.receipt:
                    explained = with_receipts(answers, explained)
                told = map(self._with_readings, explained, answers.batch.texts)
                placed |= zip(places, told, strict=True)
            found += [placed[place] for place in range(len(some))]
        return found

    def _with_readings(self, found: Explanation, text: Tokens) -> Explanation:
        """Say which words of a text are not in the vocabulary and read as others."""
        words = text.words()
        known_as = self.reader.vocab.read_as(words)
        if not known_as:
            return found
        whole = set(text.word_spans())  # and not a part of what people see as a word
        readings = tuple(
            ((start, end), known_as[word])
            for word, (start, end) in zip(words, text.spans.tolist(), strict=True)
            if word in known_as and (start, end) in whole
        )
        unknown = {*found.unknown, *(span for span, _ in readings)}
        return replace(found, unknown=tuple(sorted(unknown)), read_as=readings)

    def _number(self, label: ClassName | None) -> int | None:
        """The number of a class; on the command line whole numbers are texts too."""
        names = [str(name) for name in self.labels.classes]
        if label is None or str(label) in names:
            return None if label is None else names.index(str(label))
        raise ConfigError(f"the model knows no label {label!r}; {suggestion(str(label), names)}")


class HasFitted(Protocol):
    """An estimator that has been fitted."""

    @property
    def fitted_(self) -> Fitted:
        """What has been fitted."""
        ...
