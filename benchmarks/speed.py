"""Our HAN against the ones people write today, and against TF-IDF: one process, one thread, ratios.

    python benchmarks/speed.py [--documents 1024] [--rounds 5] [--threads 1]

Ours is measured through the public ``fit`` and ``predict`` at their defaults, dropout on, with the
network at the paper's size; the peers (benchmarks/peers.py) train on the same documents in batches
of 64 with Adam and clipping. Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet
import torch
from peers import PackedHAN, PaddedHAN
from torch import nn

from regard import DocumentClassifier, HANConfig, TrainingConfig, tokenize
from regard.kernels import describe
from regard.records.history import Epoch
from regard.training.loop import Step

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb" / "train.parquet"
BATCH = 64


class StepTimes:
    """Collects how long the steps of a training took."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self.documents: list[int] = []

    def on_step(self, step: Step) -> None:
        self.seconds.append(step.seconds)
        self.documents.append(step.documents)

    def on_epoch(self, epoch: Epoch) -> None: ...

    def rate(self) -> float:
        """Documents a second, without the first step."""
        return sum(self.documents[1:]) / sum(self.seconds[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1024)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--hidden-size", type=int, default=50)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(options.threads)
    table = pyarrow.parquet.read_table(DATA).to_pydict()
    step = len(table["text"]) // options.documents
    texts, labels = table["text"][::step], table["label"][::step]
    print(f"{platform.processor() or platform.machine()}, torch {torch.__version__}, ", end="")
    print(f"{options.threads} threads, {len(texts)} documents, {describe()['cpu_kernels']}")
    measured = Bench(texts, labels, options.hidden_size)
    rates: dict[str, list[float]] = {}
    for _ in range(options.rounds):
        for name, measure in measured.entries().items():
            rates.setdefault(name, []).append(measure())
    report({name: statistics.median(values) for name, values in rates.items()})


class Bench:
    """The same documents for everyone."""

    def __init__(self, texts: Sequence[str], labels: Sequence[int], hidden_size: int) -> None:
        self.texts, self.labels = list(texts), list(labels)
        self.hidden_size = hidden_size
        config = HANConfig(hidden_size=hidden_size)
        self.ours = DocumentClassifier(config, training=TrainingConfig(epochs=1), validation=0.0)
        self.ours.fit(self.texts, self.labels)
        self.ids = [self._ids(text) for text in self.texts]
        size = len(self.ours.vocab_)
        self.packed = PackedHAN(size, 2, hidden_size)
        self.padded = PaddedHAN(size, 2, hidden_size)
        self.tfidf = {ngrams: self._tfidf(ngrams) for ngrams in (1, 2)}

    def entries(self) -> dict[str, Callable[[], float]]:
        """What is measured, each giving documents a second."""
        return {
            "train ours": self._train_ours,
            "train packed": lambda: self._train(self.packed, self.ids),
            "train padded": lambda: self._train(self.padded, self.ids[: 4 * BATCH]),
            "ids ours": self._ids_ours,
            "ids packed": lambda: self._ids_peer(self.packed),
            "raw ours": lambda: self._rate(lambda: self.ours.predict(self.texts)),
            "raw tfidf-1": lambda: self._rate(lambda: self.tfidf[1].predict(self.texts)),
            "raw tfidf-2": lambda: self._rate(lambda: self.tfidf[2].predict(self.texts)),
        }

    def _train_ours(self) -> float:
        from regard.data.readers import read_texts
        from regard.estimators.preparing import FitOptions

        times = StepTimes()
        fresh = DocumentClassifier(self.ours.network, training=self.ours.training, validation=0.0)
        options = FitOptions(observers=(times,))
        fresh.fit_documents(read_texts(self.texts, self.labels), options=options)
        return times.rate()

    def _train(self, model: nn.Module, ids: list[list[list[int]]]) -> float:
        model.train()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        seconds = []
        for first in range(0, len(ids), BATCH):
            began = time.perf_counter()
            logits = model(ids[first : first + BATCH])
            loss = nn.functional.cross_entropy(
                logits, torch.tensor(self.labels[first : first + BATCH])
            )
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            seconds.append(time.perf_counter() - began)
        return (len(ids) - BATCH) / sum(seconds[1:])

    def _ids_ours(self) -> float:
        batches = [read.batch for read in self.ours.reader_.batches(self.texts)]
        self.ours.model_.eval()
        with torch.inference_mode():
            return self._rate(lambda: [self.ours.model_(batch) for batch in batches])

    def _ids_peer(self, model: nn.Module) -> float:
        model.eval()
        order = sorted(self.ids, key=lambda document: sum(map(len, document)))
        parts = [order[first : first + BATCH] for first in range(0, len(order), BATCH)]
        with torch.inference_mode():
            return self._rate(lambda: [model(part) for part in parts])

    def _rate(self, run: Callable[[], object]) -> float:
        began = time.perf_counter()
        run()
        return len(self.texts) / (time.perf_counter() - began)

    def _ids(self, text: str) -> list[list[int]]:
        tokens = tokenize(text)
        ids = self.ours.vocab_.ids(tokens.words()).tolist()
        ends = tokens.per_sentence.cumsum().tolist()
        return [
            ids[end - count : end]
            for end, count in zip(ends, tokens.per_sentence.tolist(), strict=True)
        ]

    def _tfidf(self, ngrams: int) -> object:
        from sklearn.feature_extraction.text import TfidfVectorizer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline

        vectorizer = TfidfVectorizer(ngram_range=(1, ngrams), sublinear_tf=True, min_df=2)
        return make_pipeline(vectorizer, LogisticRegression(max_iter=200)).fit(
            self.texts, self.labels
        )


def report(rates: dict[str, float]) -> None:
    """Print the ratios first, then the documents a second they come from."""
    pairs = [
        ("training step", "train ours", "train packed"),
        ("training step", "train ours", "train padded"),
        ("prediction from ids", "ids ours", "ids packed"),
        ("prediction from raw text", "raw ours", "raw tfidf-1"),
        ("prediction from raw text", "raw ours", "raw tfidf-2"),
    ]
    print("| what | ours / theirs | ratio |\n|---|---|---|")
    for what, ours, theirs in pairs:
        print(f"| {what} | {ours} / {theirs} | {rates[ours] / rates[theirs]:.1f} |")
    print("\n| documents/s | |\n|---|---|")
    for name, rate in rates.items():
        print(f"| {name} | {rate:,.0f} |")


if __name__ == "__main__":
    main()
