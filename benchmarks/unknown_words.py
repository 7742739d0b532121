"""Words out of the vocabulary, read in several ways: what n-grams gain, on held-out training texts.

    python benchmarks/unknown_words.py [--sets mr imdb] [--folds 4] [--whole mr] [--data FOLDER]

Each fold of a set's training texts is answered by n-grams learnt from the others, with the same
vocabulary every time. Rare words of the texts that are learnt from are read in the same way.
--whole trains networks too, with one fold held out. Test files are never read.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from accuracy import DATA, SETS, body, rows
from measuring import RESULTS, provenance, save
from numpy.typing import NDArray

from regard import DocumentClassifier, TrainingConfig
from regard.models.ngrams import Rows
from regard.models.wide import WideConfig, WidePart
from regard.tasks.calibration import fit_temperature, log_loss
from regard.text.characters import lower_words
from regard.text.tokenize import TextConfig
from regard.text.vocab import UNKNOWN, Numbering, Vocab
from regard.training.ngrams import LearningData, learn_ngrams

MOST = 2_000  # reviews of IMDB
MANY = 3_000  # documents of other sets with long texts
FOLDS, FEW_FOLDS = 4, 2  # with many classes, where a fit takes long, the latter
SIZE, FEWEST = 3, 5  # letters of an ending, and rare words that must have it

Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Texts:
    """Labelled texts, each in words."""

    texts: list[str]
    labels: Ids

    @classmethod
    def of(cls, name: str, data: Path) -> Texts:
        """Read some training texts of a set, in an order drawn once."""
        if name.startswith("amazon"):
            found = rows(data / "amazon_mds/reviews.parquet")
            domain = name.partition("-")[2]
            found = [row for row in found if (row["domain"], row["split"]) == (domain, "train")]
        else:
            path, text = FILES[name]
            found = rows(data / path) if text is None else rows(data / path, text)
        most = {"mr": len(found), "imdb": MOST}.get(name, MANY)
        chosen = np.random.default_rng(0).permutation(len(found))[:most]
        labels = [str(found[place]["label"]) for place in chosen]
        numbers = np.unique(labels, return_inverse=True)[1]
        return cls([str(found[place]["text"]) for place in chosen], numbers)

    @cached_property
    def read(self) -> tuple[list[str], Ids, Rows, Ids]:
        """The words in lower case, their numbers as rows, and how long texts are."""
        numbering = Numbering()
        found = numbering.encode(self.texts)
        words, places = np.unique(lower_words(numbering.words), return_inverse=True)
        numbers = places[found.ids].astype(np.int64)
        shape = found.sentence_lengths.astype(np.int64), found.sentences
        return words.tolist(), numbers, Rows(numbers, *shape), found.lengths

    def rows(self, ids: Ids, chosen: NDArray[np.bool_]) -> Rows:
        """The chosen documents with these ids of their tokens."""
        _, _, every, lengths = self.read
        tokens, sentences = np.repeat(chosen, lengths), np.repeat(chosen, every.sentences)
        return Rows(ids[tokens], every.sentence_lengths[sentences], every.sentences[chosen])


FILES: dict[str, tuple[str, Callable[[dict[str, object]], str] | None]] = {
    "mr": ("mr/train.parquet", None),
    "imdb": ("imdb/train.parquet", None),
    "20newsgroups-cut": ("20newsgroups/train.parquet", body),
    "r52": ("reuters/r52_train.parquet", None),
}
AMAZON = [name for name in SETS if name.startswith("amazon")]


@dataclass(frozen=True, eq=False)
class Reading:
    """The id of each word of a set, and the words of all ids."""

    ids: Ids  # (words,)
    words: list[str]


def read_as_one(words: Sequence[str], vocab: Vocab, counts: Ids) -> Reading:
    """All unknown words are one."""
    return Reading(vocab.ids(words).astype(np.int64), vocab.words)


def read_alike(words: Sequence[str], vocab: Vocab, counts: Ids) -> Reading:
    """As the known word that begins alike: what classifiers do."""
    return read_as_one(words, Vocab(vocab.words[2:], TextConfig(unknown="alike")), counts)


def read_by_endings(words: Sequence[str], vocab: Vocab, counts: Ids) -> Reading:
    """As the known word that begins alike, or else as a word for all with the same ending."""
    found = read_alike(words, vocab, counts)
    unknown = np.flatnonzero(found.ids == UNKNOWN).tolist()
    endings: Counter[str] = Counter()
    for place in unknown:
        for size in range(1, SIZE + 1):
            endings[words[place][-size:]] += int(counts[place])
    kept = sorted(ending for ending, count in endings.items() if count >= FEWEST)
    numbers = {ending: len(vocab) + number for number, ending in enumerate(kept)}
    ids = found.ids.copy()
    for place in unknown:
        tails = (words[place][-size:] for size in range(SIZE, 0, -1))
        ids[place] = next((numbers[tail] for tail in tails if tail in numbers), UNKNOWN)
    return Reading(ids, [*vocab.words, *(f"<{ending}>" for ending in kept)])


def read_letters(words: Sequence[str], vocab: Vocab, counts: Ids) -> Reading:
    """Each by all its letters: what ids of words cannot do, as a measure of what is missed.

    N-grams need two documents, so words that are too rare for the vocabulary are in none.
    """
    ids = vocab.ids(words).astype(np.int64)
    unknown = np.flatnonzero(ids == UNKNOWN).tolist()
    ids[unknown] = len(vocab) + np.arange(len(unknown))
    return Reading(ids, [*vocab.words, *(words[place] for place in unknown)])


READINGS: dict[str, Callable[[Sequence[str], Vocab, Ids], Reading]] = {
    "one": read_as_one,
    "alike": read_alike,
    "alike, else by ending": read_by_endings,
    "all letters": read_letters,
}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [*FILES, *AMAZON]
    parser.add_argument("--sets", nargs="*", choices=every, default=every, metavar="SET")
    parser.add_argument("--readings", nargs="+", choices=READINGS, default=list(READINGS))
    parser.add_argument("--whole", nargs="*", choices=every, default=[], metavar="SET")
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    path = RESULTS / "unknown-words.json"
    kept = json.loads(path.read_text()) if path.exists() else {"sets": {}, "whole": {}}
    for name in options.sets:
        texts = Texts.of(name, options.data)
        folds = options.folds if texts.labels.max() == 1 else FEW_FOLDS
        own = kept["sets"].setdefault(name, {})
        own |= {"documents": len(texts.labels), "folds": folds}
        for reading in options.readings:
            own[reading] = measure(texts, reading, folds)
            print(name, reading, json.dumps(own[reading]), flush=True)
            save("unknown-words", kept | provenance())
    for name in options.whole:
        texts = Texts.of(name, options.data)
        both = kept["whole"][name] = {}
        for reading in ("one", "alike"):
            both[reading] = train_whole(texts, reading)
            print(name, reading, json.dumps(both[reading]), flush=True)
            save("unknown-words", kept | provenance())


def measure(texts: Texts, reading: str, folds: int) -> dict[str, float]:
    """Answer each fold by n-grams that were learnt from the others."""
    right: list[NDArray[np.bool_]] = []
    losses: list[float] = []
    shares: list[float] = []
    for fold in range(folds):
        out = np.arange(len(texts.labels)) % FOLDS == fold
        logits, share = weigh_left_out(texts, READINGS[reading], out)
        labels = texts.labels[out]
        right.append(logits.argmax(axis=1) == labels)
        losses.append(log_loss(logits, labels, fit_temperature(logits, labels)))
        shares.append(share)
    return {
        "accuracy": float(np.concatenate(right).mean()),
        "log_loss": float(np.mean(losses)),
        "read_as_unknown": float(np.mean(shares)),
    }


def weigh_left_out(
    texts: Texts, read: Callable[..., Reading], out: NDArray[np.bool_], *, fewest: int | None = 2
) -> tuple[NDArray[np.float64], float]:
    """The logits of the documents left out, and which share of their tokens has no reading.

    Words are known that occur at least ``fewest`` times in the others; None: as the texts say.
    """
    words, numbers, _, lengths = texts.read
    counts = np.bincount(numbers[np.repeat(~out, lengths)], minlength=len(words))
    counted = {word: int(count) for word, count in zip(words, counts, strict=True) if count}
    found = read(words, Vocab.from_counts(counted, TextConfig(min_count=fewest)), counts)
    ids = found.ids[numbers]
    data = LearningData(
        rows=texts.rows(ids, ~out),
        labels=texts.labels[~out],
        class_count=int(texts.labels.max()) + 1,
        held_out_in=np.full(int((~out).sum()), -1),
        words=found.words,
    )
    learnt = learn_ngrams(data, WideConfig())
    assert learnt is not None
    asked = texts.rows(ids, out)

    def weigh(part: WidePart) -> NDArray[np.float64]:
        return part.table.weigh(asked, part.weights)

    parts = learnt.parts(learnt.after, 1.0)
    return learnt.after.intercepts + sum(map(weigh, parts)), float((asked.ids == UNKNOWN).mean())


def train_whole(texts: Texts, unknown: str) -> dict[str, float]:
    """Train a network with n-grams beside it on all folds but one, and answer that one."""
    out = np.arange(len(texts.labels)) % FOLDS == 0
    sides = [
        [text for text, held in zip(texts.texts, out, strict=True) if held == wanted]
        for wanted in (False, True)
    ]
    model = DocumentClassifier(
        text=TextConfig(unknown=unknown, min_count=2),  # type: ignore[arg-type]
        training=TrainingConfig(seed=0),
        device="cpu",
    )
    model.fit(sides[0], texts.labels[~out].tolist())
    likely, labels = model.predict_proba(sides[1]), texts.labels[out]
    chosen = likely[np.arange(len(labels)), labels]
    return {
        "accuracy": float((likely.argmax(axis=1) == labels).mean()),
        "log_loss": float(-np.log(np.maximum(chosen, 1e-12)).mean()),
    }


if __name__ == "__main__":
    main()
