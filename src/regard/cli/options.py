"""Options that several commands share, written once."""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..data.lines import STANDARD_INPUT
from ..errors import DataError, nearest

if TYPE_CHECKING:
    from ..data.columns import Columns

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
    "ReportFile",
    "SourceColumn",
    "TargetColumn",
    "TextColumn",
    "existing",
    "near_file",
    "pair_columns",
]


def _hush(quiet: bool) -> bool:
    if quiet:
        warnings.simplefilter("ignore")
    return quiet


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
SourceColumn = Annotated[
    str | None, typer.Option(help="The column of the texts to translate, for --task translate.")
]
TargetColumn = Annotated[
    str | None, typer.Option(help="The column of their translations, for --task translate.")
]
Encoding = Annotated[
    str | None, typer.Option(help="How the file is encoded; found out when left out.")
]
OnBadRow = Annotated[
    str, typer.Option(help="What to do with a row that cannot be used: stop or skip.")
]
Device = Annotated[str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_hush, help="Print nothing but errors.")
]
ReportFile = Annotated[Path | None, typer.Option(help="Write the report as .html or .json.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]


def pair_columns(source: str | None, target: str | None, *, encoding: str | None) -> Columns:
    """Return where the two sides of a pair stand, under the usual names where none are given."""
    from ..data.columns import Columns

    return Columns(
        text=source or "source",
        label=None,
        target=target or "target",
        encoding=encoding,
        carry=False,
    )


def existing(path: str) -> str:
    """Return the path, or say kindly that there is nothing there."""
    if path == STANDARD_INPUT or Path(path).exists():
        return path
    raise DataError(f"there is no file {path}; {near_file(path)}")


def near_file(path: str) -> str:
    """Return how an error about a missing file goes on: one beside it that is written alike."""
    place = Path(path)
    beside = place.parent.iterdir() if place.parent.is_dir() else ()
    near = nearest(place.name, [entry.name for entry in itertools.islice(beside, 1000)])
    return f"did you mean {place.with_name(near)}?" if near else "check the name and the folder"
