"""How long an explanation with its receipt takes, by the length of the text.

    python benchmarks/explaining.py [--lengths 500 1000 ... 50000] [--method erasure]

Trains a small HAN on IMDB reviews, then explains one text of each length, made of reviews one after
the other, with the method and the receipt; and a hundred reviews as they are. Says by which power
of the length the time grows (a line through the logarithms), and how much was measured.
Needs ../shared/data/imdb/train.parquet.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Sequence

import numpy as np
import pyarrow.parquet
import torch
from measuring import IMDB, provenance, save

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.text.tokenize import TextConfig, tokenize

DATA = IMDB / "train.parquet"
LENGTHS = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000)
REVIEWS = 100
TRAINING = 2000
SEED = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS))
    parser.add_argument("--methods", nargs="+", default=["erasure", "gradient_input", "attention"])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--name", default="explaining", help="of the file of results")
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(1)
    rows = pyarrow.parquet.read_table(DATA, columns=["text", "label"]).to_pylist()
    random.Random(SEED).shuffle(rows)
    classifier = DocumentClassifier(
        HANConfig(), training=TrainingConfig(epochs=3, seed=SEED), device="cpu", progress=False
    )
    taught, others = rows[:TRAINING], [row["text"] for row in rows[TRAINING:]]
    classifier.fit([row["text"] for row in taught], [row["label"] for row in taught])
    found: dict[str, object] = provenance((SEED,))
    for method in options.methods:
        by_length = [
            measured(classifier, long_text(others, length), method, options.rounds)
            for length in options.lengths
        ]
        found[method] = {
            "reviews_a_second": rate(classifier, others[:REVIEWS], method, options.rounds),
            "power": power(by_length),
            "by_length": by_length,
        }
        print(f"{method}: {found[method]}", flush=True)
    save(options.name, found)


def measured(
    classifier: DocumentClassifier, text: str, method: str, rounds: int
) -> dict[str, float]:
    """Explain one text a few times: the least seconds of the processor and on the wall."""
    seconds, walls = [], []
    for _ in range(rounds):
        began, wall = time.process_time(), time.perf_counter()
        found = classifier.explain(text, method=method)
        seconds.append(time.process_time() - began)
        walls.append(time.perf_counter() - wall)
    words = found.decisions[0].level("word")
    assert words is not None
    exact = len(words) if words.measured is None else words.measured
    result = {"words": len(words), "seconds": min(seconds), "wall": min(walls), "measured": exact}
    print(f"{method}: {result}", flush=True)
    return result


def rate(
    classifier: DocumentClassifier, texts: Sequence[str], method: str, rounds: int
) -> dict[str, float]:
    """How many reviews are explained in a second of the processor, with and without receipts."""
    found = {}
    for name, receipt in (("with receipt", True), ("without", False)):
        seconds = []
        for _ in range(rounds):
            began = time.process_time()
            classifier.explain(texts, method=method, receipt=receipt)
            seconds.append(time.process_time() - began)
        found[name] = len(texts) / min(seconds)
    return found


def long_text(texts: Sequence[str], words: int) -> str:
    """Reviews one after the other, of so many words or a few more."""
    parts, count = [], 0
    for text in texts:
        parts.append(text)
        count += len(tokenize(text, TextConfig()))
        if count >= words:
            break
    return "\n\n".join(parts)


def power(rows: Sequence[dict[str, float]]) -> float:
    """The slope of the logarithm of the seconds along that of the words."""
    words, seconds = (np.log([row[name] for row in rows]) for name in ("words", "seconds"))
    return float(np.polyfit(words, seconds, 1)[0]) if len(rows) > 1 else 0.0


if __name__ == "__main__":
    main()
