"""What a reader of an audit must be told before the numbers."""

from __future__ import annotations

from dataclasses import replace

from ..records.audit import Audit
from .stability import FEWEST_SHARED

__all__ = ["LIKEST", "warnings_of"]

LIKEST = 0.5
"""A method whose scores agree by more with those of a model that learned nothing is warned of."""


def warnings_of(audit: Audit) -> Audit:
    """Return the audit with its warnings, the worst first."""
    return replace(audit, warnings=(*_about_default(audit), *_about_model(audit)))


def _about_default(audit: Audit) -> list[str]:
    found = []
    ranking = audit.ranking(audit.default_method)
    lost = None if ranking is None else ranking.metric("comprehensiveness")
    if lost is not None and not lost.beats_baseline:
        found.append(
            f"the default method, {audit.default_method}, points at words that the answers miss no "
            "more than random ones"
        )
    for one in audit.rankings:
        likeness = one.metric("tau_shuffled_weights")
        if likeness is not None and likeness.value > LIKEST:
            found.append(
                f"{one.method} hardly changes when the model's weights are shuffled: it explains "
                "the text, not the model"
            )
    return found


def _about_model(audit: Audit) -> list[str]:
    found = []
    metrics = {metric.name: metric for metric in audit.about_model}
    gap = metrics.get("uniform_gap_trained") or metrics.get("uniform_gap_forced")
    if gap is not None and gap.interval.low <= 0:
        found.append("the gain over even attention is within noise: attention may say little here")
    shared = metrics.get("stability_overlap")
    if shared is not None and shared.value < FEWEST_SHARED:
        found.append(
            f"models trained alike share only {100 * shared.value:.0f} % of their heaviest "
            "sentences: another seed would tell another story"
        )
    if audit.needle is not None and audit.needle.blind_from is not None:
        place = audit.needle.blind_from + 1
        found.append(f"sentences from number {place:,} on are never read: a cap cuts them off")
    return found
