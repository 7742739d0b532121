"""The baseline that classifies pieces of a document, and lets them vote.

No piece is ever told what the document as a whole is about: each is trained, and each answers, as
if it were the document. It is what is left to do with a network that reads a few hundred words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..config import Plain, require, require_one_of
from ..data.readers import read_texts
from ..errors import ModelError
from ..estimators.classifier import DocumentClassifier
from ..estimators.fitting import FitOptions
from ..estimators.label_forms import LabelForm
from ..files import write_file
from ..text.document import Document
from ..text.tokenize import TextConfig, tokenize

__all__ = ["RULES", "VotingClassifier", "cut_pieces"]

Floats = NDArray[np.float64]
_ABOUT, _MODEL = "voting.json", "pieces"
_DOCUMENT = "\0document"  # a column of pieces that no file has: which document each is of


def _vote(likely: Floats) -> Floats:
    chosen = np.bincount(likely.argmax(1), minlength=likely.shape[1])
    return chosen / len(likely)


def _mean(likely: Floats) -> Floats:
    found: Floats = likely.mean(0)
    return found


def _max(likely: Floats) -> Floats:
    highest: Floats = likely.max(0)
    return highest / highest.sum()


RULES: dict[str, Callable[[Floats], Floats]] = {"vote": _vote, "mean": _mean, "max": _max}
"""Every way to make one answer of those of the pieces, (pieces, classes), by its name.

``vote``: the share of pieces with that label; ``mean``: of their probabilities; ``max``: those of
the piece that is surest of each label.
"""


class VotingClassifier:
    """Trains any of our classifiers on pieces of documents, and lets the pieces of a text vote.

    A piece is a sentence, or with ``words`` as many sentences in a row as have so many words; a
    longer sentence is a piece of its own. ``rule`` may be changed after the fit.
    """

    def __init__(
        self,
        classifier: DocumentClassifier,
        *,
        rule: Literal["vote", "mean", "max"] = "vote",
        words: int | None = None,
    ) -> None:
        require_one_of("rule", rule, RULES)
        require(words is None or words >= 1, f"words must be at least 1, got {words}")
        self.classifier, self.rule, self.words = classifier, rule, words

    def fit(self, texts: Iterable[str], labels: Iterable[object]) -> Self:
        """Train on texts and their labels; every piece has the label of its document."""
        form, named = LabelForm.of(labels)
        options = FitOptions(label_form=form, choose_method=False)
        return self.fit_documents(read_texts(texts, named), options=options)

    def fit_documents(
        self,
        documents: Iterable[Document],
        *,
        options: FitOptions = FitOptions(choose_method=False),  # noqa: B008
    ) -> Self:
        """Train on a stream of documents, of each of which all pieces are held out or none."""
        if options.split == "random":
            columns = replace(options.columns, group=_DOCUMENT)
            options = replace(options, split="group", columns=columns)
        pieces = (
            replace(document, text=piece, fields={**document.fields, _DOCUMENT: number})
            for number, document in enumerate(documents)
            for piece in self._cut(document.text)
        )
        self.classifier.fit_documents(pieces, options=options)
        return self

    @property
    def classes_(self) -> NDArray[np.generic]:
        """The labels, in the order of the probabilities."""
        return np.asarray(self.classifier.classes_)

    @property
    def facts_(self) -> Mapping[str, Plain]:
        """What is known of the classifier of pieces."""
        return self.classifier.facts_

    def predict_proba(self, texts: Iterable[str]) -> Floats:
        """Return what the pieces of each text say together, (texts, classes)."""
        pieces: list[str] = []
        counts: list[int] = []
        for text in texts:
            cut = self._cut(text)
            pieces += cut
            counts.append(len(cut))
        if not counts:
            return np.zeros((0, len(self.classes_)))
        likely = self.classifier.predict_proba(pieces)
        rows = np.split(likely, np.cumsum(counts)[:-1])
        return np.stack([RULES[self.rule](row) for row in rows])

    def predict(self, texts: Iterable[str]) -> NDArray[np.generic]:
        """Return the label of each text; of labels with as many votes, the first."""
        found: NDArray[np.generic] = self.classes_[self.predict_proba(texts).argmax(1)]
        return found

    def save(self, folder: Path | str) -> None:
        """Write the classifier of pieces, and how they vote."""
        self.classifier.save(Path(folder) / _MODEL)
        about = {"rule": self.rule, "words": self.words}
        write_file(Path(folder) / _ABOUT, json.dumps(about) + "\n")

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "auto") -> Self:
        """Read what ``save`` wrote."""
        path = Path(folder) / _ABOUT
        try:
            about = json.loads(path.read_text(encoding="utf-8"))
            rule, words = about["rule"], about["words"]
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise ModelError(f"{folder} holds no votes of pieces ({problem})") from problem
        classifier = DocumentClassifier.load(Path(folder) / _MODEL, device=device)
        return cls(classifier, rule=rule, words=words)

    def _cut(self, text: str) -> list[str]:
        return cut_pieces(text, self.classifier.text, words=self.words)


def cut_pieces(text: str, config: TextConfig, *, words: int | None = None) -> list[str]:
    """Cut a text at sentence ends into pieces of at most so many words; None: into sentences.

    All that is read of the text is in them. An empty text is one empty piece.
    """
    tokens = tokenize(text, config)
    pieces: list[str] = []
    first, filled = 0, 0
    spans = tokens.sentence_spans()
    for place, (_, end) in enumerate(spans):
        filled += int(tokens.per_sentence[place])
        following = int(tokens.per_sentence[place + 1]) if place + 1 < len(spans) else 0
        if words is None or place + 1 == len(spans) or filled + following > words:
            pieces.append(text[spans[first][0] : end])
            first, filled = place + 1, 0
    return pieces or [text]
