"""How far a model's explanations can be trusted, measured over many documents: plain data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from .encoding import Json, Record, encode
from .evaluation import Interval
from .measures import MEASURES

__all__ = [
    "DOUBTS",
    "FEWEST_DOCUMENTS",
    "Audit",
    "Doubt",
    "FlipTable",
    "MethodAudit",
    "Metric",
    "NeedleCell",
    "NeedleMap",
    "Rival",
]

LIKEST = 0.5
"""A method whose scores agree by more with those of a model that learned nothing is warned of."""
FEWEST_SHARED = 0.5
"""Below this overlap of the heaviest sentences, models trained alike are said to disagree."""

FEWEST_DOCUMENTS = 6
"""Of fewer no interval is given: draws of them lie between the least and the largest.

For five that is no 95 % interval: one time in sixteen all lie on the same side of the middle.
"""

DOUBTS = {
    "too few documents": (
        "too few documents were measured, {figure:,.0f}: below {fewest} nothing can be told apart "
        "from chance, and no interval is given"
    ),
    "no better than random": (
        "the default method, {method}, points at words that the answers miss no more than random "
        "ones"
    ),
    "needs no source": (
        "what was written does not depend on its source: all of it is as likely with the whole "
        "source unknown"
    ),
    "no better than an opponent": (
        "{method} is no better than what anybody could do without the model: {rival}"
    ),
    "explains the text": (
        "{method} hardly changes when the model's weights are shuffled: it explains the text, not "
        "the model"
    ),
    "even attention": (
        "the gain over even attention is within noise: attention may say little here"
    ),
    "another seed": (
        "models trained alike share only {figure:.0f} % of their heaviest sentences: another seed "
        "would tell another story"
    ),
    "never read": "sentences from number {figure:,.0f} on are never read: a cap cuts them off",
}
"""What a reader of an audit may have to be told before the numbers, the worst first."""


@dataclass(frozen=True, slots=True)
class Metric:
    """The mean of one measure over documents, never without what it is to be compared with."""

    name: str  # "comprehensiveness", "auprc", "tau_loo"
    value: float
    interval: Interval | None  # None: too few documents
    baseline: float  # what the baseline gets from the same code on the same documents
    documents: int
    protocol: str  # how it was measured, in words
    better: str = "high"  # "high" or "low"
    baseline_name: str = "random ranking"

    @property
    def beats_baseline(self) -> bool:
        """Whether the whole interval lies on the better side of the baseline."""
        if self.interval is None:
            return False
        if self.better == "low":
            return self.interval.high < self.baseline
        return self.interval.low > self.baseline

    @property
    def is_beaten(self) -> bool:
        """Whether the whole interval lies on the worse side of the baseline."""
        if self.interval is None:
            return False
        if self.better == "low":
            return self.interval.low > self.baseline
        return self.interval.high < self.baseline


@dataclass(frozen=True, slots=True)
class MethodAudit:
    """All measures of one method of explanation."""

    method: str
    metrics: tuple[Metric, ...]

    def metric(self, name: str) -> Metric | None:
        """The measure of that name, if it was taken."""
        return next((metric for metric in self.metrics if metric.name == name), None)


@dataclass(frozen=True, slots=True)
class Rival:
    """How a measure of the default method stands to the best ranking that needs no taught model."""

    measure: str
    name: str  # of that ranking, such as "last words"
    value: float  # what it gets
    lead: float  # by how much the method is better, document by document
    interval: Interval | None  # of the lead; None: too few documents
    documents: int

    @property
    def beaten(self) -> bool:
        """Whether the method is better with its whole interval."""
        return self.interval is not None and self.interval.low > 0


@dataclass(frozen=True, slots=True)
class FlipTable:
    """How many answers flip without the unit of the largest weight, and without a random other."""

    unit: str  # "sentence" or "word"
    both: int
    only_top: int
    only_random: int
    neither: int

    @property
    def documents(self) -> int:
        """How many documents had two units to choose from."""
        return self.both + self.only_top + self.only_random + self.neither


@dataclass(frozen=True, slots=True)
class NeedleCell:
    """How often a planted sentence was found at one place of documents of one length."""

    length: int  # sentences of the document, the planted one counted
    position: int  # of the planted sentence, from 0
    documents: int
    found: int  # documents in which it was ranked first
    unread: int  # documents in which a cap kept it from the model
    answered: int  # documents that were given the planted sentence's label

    @property
    def recall(self) -> float:
        """The share of documents in which the planted sentence was ranked first."""
        return self.found / self.documents if self.documents else 0.0


@dataclass(frozen=True, slots=True)
class NeedleMap:
    """Where a model is blind: recall of planted sentences by length and position."""

    method: str
    cells: tuple[NeedleCell, ...]

    @property
    def lengths(self) -> tuple[int, ...]:
        """The lengths that were tried, rising."""
        return tuple(sorted({cell.length for cell in self.cells}))

    @property
    def blind_from(self) -> int | None:
        """The first position from which on nothing was ever read, or None."""
        read = [cell.position for cell in self.cells if cell.unread < cell.documents]
        blind = [cell.position for cell in self.cells if cell.unread == cell.documents]
        behind = [position for position in blind if position > max(read, default=-1)]
        return min(behind, default=None)


@dataclass(frozen=True, slots=True)
class Doubt:
    """One warning: a name of ``DOUBTS``, the method and the figure that it is about."""

    kind: str
    method: str = ""
    figure: float = 0.0
    rival: str = ""

    @property
    def text(self) -> str:
        """The warning in words, as part of a sentence."""
        return DOUBTS[self.kind].format(
            method=self.method, figure=self.figure, rival=self.rival, fewest=FEWEST_DOCUMENTS
        )


@dataclass(frozen=True, slots=True)
class Audit(Record):
    """How far a model's explanations can be trusted, over a data set."""

    documents: int
    default_method: str
    rankings: tuple[MethodAudit, ...]  # one a method
    about_model: tuple[Metric, ...] = ()  # measures of the attention itself, not of a method
    flips: FlipTable | None = None
    needle: NeedleMap | None = None
    rivals: tuple[Rival, ...] = ()  # the best opponent of the default method, by measure
    model: str = ""
    data: str = ""
    seed: int = 0

    def ranking(self, method: str) -> MethodAudit | None:
        """The measures of one method, if it was audited."""
        return next((one for one in self.rankings if one.method == method), None)

    @property
    def main_metric(self) -> Metric | None:
        """By what the default method is judged: what is lost without the words it calls heavy."""
        ranking = self.ranking(self.default_method)
        if ranking is None:
            return None
        return ranking.metric("looked_at_drop") or ranking.metric("comprehensiveness")

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        """What to tell a reader before the numbers, the worst first."""
        return (*_doubt_methods(self), *_doubt_model(self))

    @property
    def warnings(self) -> tuple[str, ...]:
        """The doubts in words."""
        return tuple(doubt.text for doubt in self.doubts)

    def to_json(self, *, indent: int | None = None) -> str:
        """Return one JSON object: ``methods`` and ``measures`` are bare numbers by name.

        The record itself, with intervals, baselines and protocols, stands beside them; so do the
        warnings, in words.
        """
        whole: dict[str, Json] = json.loads(encode(self))
        methods: dict[str, Json] = {
            one.method: {metric.name: metric.value for metric in one.metrics}
            for one in self.rankings
        }
        methods["random"] = _random(self.rankings)
        measures: dict[str, Json] = {metric.name: metric.value for metric in self.about_model}
        warnings: list[Json] = [*self.warnings]
        added = {"methods": methods, "measures": measures, "warnings": warnings}
        return json.dumps({**added, **whole}, indent=indent)

    def to_html(self) -> str:
        """Return a whole HTML page that needs nothing else."""
        from ..views.audit.page import render

        return render(self)

    def _repr_html_(self) -> str:
        from ..views.audit.terminal import summary
        from ..views.notebook import card

        return card(summary(self), whole=self.to_html())


