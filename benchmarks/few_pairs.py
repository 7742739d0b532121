"""Few pairs: are the settings that the number of pairs decides better than the usual ones?

    python benchmarks/few_pairs.py [--pairs 1500 3000] [--seconds 100] [--set training.epochs=5]

Translators of Multi30k, English to German, are trained on so many pairs of train, with the settings
chosen and with the usual ones, for as many seconds of the processor at most, and scored on 500
other pairs of train; no test data are read. Writes BLEU and chrF by beam search, how many of the
texts that were written differ, and the seconds taken to benchmarks/results/few_pairs.json.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

import pyarrow.parquet
import torch
from measuring import provenance, save

from regard.data.pairs import Pair
from regard.estimators.fitting import FitOptions
from regard.estimators.named import translator_from
from regard.training.loop import Step
from regard.training.observers import Observer

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k" / "train.parquet"
HELD_OUT = 500
SEED = 0


class Stopper(Observer):
    """Ends a training, as Ctrl-C would, after so many seconds of the processor."""

    def __init__(self, seconds: float) -> None:
        self.end = time.process_time() + seconds

    def on_step(self, step: Step) -> None:
        if time.process_time() > self.end:
            raise KeyboardInterrupt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[1500, 3000, 10_000])
    parser.add_argument("--target", default="de")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--seconds", type=float, default=100)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs Multi30k")
    torch.set_num_threads(1)
    table = pyarrow.parquet.read_table(DATA, columns=["en", options.target])
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    random.Random(SEED).shuffle(rows)
    held_out = [Pair(*row) for row in rows[-HELD_OUT:]]
    found: dict[str, object] = {**provenance([SEED]), "seconds_at_most": options.seconds}
    for pairs in options.pairs:
        training = [Pair(*row) for row in rows[:pairs]]
        found[f"{pairs} pairs"] = {
            name: measured(training, held_out, options.changes, options.seconds, usual=usual)
            for name, usual in (("chosen", False), ("usual", True))
        }
        print(f"{pairs} pairs: {found[f'{pairs} pairs']}", flush=True)
    save("few_pairs", found)


def measured(
    training: list[Pair], held_out: list[Pair], changes: list[str], seconds: float, *, usual: bool
) -> dict[str, float]:
    """Train one translator and score it."""
    translator = translator_from(changes, device="cpu", model="seq2seq")
    if usual:
        translator.set_params(fixed="all")
    began = time.process_time()
    translator.fit_pairs(training, held_out, options=FitOptions(observers=(Stopper(seconds),)))
    taken = time.process_time() - began
    scores = translator.evaluate(held_out)
    written = translator.predict([pair.source for pair in held_out])
    return {
        "epochs": len(translator.history_.epochs) if translator.history_ else 0,
        "bleu": round(scores.bleu, 2),
        "chrf": round(scores.chrf, 2),
        "different": len(set(written)),
        "seconds": round(taken, 1),
    }


if __name__ == "__main__":
    main()
