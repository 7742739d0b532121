"""The demo beside TF-IDF on its own texts: what `make demo` shows, over several seeds.

    python benchmarks/demo.py [--seeds 0 1 2]

The seed draws the texts, their split and the training. Both learn from the same documents and are
asked about the same others, whose files were never seen; the paired interval is the report's. Each
seed is kept in benchmarks/results/demo.json as it comes.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import keep_run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    runs = [run(seed) for seed in options.seeds]
    ours, theirs = (statistics.mean(one[name] for one in runs) for name in ("regard", "tfidf"))
    print(f"regard {100 * ours:.2f}, TF-IDF + logistic regression {100 * theirs:.2f}")


def run(seed: int) -> dict[str, object]:
    """Run the demo with one seed; how often both are right."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, "-m", "regard", "demo", "--out", place, "--seed", str(seed)]
        subprocess.run([*command, "--quiet"], check=True)
        found = json.loads((Path(place) / "report.json").read_text())
    plain = next(one for one in found["baselines"] if one["constant_answer"] is None)
    difference = plain["accuracy_difference"]
    told = {
        "seed": seed,
        "documents": found["document_count"],
        "regard": found["accuracy"],
        "tfidf": plain["accuracy"],
        "difference": difference["value"],
        "interval": [difference["interval"]["low"], difference["interval"]["high"]],
    }
    print(json.dumps(told), flush=True)
    keep_run("demo", told, same=("seed",))
    return told


if __name__ == "__main__":
    main()
