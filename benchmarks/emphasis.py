"""Do n-grams that count more at the ends of texts answer better? Documents left out say so.

    python benchmarks/emphasis.py [--sets movies imdb hyperpartisan 20newsgroups] [--data FOLDER]

For each set some training documents are dealt into folds. N-grams alone, as they stand beside every
network, learn from all folds but one and answer that one: once with all sentences counting the
same, once as they choose by documents that they leave out themselves. No test file is read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet
import torch
from measuring import keep_run
from numpy.typing import NDArray

from regard.data.batch import collate
from regard.models.ngrams import Rows
from regard.models.wide import WideConfig, rows_of
from regard.tasks.bootstrap import percentiles
from regard.tasks.calibration import fit_temperature
from regard.text.tokenize import TextConfig, tokenize_many
from regard.text.vocab import Vocab, count_words
from regard.training.ngrams import LearningData, Learnt, learn_ngrams

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DRAWS = 1000


@dataclass(frozen=True)
class Set:
    """Training documents, of which some are drawn."""

    file: str
    documents: int
    folds: int = 5
    asked: int = 5  # of the folds


SETS = {
    "movies": Set("rationales/movies_train.parquet", 1600),
    "imdb": Set("imdb/train.parquet", 4000, asked=3),
    "hyperpartisan": Set("hyperpartisan/articles.parquet", 645),
    "20newsgroups": Set("20newsgroups/train.parquet", 3000, folds=3, asked=1),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS))
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    torch.set_num_threads(1)
    for name in options.sets:
        path = options.data / SETS[name].file
        if not path.exists():
            sys.exit(f"{path} is not here; this benchmark needs it")
        table = pyarrow.parquet.read_table(path, columns=["text", "label"])
        texts, labels = (table[column].to_pylist() for column in ("text", "label"))
        found = compare(texts, labels, SETS[name])
        print(name, found, flush=True)
        keep_run("emphasis", {"set": name, "seed": 0, **found}, same=("set",))


def compare(texts: Sequence[str], labels: Sequence[object], asked: Set) -> dict[str, object]:
    """How n-grams answer what they have not seen, with all sentences alike and as they choose."""
    drawn = np.random.default_rng(0).permutation(len(texts))[: asked.documents]
    chosen = [texts[place] for place in drawn]
    classes, numbers = np.unique([str(labels[place]) for place in drawn], return_inverse=True)
    folds = np.arange(len(drawn)) % asked.folds
    config = TextConfig()
    tokens = tokenize_many(chosen, config)
    losses: dict[bool, list[NDArray[np.float64]]] = {False: [], True: []}
    right: dict[bool, list[NDArray[np.bool_]]] = {False: [], True: []}
    emphases = set()
    for fold in range(asked.asked):
        out = folds == fold
        seen = [text for text, away in zip(tokens, out, strict=True) if not away]
        vocab = Vocab.from_counts(count_words(seen, config), config)
        rows = rows_of(collate(tokens, vocab))
        data = LearningData(
            rows=rows.having(~out),
            labels=numbers[~out],
            class_count=len(classes),
            held_out_in=np.full(int((~out).sum()), -1),
            words=vocab.words,
        )
        for emphasis in (False, True):
            learnt = learn_ngrams(data, WideConfig(emphasis=emphasis))
            assert learnt is not None  # long texts have n-grams in common
            logits = answer(learnt, rows.having(out))
            losses[emphasis].append(log_losses(logits, numbers[out]))
            right[emphasis].append(logits.argmax(1) == numbers[out])
        emphases.add(astuple(learnt.tables[0].emphasis))
    change = np.concatenate(losses[True]) - np.concatenate(losses[False])
    draws = np.random.default_rng(0).integers(len(change), size=(DRAWS, len(change)))
    interval = percentiles(change[draws].mean(1))
    return {
        "documents": len(drawn),
        "answered": len(change),
        "sentences": float(np.median([len(one.per_sentence) for one in tokens])),
        "chosen": sorted(emphases),
        "accuracy": [float(np.concatenate(right[key]).mean()) for key in (False, True)],
        "log_loss": [float(np.concatenate(losses[key]).mean()) for key in (False, True)],
        "interval": [interval.low, interval.high],
    }


def answer(learnt: Learnt, rows: Rows) -> NDArray[np.float64]:
    """The logits of documents that were not learnt from."""
    sums = (part.table.weigh(rows, part.weights) for part in learnt.parts(learnt.after, 1.0))
    return sum(sums, start=learnt.after.intercepts)


def log_losses(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The log loss of each document, at the temperature that suits all of them best."""
    cooled = logits / fit_temperature(logits, labels)
    shifted = cooled - cooled.max(1, keepdims=True)
    likely = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return -likely[np.arange(len(labels)), labels]


if __name__ == "__main__":
    main()
