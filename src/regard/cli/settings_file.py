"""``settings.toml``: what ``regard train`` would be told by options, kept in a file.

Names are those of the options, ``text-column = "review"``; a table for each part holds its
settings, as ``--set`` takes them. Options of the command line win.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated

import typer

from ..config import read_toml
from ..errors import ConfigError, suggestion

__all__ = ["ConfigFile", "changes_of", "toml"]

_CHANGES = "regard.changes"  # what the file said of settings, as --set would say it
_NOT_IN_A_FILE = ("config", "changes", "help")


def _read(context: typer.Context, path: Path | None) -> Path | None:
    """Take what the file says for the defaults of this command."""
    if path is None or context.resilient_parsing:
        return path
    given = read_toml(path)
    known = {one.name: one for one in context.command.params if one.name not in _NOT_IN_A_FILE}
    usual: dict[str, object] = {}
    changes: list[str] = []
    for key, value in given.items():
        if isinstance(value, Mapping):
            changes += [f"{key}.{name}={_as_text(one)}" for name, one in value.items()]
            continue
        name = key.replace("-", "_")
        if name not in known:
            names = [str(one).replace("_", "-") for one in known]
            raise ConfigError(f"{path} has {key!r}, which is no option; {suggestion(key, names)}")
        usual[name] = value if isinstance(value, bool) else str(value)
    context.default_map = {**(context.default_map or {}), **usual}
    context.meta[_CHANGES] = changes
    return path


def _as_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


ConfigFile = Annotated[
    Path | None,
    typer.Option(
        is_eager=True,
        callback=_read,
        metavar="FILE",
        help="A file of options and settings, as regard info --config prints one.",
    ),
]


def changes_of(context: typer.Context) -> list[str]:
    """What the file of settings changes; nothing where there is none."""
    return list(context.meta.get(_CHANGES, ()))


def toml(
    options: Mapping[str, object],
    parts: Mapping[str, Mapping[str, object]],
    *,
    left_open: Collection[str] = (),
) -> list[str]:
    """Return the lines of a file of settings that says just this.

    What is ``left_open``, by part and name, is a comment: it can be seen, and is not asked for.
    """
    lines = [f"{name} = {_written(value)}" for name, value in options.items()]
    for part, settings in parts.items():
        lines += ["", f"[{part}]"]
        for name, value in settings.items():
            comment = "# " if f"{part}.{name}" in left_open else ""
            lines.append(f"{comment}{name} = {_written(value)}")
    return lines


def _written(value: object) -> str:
    """A value as TOML writes it; it knows no null, and --set calls that none."""
    if value is None:
        return '"none"'
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
