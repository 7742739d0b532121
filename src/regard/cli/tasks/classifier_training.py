"""``regard train`` of a classifier: its files, what people marked, a baseline, and how it went."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from ...errors import ConfigError, DataError
from ...estimators.named import USUAL_RECIPE, classifier_from
from ..inputs import open_documents
from ..output import say
from ..reasons import read_reasons
from ..training import TrainingJob, open_validation
from .task import TrainingToDo

if TYPE_CHECKING:
    from ...data.columns import Columns
    from ...data.readers import Reader
    from ...estimators.classifier import DocumentClassifier
    from ...estimators.fitting import FitOptions, Reason
    from ...estimators.recipes import Recipe
    from ...estimators.trainer import Run
    from ...records.data import Check, DataCheck
    from ...records.marks import Mark
    from ...text.document import Document

__all__ = ["ClassificationJob", "TrainingFiles", "open_files", "train"]

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
    fraction, judged = open_validation(validation, columns, on_bad_row)
    _require_one_split(columns, judged)
    return TrainingFiles(reader, judged, _open_test(test, validation, columns), fraction)


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


def _open_test(test: str | None, validation: str, columns: Columns) -> Reader | None:
    """Read the test file's texts, unless training would stop by them too."""
    if test is None:
        return None
    if Path(validation).exists() and Path(test).exists() and Path(validation).samefile(test):
        raise ConfigError(
            f"--validation and --test are both {test}: a score on what training stopped by "
            "flatters; give another file or a fraction to --validation"
        )
    return open_documents(test, replace(columns, label=None, group=None, time=None), "stop")


@dataclass
class ClassificationJob(TrainingJob):
    """One training of a classifier: with a baseline to compare with, and a method to explain by."""

    estimator: DocumentClassifier
    test: Reader | None
    baseline: bool
    marks: Sequence[Mark] = ()
    weight_before: Mapping[str, float] = field(default_factory=dict)  # as ``measure_weight`` has it

    def fit(self, options: FitOptions) -> None:
        """Fit the classifier, and choose how it explains."""
        from ...training.observers import counted as watched

        columns, first = self.reader.columns, options.team.rank == 0
        documents, reasons = self._find_documents()
        options = replace(
            options,
            split="group" if columns.group else "time" if columns.time else "random",
            test=self.test,
            vectors=self.asked.vectors,
            unlabelled=self._open_unlabelled(),
            reasons=reasons,
            recipe=self._recipe,
            baseline=self.baseline,
            # What comes after the training may take long, and may be ended in many ways.
            on_fitted=partial(self.estimator.save, self.asked.out) if first else None,
        )
        documents = watched(documents, "reading", options.observers)
        self.estimator.fit_documents(documents, self.held_out, options=options)

    def _find_documents(self) -> tuple[Iterable[Document], Sequence[Reason]]:
        """The documents, as they are to be learnt from given what people marked, and reasons."""
        documents: Iterable[Document] = self.reader
        reasons: list[Reason] = []
        if self.asked.marks is not None:
            from ...estimators.marked import MarkedDocuments

            seed = self.estimator.training.seed
            read, text = lambda: self.reader, self.estimator.text
            marked = MarkedDocuments(read, self.marks, text, seed=seed)
            say(marked.found.describe(), quiet=self.quiet)
            documents, reasons = marked, marked.reasons
        in_column = read_reasons(
            self.reader,
            str(self.asked.data),
            self.asked.evidence_column,
            self.asked.on_bad_row,
            quiet=self.quiet,
        )
        return documents, [*reasons, *in_column]

    def _open_unlabelled(self) -> Reader | None:
        """Open the texts without labels; those of a file that has labels are read without them."""
        if self.asked.unlabelled is None:
            return None
        columns = replace(self.reader.columns, label=None, group=None, time=None)
        return open_documents(self.asked.unlabelled, columns, self.asked.on_bad_row)

    def finish(self, run: Run) -> None:
        """Fit the baseline, unless something was ended by hand."""
        if not self.baseline or run.interrupts.heeded:
            return
        from ...training.observers import counted as watched

        say("fitting a linear model over TF-IDF to compare with", quiet=self.quiet)
        with suppress(KeyboardInterrupt), run.interrupts.released():
            documents = watched(self.reader, "reading for TF-IDF", run.observers)
            self.estimator.fit_baseline(documents, self.held_out or ())

    def describe_check(self, check: Check) -> Sequence[str]:
        """Say what was found in the data, and how many words have vectors."""
        from ...training.config import TrainingConfig

        vectors = self.estimator.vector_coverage_
        given = "unlabelled" if self.asked.unlabelled else "vectors" if self.asked.vectors else None
        device = str(self.estimator.reader_.device)
        start = self._recipe.describe(
            cast("DataCheck", check),
            given=given,
            device=device,
            folds=self.estimator.fold_count_,
        )
        lines = [*check.describe(), *(vectors.describe() if vectors else ()), start]
        usual, used = TrainingConfig(), self.estimator.settings_.training
        if self._recipe.least_steps and used.batch_size < usual.batch_size:
            few = f"{used.batch_size} documents in place of {usual.batch_size}"
            lines.append(f"steps of {few}, since there are few")
        if self._recipe.enough and used.epochs < usual.epochs:
            fewer = f"{used.epochs} epochs at most in place of {usual.epochs}"
            lines.append(f"{fewer}, since there are many long documents")
        if self._recipe.enough and used.epochs > usual.epochs:
            more = f"{used.epochs} epochs at most in place of {usual.epochs}"
            lines.append(f"{more}, since there are many classes and few documents of each")
        return lines

    @property
    def _recipe(self) -> Recipe:
        from ...estimators.recipes import recipe_for

        return recipe_for(self.asked.recipe or USUAL_RECIPE, self.asked.changes)

    def describe(self) -> Sequence[str]:
        """Say how good it is, what the marks have changed, and what can be done next."""
        return [*self._describe_marks(), *_describe_training(self.estimator, self.asked.out)]

    def _describe_marks(self) -> list[str]:
        from ...estimators.marked import measure_weight

        weights = measure_weight(self.estimator.fitted_, self.marks) if self.marks else {}
        return [
            f"without the passages marked {kind}, answers move by {100 * now:.1f} points on average"
            + (f" (before: {100 * self.weight_before[kind]:.1f})" if self.weight_before else "")
            for kind, now in weights.items()
        ]


