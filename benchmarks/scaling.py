"""Cost must grow with the number of documents and memory must not: python benchmarks/scaling.py

Prediction of a stream of 1,000 to 1,000,000 reviews (IMDB over and over) and one training pass over
1,000 to 25,000. Prints the slope of time against documents, both as logarithms: 1 is linear.
Processor time on one thread. Each stream is predicted in a process of its own, whose peak memory is
its own too. Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import deque
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pyarrow.parquet
import torch
from measuring import IMDB, peak_bytes, provenance, save

from regard import DocumentClassifier, HANConfig, TrainingConfig


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=1_000_000, help="documents to predict")
    parser.add_argument("--data", type=Path, default=IMDB)
    parser.add_argument("--stream", type=Path, default=None, help="only predict with this model")
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(1)
    table = pyarrow.parquet.read_table(options.data / "train.parquet").to_pydict()
    # Shuffled, as the file has all bad reviews first and lengths differ.
    order = np.random.default_rng(0).permutation(len(table["text"])).tolist()
    texts = [table["text"][place] for place in order]
    if options.stream is not None:
        print(json.dumps(streamed(options.stream, texts, options.most)))
        return
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
    with tempfile.TemporaryDirectory() as folder:
        classifier.save(Path(folder) / "model")
        for count in (10**power for power in range(3, 1 + len(str(options.most - 1)))):
            command = [sys.executable, __file__, "--stream", f"{folder}/model", "--most"]
            command += [str(count), "--data", str(options.data)]
            told = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            predicting[count], memory[count] = json.loads(told.stdout)
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
    save("scaling", {**provenance()} | slopes | result)


def streamed(model: Path, texts: list[str], count: int) -> tuple[float, float]:
    """Seconds to predict so many reviews, and the most memory this process has had, in MB."""
    classifier = DocumentClassifier.load(model, device="cpu")
    deque(classifier.stream_proba(texts[:200]), maxlen=0)  # what is loaded at the first is no slope
    began = time.process_time()
    deque(classifier.stream_proba(islice(cycle(texts), count)), maxlen=0)
    return time.process_time() - began, peak_bytes() / 2**20


def slope(seconds: dict[int, float]) -> float:
    """Fit a line through the logarithms."""
    counts = np.log(list(seconds))
    return float(np.polyfit(counts, np.log(list(seconds.values())), 1)[0])


if __name__ == "__main__":
    main()
