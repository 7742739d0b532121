"""Ours against what people use: one process, the same documents, ratios first.

    python benchmarks/speed.py [--rounds 3] [--threads 1] [--quick]      (make bench)

Ours is measured through the public ``fit`` and ``predict`` with the network that the peers have
and everything else at its default, dropout on; no sentences are left out, which would save time.
It must run in C, or this ends with an error. The peers are in benchmarks/peers.py. One thread:
processor time; more: time on the clock. Medians of rounds in which all take turns. Needs
../shared/data/imdb; MiniLM needs the extra ``bench``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence

import pyarrow.parquet
import torch
from measuring import IMDB, clock, in_turns, machine, provenance, save
from peers import MiniLM, PackedHAN, PaddedHAN, tfidf
from torch import nn

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.data.readers import read_texts
from regard.estimators.fitting import FitOptions
from regard.kernels import describe
from regard.records.history import Epoch
from regard.text.encode import encode
from regard.training.loop import Step
from regard.training.observers import Observer

BATCH = 64
SAME = {"weighing": "states", "sentence_dropout": 0.0}  # the network of the paper, every sentence
PAIRS = (  # what, ours, theirs, must, aim
    ("training step", "train ours", "train packed", 6, 10),
    ("training step", "train ours", "train padded", 25, 60),
    ("prediction from ids", "ids ours", "ids packed", 6, 9),
    ("prediction from raw text", "raw ours", "raw tf-idf 1-2-grams", 1.5, 2.5),
    ("prediction from raw text", "raw ours", "raw tf-idf 1-2-grams, min_df 2", None, None),
    ("prediction from raw text", "raw ours", "raw tf-idf words", None, None),
    ("prediction from raw text", "raw ours", "raw MiniLM", 150, 300),
    ("training step, hidden 128", "train ours 128", "train packed 128", 3, 5),
    ("training step, hidden 256", "train ours 256", "train packed 256", 3, 5),
)


class StepTimes(Observer):
    """Measures the steps of a training; the first five warm up."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.documents: list[int] = []
        self.tick = clock()

    def on_step(self, step: Step) -> None:
        self.times.append(self.tick())
        self.documents.append(step.documents)

    def on_epoch(self, epoch: Epoch) -> None: ...

    def rate(self) -> float:
        return sum(self.documents[5:]) / (self.times[-1] - self.times[4])


