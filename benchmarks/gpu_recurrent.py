"""Word-level recurrence on a GPU: our kernels against cuDNN's packed layer, forward and backward.

Run: PYTHONPATH=src python benchmarks/gpu_recurrent.py [hidden size]

Ours starts from a table of distinct word vectors and includes its projection and every gradient
(table, input weights, recurrent weights, biases). cuDNN starts from packed word vectors, so it
is spared the lookup. Sentence lengths are drawn like those of IMDB (mean 21), words by Zipf's law.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from measuring import provenance, save
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_sequence, pad_packed_sequence

from regard.kernels.gpu import describe, recur
from regard.ragged import Ragged

VECTOR_SIZE, HIDDEN_SIZE = 200, 50
SENTENCES = 13  # a document
WORDS = 40_000
REPEATS = 15
DEVICE = "cuda"


@dataclass
class Work:
    """The same words for both: distinct vectors with an index, and packed vectors."""

    table: Tensor
    index: Tensor
    rows: Ragged
    packed: PackedSequence
    gradients: dict[torch.dtype, Tensor]  # of every item's output

    @property
    def item_count(self) -> int:
        return len(self.index)


def draw(document_count: int, hidden_size: int, seed: int = 0) -> Work:
    random = np.random.default_rng(seed)
    lengths = np.round(np.exp(random.normal(2.85, 0.62, document_count * SENTENCES)))
    lengths = np.clip(lengths, 1, 120).astype(np.int64)
    shares = 1 / (np.arange(WORDS) + 3.7) ** 1.2
    words = np.searchsorted(np.cumsum(shares / shares.sum()), random.random(lengths.sum()))
    distinct, index = np.unique(words, return_inverse=True)
    torch.manual_seed(seed)
    table = torch.randn(len(distinct), VECTOR_SIZE, device=DEVICE)
    places = torch.from_numpy(index).to(DEVICE)
    vectors = table[places].split(lengths.tolist())
    packed = pack_sequence(list(vectors), enforce_sorted=False)
    packed.data.requires_grad_()
    gradient = torch.randn(len(index), 2 * hidden_size, device=DEVICE)
    rows = Ragged(places, torch.from_numpy(lengths).to(DEVICE))
    gradients = {dtype: gradient.to(dtype) for dtype in (torch.float32, torch.bfloat16)}
    return Work(table.requires_grad_(), places, rows, packed, gradients)


def parameters(layer: nn.GRU) -> list[Tensor]:
    """A layer's weights as ours takes them: input weights and biases, recurrent ones."""
    pairs = [
        (getattr(layer, f"{name}_l0"), getattr(layer, f"{name}_l0_reverse"))
        for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh")
    ]
    joined = [
        torch.cat(pairs[0]),
        torch.cat(pairs[1]),
        torch.stack(pairs[2]),
        torch.stack(pairs[3]),
    ]
    return [tensor.detach().requires_grad_() for tensor in joined]


def ours(work: Work, leaves: list[Tensor], dtype: torch.dtype) -> tuple[Tensor, tuple[Tensor, ...]]:
    weights_in, biases_in, weights, biases = leaves
    projected = torch.addmm(biases_in.to(dtype), work.table.to(dtype), weights_in.to(dtype).t())
    out = recur("gru", projected, work.index, work.rows, weights, biases)
    return out, torch.autograd.grad(out, (work.table, *leaves), work.gradients[dtype])


def cudnn(work: Work, layer: nn.GRU) -> tuple[Tensor, ...]:
    out = layer(work.packed)[0].data
    leaves = (work.packed.data, *layer.parameters())
    return torch.autograd.grad(out, leaves, work.gradients[torch.float32])


def median_seconds(step: Callable[[], object]) -> float:
    times = []
    for _ in range(REPEATS + 5):
        torch.cuda.synchronize()
        start = time.perf_counter()
        step()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return statistics.median(times[5:])


def check(work: Work, layer: nn.GRU, leaves: list[Tensor]) -> None:
    """Print how far ours is from the same layer in float64, of each tensor's largest value."""
    exact = nn.GRU(VECTOR_SIZE, layer.hidden_size, bidirectional=True).to(DEVICE, torch.float64)
    exact.load_state_dict(layer.state_dict())
    double = PackedSequence(
        work.packed.data.detach().double(),
        work.packed.batch_sizes,
        work.packed.sorted_indices,
        work.packed.unsorted_indices,
    )
    with torch.backends.cudnn.flags(enabled=False):
        padded, lengths = pad_packed_sequence(exact(double)[0], batch_first=True)
        expected = torch.cat([padded[row, :length] for row, length in enumerate(lengths)])
        parts = list(exact.parameters())
        gradients = torch.autograd.grad(expected, parts, work.gradients[torch.float32].double())
    wanted = [expected, torch.stack([gradients[1], gradients[5]])]
    wanted.append(torch.cat([gradients[0], gradients[4]]))
    for dtype in (torch.float32, torch.bfloat16):
        out, found = ours(work, leaves, dtype)
        errors = [
            ((got.double() - want).abs().max() / want.abs().max()).item()
            for got, want in zip([out, found[3], found[1]], wanted, strict=True)
        ]
        names = ("output", "recurrent weights", "input weights")
        shown = ", ".join(f"{name} {error:.1e}" for name, error in zip(names, errors, strict=True))
        print(f"largest error, {str(dtype)[6:]}: {shown}")


def main(hidden_size: int) -> None:
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}; {describe()}")
    torch.manual_seed(0)
    layer = nn.GRU(VECTOR_SIZE, hidden_size, bidirectional=True).to(DEVICE)
    leaves = parameters(layer)
    check(draw(16, hidden_size, seed=1), layer, leaves)
    print("| documents | items | distinct | cuDNN fp32 ns/item | ours fp32 | ours bf16 | ratios |")
    print("|---|---|---|---|---|---|---|")
    rows = []
    for document_count in (64, 256, 1024):
        work = draw(document_count, hidden_size)
        base = median_seconds(lambda: cudnn(work, layer))  # noqa: B023
        times = [
            median_seconds(lambda: ours(work, leaves, dtype))  # noqa: B023
            for dtype in (torch.float32, torch.bfloat16)
        ]
        shown = [f"{seconds / work.item_count * 1e9:.1f}" for seconds in (base, *times)]
        ratios = " / ".join(f"{base / seconds:.1f}x" for seconds in times)
        seconds = dict(zip(("cudnn", "float32", "bfloat16"), (base, *times), strict=True))
        rows.append({"documents": document_count, "items": work.item_count, "seconds": seconds})
        print(
            f"| {document_count} | {work.item_count} | {len(work.table)} | "
            f"{' | '.join(shown)} | {ratios} |",
            flush=True,
        )
    if hidden_size == HIDDEN_SIZE:
        save("gpu-recurrence", {**provenance(), "hidden_size": hidden_size, "rows": rows})


if __name__ == "__main__":
    # Handing the way back to another thread costs more than our whole step on some machines.
    with torch.autograd.set_multithreading_enabled(False):
        main(int(sys.argv[1]) if len(sys.argv) > 1 else HIDDEN_SIZE)
