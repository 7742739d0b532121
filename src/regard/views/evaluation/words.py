"""An evaluation in plain words: what the report and the terminal both say."""

from __future__ import annotations

from ...records.audit import FEWEST_DOCUMENTS
from ...records.evaluation import Baseline, ClassScore, Evaluation
from ..drawing.words import percent, plural, points, write_interval

__all__ = [
    "NOTHING",
    "cautions",
    "compare_with",
    "find_learned_baseline",
    "headline",
    "name_baseline",
    "remarks",
    "shares_of",
]

NOTHING = "—"  # where there is nothing to divide by
_MOST_NAMED = 3


def find_learned_baseline(evaluation: Evaluation) -> Baseline | None:
    """Return the strongest plain method that looks at the texts, if one was measured."""
    learned = [part for part in evaluation.baselines if part.learned]
    return max(learned, key=lambda part: part.accuracy, default=None)


def headline(evaluation: Evaluation) -> list[str]:
    """Say in a few sentences how good the model is, beside what plain methods reach."""
    whole = "All labels right" if evaluation.task == "multi-label" else "Right"
    count = plural(evaluation.document_count, "document")
    sentences = [
        f"{whole} on {percent(evaluation.accuracy)} of {count} "
        f"({write_interval(evaluation.accuracy_interval)})."
    ]
    for baseline in evaluation.baselines:
        sentences.append(f"{name_baseline(baseline)}: {percent(baseline.accuracy)}.")
    return sentences


def name_baseline(baseline: Baseline) -> str:
    """Name a plain method, or say what it always answers."""
    if baseline.constant_answer is None:
        return baseline.name
    if baseline.learned:
        return f"{baseline.name} (always ‘{baseline.constant_answer}’)"
    return f"Always guessing ‘{baseline.constant_answer}’"


def compare_with(baseline: Baseline, documents: int) -> str:
    """Say whether the model beats a plain method, and whether so many documents can tell."""
    name = name_baseline(baseline)
    name = name if baseline.learned else name[0].lower() + name[1:]
    difference = baseline.accuracy_difference
    value, low, high = (
        points(number, sign=True)
        for number in (difference.value, difference.interval.low, difference.interval.high)
    )
    if documents < FEWEST_DOCUMENTS:
        return f"Too few documents to tell it apart from {name} ({value} points)."
    gap = f"{value} points, 95 % interval {low} to {high}"
    if difference.interval.low > 0:
        return f"Better than {name} ({gap})."
    if difference.interval.high < 0:
        return f"Worse than {name} ({gap})."
    return f"These documents cannot tell it apart from {name} ({gap})."


def cautions(evaluation: Evaluation) -> list[str]:
    """Say what the scores hide: documents that were learnt from, classes that are never given."""
    said = []
    seen = evaluation.data.seen_in_training
    if seen and (fresh := evaluation.data.fresh):
        others = [
            f"{name_baseline(baseline)}: {percent(accuracy)}"
            for baseline, accuracy in zip(
                evaluation.baselines, fresh.baseline_accuracies, strict=True
            )
            if baseline.learned
        ]
        beside = f"; {'; '.join(others)}" if others else ""
        said.append(
            f"{plural(seen, 'text')} also in the training data. "
            f"Of the other {fresh.document_count:,}, {percent(fresh.accuracy)} are right "
            f"({write_interval(fresh.accuracy_interval)}){beside}."
        )
    elif seen == evaluation.document_count:
        said.append(
            "All of these texts are also in the training data: "
            "the scores do not say how good the model is on new ones."
        )
    if never := evaluation.never_answered():
        said.append(_tell_never(evaluation, never))
    return said


def _tell_never(evaluation: Evaluation, never: list[str]) -> str:
    """Say which classes the model never gives, or which one it always gives."""
    given = [score.label for score in evaluation.per_class if score.predicted]
    if evaluation.task == "single-label" and len(given) == 1:
        return f"The model answers ‘{given[0]}’ to every document."
    named = ", ".join(f"‘{label}’" for label in never[:_MOST_NAMED])
    more = f" and {len(never) - _MOST_NAMED:,} more" if len(never) > _MOST_NAMED else ""
    present = sum(1 for score in evaluation.per_class if score.support)
    share = f", {len(never):,} of the {present:,} classes in these documents" if present > 1 else ""
    return f"The model never answers {named}{more}{share}."


def shares_of(score: ClassScore) -> tuple[str, str, str]:
    """Write precision, recall and F1 of a class, a dash where nothing was to be divided by."""
    return (
        percent(score.precision) if score.predicted else NOTHING,
        percent(score.recall) if score.support else NOTHING,
        NOTHING if score.absent else percent(score.f1),
    )


def remarks(evaluation: Evaluation) -> list[str]:
    """Say what a reader must know about the data: what was skipped, cut or seen before."""
    data = evaluation.data
    said = data.rows.describe() if data.rows else []
    if data.unknown_label_rows:
        rows = plural(data.unknown_label_rows, "row")
        such = f" ({', '.join(data.unknown_labels)})" if data.unknown_labels else ""
        said.append(f"{rows} not scored: their label is none that the model knows{such}")
    if data.seen_in_training:
        texts = plural(data.seen_in_training, "text")
        said.append(f"{texts} also in the training data: scores may flatter")
    if data.unknown_token_share is not None:
        said.append(f"{percent(data.unknown_token_share)} of the tokens are unknown to the model")
    said += data.truncation.describe() if data.truncation else []
    return said
