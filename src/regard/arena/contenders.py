"""Who competes: one line of ``CONTENDERS`` each.

A contender knows how it is trained on documents and how it is loaded again from where it was saved.
What is trained answers texts with probabilities; where it can also explain, it is asked how
faithful that is. Nothing else is asked of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from ..config import Plain, checked_settings
from ..data.batch import Batch
from ..data.labels import LabelIndex
from ..errors import MissingExtra
from ..estimators.classifier import DocumentClassifier
from ..estimators.fitting import FitOptions
from ..estimators.named import classifier_from
from ..estimators.recipes import find_recipe
from ..models.base import Impose, Model, Output
from ..models.fasttext import FastTextConfig
from ..models.wide import WideConfig
from ..models.words import WordEmbedding
from ..ragged import Ragged
from ..records.explanation import ClassName, Decision, Explanation
from ..records.weights import Weights, sum_by
from ..tasks.baselines import TfidfBaseline
from ..text.document import Document, single_labels
from ..text.pieces import require_tokenizers
from ..text.tokenize import join_words, tokenize
from ..training.config import TrainingConfig
from ..training.interrupts import Interrupts
from ..training.observers import Observer
from .voting import VotingClassifier

__all__ = ["CONTENDERS", "Candidate", "Contender", "Explaining", "Lesson", "of_recipe"]


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a contender is given to learn from."""

    documents: Sequence[Document]  # each with its label
    seed: int
    device: str = "cpu"
    observers: tuple[Observer, ...] = ()
    interrupts: Interrupts | None = None  # where Ctrl-C is noted


