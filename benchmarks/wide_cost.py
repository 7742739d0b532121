"""What n-grams beside the network cost: python benchmarks/wide_cost.py EARLIER

EARLIER is a checkout of the commit before them, b55b01f, with its kernels built (see versions.py).
Both versions train on the same IMDB reviews at their defaults, TF-IDF to compare with included,
then answer raw texts with the model that each has trained. Processor time on one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import IMDB, provenance, save

HERE = Path(__file__).resolve().parents[1]
MOST_TRAINING, LEAST_ANSWERS = 1.5, 0.8  # what was asked for

ANSWER = """
import json, sys, time
from regard import DocumentClassifier
texts = [json.loads(line)["text"] for line in open(sys.argv[2], encoding="utf-8")]
model = DocumentClassifier.load(sys.argv[1], device="cpu")
model.predict_proba(texts[:500])
rates = []
for _ in range(3):
    began = time.process_time()
    model.predict_proba(texts)
    rates.append(len(texts) / (time.process_time() - began))
print(max(rates))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("earlier", type=Path)
    parser.add_argument("--reviews", type=int, default=25_000, help="to train on")
    parser.add_argument("--asked", type=int, default=3_000, help="reviews to answer")
    options = parser.parse_args()
    versions = {"earlier": options.earlier.resolve(), "now": HERE}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_reviews("train", options.reviews, folder / "train.jsonl")
        write_reviews("test", options.asked, folder / "test.jsonl")
        training = {name: train(version, folder, name) for name, version in versions.items()}
        answers = {name: answer(version, folder, name) for name, version in versions.items()}
    found = {
        **provenance(),
        "earlier": told(versions["earlier"]),
        "reviews": options.reviews,
        "training_seconds": training,
        "training_ratio": round(training["now"] / training["earlier"], 3),
        "most_training": MOST_TRAINING,
        "documents_per_second": answers,
        "answers_ratio": round(answers["now"] / answers["earlier"], 3),
        "least_answers": LEAST_ANSWERS,
    }
    print(json.dumps(found, indent=1))
    save("wide-cost", found)


def write_reviews(name: str, count: int, path: Path) -> None:
    """Write reviews of a part of IMDB, evenly spread over it: the file is sorted by label."""
    from pyarrow.parquet import read_table

    rows = read_table(IMDB / f"{name}.parquet", columns=["text", "label"]).to_pylist()
    with path.open("w", encoding="utf-8") as file:
        for place in range(count):
            file.write(json.dumps(rows[place * len(rows) // count], ensure_ascii=False) + "\n")


def train(version: Path, folder: Path, name: str) -> float:
    """Train as a person would; return the seconds of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    asked = ["-m", "regard", "train", str(folder / "train.jsonl"), "--out", str(folder / name)]
    call(version, [*asked, "--device", "cpu", "--quiet"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)


def answer(version: Path, folder: Path, name: str) -> float:
    """Answer raw texts; return how many a second of the processor."""
    told = call(version, ["-c", ANSWER, str(folder / name), str(folder / "test.jsonl")])
    return round(float(told.split()[-1]), 1)


def call(version: Path, arguments: list[str]) -> str:
    """Run Python with one version of the package, on one thread."""
    settings = {"PYTHONPATH": str(version / "src"), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, *arguments]
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | settings
    )
    return done.stdout


def told(version: Path) -> str:
    """The commit of a checkout."""
    asked = ["git", "-C", str(version), "rev-parse", "--short", "HEAD"]
    return subprocess.run(asked, capture_output=True, text=True).stdout.strip() or version.name


if __name__ == "__main__":
    main()
