"""``regard train``: from a file of labelled texts to a saved model."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..data.lines import STANDARD_INPUT
from ..errors import ConfigError, DataError
from .options import (
    Data,
    Device,
    Encoding,
    LabelColumn,
    LabelsSeparator,
    OnBadRow,
    Quiet,
    TextColumn,
    existing,
    near_file,
)
from .progress import TrainingProgress, counted, say
from .settings import classifier_from

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..data.readers import Reader
    from ..estimators.classifier import DocumentClassifier
    from ..records.check import DataCheck
    from ..training.teams import Team

__all__ = ["train"]


def train(
    data: Data,
    out: Annotated[Path, typer.Option(help="The folder to write the model to.")],
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
    labels_separator: LabelsSeparator = None,
    validation: Annotated[
        str,
        typer.Option(metavar="FILE|FRACTION", help="What to stop early by; never the test data."),
    ] = "0.1",
    group_column: Annotated[
        str | None, typer.Option(help="Hold out whole groups, such as all texts of one author.")
    ] = None,
    time_column: Annotated[str | None, typer.Option(help="Hold out the latest texts.")] = None,
    model: Annotated[str, typer.Option(help="The network: han, cahan or flat.")] = "han",
    epochs: Annotated[int | None, typer.Option(help="Passes over the data at most.")] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same model.")] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PART.NAME=VALUE",
            help="Change a setting of network, training or text: network.hidden_size=100.",
        ),
    ] = None,
    vectors: Annotated[
        Path | None, typer.Option(help="Pretrained word vectors: GloVe, word2vec or fastText.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was ended.")
    ] = False,
    baseline: Annotated[
        bool, typer.Option(help="Also fit TF-IDF with logistic regression, to compare with.")
    ] = True,
    logs: Annotated[Path | None, typer.Option(help="A folder for TensorBoard logs.")] = None,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Train a classifier on labelled documents.

    They may be of any length and number; the model is saved as a folder.
    """
    from ..data.columns import Columns
    from ..data.readers import read_documents

    columns = Columns(
        text=text_column,
        label=label_column,
        labels_separator=labels_separator,
        group=group_column,
        time=time_column,
        encoding=encoding,
        carry=False,
    )
    reader = read_documents(existing(data), columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    fraction, held_out = _held_out(validation, columns, on_bad_row)
    _require_one_split(columns, held_out)
    named = {"training.epochs": epochs, "training.seed": seed}
    short = [f"{name}={value}" for name, value in named.items() if value is not None]
    classifier = classifier_from(model, [*(changes or ()), *short], device=device)
    classifier.set_params(validation=fraction)
    job = _Job(classifier, reader, held_out, out=out, quiet=quiet)
    # What comes through a pipe cannot be read a second time.
    baseline = baseline and data != STANDARD_INPUT
    job.go(vectors=vectors, resume=resume, baseline=baseline, logs=logs)


def _held_out(validation: str, columns: Columns, on_bad_row: str) -> tuple[float, Reader | None]:
    """What to validate on: a share of the training data, or a file."""
    from ..data.readers import read_documents

    try:
        fraction = float(validation)
    except ValueError:
        if not Path(validation).exists():
            raise DataError(
                f"--validation {validation} is neither a share nor a file; {near_file(validation)}"
            ) from None
        return 0.0, read_documents(validation, columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
    if not 0 <= fraction < 1:
        raise ConfigError(
            f"--validation takes a file or a share from 0 to below 1, got {validation}"
        )
    return fraction, None


def _require_one_split(columns: Columns, held_out: Reader | None) -> None:
    """Raise ``ConfigError`` where two answers are given to what is held out."""
    given = {
        "--group-column": columns.group,
        "--time-column": columns.time,
        "--validation FILE": held_out,
    }
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise ConfigError(f"{' and '.join(names)} each say what to validate on; give one of them")


class _Job:
    """One training from the shell: what is printed, kept and written around the fit."""

    def __init__(
        self,
        classifier: DocumentClassifier,
        reader: Reader,
        held_out: Reader | None,
        *,
        out: Path,
        quiet: bool,
    ) -> None:
        self.classifier, self.reader, self.held_out = classifier, reader, held_out
        self.out, self.quiet = out, quiet
        place = out.resolve()
        self.work = place.with_name(f"{place.name}.partial")

    def go(self, *, vectors: Path | None, resume: bool, baseline: bool, logs: Path | None) -> None:
        """Fit, compare, save and say so; with several processes the first alone speaks."""
        from ..scale.distributed import join_team, own_device
        from ..training.devices import choose_device

        self._require_free(resume)
        device = own_device(choose_device(self.classifier.device))
        self.classifier.set_params(device=str(device))
        with join_team(device) as team:
            self.quiet = self.quiet or team.rank != 0
            self._fit(team, vectors=vectors, resume=resume, logs=logs)
            if team.rank != 0:
                return
            if baseline:
                say("fitting TF-IDF + logistic regression to compare with", quiet=self.quiet)
                self.classifier.fit_baseline(self.reader)
            self.classifier.save(self.out)
        shutil.rmtree(self.work, ignore_errors=True)
        self._report()

    def _fit(self, team: Team, *, vectors: Path | None, resume: bool, logs: Path | None) -> None:
        from ..estimators.preparing import FitOptions
        from ..training.observers import TensorBoardLog

        columns = self.reader.columns
        with ExitStack() as stack:
            observers = [stack.enter_context(TrainingProgress(quiet=self.quiet))]
            if logs is not None and team.rank == 0:
                observers.append(stack.enter_context(TensorBoardLog(logs)))  # type: ignore[arg-type]
            options = FitOptions(
                split="group" if columns.group else "time" if columns.time else "random",
                columns=columns,
                readers=(self.reader,) if self.held_out is None else (self.reader, self.held_out),
                vectors=vectors,
                work=self.work,
                resume=resume,
                choose_method=True,
                observers=tuple(observers),
                team=team,
                on_check=self._show_check,
            )
            documents = counted(self.reader, "reading", quiet=self.quiet)
            self.classifier.fit_documents(documents, self.held_out, options=options)

    def _show_check(self, check: DataCheck) -> None:
        vectors = self.classifier.vector_coverage_
        for line in [*check.describe(), *(vectors.describe() if vectors else ())]:
            say(line, quiet=self.quiet)

    def _require_free(self, resume: bool) -> None:
        """Nothing foreign is replaced and nothing unfinished thrown away unasked."""
        from ..estimators.folder import require_free

        require_free(self.out)
        unfinished = (self.work / "checkpoint" / "state.safetensors").exists()
        if unfinished and not resume:
            raise DataError(
                f"an unfinished training lies in {self.work}; go on with --resume, or delete it"
            )
        if resume and not unfinished:
            say("there is nothing to resume; training from the start", quiet=self.quiet)

    def _report(self) -> None:
        history = self.classifier.history_
        if history is not None and history.interrupted:
            kept = "the best epoch so far was" if history.best else "the weights as they were are"
            say(f"stopped by hand; {kept} kept", quiet=self.quiet)
        for reader in (self.reader, self.held_out):
            if reader is not None and reader.counts.skipped:
                for line in reader.counts.describe():
                    say(line, quiet=self.quiet)
        for line in _summary(self.classifier, self.out):
            say(line, quiet=self.quiet)


def _summary(classifier: DocumentClassifier, out: Path) -> Sequence[str]:
    best = classifier.history_.best if classifier.history_ else None
    lines = [f"saved to {out}"]
    if not classifier.facts_["validation_documents"]:
        lines.insert(0, "nothing was held out, so how good it is was not measured")
    if best is not None and best.validation_accuracy is not None:
        lines.insert(
            0,
            f"best epoch {best.epoch}: accuracy {best.validation_accuracy:.4f} and macro-F1 "
            f"{best.validation_macro_f1:.4f} on {classifier.facts_['validation_documents']:,} "
            "held-out documents (they chose the epoch: measure on others)",
        )
    return [
        *lines,
        f"  regard evaluate {out} TEST.csv --out report.html",
        f'  regard explain {out} --text "..."',
    ]
