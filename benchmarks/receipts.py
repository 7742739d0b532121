"""How many explanations with receipts a second, beside an older version of regard in one run.

    git worktree add /tmp/before b55b01f && (cd /tmp/before && python setup.py build_ext --inplace)
    python benchmarks/receipts.py --before /tmp/before [--rounds 3]

Each version, in turns and in a process of its own, trains a small HAN on IMDB reviews and explains
forty others by three methods with receipts, on one thread. The newer version does so twice: by
the network alone, as the older one, and with n-grams beside it, as it now trains by default.
Seconds are those of the processor.
Needs ../shared/data/imdb/train.parquet.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet
import torch
from measuring import IMDB, provenance, save
from sklearn.base import clone

from regard import DocumentClassifier, HANConfig, TrainingConfig

METHODS = ("attention", "gradient_input", "erasure")
REVIEWS, TRAINING, SEED = 40, 200, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="a checkout of the older version")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--commit", help="of the older version, where that is no git checkout")
    parser.add_argument("--alone", action="store_true", help="measure this process's own version")
    options = parser.parse_args()
    if options.alone:
        print(json.dumps(rates()))
        return
    if options.before is None:
        sys.exit("--before names a checkout of the older version")
    here = Path(__file__).resolve().parents[1]
    found: dict[str, list[dict[str, float]]] = {"before": [], "now": []}
    for turn in range(options.rounds):
        for name, folder in (("before", options.before), ("now", here)):
            found[name].append(measured(folder))
            print(f"round {turn + 1}, {name}: {found[name][-1]}", flush=True)
    medians = {
        name: {method: statistics.median(row[method] for row in rows) for method in rows[0]}
        for name, rows in found.items()
    }
    asked = ["git", "-C", str(options.before), "rev-parse", "--short", "HEAD"]
    older = options.commit or subprocess.run(asked, capture_output=True, text=True).stdout.strip()
    save(
        "receipts",
        {
            **provenance((SEED,)),
            "before": older,
            "reviews_a_second": medians,
            "times": {name: medians["now"][name] / medians["before"][name] for name in METHODS},
            "times, with n-grams": {
                name: medians["now"][f"{name}, with n-grams"] / medians["before"][name]
                for name in METHODS
            },
            "rounds": found,
        },
    )


def measured(folder: Path) -> dict[str, float]:
    """What one version does, measured by this script in a process of its own."""
    told = subprocess.run(
        [sys.executable, __file__, "--alone"],
        env={**os.environ, "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(told.stdout.splitlines()[-1])
    return found


def rates() -> dict[str, float]:
    """Reviews that are explained with a receipt in a second of the processor, by method."""
    torch.set_num_threads(1)
    rows = pyarrow.parquet.read_table(IMDB / "train.parquet", columns=["text", "label"]).to_pylist()
    random.Random(SEED).shuffle(rows)
    taught, texts = rows[:TRAINING], [row["text"] for row in rows[TRAINING:][:REVIEWS]]
    training = TrainingConfig(epochs=1, seed=SEED)
    plain = DocumentClassifier(HANConfig(), training=training, device="cpu", progress=False)
    kinds = {"": plain}
    if "wide" in plain.get_params():
        kinds = {"": clone(plain).set_params(wide=None), ", with n-grams": plain}
    found = {}
    for kind, classifier in kinds.items():
        classifier.fit([row["text"] for row in taught], [row["label"] for row in taught])
        found |= {f"{name}{kind}": rate(classifier, texts, name) for name in METHODS}
    return found


def rate(classifier: DocumentClassifier, texts: list[str], method: str) -> float:
    """Texts that are explained in a second of the processor."""
    classifier.explain(texts[:5], method=method, receipt=True)
    seconds = []
    for _ in range(2):
        began = time.process_time()
        classifier.explain(texts, method=method, receipt=True)
        seconds.append(time.process_time() - began)
    return len(texts) / min(seconds)


if __name__ == "__main__":
    main()
