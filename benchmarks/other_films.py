"""How well does a model do on films that it does not know? python benchmarks/other_films.py

    python benchmarks/other_films.py [--epochs 4 8] [--seeds 0 1]

Reviews of one film stand together in IMDB's training file, so a review that is held out at random
is often of a film that was learnt from, and those of the test file are of others. Here the last
2,000 reviews of each label are asked. Whatever shares rare words with one of them is left out of
the training: that is how reviews of the same film with the other label are found. 2,000 of the
others, drawn at random, are asked too: those are of films that were learnt from. The test file is
not read.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from measuring import IMDB, keep_run
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from regard.estimators.classifier import DocumentClassifier
from regard.estimators.fitting import FitOptions
from regard.estimators.recipes import recipe_for
from regard.models.wide import Wide
from regard.tasks.calibration import fit_temperature, log_loss
from regard.text.document import Document
from regard.text.encode import encode
from regard.text.tokenize import TextConfig, tokenize_many
from regard.text.vocab import Vocab, count_words
from regard.training.config import TrainingConfig

LAST = 2_000  # reviews of each label that are asked
NEIGHBOURS = 30  # before them, of which some may be of the same film
KNOWN = 2_000  # reviews of films that were learnt from
LINKS = (20, 2), (50, 3)
"""Reviews are kin that share so many words, each in so many reviews at most."""


@dataclass(frozen=True)
class Parts:
    """Places of reviews in the file."""

    learnt: NDArray[np.int64]
    known: NDArray[np.int64]  # of films that are learnt from
    other: NDArray[np.int64]  # of films that are not


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--epochs", type=int, nargs="+", default=[4, 8])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs it")
    torch.set_num_threads(1)
    texts, labels, numbers = read_reviews()
    parts = part(texts, labels, numbers)
    for seed in options.seeds:
        for epochs in options.epochs:
            run = measure(texts, labels, parts, epochs=epochs, seed=seed)
            print(run, flush=True)
            keep_run("other-films", run, same=("epochs", "seed"))


def read_reviews() -> tuple[list[str], NDArray[np.int64], NDArray[np.int64]]:
    """The training file: texts, labels, and how reviews of each label are numbered."""
    from pyarrow.parquet import read_table

    table = read_table(IMDB / "train.parquet", columns=["id", "text", "label"])
    names, texts, labels = (table[column].to_pylist() for column in ("id", "text", "label"))
    numbers = [int(name.rpartition("/")[2].partition("_")[0]) for name in names]
    return texts, np.asarray(labels), np.asarray(numbers)


def part(texts: Sequence[str], labels: NDArray[np.int64], numbers: NDArray[np.int64]) -> Parts:
    """Part the reviews by their films, as far as numbers and rare words tell."""
    border = np.array([np.sort(numbers[labels == label])[-LAST] for label in (0, 1)])[labels]
    other = numbers >= border
    near = numbers >= border - NEIGHBOURS
    kin = np.asarray(links(texts)[:, np.flatnonzero(other)].sum(1)).ravel() > 0
    rest = np.random.default_rng(5).permutation(np.flatnonzero(~near & ~kin))
    return Parts(np.sort(rest[KNOWN:]), rest[:KNOWN], np.flatnonzero(other))


def links(texts: Sequence[str]) -> csr_matrix:
    """Which reviews are kin, (reviews, reviews)."""
    config = TextConfig()
    vocab = Vocab.from_counts(count_words(tokenize_many(texts, config), config), config)
    found = encode(texts, vocab, config)
    homes = np.repeat(np.arange(len(texts)), found.lengths)
    pairs = np.unique(homes * len(vocab) + found.ids.astype(np.int64))
    at = (pairs // len(vocab), pairs % len(vocab))
    there = csr_matrix((np.ones(len(pairs), np.float32), at), (len(texts), len(vocab)))
    held_by = np.bincount(at[1], minlength=len(vocab))
    kin = csr_matrix((len(texts), len(texts)), dtype=np.float32)
    for most, fewest in LINKS:
        rare = there[:, np.flatnonzero((held_by >= 2) & (held_by <= most))]
        shared = rare @ rare.T
        kin = kin + (shared >= fewest).astype(np.float32)
    return kin.tocsr()


def measure(
    texts: Sequence[str], labels: NDArray[np.int64], parts: Parts, *, epochs: int, seed: int
) -> dict[str, object]:
    """Train at the defaults, with so many epochs, and ask both kinds of reviews."""
    classifier = DocumentClassifier(
        training=TrainingConfig(epochs=epochs, seed=seed), device="cpu", progress=False
    )
    documents = [Document(texts[place], str(labels[place])) for place in parts.learnt]
    recipe = recipe_for("balanced", [f"training.epochs={epochs}"])
    options = FitOptions(recipe=recipe, choose_method=False)
    classifier.fit_documents(documents, options=options)
    model = classifier.model_
    assert isinstance(model, Wide) and classifier.history_ is not None
    run: dict[str, object] = {"epochs": epochs, "seed": seed, "learnt_from": len(documents)}
    run["epochs_taken"] = len(classifier.history_.epochs)
    for name, places in (("known", parts.known), ("other", parts.other)):
        network, share, order = [], [], []
        with torch.inference_mode():
            for read in classifier.reader_.batches([texts[place] for place in places]):
                order += read.places
                network.append(model.network(read.batch).logits.double().numpy())
                share.append(model.share(read.batch).double().numpy())
        truth = labels[places][order]
        parts_of = np.concatenate(network), np.concatenate(share)
        both = model.scale * parts_of[0] + parts_of[1]
        for who, logits in zip(("network", "ngrams", "both"), (*parts_of, both), strict=True):
            right = float((logits.argmax(1) == truth).mean())
            loss = log_loss(logits, truth, fit_temperature(logits, truth))
            run[f"{name}_{who}"] = [round(right, 4), round(loss, 4)]
        run[f"{name}_documents"] = len(places)
    return run


if __name__ == "__main__":
    main()
