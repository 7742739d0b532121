"""``regard train`` on labelled texts: what is read, printed and written around the fit."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..errors import ConfigError
from .inputs import open_documents
from .progress import counted, say
from .working import (
    end_of_training,
    held_out,
    saying_when_nothing_is_learnt,
    watching,
    work_folder,
)

if TYPE_CHECKING:
    from ..data.columns import Columns
    from ..data.readers import Reader
    from ..estimators.classifier import DocumentClassifier
    from ..estimators.fitting import Run
    from ..records.check import DataCheck, PairCheck

__all__ = ["ClassificationJob", "TrainingFiles", "open_files"]

FEW_STEPS = 32
SMALL_BATCH = 8


class TrainingFiles(NamedTuple):
    """Where the documents come from, and what share is held out where no file says it."""

    training: Reader
    validation: Reader | None
    test: Reader | None
    fraction: float


def open_files(
    data: str, columns: Columns, *, validation: str, test: str | None, on_bad_row: str
) -> TrainingFiles:
    """Find the files of a training, or say what is wrong with them before any work is done."""
    reader = open_documents(data, columns, on_bad_row)
    fraction, judged = held_out(validation, columns, on_bad_row)
    _require_one_split(columns, judged)
    return TrainingFiles(reader, judged, _tested_on(test, validation, columns), fraction)


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
    if test is None:
        return None
    if Path(validation).exists() and Path(test).exists() and Path(validation).samefile(test):
        raise ConfigError(
            f"--validation and --test are both {test}: a score on what training stopped by "
            "flatters; give another file or a fraction to --validation"
        )
    return open_documents(test, replace(columns, label=None, group=None, time=None), "stop")


class ClassificationJob:
    """One training of a classifier from the shell."""

    def __init__(
        self,
        classifier: DocumentClassifier,
        files: TrainingFiles,
        *,
        out: Path,
        baseline: bool,
        quiet: bool,
    ) -> None:
        self.classifier, self.out, self.baseline, self.quiet = classifier, out, baseline, quiet
        self.reader, self.held_out, self.test, fraction = files
        self.classifier.set_params(validation=fraction)

    def go(self, *, vectors: Path | None, resume: bool, overwrite: bool, logs: Path | None) -> None:
        """Fit, compare, save and say so; with several processes the first alone speaks."""
        from ..estimators.fitting import Run
        from ..scale.distributed import join_team, own_device
        from ..training.devices import choose_device
        from ..training.interrupts import Interrupts

        device = own_device(choose_device(self.classifier.device))
        self.classifier.set_params(device=str(device))
        with (
            Interrupts() as interrupts,
            work_folder(self.out, resume=resume, overwrite=overwrite, quiet=self.quiet) as work,
            join_team(device) as team,
        ):
            self.quiet = self.quiet or team.rank != 0
            with watching(team, logs=logs, quiet=self.quiet) as observers:
                run = Run(None, observers, team, interrupts)
                self._fit(run, work, vectors=vectors, resume=resume)
                if team.rank != 0:
                    return
                if self.baseline and not interrupts.heeded:
                    self._fit_baseline(run)
            self.classifier.save(self.out)
        self._report(stopped=interrupts.heeded)

    def _fit(self, run: Run, work: Path, *, vectors: Path | None, resume: bool) -> None:
        from ..estimators.preparing import FitOptions

        columns = self.reader.columns
        options = FitOptions(
            split="group" if columns.group else "time" if columns.time else "random",
            columns=columns,
            readers=(self.reader,) if self.held_out is None else (self.reader, self.held_out),
            test=self.test,
            vectors=vectors,
            work=work,
            resume=resume,
            choose_method=True,
            baseline=self.baseline,
            observers=run.observers,
            team=run.team,
            interrupts=run.interrupts,
            on_check=self._show_check,
            # What comes after the training may take long, and may be ended in many ways.
            on_fitted=partial(self.classifier.save, self.out) if run.team.rank == 0 else None,
        )
        documents = counted(self.reader, "reading", quiet=self.quiet)
        with saying_when_nothing_is_learnt(quiet=self.quiet):
            self.classifier.fit_documents(documents, self.held_out, options=options)

    def _fit_baseline(self, run: Run) -> None:
        say("fitting a linear model over TF-IDF to compare with", quiet=self.quiet)
        with suppress(KeyboardInterrupt):
            run.reach("fitting TF-IDF + logistic regression")
            with run.interrupts.released():
                self.classifier.fit_baseline(self.reader)

    def _show_check(self, check: DataCheck | PairCheck) -> None:
        vectors = self.classifier.vector_coverage_
        for line in [*check.describe(), *(vectors.describe() if vectors else ())]:
            say(line, quiet=self.quiet)

    def _report(self, *, stopped: bool) -> None:
        readers = [self.reader, self.held_out]
        for line in end_of_training(self.classifier.history_, readers, stopped=stopped):
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
        *_few_steps(classifier),
        f"  regard evaluate {out} TEST.csv --out report.html",
        f'  regard explain {out} --text "..."',
    ]


def _few_steps(classifier: DocumentClassifier) -> list[str]:
    """Say so where the weights have moved too few times to have learnt anything."""
    size = classifier.training.batch_size
    epochs = len(classifier.history_.epochs) if classifier.history_ else 0
    steps = epochs * -(-int(str(classifier.facts_["training_documents"])) // size)
    if steps >= FEW_STEPS:
        return []
    smaller = f"--set training.batch_size={SMALL_BATCH} or " if size > SMALL_BATCH else ""
    return [
        f"! so few documents make {steps} steps of training, which teach little; "
        f"try {smaller}more --epochs"
    ]
