"""Does attention agree with gradients and with leaving words out? Beside Jain and Wallace's tables.

    python benchmarks/trust.py test.parquet recurrent=model/ glass-box=other/ [--limit 200]

Takes saved models, each by a name (a recurrent reader and ``encoder=none`` make their comparison),
and a file of texts such as IMDB's test reviews. Kendall's tau, mean and standard deviation over
documents, by their protocol: sizes, gradients with the attention held, total variation. Of a model
with n-grams its network is measured alone too: attention is in the network. Writes
benchmarks/results/trust.json, from which the docs have them beside those of the paper; with
--name trust-seeds, of models "seed 0", "seed 1" and so on, how much they differ by chance.
"""

from __future__ import annotations

import argparse
import copy
from pathlib import Path

import numpy as np
import torch
from measuring import provenance, save

from regard import DocumentClassifier
from regard.audit.faithfulness import gradient_sizes, measure_agreement, movements
from regard.audit.run import sample
from regard.data.columns import Columns
from regard.data.readers import read_documents
from regard.explain import attention
from regard.explain.receipts import comprehensiveness, open_inquiries, ranked_levels
from regard.models.wide import Wide
from regard.text.document import Document

PAIRS = ("attention, gradient", "attention, leave-one-out", "gradient, leave-one-out")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("models", nargs="+", help="name=folder")
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--name", default="trust", help="of the file of results")
    options = parser.parse_args()
    torch.set_num_threads(1)
    documents = sample(read_documents(options.data, Columns()), options.limit, options.seed)
    found = {}
    for given in options.models:
        name, _, folder = given.partition("=")
        classifier = DocumentClassifier.load(folder, device="cpu")
        found[name] = measure(classifier, documents)
        if isinstance(classifier.model_, Wide):
            alone = copy.copy(classifier)
            alone.model_ = classifier.model_.network
            found[f"{name}, its network alone"] = measure(alone, documents)
    about = {**provenance((options.seed,)), "documents": len(documents)}
    save(options.name, {**about, "models": found})


def measure(classifier: DocumentClassifier, documents: list[Document]) -> dict[str, float]:
    """The taus of a model, and how often it is right about the same documents."""
    texts = [document.text for document in documents]
    accuracy = classifier.score(texts, [document.label for document in documents])
    found = {"accuracy": accuracy, **taus(classifier, texts)}
    print(found, flush=True)
    return found


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
        (inquiry,), (slopes,) = open_inquiries(answers), gradient_sizes(answers)
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


if __name__ == "__main__":
    main()
