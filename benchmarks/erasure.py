"""All sentence erasures of a long document, against reading every shortened document anew.

    python benchmarks/erasure.py [--sentences 1000] [--words 21] [--samples 5000]

A HAN of the paper's size with fresh weights (its answers do not matter for time) is asked about a
document without each of its sentences: through kept sentence vectors; by one prediction from ids
over all shortened documents, in the batch size that suits it best; and by a LIME-style sampler,
whose linear fit is not even counted. All three use the same kernels on one core. Seconds are
those of the CPU, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from regard import HANConfig
from regard.data.batch import Batch
from regard.explain.erasing import Eraser
from regard.explain.lime import sampled
from regard.kernels import cpu
from regard.models.base import Model
from regard.ragged import Ragged

VOCABULARY = 20_000
BATCH_DOCUMENTS = (1, 2, 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--words", type=int, default=21, help="in each sentence, as in IMDB")
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(cpu.describe())
    torch.manual_seed(0)
    model = HANConfig().build(vocab_size=VOCABULARY, label_count=2).eval()
    ids = document(options.sentences, options.words)
    erasing, exact = timed(lambda: Eraser(model, ids).without_each_sentence(), repeats=3)
    print(f"kept sentence vectors      {erasing:8.3f} s", flush=True)
    predicting, answers = predicted(model, ids)
    print(
        f"prediction from ids        {predicting:8.3f} s  {predicting / erasing:6.1f} x", flush=True
    )
    gap = float((exact - answers).abs().max())
    kept = sampled(len(ids.values), options.samples)
    sampling, _ = timed(lambda: Eraser(model, ids).reread(kept), repeats=1)
    print(
        f"LIME, {options.samples:,} samples        {sampling:8.3f} s  {sampling / erasing:6.1f} x"
    )
    print(f"largest difference of a logit between the first two: {gap:.1e}")
    if options.out:
        found = {
            "sentences": options.sentences,
            "words": options.words,
            "samples": options.samples,
            "kept_seconds": erasing,
            "prediction_seconds": predicting,
            "lime_seconds": sampling,
            "largest_difference": gap,
        }
        options.out.write_text(json.dumps(found, indent=2) + "\n")


def document(sentences: int, words: int) -> Ragged:
    """A document of random words, common ones more often."""
    draw = np.random.default_rng(0)
    ids = 2 + (draw.pareto(1.1, sentences * words) * 5).astype(np.int64) % (VOCABULARY - 2)
    return Ragged(torch.from_numpy(ids), torch.full((sentences,), words))


def predicted(model: Model, ids: Ragged) -> tuple[float, Tensor]:
    """Read every shortened document; making the batches is not counted."""
    rows, count = ids.rows(), len(ids)
    best, answers = np.inf, torch.zeros(0)
    for size in BATCH_DOCUMENTS:
        seconds, parts = 0.0, []
        for first in range(0, count, size):
            gone = range(first, min(first + size, count))
            kept = [row for place in gone for row in (*rows[:place], *rows[place + 1 :])]
            batch = Batch(Ragged.from_rows(kept), torch.full((len(gone),), count - 1))
            spent, logits = timed(lambda batch=batch: answered(model, batch), repeats=1)
            seconds += spent
            parts.append(logits)
        if seconds < best:
            best, answers = seconds, torch.cat(parts)
    return best, answers


def answered(model: Model, batch: Batch) -> Tensor:
    with torch.inference_mode():
        return model(batch).logits.double()


def timed(work: Callable[[], Tensor], *, repeats: int) -> tuple[float, Tensor]:
    """The shortest time of several, and the result."""
    best = np.inf
    for _ in range(repeats):
        began = time.process_time()
        result = work()
        best = min(best, time.process_time() - began)
    return best, result


if __name__ == "__main__":
    main()
