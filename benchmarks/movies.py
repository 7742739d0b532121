"""Do explanations point where people point? ERASER's Movies, against human rationales.

    python benchmarks/movies.py [--seeds 0 1 2] [--limit 199] [--split test] [--out FILE]

Trains a glass-box HAN on the train split with each seed, stops early and chooses the default method
on the val split, and audits the test split against the column ``evidence``. Prints one table of
all methods, means over the seeds. Needs ../shared/data/rationales.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import torch

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.data.readers import read_documents
from regard.estimators.auditing import AuditOptions, audit, sampled
from regard.records.audit import Audit, Metric

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "rationales"
NETWORK = HANConfig(encoder="none")
"""The glass box: on the val split it points where people point more often than a recurrent one."""
TRAINING = {"epochs": 12, "batch_size": 16}
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
    classifier = DocumentClassifier(
        NETWORK, training=TrainingConfig(**TRAINING, seed=seed), device="cpu"
    )
    classifier.fit_documents(training, held_out)
    classifier.choose_method([document.text for document in sampled(held_out, CHOOSING, seed)])
    if options.save is not None:
        classifier.save(options.save / f"seed-{seed}")
    documents = sampled(read_documents(DATA / f"movies_{options.split}.parquet"), options.limit)
    truth = [document.label for document in documents]
    accuracy = classifier.score([document.text for document in documents], truth)
    found = audit(classifier, documents, AuditOptions(evidence="evidence", needle=False))
    seconds = time.perf_counter() - began
    print(
        f"seed {seed}: accuracy {accuracy:.3f}, default method {found.default_method}, "
        f"{seconds:.0f} s",
        flush=True,
    )
    return found


def table(found: list[Audit]) -> list[str]:
    """One row a method: means over the seeds, the interval of the first, and the baseline."""
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
    value, chance = (
        statistics.mean(getattr(metric, name) for metric in given) for name in ("value", "baseline")
    )
    low, high = given[0].interval.low, given[0].interval.high
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
