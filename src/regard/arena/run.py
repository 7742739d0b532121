"""The arena: contenders are trained one after the other on the same documents, and compared.

Each finished training is kept in a file of its own, so that whoever starts again after a kill goes
on where it was. The first seed of all contenders comes before the second of any: whenever it is
ended, what is there can be compared.
"""

from __future__ import annotations

import datetime
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

import numpy as np

from .. import __version__
from ..audit.run import sample
from ..config import require, require_one_of
from ..data.labels import LabelIndex
from ..data.splits import split_random
from ..errors import ConfigError, DataError, MissingExtra, RegardError
from ..estimators.footprint import bytes_on_disk, measure_footprint
from ..files import write_file
from ..records.comparison import (
    Comparison,
    Faithfulness,
    LeftOut,
    Paired,
    Standing,
    Training,
)
from ..records.evaluation import Interval
from ..tasks.bootstrap import percentiles, proportion_interval
from ..tasks.metrics import evaluate
from ..tasks.paired import Right, correct_for_many, flip_signs, redraw_accuracies, seeds_won
from ..tasks.predictions import Floats, Predictions
from ..text.document import Document, single_labels
from ..training.interrupts import Interrupts
from .contenders import CONTENDERS, Candidate, Contender, Lesson
from .faithfulness import measure_faithfulness

__all__ = ["Arena", "Sides", "sides"]

TIMED = 200  # test texts that are answered to measure time and memory
EXPLAINED = 40  # test texts whose explanations are measured
TEST_SHARE = 0.2  # of the documents, where no others are given to test on
FEWEST = 10  # documents on either side


@dataclass(frozen=True, eq=False)
class Sides:
    """What all contenders learn from, and what all are asked about."""

    training: Sequence[Document]
    test: Sequence[Document]
    data: str = "data"
    tested_on: str = ""
    unanswerable: int = 0  # documents that nobody is asked about: their labels are not learnt from


def sides(
    documents: Iterable[Document],
    test: Iterable[Document] | None,
    *,
    seed: int,
    limit: int | None = None,
) -> Sides:
    """Take the documents with a label; a fifth is held out where there is nothing to test on.

    Of those to learn from at most ``limit`` are drawn. Nobody is asked about a label that is not
    among those that are learnt from.
    """
    known = [one for one in documents if one.label is not None]
    if test is None:
        training, asked = _held_out(known, seed)
    else:
        training, asked = known, [one for one in test if one.label is not None]
    if limit is not None:
        training = sample(training, limit, seed)
    index = _labels(training)
    answerable = [one for one in asked if _is_known(one, index)]
    return _enough(Sides(training, answerable, unanswerable=len(asked) - len(answerable)))


def _held_out(documents: Sequence[Document], seed: int) -> tuple[list[Document], list[Document]]:
    """Hold out a fifth of the documents."""
    if len(documents) < 2 * FEWEST:
        raise DataError(
            f"there are {len(documents)} documents with a label; comparing needs {2 * FEWEST} or "
            "more"
        )
    index = _labels(documents)
    labels = [one.label for one in documents if one.label is not None]
    # With several labels a document plain chance draws: there are no classes to keep the shares of.
    numbers = [0] * len(labels) if index.multilabel else index.encode(labels)
    split = split_random(numbers, TEST_SHARE, seed=seed)
    training, held_out = split.training.tolist(), split.validation.tolist()
    return [documents[place] for place in training], [documents[place] for place in held_out]


def _labels(documents: Iterable[Document]) -> LabelIndex:
    return LabelIndex.from_labels(one.label for one in documents if one.label is not None)


def _is_known(document: Document, index: LabelIndex) -> bool:
    labels = single_labels(document.label)
    return document.label is not None and all(index.number(one) is not None for one in labels)


def _enough(found: Sides) -> Sides:
    for name, side in (("train", found.training), ("test", found.test)):
        if len(side) < 2:
            raise DataError(
                f"there are {len(side)} documents to {name} on with a label that is known; "
                "comparing needs more"
            )
    return found


@dataclass(frozen=True, eq=False)
class _Todo:
    """One training to do, or done."""

    contender: Contender
    seed: int | None
    path: Path
    key: str


