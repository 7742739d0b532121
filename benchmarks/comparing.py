"""Models of many kinds in one picture: `regard compare` on 2,000 reviews of IMDB, with BERTs.

    REGARD_BERT=MINILM python benchmarks/comparing.py --out FOLDER [--device cuda]

Trains every contender on 2,000 training reviews, asks it about 2,000 test reviews, and times its
answers on the CPU, wherever it was trained. FOLDER keeps the trainings, the page and the picture; a
second start goes on where the first ended. Nothing is chosen by the test reviews.
``--collect`` only writes the results of a folder that was made elsewhere, whose machine FILE tells.
Needs ../shared/data/imdb, or --data with train.parquet and test.parquet in it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet
from measuring import IMDB, provenance, save

COUNT = 2000
LEFT_OUT = ("right", "key")  # which test reviews were right, and the name of the training


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder of trainings and pages")
    parser.add_argument("--data", type=Path, default=IMDB)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--collect", type=Path, metavar="FILE", help="results of that machine")
    options = parser.parse_args()
    if options.collect is None:
        if not options.data.exists():
            sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
        compare(options)
    about = provenance(range(options.seeds))
    if options.collect is not None:
        told = json.loads(options.collect.read_text())
        about = {name: told[name] for name in about}
    kept = sorted((options.out / "imdb.trainings").glob("*.json"))
    trainings = [json.loads(path.read_text()) for path in kept]
    for one in trainings:
        for name in LEFT_OUT:
            del one[name]
    save("comparing", {**about, "documents": COUNT, "trainings": trainings})


def compare(options: argparse.Namespace) -> None:
    """Run the command, as people do."""
    options.out.mkdir(parents=True, exist_ok=True)
    test = options.out / "test.parquet"
    table = pyarrow.parquet.read_table(options.data / "test.parquet")
    drawn = np.sort(np.random.default_rng(0).permutation(len(table))[:COUNT])
    pyarrow.parquet.write_table(table.take(drawn), test)
    command = [sys.executable, "-m", "regard", "compare", str(options.data / "train.parquet")]
    command += ["--test", str(test), "--limit", str(COUNT), "--seeds", str(options.seeds)]
    command += ["--device", options.device, "--timed-on", "cpu", "--against", "balanced"]
    subprocess.run([*command, "--out", str(options.out / "imdb.html")], check=True)


if __name__ == "__main__":
    main()