class Candidate(Protocol):
    """What was trained: an estimator of ours is one, and so is what has these four."""

    @property
    def classes_(self) -> Iterable[object]:
        """The labels, in the order of the probabilities."""
        ...

    @property
    def facts_(self) -> Mapping[str, Plain]:
        """What is known of it; under "parameters" how many weights it has."""
        ...

    def predict_proba(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return the probability of each label, (texts, labels)."""
        ...

    def save(self, folder: Path | str) -> None:
        """Write it to a folder from which its contender can load it."""
        ...


@runtime_checkable
class Explaining(Protocol):
    """A candidate that says what decided."""

    def explain(self, texts: Sequence[str], *, receipt: bool = True) -> list[Explanation]:
        """Return an explanation of each answer, which ranks the words of the text."""
        ...


@dataclass(frozen=True)
class Contender:
    """One way to classify documents, by the name that ``--models`` takes."""

    name: str
    title: str
    train: Callable[[Lesson], Candidate]
    load: Callable[[Path, str], Candidate]  # from a folder, to a device
    ours: bool = False  # whether it is one of our recipes
    draws: bool = True  # whether another seed makes another model
    settings: str = ""  # where these change, kept trainings are trained again
    missing: Callable[[], str] = lambda: ""  # why it cannot be trained here, if it cannot


# Networks as they were published, without n-grams, and our recipes with them.


def _fit(classifier: DocumentClassifier, lesson: Lesson, recipe: str) -> DocumentClassifier:
    options = FitOptions(
        observers=lesson.observers, recipe=find_recipe(recipe), interrupts=lesson.interrupts
    )
    return classifier.fit_documents(lesson.documents, options=options)


def _train_network(lesson: Lesson, network: str, changes: Sequence[str], recipe: str) -> Candidate:
    wide = "off" if recipe == "" else "on"
    seeded = [*changes, f"training.seed={lesson.seed}"]
    named = recipe or "balanced"
    classifier = classifier_from(network, seeded, device=lesson.device, wide=wide, recipe=named)
    return _fit(classifier, lesson, named)


def _load(folder: Path, device: str) -> Candidate:
    own = {SilentConfig.name: SilentConfig, FastTextConfig.name: FastTextConfig}
    return DocumentClassifier.load(folder, device=device, models=own)


def of_network(name: str, title: str, network: str = "han", *changes: str) -> Contender:
    """A network of ours by itself, with the usual settings changed as asked."""
    train = partial(_train_network, network=network, changes=changes, recipe="")
    return Contender(name, title, train, _load, settings=" ".join([network, *changes]))


def of_recipe(name: str) -> Contender:
    """What ``regard train --recipe`` makes."""
    train = partial(_train_network, network="han", changes=(), recipe=name)
    said = str(find_recipe(name).changes)
    return Contender(name, f"regard {name}", train, _load, ours=True, settings=said)


# What reads through a BERT, whose folder the environment names.

BERT_VARIABLE = "REGARD_BERT"


def of_bert(name: str, title: str, *changes: str) -> Contender:
    """A HAN over the BERT whose folder ``REGARD_BERT`` names."""
    return Contender(
        name,
        title,
        partial(_train_over_bert, changes=changes),
        _load,
        settings=" ".join([*changes, os.environ.get(BERT_VARIABLE, "")]),
        missing=_missing_bert,
    )


def _train_over_bert(lesson: Lesson, changes: Sequence[str]) -> Candidate:
    folder = f"network.folder={os.environ[BERT_VARIABLE]}"
    return _train_network(lesson, "bert-han", [folder, *changes], "")


def _missing_bert() -> str:
    if not os.environ.get(BERT_VARIABLE):
        return f"{BERT_VARIABLE} names no folder of a BERT, such as MiniLM's"
    try:
        require_tokenizers()
    except MissingExtra as problem:
        return str(problem)
    return ""


# Pieces that vote, each trained as if it were the document.


def _train_votes(lesson: Lesson) -> Candidate:
    seeded = [f"training.seed={lesson.seed}", "training.epochs=3", "training.batch_size=512"]
    classifier = classifier_from("han", seeded, device=lesson.device, wide="off")
    options = FitOptions(
        observers=lesson.observers, interrupts=lesson.interrupts, choose_method=False
    )
    return VotingClassifier(classifier).fit_documents(lesson.documents, options=options)


def _load_votes(folder: Path, device: str) -> Candidate:
    return VotingClassifier.load(folder, device=device)


# N-grams alone: beside them stands a network that says nothing.


@dataclass(frozen=True)
@checked_settings
class SilentConfig:
    """A network that says nothing, so that the n-grams beside it stand alone."""

    name: ClassVar[str] = "silent"

    def build(self, *, vocab_size: int, label_count: int) -> Model:
        """Make it; it has nothing to learn but what it is asked to have."""
        return _Silent(vocab_size, label_count)


class _Silent(Model):
    def __init__(self, vocab_size: int, label_count: int) -> None:
        super().__init__()
        self.embedding = WordEmbedding(vocab_size, 1)
        self.nothing = nn.Parameter(torch.zeros(1, label_count), requires_grad=False)
        nn.init.zeros_(self.embedding.weight)

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Say of every document that all labels are alike."""
        owners = batch.by_document.row_ids
        nothing = words.values.new_zeros(len(batch), 1).index_add(0, owners, 0.0 * words.values)
        return Output(nothing + self.nothing)


def _train_ngrams(lesson: Lesson) -> Candidate:
    training = TrainingConfig(epochs=1, seed=lesson.seed)
    return _fit(
        DocumentClassifier(
            SilentConfig(), training=training, wide=WideConfig(), device=lesson.device
        ),
        lesson,
        "fast",
    )


# fastText, with about the passes and rates that its authors use; it has no attention to compare.


def _train_fasttext(lesson: Lesson) -> Candidate:
    training = TrainingConfig(epochs=10, batch_size=16, learning_rate=0.03, seed=lesson.seed)
    classifier = DocumentClassifier(
        FastTextConfig(), training=training, wide=None, device=lesson.device
    )
    options = FitOptions(
        observers=lesson.observers,
        recipe=find_recipe("fast"),
        interrupts=lesson.interrupts,
        choose_method=False,
    )
    return classifier.fit_documents(lesson.documents, options=options)


# Plain methods, from the raw texts.


class _Linear:
    """TF-IDF with a linear model, or the most frequent class alone."""

    def __init__(self, fitted: TfidfBaseline, classes: tuple[ClassName, ...]) -> None:
        self.fitted, self.classes_ = fitted, classes
        self.facts_: Mapping[str, Plain] = {"parameters": fitted.coefficients.size + len(classes)}

    @classmethod
    def train(cls, lesson: Lesson) -> Candidate:
        texts = [document.text for document in lesson.documents]
        labels = [document.label for document in lesson.documents if document.label is not None]
        index = LabelIndex.from_labels(labels)
        numbers = index.encode(labels).astype(np.int64)
        fitted = TfidfBaseline.fit(texts, numbers, class_count=len(index))
        return cls(fitted, index.classes)

    @classmethod
    def load(cls, folder: Path, device: str) -> Candidate:
        fitted = TfidfBaseline.load(folder)
        assert fitted is not None, "a contender is loaded from where it was saved"
        return cls(fitted, tuple(json.loads((folder / _CLASSES).read_text())))

    def predict_proba(self, texts: Iterable[str]) -> NDArray[np.float64]:
        return self.fitted.predict_proba(list(texts))

    def save(self, folder: Path | str) -> None:
        self.fitted.save(Path(folder))
        (Path(folder) / _CLASSES).write_text(json.dumps(self.classes_))

    def explain(self, texts: Sequence[str], *, receipt: bool = True) -> list[Explanation]:
        """Return what each word, and the pairs it stands in, add to the likeliest label."""
        return [
            self._explain(text, row)
            for text, row in zip(texts, self.predict_proba(texts), strict=True)
        ]

    def _explain(self, text: str, likely: NDArray[np.float64]) -> Explanation:
        number, tokens = int(likely.argmax()), join_words(tokenize(text))
        scores = tokens.sum_by_word(self.fitted.word_weights(tokens.words(), number)).tolist()
        words = Weights.from_scores("word", tokens.word_spans(), scores, unit="log-odds")
        weights = (words, sum_by(words, tokens.sentence_spans()))
        decision = Decision(self.classes_[number], float(likely[number]), weights)
        return Explanation(text, "linear weights", (decision,))


class _Majority:
    """Always the most frequent class."""

    facts_: ClassVar[Mapping[str, Plain]] = {"parameters": 0}

    def __init__(self, shares: Mapping[str, float]) -> None:
        self.shares, self.classes_ = dict(shares), tuple(shares)

    @classmethod
    def train(cls, lesson: Lesson) -> Candidate:
        labels = [document.label for document in lesson.documents if document.label is not None]
        names = [str(one) for label in labels for one in single_labels(label)]
        classes = map(str, LabelIndex.from_labels(labels).classes)
        return cls({name: names.count(name) / len(labels) for name in classes})

    @classmethod
    def load(cls, folder: Path, device: str) -> Candidate:
        return cls(json.loads((folder / _CLASSES).read_text()))

    def predict_proba(self, texts: Iterable[str]) -> NDArray[np.float64]:
        return np.tile(list(self.shares.values()), (len(list(texts)), 1))

    def save(self, folder: Path | str) -> None:
        (Path(folder) / _CLASSES).write_text(json.dumps(self.shares))


_CLASSES = "classes.json"

CONTENDERS: dict[str, Contender] = {
    contender.name: contender
    for contender in (
        Contender("majority", "most frequent class", _Majority.train, _Majority.load, draws=False),
        Contender("tfidf", "TF-IDF + linear", _Linear.train, _Linear.load, draws=False),
        Contender("ngrams", "n-grams alone", _train_ngrams, _load),
        Contender("fasttext", "fastText, pairs of words", _train_fasttext, _load),
        of_recipe("fast"),
        of_recipe("balanced"),
        of_recipe("accurate"),
        of_network("glass-box", "glass box", "han", "network.encoder=none"),
        of_network("flat", "flat RNN", "flat"),
        of_network("han-mean", "HAN (mean)", "han", "network.pooling=mean"),
        of_network("han-max", "HAN (max)", "han", "network.pooling=max"),
        of_network("han", "HAN (attention)"),
        of_network("cahan", "CAHAN", "cahan"),
        of_network("structured", "structured attention", "han", "network.pooling=structured"),
        of_network(
            "hierarchical-transformer",
            "hierarchical transformer",
            "hierarchical-transformer",
            "training.learning_rate=1e-3",
            "training.warmup=0.1",
        ),
        Contender("vote", "sentences that vote", _train_votes, _load_votes),
        of_bert(
            "minilm",
            "HAN over BERT (frozen)",
            "network.tuned_layers=0",
            "network.word_pooling=mean",
            "network.weighing=states",
            "training.learning_rate=2e-3",
        ),
        of_bert(
            "bert-han",
            "HAN over BERT (tuned)",
            "network.reading=flow",
            "network.bert_rate=1e-4",
            "training.learning_rate=1e-3",
            "training.optimizer=adamw",
            "training.warmup=0.1",
            "training.epochs=3",
            "training.batch_size=32",
        ),
    )
}
"""Every contender by its name; a new one is a line here. A budget of time cuts the last ones."""
