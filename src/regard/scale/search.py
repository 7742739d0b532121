"""Better settings, found by trying: each trial is a training, judged by documents held out.

Optuna proposes what to try next and keeps what was found in a file of SQLite. What stands here says
which settings may change and how far, trains, and goes on after a kill: the trial that was cut
short is taken up at its last checkpoint, and what is proposed after it is the same.
"""

from __future__ import annotations

import datetime
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from .. import __version__
from ..config import Plain, read_toml, require, require_one_of
from ..data.locks import hold_lock
from ..errors import ConfigError, DataError, MissingExtra, TrainingError
from ..estimators.classifier import DocumentClassifier
from ..estimators.fitting import FitOptions
from ..estimators.named import CLASSIFIER_PARTS, USUAL_RECIPE, classifier_from
from ..estimators.recipes import recipe_for
from ..estimators.training_documents import LabelJudge
from ..records.history import Epoch
from ..records.search import LOWER_IS_BETTER, Search, Trial, TrialEnd
from ..text.document import Document
from ..training.interrupts import Interrupts
from ..training.loop import Step
from ..training.observers import Observer
from ..training.seeds import derived_seed

if TYPE_CHECKING:
    import optuna

__all__ = ["SPACE", "OneOf", "Range", "SettingsSearch", "Space", "Start", "read_space"]

NAME = "regard"  # of the study, in its file
FILE = "trials.sqlite"
HEADER = b"SQLite format 3\0"
CHANGE_THE_LOSS = ("training.label_smoothing", "training.focal", "training.class_weights")
PATIENT_TRIALS = 4  # none is given up before so many were trained to their end
PATIENT_EPOCHS = 1  # nor after so many epochs


