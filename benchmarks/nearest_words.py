"""Unknown words read as the nearest known one by letters: what that gains on held-out texts.

    python benchmarks/found_texts.py --data texts --splits splits
    python benchmarks/nearest_words.py --splits splits [--sets messages-fi] [--readings nearest]
    python benchmarks/nearest_words.py --splits splits --letters 1 1.5 2

Each of two folds of a set's training texts is answered by models that are trained on the other
three quarters, with the network and by n-grams alone, once for each way to read unknown words;
beside them stands a linear model on runs of letters. --letters asks how long the vectors of letters
should be instead, and writes to letters-of-new.json. What found_texts.py asks about is never read.
"""

from __future__ import annotations

import argparse
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from unittest.mock import patch

import numpy as np
from accuracy import Set, fit_letters, read_rows
from measuring import keep_run
from numpy.typing import NDArray
from unknown_words import READINGS, Reading, Texts, weigh_left_out

from regard import DocumentClassifier, TrainingConfig
from regard.tasks.calibration import fit_temperature, log_loss
from regard.text.tokenize import TextConfig
from regard.text.vocab import Vocab

FOLDS, ASKED = 4, 2  # into which texts are parted, and how many of them are answered
SETS = (
    *("messages-fi", "messages-hu", "messages-tr", "messages-ar", "messages-he", "messages-el"),
    *("cookies-ru", "cookies-pl", "cookies-it", "tweets-three"),
)
WAYS = ("one", "alike", "nearest")


def read_nearest(words: list[str], vocab: Vocab, counts: NDArray[np.int64]) -> Reading:
    """As the known word whose letters are nearest."""
    near = Vocab(vocab.words[2:], TextConfig(unknown="nearest"))
    return Reading(near.ids(words).astype(np.int64), near.words)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--splits", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET")
    parser.add_argument("--readings", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--letters", type=float, nargs="*", default=[])
    options = parser.parse_args()
    ways = [{"reading": way} for way in options.readings]
    ways = [{"reading": "nearest", "letters": scale} for scale in options.letters] or ways
    for name in options.sets:
        texts = training_texts(options.splits / name / "00" / "train.jsonl.gz")
        for fold in range(ASKED):
            out = np.arange(len(texts.labels)) % FOLDS == fold
            run: dict[str, object] = {
                "set": name,
                "fold": fold,
                "seed": 0,
                "documents": len(texts.labels),
            }
            run |= {"once": share_once(texts, out), "letters_svm": letters_accuracy(texts, out)}
            for way in ways:
                run |= way
                with letters_as_long_as(run.get("letters")):
                    for answer in (by_ngrams, by_whole):
                        run |= answer(texts, str(run["reading"]), out)
                print(run, flush=True)
                name_of_file = "letters-of-new" if options.letters else "nearest-words"
                keep_run(name_of_file, run, same=("set", *way, "fold"))


def letters_as_long_as(scale: object) -> AbstractContextManager[object]:
    """So long are vectors of letters; None: as they are."""
    if scale is None:
        return nullcontext()
    return patch("regard.training.ngrams._letters_scale", lambda data: scale)


def training_texts(path: Path) -> Texts:
    """The texts that a set is learnt from, in their order, and the numbers of their labels."""
    found = read_rows(path)
    labels = np.unique([str(row["label"]) for row in found], return_inverse=True)[1]
    return Texts([str(row["text"]) for row in found], labels)


def share_once(texts: Texts, out: NDArray[np.bool_]) -> float:
    """Of all words that are learnt from, how many occur there but once."""
    _, numbers, _, lengths = texts.read
    counts = np.bincount(numbers[np.repeat(~out, lengths)])
    return float((counts == 1).sum() / counts.sum())


def parted(texts: Texts, out: NDArray[np.bool_]) -> tuple[list[str], list[str]]:
    """The texts to learn from, and those to answer."""
    pairs = list(zip(texts.texts, out.tolist(), strict=True))
    return [text for text, held in pairs if not held], [text for text, held in pairs if held]


def letters_accuracy(texts: Texts, out: NDArray[np.bool_]) -> float:
    learnt, asked = parted(texts, out)
    answers = fit_letters(learnt, texts.labels[~out], asked, Set("", lambda data: iter(())))
    return float((answers == texts.labels[out]).mean())


def by_ngrams(texts: Texts, way: str, out: NDArray[np.bool_]) -> dict[str, float]:
    """What n-grams alone say of the texts left out."""
    read = READINGS.get(way, read_nearest)
    logits, unread = weigh_left_out(texts, read, out, fewest=None)
    labels = texts.labels[out]
    return {
        "ngrams": float((logits.argmax(axis=1) == labels).mean()),
        "ngrams_log_loss": log_loss(logits, labels, fit_temperature(logits, labels)),
        "read_as_unknown": unread,
    }


def by_whole(texts: Texts, way: str, out: NDArray[np.bool_]) -> dict[str, float]:
    """What network and n-grams together say of the texts left out."""
    learnt, asked = parted(texts, out)
    model = DocumentClassifier(
        text=TextConfig(unknown=way),  # type: ignore[arg-type]
        training=TrainingConfig(seed=0),
        device="cpu",
    )
    model.fit(learnt, texts.labels[~out].tolist())
    likely, labels = model.predict_proba(asked), texts.labels[out]
    chosen = likely[np.arange(len(labels)), labels]
    return {
        "whole": float((likely.argmax(axis=1) == labels).mean()),
        "whole_log_loss": float(-np.log(np.maximum(chosen, 1e-12)).mean()),
    }


if __name__ == "__main__":
    main()
