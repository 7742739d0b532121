"""What it is worth that people marked why: python benchmarks/reasons.py [--asked folds] [--seeds 0]

The reviews of ERASER's Movies come with the passages that people took for the reason of the label.
The default learns from them with and without these, as `regard train --evidence-column evidence`
does, and so does TF-IDF with a linear support vector machine, to which the marked passages of a
review are given as another text of its label. Five folds of the training reviews are asked; the
test reviews are asked by --asked test alone. Needs ../shared/data/rationales.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from accuracy import Set, fit_svm
from measuring import keep_run

from regard import DocumentClassifier, TrainingConfig
from regard.data.readers import read_documents
from regard.estimators.fitting import FitOptions, Reason
from regard.estimators.marked import reasons_in_column
from regard.text.document import Document

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "rationales"
FOLDS = 5
LINEAR = Set("", lambda data: iter(()))

Documents = Sequence[Document]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--asked", choices=["folds", "test"], default="folds")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs ERASER's Movies")
    torch.set_num_threads(1)
    for part, training, asked in parts(options.asked):
        reasons = reasons_in_column(training, "evidence")
        where = {"asked": options.asked, "part": part, "documents": len(asked)}
        for marked, given in ((False, []), (True, reasons)):
            run = {**where, "method": "tfidf_svm", "seed": 0, "marked": marked}
            keep({**run, "accuracy": linear(training, given, asked)})
            for seed in options.seeds:
                run = {**where, "method": "regard default", "seed": seed, "marked": marked}
                keep({**run, **ours(training, given, asked, seed)})


def keep(run: dict[str, object]) -> None:
    print(run, flush=True)
    keep_run("reasons", run, same=("asked", "part", "method", "seed", "marked"))


def parts(asked: str) -> Iterator[tuple[int, Documents, Documents]]:
    """Reviews to learn from and reviews to ask: each fold in turn, or the test file."""
    training = list(read_documents(DATA / "movies_train.parquet"))
    if asked == "test":
        yield 0, training, list(read_documents(DATA / "movies_test.parquet"))
        return
    folds = np.random.default_rng(0).permutation(len(training)) % FOLDS
    for fold in range(FOLDS):
        out = (folds == fold).tolist()
        pairs = list(zip(training, out, strict=True))
        yield fold, [one for one, held in pairs if not held], [one for one, held in pairs if held]


def ours(
    training: Documents, reasons: Sequence[Reason], asked: Documents, seed: int
) -> dict[str, float]:
    """Accuracy and log loss of the default, and what it says itself of its accuracy."""
    model = DocumentClassifier(training=TrainingConfig(seed=seed), device="cpu", progress=False)
    plain = [replace(document, fields={}) for document in training]
    model.fit_documents(plain, options=FitOptions(reasons=reasons, choose_method=False))
    likely = model.predict_proba([document.text for document in asked])
    names = [str(name) for name in model.classes_]
    truth = np.array([names.index(str(document.label)) for document in asked])
    chosen = np.maximum(likely[np.arange(len(truth)), truth], 1e-12)
    return {
        "accuracy": float((likely.argmax(axis=1) == truth).mean()),
        "log_loss": float(-np.log(chosen).mean()),
        "held_out_accuracy": float(str(model.facts_["validation_accuracy"])),
    }


def linear(training: Documents, reasons: Sequence[Reason], asked: Documents) -> float:
    """Accuracy of TF-IDF with a support vector machine, with marked passages as texts or not."""
    learnt = [*training, *(reason.document for reason in reasons)]
    labels = np.array([str(document.label) for document in learnt])
    texts, questions = ([one.text for one in some] for some in (learnt, asked))
    answers = fit_svm(texts, labels, questions, LINEAR)
    return float((answers == np.array([str(document.label) for document in asked])).mean())


if __name__ == "__main__":
    main()
