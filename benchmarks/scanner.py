"""Speed of the text scanner in C against the plain definition: python benchmarks/scanner.py

IMDB reviews, one thread, processor time, round by round in one process; medians are printed. Needs
../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet
import torch

from regard import DocumentClassifier, HANConfig, TextConfig, TrainingConfig
from regard.kernels import describe
from regard.kernels.native import SWITCH
from regard.text.encode import encode
from regard.text.tokenize import tokenize_many
from regard.text.vocab import Numbering

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb" / "train.parquet"
FITTED = 1024  # documents that the classifier is trained on, for one epoch
PLAIN = 500  # documents of which the plain definition is measured, being slow


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(1)
    table = pyarrow.parquet.read_table(DATA).to_pydict()
    step = len(table["text"]) // options.documents
    texts, labels = table["text"][::step], table["label"][::step]
    config = TextConfig()
    classifier = fitted(texts, labels)
    vocab = classifier.vocab_
    scanned: dict[str, Callable[[], object]] = {
        "tokens": lambda: tokenize_many(texts, config),
        "ids of a vocabulary": lambda: encode(texts, vocab, config),
        "numbers of new words": lambda: encode(texts, Numbering(), config),
        "prediction": lambda: classifier.predict_proba(texts),
    }
    plain: dict[str, Callable[[], object]] = {
        "tokens": lambda: tokenize_many(texts[:PLAIN], config),
        "ids of a vocabulary": lambda: encode(texts[:PLAIN], vocab, config),
        "numbers of new words": lambda: encode(texts[:PLAIN], Numbering(), config),
    }
    print(describe())
    quick = measured(scanned, options.rounds, len(texts))
    slow = without_kernels(lambda: measured(plain, options.rounds, PLAIN))
    print(f"\n| {len(texts):,} reviews | scanner, documents/s | plain | ratio |\n|---|---|---|---|")
    for name, seconds in slow.items():
        print(f"| {name} | {1 / quick[name]:,.0f} | {1 / seconds:,.0f} |", end="")
        print(f" {seconds / quick[name]:.1f} |")
    share = quick["ids of a vocabulary"] / quick["prediction"]
    print(
        f"\nprediction: {1 / quick['prediction']:,.0f} documents/s, {share:.1%} of it for the text"
    )


def fitted(texts: Sequence[str], labels: Sequence[int]) -> DocumentClassifier:
    """A classifier of the paper's size, hardly trained."""
    step = max(1, len(texts) // FITTED)
    classifier = DocumentClassifier(
        HANConfig(hidden_size=50), training=TrainingConfig(epochs=1), validation=0.0
    )
    return classifier.fit(list(texts[::step]), list(labels[::step]))


def measured(
    entries: dict[str, Callable[[], object]], rounds: int, documents: int
) -> dict[str, float]:
    """The median seconds that each entry takes for a document."""
    seconds: dict[str, list[float]] = {}
    for _ in range(rounds):
        for name, entry in entries.items():
            began = time.process_time()
            entry()
            seconds.setdefault(name, []).append((time.process_time() - began) / documents)
    return {name: statistics.median(values) for name, values in seconds.items()}


def without_kernels(measure: Callable[[], dict[str, float]]) -> dict[str, float]:
    before = os.environ.get(SWITCH)
    os.environ[SWITCH] = "0"
    try:
        return measure()
    finally:
        os.environ.pop(SWITCH)
        if before is not None:
            os.environ[SWITCH] = before


if __name__ == "__main__":
    main()