@dataclass(frozen=True, slots=True)
class Range:
    """From ``low`` to ``high``, both included; a wide range is tried by factors, not by steps."""

    low: float
    high: float

    def __post_init__(self) -> None:
        require(self.low < self.high, f"a range goes up, got [{self.low}, {self.high}]")

    @property
    def by_factors(self) -> bool:
        """Whether its end is ten times its beginning, or more."""
        return 0 < 10 * self.low <= self.high

    @property
    def title(self) -> str:
        """The range in words."""
        return f"{self.low:g} to {self.high:g}{', by factors' * self.by_factors}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """One of several values."""

    values: tuple[Plain, ...]

    @property
    def title(self) -> str:
        """The values in words."""
        return ", ".join(map(str, self.values))


Space = Mapping[str, Range | OneOf]
"""What may be tried: settings by part and name, ``network.hidden_size``."""

SPACE: Space = {
    "network.hidden_size": Range(25, 150),
    "network.vector_dropout": Range(0.2, 0.7),
    "network.state_dropout": Range(0.0, 0.5),
    "training.learning_rate": Range(0.0005, 0.02),
    "training.epochs": Range(3, 16),
}


def read_space(path: Path) -> dict[str, Range | OneOf]:
    """Read what may be tried: a table for each part, and in it ``hidden_size = [25, 150]``.

    Two numbers are a range. More of them, or words, are values to choose from; so are numbers in
    quotes. What is no list is the same in all trials.
    """
    space: dict[str, Range | OneOf] = {}
    for part, settings in read_toml(path).items():
        if not isinstance(settings, Mapping):
            raise ConfigError(
                f"{path} has {part!r} outside of a table; write it under one of "
                f"{', '.join(f'[{one}]' for one in CLASSIFIER_PARTS)}"
            )
        for name, value in settings.items():
            space[f"{part}.{name}"] = _tried(f"{path}: {part}.{name}", value)
    require(bool(space), f"{path} names no setting to try")
    return space


def _tried(name: str, value: object) -> Range | OneOf:
    values = value if isinstance(value, list) else [value]
    plain = [one for one in values if isinstance(one, str | bool | int | float)]
    if not values or len(plain) < len(values):
        raise ConfigError(f"{name} takes a list such as [25, 150] or ['gru', 'lstm'], got {value}")
    numbers = [one for one in plain if isinstance(one, int | float) and not isinstance(one, bool)]
    if len(values) == 2 and len(numbers) == 2:
        return Range(*numbers)
    return OneOf(tuple(dict.fromkeys(plain)))


@dataclass(frozen=True)
class Start:
    """What all trials have in common: the network, a recipe, settings that stay as they are."""

    model: str = "han"
    recipe: str = USUAL_RECIPE
    changes: Sequence[str] = ()
    wide: str = "on"
    validation: float = 0.1  # the share to hold out where no documents are given for that
    device: str = "auto"

    def classifier(self, more: Sequence[str] = ()) -> DocumentClassifier:
        """Make a classifier with these settings, some of them changed."""
        made = classifier_from(
            self.model,
            [*self.changes, *more],
            device=self.device,
            wide=self.wide,
            recipe=self.recipe,
        )
        return made.set_params(validation=self.validation, progress=False)


class SettingsSearch:
    """Tries settings within ``space``, and keeps all that was found in ``folder``.

    ``documents`` are gone through once a trial; the same of them are held out each time, unless
    ``validation`` gives others. The score ``by`` decides: loss, accuracy or macro_f1. No trial goes
    on after so many ``seconds``. ``data`` is what tells these documents from others, if that is
    known: a search goes on with the same alone. ``tell`` is told of each trial at its end.
    """

    def __init__(
        self,
        documents: Iterable[Document],
        validation: Iterable[Document] | None = None,
        *,
        folder: Path,
        space: Space = SPACE,
        trials: int = 20,
        seconds: float | None = None,
        by: str = "loss",
        start: Start = Start(),
        options: FitOptions = FitOptions(),  # noqa: B008
        data: str = "",
        tell: Callable[[Trial], None] = lambda trial: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        require(trials >= 1, f"a search needs a trial at least, got {trials}")
        require_one_of("--by", by, LabelJudge.names)
        for given in (documents, validation):
            if isinstance(given, Iterator):
                raise ConfigError(
                    "a search reads its documents once a trial; give a list or a reader of a file"
                )
        self.documents, self.validation = documents, validation
        self.folder, self.space, self.by = folder, space, by
        self.trials, self.seconds = trials, seconds
        self.start, self.options, self.data, self.tell = start, options, data, tell
        self.clock = clock
        self.usual = start.classifier()
        self._check_space()

    def run(self) -> Search:
        """Try settings until there were enough trials or the time is up; return all of them."""
        try:
            import optuna
            from sqlalchemy.exc import SQLAlchemyError
        except ImportError as problem:
            raise MissingExtra("optuna", "search", "a search for settings") from problem
        ends = None if self.seconds is None else self.clock() + self.seconds
        taken = f"another search writes to {self.folder}; wait for its end, or name another folder"
        told = optuna.logging.get_verbosity()
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        try:
            with (
                hold_lock(self.folder / "lock", taken=taken),
                Interrupts() as interrupts,
                self._open() as study,
            ):
                while len(_ended(study)) < self.trials and not self._is_over(ends):
                    interrupts.heed()
                    try:
                        self._try(self._next(study), study, interrupts, ends)
                    except _TimeIsUp:
                        break
                return self._found(study)
        except (optuna.exceptions.StorageInternalError, SQLAlchemyError) as problem:
            raise DataError(
                f"{self.folder / FILE} cannot be read or written: {_first_cause(problem)}"
            ) from problem
        finally:
            optuna.logging.set_verbosity(told)

    def _is_over(self, ends: float | None) -> bool:
        return ends is not None and self.clock() >= ends

    def _check_space(self) -> None:
        """Say what is wrong before anything is trained."""
        named = {change.partition("=")[0].strip() for change in self.start.changes}
        for name, tried in self.space.items():
            require(name not in named, f"{name} is to be tried and to stay as it is; choose one")
            require(
                name != "training.seed",
                "training.seed says what is held out, and all trials must be judged by the same; "
                "leave it out of the space",
            )
            if self.by == "loss" and name in CHANGE_THE_LOSS:
                raise ConfigError(
                    f"{name} changes what the loss is, so losses cannot be compared; use --by "
                    "accuracy or macro_f1"
                )
            for value in tried.values if isinstance(tried, OneOf) else (tried.low, tried.high):
                self.start.classifier([f"{name}={_as_text(value)}"])

    @contextmanager
    def _open(self) -> Iterator[optuna.Study]:
        """Begin a search, or find the one that lies in the folder; its file is closed at the end.

        A search that was begun otherwise is an error.
        """
        import optuna

        path = self.folder / FILE
        if path.exists():
            with path.open("rb") as file:
                if file.read(len(HEADER)) not in (HEADER, b""):
                    raise DataError(f"{path} is no file of a search; name another folder")
        # Quoted: a path may hold what means something in an address.
        storage = optuna.storages.RDBStorage(
            f"sqlite:///file:{quote(str(path.resolve()))}?uri=true"
        )
        try:
            study = self._find(storage)
            yield study
        finally:
            storage.remove_session()
            storage.engine.dispose()

    def _find(self, storage: optuna.storages.RDBStorage) -> optuna.Study:
        import optuna

        study = optuna.create_study(
            storage=storage,
            study_name=NAME,
            direction="minimize" if self.by in LOWER_IS_BETTER else "maximize",
            load_if_exists=True,
            pruner=optuna.pruners.MedianPruner(PATIENT_TRIALS, PATIENT_EPOCHS + 1),
        )
        kept = study.user_attrs.get("begun_with")
        begun_with = self._begun_with()
        if kept is None:
            study.set_user_attr("begun_with", begun_with)
        for name, value in begun_with.items():
            if kept is not None and kept.get(name) != value:
                raise ConfigError(
                    f"the search in {self.folder} was begun with {name} {kept.get(name)}, now it "
                    f"is {value}; use the same, or name another folder"
                )
        usual = self._usual_settings()
        if usual is not None and not study.get_trials(deepcopy=False):
            study.enqueue_trial(usual)
        return study

    def _begun_with(self) -> dict[str, str]:
        """What must be the same for a search to be gone on with."""
        start = self.start
        return {
            "data": self.data,
            "space": "; ".join(f"{name} {one.title}" for name, one in sorted(self.space.items())),
            "score": self.by,
            "model": start.model,
            "recipe": start.recipe,
            "settings": ", ".join(start.changes),
            "wide": start.wide,
            "validation": str(start.validation),
        }

    def _usual_settings(self) -> dict[str, Plain] | None:
        """What the settings are when nobody searches; None where that is outside of the space."""
        usual = {name: self._usual(name) for name in self.space}
        inside = (_holds(self.space[name], value) for name, value in usual.items())
        return usual if all(inside) else None

    def _usual(self, name: str) -> Plain:
        part, _, setting = name.partition(".")
        return getattr(getattr(self.usual, part), setting)

    def _next(self, study: optuna.Study) -> optuna.Trial:
        """Take up the trial that was cut short, or begin another.

        What is proposed follows from the seed, the trials before and how many they are: it is the
        same however often the search was killed.
        """
        import optuna

        cut_short = study.get_trials(deepcopy=False, states=[optuna.trial.TrialState.RUNNING])
        count = len(_ended(study))
        seed = derived_seed(self.usual.training.seed, "search", count) % 2**32
        study.sampler = optuna.samplers.TPESampler(seed=seed)
        if cut_short:
            return optuna.trial.Trial(study, cut_short[0]._trial_id)
        return study.ask()

    def _try(
        self,
        trial: optuna.Trial,
        study: optuna.Study,
        interrupts: Interrupts,
        ends: float | None,
    ) -> None:
        """Train with what is proposed, and note how it went; what is cut short is left to do."""
        from optuna.trial import TrialState

        settings = {name: self._propose(trial, name) for name in self.space}
        changes = [f"{name}={_as_text(value)}" for name, value in settings.items()]
        work = self.folder / "work" / f"trial-{trial.number + 1}"
        curve = _Curve(trial, self.by, lambda: self._is_over(ends))
        value, state, reason = None, TrialState.COMPLETE, ""
        options = replace(
            self.options,
            recipe=recipe_for(self.start.recipe, [*self.start.changes, *changes]),
            work=work,
            resume=True,
            choose_method=False,
            observers=(*self.options.observers, curve),
            interrupts=interrupts,
        )
        try:
            made = self.start.classifier(changes)
            made.fit_documents(self.documents, self.validation, options=options)
            if interrupts.heeded:
                raise KeyboardInterrupt
            scores, epochs, seconds = _results(made)
            value = scores[self.by]
            sides = [made.facts_["training_documents"], made.facts_["validation_documents"]]
            study.set_user_attr("documents", sides)
            study.set_user_attr("folds", made.fold_count_)
        except _Hopeless:
            state = TrialState.PRUNED
        except (ConfigError, TrainingError) as problem:
            state, reason = TrialState.FAIL, str(problem)
        if value is None:
            scores, epochs, seconds = curve.scores, curve.epochs, curve.seconds
        for name, told in {"scores": scores, "epochs": epochs, "seconds": seconds}.items():
            trial.set_user_attr(name, told)
        trial.set_user_attr("reason", reason)
        study.tell(trial, value, state)
        shutil.rmtree(work, ignore_errors=True)
        self.tell(_record(_ended(study)[-1]))

    def _propose(self, trial: optuna.Trial, name: str) -> Plain:
        tried = self.space[name]
        if isinstance(tried, OneOf):
            return trial.suggest_categorical(name, tried.values)
        low, high, log = tried.low, tried.high, tried.by_factors
        # [0, 1] for a setting that takes any number means all that lies between.
        whole = not isinstance(self._usual(name), float)
        if whole and isinstance(low, int) and isinstance(high, int):
            return trial.suggest_int(name, low, high, log=log)
        return trial.suggest_float(name, low, high, log=log)

    def _found(self, study: optuna.Study) -> Search:
        trials = tuple(map(_record, _ended(study)))
        failed = [trial.reason for trial in trials if trial.end == "failed"]
        if failed and len(failed) == len(trials):
            raise ConfigError(f"every trial failed; the first: {failed[0]}")
        training, held_out = study.user_attrs.get("documents", (0, 0))
        fixed = dict(change.split("=", 1) for change in self.start.changes)
        return Search(
            by=self.by,
            trials=trials,
            training_documents=training,
            held_out_documents=held_out,
            folds=study.user_attrs.get("folds", 0),
            data=self.data,
            version=__version__,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
            fixed=fixed,
        )


def _first_cause(problem: BaseException) -> BaseException:
    """What SQLite said, below what was said of it."""
    while problem.__cause__ is not None:
        problem = problem.__cause__
    return problem


class _Hopeless(Exception):
    """A trial that does worse than most did at the same epoch."""


class _TimeIsUp(Exception):
    """A search that may not go on; the trial waits for the next time."""


class _Curve(Observer):
    """Tells Optuna of each epoch, and ends a trial that is hopeless or too late.

    Where documents are dealt into folds, the curve is that of the first.
    """

    def __init__(self, trial: optuna.Trial, by: str, is_over: Callable[[], bool]) -> None:
        self.trial, self.by, self.is_over = trial, by, is_over
        self.scores: Mapping[str, float] = {}
        self.epochs, self.seconds, self.trainings = 0, 0.0, 0

    def on_training(self, name: str) -> None:
        """Count the trainings of the trial, those that were done before it was cut short too."""
        self.trainings += 1

    def on_step(self, step: Step) -> None:
        """End the search here where its time is up."""
        if self.is_over():
            raise _TimeIsUp

    def on_epoch(self, epoch: Epoch) -> None:
        """End the trial here where most others did better."""
        self.seconds += epoch.seconds
        if self.trainings > 1:
            return
        self.scores, self.epochs = dict(epoch.validation), epoch.epoch
        if self.by in epoch.validation:
            self.trial.report(epoch.validation[self.by], epoch.epoch)
            if self.trial.should_prune():
                raise _Hopeless


def _results(made: DocumentClassifier) -> tuple[Mapping[str, float], int, float]:
    """The scores on what was held out, how many epochs there were and how long they took."""
    if not made.facts_["validation_documents"]:
        raise DataError(
            "nothing was held out, so trials cannot be told apart; give more documents, or others "
            "to validate on"
        )
    found = {name: made.facts_.get(f"validation_{name}") for name in LabelJudge.names}
    scores = {name: float(score) for name, score in found.items() if isinstance(score, int | float)}
    assert made.history_ is not None  # it was just fitted
    return scores, len(made.history_.epochs), float(str(made.facts_["training_seconds"]))


def _ended(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    """The trials that came to an end, in their order."""
    return [one for one in study.get_trials(deepcopy=False) if one.state.is_finished()]


def _record(trial: optuna.trial.FrozenTrial) -> Trial:
    ends: dict[str, TrialEnd] = {"COMPLETE": "done", "PRUNED": "given up", "FAIL": "failed"}
    return Trial(
        number=trial.number + 1,
        settings=trial.params,
        end=ends[trial.state.name],
        scores=trial.user_attrs["scores"],
        epochs=trial.user_attrs["epochs"],
        seconds=trial.user_attrs["seconds"],
        reason=trial.user_attrs["reason"],
    )


def _holds(tried: Range | OneOf, value: Plain) -> bool:
    if isinstance(tried, OneOf):
        return value in tried.values
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and tried.low <= value <= tried.high  # type: ignore[operator]


def _as_text(value: Plain) -> str:
    """A value as ``--set`` takes it."""
    return str(value).lower() if isinstance(value, bool | None) else str(value)
