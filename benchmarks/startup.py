"""How long commands take to start, in processor time: the least of several runs of each.

``python benchmarks/startup.py`` writes ``results/startup.json``.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from measuring import provenance, save

RUNS = 7
TRAINING = "text,label\n" + "The food was great.,good\nThe food was awful.,bad\n" * 40


def seconds(*arguments: str) -> float:
    """Processor time of a fresh Python, the least of several."""
    return min(_once(*arguments) for _ in range(RUNS))


def _once(*arguments: str) -> float:
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


def main() -> None:
    """Measure, and write what was found."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, one = str(folder / "model"), str(folder / "one.csv")
        (folder / "train.csv").write_text(TRAINING, encoding="utf-8")
        (folder / "one.csv").write_text("text\nThe food was great.\n", encoding="utf-8")
        train = ["train", str(folder / "train.csv"), "--out", model, "--epochs", "1"]
        subprocess.run([sys.executable, "-m", "regard", *train], check=True, capture_output=True)
        found = {
            "regard --help": seconds("-m", "regard", "--help"),
            "regard predict, one line": seconds("-m", "regard", "predict", model, one),
            "import torch": seconds("-c", "import torch"),
        }
    rounded = {name: round(value, 3) for name, value in found.items()}
    save("startup", {**provenance(), "runs": RUNS, "cpu_seconds": rounded})


if __name__ == "__main__":
    main()
