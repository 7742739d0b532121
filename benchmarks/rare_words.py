"""Words that occur once, and how much letters count: what n-grams gain, on held-out training texts.

    python benchmarks/rare_words.py [--sets titles mr] [--fewest 2 1] [--letters 0.7 1 1.5]

Each of two folds of a set's training texts is answered by n-grams learnt from the other three
quarters. --fewest is how often a word must occur to be known, --letters how long the vectors of
letters are. What other_sets.py asks about is never read.
"""

from __future__ import annotations

import argparse
from unittest.mock import patch

import numpy as np
from accuracy import DATA
from measuring import keep_run
from other_sets import SETS as OTHERS
from unknown_words import AMAZON, FILES, Texts, read_alike, weigh_left_out

from regard.tasks.calibration import fit_temperature, log_loss

FOLDS, ASKED = 4, 2  # into which texts are parted, and how many of them are answered
SHORT = ("titles", "summaries", "subjects", "headlines", "gum", "ag-300", "gnad", "abstracts")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [*SHORT, *FILES, *AMAZON]
    parser.add_argument("--sets", nargs="+", choices=every, default=every, metavar="SET")
    parser.add_argument("--fewest", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--letters", type=float, nargs="+", default=[0.7, 1.0, 1.5])
    options = parser.parse_args()
    for name in options.sets:
        texts = Texts.of(name, DATA) if name not in SHORT else short_texts(name)
        for fewest in options.fewest:
            for letters in options.letters:
                run = {"set": name, "fewest": fewest, "letters": letters, "seed": 0}
                run |= measure(texts, fewest, letters)
                print(run, flush=True)
                keep_run("rare-words", run, same=("set", "fewest", "letters"))


def short_texts(name: str) -> Texts:
    """What is learnt from of one of the sets with other texts."""
    learnt = next(iter(OTHERS[name].parts(DATA))).train
    numbers = np.unique([str(row["label"]) for row in learnt], return_inverse=True)[1]
    return Texts([str(row["text"]) for row in learnt], numbers)


def measure(texts: Texts, fewest: int, letters: float) -> dict[str, float]:
    """Answer some folds, each by n-grams that were learnt from the others."""
    _, numbers, _, _ = texts.read
    counts = np.bincount(numbers)
    right, losses = [], []
    for fold in range(ASKED):
        out = np.arange(len(texts.labels)) % FOLDS == fold
        with patch("regard.training.ngrams._letters_scale", lambda data: letters):
            logits, _ = weigh_left_out(texts, read_alike, out, fewest=fewest)
        labels = texts.labels[out]
        right.append(logits.argmax(axis=1) == labels)
        losses.append(log_loss(logits, labels, fit_temperature(logits, labels)))
    return {
        "documents": len(texts.labels),
        "classes": int(texts.labels.max()) + 1,
        "once": float((counts == 1).sum() / counts.sum()),
        "accuracy": float(np.concatenate(right).mean()),
        "log_loss": float(np.mean(losses)),
    }


if __name__ == "__main__":
    main()
