"""Captioners from the shell: trained, evaluated, asked about pictures and described."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...config import require_one_of, with_text_values
from ...errors import ConfigError, DataError
from ...estimators.named import TRANSLATOR_PARTS, split_changes
from ..inputs import existing
from ..output import Delivery, Drawn, Remarks, counted, say, show
from ..training import TrainingJob, describe_writing, share_or_file
from .task import (
    Answering,
    ModelToEvaluate,
    PicturesToCaption,
    Task,
    TrainingToDo,
    cannot,
    describe_saved,
)

if TYPE_CHECKING:
    from ...data.captions import CaptionColumns
    from ...data.pictures import PictureFile
    from ...data.readers import Reader
    from ...estimators.captioner import Captioner
    from ...estimators.fitting import FitOptions
    from ...models.show_attend_tell import ShowAttendTellConfig
    from ...records.caption import Caption
    from ...views.drawing.terminal import Terminal

__all__ = ["CAPTION"]

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
"""The files of a folder that are taken for pictures."""
WORST = 30
"""How many pictures the page of an evaluation shows."""


@dataclass
class CaptionJob(TrainingJob):
    """One training of a captioner."""

    estimator: Captioner

    def fit(self, options: FitOptions) -> None:
        """Fit the captioner on pictures with captions."""
        from ...data.captions import read_captioned
        from ...training.observers import counted as watched

        captions = watched(read_captioned(self.reader), "reading", options.observers)
        validation = None if self.held_out is None else read_captioned(self.held_out)
        self.estimator.fit_captions(captions, validation, options=options)

    def describe(self) -> Sequence[str]:
        """Say how good it is, and what can be done next."""
        out = self.asked.out
        return [
            *describe_writing(self.estimator.facts_, "captions", bleu="BLEU-4"),
            f"saved to {out}",
            f"  regard evaluate {out} TEST.parquet --out errors.html",
            f"  regard caption {out} PHOTO.jpg --out page.html",
        ]


def _train(asked: TrainingToDo) -> None:
    """Train a captioner on pictures with captions."""
    from ...data.captions import CaptionColumns

    columns = CaptionColumns(asked.source_column, asked.target_column, asked.encoding)
    captioner = _captioner_from(asked)
    reader = _open(asked.data, columns, asked.on_bad_row)
    fraction, judged = share_or_file(
        asked.validation, lambda file: _open(file, columns, asked.on_bad_row)
    )
    CaptionJob(captioner, reader, judged, asked).go(fraction)


def _captioner_from(asked: TrainingToDo) -> Captioner:
    """Make a captioner with its usual settings changed as asked; a backbone brings its own."""
    from ...estimators.captioner import Captioner

    usual, known = Captioner(), _networks()
    network = asked.network or ("pretrained" if asked.backbone else "show-attend-tell")
    require_one_of("--model", network, known)
    by_part = split_changes(asked.changes, TRANSLATOR_PARTS)
    captioner = Captioner(
        with_text_values(known[network], by_part["network"]),
        backbone=asked.backbone,
        features=asked.features,
        training=with_text_values(usual.training, by_part["training"]),
        units=with_text_values(usual.units, by_part["units"]),
        forcing=with_text_values(usual.forcing, by_part["forcing"]),
        generation=with_text_values(usual.generation, by_part["generation"]),
        device=asked.device,
    )
    if captioner.network.encoder != "cnn" and asked.backbone is None:
        raise ConfigError(f"--model {network} needs --backbone, a file of weights")
    return captioner


def _open(data: str, columns: CaptionColumns, on_bad_row: str) -> Reader:
    from ...data.captions import read_captions

    require_one_of("--on-bad-row", on_bad_row, ("stop", "skip"))
    bad = "skip" if on_bad_row == "skip" else "stop"
    return read_captions(existing(data), columns, on_bad_row=bad)  # type: ignore[arg-type]


def _evaluate(asked: ModelToEvaluate) -> None:
    """Score a captioner by BLEU, and show what went worst."""
    from ...data.captions import CaptionColumns, read_captioned
    from ...estimators.captioner import Captioner
    from ...records.caption import CaptionEvaluation
    from ...views.caption import render_errors

    delivery = Delivery(asked.out, asked.json, asked.quiet, (asked.data,), "report")
    existing(asked.data)
    captioner = Captioner.load(asked.model, device=asked.device)
    columns = CaptionColumns(asked.source_column, asked.target_column, asked.encoding)
    reader = _open(asked.data, columns, asked.on_bad_row)
    captions = list(counted(read_captioned(reader), "read", quiet=asked.quiet))
    say("writing about the pictures", quiet=asked.quiet)
    worst = WORST if asked.out is not None and asked.out.suffix.lower() == ".html" else 0
    found = captioner.evaluate(
        captions, title=f"{asked.model.resolve().name} on {Path(asked.data).name}", worst=worst
    )
    for line in reader.counts.describe() if reader.counts.skipped else ():
        say(line, quiet=asked.quiet)
    delivery.give(found, page=render_errors, lines=CaptionEvaluation.describe)


def _caption(asked: PicturesToCaption) -> None:
    """Write about pictures, and show where each word looked."""
    from ...estimators.captioner import Captioner

    captioner = Captioner.load(asked.model, device=asked.device)
    generation = captioner.generation
    if asked.beam is not None:
        method = "greedy" if asked.beam == 1 else "beam"
        generation = replace(generation, method=method, beam=asked.beam)  # type: ignore[arg-type]
    remarks = Remarks(quiet=asked.quiet)
    files = _readable(asked.pictures, captioner, remarks)
    if not captioner.settings_.network.attends and asked.out is None and not asked.json:
        remarks.say()
        for file in counted(files, "captioned", quiet=asked.quiet):
            show(f"{file.name}: {captioner.predict([file], generation=generation)[0]}")
        say("it looks at all cells alike, so there is no telling where", quiet=asked.quiet)
        return
    found = [
        captioner.explain([one], receipt=asked.receipt, generation=generation)[0]
        for one in counted(files, "captioned", quiet=asked.quiet)
    ]
    remarks.say()
    Drawn(found, _page, _lines, one="caption", fewer="one picture").give(
        asked.out, json=asked.json, quiet=asked.quiet
    )


def _readable(places: Iterable[Path], captioner: Captioner, remarks: Remarks) -> list[PictureFile]:
    """The pictures that can be read, those of folders in order; the others are named."""
    from ...data.pictures import open_picture

    found, bad = [], []
    for place in places:
        inside = [place]
        if place.is_dir():
            inside = sorted(one for one in place.rglob("*") if one.suffix.lower() in PICTURES)
        for path in inside:
            try:
                picture = open_picture(path)
                captioner.reader_.decode(picture)
            except DataError as problem:
                bad.append(str(problem))
            else:
                found.append(picture)
    if not found:
        raise DataError(
            f"none of the pictures can be read; {'; '.join(bad[:3]) or 'there are none'}"
        )
    for line in bad:
        remarks.add(f"left out: {line}")
    return found


def _page(found: Sequence[Caption]) -> str:
    from ...views.caption import render

    return render(found)


def _lines(found: Sequence[Caption], terminal: Terminal) -> list[str]:
    from ...views.caption.terminal import render

    return [render(one, terminal) for one in found]


def _describe(folder: Path) -> dict[str, object]:
    from ...estimators.saved import SavedCaptioner

    saved = SavedCaptioner.read(folder)
    facts = {"model": saved.settings.network.name, "task": "caption", **saved.facts}
    return describe_saved(folder, facts, saved.settings.to_dict())


def _load(folder: Path, device: str) -> Answering:
    """Write about pictures of noise, as many as there are texts to time others by."""
    import numpy as np

    from ...estimators.captioner import Captioner

    captioner, draw = Captioner.load(folder, device=device), np.random.default_rng(0)
    size = (PICTURE, PICTURE, 3)
    return lambda texts: captioner.predict(
        [draw.integers(0, 256, size).astype(np.uint8) for _ in texts]
    )


def _networks() -> dict[str, ShowAttendTellConfig]:
    from ...models.show_attend_tell import PICTURE_PRESETS

    return PICTURE_PRESETS


def _choices() -> dict[str, Iterable[str]]:
    return {"--model": _networks(), "--set": TRANSLATOR_PARTS}


PICTURE = 224  # dots on a side of what is timed
_ASK = "use regard caption to see what it writes and where it looks"
CAPTION = Task(
    noun="captioner",
    options={
        "train": ("backbone", "features", "source_column", "target_column"),
        "evaluate": ("source_column", "target_column"),
    },
    instead={
        **dict.fromkeys(("predict", "explain", "translate", "look", "audit"), _ASK),
        "diff": "use regard evaluate on both models to compare their scores",
    },
    train=_train,
    evaluate=_evaluate,
    explain=cannot,
    caption=_caption,
    describe=_describe,
    load=_load,
    timed_on=f"pictures of noise, {PICTURE} x {PICTURE}",
    choices=_choices,
)