def _doubt_methods(audit: Audit) -> Iterator[Doubt]:
    main = audit.main_metric
    measured = audit.documents if main is None else main.documents
    if measured < FEWEST_DOCUMENTS:
        yield Doubt("too few documents", figure=measured)
    ranking = audit.ranking(audit.default_method)
    lost = None if ranking is None else ranking.metric("comprehensiveness")
    if lost is not None and lost.interval is not None and not lost.beats_baseline:
        yield Doubt("no better than random", audit.default_method)
    decided = None if ranking is None else ranking.metric("source_decides")
    if decided is not None and decided.value == 0:
        yield Doubt("needs no source")
    for rival in audit.rivals:
        if rival.interval is None or rival.beaten:
            continue
        if rival.measure in ("comprehensiveness", "auprc_word"):
            yield Doubt(
                "no better than an opponent",
                audit.default_method,
                rival=f"{rival.name}, by the measure ‘{MEASURES[rival.measure].title}’",
            )
    for one in audit.rankings:
        likeness = one.metric("tau_shuffled_weights")
        if likeness is not None and likeness.value > LIKEST:
            yield Doubt("explains the text", one.method)


def _doubt_model(audit: Audit) -> Iterator[Doubt]:
    metrics = {metric.name: metric for metric in audit.about_model}
    gap = metrics.get("uniform_gap_trained") or metrics.get("uniform_gap_forced")
    if gap is not None and gap.interval is not None and gap.interval.low <= 0:
        yield Doubt("even attention")
    shared = metrics.get("stability_overlap")
    if shared is not None and shared.value < FEWEST_SHARED:
        yield Doubt("another seed", figure=100 * shared.value)
    if audit.needle is not None and audit.needle.blind_from is not None:
        yield Doubt("never read", figure=audit.needle.blind_from + 1)


def _random(rankings: tuple[MethodAudit, ...]) -> dict[str, Json]:
    """What random rankings got, each measure taken from the method that was first to have it."""
    found: dict[str, Json] = {}
    for one in rankings:
        for metric in one.metrics:
            found.setdefault(metric.name, metric.baseline)
    return found
