"""Do explanations point where people point? ERASER's Movies, against human rationales.

    python benchmarks/movies.py [--seeds 0 1 2] [--split test] [--workers 1] [--set PART.NAME=VALUE]

For each seed: ``regard train`` on the train split, at the defaults; then the answers to the other
split are explained by the method that the training chose, as ``regard explain`` does, and words,
phrases and sentences are held against what people marked, each as a page draws them. Beside it the
rankings that need no taught model, and a linear model's own weights: a lead is one over the best of
them, with an interval over documents, the mean of the seeds in each. Choose on val; read test once.
The test split has marks of several kinds: ``--columns`` takes them all from one run.
Needs ../shared/data/rationales.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import torch
from measuring import provenance, save

from regard import DocumentClassifier
from regard.audit.opponents import Opponents
from regard.audit.plausibility import measure_plausibility, read_evidence
from regard.data.readers import read_documents
from regard.explain.methods import METHODS
from regard.explain.receipts import inquiries, measure
from regard.tasks.bootstrap import percentiles
from regard.text.document import Document

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "rationales"
DRAWN = {"auprc_word": "word", "auprc": "phrase", "auprc_sentence": "sentence"}
"""What a page draws, by the measure of it."""
QUICK = ("attention", "attention_gradient", "gradient_input")
"""Methods that are counted beside the default one."""
MUST = {"lead": 0.05, "comprehensiveness": 3.0}
DRAWS = 1000

Found = dict[str, list[float]]
"""For each ranking, "last words, phrase, evidence", what each document gives."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--split", default="test", choices=["val", "test"])
    parser.add_argument("--columns", nargs="+", default=["evidence"], help="what people marked")
    parser.add_argument("--limit", type=int, default=None, help="documents, to try it out")
    parser.add_argument("--set", action="append", default=[], dest="changes")
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
        "split": options.split,
        "changes": options.changes,
        "must": MUST,
        "comprehensiveness_ratio": statistics.mean(one["comprehensiveness_ratio"] for one in runs),
        "columns": {
            column: {level: compare(f"{level}, {column}", measured) for level in DRAWN.values()}
            for column in options.columns
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
        subprocess.run(asked, check=True)
        classifier = DocumentClassifier.load(f"{folder}/model", device="cpu")
    documents = list(read_documents(DATA / f"movies_{options.split}.parquet"))[: options.limit]
    truth = [document.label for document in documents]
    accuracy = classifier.score([document.text for document in documents], truth)
    found = measure_rankings(classifier, documents, options.columns)
    lost, chance = (found.pop(name) for name in ("comprehensiveness", "comprehensiveness, random"))
    result: dict[str, object] = {
        "seed": seed,
        "method": classifier.fitted_.default_method,
        "accuracy": accuracy,
        "documents": len(documents),
        "comprehensiveness": statistics.mean(lost),
        "comprehensiveness_random": statistics.mean(chance),
        "comprehensiveness_ratio": statistics.mean(lost) / statistics.mean(chance),
        "precision": {name: statistics.mean(values) for name, values in found.items()},
    }
    print(f"seed {seed}: {json.dumps(result)}", flush=True)
    return result, found


def measure_rankings(
    classifier: DocumentClassifier, documents: Sequence[Document], columns: Sequence[str]
) -> Found:
    """Measure the default method, others and the opponents on every document with marks."""
    fitted = classifier.fitted_
    texts = [document.text for document in documents]
    opponents = Opponents(fitted, texts, linear=classifier.baseline_)
    rows: dict[str, dict[int, float]] = {}
    for places, answers in fitted.answers(texts):
        own = METHODS[fitted.default_method].explain(answers)
        explained = {"default": own}
        explained |= {name: METHODS[name].explain(answers) for name in QUICK}
        explained |= opponents.explain(answers)
        for row, receipt in enumerate(measure(inquiries(answers), own)):
            assert receipt.receipt is not None
            lost = receipt.receipt.measure("comprehensiveness", "word")
            assert lost is not None
            rows.setdefault("comprehensiveness", {})[places[row]] = lost.value
            rows.setdefault("comprehensiveness, random", {})[places[row]] = lost.random
        for name, some in explained.items():
            for (row, one), column in itertools.product(enumerate(some), columns):
                evidence = read_evidence(documents[places[row]], column)
                values = measure_plausibility(one, evidence, share=0.3)
                for key, level in DRAWN.items():
                    if key in values:
                        kept = rows.setdefault(f"{name}, {level}, {column}", {})
                        kept[places[row]] = values[key].value
                        chance = rows.setdefault(f"random, {level}, {column}", {})
                        chance[places[row]] = values[key].baseline
    return {name: [of[place] for place in sorted(of)] for name, of in rows.items()}


def compare(level: str, measured: Sequence[Found]) -> Mapping[str, object]:
    """Hold the default method against the best opponent, document by document."""
    names = {name for one in measured for name in one if name.endswith(f", {level}")}
    others = {name for name in names if name.split(", ")[0] not in ("default", "random", *QUICK)}

    def means(name: str) -> np.ndarray:
        return np.mean([one[name] for one in measured], axis=0)

    best = max(others, key=lambda name: float(means(name).mean()))
    own = means(f"default, {level}")
    lead = own - means(best)
    draws = np.random.default_rng(0).integers(len(lead), size=(DRAWS, len(lead)))
    interval = percentiles(lead[draws].mean(1))
    return {
        "default": float(own.mean()),
        "random": float(means(f"random, {level}").mean()),
        "best opponent": best.split(", ")[0],
        "its value": float(means(best).mean()),
        "lead": float(lead.mean()),
        "interval": [interval.low, interval.high],
        "documents": len(lead),
    }


if __name__ == "__main__":
    main()
