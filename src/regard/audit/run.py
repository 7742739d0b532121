"""A fitted classifier and documents to an audit: how far can its explanations be trusted?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..config import require, require_one_of
from ..errors import DataError
from ..explain.attention import explain as by_attention
from ..explain.fitted import Fitted, HasFitted
from ..explain.methods import METHODS, methods_for
from ..models.reader import chunks
from ..records.audit import Audit, MethodAudit
from ..records.explanation import Decision
from ..text.document import Document
from . import (
    flips,
    randomisation,
    stability,
    uniform,
)
from .documents import BatchAudit
from .evidence import evidence_of, marked_share
from .needle import needle_test
from .probe import probe_attention
from .tally import Measured, Tally
from .warnings import warnings_of

__all__ = ["AuditOptions", "Companions", "audit", "sampled"]

CHUNK = 16  # documents that are asked about together


def _as_they_are(documents: Iterable[Document]) -> Iterable[Document]:
    return documents


@dataclass(frozen=True, slots=True)
class AuditOptions:
    """What to audit, and how."""

    methods: tuple[str, ...] = ()  # empty: all that rank every word at a bearable cost
    evidence: str | None = None  # the column of what people marked
    needle: bool = True  # whether to plant sentences and look for them
    seed: int = 0
    watch: Callable[[Iterable[Document]], Iterable[Document]] = _as_they_are  # sees each go by

    def __post_init__(self) -> None:
        for name in self.methods:
            require_one_of("method", name, METHODS)
            require(name != "counterfactual", "a counterfactual ranks nothing; audit others")


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """What to compare with: models trained alike, one with even attention, and training data."""

    others: Sequence[HasFitted] = ()
    even: HasFitted | None = None
    training: Sequence[Document] = ()  # what a probe is taught under the model's attention


def sampled(documents: Iterable[Document], limit: int, seed: int = 0) -> list[Document]:
    """Draw at most ``limit`` documents of a stream, each as likely, in their order."""
    require(limit >= 1, f"limit must be at least 1, got {limit}")
    stream = enumerate(documents)
    kept = list(itertools.islice(stream, limit))
    draw = np.random.default_rng(seed)
    for place, document in stream:
        slot = int(draw.integers(place + 1))
        if slot < limit:
            kept[slot] = (place, document)
    return [document for _, document in sorted(kept, key=lambda pair: pair[0])]


def audit(
    classifier: HasFitted,
    documents: Sequence[Document],
    options: AuditOptions = AuditOptions(),  # noqa: B008  (frozen)
    companions: Companions = Companions(),  # noqa: B008
) -> Audit:
    """Measure how far the explanations of a classifier can be trusted on these documents."""
    if not documents:
        raise DataError("there are no documents to audit")
    work = _Auditing(classifier.fitted_, documents, options, companions)
    for chunk in chunks(options.watch(documents), CHUNK):
        work.add(chunk)
    work.probe()
    return work.audit()


class _Auditing:
    """What has been measured so far."""

    def __init__(
        self,
        fitted: Fitted,
        documents: Sequence[Document],
        options: AuditOptions,
        companions: Companions,
    ) -> None:
        self.fitted, self.documents = fitted, documents
        self.options, self.training = options, companions.training
        self.others = [other.fitted_ for other in companions.others]
        self.even = None if companions.even is None else companions.even.fitted_
        self._require_same_classes()
        self.methods = options.methods or methods_for(fitted.model)
        self.shuffled = randomisation.shuffled_copy(fitted.model, options.seed)
        self.share = marked_share(documents, options.evidence) if options.evidence else 0.0
        self.tallies = {name: Tally(options.seed) for name in self.methods}
        self.about_model = Tally(options.seed)
        self.single: list[flips.SingleFlip] = []
        self.unit = ""

    def add(self, chunk: list[Document]) -> None:
        """Ask about some documents."""
        texts = [document.text for document in chunk]
        for places, answers in self.fitted.answers(texts):
            found = BatchAudit(
                answers, self.methods, shuffled=self.shuffled, seed=self.options.seed
            )
            self.unit = found.unit or self.unit
            even = self.fitted.labels_from(uniform.evenly_weighed(answers).numpy())
            own = self.fitted.labels_from(answers.probabilities.numpy())
            attended = by_attention(answers) if self.others else []
            for row, place in enumerate(places):
                self._add_document(found, row, chunk[place])
                self._add_gap("uniform_gap_forced", chunk[place], own[row], even[row])
                if attended:
                    self._compare(attended[row].decisions[0], texts[place])
        if self.even is not None:
            answers_pair = (one.labels_from(one.likely(texts)) for one in (self.fitted, self.even))
            for document, one, other in zip(chunk, *answers_pair, strict=True):
                self._add_gap("uniform_gap_trained", document, one, other)

    def probe(self) -> None:
        """Lend the attention to another network, where there is something to teach it."""
        seed = self.options.seed
        for measured in probe_attention(self.fitted, self.training, self.documents, seed):
            self.about_model.add(measured)

    def audit(self) -> Audit:
        """Turn everything measured into means."""
        default, seed = self.fitted.default_method, self.options.seed
        needle = None
        about_model = self.about_model.metrics()
        if self.options.needle:
            texts = [document.text for document in self.documents]
            needle = needle_test(self.fitted, texts, method=default, seed=seed)
        if needle is not None:
            about_model = (*about_model, needle.recall, *needle.repeated)
        found = Audit(
            documents=len(self.documents),
            default_method=default,
            rankings=tuple(
                MethodAudit(name, tally.metrics()) for name, tally in self.tallies.items()
            ),
            about_model=about_model,
            flips=flips.flip_table(self.unit, self.single) if self.single else None,
            needle=None if needle is None else needle.map,
            model=self.fitted.network,
            seed=seed,
        )
        return warnings_of(found)

    def _add_document(self, found: BatchAudit, row: int, document: Document) -> None:
        column = self.options.evidence
        for name, tally in self.tallies.items():
            tally.add(found.of_method(name, row))
            if column is not None:
                spans = evidence_of(document, column)
                tally.add(found.of_evidence(name, row, evidence=spans, share=self.share))
        self.about_model.add(found.of_model(row))
        flipped = found.single_flip(row)
        if flipped is not None:
            self.single.append(flipped)

    def _add_gap(self, name: str, document: Document, own: object, other: object) -> None:
        """How much more often the model is right than one that looks everywhere alike."""
        if document.label is None:
            return
        truth = _names(document.label)
        gap = float(_names(own) == truth) - float(_names(other) == truth)
        self.about_model.add({name: Measured(gap, 0.0)})

    def _compare(self, own: Decision, text: str) -> None:
        """Average over the other models, so that each document counts once."""
        found: dict[str, list[Measured]] = {}
        for other in self.others:
            ((_, answers),) = other.answers([text])
            (explained,) = by_attention(answers)
            measured = stability.stability(own, explained.decisions[0], self.options.seed)
            for name, one in measured.items():
                found.setdefault(name, []).append(one)
        for name, ones in found.items():
            value = float(np.mean([one.value for one in ones]))
            chance = float(np.mean([one.baseline for one in ones]))
            self.about_model.add({name: Measured(value, chance)})

    def _require_same_classes(self) -> None:
        classes = self.fitted.labels.classes
        for other in (*self.others, *([] if self.even is None else [self.even])):
            if other.labels.classes != classes:
                raise DataError(
                    "models that are compared must know the same labels; one has "
                    f"{', '.join(map(str, classes[:5]))}, another "
                    f"{', '.join(map(str, other.labels.classes[:5]))}"
                )


def _names(label: object) -> set[str]:
    """The names of all labels; the text "3" and the number 3 are alike."""
    return {str(single) for single in (label if isinstance(label, tuple) else (label,))}
