"""Frozen dataclasses to JSON and back, whatever they nest."""

from __future__ import annotations

import dataclasses
import json
import re
import types
import typing
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Self, TypeVar, Union, cast

from ..errors import DataError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = ["Json", "Record", "decode", "encode"]

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
T = TypeVar("T", bound="DataclassInstance")
_NUMBERS = {int, float, bool}

# Between the halves of a surrogate pair. A text can hold both as two characters, but JSON reads
# them back as one, and every span behind would be wrong: such a text is written in parts.
_HALVES = re.compile("(?<=[\ud800-\udbff])(?=[\udc00-\udfff])")


@dataclasses.dataclass(frozen=True, slots=True)
class Record:
    """Plain data that is written as a JSON object and read back unchanged."""

    def to_json(self, *, indent: int | None = None) -> str:
        """Return the record as a JSON object, on one line unless ``indent`` is given."""
        return encode(self, indent=indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read what ``to_json`` wrote."""
        return decode(cls, text)


def encode(record: DataclassInstance, *, indent: int | None = None) -> str:
    """Return the record as JSON, its fields at the top level; NaN or infinity is an error."""
    return json.dumps(_plain_fields(record), allow_nan=False, indent=indent)


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


def _plain_fields(record: DataclassInstance) -> dict[str, Json]:
    return {field.name: _plain(getattr(record, field.name)) for field in dataclasses.fields(record)}


def _plain(value: object) -> Json:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return cast(Json, _plain_fields(value))
    if isinstance(value, list | tuple):
        # Most of an explanation is numbers and pairs of them: JSON takes those as they are.
        if _holds_numbers(value) or _holds_rows_of_numbers(value):
            return cast(Json, value)
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, str) and _HALVES.search(value):
        return {"joined": cast(list[Json], _HALVES.split(value))}
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise TypeError(f"a record cannot hold {type(value).__name__}; use plain values and tuples")


def _holds_numbers(items: Sequence[object]) -> bool:
    return set(map(type, items)) <= _NUMBERS


def _holds_rows_of_numbers(items: Sequence[object]) -> bool:
    if not set(map(type, items)) <= {tuple, list}:
        return False
    rows = cast(Sequence[Sequence[object]], items)
    return set(map(type, chain.from_iterable(rows))) <= _NUMBERS


def _fields(kind: type[DataclassInstance], value: object) -> object:
    if not isinstance(value, Mapping):
        raise DataError(f"{kind.__name__} must be a JSON object, got {type(value).__name__}")
    if hasattr(kind, "upgraded"):  # it knows how an older version wrote it
        value = cast(Mapping[str, Json], kind.upgraded(value))
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
        if items[-1] is Ellipsis and (built := _built_at_once(items[0], value)) is not None:
            return built
        kinds = items[:1] * len(value) if items[-1] is Ellipsis else items
        if len(kinds) != len(value):
            raise DataError(f"a list of {len(kinds)} was expected, got one of {len(value)}")
        return tuple(_built(kind, item) for kind, item in zip(kinds, value, strict=True))
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return _fields(hint, value)
    if typing.get_origin(hint) is Mapping:
        if not isinstance(value, Mapping):
            raise DataError(f"an object was expected, got {value!r}")
        return {name: _built(typing.get_args(hint)[1], item) for name, item in value.items()}
    if isinstance(value, Mapping) and value.keys() == {"joined"}:
        return "".join(cast(list[str], value["joined"]))
    return float(value) if hint is float and isinstance(value, int) else value


def _built_at_once(hint: object, values: list[Json]) -> tuple[object, ...] | None:
    """Read many numbers, or many rows of whole numbers, without a step for each; else None."""
    kinds = set(map(type, values))
    if hint is float and kinds <= {int, float}:
        return tuple(map(float, cast(list[float], values)))
    if typing.get_origin(hint) is tuple and kinds == {list}:
        rows = cast(list[list[Json]], values)
        inner = typing.get_args(hint)
        of_any_length = inner == (int, Ellipsis)
        fitting = of_any_length or (set(inner) == {int} and set(map(len, rows)) == {len(inner)})
        if fitting and set(map(type, chain.from_iterable(rows))) <= {int}:
            return tuple(map(tuple, rows))
    return None
