"""An evaluation in plain words: what the report and the terminal both say."""

from __future__ import annotations

from ...records.evaluation import Baseline, Evaluation
from ..drawing.words import percent, plural, points, write_interval

__all__ = ["compare_with", "find_learned_baseline", "headline", "name_baseline", "remarks"]


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


def compare_with(baseline: Baseline) -> str:
    """Say whether the model beats a plain method, and whether these documents can tell."""
    name = name_baseline(baseline)
    name = name if baseline.learned else name[0].lower() + name[1:]
    difference = baseline.accuracy_difference
    value, low, high = (
        points(number, sign=True)
        for number in (difference.value, difference.interval.low, difference.interval.high)
    )
    gap = f"{value} points, 95 % interval {low} to {high}"
    if difference.interval.low > 0:
        return f"Better than {name} ({gap})."
    if difference.interval.high < 0:
        return f"Worse than {name} ({gap})."
    return f"These documents cannot tell it apart from {name} ({gap})."


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
