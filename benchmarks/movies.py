"""Do explanations point where people point? ERASER's Movies, against human rationales.

    python benchmarks/movies.py [--seeds 0 1 2] [--splits val test] [--no-reasons] [--workers 1]

For each seed: ``regard train`` on the train split, at the defaults; then the answers to the other
splits are explained by the method that the training chose, as ``regard explain`` does, and words,
phrases and sentences are held against what people marked, each as a page draws them. Beside it the
rankings that need no taught model, and a linear model's own weights: a lead is one over the best of
them, with an interval over documents, the mean of the seeds in each. Choose on val; read test once.
The test split has marks of several kinds; all are taken from one run. The training learns from what
people marked in its reviews, which the rankings beside it do not know. One more does that knows
nothing else: how often a word was marked for the label that the model gives (marked_words.py).
--no-reasons leaves the marks alone.
Needs ../shared/data/rationales.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from measuring import provenance, save
from numpy.typing import NDArray

from regard import DocumentClassifier
from regard.audit.opponents import Opponents
from regard.audit.plausibility import (
    average_precision,
    mark_tokens,
    read_evidence,
    score_tokens,
    token_spans,
)
from regard.data.readers import read_documents
from regard.explain.methods import METHODS
from regard.explain.receipts import measure, open_inquiries
from regard.records.explanation import Explanation
from regard.records.weights import Weights
from regard.tasks.bootstrap import percentiles
from regard.text.document import Document
from regard.text.tokenize import TextConfig, tokenize_many

if TYPE_CHECKING:
    from marked_words import MarkedWords

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "rationales"
MARKS = {"val": ["evidence"], "test": ["evidence", "evidence_sparse", "human_majority"]}
"""The columns of what people marked, by split."""
DRAWN = ("word", "phrase", "sentence", "sentence, per word")
"""What a page draws: two ways to shade words, two to draw the bars of sentences."""
RIVALS = {"sentence, per word": ("sentence", "sentence, per word")}
"""What the best opponent may be drawn as, where that is more than one thing: opponents weigh a
sentence by the mean of its words already, and divided once more they may be weaker."""
MUST = {"lead": 0.05, "comprehensiveness": 3.0}
MARKED = "marked words"
"""A ranking that knows what people marked in the training reviews, and no model."""
DRAWS = 1000

Found = dict[str, list[float]]
"""For each ranking, "last words, phrase, evidence, val", what each document gives."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--splits", nargs="+", default=["val"], choices=list(MARKS))
    parser.add_argument("--limit", type=int, default=None, help="documents, to try it out")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--no-reasons", action="store_true", help="leave the marks of train alone")
    parser.add_argument("--workers", type=int, default=1, help="seeds at the same time")
    parser.add_argument("--name", default="movies", help="of the file of results")
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs ERASER's Movies")
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        asked = [pool.submit(run, seed, options) for seed in options.seeds]
        runs, measured = zip(*(one.result() for one in asked), strict=True)
    torch.set_num_threads(1)
    found: dict[str, object] = {
        "changes": options.changes,
        "reasons": not options.no_reasons,
        "must": MUST,
        "comprehensiveness_ratio": statistics.mean(one["comprehensiveness_ratio"] for one in runs),
        "columns": {
            f"{split}, {column}": {
                level: compare(level, f"{column}, {split}", measured) for level in DRAWN
            }
            for split in options.splits
            for column in MARKS[split]
        },
    }
    print(json.dumps(found, indent=1))
    save(options.name, {**provenance(options.seeds), **found, "runs": runs})


