"""TF-IDF beside a classifier: fitted on what that was trained on, scored on what was held out."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..data.labels import LabelIndex
from ..tasks.baselines import MAX_DOCUMENTS, TfidfBaseline
from ..tasks.predictions import Predictions
from ..text.document import Document

__all__ = ["BaselineFit"]


@dataclass(frozen=True, slots=True, eq=False)
class BaselineFit:
    """Fits baselines on the documents that a classifier was trained on, known by their places.

    Of very many documents some are drawn, by the seed.
    """

    labels: LabelIndex
    training: NDArray[np.int64]  # the places of the documents that were trained on
    held_out: NDArray[np.int64]  # and of those that were held out from it
    folds: NDArray[np.int64] | None  # (documents,), which fold holds each out
    fold_count: int
    seed: int

    def fit(self, documents: Iterable[Document]) -> tuple[TfidfBaseline, float | None]:
        """Fit on the documents at the places; say which share it answers right, if any can tell.

        What was held out says that, or where there were folds a baseline for each of them.
        """
        draw = np.random.default_rng(self.seed)
        wanted, judged = (
            set(draw.permutation(places)[:MAX_DOCUMENTS].tolist())
            for places in (self.training, self.held_out)
        )
        kept, held_out = dict[int, Document](), dict[int, Document]()
        for place, document in enumerate(documents):
            if place in wanted:
                kept[place] = document
            elif place in judged:
                held_out[place] = document
        fitted = self._fit(list(kept.values()))
        right = list[bool]()
        if held_out:
            right = self._right_answers(fitted, list(held_out.values()))
        elif self.folds is not None:
            right = self._right_in_folds(kept, self.folds)
        share = statistics.mean(right) if right else None
        return replace(fitted, drawn_from=len(self.training)), share

    def _right_in_folds(
        self, documents: dict[int, Document], folds: NDArray[np.int64]
    ) -> list[bool]:
        """Say of each document whether a baseline that has not seen it gives it its label."""
        right = list[bool]()
        for fold in range(self.fold_count):
            out = {place for place in documents if folds[place] == fold}
            fitted = self._fit([documents[place] for place in documents if place not in out])
            right += self._right_answers(
                fitted, [documents[place] for place in documents if place in out]
            )
        return right

    def _fit(self, documents: Sequence[Document]) -> TfidfBaseline:
        return TfidfBaseline.fit(
            [document.text for document in documents],
            self._numbers(documents),
            class_count=len(self.labels),
            seed=self.seed,
        )

    def _right_answers(self, baseline: TfidfBaseline, documents: Sequence[Document]) -> list[bool]:
        """Say of each document whether the baseline gives it its label."""
        likely = baseline.predict_proba([document.text for document in documents])
        truth = self._numbers(documents)
        answered = Predictions.from_probabilities(self.labels.classes, truth, likely)
        right: list[bool] = answered.correct().tolist()
        return right

    def _numbers(self, documents: Sequence[Document]) -> NDArray[np.int64]:
        """The labels of documents as numbers."""
        named = [document.label for document in documents]
        return self.labels.encode(named).astype(np.int64)  # type: ignore[arg-type]
