"""Frozen dataclasses to JSON and back, whatever they nest."""

from __future__ import annotations

import dataclasses
import json
import re
import types
import typing
from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar, Union, cast

from ..errors import DataError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Json", "decode", "encode"]

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
T = TypeVar("T", bound="DataclassInstance")

# Between the halves of a surrogate pair. A text can hold both as two characters, but JSON reads
# them back as one, and every span behind would be wrong: such a text is written in parts.
_HALVES = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


def encode(record: DataclassInstance, *, indent: int | None = None) -> str:
    """Return the record as JSON, its fields at the top level; NaN or infinity is an error."""
    fields = {
        field.name: _plain(getattr(record, field.name)) for field in dataclasses.fields(record)
    }
    return json.dumps(fields, allow_nan=False, indent=indent)


def decode(kind: type[T], text: str) -> T:
    """Read a record of ``kind`` from what ``encode`` wrote; names it does not know are left out."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as problem:
        raise DataError(f"this is not JSON, so no {kind.__name__}: {problem}") from problem
    try:
        return cast(T, _fields(kind, value))
    except DataError:
        raise
    except (TypeError, ValueError) as problem:
        raise DataError(f"this JSON does not fit {kind.__name__}: {problem}") from problem


def _plain(value: object) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        # A record with a form of its own, such as an explanation, keeps it when nested.
        own = getattr(value, "to_json", None)
        return cast(Json, json.loads(own() if own else encode(value)))
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, str) and _HALVES.search(value):
        return {"joined": cast(list[Json], _HALVES.split(value))}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a record cannot hold {type(value).__name__}; use plain values and tuples")


def _fields(kind: type[DataclassInstance], value: object) -> object:
    if not isinstance(value, Mapping):
        raise DataError(f"{kind.__name__} must be a JSON object, got {type(value).__name__}")
    hints = typing.get_type_hints(kind)
    given: dict[str, object] = {}
    for field in dataclasses.fields(kind):
        if field.name in value:
            given[field.name] = _built(hints[field.name], value[field.name])
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise DataError(f"{kind.__name__} lacks {field.name!r}; was it written by regard?")
    return kind(**given)


def _built(hint: object, value: Json) -> object:
    """Turn one JSON value into what the type ``hint`` says."""
    if typing.get_origin(hint) in (Union, types.UnionType):
        choices = [choice for choice in typing.get_args(hint) if choice is not type(None)]
        return None if value is None else _built(choices[0], value)
    if typing.get_origin(hint) is tuple:
        if not isinstance(value, list):
            raise DataError(f"a list was expected, got {value!r}")
        items = typing.get_args(hint)
        kinds = items[:1] * len(value) if items[-1] is Ellipsis else items
        if len(kinds) != len(value):
            raise DataError(f"a list of {len(kinds)} was expected, got one of {len(value)}")
        return tuple(_built(kind, item) for kind, item in zip(kinds, value, strict=True))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        own = getattr(hint, "from_json", None)
        return own(json.dumps(value)) if own else _fields(hint, value)
    if isinstance(value, Mapping) and value.keys() == {"joined"}:
        return "".join(cast(list[str], value["joined"]))
    return float(value) if hint is float and isinstance(value, int) else value
