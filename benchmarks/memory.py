"""Peak memory of a training step on one huge document: python benchmarks/memory.py

200,000 words with one sentence of 2,000, the paper's sizes, through the public settings: vocabulary
of 20,000 words, Adam, clipping. Memory is the resident peak of the whole process, Python and torch
included, which is printed before the step too.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from measuring import peak_bytes, provenance, save

from regard import HANConfig, TrainingConfig
from regard.data.batch import Batch
from regard.kernels import describe
from regard.ragged import Ragged
from regard.tasks.classify import ClassificationLoss
from regard.training.loop import train


class Once:
    """One batch, a given number of times."""

    def __init__(self, batch: Batch, times: int) -> None:
        self.batch, self.times = batch, times

    def count(self, epoch: int) -> int:
        return self.times

    def read(self, epoch: int, start: int = 0):
        return iter([self.batch] * (self.times - start))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--words", type=int, default=200_000)
    parser.add_argument("--longest", type=int, default=2_000)
    parser.add_argument("--vocabulary", type=int, default=20_000)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    random = np.random.default_rng(0)
    lengths = [options.longest, *[20] * ((options.words - options.longest) // 20)]
    ids = 2 + random.zipf(1.2, sum(lengths)) % (options.vocabulary - 2)
    rows = Ragged(torch.from_numpy(ids.astype(np.int64)), torch.tensor(lengths))
    batch = Batch(rows, torch.tensor([len(lengths)]), labels=torch.tensor([1]))
    model = HANConfig(hidden_size=50, sentence_dropout=0.0).build(
        vocab_size=options.vocabulary, label_count=2
    )
    before = peak_bytes() / 2**20
    for _ in train(
        model, Once(batch, 2), loss=ClassificationLoss(), config=TrainingConfig(epochs=1)
    ):
        pass
    print(f"{sum(lengths):,} words, longest sentence {options.longest:,}")
    print(f"| peak memory | MB |\n|---|---|\n| whole process | {peak_bytes() / 2**20:,.0f} |")
    print(f"| before the step | {before:,.0f} |")
    result = {**provenance(), "kernels": describe(), "words": sum(lengths)}
    save("memory", result | {"peak_mb": round(peak_bytes() / 2**20), "before_mb": round(before)})


if __name__ == "__main__":
    main()
