"""How long `regard audit` takes on long reviews, at its defaults: python benchmarks/auditing.py

Trains a model on some IMDB reviews, then audits the longest reviews of the test file in a process
of its own, on as many threads as there are cores. Must: 200 of them in three minutes on two cores.
Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet
import torch
from measuring import IMDB, provenance, save

from regard import DocumentClassifier, TrainingConfig

SEED, TRAINING = 0, 2000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=200)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--data", type=Path, default=IMDB)
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(options.threads)
    table = pyarrow.parquet.read_table(options.data / "train.parquet").to_pydict()
    order = np.random.default_rng(SEED).permutation(len(table["text"]))[:TRAINING]
    texts, labels = ([table[name][place] for place in order] for name in ("text", "label"))
    training = TrainingConfig(epochs=2, seed=SEED)
    classifier = DocumentClassifier(training=training, device="cpu", progress=False)
    classifier.fit(texts, labels)
    with tempfile.TemporaryDirectory() as folder:
        model, data = Path(folder) / "model", Path(folder) / "long.parquet"
        classifier.save(model)
        words = write_longest(options.data / "test.parquet", data, options.documents)
        command = [sys.executable, "-m", "regard", "audit", str(model), str(data)]
        command += ["--limit", str(options.documents), "--out", f"{folder}/audit.html"]
        threads = {"OMP_NUM_THREADS": str(options.threads)}
        before, began = processor_seconds(), time.perf_counter()
        subprocess.run(command, check=True, env=os.environ | threads)
        found = {
            "documents": options.documents,
            "words": words,
            "threads": options.threads,
            "seconds": round(time.perf_counter() - began, 1),
            "processor_seconds": round(processor_seconds() - before, 1),
        }
    print(found)
    save("auditing", {**provenance((SEED,)), **found})


def write_longest(source: Path, target: Path, count: int) -> int:
    """Write the longest reviews of a file into another; return how many words they have."""
    table = pyarrow.parquet.read_table(source)
    lengths = np.array([len(text.split()) for text in table["text"].to_pylist()])
    longest = np.sort(np.argsort(-lengths, kind="stable")[:count])
    pyarrow.parquet.write_table(table.take(longest), target)
    return int(lengths[longest].sum())


def processor_seconds() -> float:
    """What processes started here have taken of the processor."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
