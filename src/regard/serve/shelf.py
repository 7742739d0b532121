"""The models a server has loaded, what each can be asked, and new versions in their place.

``KINDS`` says how a saved model is loaded and asked: a further task is one more entry of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.pictures import PictureFile, require_pillow
from ..errors import ConfigError, ModelError, RegardError, suggestion
from ..estimators.captioner import Captioner
from ..estimators.folder import CONFIG, task_of
from ..estimators.saved import Saved
from ..estimators.translator import Translator
from ..explain.fitted import Fitted, Question
from ..explain.methods import METHODS
from ..records.alignment import Alignment
from ..records.weights import Span
from .answers import write_caption, write_explanation, write_translations
from .gathering import Gatherer
from .settings import ServeSettings

__all__ = [
    "KINDS",
    "Kind",
    "Loaded",
    "PictureToCaption",
    "Shelf",
    "TextToErase",
    "TextToExplain",
    "TextToTranslate",
]

E = TypeVar("E")
Q = TypeVar("Q")
K = TypeVar("K")
A = TypeVar("A")
Answer = Callable[[Sequence[Any]], Sequence[Any]]
Watch = Callable[[str, Answer], Answer]
PAUSE = 2.0  # seconds between two looks at the folders


@dataclass(frozen=True, slots=True)
class TextToExplain:
    """A text, and what to explain about it."""

    text: str
    question: Question
    page: str | None = None  # the title of a page, where that is wanted; None: JSON

    @property
    def size(self) -> int:
        """How large it is, beside others of its kind."""
        return len(self.text)


@dataclass(frozen=True, slots=True)
class TextToErase:
    """A text to label without the words in some spans of it."""

    text: str
    spans: tuple[Span, ...]

    @property
    def size(self) -> int:
        """How large it is, beside others of its kind."""
        return len(self.text)


@dataclass(frozen=True, slots=True)
class TextToTranslate:
    """A text, and how many translations of it are wanted."""

    text: str
    count: int
    receipt: bool
    page: str | None = None

    @property
    def size(self) -> int:
        """How large it is, beside others of its kind."""
        return len(self.text)


@dataclass(frozen=True, slots=True)
class PictureToCaption:
    """A picture to write about."""

    picture: PictureFile
    receipt: bool
    page: str | None = None

    @property
    def size(self) -> int:
        """How large it is, beside others of its kind."""
        return len(self.picture.content)


@dataclass(frozen=True)
class Kind(Generic[E]):
    """How the models of one task are loaded, and what they answer, each to many questions."""

    load: Callable[[Path, str], E]
    answers: Mapping[str, Callable[[E, Sequence[Any]], Sequence[Any]]]  # by endpoint
    describe: Callable[[E], dict[str, object]]


@dataclass(frozen=True, eq=False)
class Loaded:
    """A model in memory, with a queue for each thing it can be asked."""

    name: str
    task: str
    digest: str  # of the config.json it was loaded from, which has that of every file
    about: Mapping[str, object]
    queues: Mapping[str, Gatherer[Any, Any]]

    async def close(self) -> None:
        """Answer what is waiting and let go."""
        for queue in self.queues.values():
            await queue.close()


class Shelf:
    """The models of a server by name, each replaced when its folder has a new version."""

    def __init__(self, settings: ServeSettings) -> None:
        self._settings = settings
        self._models: dict[str, Loaded] = {}
        self.problems: dict[str, str] = {}  # why a new version was not taken

    def load(self, watch: Watch = lambda endpoint, answer: answer) -> None:
        """Load every model; the first that cannot be is an error.

        ``watch`` is put around what answers the questions of an endpoint.
        """
        self._watch = watch
        torch.set_num_threads(self._settings.threads)
        for name in self._settings.models:
            self._models[name] = self._load(name)

    def __iter__(self) -> Iterator[Loaded]:
        return iter(self._models.values())

    def find(self, name: str | None, endpoint: str) -> Loaded:
        """Return the model called ``name``, or the first that answers this."""
        able = {one.name: one for one in self if endpoint in one.queues}
        if name is None:
            if not able:
                raise ConfigError("no model here answers this")
            return next(iter(able.values()))
        if name in able:
            return able[name]
        if name in self._models:
            other = self._models[name]
            known = " or ".join(sorted(other.queues))
            raise ConfigError(f"{name!r} is a model to {other.task}; it can be asked to {known}")
        raise ConfigError(f"there is no model {name!r}; {suggestion(name, self._models)}")

    async def keep_fresh(self) -> None:
        """Watch the folders for ever; whoever asks meanwhile gets an answer of one version."""
        while True:
            await asyncio.sleep(PAUSE)
            for name in self._models:
                await self.refresh(name)

    async def refresh(self, name: str) -> bool:
        """Put the folder's version in the place of ours if it is another; say whether it was."""
        old = self._models[name]
        if self._digest(name) in (old.digest, None):
            self.problems.pop(name, None)
            return False
        try:
            new = await asyncio.to_thread(self._load, name)
        except (RegardError, OSError) as problem:
            # Half copied perhaps: the old one goes on, and the next look may find it whole.
            self.problems[name] = type(problem).__name__
            return False
        self._models[name] = new
        self.problems.pop(name, None)
        await old.close()
        return True

    async def close(self) -> None:
        """Answer what is waiting everywhere."""
        for one in self:
            await one.close()

    def _digest(self, name: str) -> str | None:
        """What tells versions of a folder apart; None while there is none."""
        place = Path(self._settings.models[name]) / CONFIG
        with contextlib.suppress(OSError):
            return hashlib.sha256(place.read_bytes()).hexdigest()
        return None

    def _load(self, name: str) -> Loaded:
        folder, digest = Path(self._settings.models[name]), self._digest(name)
        task = task_of(folder)
        if task not in KINDS:
            raise ModelError(f"{folder} holds a model for the task {task!r}, which is not served")
        kind, limits = KINDS[task], self._settings.limits
        model = kind.load(folder, self._settings.device)
        queues = {
            endpoint: Gatherer[Any, Any](
                self._watch(endpoint, partial(answer, model)),
                size=_size,
                most_waiting=limits.waiting,
            )
            for endpoint, answer in kind.answers.items()
        }
        return Loaded(name, task, digest or "", kind.describe(model), queues)


