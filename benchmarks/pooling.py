"""Mean of the states against attention, the same network otherwise: is attention worth it?

    python benchmarks/pooling.py [--documents 6000] [--seeds 0 1 2 3 4]

Trains both on a part of the IMDB training reviews and scores them on others of them, never on the
test reviews; seed by seed, so that the comparison is paired.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from pathlib import Path

import pyarrow.parquet

from regard.cli.training import classifier_from

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb" / "train.parquet"
POOLINGS = ("mean", "attention")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=6000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs the IMDB reviews")
    scores = {
        pooling: [score(pooling, seed, options.documents) for seed in options.seeds]
        for pooling in POOLINGS
    }
    report(scores, len(options.seeds))
    if options.out:
        options.out.write_text(json.dumps({"seeds": options.seeds, **scores}, indent=2) + "\n")


def score(pooling: str, seed: int, documents: int) -> float:
    """Train with one pooling and one seed; the seed also draws the documents."""
    table = pyarrow.parquet.read_table(DATA, columns=["text", "label"]).to_pylist()
    random.Random(seed).shuffle(table)
    training, test = table[:documents], table[documents : documents + 4000]
    changes = [f"network.pooling={pooling}", f"training.seed={seed}"]
    classifier = classifier_from("han", changes, device="auto")
    classifier.fit([row["text"] for row in training], [row["label"] for row in training])
    found = classifier.score([row["text"] for row in test], [row["label"] for row in test])
    print(json.dumps({"pooling": pooling, "seed": seed, "accuracy": found}), flush=True)
    return float(found)


def report(scores: dict[str, list[float]], count: int) -> None:
    """Print means, deviations and the paired test."""
    from scipy.stats import ttest_rel

    print("| pooling | accuracy | deviation |\n|---|---|---|")
    for pooling, values in scores.items():
        mean, deviation = statistics.mean(values), statistics.stdev(values)
        print(f"| {pooling} | {100 * mean:.2f} | {100 * deviation:.2f} |")
    differences = [b - a for a, b in zip(*scores.values(), strict=True)]
    test = ttest_rel(scores["attention"], scores["mean"])
    print(
        f"attention minus mean: {100 * statistics.mean(differences):+.2f} points, {count} seeds, "
        f"paired t-test p = {test.pvalue:.3g}"
    )


if __name__ == "__main__":
    main()
