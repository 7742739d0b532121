"""The part of a classifier that explains its answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Self, cast, overload

from ..records.explanation import ClassName, Explanation
from ..records.look import Look
from ..text.document import Document
from .choosing import best_method
from .explaining import Question, explain
from .looking import look

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["Explains"]


class Explains:
    """Explains the answers of the classifier that it is a part of."""

    @overload
    def explain(  # type: ignore[overload-overlap]
        self,
        texts: str,
        *,
        method: str = "default",
        label: ClassName | None = None,
        against: ClassName | None = None,
        receipt: bool = False,
    ) -> Explanation: ...

    @overload
    def explain(
        self,
        texts: Iterable[str],
        *,
        method: str = "default",
        label: ClassName | None = None,
        against: ClassName | None = None,
        receipt: bool = False,
    ) -> list[Explanation]: ...

    def explain(
        self,
        texts: str | Iterable[str],
        *,
        method: str = "default",
        label: ClassName | None = None,
        against: ClassName | None = None,
        receipt: bool = False,
    ) -> Explanation | list[Explanation]:
        """Return what decided: for one text its explanation, for several a list of them.

        ``label`` asks about another label than the answer, ``against`` names the rival of a
        contrast, and ``receipt`` measures how faithful each explanation is.
        """
        classifier = self._fitted()
        question = Question(method, label, against, receipt)
        if isinstance(texts, str):
            return explain(classifier, [texts], question)[0]
        return explain(classifier, texts, question)

    def look(self, documents: Iterable[Document], *, words: Sequence[str] = ()) -> Look:
        """Look through a corpus: words in context, evenness, deciding sentences, doubtful labels.

        ``words`` are those to see in context; without any, those are shown whose weight depends
        most on the answer.
        """
        return look(self._fitted(), documents, words=words)

    def choose_method(self, texts: Sequence[str]) -> Self:
        """Make the method that is most faithful on these texts the one called "default"."""
        classifier = self._fitted()
        chosen = best_method(classifier, texts)
        classifier.facts_ = {**classifier.facts_, "explain_method": chosen}
        return self

    def _fitted(self) -> DocumentClassifier:
        classifier = cast("DocumentClassifier", self)
        classifier._require_fitted()
        return classifier
