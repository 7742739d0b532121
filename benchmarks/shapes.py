"""Coloured shapes: the experiment ``shapes`` for several seeds, with the time that each takes.

    OMP_NUM_THREADS=1 python benchmarks/shapes.py --seeds 0 1 2 3 4

Settings were chosen with other seeds, and so on other pictures. What is measured is of new
pictures: captions that are exactly right, how much of its weight a word has on the shape that it
tells of, and how many words lose more without the cells they looked at than without random ones.
"""

from __future__ import annotations

import argparse
import time

import measuring

from regard.config import with_text_values
from regard.experiments.shapes import Shapes
from regard.records.experiment import ResultRow


def run(experiment: Shapes, seed: int) -> dict[str, object]:
    began = time.process_time()
    found = experiment.run(seed, lambda line: print(f"seed {seed}: {line}", flush=True))
    rows = {row.name: values(row) for row in found.rows}
    every = found.rows[-1]
    return {
        "seed": seed,
        "exact": every.values[0],
        "seconds": every.seconds,
        "cpu_seconds": time.process_time() - began,
        "words": rows,
    }


def values(row: ResultRow) -> dict[str, float | None]:
    names = [name.replace(" ", "_") for name in Shapes.columns]
    return {name: value for name, value in zip(names, row.values, strict=True) if name != names[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--name", default="shapes")
    options = parser.parse_args()
    changes = dict(change.split("=", 1) for change in options.set)
    experiment = with_text_values(Shapes(), changes)
    for seed in options.seeds:
        found = run(experiment, seed) | {"settings": changes}
        print(found, flush=True)
        measuring.keep_run(options.name, found, ["seed"])


if __name__ == "__main__":
    main()
