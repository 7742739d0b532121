"""Settings as frozen dataclasses that go to JSON and back unchanged.

Every settings class of the package is flat: its fields are numbers, strings, booleans or
``None``. So one function reads them from JSON, one from the command line, and a saved
folder can be read by a person.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar, Union

from .errors import ConfigError, suggestion

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Plain", "from_dict", "require", "require_one_of", "to_dict", "with_text_values"]

Plain = str | int | float | bool | None
T = TypeVar("T", bound="DataclassInstance")


def to_dict(config: DataclassInstance) -> dict[str, Plain]:
    """Return the settings as plain values that JSON can hold."""
    return dataclasses.asdict(config)


def from_dict(kind: type[T], values: Mapping[str, Plain]) -> T:
    """Build settings of ``kind``; an unknown name, or a value of a wrong type, is an error."""
    hints = typing.get_type_hints(kind)
    known = {field.name for field in dataclasses.fields(kind)}
    checked: dict[str, Plain] = {}
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"{kind.__name__} has no setting {name!r}; {suggestion(name, known)}")
        checked[name] = _checked(f"{kind.__name__}.{name}", value, hints[name])
    return kind(**checked)


def with_text_values(config: T, values: Mapping[str, str]) -> T:
    """Return ``config`` with settings changed, each given as text: ``{"hidden_size": "100"}``."""
    kind = type(config)
    hints = typing.get_type_hints(kind)
    known = {field.name for field in dataclasses.fields(kind)}
    changed: dict[str, Plain] = {}
    for name, text in values.items():
        if name not in known:
            raise ConfigError(f"{kind.__name__} has no setting {name!r}; {suggestion(name, known)}")
        changed[name] = _parsed(f"{kind.__name__}.{name}", text, hints[name])
    return dataclasses.replace(config, **changed)


def require(holds: bool, message: str) -> None:
    """Raise ``ConfigError`` with ``message`` unless the condition holds."""
    if not holds:
        raise ConfigError(message)


def require_one_of(name: str, value: str, known: Iterable[str]) -> None:
    """Raise ``ConfigError`` unless ``value`` is a known choice of the setting ``name``."""
    choices = list(known)
    if value not in choices:
        raise ConfigError(f"{name} cannot be {value!r}; {suggestion(str(value), choices)}")


def _alternatives(hint: object) -> tuple[object, ...]:
    """The types a setting may have: ``int | None`` gives ``(int, NoneType)``."""
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _checked(name: str, value: Plain, hint: object) -> Plain:
    for kind in _alternatives(hint):
        if typing.get_origin(kind) is Literal:
            if value in typing.get_args(kind):
                return value
        elif kind is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
        elif isinstance(kind, type) and type(value) is kind:
            return value
    raise ConfigError(f"{name} must be {_described(hint)}, got {value!r}")


def _parsed(name: str, text: str, hint: object) -> Plain:
    for kind in _alternatives(hint):
        if kind is type(None) and text.lower() in ("none", "null"):
            return None
        if kind is bool and text.lower() in ("true", "false", "yes", "no", "1", "0"):
            return text.lower() in ("true", "yes", "1")
        if kind in (int, float):
            try:
                return int(text) if kind is int else float(text)
            except ValueError:
                continue
        if kind is str or (typing.get_origin(kind) is Literal and text in typing.get_args(kind)):
            return text
    raise ConfigError(f"{name} must be {_described(hint)}, got {text!r}")


def _described(hint: object) -> str:
    names = {int: "a whole number", float: "a number", str: "a word", bool: "true or false"}
    parts: list[str] = []
    for kind in _alternatives(hint):
        if typing.get_origin(kind) is Literal:
            parts += [repr(choice) for choice in typing.get_args(kind)]
        elif kind is type(None):
            parts.append("none")
        else:
            parts.append(names.get(kind, str(kind)) if isinstance(kind, type) else str(kind))
    return " or ".join(parts)
