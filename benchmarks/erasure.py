"""All sentence erasures of a long document, against reading every shortened document anew.

    python benchmarks/erasure.py [--sentences 1000] [--words 21] [--samples 5000]

A HAN of the paper's size with fresh weights (its answers do not matter for time) is asked about a
document without each of its sentences: through kept sentence vectors; by one prediction from ids
over all shortened documents, in the batch size that suits it best; and by a LIME-style sampler, in
the batch size that suits it best by a trial with a tenth of the samples, whose linear fit is not
even counted. All three use the same kernels on one core; making batches is not counted for the last
two. Seconds are those of the CPU, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from measuring import provenance, save
from torch import Tensor

from regard import HANConfig
from regard.data.batch import Batch
from regard.explain.erasing import Eraser, Mask
from regard.explain.lime import sampled
from regard.kernels import cpu
from regard.models.base import Model
from regard.ragged import Ragged

VOCABULARY = 20_000
BATCH_DOCUMENTS = (1, 2, 4)
LIME_BATCHES = (1, 2, 4, 8, 16)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--words", type=int, default=21, help="in each sentence, as in IMDB")
    parser.add_argument("--samples", type=int, default=5000)
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
    trials = {
        size: read_samples(model, ids, kept[: max(options.samples // 10, 1)], size)
        for size in LIME_BATCHES
    }
    size = min(trials, key=trials.__getitem__)
    sampling = read_samples(model, ids, kept, size)
    print(
        f"LIME, {options.samples:,} samples        {sampling:8.3f} s  {sampling / erasing:6.1f} x"
        f"  in batches of {size}; a tenth by batch: {trials}"
    )
    print(f"largest difference of a logit between the first two: {gap:.1e}")
    found = {
        "sentences": options.sentences,
        "words": options.words,
        "samples": options.samples,
        "kept_seconds": erasing,
        "prediction_seconds": predicting,
        "lime_batch": size,
        "lime_trials": trials,
        "lime_seconds": sampling,
        "largest_difference": gap,
    }
    save("erasure", {**provenance(), **found})


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


def read_samples(model: Model, ids: Ragged, kept: Mask, size: int) -> float:
    """Seconds to read what each sample leaves of the document, so many at a time."""
    starts = np.cumsum(ids.host_lengths) - ids.host_lengths
    seconds = 0.0
    for first in range(0, len(kept), size):
        some = kept[first : first + size]
        left = np.add.reduceat(some, starts, axis=1, dtype=np.int64)
        words = ids.values.expand(len(some), -1)[torch.from_numpy(some)]
        lengths, counts = torch.from_numpy(left[left > 0]), torch.from_numpy((left > 0).sum(1))
        batch = Batch(Ragged(words, lengths), counts)
        seconds += timed(lambda batch=batch: answered(model, batch), repeats=1)[0]
    return seconds


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
