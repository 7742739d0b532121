"""Options that several commands share, written once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Data",
    "Device",
    "Encoding",
    "Json",
    "JsonLines",
    "LabelColumn",
    "LabelsSeparator",
    "ModelFolder",
    "OnBadRow",
    "Quiet",
    "ReportFile",
    "SourceColumn",
    "TargetColumn",
    "TextColumn",
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
        help="A file or folder in one of the formats below, or - for standard input.",
    ),
]
TextColumn = Annotated[
    str | None,
    typer.Option(
        help="The column of the text, or several: title,body; by default as in the training."
    ),
]
LabelColumn = Annotated[
    str | None, typer.Option(help="The column that holds the label; by default as in the training.")
]
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
    str | None, typer.Option(help="The encoding of the file; found out by default.")
]
OnBadRow = Annotated[
    str, typer.Option(help="What to do with a row that cannot be used: stop or skip.")
]
Device = Annotated[str, typer.Option(help="Where to compute: auto, cpu, cuda, cuda:1.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", callback=_hush, help="Print nothing but errors.")
]
ReportFile = Annotated[Path | None, typer.Option(help="Write the report as {reports}.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print each finding as a line of JSON.")]
