"""Coloured shapes: the experiment ``shapes`` for several seeds, with the time that each takes.

    OMP_NUM_THREADS=1 python benchmarks/shapes.py --seeds 0 1 2 3 4
    python benchmarks/shapes.py --seeds 0 1 --name shapes-tried --set missed=0
    python benchmarks/shapes.py --seeds --plot docs/experiments/shapes.svg

Settings were chosen with other seeds, and so on other pictures. What is measured is of new
pictures: captions that are exactly right, how much of its weight a word has on the shape that it
tells of, which words the picture decides, and how many of them lose more without the cells they
looked at than without random ones; beside it the same over all words, and with fewer of the cells
they looked at covered. ``--set`` measures other settings, and ``--plot`` draws what was found
before.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from pathlib import Path

import measuring

from regard.config import with_text_values
from regard.experiments.shapes import Shapes
from regard.records.experiment import Chart, Curve, Experiment, Finding, ResultRow
from regard.views.experiment import write_plot


def run(experiment: Shapes, seed: int) -> dict[str, object]:
    began = time.process_time()
    found = experiment.run(seed, lambda line: print(f"seed {seed}: {line}", flush=True))
    every = found.rows[-1]
    return {
        "seed": seed,
        "exact": every.values[0],
        "training_seconds": every.seconds,
        "cpu_seconds": time.process_time() - began,  # drawing, training and measuring
        "words": {row.name: values(row) for row in found.rows},
        "curves": {curve.name: curve.points for curve in found.chart.curves},
    }


def values(row: ResultRow) -> dict[str, float | None]:
    names = [re.sub(r"\W+", "_", name).strip("_") for name in Shapes.columns]
    return dict(zip(names[1:], row.values[1:], strict=True))


def plot(name: str, path: Path) -> None:
    """Draw how each seed went."""
    runs = json.loads((measuring.RESULTS / f"{name}.json").read_text())["runs"]
    charts = {
        run["seed"]: Chart(
            "lines",
            "epoch",
            "share",
            tuple(Curve(curve, tuple(map(tuple, some))) for curve, some in run["curves"].items()),
            level=0.8,
        )
        for run in runs
    }
    findings = tuple(Finding(seed, (), chart) for seed, chart in charts.items())
    write_plot(Experiment(Shapes.name, Shapes.title, Shapes.columns, (), findings), path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--name", default="shapes")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    changes = dict(change.split("=", 1) for change in options.set)
    experiment = with_text_values(Shapes(), changes)
    for seed in options.seeds:
        found = run(experiment, seed) | {"settings": changes}
        measuring.keep_run(options.name, found, ["settings", "seed"])
    if options.plot:
        plot(options.name, options.plot)


if __name__ == "__main__":
    main()