def _describe_training(classifier: DocumentClassifier, out: Path) -> Sequence[str]:
    facts = classifier.facts_
    lines = [f"saved to {out}"]
    if not facts["validation_documents"]:
        lines.insert(0, "nothing was held out, so how good it is was not measured")
    if facts.get("validation_accuracy") is not None:
        accuracy, f1 = (
            float(str(facts[f"validation_{name}"])) for name in ("accuracy", "macro_f1")
        )
        epoch, history = facts["best_epoch"], classifier.history_
        kept = "ended in the first epoch" if epoch is None else f"best epoch {epoch}"
        asked = f"{facts['validation_documents']:,} held-out documents"
        if "folds" in facts:
            if history is not None and not history.interrupted:
                kept = f"epochs: {epoch}, as many as the folds took"
            asked += f", each in one of {facts['folds']} folds"
            if "seeds" in facts:
                asked += f" and answered by one network, not by the {facts['seeds']} together"
        elif "seeds" in facts:
            kept = f"{facts['seeds']} networks together"
        lines.insert(
            0,
            f"{kept}{_tell_network(classifier)}: accuracy {accuracy:.4f} and macro-F1 {f1:.4f} on "
            f"{asked}; these chose the epoch, so measure on others",
        )
    if "ngrams_count_more_in" in facts:
        lines.insert(
            -1,
            f"n-grams count more in {facts['ngrams_count_more_in']} of a text: documents left out "
            "of the fit say so",
        )
    if "ngrams_count_like_marked" in facts:
        lines.insert(
            -1,
            "n-grams count more in sentences like those that people marked: documents left out of "
            "the fit say so",
        )
    return [
        *lines,
        *_tell_tfidf(classifier),
        *_warn_of_few_steps(classifier),
        f"  regard evaluate {out} TEST.csv --out report.html",
        f'  regard explain {out} --text "..."',
    ]


def _tell_network(classifier: DocumentClassifier) -> str:
    """Say that n-grams answer too, and how good the network is without them."""
    best = classifier.history_.best if classifier.history_ else None
    if "ngrams" not in classifier.facts_ or best is None or best.validation_accuracy is None:
        return ""
    network = "the first network" if "seeds" in classifier.facts_ else "the network"
    return f" with n-grams (accuracy of {network} alone {best.validation_accuracy:.4f})"


