"""IMDB, official split: `regard train` at its defaults, one command a seed, then `regard evaluate`.

    python benchmarks/imdb.py --seeds 0 1 2 [--set network.reading=flow] [--validation-only]

With --validation-only the test file is not touched, and accuracy and loss on the held-out tenth of
the training data are printed: that is how defaults are chosen. The accuracy that the docs have is
that of benchmarks/accuracy.py --sets imdb, which does the same and keeps it.
Needs ../shared/data/imdb (train.parquet, test.parquet with columns text and label).
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--validation-only", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--save", type=Path, default=None, help="keep the models in this folder")
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
    runs = [run(seed, options) for seed in options.seeds]
    scores = [entry["accuracy"] for entry in runs]
    spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
    print(f"mean {statistics.mean(scores):.4f}  deviation {spread:.4f}  seeds {options.seeds}")


def run(seed: int, options: argparse.Namespace) -> dict[str, float]:
    """Train with one seed; return its validation score, or its test score."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model"
        began = time.perf_counter()
        command = [
            "train",
            str(options.data / "train.parquet"),
            "--out",
            str(model),
            "--seed",
            str(seed),
        ]
        for change in options.changes:
            command += ["--set", change]
        regard(*command, *(["--no-baseline"] if options.validation_only else []))
        seconds = time.perf_counter() - began
        facts = json.loads((model / "config.json").read_text())["facts"]
        if options.validation_only:
            found = {"accuracy": facts["validation_accuracy"], "loss": facts["validation_loss"]}
        else:
            report = json.loads(
                regard(
                    "evaluate", str(model), str(options.data / "test.parquet"), "--json", "--quiet"
                )
            )
            found = {
                name: report[name]
                for name in ("accuracy", "macro_f1", "expected_calibration_error")
            }
            found |= {part["name"]: part["accuracy"] for part in report["baselines"]}
        found |= {"seed": seed, "seconds": round(seconds, 1), "best_epoch": facts["best_epoch"]}
        print(json.dumps(found), flush=True)
        if options.save is not None:
            shutil.copytree(model, options.save / str(seed))
        return found


def regard(*arguments: str) -> str:
    """Run the command and return what it printed; its messages go to the terminal."""
    command = [sys.executable, "-m", "regard", *arguments]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


if __name__ == "__main__":
    main()
