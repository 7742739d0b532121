"""How the thresholds of a receipt's verdict were chosen, and whether they hold.

    python benchmarks/verdict.py [--training 4000] [--documents 150] [--out results/verdict.json]
    python benchmarks/verdict.py --split test

Trains a small HAN on part of IMDB's training reviews and looks at reviews of the tenth that is held
out, by which the thresholds were chosen; with ``--split test`` at test reviews, to see whether they
hold. These explanations of every document are judged: each method's, a
random ranking, the method on copies of the network with fresh weights; and on planted evidence
the right answer against the same weights shuffled. Needs ../shared/data/imdb/train.parquet.
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
from planted import LABELS, cue_sentence, real_sentences
from sklearn.metrics import roc_auc_score

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.estimators.explaining import answers_about
from regard.explain.answers import Answers
from regard.explain.methods import METHODS, RANKING_METHODS
from regard.explain.receipts import inquiries
from regard.explain.verdicts import CHANCE, FAITHFUL, WEAK
from regard.records.explanation import Explanation
from regard.records.receipt import Receipt
from regard.records.weights import Weights

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb" / "train.parquet"
NETWORK = HANConfig()
TRAINING = TrainingConfig(epochs=3)
FRESH_SEEDS = (1, 2, 3)
OPEN = "open"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--training", type=int, default=4000, help="reviews to train on")
    parser.add_argument("--documents", type=int, default=150, help="held-out reviews to judge")
    parser.add_argument("--planted", type=int, default=1500, help="planted documents to train on")
    parser.add_argument("--split", choices=["held-out", "test"], default="held-out")
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
    if options.split == "test":
        held_out = pyarrow.parquet.read_table(DATA.with_name("test.parquet")).to_pylist()
        random.Random(0).shuffle(held_out)
    judged = held_out[: options.documents]
    texts = [row["text"] for row in judged]
    right = classifier.predict(texts) == np.array([row["label"] for row in judged])
    print(f"accuracy on {len(texts)} {options.split} reviews: {right.mean():.3f}", flush=True)
    found: dict[tuple[str, str], list[Receipt]] = {}
    for text in texts:
        ((_, answers),) = answers_about(classifier, [text])
        (inquiry,) = inquiries(answers)
        for name in RANKING_METHODS:
            (own,) = METHODS[name](answers)
            kinds = {"own": own, "random": shuffled(own, len(found))}
            for seed in FRESH_SEEDS:
                (kinds[f"fresh weights {seed}"],) = METHODS[name](with_fresh_weights(answers, seed))
            for kind, made in kinds.items():
                found.setdefault((name, kind), []).append(inquiry.receipt(made.decisions[0]))
    return {f"{name}, {kind}": summary(name, kind, rows) for (name, kind), rows in found.items()}


def on_planted(options: argparse.Namespace) -> dict[str, object]:
    """Judge the right answer about planted documents against the same weights shuffled."""
    rng, sentences = random.Random(0), real_sentences(1000)
    training = [planted(rng, sentences) for _ in range(options.planted)]
    classifier = DocumentClassifier(NETWORK, training=replace(TRAINING, epochs=8), device="cpu")
    classifier.fit([text for text, _, _ in training], [label for _, label, _ in training])
    margins: list[float] = []
    truth: list[bool] = []
    while len(margins) < 2 * options.documents:
        text, label, cue = planted(rng, sentences)
        ((_, answers),) = answers_about(classifier, [text])
        (inquiry,) = inquiries(answers)
        (made,) = METHODS["attention"](answers)
        if label == OPEN or made.label != label:
            continue  # where the model did not use the cue, pointing at it is not right
        right = pointed_at(made, cue)
        for one in (right, shuffled(right, len(margins))):
            margins.append(inquiry.receipt(one.decisions[0]).margin)
            truth.append(one is right)
    area = float(roc_auc_score(truth, margins))
    print(
        f"planted evidence, {options.documents} documents: AUC of right against shuffled {area:.4f}"
    )
    return {"planted": {"auc": area, "documents": options.documents}}


def planted(rng: random.Random, sentences: list[str]) -> tuple[str, str, str]:
    """Real sentences with a cue among them, its label, and the cue; a third have none.

    With two labels alone a model needs the cue of one only, and takes its absence for the other.
    """
    label = rng.choice([*LABELS, OPEN])
    body = rng.sample(sentences, 20)
    if label == OPEN:
        return " ".join(body), label, ""
    cue = cue_sentence(rng, LABELS[label], test=False)
    body.insert(rng.randrange(21), cue)
    return " ".join(body), label, cue


def with_fresh_weights(answers: Answers, seed: int) -> Answers:
    """The same questions to a copy of the network that has learned nothing."""
    torch.manual_seed(seed)
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


def summary(name: str, kind: str, receipts: list[Receipt]) -> dict[str, float]:
    """Print and return how one kind of explanation fared."""
    verdicts = [receipt.verdict for receipt in receipts]
    margins = np.percentile([receipt.margin for receipt in receipts], [5, 50, 95])
    losses = [receipt.measure("comprehensiveness", "word").value for receipt in receipts]
    found = {
        verdict: verdicts.count(verdict) / len(receipts) for verdict in (CHANCE, WEAK, FAITHFUL)
    }
    found |= {f"margin, {part} %": float(m) for part, m in zip((5, 50, 95), margins, strict=True)}
    found |= {"comprehensiveness of words": float(np.mean(losses)), "documents": len(receipts)}
    said = "  ".join(f"{value:7.3f}" for value in found.values())
    print(f"{name:21} {kind:16} {said}", flush=True)
    return found


if __name__ == "__main__":
    main()
