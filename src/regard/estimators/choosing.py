"""Which method of explanation suits a fitted classifier best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import DataError
from ..explain.comprehensiveness import comprehensiveness
from ..explain.methods import LINEAR_METHODS, METHODS, RANKING_METHODS
from ..models.base import Hierarchical
from .explaining import answers_about

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["best_method"]


def best_method(classifier: DocumentClassifier, texts: Sequence[str]) -> str:
    """Return the method whose heaviest words and sentences the answers miss most.

    Compared by the mean comprehensiveness over the texts, which training must not have seen.
    """
    if not texts:
        raise DataError("choosing a method of explanation needs some texts to try it on")
    model = classifier.model_
    keeps = isinstance(model, Hierarchical) and model.isolated
    names = RANKING_METHODS if keeps else LINEAR_METHODS
    scores: dict[str, list[float]] = {name: [] for name in names}
    for _, answers in answers_about(classifier, texts):
        for name in names:
            scores[name] += comprehensiveness(answers, METHODS[name](answers)).tolist()
    return max(names, key=lambda name: float(np.mean(scores[name])))
