"""BERT from the shell: taught on texts without labels, and described."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...config import with_text_values
from ...errors import ConfigError
from ...estimators.named import split_changes
from ..inputs import open_documents
from ..training import TrainingJob, open_validation
from .task import Answering, Task, TrainingToDo, cannot, describe_saved

if TYPE_CHECKING:
    from ...data.readers import Reader
    from ...estimators.fitting import FitOptions
    from ...estimators.pretraining import Pretrainer

__all__ = ["PRETRAIN"]

PARTS = ("network", "pieces", "masking", "training")


@dataclass
class PretrainingJob(TrainingJob):
    """One teaching of a BERT."""

    estimator: Pretrainer

    def fit(self, options: FitOptions) -> None:
        """Let it learn from the texts."""
        from ...training.observers import counted as watched

        texts = _texts(watched(self.reader, "reading", options.observers))
        validation = None if self.held_out is None else _texts(self.held_out)
        self.estimator.fit_texts(texts, validation, options=options)

    def describe(self) -> Sequence[str]:
        """Say how good it is, and what can be done next."""
        facts, out = self.estimator.facts_, self.asked.out
        lines = []
        if facts["validation_texts"] and facts["best_epoch"] is not None:
            lines.append(
                f"best epoch {facts['best_epoch']}: {facts['validation_accuracy']:.1%} of hidden "
                f"pieces and {facts['validation_next_accuracy']:.1%} of next texts guessed on "
                f"{facts['validation_texts']:,} held-out texts"
            )
        return [
            *lines,
            f"saved to {out}",
            f"  regard train LABELLED.csv --task bert-text --bert {out} --out model",
        ]


def _texts(documents: Reader | Iterator[object]) -> Iterator[str]:
    from ...text.document import Document

    for document in documents:
        assert isinstance(document, Document)
        yield document.text


def _train(asked: TrainingToDo) -> None:
    """Teach a BERT on texts; labels are not read."""
    from ...data.columns import Columns
    from ...estimators.pretraining import Pretrainer

    columns = Columns(text=asked.text_column, label=None, encoding=asked.encoding, carry=False)
    reader = open_documents(asked.data, columns, asked.on_bad_row)
    fraction, judged = open_validation(asked.validation, columns, asked.on_bad_row)
    by_part = split_changes(asked.changes, PARTS)
    if asked.network is not None:
        raise ConfigError("--task pretrain has one network; change it by --set network.NAME=VALUE")
    if asked.bert is not None and (by_part["network"] or by_part["pieces"]):
        raise ConfigError("--bert brings its own network and pieces; leave --set of them out")
    usual = Pretrainer()
    pretrainer = Pretrainer(
        with_text_values(usual.network, by_part["network"]),
        training=with_text_values(usual.training, by_part["training"]),
        pieces=with_text_values(usual.pieces, by_part["pieces"]),
        masking=with_text_values(usual.masking, by_part["masking"]),
        bert=asked.bert,
        device=asked.device,
    )
    PretrainingJob(pretrainer, reader, judged, asked).go(fraction)


def _describe(folder: Path) -> dict[str, object]:
    from ...estimators.bert_folder import describe_bert

    facts, settings = describe_bert(folder)
    return describe_saved(folder, {"model": "bert", "task": "pretrain", **facts}, settings)


def _load(folder: Path, device: str) -> Answering:
    """Read the texts, as far as this BERT reads in one go."""
    import torch

    from ...estimators.bert_folder import load_bert
    from ...ragged import Ragged
    from ...training.devices import choose_device

    found, place = load_bert(folder), choose_device(device)
    bert = found.bert.to(place).eval()

    def read(texts: list[str]) -> object:
        rows = [torch.from_numpy(row).long() for row in found.pieces.ids(texts)]
        cut = [row[: bert.config.longest] for row in rows]
        lengths = torch.tensor([len(row) for row in cut])
        with torch.inference_mode():
            return bert(Ragged(torch.cat(cut).to(place), lengths.to(place)))

    return read


def _choices() -> dict[str, Iterable[str]]:
    return {"--set": PARTS}


_TUNE = "tune it: regard train DATA --task bert-text --bert FOLDER"
PRETRAIN = Task(
    noun="BERT",
    options={"train": ("bert", "text_column")},
    instead=dict.fromkeys(
        ("evaluate", "predict", "explain", "translate", "audit", "look", "diff"), _TUNE
    ),
    train=_train,
    evaluate=cannot,
    explain=cannot,
    describe=_describe,
    load=_load,
    timed_on="{text}, as far as it reads in one go",
    choices=_choices,
)