class Arena:
    """Trains contenders and compares them.

    ``folder`` keeps what is done; ``budget`` is in seconds, after which no training is begun.
    Answers are timed on ``timed_on``, else on the device of the training: whoever trains on a GPU
    may serve on a CPU.
    ``tell`` is told of each training that is done, ``watch`` how many are and what comes next.
    """

    def __init__(
        self,
        sides: Sides,
        names: Sequence[str],
        seeds: Sequence[int],
        *,
        folder: Path,
        against: str | None = None,
        device: str = "cpu",
        timed_on: str | None = None,
        budget: float | None = None,
        tell: Callable[[str], None] = lambda line: None,
        watch: Callable[[int, int, str], None] = lambda done, total, what: None,
    ) -> None:
        for name in names:
            require_one_of("--models", name, CONTENDERS)
        require(len(names) > 1, "comparing needs at least two models")
        require(bool(seeds), "comparing needs at least one seed")
        self.sides, self.names, self.seeds = sides, list(dict.fromkeys(names)), list(seeds)
        self.against = against or ("balanced" if "balanced" in self.names else self.names[-1])
        require_one_of("--against", self.against, self.names)
        self.folder, self.device, self.budget = folder, device, budget
        self.timed_on = timed_on or device
        self.tell, self.watch = tell, watch
        self.left_out: list[LeftOut] = []
        self.index = _labels(sides.training)
        truth = self.index.encode([one.label for one in sides.test if one.label is not None])
        self.truth = truth.astype(np.int64)
        self.state = _digest(sides)

    def run(self) -> Comparison:
        """Train what is not trained yet, and compare."""
        self.folder.mkdir(parents=True, exist_ok=True)
        began, took = time.monotonic(), dict[str, list[float]]()
        todo = list(self._todo())
        done = {one.path: kept for one in todo if (kept := self._kept(one)) is not None}
        if done:
            self.tell(f"{len(done):,} of {len(todo):,} trainings are kept in {self.folder}")
        with Interrupts() as interrupts:
            for place, one in enumerate(todo):
                if one.path in done:
                    continue
                interrupts.heed()
                gone = time.monotonic() - began
                if not self._allowed(one, gone, took):
                    continue
                self.watch(place, len(todo), f"{one.contender.title}{_of_seed(one)}")
                started = time.monotonic()
                found = self._train(one, interrupts)
                if found is None:
                    continue
                done[one.path] = found
                took.setdefault(one.contender.name, []).append(time.monotonic() - started)
                left = [two for two in todo[place + 1 :] if two.path not in done]
                self.tell(_told(one, found, len(done), len(todo), _seconds_left(left, took)))
        return self._compared([(one, done[one.path]) for one in todo if one.path in done])

    def _todo(self) -> Iterable[_Todo]:
        contenders = [CONTENDERS[name] for name in self.names]
        for contender in contenders:
            if reason := contender.missing():
                self.left_out.append(LeftOut(contender.name, reason))
        there = [one for one in contenders if not one.missing()]
        for place, seed in enumerate(self.seeds):
            for contender in there:
                if contender.draws or place == 0:
                    own = seed if contender.draws else None
                    # What is kept says how fast its answers were, too.
                    told = f"{contender.name} {contender.settings} {own} {self.state}"
                    told += f" {self.timed_on}"
                    key = blake2b(f"{told} {__version__}".encode(), digest_size=8).hexdigest()
                    name = contender.name if own is None else f"{contender.name}-{own}"
                    yield _Todo(contender, own, self.folder / f"{name}.json", key)

    def _kept(self, one: _Todo) -> Training | None:
        """What an earlier run has left, unless it is of other data or settings, or damaged."""
        try:
            found = Training.from_json(one.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RegardError):
            return None
        return found if found.key == one.key else None

    def _allowed(self, one: _Todo, gone: float, took: dict[str, list[float]]) -> bool:
        """Whether the budget allows for one more; what it does not is left out, and said."""
        if self.budget is None:
            return True
        before = took.get(one.contender.name)
        wanted = max(before) if before else 0.0
        if gone + wanted < self.budget:
            return True
        name = f"{one.contender.name}{_of_seed(one)}"
        self.left_out.append(LeftOut(name, f"the budget of {self.budget:,.0f} s was spent"))
        return False

    def _train(self, one: _Todo, interrupts: Interrupts) -> Training | None:
        """Train and measure one; what cannot be trained on these data is left out, and said."""
        lesson = Lesson(
            self.sides.training,
            self.seeds[0] if one.seed is None else one.seed,
            self.device,
            interrupts=interrupts,
        )
        began = time.monotonic()
        try:
            candidate = one.contender.train(lesson)
        except (ConfigError, MissingExtra) as problem:
            self.left_out.append(LeftOut(f"{one.contender.name}{_of_seed(one)}", str(problem)))
            return None
        seconds = time.monotonic() - began
        if interrupts.heeded:  # what was cut short by hand is no fair training
            raise KeyboardInterrupt
        found = self._measured(one, candidate, seconds)
        write_file(one.path, found.to_json() + "\n")
        return found

    def _measured(self, one: _Todo, candidate: Candidate, seconds: float) -> Training:
        texts = [document.text for document in self.sides.test]
        predictions = self._predictions(candidate, texts)
        scores = evaluate(predictions)
        faithful = measure_faithfulness(candidate, _drawn(texts, EXPLAINED), seed=self.seeds[0])
        parameters = candidate.facts_.get("parameters")
        with tempfile.TemporaryDirectory(prefix="regard-") as place:
            folder = Path(place) / "model"
            folder.mkdir()
            candidate.save(folder)
            del candidate
            footprint = measure_footprint(
                lambda: one.contender.load(folder, self.timed_on),
                lambda loaded, asked: loaded.predict_proba(asked),
                _drawn(texts, TIMED),
            )
            size = bytes_on_disk(folder)
        right = predictions.correct()
        return Training(
            contender=one.contender.name,
            seed=one.seed,
            accuracy=scores.accuracy,
            macro_f1=scores.macro_f1,
            right="".join("01"[int(good)] for good in right),
            seconds=seconds,
            parameters=parameters if isinstance(parameters, int) else None,
            disk_bytes=size,
            footprint=replace(footprint, device=self.timed_on.partition(":")[0]),
            faithfulness=faithful,
            key=one.key,
        )

    def _predictions(self, candidate: Candidate, texts: Sequence[str]) -> Predictions:
        likely = np.asarray(candidate.predict_proba(texts), np.float64)
        names = [str(name) for name in candidate.classes_]
        columns = [names.index(str(name)) for name in self.index.classes]
        return Predictions.from_probabilities(self.index.classes, self.truth, likely[:, columns])

    def _compared(self, done: Sequence[tuple[_Todo, Training]]) -> Comparison:
        """Compare all that were trained."""
        by_name: dict[str, list[Training]] = {}
        for one, found in done:
            by_name.setdefault(one.contender.name, []).append(found)
        if len(by_name) < 2:
            why = "; ".join(dict.fromkeys(one.reason for one in self.left_out))
            raise DataError(f"fewer than two models were trained, so nothing to compare: {why}")
        right = {name: _right(found) for name, found in by_name.items()}
        draws = redraw_accuracies(right)
        standings = [
            _standing(CONTENDERS[name], found, draws[name]) for name, found in by_name.items()
        ]
        against = self.against if self.against in by_name else standings[0].name
        return Comparison(
            data=self.sides.data,
            test=self.sides.tested_on,
            training_documents=len(self.sides.training),
            test_documents=len(self.sides.test),
            classes=tuple(map(str, self.index.classes)),
            seeds=tuple(self.seeds),
            against=against,
            standings=tuple(sorted(standings, key=lambda one: -one.accuracy)),
            pairs=_pairs(right, against),
            left_out=tuple(self.left_out),
            version=__version__,
            date=datetime.datetime.now(datetime.UTC).date().isoformat(),
        )