def run(seed: int, options: argparse.Namespace) -> tuple[dict[str, object], Found]:
    """Train with one seed as a user would, and measure the explanations of the split."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        asked = [sys.executable, "-m", "regard", "train", str(DATA / "movies_train.parquet")]
        asked += ["--out", f"{folder}/model", "--seed", str(seed), "--quiet", "--device", "cpu"]
        asked += [part for change in options.changes for part in ("--set", change)]
        asked += ["--evidence-column", "none"] if options.no_reasons else []
        subprocess.run(asked, check=True)
        classifier = DocumentClassifier.load(f"{folder}/model", device="cpu")
    found: Found = {}
    result: dict[str, object] = {"seed": seed, "method": classifier.fitted_.default_method}
    for split in options.splits:
        documents = list(read_documents(DATA / f"movies_{split}.parquet"))[: options.limit]
        truth = [document.label for document in documents]
        right = classifier.score([document.text for document in documents], truth)
        found |= measure_rankings(classifier, documents, split)
        lost, chance = found.pop("comprehensiveness"), found.pop("comprehensiveness, random")
        result |= {
            f"accuracy, {split}": right,
            "comprehensiveness": statistics.mean(lost),
            "comprehensiveness_random": statistics.mean(chance),
            "comprehensiveness_ratio": statistics.mean(lost) / statistics.mean(chance),
        }
    result["precision"] = {name: statistics.mean(values) for name, values in found.items()}
    print(f"seed {seed}: {json.dumps(result)}", flush=True)
    return result, found


def measure_rankings(
    classifier: DocumentClassifier, documents: Sequence[Document], split: str
) -> Found:
    """Measure the default method and the opponents on every document with marks."""
    fitted = classifier.fitted_
    texts = [document.text for document in documents]
    opponents = Opponents(fitted, texts, linear=classifier.baseline_)
    known, cut = marked_words(), tokenize_many(texts, TextConfig())
    rows: dict[str, dict[int, float]] = {}
    for places, answers in fitted.answers(texts):
        own = METHODS[fitted.default_method].explain(answers)
        for row, one in enumerate(measure(open_inquiries(answers), own)):
            lost = one.receipt and one.receipt.measure("comprehensiveness", "word")
            assert lost is not None
            rows.setdefault("comprehensiveness", {})[places[row]] = lost.value
            rows.setdefault("comprehensiveness, random", {})[places[row]] = lost.random
        for row, one in enumerate(own):
            drawn = known.drawn(cut[places[row]], str(one.decisions[0].label))
            for key, value in precisions_of(drawn, documents[places[row]], MARKS[split]):
                rows.setdefault(f"{MARKED}, {key}, {split}", {})[places[row]] = value
        for name, some in {"default": own, **opponents.explain(answers)}.items():
            for row, one in enumerate(some):
                for key, value in precisions(one, documents[places[row]], MARKS[split]):
                    rows.setdefault(f"{name}, {key}, {split}", {})[places[row]] = value
    return {name: [of[place] for place in sorted(of)] for name, of in rows.items()}


def marked_words() -> MarkedWords:
    """How often words are marked in the training reviews."""
    from marked_words import MarkedWords

    return MarkedWords(list(read_documents(DATA / "movies_train.parquet")))


def precisions(
    explanation: Explanation, document: Document, columns: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The average precision of what is drawn, for each column in which something is marked."""
    decision = explanation.decisions[0]
    sentences = (decision.level("sentence"), decision.sentences_per_word)
    yield from precisions_of((decision.words, decision.phrases, *sentences), document, columns)


def precisions_of(
    drawn: Sequence[Weights | None], document: Document, columns: Sequence[str]
) -> Iterator[tuple[str, float]]:
    """The same of words, phrases, sentences, and sentences per word."""
    tokens = token_spans(document.text)
    for column in columns:
        truth = mark_tokens(tokens, read_evidence(document, column))
        if truth.any():
            found = average_precisions(tokens, truth, drawn)
            yield from (
                (f"{level}, {column}", one) for level, one in zip(DRAWN, found, strict=True)
            )


def average_precisions(
    tokens: NDArray[np.int64], truth: NDArray[np.bool_], drawn: Sequence[Weights | None]
) -> list[float]:
    """The average precision of each thing that is drawn."""
    found = []
    for weights in drawn:
        assert weights is not None
        scores = score_tokens(tokens, weights.pieces, np.array(weights.amounts))
        found.append(average_precision(truth, scores))
    return found


def compare(level: str, marks: str, measured: Sequence[Found]) -> Mapping[str, object]:
    """Hold the default method against the best opponent, document by document."""

    def means(name: str) -> np.ndarray:
        return np.mean([one[name] for one in measured], axis=0)

    rivals = [
        name
        for drawn in RIVALS.get(level, (level,))
        for name in measured[0]
        if name.endswith(f", {drawn}, {marks}") and not name.startswith(("default, ", MARKED))
    ]
    best = max(rivals, key=lambda name: float(means(name).mean()))
    own = means(f"default, {level}, {marks}")
    lead = own - means(best)
    draws = np.random.default_rng(0).integers(len(lead), size=(DRAWS, len(lead)))
    interval = percentiles(lead[draws].mean(1))
    return {
        "default": float(own.mean()),
        "best opponent": best.partition(",")[0],
        "its value": float(means(best).mean()),
        "lead": float(lead.mean()),
        "interval": [interval.low, interval.high],
        "documents": len(lead),
        MARKED: float(means(f"{MARKED}, {level}, {marks}").mean()),
    }


if __name__ == "__main__":
    main()
