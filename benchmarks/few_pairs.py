"""Few pairs: trains translators on some of Multi30k, with settings of your choice.

    python benchmarks/few_pairs.py --pairs 3000 [--set training.batch_size=16] [--seconds 100]

Trained on pairs drawn from train, scored on 500 others of train; no test data are read. Prints one
JSON line: BLEU and chrF by beam search, how many of what it wrote differ, and processor seconds.
Settings that are not given are those that the number of pairs decides, with --usual the usual ones.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from pathlib import Path

import pyarrow.parquet

from regard.cli.training import translator_from
from regard.data.pairs import Pair
from regard.estimators.fitting import FitOptions
from regard.training.loop import Step
from regard.training.observers import Observer

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k" / "train.parquet"
HELD_OUT = 500


class Stopper(Observer):
    """Ends a training, as Ctrl-C would, after so many seconds of the processor."""

    def __init__(self, seconds: float) -> None:
        self.end = time.process_time() + seconds

    def on_step(self, step: Step) -> None:
        if time.process_time() > self.end:
            raise KeyboardInterrupt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=3000)
    parser.add_argument("--target", default="de")
    parser.add_argument("--model", default="seq2seq")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--usual", action="store_true")
    parser.add_argument("--seconds", type=float, default=100)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs Multi30k")
    table = pyarrow.parquet.read_table(DATA, columns=["en", options.target])
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    random.Random(0).shuffle(rows)
    held_out = [Pair(*row) for row in rows[-HELD_OUT:]]
    training = [Pair(*row) for row in rows[: options.pairs]]
    translator = translator_from(options.changes, device="cpu", model=options.model)
    if options.usual:
        translator.set_params(fixed="all")
    began = time.process_time()
    watch = FitOptions(observers=(Stopper(options.seconds),))
    translator.fit_pairs(training, held_out, options=watch)
    seconds = time.process_time() - began
    scores = translator.evaluate(held_out)
    written = translator.predict([pair.source for pair in held_out])
    found = {
        "pairs": options.pairs,
        "settings": translator.settings_.to_dict(),
        "epochs": len(translator.history_.epochs) if translator.history_ else 0,
        "bleu": round(scores.bleu, 2),
        "chrf": round(scores.chrf, 2),
        "different": len(set(written)),
        "seconds": round(seconds, 1),
    }
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
