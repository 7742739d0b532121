"""Planted evidence: does the model decide by the one sentence that carries the label, and say so?

Each document has thirty sentences. Twenty-nine are real IMDB sentences or distractors; one, at a
random place, says that an official body granted or denied something, and that is the label. The
words of the cue also stand in distractors under either label (an uncle rejects the popcorn, the
jury enjoys the plan), so no single word tells. The phrasings of the test documents are not in
training: every combination of beginning, adverb, ending and voice belongs to one of the two.

    python benchmarks/planted.py [--documents 4000] [--seeds 0 1 2] [--set network.weighing=states]

Runs at the defaults are kept in benchmarks/results/planted.json.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

import pyarrow.parquet
from measuring import keep_run

from regard import tokenize
from regard.estimators.named import classifier_from

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb" / "train.parquet"
DOCUMENTS = 4000  # to train on

BODIES = ["jury", "panel", "committee", "board", "council", "tribunal", "senate", "assembly"]
PEOPLE = ["uncle", "neighbour", "hero", "cousin", "driver", "waiter", "villain", "sister"]
THINGS = ["request", "plan", "proposal", "claim", "motion", "appeal", "petition", "bill"]
TRIFLES = ["popcorn", "ticket", "ending", "costume", "soundtrack", "trailer", "joke", "poster"]
GRANTED = ["approved", "accepted", "endorsed", "backed", "granted", "supported"]
DENIED = ["rejected", "refused", "dismissed", "opposed", "denied", "blocked"]
NEUTRAL = ["enjoyed", "mentioned", "watched", "forgot"]
BEGINNINGS = [
    "",
    "In the end ",
    "Yesterday ",
    "To our surprise ",
    "We heard that ",
    "It seems ",
    "Nobody saw that ",
    "After a long day ",
]
ADVERBS = ["", "finally ", "soon ", "quietly ", "once more "]
ENDINGS = ["", " today", " at once", ", as expected", " in the city", " before noon"]
VOICES = ["the {who} {adverb}{act} the {what}", "the {what} was {adverb}{act} by the {who}"]
LABELS = {"granted": GRANTED, "denied": DENIED}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
    sentences = real_sentences(3000, options.data)
    runs = [run(seed, sentences, options) for seed in options.seeds]
    for name in ("accuracy", "planted_first"):
        values = [entry[name] for entry in runs]
        print(f"{name}: mean {statistics.mean(values):.4f}, lowest {min(values):.4f}")


def run(seed: int, sentences: Sequence[str], options: argparse.Namespace) -> dict[str, float]:
    """Train on planted documents and look where the model looked in others."""
    rng = random.Random(seed)
    training = [document(rng, sentences, test=False) for _ in range(options.documents)]
    test = [document(rng, sentences, test=True) for _ in range(1000)]
    changes = [*options.changes, f"training.seed={seed}"]
    classifier = classifier_from("han", changes, device=options.device)
    classifier.fit([text for text, _, _ in training], [label for _, label, _ in training])
    explanations = classifier.explain([text for text, _, _ in test], receipt=False)
    right = [
        explanation.label == label
        for explanation, (_, label, _) in zip(explanations, test, strict=True)
    ]
    # Where sentences are told apart wrongly, the one that holds the cue counts.
    first = [
        any(planted in sentence.text for sentence in explanation.sentences(1))
        for explanation, (_, _, planted) in zip(explanations, test, strict=True)
    ]
    found = {
        "seed": seed,
        "accuracy": statistics.mean(right),
        "planted_first": statistics.mean(first),
        "validation": classifier.history_.best.validation_accuracy,
        "epochs": len(classifier.history_.epochs),
        "seconds": round(classifier.history_.seconds, 1),
    }
    print(json.dumps(found), flush=True)
    if not options.changes and options.documents == DOCUMENTS:
        keep_run("planted", found, same=("seed",))
    return found


def real_sentences(reviews: int, data: Path = DATA) -> list[str]:
    """Sentences of IMDB reviews, of some length, without words of the cue."""
    column = pyarrow.parquet.read_table(data, columns=["text"]).column("text")
    order = random.Random(0).sample(range(len(column)), reviews)
    cue = {*BODIES, *THINGS, *GRANTED, *DENIED}
    found: list[str] = []
    for place in order:
        tokens = tokenize(column[place].as_py())
        for start, end in tokens.sentence_spans():
            sentence = tokens.text[start:end]
            words = sentence.lower().split()
            if 4 <= len(words) <= 40 and not cue & set(words) and "<" not in sentence:
                found.append(sentence if sentence[-1] in ".!?" else sentence + ".")
    return found


def document(rng: random.Random, sentences: Sequence[str], *, test: bool) -> tuple[str, str, str]:
    """One document, its label, and the sentence that carries it."""
    label = rng.choice(list(LABELS))
    planted = cue_sentence(rng, LABELS[label], test=test)
    body = rng.sample(sentences, 29)
    for place in rng.sample(range(29), 6):
        body[place] = distractor(rng, test=test)
    body.insert(rng.randrange(30), planted)
    return " ".join(body), label, planted


def cue_sentence(rng: random.Random, acts: Sequence[str], *, test: bool) -> str:
    """A sentence that carries the label."""
    return phrased(rng, BODIES, acts, THINGS, test=test)


def distractor(rng: random.Random, *, test: bool) -> str:
    """A sentence with words of the cue that says nothing about the label."""
    if rng.random() < 0.7:
        return phrased(rng, PEOPLE, [*GRANTED, *DENIED], TRIFLES, test=test)
    return phrased(rng, BODIES, NEUTRAL, THINGS, test=test)


def phrased(
    rng: random.Random,
    who: Sequence[str],
    act: Sequence[str],
    what: Sequence[str],
    *,
    test: bool,
) -> str:
    """Say it in a phrasing that is for training or for test, never for both."""
    while True:
        choices = [rng.randrange(len(part)) for part in (BEGINNINGS, ADVERBS, ENDINGS, VOICES)]
        beginning, adverb, ending, voice = choices
        if test == ((beginning + 2 * adverb + 3 * ending + voice) % 5 == 0):
            break
    core = VOICES[voice].format(
        who=rng.choice(who), adverb=ADVERBS[adverb], act=rng.choice(act), what=rng.choice(what)
    )
    sentence = f"{BEGINNINGS[beginning]}{core}{ENDINGS[ending]}."
    return sentence[0].upper() + sentence[1:]


if __name__ == "__main__":
    main()
