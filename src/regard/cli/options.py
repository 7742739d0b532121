"""Options that several commands share, written once."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from typer import _click as click  # the copy of click that typer is made of

__all__ = [
    "Command",
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
]


class Command(TyperCommand):
    """A command whose help ends with the formats that its data can have."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each format."""
        super().format_epilog(ctx, formatter)
        if any(one.metavar == "DATA" for one in self.params):
            from ..data.formats.table import FORMATS

            with formatter.section("Data"):
                formatter.write_dl(
                    [
                        (" ".join(one.suffixes) or name, one.title.replace("`", ""))
                        for name, one in FORMATS.items()
                    ]
                )


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
    str | None, typer.Option(help="The column that holds the text; by default as in the training.")
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
