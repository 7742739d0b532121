"""What a second thread brings to fit and predict: python benchmarks/threads.py [--threads 2]

Predicted is as people do, with n-grams beside the default network; of a training the network's own
steps are timed.
Time on the clock, so only a machine with nothing else to do gives a true answer. One thread and
several take turns on the same steps of training and the same parts of the texts. Each counts with
its median over the rounds: where something else on the machine holds up one thread, the others
wait for it, so that a few slow moments would weigh on several threads alone.
Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
import pyarrow.parquet
import torch
from measuring import IMDB, provenance, save

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.data.readers import read_texts
from regard.estimators.fitting import FitOptions
from regard.models.wide import WideConfig
from regard.records.history import Epoch
from regard.training.loop import Step
from regard.training.observers import Observer

EARLY_STEPS = 64
"""In so many steps Adam moves all word vectors, not only those that were read; most come later."""
PART = 1024  # texts that are predicted together
TRAINING = TrainingConfig(epochs=1)
NETWORKS = {
    "paper": HANConfig(weighing="states", sentence_dropout=0.0),  # as in speed.py
    "default": HANConfig(),  # leaves sentences out, so that there is less to share
}


class LaterSteps(Observer):
    """Keeps how many documents each step after the early ones had, and how long it took."""

    def __init__(self) -> None:
        self.documents: list[int] = []
        self.seconds: list[float] = []

    def on_step(self, step: Step) -> None:
        if step.step > EARLY_STEPS:
            self.documents.append(step.documents)
            self.seconds.append(step.seconds)

    def on_epoch(self, epoch: Epoch) -> None: ...


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--documents", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    if options.documents <= EARLY_STEPS * TRAINING.batch_size:
        sys.exit(f"--documents must make more than {EARLY_STEPS} batches")
    table = pyarrow.parquet.read_table(IMDB / "train.parquet").to_pydict()
    step = len(table["text"]) // options.documents
    texts, labels = table["text"][::step], table["label"][::step]
    fitted = classifier_of("default").set_params(wide=WideConfig()).fit(texts, labels)
    counts = (1, options.threads)
    found: dict[str, list[list[float]]] = {}
    documents = {"predict": len(texts)}
    for turn in range(options.rounds):
        for count in counts:
            torch.set_num_threads(count)
            found.setdefault(f"predict {count}", []).append(predicted(fitted, texts))
            for name in NETWORKS:
                steps = trained(name, texts, labels)
                documents[f"train {name}"] = sum(steps.documents)
                found.setdefault(f"train {name} {count}", []).append(steps.seconds)
        print(f"round {turn + 1} of {options.rounds}", flush=True)
    rates = {
        f"{what} {count}": total / float(np.median(found[f"{what} {count}"], axis=0).sum())
        for what, total in documents.items()
        for count in counts
    }
    print(f"\n| documents/s | 1 thread | {options.threads} threads | ratio |\n|---|---|---|---|")
    for what in documents:
        one, many = (rates[f"{what} {count}"] for count in counts)
        print(f"| {what} | {one:,.0f} | {many:,.0f} | {many / one:.2f} |")
    save("threads", {**provenance(), "documents_per_second": rates})


def classifier_of(name: str) -> DocumentClassifier:
    """A network alone: only its steps are timed, and n-grams are fitted after them."""
    network = NETWORKS[name]
    return DocumentClassifier(network, training=TRAINING, validation=0.0, device="cpu", wide=None)


def trained(name: str, texts: list[str], labels: list[int]) -> LaterSteps:
    """Train a network once; return its steps."""
    steps = LaterSteps()
    options = FitOptions(observers=(steps,))
    classifier_of(name).fit_documents(read_texts(texts, labels), options=options)
    return steps


def predicted(classifier: DocumentClassifier, texts: list[str]) -> list[float]:
    """Return how long each part of the texts takes."""
    seconds = []
    for first in range(0, len(texts), PART):
        began = time.perf_counter()
        classifier.predict(texts[first : first + PART])
        seconds.append(time.perf_counter() - began)
    return seconds


if __name__ == "__main__":
    main()
