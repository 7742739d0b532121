"""Nested settings under scikit-learn's names: ``network__hidden_size``, ``training__epochs``."""

from __future__ import annotations

import dataclasses
from typing import Self

from sklearn.base import BaseEstimator

from ..errors import ConfigError, suggestion

__all__ = ["NestedSettings"]


class NestedSettings(BaseEstimator):  # type: ignore[misc]
    """An estimator whose parameters may be settings, each field of which is a parameter too."""

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


def _is_settings(value: object) -> bool:
    return dataclasses.is_dataclass(value) and not isinstance(value, type)


def _replaced(settings: object, field: str, value: object) -> object:
    known = [entry.name for entry in dataclasses.fields(settings)] if _is_settings(settings) else []  # type: ignore[arg-type]
    if field not in known:
        raise ConfigError(
            f"{type(settings).__name__} has no setting {field!r}; {suggestion(field, known)}"
        )
    return dataclasses.replace(settings, **{field: value})  # type: ignore[type-var]
