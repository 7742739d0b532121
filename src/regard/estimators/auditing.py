"""A fitted classifier and documents to an audit: how far can its explanations be trusted?"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..config import require, require_one_of
from ..errors import DataError
from ..explain import (
    adversarial,
    agreement,
    aopc,
    flips,
    permutation,
    plausibility,
    probe,
    randomisation,
    stability,
    uniform,
)
from ..explain.attention import explain as by_attention
from ..explain.batch_audit import BatchAudit
from ..explain.methods import DEFAULT_METHOD, METHODS, methods_for
from ..explain.tally import Measured, Protocol, Tally
from ..records.audit import Audit, MethodAudit
from ..records.explanation import Decision
from ..text.document import Document
from .audit_warnings import warnings_of
from .evidence import evidence_of, marked_share
from .explaining import answers_about
from .needles import needle_test
from .probing import probe_attention
from .reader import chunks

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["AuditOptions", "Companions", "audit", "sampled"]

CHUNK = 16  # documents that are asked about together
METHOD_PROTOCOLS: dict[str, Protocol] = {
    **plausibility.PROTOCOLS,
    **aopc.PROTOCOLS,
    **agreement.PROTOCOLS,
    **flips.PROTOCOLS,
    **randomisation.PROTOCOLS,
}
MODEL_PROTOCOLS: dict[str, Protocol] = {
    **adversarial.PROTOCOLS,
    **permutation.PROTOCOLS,
    **uniform.PROTOCOLS,
    **stability.PROTOCOLS,
    **probe.PROTOCOLS,
}


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

    others: Sequence[DocumentClassifier] = ()
    even: DocumentClassifier | None = None
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
    classifier: DocumentClassifier,
    documents: Sequence[Document],
    options: AuditOptions = AuditOptions(),  # noqa: B008  (frozen)
    companions: Companions = Companions(),  # noqa: B008
) -> Audit:
    """Measure how far the explanations of a classifier can be trusted on these documents."""
    if not documents:
        raise DataError("there are no documents to audit")
    _require_same_classes(classifier, companions)
    work = _Auditing(classifier, documents, options, companions)
    for chunk in chunks(options.watch(documents), CHUNK):
        work.add(chunk)
    work.probe()
    return work.audit()


class _Auditing:
    """What has been measured so far."""

    def __init__(
        self,
        classifier: DocumentClassifier,
        documents: Sequence[Document],
        options: AuditOptions,
        companions: Companions,
    ) -> None:
        self.classifier, self.documents = classifier, documents
        self.options, self.companions = options, companions
        self.methods = options.methods or methods_for(classifier.model_)
        self.shuffled = randomisation.shuffled_copy(classifier.model_, options.seed)
        self.share = marked_share(documents, options.evidence) if options.evidence else 0.0
        self.tallies = {name: Tally(METHOD_PROTOCOLS, options.seed) for name in self.methods}
        self.about_model = Tally(MODEL_PROTOCOLS, options.seed)
        self.single: list[flips.SingleFlip] = []
        self.unit = ""

    def add(self, chunk: list[Document]) -> None:
        """Ask about some documents."""
        texts = [document.text for document in chunk]
        for places, answers in answers_about(self.classifier, texts):
            found = BatchAudit(
                answers, self.methods, shuffled=self.shuffled, seed=self.options.seed
            )
            self.unit = found.unit or self.unit
            even = self.classifier.labels_from(uniform.evenly_weighed(answers).numpy())
            own = self.classifier.labels_from(answers.probabilities.numpy())
            attended = by_attention(answers) if self.companions.others else []
            for row, place in enumerate(places):
                self._add_document(found, row, chunk[place])
                self._add_gap("uniform_gap_forced", chunk[place], own[row], even[row])
                if attended:
                    self._compare(attended[row].decisions[0], texts[place])
        if self.companions.even is not None:
            answers_pair = (
                one.labels_from(one.predict_proba(texts))
                for one in (self.classifier, self.companions.even)
            )
            for document, one, other in zip(chunk, *answers_pair, strict=True):
                self._add_gap("uniform_gap_trained", document, one, other)

    def probe(self) -> None:
        """Lend the attention to another network, where there is something to teach it."""
        training, seed = self.companions.training, self.options.seed
        for measured in probe_attention(self.classifier, training, self.documents, seed):
            self.about_model.add(measured)

    def audit(self) -> Audit:
        """Turn everything measured into means."""
        facts, seed = self.classifier.facts_, self.options.seed
        default = str(facts.get("explain_method") or DEFAULT_METHOD)
        needle = None
        about_model = self.about_model.metrics()
        if self.options.needle:
            texts = [document.text for document in self.documents]
            needle = needle_test(self.classifier, texts, method=default, seed=seed)
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
            model=self.classifier.settings_.network.name,
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
        for other in self.companions.others:
            ((_, answers),) = answers_about(other, [text])
            (explained,) = by_attention(answers)
            measured = stability.stability(own, explained.decisions[0], self.options.seed)
            for name, one in measured.items():
                found.setdefault(name, []).append(one)
        for name, ones in found.items():
            value = float(np.mean([one.value for one in ones]))
            chance = float(np.mean([one.baseline for one in ones]))
            self.about_model.add({name: Measured(value, chance)})


def _names(label: object) -> set[str]:
    """The names of all labels; the text "3" and the number 3 are alike."""
    return {str(single) for single in (label if isinstance(label, tuple) else (label,))}


def _require_same_classes(classifier: DocumentClassifier, companions: Companions) -> None:
    even = [] if companions.even is None else [companions.even]
    for other in (*companions.others, *even):
        if other.labels_.classes != classifier.labels_.classes:
            raise DataError(
                "models that are compared must know the same labels; one has "
                f"{', '.join(map(str, classifier.labels_.classes[:5]))}, another "
                f"{', '.join(map(str, other.labels_.classes[:5]))}"
            )