def _right(found: Sequence[Training]) -> Right:
    return np.array([[letter == "1" for letter in one.right] for one in found], np.float64)


def _pairs(right: dict[str, Right], against: str) -> tuple[Paired, ...]:
    """Compare each with one; those whose seeds were cut short by the seeds that both have."""
    named = [name for name in right if name != against]
    cut = {name: _common(right[name], right[against]) for name in named}
    values = [flip_signs(*cut[name]) for name in named]
    found = []
    for name, value, corrected in zip(named, values, correct_for_many(values), strict=True):
        own, other = cut[name]
        draws = redraw_accuracies({"own": own, "other": other})
        won, seeds = seeds_won(own, other)
        found.append(
            Paired(
                name=name,
                against=against,
                difference=float(own.mean() - other.mean()),
                interval=percentiles(draws["own"] - draws["other"]),
                p_value=value,
                corrected=corrected,
                won=won,
                seeds=seeds,
            )
        )
    return tuple(sorted(found, key=lambda one: -one.difference))


def _common(first: Right, second: Right) -> tuple[Right, Right]:
    if len(first) == 1 or len(second) == 1:
        return first, second
    count = min(len(first), len(second))
    return first[:count], second[:count]


def _standing(contender: Contender, found: Sequence[Training], draws: Floats) -> Standing:
    def mean(values: Iterable[float]) -> float:
        return statistics.fmean(values)

    accuracies = [one.accuracy for one in found]
    peaks = [one.footprint.peak_bytes for one in found if one.footprint.peak_bytes is not None]
    return Standing(
        name=contender.name,
        title=contender.title,
        ours=contender.ours,
        seeds=len(found),
        accuracy=mean(accuracies),
        deviation=statistics.stdev(accuracies) if len(found) > 1 else None,
        interval=_interval(draws, len(found[0].right)),
        macro_f1=mean(one.macro_f1 for one in found),
        documents_per_second=mean(one.footprint.documents_per_second for one in found),
        milliseconds=mean(one.footprint.milliseconds for one in found),
        peak_bytes=round(mean(peaks)) if peaks else None,
        disk_bytes=round(mean(one.disk_bytes for one in found)),
        parameters=found[0].parameters,
        training_seconds=mean(one.seconds for one in found),
        faithfulness=_together([one.faithfulness for one in found if one.faithfulness]),
    )


