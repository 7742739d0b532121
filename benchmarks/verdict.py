"""How the thresholds of a receipt's verdict were chosen, and whether they hold.

    python benchmarks/verdict.py [--training 4000] [--documents 150] [--out results/verdict.json]

Trains a small HAN on part of IMDB's training reviews and looks at reviews of the tenth that is held
out (the test file is never read). Of every document four explanations are judged: by each method, a
random ranking, the method on a copy of the network with fresh weights, and on planted evidence
the exact answer against the same weights shuffled. Needs ../shared/data/imdb/train.parquet.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import torch
from planted import document, real_sentences
from sklearn.metrics import roc_auc_score

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.estimators.explaining import answers_about
from regard.explain.answers import Answers
from regard.explain.methods import METHODS, RANKING_METHODS
from regard.explain.receipts import with_receipts
from regard.explain.verdicts import CHANCE, FAITHFUL
from regard.records.explanation import Explanation
from regard.records.weights import Weights

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb" / "train.parquet"
NETWORK = HANConfig()
TRAINING = TrainingConfig(epochs=3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--training", type=int, default=4000, help="reviews to train on")
    parser.add_argument("--documents", type=int, default=150, help="held-out reviews to judge")
    parser.add_argument("--planted", type=int, default=1500, help="planted documents to train on")
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(1)
    found = {**on_reviews(options), **on_planted(options)}
    if options.out:
        options.out.write_text(json.dumps(found, indent=2) + "\n")


def on_reviews(options: argparse.Namespace) -> dict[str, object]:
    """Judge true, random and foreign explanations of held-out reviews."""
    table = pyarrow.parquet.read_table(DATA, columns=["text", "label"]).to_pylist()
    random.Random(0).shuffle(table)
    held_out, training = table[: len(table) // 10], table[len(table) // 10 :][: options.training]
    classifier = DocumentClassifier(NETWORK, training=TRAINING, device="cpu")
    classifier.fit([row["text"] for row in training], [row["label"] for row in training])
    texts = [row["text"] for row in held_out[: options.documents]]
    right = classifier.predict(texts) == np.array([row["label"] for row in held_out])[: len(texts)]
    print(f"accuracy on {len(texts)} held-out reviews: {right.mean():.3f}")
    found = {}
    for _, answers in answers_about(classifier, texts):
        fresh = with_fresh_weights(answers)
        for name in RANKING_METHODS:
            made = METHODS[name](answers)
            rows = {
                "own": made,
                "random": [shuffled(one, seed) for seed, one in enumerate(made)],
                "fresh weights": METHODS[name](fresh),
            }
            for kind, explanations in rows.items():
                found.setdefault((name, kind), []).extend(judged(answers, explanations))
    return {f"{name}, {kind}": summary(name, kind, rows) for (name, kind), rows in found.items()}


def on_planted(options: argparse.Namespace) -> dict[str, object]:
    """Judge the exact answer about planted documents against the same weights shuffled."""
    rng, sentences = random.Random(0), real_sentences(1000)
    training = [document(rng, sentences, test=False) for _ in range(options.planted)]
    classifier = DocumentClassifier(NETWORK, training=replace(TRAINING, epochs=6), device="cpu")
    classifier.fit([text for text, _, _ in training], [label for _, label, _ in training])
    planted = {
        text: cue
        for text, _, cue in (document(rng, sentences, test=False) for _ in range(options.documents))
    }
    margins, truth = [], []
    for _, answers in answers_about(classifier, list(planted)):
        made = METHODS["attention"](answers)
        correct = [pointed_at(one, planted[one.source]) for one in made]
        wrong = [shuffled(one, seed) for seed, one in enumerate(correct)]
        for label, explanations in ((1, correct), (0, wrong)):
            margins += [margin for margin, _, _ in judged(answers, explanations)]
            truth += [label] * len(explanations)
    area = float(roc_auc_score(truth, margins))
    print(f"planted evidence: AUC of correct against shuffled {area:.4f}, {len(planted)} documents")
    return {"planted": {"auc": area, "documents": len(planted)}}


def with_fresh_weights(answers: Answers) -> Answers:
    """The same questions to a copy of the network that has learned nothing."""
    torch.manual_seed(1)
    size = answers.model.embedding.num_embeddings
    model = NETWORK.build(vocab_size=size, label_count=len(answers.classes)).eval()
    with torch.no_grad():
        return replace(answers, model=model, output=model(answers.batch))


def shuffled(explanation: Explanation, seed: int) -> Explanation:
    """The same weights on other words and sentences."""
    draw = random.Random(seed)

    def moved(weights: Weights) -> Weights:
        order = draw.sample(range(len(weights)), len(weights))
        values = tuple(weights.values[place] for place in order)
        scores = weights.scores and tuple(weights.scores[place] for place in order)
        return replace(weights, values=values, scores=scores, hops=())

    decisions = [
        replace(decision, weights=tuple(map(moved, decision.weights)))
        for decision in explanation.decisions
    ]
    return replace(explanation, decisions=tuple(decisions))


def pointed_at(explanation: Explanation, sentence: str) -> Explanation:
    """All weight on one sentence and its words."""
    start = explanation.source.index(sentence)
    end = start + len(sentence)

    def pointed(weights: Weights) -> Weights:
        inside = [float(start <= piece[0] and piece[1] <= end) for piece in weights.pieces]
        return Weights.from_scores(weights.name, weights.pieces, inside, unit="")

    decisions = [
        replace(decision, weights=tuple(map(pointed, decision.weights)))
        for decision in explanation.decisions
    ]
    return replace(explanation, decisions=tuple(decisions))


def judged(answers: Answers, explanations: list[Explanation]) -> list[tuple[float, str, float]]:
    """The margin, the verdict and the comprehensiveness of words of every explanation."""
    receipts = [one.receipt for one in with_receipts(answers, explanations)]
    return [
        (receipt.margin, receipt.verdict, receipt.measure("comprehensiveness", "word").value)
        for receipt in receipts
    ]


def summary(name: str, kind: str, rows: list[tuple[float, str, float]]) -> dict[str, float]:
    """Print and return how one kind of explanation fared."""
    margins = np.array([margin for margin, _, _ in rows])
    verdicts = [verdict for _, verdict, _ in rows]
    low, half, high = np.percentile(margins, [10, 50, 90])
    found = {
        "documents": len(rows),
        "chance": verdicts.count(CHANCE) / len(rows),
        "faithful": verdicts.count(FAITHFUL) / len(rows),
        "margin 10 %": low,
        "margin 50 %": half,
        "margin 90 %": high,
        "comprehensiveness": float(np.mean([loss for _, _, loss in rows])),
    }
    print(f"{name:21} {kind:14}", "  ".join(f"{k} {v:.3g}" for k, v in found.items()), flush=True)
    return found


if __name__ == "__main__":
    main()
