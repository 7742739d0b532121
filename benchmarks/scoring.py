"""Many reviews labelled by one process and by Ray: python benchmarks/scoring.py [MODEL]

Reviews of IMDB's test set, over and over with their sentences in another order, in one Parquet
file; both read it, label every row and write Parquet, each on all cores of the machine, start
included. Without MODEL a classifier with the default settings is trained on 4,000 reviews first.
Needs the extra ray, ../shared/data/imdb, and a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow
import pyarrow.compute
import pyarrow.parquet
from measuring import IMDB, provenance, save
from serving import train

MOST = 1.5  # times as long as one process, as was asked for
GROUP = 4096  # rows that lie together in the file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--reviews", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit("this benchmark needs ../shared/data/imdb")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        model = options.model or train(place / "model")
        data = place / "reviews.parquet"
        table = reviews(options.reviews)
        pyarrow.parquet.write_table(table, data, row_group_size=GROUP)
        found: dict[str, list[dict[str, float]]] = {"one process": [], "ray": []}
        for turn in range(options.rounds):
            alone, by_ray = place / f"{turn}.parquet", place / f"{turn}"
            found["one process"].append(timed(model, data, alone))
            found["ray"].append(timed(model, data, by_ray, "--ray"))
            same = compared(alone, by_ray)
            print(turn, {name: runs[-1] for name, runs in found.items()}, same, flush=True)
        sizes = {"read": data.stat().st_size, "written": alone.stat().st_size}
    seconds = {
        name: statistics.median(run["seconds"] for run in runs) for name, runs in found.items()
    }
    spent = statistics.median(run["processor_seconds"] for run in found["one process"])
    result = {
        **provenance(),
        "reviews": options.reviews,
        "words": round(sum(len(text.split()) for text in table["text"].to_pylist()[:2000]) / 2000),
        "cores": os.cpu_count(),
        "seconds": seconds,
        "ratio": round(seconds["ray"] / seconds["one process"], 3),
        "must": MOST,
        "processor_seconds": spent,
        "bytes": sizes,
        "rounds": found,
        **same,
    }
    save("scoring", result)
    print(json.dumps({name: result[name] for name in ("seconds", "ratio", "processor_seconds")}))


def reviews(count: int) -> pyarrow.Table:
    """So many texts, no two alike: each time the sentences begin at another place."""
    texts = pyarrow.parquet.read_table(IMDB / "test.parquet")["text"].to_pylist()
    made = []
    for number in range(count):
        turn, place = divmod(number, len(texts))
        sentences = texts[place].split(". ")
        at = turn % len(sentences)
        made.append(". ".join(sentences[at:] + sentences[:at]))
    return pyarrow.table({"id": range(count), "text": made})


def timed(model: Path, data: Path, out: Path, *more: str) -> dict[str, float]:
    """Run ``regard predict`` as a user would, with as many threads as it takes by itself."""
    environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    command = [sys.executable, "-m", "regard", "predict", model, data, "--out", out, "-q", *more]
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(list(map(str, command)), check=True, env=environment)
    seconds, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(seconds, 2), "processor_seconds": round(spent, 2)}


def compared(alone: Path, by_ray: Path) -> dict[str, object]:
    """Whether both have the same rows with the same labels, and how far probabilities differ."""
    one, other = (pyarrow.parquet.read_table(path) for path in (alone, by_ray))
    far = pyarrow.compute.subtract(one["probability"], other["probability"])
    same = [one[name].to_pylist() == other[name].to_pylist() for name in ("id", "text")]
    differ = sum(
        mine != theirs
        for mine, theirs in zip(
            one["predicted"].to_pylist(), other["predicted"].to_pylist(), strict=True
        )
    )
    largest = pyarrow.compute.max(pyarrow.compute.abs(far)).as_py()
    return {"same_rows": all(same), "labels_differ": differ, "probabilities_differ_by": largest}


if __name__ == "__main__":
    main()
