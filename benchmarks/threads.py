"""What a second thread brings to fit and predict: python benchmarks/threads.py [--threads 2]

Time on the clock, so only a machine with nothing else to do gives a true answer; medians of rounds
in which both take turns. Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import sys
import time

import pyarrow.parquet
import torch
from measuring import IMDB, in_turns, machine, save

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.data.readers import read_texts
from regard.estimators.preparing import FitOptions
from regard.records.history import Epoch
from regard.training.loop import Step

EARLY_STEPS = 64
"""In so many steps Adam moves all word vectors, not only those that were read; most come later."""


class Seconds:
    """Adds up what the steps of a training take, after the early ones."""

    def __init__(self) -> None:
        self.seconds, self.documents = 0.0, 0

    def on_step(self, step: Step) -> None:
        if step.step > EARLY_STEPS:
            self.seconds += step.seconds
            self.documents += step.documents

    def on_epoch(self, epoch: Epoch) -> None: ...


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--documents", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    table = pyarrow.parquet.read_table(IMDB / "train.parquet").to_pydict()
    step = len(table["text"]) // options.documents
    texts, labels = table["text"][::step], table["label"][::step]
    training = TrainingConfig(epochs=1)
    fitted = DocumentClassifier(HANConfig(), training=training, validation=0.0, device="cpu")
    fitted.fit(texts, labels)

    def predict(threads: int) -> float:
        torch.set_num_threads(threads)
        began = time.perf_counter()
        fitted.predict(texts)
        return len(texts) / (time.perf_counter() - began)

    def fit(threads: int) -> float:
        torch.set_num_threads(threads)
        seconds = Seconds()
        fresh = DocumentClassifier(HANConfig(), training=training, validation=0.0, device="cpu")
        documents = read_texts(texts, labels)
        fresh.fit_documents(documents, options=FitOptions(observers=(seconds,)))
        assert seconds.seconds > 0, f"--documents must make more than {EARLY_STEPS} batches"
        return seconds.documents / seconds.seconds

    counts = (1, options.threads)
    entries = {f"predict {count}": lambda count=count: predict(count) for count in counts}
    entries |= {f"train {count}": lambda count=count: fit(count) for count in counts}
    rates = in_turns(entries, options.rounds)
    print(f"\n| documents/s | 1 thread | {options.threads} threads | ratio |\n|---|---|---|---|")
    for what in ("predict", "train"):
        one, many = (rates[f"{what} {count}"] for count in counts)
        print(f"| {what} | {one:,.0f} | {many:,.0f} | {many / one:.2f} |")
    save("threads", {"machine": machine(), "documents_per_second": rates})


if __name__ == "__main__":
    main()
