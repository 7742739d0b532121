"""Labels for more documents than one machine should read, by Ray Data.

Ray reads and writes the files and moves the rows; each of its actors holds the model once. A worker
that dies is started again by Ray, and what it had not finished is done again.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError, DataError, MissingExtra

if TYPE_CHECKING:
    from ..explain.fitted import Fitted

__all__ = ["Labeller", "label_with_ray"]

BATCH = 1024  # rows that an actor labels at once
READERS = {
    ".parquet": "read_parquet",
    ".jsonl": "read_json",
    ".json": "read_json",
    ".csv": "read_csv",
}

Columns = dict[str, NDArray[np.generic]]


class Labeller:
    """What an actor of Ray is: a model, loaded once, that labels batches of rows."""

    def __init__(self, folder: str, text_column: str, device: str = "cpu") -> None:
        import torch

        from ..estimators.saved import Saved

        torch.set_num_threads(1)
        self._fitted: Fitted = Saved.read(Path(folder)).fitted(device)
        self._text_column = text_column

    def __call__(self, rows: Columns) -> Columns:
        """Add a label, its probability and those of all others to the columns."""
        from ..tasks.predictions import confidences

        if self._text_column not in rows:
            raise DataError(f"there is no column {self._text_column!r}; use --text-column")
        fitted = self._fitted
        texts = ["" if text is None else str(text) for text in rows[self._text_column]]
        likely = fitted.likely(texts)
        labels = fitted.labels_from(likely)
        names = [str(name) for name in fitted.labels.classes]
        shares = np.empty(len(texts), dtype=object)
        shares[:] = [dict(zip(names, row, strict=True)) for row in likely.tolist()]
        if fitted.labels.multilabel:
            labels = _objects([list(map(str, label)) for label in labels])
        return {
            **rows,
            "predicted": np.asarray(labels),
            "probability": confidences(likely, multilabel=fitted.labels.multilabel),
            "probabilities": shares,
        }


def label_with_ray(
    folder: Path,
    data: str,
    out: Path,
    *,
    text_column: str,
    gpus: bool = False,
    progress: bool = False,
) -> int:
    """Label the rows of a file or folder of files into a folder of Parquet files.

    Returns how many rows were written. One core is left to Ray's readers: a pool of actors that
    takes all of them starves its own input.
    """
    try:
        import ray
    except ImportError as problem:
        raise MissingExtra("ray", "ray", "--ray") from problem
    reader = _reader(data)
    if out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is not empty; name another folder")
    started = not ray.is_initialized()
    if started:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    try:
        context = ray.data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = progress
        total = int(ray.cluster_resources().get("GPU" if gpus else "CPU", 1))
        actors = total if gpus else max(1, total - 1)
        rows = getattr(ray.data, reader)(str(Path(data).resolve()))
        labelled = rows.map_batches(
            Labeller,
            fn_constructor_args=(str(folder.resolve()), text_column, "cuda" if gpus else "cpu"),
            batch_size=BATCH,
            batch_format="numpy",
            compute=ray.data.ActorPoolStrategy(size=actors),
            num_cpus=0 if gpus else 1,
            num_gpus=1 if gpus else 0,
        )
        out.mkdir(parents=True, exist_ok=True)
        labelled.write_parquet(str(out.resolve()))
        return int(ray.data.read_parquet(str(out.resolve())).count())
    finally:
        if started:
            ray.shutdown()


def _reader(data: str) -> str:
    """The name of Ray's reader of such files."""
    place = Path(data)
    if not place.exists():
        raise DataError(f"there is no file or folder {data}")
    names = [place] if place.is_file() else sorted(place.iterdir())
    kinds = {path.suffix.lower() for path in names if path.is_file()}
    if len(kinds) != 1 or not kinds <= READERS.keys():
        found = ", ".join(sorted(kinds)) or "nothing"
        raise DataError(f"--ray reads {', '.join(READERS)}, all of one kind; {data} has {found}")
    return READERS[kinds.pop()]


def _objects(values: list[list[str]]) -> NDArray[np.generic]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found
