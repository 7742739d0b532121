"""Tables of numbers as HTML that can be sorted by any column."""

from __future__ import annotations

from ..records.evaluation import Evaluation
from .drawing.tables import Cell, table
from .drawing.words import percent

__all__ = [
    "class_table",
]


def class_table(evaluation: Evaluation) -> str:
    """Return how well each class is found."""
    rows = [
        [
            Cell(score.label),
            Cell(f"{score.support:,}", score.support),
            Cell(f"{score.predicted:,}", score.predicted),
            Cell(percent(score.precision), score.precision, score.precision),
            Cell(percent(score.recall), score.recall, score.recall),
            Cell(percent(score.f1), score.f1, score.f1),
        ]
        for score in evaluation.per_class
    ]
    heads = ("Class", "Documents", "Answered", "Precision", "Recall", "F1")
    return table(heads, rows, caption="Scores of each class; choose a heading to sort")
