"""A fitted classifier and documents to an audit: how far can its explanations be trusted?"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor

from ..config import require, require_one_of, require_seed
from ..errors import DataError
from ..explain.answers import Answers
from ..explain.attention import explain as by_attention
from ..explain.erasing import answer
from ..explain.fitted import Fitted, HasFitted
from ..explain.methods import METHODS, methods_for
from ..explain.receipts import measure, open_inquiries, ranked_levels
from ..models.base import Model
from ..models.reader import chunks
from ..records.audit import Audit, MethodAudit, Rival
from ..records.explanation import Decision, Explanation
from ..records.measures import MEASURES
from ..records.weights import Span
from ..tasks.baselines import TfidfBaseline
from ..text.document import Document
from .attention import (
    Flips,
    SingleFlip,
    count_flips,
    last_attention,
    measure_adversary,
    measure_permutations,
    measure_stability,
    weigh_evenly,
)
from .faithfulness import (
    FerretErasure,
    ask_again,
    copy_shuffled,
    gradient_sizes,
    measure_agreement,
    measure_likeness,
    movements,
    read_receipt,
)
from .needle import needle_test
from .opponents import Opponents, best_rivals
from .plausibility import measure_marked_share, measure_plausibility, read_evidence
from .probe import probe_attention
from .tally import Measured, Tally

__all__ = ["AuditOptions", "BatchAudit", "Companions", "audit", "sample"]

T = TypeVar("T")

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
    full: bool = False  # whether to take the slow measures too: ferret's, and the adversary
    watch: Callable[[Iterable[Document]], Iterable[Document]] = _as_they_are  # sees each go by

    def __post_init__(self) -> None:
        require_seed(self.seed)
        for name in self.methods:
            require_one_of("method", name, METHODS)
            require(
                name != "counterfactual", "a counterfactual ranks nothing; audit another method"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Companions:
    """What to compare with: models trained alike, one with even attention, and training data."""

    others: Sequence[HasFitted] = ()
    even: HasFitted | None = None
    training: Sequence[Document] = ()  # what a probe is taught under the model's attention


def sample(items: Iterable[T], limit: int, seed: int = 0) -> list[T]:
    """Draw at most ``limit`` items of a stream, each as likely, in their order."""
    require(limit >= 1, f"limit must be at least 1, got {limit}")
    require_seed(seed)
    stream = enumerate(items)
    kept = list(itertools.islice(stream, min(limit, sys.maxsize)))
    draw = np.random.default_rng(seed)
    for place, item in stream:
        slot = int(draw.integers(place + 1))
        if slot < limit:
            kept[slot] = (place, item)
    return [item for _, item in sorted(kept, key=lambda pair: pair[0])]


def audit(
    classifier: HasFitted,
    documents: Sequence[Document],
    options: AuditOptions = AuditOptions(),
    companions: Companions = Companions(),
) -> Audit:
    """Measure how far the explanations of a classifier can be trusted on these documents."""
    if not documents:
        raise DataError("there are no documents to audit")
    linear = getattr(classifier, "baseline_", None)
    work = _Auditing(classifier.fitted_, documents, options, companions, linear)
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
        linear: TfidfBaseline | None,
    ) -> None:
        self.fitted, self.documents = fitted, documents
        self.options, self.training = options, companions.training
        self.others = [other.fitted_ for other in companions.others]
        self.even = None if companions.even is None else companions.even.fitted_
        self._require_same_classes()
        self.methods = options.methods or methods_for(fitted.model)
        self.shuffled = copy_shuffled(fitted.model, options.seed)
        self.share = measure_marked_share(documents, options.evidence) if options.evidence else 0.0
        self.tallies = {name: Tally(options.seed) for name in self.methods}
        self.opponents = Opponents(
            fitted, [one.text for one in documents], linear=linear, seed=options.seed
        )
        self.opposing: dict[str, Tally] = {}
        self.about_model = Tally(options.seed)
        self.single: list[SingleFlip] = []
        self.unit = ""

    def add(self, chunk: list[Document]) -> None:
        """Ask about some documents."""
        texts = [document.text for document in chunk]
        for places, answers in self.fitted.answers(texts):
            found = BatchAudit(
                answers,
                self.methods,
                shuffled=self.shuffled,
                seed=self.options.seed,
                full=self.options.full,
            )
            self.unit = found.unit or self.unit
            even = self.fitted.labels_from(weigh_evenly(answers).numpy())
            own = self.fitted.labels_from(answers.probabilities.numpy())
            attended = by_attention(answers) if self.others else []
            self._oppose(found, [chunk[place] for place in places])
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
        return Audit(
            documents=len(self.documents),
            default_method=default,
            rankings=tuple(
                MethodAudit(name, tally.metrics()) for name, tally in self.tallies.items()
            ),
            about_model=about_model,
            flips=count_flips(self.unit, self.single) if self.single else None,
            needle=None if needle is None else needle.map,
            rivals=self._rivals(),
            model=self.fitted.network,
            seed=seed,
        )

    def _rivals(self) -> tuple[Rival, ...]:
        own = self.tallies.get(self.fitted.default_method)
        return () if own is None else best_rivals(own, self.opposing, self.options.seed)

    def _add_document(self, found: BatchAudit, row: int, document: Document) -> None:
        column = self.options.evidence
        for name, tally in self.tallies.items():
            tally.add(found.of_method(name, row))
            if column is not None:
                spans = read_evidence(document, column)
                tally.add(found.of_evidence(name, row, evidence=spans, share=self.share))
        self.about_model.add(found.of_model(row))
        flipped = found.single_flip(row)
        if flipped is not None:
            self.single.append(flipped)

    def _oppose(self, found: BatchAudit, documents: Sequence[Document]) -> None:
        """Measure what opponents would say of the same answers."""
        for name, explained in self.opponents.explain(found.answers).items():
            tally = self.opposing.setdefault(name, Tally(self.options.seed))
            for explanation, document in zip(found.measure(explained), documents, strict=True):
                if explanation.receipt is not None and explanation.receipt.measures:
                    tally.add(read_receipt(explanation.receipt, 1.0))
                if self.options.evidence is not None:
                    spans = read_evidence(document, self.options.evidence)
                    tally.add(
                        measure_plausibility(
                            explanation, spans, share=self.share, seed=self.options.seed
                        )
                    )

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
            measured = measure_stability(own, explained.decisions[0], self.options.seed)
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


class BatchAudit:
    """Asks about a batch once for all methods; nothing here depends on the other documents.

    ``shuffled`` is a copy of the model that has forgotten what it learned.
    """

    def __init__(
        self,
        answers: Answers,
        methods: Sequence[str],
        *,
        shuffled: Model,
        seed: int,
        full: bool = False,
    ) -> None:
        self.answers, self._seed, self._full = answers, seed, full
        self._numbers = [chosen[0] for chosen in answers.chosen]
        self.explained = {name: METHODS[name].explain(answers) for name in methods}
        foreign = ask_again(answers, shuffled)
        self._foreign = {name: METHODS[name].explain(foreign) for name in methods}
        self._inquiries = open_inquiries(answers, seed=seed)
        first = {
            name: [replace(one, decisions=one.decisions[:1]) for one in found]
            for name, found in self.explained.items()
        }
        self._receipts = {name: self.measure(found) for name, found in first.items()}
        self._slopes = gradient_sizes(answers)
        self._attention = last_attention(answers)
        self._flips = [
            Flips(answers, attention, number=number, seed=seed)
            for attention, number in zip(self._attention or (), self._numbers, strict=False)
        ]

    def measure(self, explained: Sequence[Explanation]) -> list[Explanation]:
        """Add receipts to explanations of the batch."""
        return measure(self._inquiries, explained)

    def of_method(self, name: str, place: int) -> dict[str, Measured]:
        """Return what one document says of one method's faithfulness."""
        decision = self.explained[name][place].decisions[0]
        words = ranked_levels(decision).get("word")
        if words is None:
            return {}
        amounts = np.array(words.amounts)
        foreign = ranked_levels(self._foreign[name][place].decisions[0])["word"]
        return {
            **self._erased(name, place),
            **self._agreements(amounts, place),
            **self._flip_fraction(decision, place),
            **measure_likeness(amounts, np.array(foreign.amounts)),
            **_take_measures(self.explained[name][place]),
        }

    def of_evidence(
        self, name: str, place: int, *, evidence: Sequence[Span], share: float
    ) -> dict[str, Measured]:
        """Return what one document says of one method's plausibility."""
        explanation: Explanation = self.explained[name][place]
        return measure_plausibility(explanation, evidence, share=share, seed=self._seed)

    def of_model(self, place: int) -> dict[str, Measured]:
        """Return what one document says of the attention itself."""
        if self._attention is None:
            return {}
        attention = self._attention[place]
        found = measure_adversary(attention, self._seed) if self._full else {}
        return {**found, **measure_permutations(attention, self._seed)}

    def single_flip(self, place: int) -> SingleFlip | None:
        """See whether the answer flips without the unit of the largest weight."""
        return self._flips[place].single() if self._flips else None

    @property
    def unit(self) -> str:
        """What the last attention is over."""
        over = self._attention[0].unit if self._attention else ""
        return "word" if over == "token" else over

    def _erased(self, name: str, place: int) -> dict[str, Measured]:
        inquiry, number = self._inquiries[place], self._numbers[place]
        (decision,) = self._receipts[name][place].decisions
        assert decision.receipt is not None
        lost = inquiry.whole[0, number] - self._nothing[place][number]
        found = read_receipt(decision.receipt, float(lost))
        if not self._full:
            return found
        ask = inquiry.eraser.asking("word")
        ferret = FerretErasure(
            lambda kept: self.answers.likely(ask(kept)), inquiry.whole, self._seed
        )
        amounts = np.array(ranked_levels(decision)["word"].amounts)
        return {**found, **ferret.measure(amounts, number)}

    @cached_property
    def _nothing(self) -> Tensor:
        """The probabilities of each document without any of its words, (documents, classes)."""
        erasers = [inquiry.eraser for inquiry in self._inquiries]
        empty = [one.keep_words(np.zeros((1, one.word_count), dtype=bool)) for one in erasers]
        return self.answers.likely(torch.cat(answer(empty)))

    def _agreements(self, amounts: np.ndarray, place: int) -> dict[str, Measured]:
        words, number = self._inquiries[place].pieces("word"), self._numbers[place]
        moved = movements(words.drops, multilabel=self.answers.multilabel, number=number)
        both = {
            "tau_loo": measure_agreement(amounts[words.places], moved),
            "tau_gradient": measure_agreement(amounts, self._slopes[place]),
        }
        return {name: measured for name, measured in both.items() if measured is not None}

    def _flip_fraction(self, decision: Decision, place: int) -> dict[str, Measured]:
        weights = ranked_levels(decision).get(self.unit)
        if not self._flips or weights is None:
            return {}
        amounts = np.array(weights.amounts)
        if self.unit == "word":  # attention weighs tokens: each has the rank of its word
            amounts = amounts[self._inquiries[place].eraser.words]
        return self._flips[place].fraction(amounts)


def _take_measures(explanation: Explanation) -> dict[str, Measured]:
    """What the measures give that need nothing but the explanation."""
    takes = {name: measure.take for name, measure in MEASURES.items() if measure.take is not None}
    found = {name: take(explanation) for name, take in takes.items()}
    return {name: Measured(*pair) for name, pair in found.items() if pair is not None}
