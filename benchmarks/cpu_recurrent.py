"""A recurrent layer on a CPU: torch's packed GRU, our plain version and our C, in one process.

Run: PYTHONPATH=src python benchmarks/cpu_recurrent.py [--hidden 50 128 256] [--threads 1 2]

One layer in two directions over 832 sentences (64 documents) whose lengths are drawn like those
of IMDB, words by Zipf's law. All start from word vectors of size 200 and include the projection
and every gradient; ours projects each distinct word once. "kernel" is the C recurrence alone,
from projected words. The ways take turns; CPU time on one thread, time on the clock on more.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from regard.kernels import cpu
from regard.nn.recurrence import Layer, batched
from regard.ragged import Ragged

VECTOR_SIZE = 200
SENTENCES = 832
WORDS = 40_000
ROUNDS = 7


@dataclass
class Work:
    """The same words for every way: distinct vectors with an index, and packed vectors."""

    layer: nn.GRU
    table: Tensor
    index: Tensor
    rows: Ragged
    packed: PackedSequence

    def projected(self) -> Tensor:
        weights = torch.cat([self.layer.weight_ih_l0, self.layer.weight_ih_l0_reverse])
        biases = torch.cat([self.layer.bias_ih_l0, self.layer.bias_ih_l0_reverse])
        return nn.functional.linear(self.table, weights, biases)

    def recurrent(self) -> tuple[Tensor, Tensor]:
        return (
            torch.stack([self.layer.weight_hh_l0, self.layer.weight_hh_l0_reverse]),
            torch.stack([self.layer.bias_hh_l0, self.layer.bias_hh_l0_reverse]),
        )


def draw(hidden_size: int) -> Work:
    random = np.random.default_rng(0)
    lengths = np.round(np.exp(random.normal(2.85, 0.62, SENTENCES)))
    lengths = np.clip(lengths, 1, 120).astype(np.int64)
    shares = 1 / (np.arange(WORDS) + 3.7) ** 1.2
    words = np.searchsorted(np.cumsum(shares / shares.sum()), random.random(lengths.sum()))
    distinct, places = np.unique(words, return_inverse=True)
    torch.manual_seed(0)
    table, index = torch.randn(len(distinct), VECTOR_SIZE), torch.from_numpy(places)
    packed = pack_sequence(list(table[index].split(lengths.tolist())), enforce_sorted=False)
    packed.data.requires_grad_()
    layer = nn.GRU(VECTOR_SIZE, hidden_size, bidirectional=True)
    rows = Ragged(index, torch.from_numpy(lengths))
    return Work(layer, table.requires_grad_(), index, rows, packed)


def ways(work: Work) -> dict[str, Callable[[], Tensor]]:
    """What is measured: each gives the states."""
    fixed = work.projected().detach().requires_grad_()
    return {
        "torch, packed": lambda: work.layer(work.packed)[0].data,
        "ours, plain": lambda: batched.run(
            Layer("gru", *work.recurrent()), work.projected(), work.index, work.rows
        )[0],
        "ours, C": lambda: cpu.recur(
            "gru", work.projected(), work.index, work.rows, *work.recurrent()
        ),
        "kernel": lambda: cpu.recur("gru", fixed, work.index, work.rows, *work.recurrent()),
    }


def measure(work: Work, threads: int) -> dict[str, tuple[float, float]]:
    """Microseconds an item of each way: forward without gradients, and forward and back."""
    clock = time.process_time if threads == 1 else time.perf_counter
    gradient = torch.randn(len(work.index), 2 * work.layer.hidden_size)
    taken: dict[str, tuple[list[float], list[float]]] = {}
    for turn in range(ROUNDS + 1):
        for name, way in ways(work).items():
            start = clock()
            with torch.no_grad():
                way()
            middle = clock()
            way().backward(gradient)
            if turn:  # the first warms up
                forward, both = taken.setdefault(name, ([], []))
                forward.append(middle - start)
                both.append(clock() - middle)
    scale = 1e6 / len(work.index)
    return {
        name: (scale * statistics.median(forward), scale * statistics.median(both))
        for name, (forward, both) in taken.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hidden", type=int, nargs="+", default=[50, 128, 256])
    parser.add_argument("--threads", type=int, nargs="+", default=[1])
    arguments = parser.parse_args()
    for threads in arguments.threads:
        torch.set_num_threads(threads)
        for hidden_size in arguments.hidden:
            work = draw(hidden_size)
            share = len(work.table) / len(work.index)
            print(f"\nhidden size {hidden_size}, {len(work.index)} words, {share:.2f} distinct")
            print(f"torch {torch.__version__}, {cpu.describe()}; microseconds a word")
            found = measure(work, threads)
            packed = found["torch, packed"][1]
            for name, (forward, both) in found.items():
                ratio = f"{packed / both:5.1f}x" if name != "kernel" else ""
                print(f"  {name:14} forward {forward:6.2f}   forward+back {both:7.2f}  {ratio}")


if __name__ == "__main__":
    main()
