"""Score the TF-IDF baseline on public data: python benchmarks/baseline.py shared/data imdb mr"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet

from regard.tasks.baselines import TfidfBaseline

FILES = {
    "imdb": ("train", "test"),
    "mr": ("train", "test"),
    "20newsgroups": ("train", "test"),
    "reuters": ("r52_train", "r52_test"),
    "chnsenticorp_zh": ("train", "dev"),
    "nsmc_ko": ("train", "test"),
}


def read(path):
    table = parquet.read_table(path, columns=["text", "label"])
    return table["text"].to_pylist(), table["label"].to_pylist()


def measure(folder, name):
    train, test = (read(folder / name / f"{part}.parquet") for part in FILES[name])
    classes = sorted(set(train[1]))
    numbers = {label: number for number, label in enumerate(classes)}
    start = time.perf_counter()
    labels = np.array([numbers[label] for label in train[1]])
    baseline = TfidfBaseline.fit(train[0], labels, class_count=len(classes))
    fitted = time.perf_counter()
    answers = baseline.predict_proba(test[0]).argmax(axis=1)
    answered = time.perf_counter()
    right = np.mean(
        [classes[answer] == label for answer, label in zip(answers, test[1], strict=True)]
    )
    with tempfile.TemporaryDirectory() as place:
        baseline.save(Path(place))
        size = sum(path.stat().st_size for path in Path(place).iterdir()) / 1e6
    print(
        f"{name}: {100 * right:.2f} % of {len(test[0]):,}, {len(baseline.terms):,} terms, "
        f"fit {fitted - start:.1f} s, answer {answered - fitted:.1f} s, {size:.2f} MB",
        flush=True,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", choices=FILES, default=["imdb", "reuters", "mr"])
    arguments = parser.parse_args()
    for chosen in arguments.names:
        measure(arguments.folder, chosen)
