"""What a task says of itself to the commands, and what they ask of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import ConfigError
from ..inputs import TextsToExplain

__all__ = [
    "Answering",
    "DocumentsToLabel",
    "ModelToEvaluate",
    "PicturesToCaption",
    "Task",
    "TextsToAudit",
    "TextsToShow",
    "TextsToTranslate",
    "TrainingToDo",
    "cannot",
    "describe_saved",
]


@dataclass(frozen=True)
class TrainingToDo:
    """What ``regard train`` was asked."""

    data: str
    out: Path
    text_column: str
    label_column: str
    labels_separator: str | None
    source_column: str | None
    target_column: str | None
    validation: str
    test: str | None
    group_column: str | None
    time_column: str | None
    recipe: str | None
    network: str | None
    changes: Sequence[str]
    vectors: Path | None
    unlabelled: str | None
    marks: Path | None
    evidence_column: str | None
    bert: Path | None
    backbone: Path | None
    features: Path | None
    resume: bool
    overwrite: bool
    wide: str
    baseline: bool
    logs: Path | None
    encoding: str | None
    on_bad_row: str
    device: str
    quiet: bool
    seeds: int = 1


@dataclass(frozen=True)
class ModelToEvaluate:
    """What ``regard evaluate`` was asked."""

    model: Path
    data: str
    out: Path | None
    json: bool
    text_column: str | None
    label_column: str | None
    labels_separator: str | None
    source_column: str | None
    target_column: str | None
    links: str | None
    encoding: str | None
    on_bad_row: str
    device: str
    quiet: bool


@dataclass(frozen=True)
class TextsToShow:
    """What ``regard explain`` was asked."""

    model: Path
    texts: TextsToExplain
    out: Path | None
    method: str
    label: str | None
    against: str | None
    receipt: bool
    n_best: int
    whole_words: bool
    whole: bool  # whether quiet parts of long texts are printed too
    heads: str | None
    json: bool
    device: str
    quiet: bool


@dataclass(frozen=True)
class TextsToAudit:
    """What ``regard audit`` was asked of a task that has an audit of its own."""

    model: Path
    data: str
    out: Path | None
    json: bool
    text_column: str | None
    limit: int
    seed: int
    encoding: str | None
    on_bad_row: str
    device: str
    quiet: bool


@dataclass(frozen=True)
class DocumentsToLabel:
    """What ``regard predict`` was asked."""

    model: Path
    data: str
    out: str
    text_column: str | None
    source_column: str | None
    target_column: str | None
    abstain_below: float
    explain: bool
    receipt: bool
    resume: bool
    shard: str | None
    protect_formulas: bool
    encoding: str | None
    on_bad_row: str
    device: str
    quiet: bool


@dataclass(frozen=True)
class TextsToTranslate:
    """What ``regard translate`` was asked."""

    model: Path
    text: str
    n_best: int
    beam: int | None
    sample: bool
    temperature: float | None
    seed: int | None
    out: str
    source_column: str | None
    encoding: str | None
    device: str
    quiet: bool


@dataclass(frozen=True)
class PicturesToCaption:
    """What ``regard caption`` was asked."""

    model: Path
    pictures: Sequence[Path]
    out: Path | None
    beam: int | None
    receipt: bool
    json: bool
    device: str
    quiet: bool


Answering = Callable[[list[str]], object]
"""Answers texts, in whatever form; how long that takes is measured."""


def cannot(asked: object) -> None:
    """Stand for what a task has no answer to; ``find_task`` says so before it is asked."""
    raise ConfigError("this kind of model cannot do that")


@dataclass(frozen=True)
class Task:
    """What the models of one task are, and what the commands do with them."""

    noun: str  # such as "translator"
    options: Mapping[str, tuple[str, ...]]  # of a command, those that mean something here alone
    instead: Mapping[str, str]  # the commands it has no answer for, and what fits
    train: Callable[[TrainingToDo], None]
    evaluate: Callable[[ModelToEvaluate], None]
    explain: Callable[[TextsToShow], None]
    describe: Callable[[Path], dict[str, object]]  # what regard info tells
    choices: Callable[[], Mapping[str, Iterable[str]]]  # what can be named to regard train
    predict: Callable[[DocumentsToLabel], None] = cannot
    translate: Callable[[TextsToTranslate], None] = cannot
    caption: Callable[[PicturesToCaption], None] = cannot
    audit: Callable[[TextsToAudit], None] | None = None  # None: as documents with labels are
    load: Callable[[Path, str], Answering] | None = None  # from a folder to a device, for info
    timed_on: str = "{text}"  # what is answered to be timed; {text} stands for what is usual


def describe_saved(
    folder: Path, facts: Mapping[str, object], settings: Mapping[str, Mapping[str, object]]
) -> dict[str, object]:
    """Return what there is to tell of a saved model; settings are named as ``--set`` takes them."""
    size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    named = {
        f"{part}.{name}": value
        for part, values in settings.items()
        for name, value in values.items()
    }
    return {**facts, "bytes_on_disk": size, **named}
