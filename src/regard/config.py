"""Settings as frozen dataclasses that go to JSON and back unchanged.

Every settings class of the package is flat: its fields are numbers, strings, booleans or
``None``. So one function reads them from JSON, one from the command line, and a saved
folder can be read by a person. ``checked_settings`` holds each value to the type of its field,
wherever it comes from; a class itself only says which range it allows.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
import tomllib
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, Union

from .errors import ConfigError, suggestion

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "Plain",
    "checked_settings",
    "from_dict",
    "read_toml",
    "require",
    "require_counts",
    "require_one_of",
    "require_seed",
    "require_shares",
    "to_dict",
    "with_text_values",
]

Plain = str | int | float | bool | None
T = TypeVar("T", bound="DataclassInstance")
C = TypeVar("C")
V = TypeVar("V")
Number = TypeVar("Number", int, float)


def checked_settings(kind: type[C]) -> type[C]:
    """Let a settings class check the types of its values first; stands under ``@dataclass``.

    A whole number may stand for a number, and a number of numpy for one of Python's.
    """
    check_range = getattr(kind, "__post_init__", None)  # its own, or its base's

    def check(self: DataclassInstance) -> None:
        _check_types(self)
        if check_range is not None:
            check_range(self)

    setattr(kind, "__post_init__", check)  # noqa: B010 - a class has no such attribute to mypy
    return kind


def to_dict(config: DataclassInstance) -> dict[str, Plain]:
    """Return the settings as plain values that JSON can hold."""
    return dataclasses.asdict(config)


def from_dict(kind: type[T], values: Mapping[str, Plain]) -> T:
    """Build settings of ``kind``; an unknown name, or a value of a wrong type, is an error."""
    return kind(**_each_setting(kind, values, _checked))


def with_text_values(config: T, values: Mapping[str, str]) -> T:
    """Return ``config`` with settings changed, each given as text: ``{"hidden_size": "100"}``."""
    changed = _each_setting(type(config), values, _parsed)
    return dataclasses.replace(config, **changed)


def read_toml(path: Path) -> dict[str, object]:
    """Read a file of settings as plain values; what is no TOML is an error in one line."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as problem:
        raise ConfigError(f"{path} cannot be read: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise ConfigError(f"{path} is no TOML: {problem}") from problem


def require(holds: bool, message: str) -> None:
    """Raise ``ConfigError`` with ``message`` unless the condition holds."""
    if not holds:
        raise ConfigError(message)


def require_seed(seed: int) -> None:
    """Raise ``ConfigError`` unless every generator of random numbers takes the seed."""
    require(0 <= seed < 2**63, f"seed must lie between 0 and 2**63 - 1, got {seed}")


def require_counts(settings: object, *names: str) -> None:
    """Raise ``ConfigError`` unless each of these settings is at least 1, or left open as None."""
    for name in names:
        value: int | None = getattr(settings, name)
        require(value is None or value >= 1, f"{name} must be at least 1, got {value}")


def require_shares(settings: object, *names: str) -> None:
    """Raise ``ConfigError`` unless each of these settings is from 0 to below 1."""
    for name in names:
        value: float = getattr(settings, name)
        require(0 <= value < 1, f"{name} must be from 0 to below 1, got {value}")


def require_one_of(name: str, value: str, known: Iterable[str]) -> None:
    """Raise ``ConfigError`` unless ``value`` is a known choice of the setting ``name``."""
    choices = list(known)
    if value not in choices:
        raise ConfigError(f"{name} cannot be {value!r}; {suggestion(str(value), choices)}")


def _check_types(config: DataclassInstance) -> None:
    kind = type(config)
    for name, hint in _field_types(kind).items():
        value = getattr(config, name)
        plain = _checked(f"{kind.__name__}.{name}", value, hint)
        if plain is not value:
            object.__setattr__(config, name, plain)  # the settings are frozen, but not made yet


def _each_setting(
    kind: type[DataclassInstance],
    values: Mapping[str, V],
    read: Callable[[str, V, object], Plain],
) -> dict[str, Plain]:
    """Read the value of every named setting by its type; an unknown name is an error."""
    known = _field_types(kind)
    found: dict[str, Plain] = {}
    for name, value in values.items():
        if name not in known:
            raise ConfigError(f"{kind.__name__} has no setting {name!r}; {suggestion(name, known)}")
        found[name] = read(f"{kind.__name__}.{name}", value, known[name])
    return found


@functools.cache
def _field_types(kind: type[DataclassInstance]) -> Mapping[str, object]:
    """The type of each setting."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in dataclasses.fields(kind)}


def _alternatives(hint: object) -> tuple[object, ...]:
    """The types a setting may have: ``int | None`` gives ``(int, NoneType)``."""
    if typing.get_origin(hint) in (Union, types.UnionType):
        return typing.get_args(hint)
    return (hint,)


def _checked(name: str, value: object, hint: object) -> Plain:
    """Return the value as Python's own type, or raise; bool is no number here."""
    for kind in _alternatives(hint):
        if typing.get_origin(kind) is Literal:
            if isinstance(value, str) and value in typing.get_args(kind):
                return value
        elif kind is int and isinstance(value, numbers.Integral) and not isinstance(value, bool):
            return _bounded(name, int(value))
        elif kind is float and isinstance(value, numbers.Real) and not isinstance(value, bool):
            return float(_bounded(name, int(value) if isinstance(value, int) else float(value)))
        elif kind not in (int, float) and isinstance(kind, type) and isinstance(value, kind):
            return typing.cast(Plain, value)
    raise _refusal(name, value, hint)


def _bounded(name: str, value: Number) -> Number:
    """The number, where it is one that can be counted with."""
    fits = abs(value) < 2**63 if isinstance(value, int) else math.isfinite(value)
    if not fits:
        raise ConfigError(f"{name} is too large, or no number: {value!r}")
    return value


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
    raise _refusal(name, text, hint)


def _refusal(name: str, value: object, hint: object) -> ConfigError:
    choices = [c for kind in _alternatives(hint) for c in typing.get_args(kind)]
    if choices and isinstance(value, str):
        return ConfigError(f"{name} cannot be {value!r}; {suggestion(value, choices)}")
    return ConfigError(f"{name} must be {_described(hint)}, got {value!r}")


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
