"""An evaluation as plain lines of text for a terminal or a log."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from ...records.evaluation import Baseline, ClassScore, Evaluation
from ..drawing.terminal import printable, printable_line
from ..drawing.words import percent, write_interval
from .words import cautions, compare_with, headline, name_baseline, remarks, shares_of

__all__ = ["summary"]

_MOST_CLASSES = 20  # rows of the table of classes; of more, the weakest are shown
_MOST_MIX_UPS = 3
_MOST_ABSENT = 10


def summary(evaluation: Evaluation) -> list[str]:
    """Return the evaluation as lines: the verdict, scores beside baselines, classes, confidence."""
    blocks = [
        [
            *headline(evaluation),
            *(compare_with(one, evaluation.document_count) for one in evaluation.baselines),
            *cautions(evaluation),
        ],
        _scores(evaluation),
        _classes(evaluation),
        _mix_ups(evaluation),
        _confidence(evaluation),
        remarks(evaluation),
    ]
    lines: list[str] = []
    for block in blocks:
        lines += [""] if lines and block else []
        lines += [printable(line).replace("\n", " ") for line in block]
    return lines


def _scores(evaluation: Evaluation) -> list[str]:
    rows = [("", "accuracy", "macro F1")]
    methods: list[tuple[str, Evaluation | Baseline]] = [("This model", evaluation)]
    methods += [(name_baseline(baseline), baseline) for baseline in evaluation.baselines]
    for name, part in methods:
        accuracy = f"{percent(part.accuracy)} ({write_interval(part.accuracy_interval)})"
        rows.append(
            (name, accuracy, f"{percent(part.macro_f1)} ({write_interval(part.macro_f1_interval)})")
        )
    lines = _align(rows)
    if evaluation.task == "multi-label":
        interval = write_interval(evaluation.micro_f1_interval)
        lines.append(
            f"micro F1 {percent(evaluation.micro_f1)} ({interval}), "
            f"Hamming loss {percent(evaluation.hamming_loss)}"
        )
    return lines


def _classes(evaluation: Evaluation) -> list[str]:
    shown = [score for score in evaluation.per_class if not score.absent]
    left_out: list[ClassScore] = []
    if len(shown) > _MOST_CLASSES:
        shown.sort(key=lambda score: (score.f1, -score.support))
        shown, left_out = shown[:_MOST_CLASSES], shown[_MOST_CLASSES:]
    rows: list[tuple[str, ...]] = [("class", "documents", "answered", "precision", "recall", "F1")]
    rows += [
        (
            score.label,
            f"{score.support:,}",
            f"{score.predicted:,}",
            *shares_of(score),
        )
        for score in shown
    ]
    lines = _align(rows) + ([_tell_left_out(shown, left_out)] if left_out else [])
    if absent := evaluation.absent():
        lines.append(_tell_absent(absent, several=evaluation.task == "multi-label"))
    return lines


def _tell_absent(absent: Sequence[str], *, several: bool) -> str:
    """Name the classes that no document has and no answer gives, and say what they count."""
    named = ", ".join(absent[:_MOST_ABSENT])
    more = f" and {len(absent) - _MOST_ABSENT:,} more" if len(absent) > _MOST_ABSENT else ""
    counted = "which the macro F1 counts as 0" if several else "so in no score"
    return f"in no document and no answer, {counted}: {named}{more}"


def _tell_left_out(shown: Sequence[ClassScore], left_out: Sequence[ClassScore]) -> str:
    """Say which classes a table shows, where both come in the order of their F1."""
    if shown[0].f1 == left_out[-1].f1:
        total = len(shown) + len(left_out)
        return f"{len(shown)} of {total:,} classes, all of the same F1; the report has the others"
    better = "better ones" if left_out[0].f1 > shown[-1].f1 else "as good or better"
    return f"the {len(shown)} weakest classes; {len(left_out):,} {better} are in the report"


def _mix_ups(evaluation: Evaluation) -> list[str]:
    return [
        f"{found.count:,} of ‘{found.true}’ taken for ‘{found.predicted}’"
        for found in evaluation.mix_ups()[:_MOST_MIX_UPS]
    ]


def _confidence(evaluation: Evaluation) -> list[str]:
    gap = percent(evaluation.expected_calibration_error)
    lines = [f"confidence is off by {gap} on average; log loss {evaluation.log_loss:.3f}"]
    if evaluation.temperature != 1.0:
        raw = percent(evaluation.raw_calibration.expected_error)
        lines[0] += f" (temperature {evaluation.temperature:.2f}; without it {raw})"
    goal = next((goal for goal in (0.9, 0.95, 0.99) if goal > evaluation.accuracy), None)
    point = evaluation.threshold_for(goal) if goal else None
    if goal and point:
        lines.append(
            f"to be right on {percent(goal, 0)} of answers, answer {percent(point.coverage)} of "
            f"documents: those of confidence {point.threshold:.3f} or more"
        )
    return lines


def _align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Columns two spaces apart, the first to the left, numbers to the right."""
    texts = [[printable_line(text) for text in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*texts, strict=True)]
    lines = []
    for first, *rest in texts:
        cells = [first + " " * (widths[0] - cell_len(first))]
        cells += [
            " " * (width - cell_len(text)) + text
            for text, width in zip(rest, widths[1:], strict=True)
        ]
        lines.append("  ".join(cells).rstrip())
    return lines
