"""Cost must grow with the number of documents and memory must not: python benchmarks/scaling.py

Prediction of a stream of 1,000 to 1,000,000 reviews (IMDB over and over) and one training pass over
1,000 to 25,000. Prints the slope of time against documents, both as logarithms: 1 is linear.
Processor time on one thread. Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections import deque
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pyarrow.parquet
import torch
from measuring import IMDB, machine, save

from regard import DocumentClassifier, HANConfig, TrainingConfig


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1_000_000, help="documents to predict")
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(1)
    table = pyarrow.parquet.read_table(IMDB / "train.parquet").to_pydict()
    # Shuffled, as the file has all bad reviews first and lengths differ.
    order = np.random.default_rng(0).permutation(len(table["text"])).tolist()
    texts = [table["text"][place] for place in order]
    labels = [table["label"][place] for place in order]
    training: dict[int, float] = {}
    settings = TrainingConfig(epochs=1)
    classifier = DocumentClassifier(HANConfig(), training=settings, validation=0.0, device="cpu")
    classifier.fit(texts[:200], labels[:200])  # what is loaded at the first step is no slope
    for count in (1_000, 5_000, 25_000):
        began = time.process_time()
        classifier.fit(texts[:count], labels[:count])
        training[count] = time.process_time() - began
        print(f"trained on {count:,}: {training[count]:.1f} s", flush=True)
    predicting: dict[int, float] = {}
    memory: dict[int, float] = {}
    deque(classifier.stream_proba(texts), maxlen=0)  # all words are met once
    for count in (10**power for power in range(3, 1 + len(str(options.most - 1)))):
        forget_peak()
        began = time.process_time()
        deque(classifier.stream_proba(islice(cycle(texts), count)), maxlen=0)
        predicting[count] = time.process_time() - began
        memory[count] = peak_megabytes()
        print(
            f"predicted {count:,}: {predicting[count]:.1f} s, peak {memory[count]:,.0f} MB",
            flush=True,
        )
    print("\n| log-log slope of time against documents | |\n|---|---|")
    print(
        f"| prediction | {slope(predicting):.3f} |\n| one training pass | {slope(training):.3f} |"
    )
    result = {"prediction_seconds": predicting, "training_seconds": training, "peak_mb": memory}
    slopes = {"prediction_slope": slope(predicting), "training_slope": slope(training)}
    save("scaling", {"machine": machine()} | slopes | result)


def forget_peak() -> None:
    """Let the most memory that was ever used begin anew, where Linux can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def peak_megabytes() -> float:
    """The most memory that was used since it began anew, or ever."""
    status = Path("/proc/self/status")
    for line in status.read_text().splitlines() if status.exists() else []:
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def slope(seconds: dict[int, float]) -> float:
    """Fit a line through the logarithms."""
    counts = np.log(list(seconds))
    return float(np.polyfit(counts, np.log(list(seconds.values())), 1)[0])


if __name__ == "__main__":
    main()
