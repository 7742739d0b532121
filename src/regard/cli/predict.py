"""``regard predict``: labels and probabilities for new documents."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..data.formats.lines import STANDARD_INPUT
from ..errors import ConfigError
from .options import Data, Device, Encoding, ModelFolder, OnBadRow, Quiet, TextColumn
from .output import require_output, say
from .startup import import_torch
from .tasks import find_task
from .tasks.task import DocumentsToLabel

__all__ = ["predict"]


def predict(
    context: typer.Context,
    model: ModelFolder,
    data: Data,
    out: Annotated[
        str,
        typer.Option(help="Where to write: {written}, or - for standard output."),
    ] = "-",
    text_column: TextColumn = None,
    source_column: Annotated[
        str | None,
        typer.Option(help="The column of the first text of a pair, or of the question (BERT)."),
    ] = None,
    target_column: Annotated[
        str | None, typer.Option(help="The column of the second text of a pair (BERT).")
    ] = None,
    abstain_below: Annotated[
        float, typer.Option(min=0, max=1, help="Give no label where the probability is below this.")
    ] = 0.0,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the sentences and words that weighed most.")
    ] = False,
    receipt: Annotated[
        bool,
        typer.Option(help="With --explain, say how faithful that is; without, it is quicker."),
    ] = True,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the output of a run that was killed.")
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Label share I of N, into a file of its own; a share that is done is skipped.",
        ),
    ] = None,
    with_ray: Annotated[
        bool,
        typer.Option(
            "--ray", help="Let Ray Data read, label and write; --out is a folder of Parquet files."
        ),
    ] = False,
    protect_formulas: Annotated[
        bool,
        typer.Option(
            "--protect-formulas",
            help="Put ' before cells of .csv and .tsv that a spreadsheet would compute.",
        ),
    ] = False,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Label new documents.

    Ids and other columns are carried through, in the same order, and CSV comes back as it was
    written: separator, quotes, line ends, encoding.
    """
    import_torch()
    asked = DocumentsToLabel(
        model=model,
        data=data,
        out=out,
        text_column=text_column,
        source_column=source_column,
        target_column=target_column,
        abstain_below=abstain_below,
        explain=explain,
        receipt=receipt,
        resume=resume,
        shard=shard,
        protect_formulas=protect_formulas,
        encoding=encoding,
        on_bad_row=on_bad_row,
        device=device,
        quiet=quiet,
    )
    if with_ray:
        _label_with_ray(asked)
        return
    _require_files(asked)
    find_task(model, context).predict(asked)


def _require_files(asked: DocumentsToLabel) -> None:
    """Say what is wrong with the files before anything is read."""
    from ..data.formats.table import FORMATS, written_suffixes

    data, out = asked.data, asked.out
    if asked.shard is not None and STANDARD_INPUT in (data, out):
        raise ConfigError("--shard needs files to read and to write, not -")
    if asked.resume and STANDARD_INPUT in (data, out):
        raise ConfigError("--resume needs files to go on with, not -")
    if asked.resume and Path(data).exists() and not (Path(data).is_file() or Path(data).is_dir()):
        raise ConfigError(f"--resume needs files to go on with; {data} can be read only once")
    delimited = (*FORMATS["csv"].suffixes, *FORMATS["tsv"].suffixes)
    if asked.protect_formulas and Path(out).suffix.lower() not in delimited:
        raise ConfigError(f"--protect-formulas is for .csv and .tsv, not for {out}")
    if out != STANDARD_INPUT:
        require_output(out, written_suffixes(), inputs=(data,))


def _label_with_ray(asked: DocumentsToLabel) -> None:
    from ..estimators.saved import Saved
    from ..scale.labelling import Labelling
    from ..scale.rays import label_with_ray

    for option, given in {
        "--shard": asked.shard,
        "--resume": asked.resume,
        "--protect-formulas": asked.protect_formulas,
        "--encoding": asked.encoding,
        "--on-bad-row skip": asked.on_bad_row != "stop",
    }.items():
        if given:
            raise ConfigError(
                f"{option} cannot be used with --ray, which reads and writes by itself"
            )
    if STANDARD_INPUT in (asked.data, asked.out):
        raise ConfigError("--ray needs files to read and a folder to write to, not -")
    trained_on = str(Saved.read(asked.model).facts.get("text_column") or "text")
    count = label_with_ray(
        asked.model,
        asked.data,
        Path(asked.out),
        text_column=asked.text_column or trained_on,
        labelling=Labelling(asked.abstain_below, asked.explain, asked.receipt),
        gpus=asked.device.startswith("cuda"),
        progress=not asked.quiet and sys.stderr.isatty(),
    )
    say(f"{count:,} predictions written to {asked.out}", quiet=asked.quiet)