def _size(
    question: str | TextToErase | TextToExplain | TextToTranslate | PictureToCaption,
) -> int:
    return len(question) if isinstance(question, str) else question.size


def _together(
    asked: Sequence[Q], kind: Callable[[Q], K], answer: Callable[[K, list[Q]], Sequence[A]]
) -> list[A]:
    """Answer questions of one kind together, and return all answers in the order asked."""
    found: dict[int, A] = {}
    for one in dict.fromkeys(map(kind, asked)):
        places = [place for place, question in enumerate(asked) if kind(question) == one]
        found |= zip(places, answer(one, [asked[place] for place in places]), strict=True)
    return [found[place] for place in range(len(asked))]


def _load_classifier(folder: Path, device: str) -> Fitted:
    return Saved.read(folder).fitted(device)


def _likely(fitted: Fitted, asked: Sequence[str | TextToErase]) -> NDArray[np.float64]:
    """The probability of each class of each text, (texts, classes)."""
    texts = [one for one in asked if isinstance(one, str)]
    if len(texts) == len(asked):
        return fitted.likely(texts)
    erased = [one for one in asked if not isinstance(one, str)]
    spans = [one.spans for one in erased]
    whole = np.array([isinstance(one, str) for one in asked])
    found = np.zeros((len(asked), len(fitted.labels)))
    found[whole] = fitted.likely(texts)
    found[~whole] = fitted.likely_without([one.text for one in erased], spans)
    return found


def _label(fitted: Fitted, asked: Sequence[str | TextToErase]) -> list[dict[str, object]]:
    """Label, its probability and those of all others, for each text."""
    likely = _likely(fitted, asked)
    names = [str(name) for name in fitted.labels.classes]
    labels = fitted.labels_from(likely).tolist()
    found: list[dict[str, object]] = []
    for label, row in zip(labels, likely.tolist(), strict=True):
        shares = dict(zip(names, row, strict=True))
        chosen = [str(one) for one in label] if isinstance(label, tuple) else [str(label)]
        found.append({"labels": chosen, "probabilities": shares})
    return found


def _explain(fitted: Fitted, asked: Sequence[TextToExplain]) -> list[bytes]:
    """Explain each text."""
    found = _together(
        asked,
        lambda one: one.question,
        lambda question, some: fitted.explain([one.text for one in some], question),
    )
    return [write_explanation(one, each.page) for one, each in zip(found, asked, strict=True)]


def _describe_classifier(fitted: Fitted) -> dict[str, object]:
    return {
        "labels": [str(name) for name in fitted.labels.classes],
        "several_labels": fitted.labels.multilabel,
        "methods": list(METHODS),
        "default_method": fitted.default_method,
        "network": fitted.network,
    }


def _load_translator(folder: Path, device: str) -> Translator:
    return Translator.load(folder, device=device)


def _translate(model: Translator, asked: Sequence[TextToTranslate]) -> list[bytes]:
    """The best translations of each text, and where each piece of them looked."""

    def write(kind: tuple[int, bool], some: list[TextToTranslate]) -> list[list[Alignment]]:
        count, receipt = kind
        usual = model.generation
        generation = replace(usual, method="beam") if count > 1 else usual
        written = model.explain_candidates([one.text for one in some], count, generation=generation)
        return [model.with_receipts(found) for found in written] if receipt else written

    found = _together(asked, lambda one: (one.count, one.receipt), write)
    return [write_translations(one, each.page) for one, each in zip(found, asked, strict=True)]


def _describe_translator(model: Translator) -> dict[str, object]:
    return {"network": model.settings_.network.name}


def _load_captioner(folder: Path, device: str) -> Captioner:
    require_pillow()
    return Captioner.load(folder, device=device)


def _caption(model: Captioner, asked: Sequence[PictureToCaption]) -> list[bytes]:
    """What can be written about each picture, and where each word of it looked."""
    found = _together(
        asked,
        lambda one: one.receipt,
        lambda receipt, some: model.explain([one.picture for one in some], receipt=receipt),
    )
    return [write_caption(one, each.page) for one, each in zip(found, asked, strict=True)]


def _describe_captioner(model: Captioner) -> dict[str, object]:
    network = model.settings_.network
    return {"network": network.name, "cells": network.grid**2}


KINDS: dict[str, Kind[Any]] = {
    "classify": Kind(
        _load_classifier, {"predict": _label, "explain": _explain}, _describe_classifier
    ),
    "translate": Kind(_load_translator, {"translate": _translate}, _describe_translator),
    "caption": Kind(_load_captioner, {"caption": _caption}, _describe_captioner),
}
"""How to serve each task, by the name that a saved model gives it."""
