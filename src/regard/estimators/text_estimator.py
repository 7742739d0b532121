"""What all estimators of texts have: scikit-learn's side, a fresh network, and loading.

Scikit-learn asks for the parameters by name, those of settings among them under
``network__hidden_size`` or ``training__epochs``; for tags; and to say when it is not fitted.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from inspect import signature
from typing import Self

import torch
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils import Tags

from ..config import require
from ..errors import ConfigError, NotFittedError, suggestion
from ..training.config import TrainingConfig
from ..training.seeds import derived_seed, seeded
from ..training.state import M
from .saved import (
    CaptionerSettings,
    SavedCaptioner,
    SavedTranslator,
    SavedTuned,
    Settings,
    TranslatorSettings,
)

__all__ = ["TextEstimator", "draw_network"]


class TextEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that takes a list of texts and is fitted once it has ``facts_``.

    Where a parameter is settings, each field of them is a parameter too.
    """

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return the parameters by name; with ``deep`` also the fields of settings among them."""
        params: dict[str, object] = super().get_params(deep=False)
        if deep:
            for name, value in list(params.items()):
                if _is_settings(value):
                    for field in dataclasses.fields(value):  # type: ignore[arg-type]
                        params[f"{name}__{field.name}"] = getattr(value, field.name)
        return params

    def set_params(self, **params: object) -> Self:
        """Change parameters by name; ``network__hidden_size=100`` replaces one setting."""
        # Whole settings first, so that a field given with them changes the new ones.
        for name, value in sorted(params.items(), key=lambda item: item[0].count("__")):
            part, _, field = name.partition("__")
            known = super().get_params(deep=False)
            if part not in known:
                raise ConfigError(
                    f"{type(self).__name__} has no parameter {part!r}; {suggestion(part, known)}"
                )
            if field:
                setattr(self, part, _replaced(getattr(self, part), field, value))
            else:
                setattr(self, part, value)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "facts_")  # the last thing that a fit or a load sets

    def _require_settings(self) -> None:
        """Raise ``ConfigError`` where a parameter that is settings was given anything else."""
        for name, parameter in signature(type(self)).parameters.items():
            usual = parameter.default
            if not _is_settings(usual) or isinstance(given := getattr(self, name), type(usual)):
                continue
            own = name == "network" and not isinstance(given, type) and hasattr(given, "build")
            optional = str(parameter.annotation).endswith("| None")
            require(
                own or (optional and given is None),
                f"{name} must be settings, as {type(usual).__name__}() makes them"
                f"{', or None' if optional else ''}; got {given!r:.100}",
            )

    def _require_pair(self, validation: object, what: str) -> None:
        """Raise ``ConfigError`` where documents to validate on are not a pair of columns."""
        require(
            isinstance(validation, Sequence) and len(validation) == 2,
            f"validation must be {what}, got {validation!r:.100}; "
            f"a share is named as {type(self).__name__}(validation=0.2)",
        )

    def _unfit(self) -> None:
        """Make sure that a fit that fails half-way leaves nothing to predict with."""
        self.__dict__.pop("facts_", None)

    @classmethod
    def _with(cls, used: Settings | TranslatorSettings | CaptionerSettings, device: str) -> Self:
        """Make an estimator whose parameters are those that another was fitted with."""
        names = [field.name for field in dataclasses.fields(used)]
        return cls(**{name: getattr(used, name) for name in names}, device=device)

    def _take_over(self, saved: SavedTranslator | SavedTuned | SavedCaptioner) -> Self:
        """Give the network the weights that were saved, and remember how they were learnt."""
        self.model_.load_state_dict(dict(saved.weights))
        self.model_.eval()
        self.history_, self.facts_ = saved.history, saved.facts
        return self

    def _require_fitted(self) -> None:
        if not self.__sklearn_is_fitted__():
            raise _NotFittedError(
                f"this {type(self).__name__} is not fitted yet; call fit or load first"
            )


def draw_network(build: Callable[[], M], training: TrainingConfig, device: torch.device) -> M:
    """Make a fresh network, whose weights descend from the seed of the training."""
    with seeded(derived_seed(training.seed, "weights")):
        return build().to(device)


class _NotFittedError(NotFittedError, SklearnNotFittedError):  # type: ignore[misc]
    """Ours and scikit-learn's, so that either can be caught."""


def _is_settings(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _replaced(settings: object, field: str, value: object) -> object:
    known = [entry.name for entry in dataclasses.fields(settings)] if _is_settings(settings) else []  # type: ignore[arg-type]
    if field not in known:
        raise ConfigError(
            f"{type(settings).__name__} has no setting {field!r}; {suggestion(field, known)}"
        )
    return dataclasses.replace(settings, **{field: value})  # type: ignore[type-var]