def _interval(draws: Floats, document_count: int) -> Interval:
    if draws.min() == draws.max():
        # Redrawing documents that are all right gives all right again, which says too much.
        return proportion_interval(round(float(draws[0]) * document_count), document_count)
    return percentiles(draws)


def _together(found: Sequence[Faithfulness]) -> Faithfulness | None:
    """The mean over the seeds; a method that only some seeds chose is named beside the others."""
    if not found:
        return None
    return Faithfulness(
        method=", ".join(dict.fromkeys(one.method for one in found)),
        documents=found[0].documents,
        lead=statistics.fmean(one.lead for one in found),
        flips=statistics.fmean(one.flips for one in found),
        random_flips=statistics.fmean(one.random_flips for one in found),
    )


def _drawn(texts: Sequence[str], count: int) -> list[str]:
    """Some of the texts, from all over them; the same for everyone."""
    if len(texts) <= count:
        return list(texts)
    places = np.random.default_rng(0).choice(len(texts), count, replace=False)
    return [texts[place] for place in sorted(places.tolist())]


def _digest(sides: Sides) -> str:
    found = blake2b(digest_size=8)
    for side in (sides.training, sides.test):
        for one in side:
            told = f"{one.label!r}\0{one.text}\0"
            found.update(told.encode("utf-8", "surrogatepass"))
        found.update(b"\1")
    return found.hexdigest()


def _of_seed(one: _Todo) -> str:
    return "" if one.seed is None else f", seed {one.seed}"


def _seconds_left(left: Sequence[_Todo], took: dict[str, list[float]]) -> float:
    """How long what is left takes, if each takes as long as before; others take the mean."""
    usual = statistics.fmean(one for some in took.values() for one in some)
    return sum(statistics.fmean(took.get(one.contender.name, [usual])) for one in left)


def _told(one: _Todo, found: Training, done: int, total: int, left: float) -> str:
    time_left = f", about {_duration(left)} left" if done < total else ""
    return (
        f"{one.contender.title}{_of_seed(one)}: {100 * found.accuracy:.1f} % in "
        f"{_duration(found.seconds)} ({done:,} of {total:,} done{time_left})"
    )


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min"