def _tell_tfidf(classifier: DocumentClassifier) -> list[str]:
    """Say how good TF-IDF is on the same documents, and what to do where it is better."""
    baseline, facts = classifier.baseline_, classifier.facts_
    if baseline is None or "baseline_accuracy" not in facts:
        return []
    theirs, ours = float(str(facts["baseline_accuracy"])), facts.get("validation_accuracy")
    lines = [f"{baseline.name}, to compare: accuracy {theirs:.4f} on the same documents"]
    if ours is not None and not baseline.multilabel:
        commonest = int(baseline.frequencies.argmax())
        # What was held out has nearly the shares of the classes that the training documents have.
        least = float(baseline.frequencies[commonest]) + 0.5 / int(
            str(facts["validation_documents"])
        )
        if float(str(ours)) <= least:
            lines.append(
                f"! always answering ‘{classifier.classes_[commonest]}’ would be right "
                "about as often: add documents of other classes"
            )
    if ours is not None and theirs > float(str(ours)):
        lines.append(
            "! the plain method is better here: try more documents or texts without labels "
            "(--unlabelled), and prefer TF-IDF unless regard evaluate says otherwise"
        )
    return lines


def _warn_of_few_steps(classifier: DocumentClassifier) -> list[str]:
    """Say so where the weights have moved too few times to have learnt anything."""
    size = classifier.settings_.training.batch_size
    epochs = len(classifier.history_.epochs) if classifier.history_ else 0
    steps = epochs * -(-int(str(classifier.facts_["training_documents"])) // size)
    if steps >= FEW_STEPS:
        return []
    smaller = f"--set training.batch_size={SMALL_BATCH} or " if size > SMALL_BATCH else ""
    return [
        f"! so few documents make {steps} {'step' if steps == 1 else 'steps'} of "
        f"training, which teach little; "
        f"try {smaller}more --epochs"
    ]


def train(asked: TrainingToDo) -> None:
    """Train a classifier on labelled documents, with a baseline to compare with."""
    from ...data.columns import Columns

    columns = Columns(
        text=asked.text_column,
        label=asked.label_column,
        labels_separator=asked.labels_separator,
        group=asked.group_column,
        time=asked.time_column,
        encoding=asked.encoding,
        carry=False,
    )
    files = open_files(
        asked.data,
        columns,
        validation=asked.validation,
        test=asked.test,
        on_bad_row=asked.on_bad_row,
    )
    _require_file(asked, files.training)
    classifier = classifier_from(
        asked.network or "han",
        asked.changes,
        device=asked.device,
        wide=asked.wide,
        recipe=asked.recipe or USUAL_RECIPE,
    ).set_params(seeds=asked.seeds)
    baseline = asked.baseline
    if baseline and files.training.once:
        say("a pipe is read once, so no baseline is fitted to compare with", quiet=asked.quiet)
        baseline = False
    marks = _read_marks(asked)
    job = ClassificationJob(
        classifier,
        files.training,
        files.validation,
        asked,
        files.test,
        baseline,
        marks,
        _measure_before(asked.out, marks, asked.device),
    )
    job.go(files.fraction)


def _require_file(asked: TrainingToDo, reader: Reader) -> None:
    """Raise ``ConfigError`` where data are to be read more than once, and can be read but once."""
    given = {"--marks": asked.marks, "--evidence-column": asked.evidence_column}
    for name, value in given.items():
        if value not in (None, "none") and reader.once:
            raise ConfigError(f"{name} reads the data more than once; give a file, not a pipe")


def _read_marks(asked: TrainingToDo) -> list[Mark]:
    if asked.marks is None:
        return []
    from ...data.marks import MarkStore

    if not asked.marks.is_file():
        raise DataError(f"there is no file {asked.marks}; regard serve --marks makes one")
    return MarkStore(asked.marks).read()


def _measure_before(out: Path, marks: Sequence[Mark], device: str) -> dict[str, float]:
    """What hung on the marked passages in the model that will be replaced, if there is one."""
    from ...estimators.folder import is_model
    from ...estimators.marked import measure_weight
    from ...estimators.saved import Saved

    if not marks or not is_model(out):
        return {}
    return measure_weight(Saved.read(out).fitted(device), marks)
