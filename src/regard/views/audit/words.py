"""An audit in plain words: what its measures are called, and what it comes down to."""

from __future__ import annotations

from dataclasses import replace

from ...records.audit import Audit, FlipTable, Metric, Rival
from ...records.evaluation import Interval
from ...records.explanation import LEAST_LEAD
from ...records.measures import MEASURES
from ..drawing.words import method_in_words, percent, plural, points

__all__ = [
    "compare_flips",
    "headline",
    "tell_flips",
    "tell_interval",
    "tell_metric",
    "tell_rival",
    "tell_warnings",
    "title_of",
]


def title_of(name: str) -> str:
    """What a measure is called; one that this version does not know keeps its name."""
    measure = MEASURES.get(name)
    return name if measure is None else measure.title


def headline(audit: Audit) -> list[str]:
    """Say in two to four sentences what the audit found; the first is the one to keep."""
    method = method_in_words(audit.default_method)
    ranking = audit.ranking(audit.default_method)
    lost = None if ranking is None else ranking.metric("comprehensiveness")
    looked = None if ranking is None else ranking.metric("looked_at_drop")
    if looked is not None:
        said = _tell_looks(looked)
    elif lost is None:
        said = [f"The default explanation of this model is {method}."]
    else:
        verdict = _verdict(lost)
        if lost.beats_baseline and any(one.method == audit.default_method for one in audit.doubts):
            verdict += ", but one of the warnings is about it"
        said = [f"The default explanation of this model, {method}, {verdict}.", _tell_loss(lost)]
    where = f" of {audit.data}" if audit.data else ""
    count = plural(audit.documents, "document")
    said.append(f"Measured on {count}{where}, drawn with seed {audit.seed}.")
    doubts = len(audit.doubts)
    told = f"There {'is' if doubts == 1 else 'are'} {plural(doubts, 'warning')}:"
    return [*said, told if doubts else "There is nothing to warn of."]


def tell_warnings(audit: Audit) -> list[str]:
    """The warnings, with the methods in words."""
    named = [replace(one, method=method_in_words(one.method)).text for one in audit.doubts]
    return [text[:1].upper() + text[1:] for text in named]


def tell_interval(interval: Interval | None, sign: str = "") -> str:
    """Write ``0.134 to 0.426``, or that there is none; ``sign`` may ask for a plus."""
    if interval is None:
        return "no interval"
    return f"{interval.low:{sign}.3f} to {interval.high:{sign}.3f}"


def tell_metric(metric: Metric) -> str:
    """Write a measure with its interval and baseline: ``0.283 (0.134 to 0.426), random 0.004``."""
    return (
        f"{metric.value:.3f} ({tell_interval(metric.interval)}), "
        f"{metric.baseline_name} {metric.baseline:.3f}"
    )


def tell_rival(rival: Rival) -> str:
    """Write what the best opponent gets, and by how much the default method is better."""
    return (
        f"{rival.name} {rival.value:.3f}, better by {rival.lead:+.3f} "
        f"({tell_interval(rival.interval, '+')})  n={rival.documents:,}"
    )


def tell_flips(flips: FlipTable) -> str:
    """Say how many answers flip without the heaviest unit, and without a random other."""
    total = max(flips.documents, 1)
    parts = {
        "both": flips.both,
        "only the heaviest": flips.only_top,
        "only the random one": flips.only_random,
        "neither": flips.neither,
    }
    said = ", ".join(f"{name} {percent(count / total)}" for name, count in parts.items())
    return f"the answer flips without one {flips.unit}: {said}; n={flips.documents:,}"


def compare_flips(flips: FlipTable) -> str:
    """Say in one sentence whether the heaviest unit flips more answers than a random other."""
    total = max(flips.documents, 1)
    heaviest, other = flips.both + flips.only_top, flips.both + flips.only_random
    return (
        f"With no weight for the heaviest {flips.unit}, {percent(heaviest / total)} of "
        f"{plural(flips.documents, 'answer')} flip; with none for a random other {flips.unit}, "
        f"{percent(other / total)} do."
    )


def _verdict(lost: Metric) -> str:
    if lost.beats_baseline and lost.value - lost.baseline < LEAST_LEAD:
        return "finds words that matter more than random ones, but next to nothing hangs on them"
    if lost.beats_baseline:
        return "finds words that the answers rest on"
    if lost.is_beaten:
        return "finds words that matter less than random ones"
    if lost.interval is None:
        return "cannot be judged by so few documents"
    return "cannot be told apart from chance by these documents"


def _tell_loss(lost: Metric) -> str:
    return (
        "Without the words it calls heaviest an answer loses "
        f"{points(lost.value)} percentage points of its probability (comprehensiveness; "
        f"{_tell_points(lost.interval)}), without as many random words {points(lost.baseline)}."
    )


def _tell_looks(lost: Metric) -> list[str]:
    """What the audit of a translator comes down to."""
    verdict = "Where this translator looks cannot be told apart from chance by these texts."
    if lost.beats_baseline:
        verdict = "This translator looks at words that its translations rest on."
    elif lost.is_beaten:
        verdict = "This translator looks at words that matter less than random ones."
    elif lost.interval is None:
        verdict = "Where this translator looks cannot be judged by so few texts."
    return [
        verdict,
        "Without the source words it looked at most a written word loses "
        f"{points(lost.value)} percentage points of its probability "
        f"({_tell_points(lost.interval)}), without as many random words {points(lost.baseline)}.",
    ]


def _tell_points(interval: Interval | None) -> str:
    """Write an interval of probabilities in percentage points."""
    if interval is None:
        return "no interval"
    return f"95 % interval {points(interval.low)} to {points(interval.high)}"
