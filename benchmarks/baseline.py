"""The TF-IDF baseline on public data: what `regard evaluate` shows beside a model, by itself.

    python benchmarks/baseline.py ../shared/data [imdb mr ...]

One fit on the training file and one look at the test file for each set; nothing is chosen by it,
and nothing is drawn. Each set is kept in benchmarks/results/baseline.json as it comes.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet
from measuring import keep_run

from regard.tasks.baselines import TfidfBaseline

FILES = {
    "imdb": ("train", "test"),
    "20newsgroups": ("train", "test"),
    "reuters": ("r52_train", "r52_test"),
    "mr": ("train", "test"),
    "chnsenticorp_zh": ("train", "dev"),
    "nsmc_ko": ("train", "test"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", choices=FILES, default=list(FILES))
    options = parser.parse_args()
    for name in options.names:
        found = measure(options.folder, name)
        print(json.dumps(found), flush=True)
        keep_run("baseline", found, same=("set",))


def measure(folder: Path, name: str) -> dict[str, object]:
    """Fit on one file of a set and answer the other."""
    train, test = (read(folder / name / f"{part}.parquet") for part in FILES[name])
    classes = sorted(set(train[1]))
    numbers = {label: number for number, label in enumerate(classes)}
    labels = np.array([numbers[label] for label in train[1]])
    began = time.process_time()
    baseline = TfidfBaseline.fit(train[0], labels, class_count=len(classes))
    fitted = time.process_time()
    answers = baseline.predict_proba(test[0]).argmax(axis=1)
    answered = time.process_time()
    right = [classes[answer] == label for answer, label in zip(answers, test[1], strict=True)]
    with tempfile.TemporaryDirectory() as place:
        baseline.save(Path(place))
        size = sum(path.stat().st_size for path in Path(place).iterdir())
    return {
        "set": name,
        "seed": 0,
        "accuracy": float(np.mean(right)),
        "documents": len(right),
        "terms": len(baseline.terms),
        "bytes": size,
        "fit_seconds": round(fitted - began, 1),
        "answer_seconds": round(answered - fitted, 1),
    }


def read(path: Path) -> tuple[list[str], list[object]]:
    table = pyarrow.parquet.read_table(path, columns=["text", "label"])
    return table["text"].to_pylist(), table["label"].to_pylist()


if __name__ == "__main__":
    main()
