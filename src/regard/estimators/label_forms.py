"""The forms in which scikit-learn gives labels and expects them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from ..config import Plain
from ..data.labels import LabelIndex
from ..data.readers import Reader, label_rows, read_texts
from ..errors import DataError
from ..records.explanation import ClassName

__all__ = ["LabelForm"]


MOST_COLUMNS = 1_000_000  # that a saved folder can ask for


@dataclass(frozen=True, slots=True)
class LabelForm:
    """How labels were given to ``fit``, so that ``predict`` gives them back in the same form.

    Names (and whole numbers, and lists of them) stay what they are. Booleans are read as "false"
    and "true". A matrix of zeros and ones, (texts, columns), is read as the list of the columns
    that hold, each named by its number.
    """

    kind: Literal["names", "booleans", "indicators"] = "names"
    columns: int = 0  # of a matrix

    @classmethod
    def of(cls, labels: Iterable[object]) -> tuple[Self, Sequence[object]]:
        """Return the form of labels, and the labels as documents have them."""
        rows = label_rows(labels)
        if isinstance(rows, np.ndarray):
            form = cls("indicators", rows.shape[1])
            return form, form._columns_that_hold(rows)
        listed = list(rows)
        truths = [isinstance(row, bool | np.bool_) for row in listed]
        return cls("booleans" if truths and all(truths) else "names"), listed

    def read(self, labels: Iterable[object]) -> Sequence[object]:
        """Return other labels of the same form as documents have them."""
        other, rows = LabelForm.of(labels)
        if other.kind == "indicators" and other != self:
            raise DataError(
                f"the labels are a matrix of {other.columns} columns; the classifier was fitted on "
                + (f"one of {self.columns}" if self.kind == "indicators" else "labels by name")
            )
        return rows

    def read_pair(self, given: tuple[Iterable[str], Iterable[object]]) -> Reader:
        """Read other texts, with labels of the same form."""
        rows = self.read(given[1])
        if self.kind == "booleans":
            for row in rows:
                if str(row).lower() not in ("false", "true"):
                    raise DataError(
                        f"the labels to train on are booleans, and among those to validate on is "
                        f"{row!r:.100}"
                    )
        return read_texts(given[0], rows)

    def name(self, label: ClassName | None) -> ClassName | None:
        """Return the name of a label that is given as ``predict`` gives it."""
        truth = self.kind == "booleans" and isinstance(label, bool | np.bool_)
        return str(bool(label)).lower() if truth else label

    def classes(self, labels: LabelIndex) -> NDArray[np.generic]:
        """The classes as scikit-learn sees them."""
        if self.kind == "booleans":
            return np.array([name == "true" for name in labels.classes])
        if self.kind == "indicators":
            return np.array([int(name) for name in labels.classes])
        return labels.array

    def write(self, answers: NDArray[np.generic]) -> NDArray[np.generic]:
        """Return answers, which are names or tuples of names, in this form."""
        if self.kind == "booleans":
            return np.array([name == "true" for name in answers.tolist()], dtype=bool)
        if self.kind == "indicators":
            matrix = np.zeros((len(answers), self.columns), dtype=np.int64)
            for row, names in zip(matrix, answers.tolist(), strict=True):
                row[[int(name) for name in names]] = 1
            return matrix
        return answers

    def facts(self) -> dict[str, Plain]:
        """What a saved model must remember; nothing of names."""
        if self.kind == "names":
            return {}
        return {"label_form": self.kind, "label_columns": self.columns}

    @classmethod
    def from_facts(cls, facts: Mapping[str, Plain], labels: LabelIndex) -> Self:
        """Read what ``facts`` gave; a form that the classes do not have is an error."""
        kind, names = facts.get("label_form", "names"), {str(name) for name in labels.classes}
        if kind == "names":
            return cls()
        if kind == "booleans" and not labels.multilabel and names <= {"false", "true"}:
            return cls("booleans")
        columns = facts.get("label_columns")
        known = isinstance(columns, int) and 0 < columns <= MOST_COLUMNS
        if kind == "indicators" and labels.multilabel and known:
            columns = int(str(columns))
            if names <= set(_column_names(columns)):
                return cls("indicators", columns)
        raise DataError(f"the labels cannot have been given as {kind!r}")

    def _columns_that_hold(self, matrix: NDArray[np.generic]) -> list[tuple[str, ...]]:
        if not np.isin(matrix, (0, 1)).all():
            raise DataError(
                f"labels of shape {matrix.shape} must be zeros and ones, a column for each label"
            )
        names = _column_names(self.columns)
        return [
            tuple(name for name, holds in zip(names, row, strict=True) if holds)
            for row in matrix.tolist()
        ]


def _column_names(columns: int) -> list[str]:
    width = len(str(max(columns - 1, 0)))  # so that names sort as numbers do
    return [f"{column:0{width}}" for column in range(columns)]
