"""Options that several commands share, written once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..errors import DataError, suggestion

__all__ = [
    "Data",
    "Device",
    "Encoding",
    "Json",
    "LabelColumn",
    "LabelsSeparator",
    "ModelFolder",
    "OnBadRow",
    "Quiet",
    "TextColumn",
    "existing",
]

ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="A folder that train wrote.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="CSV, TSV, JSON lines, Parquet, a folder of .txt files for each label, or -.",
    ),
]
TextColumn = Annotated[str, typer.Option(help="The column that holds the text.")]
LabelColumn = Annotated[str, typer.Option(help="The column that holds the label.")]
LabelsSeparator = Annotated[
    str | None, typer.Option(help="What stands between several labels of one text, such as ';'.")
]
Encoding = Annotated[
    str | None, typer.Option(help="How the file is encoded; found out when left out.")
]
OnBadRow = Annotated[
    str, typer.Option(help="What to do with a row that cannot be used: stop or skip.")
]
Device = Annotated[str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def existing(path: str) -> str:
    """Return the path, or say kindly that there is nothing there."""
    if path != "-" and not Path(path).exists():
        place = Path(path)
        near = [entry.name for entry in place.parent.iterdir()] if place.parent.is_dir() else []
        raise DataError(f"there is no file {path}; {suggestion(place.name, near[:1000])}")
    return path
