"""What scikit-learn asks of an estimator of texts: its tags, and to say when it is not fitted."""

from __future__ import annotations

from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils import Tags

from ..errors import NotFittedError
from .settings import NestedSettings

__all__ = ["TextEstimator"]


class TextEstimator(NestedSettings):
    """An estimator that takes a list of texts and is fitted once it has ``facts_``."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "facts_")  # the last thing that a fit or a load sets

    def _unfit(self) -> None:
        """Make sure that a fit that fails half-way leaves nothing to predict with."""
        self.__dict__.pop("facts_", None)

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call fit or load first"
            )


class _NotFittedError(NotFittedError, SklearnNotFittedError):  # type: ignore[misc]
    """Ours and scikit-learn's, so that either can be caught."""
