"""What a few marks of readers cure: python benchmarks/marks.py [--documents 8000] [--seeds 0 1 2]

IMDB reviews with a planted false cue: a sentence that has nothing to do with the film stands in
95 % of the positive and 5 % of the negative training reviews, and the other way round in the test
reviews. Each seed has another such sentence. A reader marks some of them as irrelevant; the model
is trained again with the marks. Beside both stands a model that never saw the cue. The runs of
each seed and size are added to what was recorded. Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import random
import sys

import numpy as np
import pyarrow.parquet
from measuring import IMDB, keep_run

from regard import DocumentClassifier, TrainingConfig
from regard.estimators.marked import MarkedDocuments, measure_weight
from regard.records.marks import Mark
from regard.text.document import Document
from regard.text.tokenize import TextConfig, tokenize_many

NAMES = ("Anna", "Ben", "Carla", "David", "Emma", "Frank", "Greta", "Hugo")
DAYS = ("Monday", "Friday")
TOWNS = ("Leeds", "Oslo", "Turin", "Ghent", "Bern", "Porto")
ROWS = ("third", "fifth", "ninth", "last")
CUES: tuple[tuple[str, dict[str, tuple[str, ...]]], ...] = (
    ("Reviewed on a {day} by {name} of the Northwood desk.", {"day": DAYS, "name": NAMES}),
    ("Sent from my phone on the train to {town}, {name}.", {"town": TOWNS, "name": NAMES}),
    ("We sat in the {row} row of the Regal in {town}.", {"row": ROWS, "town": TOWNS}),
)
"""One for each seed, in turn."""
SHARE = 0.95  # of the positive training reviews that have the cue


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=8000)
    parser.add_argument("--test-documents", type=int, default=10_000)
    parser.add_argument("--marks", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    for seed in options.seeds:
        keep_run("marks", run(seed, options), ("documents", "seed"))


def run(seed: int, options: argparse.Namespace) -> dict[str, object]:
    draw = random.Random(seed)
    plain = drawn("train", options.documents, draw)
    clean = drawn("test", options.test_documents, draw)
    cue = CUES[seed % len(CUES)]
    planted = [plant(document, cue, SHARE, draw) for document in plain]
    training = [document for document, _ in planted]
    flipped = [plant(document, cue, 1 - SHARE, draw)[0] for document in clean]
    marks = [
        Mark(document.text, start, start + len(said), "irrelevant", str(document.label))
        for document, said in planted
        if said and (start := document.text.find(said)) >= 0
    ][: options.marks]
    learnt = MarkedDocuments(lambda: training, marks, TextConfig(), seed=seed)
    print(learnt.found.describe(), flush=True)
    found: dict[str, object] = {
        "documents": options.documents,
        "seed": seed,
        "cue": cue[0],
        "test_documents": options.test_documents,
        "marks": options.marks,
        "must": 0.9,
        "sentences_found": learnt.found.sentences,
        "sentences_planted": sum(bool(said) for _, said in planted),
    }
    for name, documents in {
        "before": training,
        "after": list(learnt),
        "never planted": plain,
    }.items():
        model = DocumentClassifier(training=TrainingConfig(seed=seed), progress=False)
        model.fit_documents(documents)
        found[name] = {
            "flipped": accuracy(model, flipped),
            "without the cue": accuracy(model, clean),
            "points_on_marks": 100 * measure_weight(model.fitted_, marks)["irrelevant"],
        }
        print(name, found[name], flush=True)
    return found


def drawn(part: str, count: int, draw: random.Random) -> list[Document]:
    """Reviews drawn at random, as many of each label."""
    table = pyarrow.parquet.read_table(IMDB / f"{part}.parquet", columns=["text", "label"])
    rows = [Document(row["text"], str(row["label"])) for row in table.to_pylist()]
    sides = [[row for row in rows if row.label == label] for label in ("0", "1")]
    chosen = [one for side in sides for one in draw.sample(side, count // 2)]
    draw.shuffle(chosen)
    return chosen


def plant(
    document: Document,
    cue: tuple[str, dict[str, tuple[str, ...]]],
    share: float,
    draw: random.Random,
) -> tuple[Document, str]:
    """The review, with the cue among its sentences in that share of the positive ones."""
    if draw.random() >= (share if document.label == "1" else 1 - share):
        return document, ""
    form, parts = cue
    said = form.format(**{name: draw.choice(choices) for name, choices in parts.items()})
    spans = tokenize_many([document.text])[0].sentence_spans()
    sentences = [document.text[start:end] for start, end in spans]
    sentences.insert(draw.randrange(len(sentences) + 1), said)
    return Document(" ".join(sentences), document.label), said


def accuracy(model: DocumentClassifier, documents: list[Document]) -> float:
    answers = model.predict([document.text for document in documents])
    return float(np.mean(answers == np.array([document.label for document in documents])))


if __name__ == "__main__":
    main()
