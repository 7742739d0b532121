"""Planted words: are the words that decide the heaviest, where it is known which they are?

    python benchmarks/planted_words.py [--documents 4000] [--seeds 0 1 2] [--kinds word phrase both]
        [--workers 1] [--runs FILE] [--stop-after SECONDS]

Documents of ten real IMDB sentences in which some words are planted, and these words alone are the
label; where they are not, or not together, it is "open". Three kinds of truth:

word    one of some colours or of some trees stands in a random sentence
phrase  a colour and the thing behind it: each of both words stands under every label, with others
both    a colour in one sentence and a tree in another: together they decide, none does alone

Of 400 new documents of each kind, those with a label other than open that the model gets right are
explained by the method that the fit chose. Counted is how often the planted words are the heaviest.
What has been run is kept in --runs and not run again; the file of results says which seeds there
are.
Needs ../shared/data/imdb/train.parquet.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import torch
from measuring import IMDB, RESULTS, add_run, kept_runs, save, whole
from planted import real_sentences

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.explain.methods import METHODS, methods_for
from regard.explain.receipts import comprehensiveness

COLOURS = {"warm": ["crimson", "scarlet", "amber"], "cool": ["cobalt", "turquoise", "indigo"]}
TREES = {"warm": ["maple", "walnut", "cedar"], "cool": ["birch", "willow", "spruce"]}
THINGS = {"warm": ["lantern", "curtain"], "cool": ["compass", "pebble"]}
OPEN = "open"
SENTENCES, TEST = 10, 400
MUST = {"word": 0.95, "phrase": 0.90, "both": 0.80}

Plant = Callable[[random.Random, str], list[list[str]]]
"""For a label the runs of words to plant, each into a sentence of its own."""


@dataclass(frozen=True)
class Planted:
    """A document, its label, and where the words that decide it stand."""

    text: str
    label: str
    spans: tuple[tuple[int, int], ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=list(KINDS))
    parser.add_argument("--workers", type=int, default=1, help="trainings at the same time")
    parser.add_argument("--name", default="planted-words", help="of the file of results")
    parser.add_argument("--runs", type=Path, default=RESULTS / "planted-words-runs.jsonl")
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    asked = [(kind, seed) for seed in options.seeds for kind in options.kinds]
    done = {(one["kind"], one["seed"]) for one in runs_of(options)}
    ends = time.time() + options.stop_after
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        left = [one for one in asked if one not in done]
        going = [pool.submit(run, *one, options.documents, options.runs, ends) for one in left]
        for one in going:
            one.result()
    torch.set_num_threads(1)
    report([one for one in runs_of(options) if (one["kind"], one["seed"]) in asked], options)


def runs_of(options: argparse.Namespace) -> list[dict]:
    return [one for one in kept_runs(options.runs) if one["documents"] == options.documents]


def report(runs: Sequence[dict], options: argparse.Namespace) -> None:
    """Write the file of results, unless a kind has not been run at all."""
    found: dict[str, object] = {"documents": options.documents, "test": TEST}
    for kind in options.kinds:
        some = sorted((one for one in runs if one["kind"] == kind), key=lambda one: one["seed"])
        if not some:
            sys.exit(f"{kind}: no seed has been run yet")
        share = statistics.mean(one["heaviest"] for one in some)
        found[kind] = {"heaviest": share, "must": MUST[kind], "runs": some}
        print(f"{kind}: {share:.3f} (must {MUST[kind]})", flush=True)
    about = {key: value for key, value in whole(runs).items() if key != "runs"}
    save(options.name, {**about, **found})


def run(kind: str, seed: int, documents: int, runs: Path, ends: float) -> None:
    """Train on planted documents at the defaults, and look which words are heaviest in others.

    Nothing is begun when the time has come to end.
    """
    if time.time() > ends:
        return
    torch.set_num_threads(1)
    words = {word for table in (COLOURS, TREES, THINGS) for some in table.values() for word in some}
    sentences = [one for one in real_sentences(2000) if not words & set(one.lower().split())]
    rng = random.Random(seed)
    taught = [planted(rng, sentences, KINDS[kind]) for _ in range(documents)]
    test = [planted(rng, sentences, KINDS[kind]) for _ in range(TEST)]
    training = TrainingConfig(seed=seed)
    classifier = DocumentClassifier(HANConfig(), training=training, device="cpu", progress=False)
    classifier.fit([one.text for one in taught], [one.label for one in taught])
    answers = classifier.predict([one.text for one in test])
    right = [one for one, answer in zip(test, answers, strict=True) if one.label == answer]
    decided = [one for one in right if one.label != OPEN]
    result: dict[str, object] = {
        "kind": kind,
        "documents": documents,
        "seed": seed,
        "method": classifier.facts_["explain_method"],
        "accuracy": len(right) / len(test),
        "explained": len(decided),
        **found_in(classifier, decided),
        "methods": {
            name: found_in(classifier, decided, method=name)["heaviest"]
            for name in methods_for(classifier.model_)
        },
        "lost": lost_by_method(classifier, [one.text for one in test]),
    }
    print(result, flush=True)
    add_run(runs, result)


def found_in(
    classifier: DocumentClassifier, decided: Sequence[Planted], method: str | None = None
) -> dict[str, float]:
    """In which share of the documents the planted words, and their sentences, are the heaviest.

    By the default method, with how often its receipt says "faithful", or by another without.
    """
    if not decided:
        return {"heaviest": 0.0}
    texts = [one.text for one in decided]
    if method is None:
        explained = classifier.explain(texts)
    else:
        explained = classifier.explain(texts, method=method, receipt=False)
    hits, sentence_hits, faithful = [], [], []
    for one, found in zip(decided, explained, strict=True):
        heaviest = {piece.span for piece in found.words(len(one.spans))}
        hits.append(heaviest == set(one.spans))
        homes = [piece.span for piece in found.sentences(len({*one.spans}))]
        sentence_hits.append(
            all(any(a <= start and end <= b for a, b in homes) for start, end in one.spans)
        )
        faithful.append(found.receipt is not None and found.receipt.verdict == "faithful")
    return {
        "heaviest": statistics.mean(hits),
        "sentences_heaviest": statistics.mean(sentence_hits),
        "called_faithful": statistics.mean(faithful),
    }


def lost_by_method(classifier: DocumentClassifier, texts: Sequence[str]) -> dict[str, float]:
    """What answers lose without the heaviest pieces: by this a fit chooses among the methods."""
    lost: dict[str, list[float]] = {name: [] for name in methods_for(classifier.model_)}
    for _, answers in classifier.fitted_.answers(texts):
        for name, some in lost.items():
            some += comprehensiveness(answers, METHODS[name].explain(answers)).tolist()
    return {name: statistics.mean(some) for name, some in lost.items()}


def planted(rng: random.Random, sentences: Sequence[str], plant: Plant) -> Planted:
    """Put what decides, or what only looks like it, into real sentences."""
    label = rng.choice([*COLOURS, OPEN])
    body = [one.split(" ") for one in rng.sample(sentences, SENTENCES)]
    homes = rng.sample(range(SENTENCES), SENTENCES)
    marks: list[tuple[int, int]] = []  # a sentence, and a word of it
    for home, words in zip(homes, plant(rng, label), strict=False):
        place = rng.randrange(1, len(body[home]))
        body[home][place:place] = words
        marks += [(home, place + step) for step in range(len(words))]
    spans, written = [], ""
    for number, sentence in enumerate(body):
        for place, word in enumerate(sentence):
            if (number, place) in marks:
                spans.append((len(written), len(written) + len(word)))
            written += word + " "
    return Planted(written.rstrip(), label, () if label == OPEN else tuple(spans))


def a_word(rng: random.Random, label: str) -> list[list[str]]:
    """A word of the label; nothing where it is open."""
    return [] if label == OPEN else [[rng.choice(COLOURS[label] + TREES[label])]]


def a_phrase(rng: random.Random, label: str) -> list[list[str]]:
    """A colour and a thing that agree; where it is open, some that do not."""
    first = rng.choice(list(COLOURS))
    second = {"warm": "cool", "cool": "warm"}[first]
    if label != OPEN:
        first = second = label
    return [[rng.choice(COLOURS[first]), rng.choice(THINGS[second])]]


def in_two_sentences(rng: random.Random, label: str) -> list[list[str]]:
    """A colour here and a tree there that agree; where it is open, some that do not."""
    (both,) = a_phrase(rng, label)
    colour = both[0]
    told = next(name for name, words in THINGS.items() if both[1] in words)
    return [[colour], [rng.choice(TREES[told])]]


KINDS: dict[str, Plant] = {"word": a_word, "phrase": a_phrase, "both": in_two_sentences}


if __name__ == "__main__":
    main()
