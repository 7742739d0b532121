"""An exported model beside the one it was made of: python benchmarks/export.py [MODEL]

1,000 reviews of IMDB's test set are read by torch and by ONNX Runtime, and all outputs compared;
then both label them on one thread, from raw text and from ids. Without MODEL a classifier with the
default settings is trained on all training reviews first. Needs the extra export and
../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import onnxruntime
import pyarrow.parquet
import torch
from measuring import IMDB, in_turns, provenance, save

from regard.data.batch import Batch, gather
from regard.estimators.saved import Saved
from regard.explain.fitted import Fitted
from regard.export import TARGETS
from regard.export.onnx_folder import compare, inputs_of, start_session

REVIEWS = 1000
BATCHES = (1, 64)  # documents that are read in one call


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--data", type=Path, default=IMDB)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit("this benchmark needs ../shared/data/imdb")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or train(Path(folder) / "model", options.data)
        found = measure(model, Path(folder) / "onnx", options)
    save("export", {**provenance(), **found})
    print(json.dumps(found, indent=1))


def train(folder: Path, data: Path) -> Path:
    from regard import DocumentClassifier

    table = pyarrow.parquet.read_table(data / "train.parquet").to_pydict()
    DocumentClassifier().fit(table["text"], table["label"]).save(folder)
    return folder


def measure(model: Path, out: Path, options: argparse.Namespace) -> dict[str, object]:
    table = pyarrow.parquet.read_table(options.data / "test.parquet").to_pydict()
    step = max(1, len(table["text"]) // REVIEWS)
    texts, labels = table["text"][::step][:REVIEWS], table["label"][::step][:REVIEWS]
    saved = Saved.read(model)
    fitted = saved.fitted("cpu")
    TARGETS["onnx"].write(saved, out)
    session = start_session(str(out / "model.onnx"), threads=1)
    difference = compare(session, fitted, batches(fitted, texts, 50))
    likely = np.concatenate([by_runtime(session, batch) for batch in batches(fitted, texts, 50)])
    truth = [fitted.labels.classes.index(label) for label in labels]
    return {
        "reviews": len(texts),
        "words": round(len(fitted.reader.vocab.encode(texts).ids) / len(texts)),
        "accuracy": float((likely.argmax(1) == truth).mean()),
        "same_labels": float((likely.argmax(1) == fitted.likely(texts).argmax(1)).mean()),
        "differs_by": dict(difference.by_output),
        "bytes": {path.name: size(path) for path in sorted(out.iterdir())},
        "model_bytes": size(model),
        "onnxruntime": onnxruntime.__version__,
        "documents_per_second": speed(session, fitted, texts, options.rounds),
    }


def batches(fitted: Fitted, texts: list[str], size: int) -> Iterator[Batch]:
    """The texts as they come, so many at a time."""
    encoded = fitted.reader.vocab.encode(texts)
    for first in range(0, len(texts), size):
        yield gather(encoded, np.arange(first, min(first + size, len(texts))))


def by_runtime(session: onnxruntime.InferenceSession, batch: Batch) -> np.ndarray:
    return session.run(["probabilities"], inputs_of(batch))[0]


def speed(
    session: onnxruntime.InferenceSession, fitted: Fitted, texts: list[str], rounds: int
) -> dict[str, float]:
    """Documents a second by processor time on one thread: from ids, and from raw texts."""

    def rate(work: Callable[[], object]) -> Callable[[], float]:
        def timed() -> float:
            began = time.process_time()
            work()
            return len(texts) / (time.process_time() - began)

        return timed

    def by_torch(batch: Batch) -> None:
        with torch.inference_mode(), fitted.reader.kept.in_use():
            fitted.model(batch)

    entries: dict[str, Callable[[], float]] = {
        "regard, from texts": rate(lambda: fitted.likely(texts))
    }
    for count in BATCHES:
        ready = list(batches(fitted, texts, count))
        entries[f"regard, {count} at once"] = rate(
            lambda ready=ready: [by_torch(one) for one in ready]
        )
        entries[f"onnxruntime, {count} at once"] = rate(
            lambda ready=ready: [by_runtime(session, one) for one in ready]
        )
    entries["onnxruntime, from texts"] = rate(
        lambda: [by_runtime(session, one) for one in batches(fitted, texts, BATCHES[-1])]
    )
    return in_turns(entries, rounds)


def size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(one.stat().st_size for one in files if one.is_file())


if __name__ == "__main__":
    main()
