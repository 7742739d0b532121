"""Korean to English on few pairs (Tatoeba): chrF with attention and without, three seeds each.

    python benchmarks/korean.py [--seeds 0 1 2] [--attention luong none] [--set network.dropout=0.4]

Trained on the pairs of the split "train", a tenth of which chooses the epoch; scored on the split
"test" by beam search. Prints one JSON line a run, then the means; runs without --set or --pairs are
kept in benchmarks/results/korean.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import pyarrow.parquet
from measuring import keep_run

from regard.data.pairs import Pair
from regard.estimators.named import translator_from

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "ko_en" / "tatoeba.parquet"
DECODERS = {"none": "sutskever", "cho": "cho", "luong": "luong", "bahdanau": "bahdanau"}
SETTINGS = [
    "network.embedding_size=128",
    "network.hidden_size=256",
    "network.layers=1",
    "network.dropout=0.4",
    "units.size=2000",
    "training.batch_size=64",
    "training.learning_rate=2e-3",
    "training.epochs=40",
    "training.monitor=loss",
]
"""What differs from the defaults: few pairs ask for a small network, few pieces, and the loss."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--attention", nargs="+", choices=DECODERS, default=["luong", "none"])
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--pairs", type=int, default=None, help="train on the first ones alone")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the pairs of Tatoeba")
    for attention in options.attention:
        runs = [run(seed, attention, options) for seed in options.seeds]
        means = {name: mean(entry[name] for entry in runs) for name in ("chrf", "bleu")}
        spread = statistics.stdev(entry["chrf"] for entry in runs) if len(runs) > 1 else 0.0
        summary = {"attention": attention, **means, "chrf_deviation": round(spread, 2)}
        print(json.dumps(summary), flush=True)


def run(seed: int, attention: str, options: argparse.Namespace) -> dict[str, float]:
    """Train and score once."""
    began = time.perf_counter()
    named = [f"network.decoder={DECODERS[attention]}", f"training.seed={seed}"]
    translator = translator_from([*SETTINGS, *named, *options.changes], device=options.device)
    translator.set_params(fixed="all")
    translator.fit_pairs(pairs(options.data, "train")[: options.pairs])
    scores = translator.evaluate(pairs(options.data, "test"))
    found = {
        "seed": seed,
        "chrf": round(scores.chrf, 2),
        "bleu": round(scores.bleu, 2),
        "exact": round(scores.exact, 4),
        "best_epoch": translator.facts_["best_epoch"],
        "seconds": round(time.perf_counter() - began, 1),
    }
    signatures = {"chrf_signature": scores.chrf_signature, "bleu_signature": scores.bleu_signature}
    told = {"attention": attention, **found, **signatures}
    print(json.dumps(told), flush=True)
    if not (options.changes or options.pairs):
        keep_run("korean", told, same=("attention", "seed"))
    return found


def pairs(path: Path, split: str) -> list[Pair]:
    """Korean sentences of a split with their English."""
    rows = pyarrow.parquet.read_table(path, columns=["ko", "en", "split"]).to_pylist()
    return [Pair(row["ko"], row["en"]) for row in rows if row["split"] == split]


def mean(values) -> float:
    return round(statistics.mean(values), 2)


if __name__ == "__main__":
    main()