class Bench:
    """The same documents for everyone."""

    def __init__(self, texts: Sequence[str], labels: Sequence[int], few: int) -> None:
        self.all_texts, self.all_labels = texts, labels
        step = max(1, len(texts) // few)
        self.texts, self.labels = list(texts[::step]), list(labels[::step])
        self.ours = {size: self._fitted(size) for size in (50,)}
        self.ids = self._documents()
        self.packed = {size: self._peer(PackedHAN, size) for size in (50, 128, 256)}
        self.padded = self._peer(PaddedHAN, 50)
        self.tick = clock()

    def network(self) -> dict[str, Callable[[], float]]:
        """Training, and prediction from ids, in documents a second."""
        half = self.ids[: 6 * BATCH]
        return {
            "train ours": lambda: self._train_ours(50),
            "train packed": lambda: self._train(self.packed[50], self.ids),
            "train padded": lambda: self._train(self.padded, self.ids[: 3 * BATCH]),
            "ids ours": self._ids_ours,
            "ids packed": lambda: self._ids_peer(self.packed[50]),
            "train ours 128": lambda: self._train_ours(128),
            "train packed 128": lambda: self._train(self.packed[128], half),
            "train ours 256": lambda: self._train_ours(256),
            "train packed 256": lambda: self._train(self.packed[256], half),
        }

    def raw(self, *, transformer: bool) -> dict[str, Callable[[], float]]:
        """Prediction from raw text, in documents a second."""
        ours, few = self.ours[50], self.texts[::16]
        peers = {
            "tf-idf words": (1, 1),
            "tf-idf 1-2-grams": (2, 1),
            "tf-idf 1-2-grams, min_df 2": (2, 2),
        }
        entries = {"raw ours": lambda: self._rate(lambda: ours.predict(self.texts), self.texts)}
        for name, (ngrams, min_df) in peers.items():
            peer = tfidf(self.all_texts, self.all_labels, ngrams=ngrams, min_df=min_df)
            entries[f"raw {name}"] = lambda peer=peer: self._rate(
                lambda: peer.predict(self.texts), self.texts
            )
        entries["text alone"] = lambda: self._rate(
            lambda: encode(self.texts, ours.vocab_, ours.text), self.texts
        )
        if transformer:
            heavy = MiniLM(self.texts)
            entries["raw MiniLM"] = lambda: self._rate(lambda: heavy.predict(few), few)
        return entries

    def _fitted(self, size: int) -> DocumentClassifier:
        print(f"fitting ours on {len(self.all_texts):,} documents", flush=True)
        training = TrainingConfig(epochs=1)
        classifier = DocumentClassifier(
            HANConfig(hidden_size=size, **SAME),
            training=training,
            validation=0.0,
            device="cpu",
        )
        return classifier.fit(self.all_texts, self.all_labels)

    def _train_ours(self, size: int) -> float:
        times = StepTimes()
        fresh = DocumentClassifier(
            HANConfig(hidden_size=size, **SAME),
            training=TrainingConfig(epochs=1),
            validation=0.0,
            device="cpu",
        )
        options = FitOptions(observers=(times,))
        fresh.fit_documents(read_texts(self.texts, self.labels), options=options)
        return times.rate()

    def _train(self, model: nn.Module, ids: list[list[list[int]]]) -> float:
        model.train()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
        began = 0.0
        for first in range(0, len(ids) - BATCH + 1, BATCH):
            if first == BATCH:  # the first batch warms up
                began = self.tick()
            logits = model(ids[first : first + BATCH])
            labels = torch.tensor(self.labels[first : first + BATCH])
            optimizer.zero_grad()
            nn.functional.cross_entropy(logits, labels).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        return (len(ids) // BATCH - 1) * BATCH / (self.tick() - began)

    def _ids_ours(self) -> float:
        ours = self.ours[50]
        scanned = ours.reader_.scan(self.texts)
        return self._rate(lambda: ours.reader_.answer(ours.model_, scanned), self.texts)

    def _ids_peer(self, model: nn.Module) -> float:
        model.eval()
        order = sorted(self.ids, key=lambda document: sum(map(len, document)))
        parts = [order[first : first + BATCH] for first in range(0, len(order), BATCH)]
        with torch.inference_mode():
            return self._rate(lambda: [model(part) for part in parts], self.texts)

    def _rate(self, run: Callable[[], object], texts: Sequence[str]) -> float:
        began = self.tick()
        run()
        return len(texts) / (self.tick() - began)

    def _peer(self, kind: type[PackedHAN], size: int) -> PackedHAN:
        torch.manual_seed(0)
        return kind(len(self._small_vocab), 2, size)

    def _documents(self) -> list[list[list[int]]]:
        """Ids sentence by sentence, of a vocabulary as large as ours has in training."""
        trained = DocumentClassifier(
            HANConfig(hidden_size=2), training=TrainingConfig(epochs=1), validation=0.0
        ).fit(self.texts, self.labels)
        self._small_vocab = trained.vocab_
        found = encode(self.texts, trained.vocab_, trained.text)
        flat = torch.from_numpy(found.ids).split(found.sentence_lengths.tolist())
        rows = iter([row.tolist() for row in flat])
        return [[next(rows) for _ in range(count)] for count in found.sentences.tolist()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--documents", type=int, default=1536, help="that are measured with")
    parser.add_argument(
        "--quick", action="store_true", help="fewer documents, no MiniLM, nothing written"
    )
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(options.threads)
    paths = describe()
    for name in ("cpu_kernels", "text_scanner"):
        if "not used" in paths[name]:
            sys.exit(f"ours would not run in C: {paths[name]}")
    table = pyarrow.parquet.read_table(IMDB / "train.parquet").to_pydict()
    texts, labels = table["text"], table["label"]
    if options.quick:
        texts, labels = texts[::10], labels[::10]
    bench = Bench(texts, labels, options.documents // (4 if options.quick else 1))
    entries = bench.network() | bench.raw(transformer=not options.quick)
    rates = in_turns(entries, options.rounds)
    result = report(rates, machine() | paths, bench)
    if not options.quick:
        save(f"speed-{options.threads}-threads", provenance() | result)


def report(rates: dict[str, float], about: dict[str, object], bench: Bench) -> dict[str, object]:
    """Print the ratios first, then the documents a second they come from; return both."""
    rows = []
    print("\n| what | ours / theirs | ratio | must | aim |\n|---|---|---|---|---|")
    for what, ours, theirs, must, aim in PAIRS:
        if theirs in rates:
            ratio = rates[ours] / rates[theirs]
            rows.append({"what": what, "peer": theirs, "ratio": ratio, "must": must, "aim": aim})
            print(f"| {what} | {ours} / {theirs} | {ratio:.1f} | {must or ''} | {aim or ''} |")
    share = rates["raw ours"] / rates["text alone"]
    tokens = sum(len(row) for document in bench.ids for row in document) / len(bench.ids)
    # What is left to do for a word when it is projected once, in prediction and in training.
    predicting, learning = (
        rates[name] * tokens * operations / 1e9
        for name, operations in (("ids ours", 55e3), ("train ours", 237e3))
    )
    print(f"| text processing, share of prediction | | {share:.1%} | 20 % | 5 % |")
    print(
        f"\nprediction from ids: {predicting:.0f}, training: {learning:.0f} GFLOP/s of "
        f"{about['gemm_gflops']:.0f} in torch's GEMM"
    )
    print("\n| documents/s | |\n|---|---|")
    for name, rate in rates.items():
        print(f"| {name} | {rate:,.0f} |")
    print("\n" + "\n".join(f"{name}: {value}" for name, value in about.items()))
    return {"machine": about, "ratios": rows, "text_share": share, "documents_per_second": rates}


if __name__ == "__main__":
    main()
