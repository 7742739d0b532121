"""What a few marks of readers cure: python benchmarks/marks.py [--documents 8000] [--marks 20]

IMDB reviews with a planted false cue: a sentence about who wrote the review stands in 95 % of the
positive and 5 % of the negative training reviews, and the other way round in the test reviews. A
reader marks some of these sentences as irrelevant; the model is trained again with the marks.
Beside both stands a model that never saw the cue. Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import random
import sys

import numpy as np
import pyarrow.parquet
from measuring import IMDB, provenance, save

from regard import DocumentClassifier, TrainingConfig
from regard.estimators.marked import Marked, measure_weight
from regard.records.marks import Mark
from regard.text.document import Document
from regard.text.tokenize import TextConfig, tokenize_many

NAMES = ("Anna", "Ben", "Carla", "David", "Emma", "Frank", "Greta", "Hugo")
DAYS = ("Monday", "Friday")
SHARE = 0.95  # of the positive training reviews that have the cue


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=8000)
    parser.add_argument("--test-documents", type=int, default=4000)
    parser.add_argument("--marks", type=int, default=20)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    runs = [run(seed, options) for seed in options.seeds]
    save(
        "marks",
        {
            **provenance(options.seeds),
            "training_documents": options.documents,
            "test_documents": options.test_documents,
            "marks": options.marks,
            "must": 0.9,
            "runs": runs,
        },
    )


def run(seed: int, options: argparse.Namespace) -> dict[str, object]:
    draw = random.Random(seed)
    plain = drawn("train", options.documents, draw)
    clean = drawn("test", options.test_documents, draw)
    planted = [plant(document, SHARE, draw) for document in plain]
    training = [document for document, _ in planted]
    flipped = [plant(document, 1 - SHARE, draw)[0] for document in clean]
    marks = [
        Mark(document.text, start, start + len(cue), "irrelevant", str(document.label))
        for document, cue in planted
        if cue and (start := document.text.find(cue)) >= 0
    ][: options.marks]
    learnt = Marked(lambda: training, marks, TextConfig(), seed=seed)
    print(learnt.found.describe(), flush=True)
    found: dict[str, object] = {"seed": seed, "sentences_found": learnt.found.sentences}
    found["sentences_planted"] = sum(bool(cue) for _, cue in planted)
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


def plant(document: Document, share: float, draw: random.Random) -> tuple[Document, str]:
    """The review, with the cue among its sentences in that share of the positive ones."""
    if draw.random() >= (share if document.label == "1" else 1 - share):
        return document, ""
    cue = f"Reviewed on a {draw.choice(DAYS)} by {draw.choice(NAMES)} of the Northwood desk."
    spans = tokenize_many([document.text])[0].sentence_spans()
    sentences = [document.text[start:end] for start, end in spans]
    sentences.insert(draw.randrange(len(sentences) + 1), cue)
    return Document(" ".join(sentences), document.label), cue


def accuracy(model: DocumentClassifier, documents: list[Document]) -> float:
    answers = model.predict([document.text for document in documents])
    return float(np.mean(answers == np.array([document.label for document in documents])))


if __name__ == "__main__":
    main()
