"""Planted evidence: one sentence of thirty carries the label. Pieces that vote, or the document?

    python benchmarks/voting.py [--documents 4000] [--seeds 0 1 2] [--reviews train.parquet]

The documents are those of benchmarks/planted.py. Each rule has the same classifier of sentences,
each with its document's label; beside it networks that are told the label of the document alone.
Writes benchmarks/results/voting.json. Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import time
from pathlib import Path

import planted
from measuring import RESULTS, provenance

from regard.arena.voting import RULES, VotingClassifier
from regard.estimators.fitting import FitOptions
from regard.estimators.named import classifier_from
from regard.estimators.recipes import Recipe
from regard.text.document import Document

WHOLE = {
    "HAN": ("han", ("training.patience=none",)),
    "hierarchical transformer": (
        "hierarchical-transformer",
        ("training.patience=none", "training.learning_rate=1e-3", "training.warmup=0.1"),
    ),
}
# Labels alone: vectors that are learnt from the texts beforehand make it harder to find what tells.
PLAIN = FitOptions(choose_method=False, recipe=Recipe("no vectors", "vectors from labels alone"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=4000)
    parser.add_argument("--test", type=int, default=1000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--reviews", type=Path, default=planted.DATA)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--networks", nargs="+", choices=WHOLE, default=["HAN"])
    parser.add_argument("--out", type=Path, default=RESULTS / "voting.json")
    options = parser.parse_args()
    if not options.reviews.exists():
        sys.exit(f"{options.reviews} is not here; this benchmark needs the IMDB reviews")
    planted.DATA = options.reviews
    sentences = planted.real_sentences(3000)
    runs: list[dict[str, float]] = []
    for seed in options.seeds:
        runs.append(run(seed, sentences, options))
        save(runs, options)


def save(runs: list[dict[str, float]], options: argparse.Namespace) -> None:
    """Write what is known so far."""
    means = {
        name: {
            "mean": round(statistics.mean(found[name] for found in runs), 4),
            "lowest": round(min(found[name] for found in runs), 4),
        }
        for name in runs[0]
    }
    told = {
        **provenance(options.seeds[: len(runs)]),
        "documents": options.documents,
        "test": options.test,
    }
    options.out.write_text(json.dumps({**told, "accuracy": means, "runs": runs}, indent=2) + "\n")
    print(json.dumps(means, indent=2))


def run(seed: int, sentences: list[str], options: argparse.Namespace) -> dict[str, float]:
    """Train all of them on the same documents; return how many of the others each gets right."""
    rng = random.Random(seed)
    training = [planted.document(rng, sentences, test=False) for _ in range(options.documents)]
    test = [planted.document(rng, sentences, test=True) for _ in range(options.test)]
    documents = [Document(text, label) for text, label, _ in training]
    texts, truth = [text for text, _, _ in test], [label for _, label, _ in test]
    found: dict[str, float] = {}
    for name in options.networks:
        network, changes = WHOLE[name]
        began = time.perf_counter()
        asked = [*changes, f"training.seed={seed}"]
        whole = classifier_from(network, asked, device=options.device, wide="off")
        whole.fit_documents(documents, options=PLAIN)
        found[name] = statistics.mean((whole.predict(texts) == truth).tolist())
        print(seed, name, found[name], round(time.perf_counter() - began), flush=True)
    pieces = classifier_from(
        "han",
        [f"training.seed={seed}", "training.epochs=3", "training.batch_size=512"],
        device=options.device,
        wide="off",
    )
    began = time.perf_counter()
    voter = VotingClassifier(pieces).fit_documents(documents, options=PLAIN)
    for rule in RULES:
        voter.rule = rule
        found[f"sentences, {rule}"] = statistics.mean((voter.predict(texts) == truth).tolist())
        print(seed, rule, found[f"sentences, {rule}"], round(time.perf_counter() - began))
    return found


if __name__ == "__main__":
    main()
