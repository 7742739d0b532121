"""The classes of a data set, and the numbers that stand for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, suggestion
from ..text.document import Label, single_labels

__all__ = ["LabelIndex"]

LONGEST = 1000  # characters of a label


@dataclass(frozen=True)
class LabelIndex:
    """The classes in their order; the place of a class is its number."""

    classes: tuple[str | int, ...]
    multilabel: bool = False

    def __post_init__(self) -> None:
        names = [str(label) for label in self.classes]
        longest = max(names, key=len, default="")
        if len(longest) > LONGEST:
            raise DataError(
                f"a label has {len(longest):,} characters, more than {LONGEST:,}; it begins "
                f"{longest[:40]!r}: is that the column of labels?"
            )
        if len(set(names)) < len(names):
            raise DataError(f"the class {Counter(names).most_common(1)[0][0]!r} is there twice")

    @classmethod
    def from_labels(cls, labels: Iterable[Label]) -> LabelIndex:
        """Sort the labels that occur; whole numbers among texts become texts."""
        found = list(labels)
        several = {isinstance(label, tuple) for label in found}
        if len(several) > 1:
            raise DataError(
                "some documents have a list of labels and some a single one; use lists for all"
            )
        singles: set[str | int] = set()
        for label in found:
            singles.update(single_labels(label))
        if len({isinstance(label, str) for label in singles}) > 1:
            singles = {str(label) for label in singles}
        return cls(tuple(sorted(singles)), multilabel=several == {True})

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def array(self) -> NDArray[np.generic]:
        """The classes as scikit-learn takes them: whole numbers as such, texts as objects.

        An array of texts would make "p" and "p\\0" one, and each as wide as the longest.
        """
        whole = all(isinstance(label, int) and -(2**63) <= label < 2**63 for label in self.classes)
        if whole and self.classes:
            return np.array(self.classes, dtype=np.int64)
        objects = np.empty(len(self.classes), dtype=object)
        objects[:] = self.classes
        return objects

    def number(self, label: str | int) -> int | None:
        """Return the number of a class, if it is one.

        The text "3" and the number 3 are alike, and so are 3.0 and 3, TRUE and true, where only
        one of them is a class.
        """
        exact = self._numbers.get(str(label))
        return self._alike.get(_plain(str(label))) if exact is None else exact

    def named(self, label: Label | None) -> tuple[str | int, ...]:
        """Return the labels of a document as the classes write them; others as they are."""
        numbers = ((single, self.number(single)) for single in single_labels(label))
        return tuple(
            single if number is None else self.classes[number] for single, number in numbers
        )

    def encode(self, labels: Sequence[Label]) -> NDArray[np.int64] | NDArray[np.float32]:
        """Return class numbers, (documents,), or zeros and ones, (documents, classes)."""
        if not self.multilabel:
            return np.array([self._known(label) for label in labels], dtype=np.int64)
        encoded = np.zeros((len(labels), len(self)), dtype=np.float32)
        for row, label in zip(encoded, labels, strict=True):
            for single in single_labels(label):
                row[self._known(single)] = 1
        return encoded

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {str(label): number for number, label in enumerate(self.classes)}

    @cached_property
    def _alike(self) -> dict[str, int]:
        """The classes by the plain form of their names, where no two have the same."""
        plain = [_plain(str(label)) for label in self.classes]
        count = Counter(plain)
        return {name: number for number, name in enumerate(plain) if count[name] == 1}

    def _known(self, label: Label) -> int:
        number = None if isinstance(label, tuple) else self.number(label)
        if number is None:
            known = suggestion(str(label), [str(name) for name in self.classes])
            raise DataError(f"label {label!r} is none of the classes; {known}")
        return number


def _plain(name: str) -> str:
    """A label as JSON has it: true for Python's True, 3 for a spreadsheet's 3.0."""
    if name.lower() in ("true", "false"):
        return name.lower()
    whole = re.fullmatch(r"([+-]?\d+)\.0*", name)
    return name if whole is None else whole[1]
