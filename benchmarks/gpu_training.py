"""Whole trainings on a GPU: IMDB through the public fit, in documents a second of whole epochs.

    python benchmarks/gpu_training.py [--batches 256 64] [--precision float32] [--epochs 8]

The texts are read and encoded once before the first epoch, so epochs start from encoded ids. An
epoch is timed on the clock from its first batch to the moment the GPU has done its last step;
validation comes after that and is not in it. Medians are over all epochs but the first, which
compiles the kernels. N-grams are not learnt, nor is a method of explanation chosen: both come after
the epochs. Needs a GPU and ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path

import pyarrow.parquet
import torch
from measuring import IMDB, provenance, save

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.data.readers import read_texts
from regard.estimators.fitting import FitOptions
from regard.kernels import describe
from regard.records.history import Epoch
from regard.training.loop import Step
from regard.training.observers import Observer


class EpochTimes(Observer):
    """Times epochs on the clock; the fit has waited for the GPU before it shows the last step."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.documents: list[int] = []
        self._began = 0.0
        self._count = 0

    def on_step(self, step: Step) -> None:
        if step.batch == 1 and step.epoch == 1:
            self._began, self._count = time.perf_counter() - step.seconds, 0
        self._count += step.documents
        if step.ends_epoch:
            self.seconds.append(time.perf_counter() - self._began)
            self.documents.append(self._count)

    def on_epoch(self, epoch: Epoch) -> None:
        accuracy = epoch.validation_accuracy
        print(
            f"epoch {epoch.epoch}: {self.seconds[-1]:.2f} s, "
            f"{self.documents[-1] / self.seconds[-1]:,.0f} documents/s, "
            f"loss {epoch.train_loss:.4f}, validation accuracy {accuracy or 0:.4f}",
            flush=True,
        )
        self._began, self._count = time.perf_counter(), 0


def run(texts: list[str], labels: list[int], training: TrainingConfig, device: str) -> dict:
    """Fit once; return the figures of its epochs."""
    times = EpochTimes()
    classifier = DocumentClassifier(HANConfig(), training=training, device=device, wide=None)
    began = time.perf_counter()
    options = FitOptions(observers=(times,), choose_method=False)
    classifier.fit_documents(read_texts(texts, labels), options=options)
    history = classifier.history_
    assert history is not None and history.best is not None
    pairs = list(zip(times.documents, times.seconds, strict=True))
    counted = pairs[1:] or pairs
    return {
        "batch_size": training.batch_size,
        "precision": training.precision,
        "epochs": len(times.seconds),
        "documents_per_second": statistics.median(count / spent for count, spent in counted),
        "epoch_seconds": statistics.median(spent for _, spent in counted),
        "first_epoch_seconds": times.seconds[0],
        "fit_seconds": time.perf_counter() - began,
        "validation_accuracy": history.best.validation_accuracy,
        "peak_gpu_bytes": torch.cuda.max_memory_allocated() if device == "cuda" else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batches", type=int, nargs="+", default=[256, 64])
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"])
    parser.add_argument("--learning-rate", type=float, default=None, help="the default if not said")
    parser.add_argument("--documents", type=int, default=25_000)
    parser.add_argument("--data", type=Path, default=IMDB)
    parser.add_argument("--device", default="cuda", help="cpu only to try the script itself")
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
    if options.device == "cuda" and not torch.cuda.is_available():
        sys.exit("there is no GPU here")
    gpu = torch.cuda.get_device_name() if options.device == "cuda" else "none"
    about = {"gpu": gpu, "torch": torch.__version__, **describe()}
    print("\n".join(f"{name}: {value}" for name, value in about.items()), flush=True)
    table = pyarrow.parquet.read_table(options.data / "train.parquet").to_pydict()
    step = max(1, len(table["text"]) // options.documents)
    texts, labels = table["text"][::step], table["label"][::step]
    rate = {} if options.learning_rate is None else {"learning_rate": options.learning_rate}
    results = []
    for batch_size in options.batches:
        training = TrainingConfig(
            epochs=options.epochs,
            batch_size=batch_size,
            batch_tokens=1024 * batch_size,  # so that documents, not tokens, fill a batch
            patience=None,
            precision=options.precision,
            **rate,
        )
        print(f"\nbatches of {batch_size}", flush=True)
        results.append(run(texts, labels, training, options.device))
    report(results)
    if options.device == "cuda" and step == 1:
        found = provenance()
        found |= {"machine": {**found["machine"], **about}, "runs": results}
        save(f"gpu-training-{options.precision}", found)


def report(results: list[dict]) -> None:
    """Print a line for each size of a batch."""
    print("\n| batch | documents/s | epoch s | first epoch s | fit s | validation accuracy |")
    print("|---|---|---|---|---|---|")
    for found in results:
        print(
            f"| {found['batch_size']} | {found['documents_per_second']:,.0f} "
            f"| {found['epoch_seconds']:.2f} | {found['first_epoch_seconds']:.1f} "
            f"| {found['fit_seconds']:.1f} | {found['validation_accuracy']:.4f} |"
        )


if __name__ == "__main__":
    main()
