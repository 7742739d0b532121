"""``regard train``: from a file of labelled texts to a saved model."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from ..config import require_one_of
from ..data.lines import STANDARD_INPUT
from ..errors import ConfigError
from .options import (
    Data,
    Device,
    Encoding,
    LabelColumn,
    LabelsSeparator,
    OnBadRow,
    Quiet,
    SourceColumn,
    TargetColumn,
    TextColumn,
    existing,
    pair_columns,
)
from .progress import counted, say
from .settings import classifier_from
from .train_translator import TranslationJob, require_for_pairs
from .working import held_out as held_out_by
from .working import require_workable, work_folder

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
    task: Annotated[
        str, typer.Option(help="What to learn: classify texts, or translate them.")
    ] = "classify",
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
    labels_separator: LabelsSeparator = None,
    source_column: SourceColumn = None,
    target_column: TargetColumn = None,
    validation: Annotated[
        str,
        typer.Option(metavar="FILE|FRACTION", help="What to stop early by; never the test data."),
    ] = "0.1",
    test: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Warn of texts in it that are training texts too."),
    ] = None,
    group_column: Annotated[
        str | None, typer.Option(help="Hold out whole groups, such as all texts of one author.")
    ] = None,
    time_column: Annotated[str | None, typer.Option(help="Hold out the latest texts.")] = None,
    model: Annotated[
        str | None,
        typer.Option(help="The network: han, cahan or flat; to translate seq2seq, notes or small."),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the data at most.")] = None,
    seed: Annotated[int | None, typer.Option(help="Same seed, same model.")] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PART.NAME=VALUE",
            help="Change a setting of network, training or text (to translate: network, training, "
            "units, forcing or generation): network.hidden_size=100.",
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
    """Train a classifier on labelled documents, or a translator on pairs of texts.

    Documents may be of any length and number; the model is saved as a folder.
    """
    from ..data.columns import Columns
    from ..data.readers import read_documents

    require_one_of("--task", task, ("classify", "translate"))
    named = {"training.epochs": epochs, "training.seed": seed}
    short = [f"{name}={value}" for name, value in named.items() if value is not None]
    settings = [*(changes or ()), *short]
    if task == "translate":
        require_for_pairs(
            {
                "--labels-separator": labels_separator,
                "--test": test,
                "--group-column": group_column,
                "--time-column": time_column,
                "--vectors": vectors,
            }
        )
        columns = pair_columns(source_column, target_column, encoding=encoding)
        reader = read_documents(existing(data), columns, on_bad_row=on_bad_row)  # type: ignore[arg-type]
        pairs = TranslationJob(reader, out, validation, on_bad_row, quiet)
        pairs.go(model or "seq2seq", settings, device=device, resume=resume, logs=logs)
        return
    if source_column or target_column:
        raise ConfigError("--source-column and --target-column are for --task translate")
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
    fraction, held_out = held_out_by(validation, columns, on_bad_row)
    _require_one_split(columns, held_out)
    tested = _tested_on(test, validation, columns)
    classifier = classifier_from(model or "han", settings, device=device)
    classifier.set_params(validation=fraction)
    job = _Job(classifier, _Files(reader, held_out, tested), out=out, quiet=quiet)
    # What comes through a pipe cannot be read a second time.
    baseline = baseline and data != STANDARD_INPUT
    job.go(vectors=vectors, resume=resume, baseline=baseline, logs=logs)


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


def _tested_on(test: str | None, validation: str, columns: Columns) -> Reader | None:
    """Read the test file's texts, unless training would stop by them too."""
    from ..data.readers import read_documents

    if test is None:
        return None
    if Path(validation).exists() and Path(test).exists() and Path(validation).samefile(test):
        raise ConfigError(
            f"--validation and --test are both {test}: a score on what training stopped by "
            "flatters; give another file or a fraction to --validation"
        )
    return read_documents(existing(test), replace(columns, label=None, group=None, time=None))


class _Files(NamedTuple):
    """Where the documents come from."""

    training: Reader
    validation: Reader | None
    test: Reader | None


class _Job:
    """One training from the shell: what is printed, kept and written around the fit."""

    def __init__(
        self,
        classifier: DocumentClassifier,
        files: _Files,
        *,
        out: Path,
        quiet: bool,
    ) -> None:
        self.classifier, self.out, self.quiet = classifier, out, quiet
        self.reader, self.held_out, self.test = files
        self.work = work_folder(out)

    def go(self, *, vectors: Path | None, resume: bool, baseline: bool, logs: Path | None) -> None:
        """Fit, compare, save and say so; with several processes the first alone speaks."""
        from ..scale.distributed import join_team, own_device
        from ..training.devices import choose_device

        require_workable(self.out, resume=resume, quiet=self.quiet)
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
        from ..training.progress import TrainingProgress

        columns = self.reader.columns
        with ExitStack() as stack:
            observers = [stack.enter_context(TrainingProgress(quiet=self.quiet))]
            if logs is not None and team.rank == 0:
                observers.append(stack.enter_context(TensorBoardLog(logs)))  # type: ignore[arg-type]
            options = FitOptions(
                split="group" if columns.group else "time" if columns.time else "random",
                columns=columns,
                readers=(self.reader,) if self.held_out is None else (self.reader, self.held_out),
                test=self.test,
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
