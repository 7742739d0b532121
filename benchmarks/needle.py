"""The needle test on IMDB: is the one telling sentence of a document the heaviest?

    python benchmarks/needle.py MODEL [--texts 2000] [--seeds 0 1 2 3 4]

MODEL is a folder that ``regard train`` wrote from the IMDB training reviews. The documents are made
by the needle test of ``regard audit`` from sentences of test reviews: one that alone gets its label
with great certainty stands among others that alone say least, at five places of documents of 5, 10,
20 and 40 sentences; then it stands twice and four times among twenty. Each method is asked, the one
that the training chose first. No label of a review is read, and nothing was ever chosen by this.
Needs ../shared/data/imdb/test.parquet.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from pathlib import Path

import pyarrow.parquet
import torch
from measuring import IMDB, provenance, save

from regard import DocumentClassifier
from regard.audit.needle import NeedleResult, needle_test
from regard.explain.methods import methods_for
from regard.records.audit import NeedleCell


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--texts", type=int, default=2000, help="reviews to take sentences from")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--data", type=Path, default=IMDB / "test.parquet")
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(1)
    column = pyarrow.parquet.read_table(options.data, columns=["text"]).column("text")
    texts = random.Random(0).sample(column.to_pylist(), options.texts)
    classifier = DocumentClassifier.load(options.model, device="cpu")
    default = classifier.fitted_.default_method
    others = [name for name in methods_for(classifier.model_) if name != default]
    found = {}
    for method in (default, *others):
        tests = [
            needle_test(classifier.fitted_, texts, method=method, seed=seed)
            for seed in options.seeds
        ]
        found[method] = summary([one for one in tests if one is not None])
        print(method, found[method], flush=True)
    about = {"default_method": default, "texts": options.texts, "methods": found}
    save("needle", {**provenance(options.seeds), **about})


def summary(tests: list[NeedleResult]) -> dict[str, object]:
    """Recall over all documents of all seeds, by length, and of sentences that are repeated."""
    cells = [cell for one in tests for cell in one.map.cells]
    lengths = sorted({cell.length for cell in cells})
    return {
        "documents": sum(cell.documents for cell in cells),
        "answered": share(cells, "answered"),
        "found": share(cells, "found"),
        "at_random": statistics.mean(one.recall.baseline for one in tests),
        "found_by_length": {
            length: share([cell for cell in cells if cell.length == length], "found")
            for length in lengths
        },
        "lowest_of_places": min(cell.recall for cell in pooled(cells)),
        "repeated": {
            metric.name: statistics.mean(
                other.value for one in tests for other in one.repeated if other.name == metric.name
            )
            for metric in tests[0].repeated
        },
    }


def share(cells: list[NeedleCell], what: str) -> float:
    return sum(getattr(cell, what) for cell in cells) / sum(cell.documents for cell in cells)


def pooled(cells: list[NeedleCell]) -> list[NeedleCell]:
    """The cells of all seeds together, one for each length and place."""
    sums: dict[tuple[int, int], list[int]] = {}
    for cell in cells:
        told = (cell.documents, cell.found, cell.unread, cell.answered)
        known = sums.setdefault((cell.length, cell.position), [0] * len(told))
        sums[cell.length, cell.position] = [a + b for a, b in zip(known, told, strict=True)]
    return [NeedleCell(*place, *counts) for place, counts in sums.items()]


if __name__ == "__main__":
    main()
