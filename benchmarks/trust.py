"""Does attention agree with gradients and with leaving words out? Beside Jain and Wallace's tables.

    python benchmarks/trust.py data.parquet recurrent=model/ glass-box=other/ [--limit 200]

Takes saved models, each by a name (a recurrent reader and ``encoder=none`` make their comparison),
and a file of texts such as IMDB's test reviews. Prints Kendall's tau, mean and standard deviation
over documents, by their protocol: sizes, gradients with the attention held, total variation.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from regard import DocumentClassifier
from regard.audit.faithfulness import gradient_sizes, measure_agreement, movements
from regard.audit.run import sample
from regard.data.columns import Columns
from regard.data.readers import read_documents
from regard.explain import attention
from regard.explain.receipts import comprehensiveness, inquiries, ranked_levels

PAIRS = ("attention, gradient", "attention, leave-one-out", "gradient, leave-one-out")
PUBLISHED = {
    "Jain and Wallace, BiLSTM": ("0.44 ± 0.06", "0.34 ± 0.07", "0.52 ± 0.10"),
    "Jain and Wallace, average encoder": ("0.67 ± 0.05", "0.58 ± 0.10", "0.64 ± 0.19"),
}
"""Their figures for IMDB."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("models", nargs="+", help="name=folder")
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    documents = sample(read_documents(options.data, Columns()), options.limit, options.seed)
    found = {}
    for given in options.models:
        name, _, folder = given.partition("=")
        classifier = DocumentClassifier.load(folder, device="cpu")
        texts = [document.text for document in documents]
        accuracy = classifier.score(texts, [document.label for document in documents])
        found[name] = {"accuracy": accuracy, **taus(classifier, texts)}
        print(f"{name}: accuracy {accuracy:.3f}", flush=True)
    print("\n".join(table(found)))
    if options.out:
        whole = {"documents": len(documents), "models": found}
        options.out.write_text(json.dumps(whole, indent=2) + "\n")


def taus(classifier: DocumentClassifier, texts: list[str]) -> dict[str, float]:
    """Return mean and standard deviation of each tau, and attention's comprehensiveness."""
    values: dict[str, list[float]] = {pair: [] for pair in PAIRS}
    lost: list[float] = []
    for text in texts:
        ((_, answers),) = classifier.fitted_.answers([text])
        explained = attention.explain(answers)
        lost += comprehensiveness(answers, explained).tolist()
        words = ranked_levels(explained[0].decisions[0]).get("word")
        if words is None:
            continue
        (inquiry,), (slopes,) = inquiries(answers), gradient_sizes(answers)
        pieces, number = inquiry.pieces("word"), answers.chosen[0][0]
        moved = movements(pieces.drops, multilabel=answers.multilabel, number=number)
        weights = np.array(words.amounts)
        both = (
            measure_agreement(weights, slopes),
            measure_agreement(weights[pieces.places], moved),
            measure_agreement(slopes[pieces.places], moved),
        )
        for pair, one in zip(PAIRS, both, strict=True):
            if one is not None:
                values[pair].append(one.value)
    found = {"comprehensiveness of attention": float(np.mean(lost))}
    for pair, some in values.items():
        found |= {pair: float(np.mean(some)), f"{pair}, sd": float(np.std(some))}
    return found


def table(found: dict[str, dict[str, float]]) -> list[str]:
    heads = ["model", *(f"tau({pair})" for pair in PAIRS)]
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for name, one in found.items():
        cells = [f"{one[pair]:.2f} ± {one[f'{pair}, sd']:.2f}" for pair in PAIRS]
        lines.append(f"| ours, {name} | {' | '.join(cells)} |")
    return [*lines, *(f"| {name} | {' | '.join(row)} |" for name, row in PUBLISHED.items())]


if __name__ == "__main__":
    main()
