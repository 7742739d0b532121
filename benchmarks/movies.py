"""Do explanations point where people point? ERASER's Movies, against human rationales.

    python benchmarks/movies.py [--seeds 0 1 2] [--limit 199] [--split test] [--out FILE]

For each seed: learns word vectors by skip-gram from the texts of the train split, as the HAN paper
does; trains a HAN on its labels with these vectors held still; stops early and chooses the default
method on the val split; audits the test split against the column ``evidence``. Prints one table of
all methods, means over the seeds, and how far one gets untrained: the default method's average
precision on the same network with fresh weights. Needs ../shared/data/rationales.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from copy import copy
from operator import attrgetter
from pathlib import Path

import torch

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.audit.plausibility import measure_plausibility, read_evidence
from regard.audit.run import AuditOptions, audit, sample
from regard.data.readers import read_documents
from regard.estimators.fitting import FitOptions
from regard.experiments.skipgram import SkipGramConfig, learn_vectors
from regard.records.audit import Audit, Metric
from regard.text.document import Document

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "rationales"
NETWORK = HANConfig()
VECTORS = {"size": 200, "min_count": 5, "max_size": 20_000, "epochs": 5, "batch_size": 8192}
TRAINING = {"epochs": 12, "batch_size": 16, "freeze_vectors": True}
"""On val both count: vectors learnt from texts, and that the labels do not move them."""
SHOWN = ("auprc", "auprc_word", "token_f1", "iou_f1", "comprehensiveness", "sufficiency")
CHOOSING = 50  # texts of the val split that the default method is chosen on


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--limit", type=int, default=199, help="documents to audit")
    parser.add_argument("--split", default="test", choices=["val", "test"])
    parser.add_argument("--save", type=Path, default=None, help="a folder to keep the models in")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs ERASER's Movies")
    torch.set_num_threads(1)
    found = [audited(seed, options) for seed in options.seeds]
    print("\n".join(table(found)))
    verdict(found)
    if options.out:
        pairs = zip(options.seeds, found, strict=True)
        whole = {str(seed): json.loads(one.to_json()) for seed, one in pairs}
        options.out.write_text(json.dumps(whole, indent=2) + "\n")


def audited(seed: int, options: argparse.Namespace) -> Audit:
    """Train with one seed and audit."""
    began = time.perf_counter()
    training, held_out = (
        list(read_documents(DATA / f"movies_{name}.parquet")) for name in ("train", "val")
    )
    classifier = trained(training, held_out, seed)
    classifier.choose_method([document.text for document in sample(held_out, CHOOSING, seed)])
    if options.save is not None:
        classifier.save(options.save / f"seed-{seed}")
    documents = sample(read_documents(DATA / f"movies_{options.split}.parquet"), options.limit)
    truth = [document.label for document in documents]
    accuracy = classifier.score([document.text for document in documents], truth)
    found = audit(classifier, documents, AuditOptions(evidence="evidence", needle=False))
    fresh = untrained_auprc(classifier, documents, found.default_method)
    seconds = time.perf_counter() - began
    print(
        f"seed {seed}: accuracy {accuracy:.3f}, default method {found.default_method}, "
        f"its AUPRC under fresh weights {fresh:.3f}, {seconds:.0f} s",
        flush=True,
    )
    return found


def trained(training: list[Document], held_out: list[Document], seed: int) -> DocumentClassifier:
    """Learn vectors from the training texts, then labels with the vectors held still."""
    classifier = DocumentClassifier(
        NETWORK, training=TrainingConfig(**TRAINING, seed=seed), device="cpu"
    )
    texts = [document.text for document in training]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "vectors.txt"
        for lap in learn_vectors(texts, SkipGramConfig(**VECTORS, seed=seed)):
            print(f"seed {seed}: vectors, epoch {lap.epoch}, loss {lap.loss:.3f}", flush=True)
            lap.vectors.save(path)
        return classifier.fit_documents(training, held_out, options=FitOptions(vectors=path))


def untrained_auprc(
    classifier: DocumentClassifier, documents: Sequence[Document], method: str
) -> float:
    """How well the method does on the same word vectors under fresh weights."""
    fresh = copy(classifier)
    torch.manual_seed(classifier.training.seed)
    fresh.model_ = NETWORK.build(
        vocab_size=len(classifier.vocab_), label_count=len(classifier.classes_)
    ).eval()
    fresh.model_.embedding.load_state_dict(classifier.model_.embedding.state_dict())
    explained = fresh.explain([document.text for document in documents], method=method)
    found = [
        measure_plausibility(explanation, read_evidence(document, "evidence"), share=0.3).get(
            "auprc"
        )
        for explanation, document in zip(explained, documents, strict=True)
    ]
    return statistics.mean(one.value for one in found if one is not None)


def table(found: list[Audit]) -> list[str]:
    """One row a method: means over the seeds of values, intervals over documents and baselines."""
    heads = ["method", *SHOWN]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for method in [one.method for one in found[0].rankings]:
        rankings = [one.ranking(method) for one in found]
        cells = [cell([one.metric(name) for one in rankings if one]) for name in SHOWN]
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return lines


def cell(metrics: list[Metric | None]) -> str:
    given = [metric for metric in metrics if metric is not None]
    if not given:
        return ""
    value, low, high, chance = (
        statistics.mean(map(attrgetter(name), given))
        for name in ("value", "interval.low", "interval.high", "baseline")
    )
    return f"{value:.3f} ({low:.3f} to {high:.3f}; random {chance:.3f})"


def verdict(found: list[Audit]) -> None:
    """Say whether the default explanations reach what was asked of them."""
    gains, ratios = [], []
    for one in found:
        ranking = one.ranking(one.default_method)
        auprc, lost = ranking.metric("auprc"), ranking.metric("comprehensiveness")
        gains.append(auprc.value - auprc.baseline)
        ratios.append(lost.value / lost.baseline)
    print(
        f"default explanation: AUPRC above random by {statistics.mean(gains):.3f} (asked: 0.16), "
        f"comprehensiveness {statistics.mean(ratios):.1f} times random's (asked: 3)"
    )


if __name__ == "__main__":
    main()
