"""The Transformer: a training step against torch's own, and writing with what is kept against anew.

    python benchmarks/transformer.py [--threads 1] [--batches 8] [--device cpu] [--out results.json]

On English to German pairs of Multi30k, in batches of 128 as trainings have them, grouped by length.
``torch.nn.Transformer`` has the same sizes and is given padded rows with masks, as its tutorial
does; both make a whole step, forward, backward and Adam, on the same batches in turn. Ratios are
theirs over ours, of the processor's time on a CPU and of the clock on a GPU, which has seen every
batch before: for some shapes its libraries first plan for a third of a second.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from measuring import provenance
from multi30k import DATA, pairs
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from regard.data.batches import plan_batches
from regard.data.pairs import EncodedPairs, PairBatch
from regard.models.transformer import Transformer, TransformerConfig
from regard.nn.positions import sinusoids
from regard.tasks.generate import GenerationConfig, TokenLoss, generate
from regard.text.units import END, START, UnitsConfig, build_units
from regard.text.vocab import cut_texts

SIZES = {
    "small": TransformerConfig(hidden_size=128, heads=4, feed_size=512, layers=2),
    "default": TransformerConfig(),
    "of the paper": TransformerConfig(hidden_size=512, heads=8, feed_size=2048, layers=6),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--sizes", nargs="*", default=["small", "default"], choices=SIZES)
    parser.add_argument("--dropouts", nargs="*", type=float, default=[0.0, 0.1])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs Multi30k")
    torch.set_num_threads(options.threads)
    encoded, size = encode(options.data)
    plan = plan_batches(encoded.lengths, batch_size=128, batch_tokens=1 << 30, seed=0, epoch=0)
    batches = [encoded.batch(part).to(options.device) for part in plan[: options.batches]]
    results = {}
    for name in options.sizes:
        for dropout in options.dropouts:
            found = compare(name, dropout, size, batches, options)
            results[f"{name}, dropout {dropout}"] = found
            print(f"{name}, dropout {dropout}", json.dumps(found), flush=True)
    if options.out:
        device = torch.cuda.get_device_name() if options.device == "cuda" else "cpu"
        about = {**provenance(), "device": device, "precision": options.precision}
        options.out.write_text(json.dumps({**about, "results": results}, indent=2) + "\n")


def encode(folder: Path) -> tuple[EncodedPairs, int]:
    """The training pairs as ids of one vocabulary of subwords, and how many ids there are."""
    given = pairs(folder, "train", "de")
    units = build_units(
        [text for pair in given for text in (pair.source, pair.target)],
        UnitsConfig("subwords", size=8000),
    )
    sides = ([pair.source for pair in given], [pair.target for pair in given])
    return EncodedPairs(*([cut.ids for cut in cut_texts(side, units)] for side in sides)), len(
        units
    )


def compare(
    name: str,
    dropout: float,
    size: int,
    batches: list[PairBatch],
    options: argparse.Namespace,
) -> dict[str, float]:
    """Milliseconds of a step, ours and torch's, and of a written token with and without a cache."""
    config = TransformerConfig(
        **{**vars(SIZES[name]), "dropout": dropout, "tied": "output"}  # as torch's has it below
    )
    torch.manual_seed(0)
    ours = config.build(source_size=size, target_size=size).to(options.device).train()
    theirs = Padded(config, size).to(options.device).train()
    loss = TokenLoss()
    steps = {
        "ours": step_of(ours, lambda batch: loss(ours, batch).mean, options),
        "torch": step_of(theirs, theirs.loss, options),
    }
    times: dict[str, list[float]] = {"ours": [], "torch": []}
    warming = batches if options.device == "cuda" else batches[:1]
    for batch in warming:
        for step in steps.values():
            step(batch)
    for batch in batches:
        for which, step in steps.items():
            times[which].append(1000 * timed(partial(step, batch), options.device))
    ms = {which: round(statistics.median(found), 2) for which, found in times.items()}
    found = {
        "ours_ms": ms["ours"],
        "torch_ms": ms["torch"],
        "ratio": round(sum(times["torch"]) / sum(times["ours"]), 2),
        "padding": round(padding(batches), 3),
    }
    return found | (decoding(ours, batches[0], options.device) if dropout == 0 else {})


def step_of(
    model: nn.Module, loss: Callable[[PairBatch], Tensor], options: argparse.Namespace
) -> Callable[[PairBatch], None]:
    """A whole training step of a model."""
    adam = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
    half = options.precision == "bfloat16"

    def step(batch: PairBatch) -> None:
        adam.zero_grad()
        with torch.autocast(options.device, torch.bfloat16, half):
            cost = loss(batch)
        cost.backward()
        adam.step()

    return step


def timed(work: Callable[[], object], device: str) -> float:
    """Seconds of the processor; on a GPU of the clock, until the device has done it."""
    clock = time.perf_counter if device == "cuda" else time.process_time
    if device == "cuda":
        torch.cuda.synchronize()
    began = clock()
    work()
    if device == "cuda":
        torch.cuda.synchronize()
    return clock() - began


def padding(batches: list[PairBatch]) -> float:
    """How many places padded rows have for each item, both sides together."""
    sides = [rows for batch in batches for rows in (batch.source.by_document, batch.target)]
    places = sum(len(rows) * max(rows.host_lengths) for rows in sides)
    return places / sum(sum(rows.host_lengths) for rows in sides)


def decoding(model: Transformer, batch: PairBatch, device: str) -> dict[str, float]:
    """Milliseconds a step of 30 for a batch: greedy, keys kept, and everything asked anew."""
    model.eval()
    with torch.no_grad():
        model.decoder.bias[END] = -1e4  # so that all write 30 tokens
    config = GenerationConfig("greedy", longest=30, longest_ratio=100.0)
    generate(model, batch.source, config)  # warms up
    kept = timed(lambda: generate(model, batch.source, config), device)
    rows = [torch.full((1,), START) for _ in range(len(batch))]

    def anew() -> None:
        written = torch.stack(rows).to(device)
        with torch.no_grad():
            memory = model.encode(batch.source)
            for _ in range(30):
                ragged = type(memory)(
                    written.flatten(), torch.full((len(batch),), written.shape[1]).to(device)
                )
                logits = model.decoder.write(memory, ragged).logits
                best = logits.view(len(batch), written.shape[1], -1)[:, -1].argmax(1)
                written = torch.cat([written, best[:, None]], 1)

    anew()
    again = timed(anew, device)
    model.train()
    return {
        "kept_ms": round(1000 * kept / 30, 2),
        "anew_ms": round(1000 * again / 30, 2),
        "decoding_ratio": round(again / kept, 2),
    }


class Padded(nn.Module):
    """``torch.nn.Transformer`` between vectors of tokens, as its tutorial has it."""

    def __init__(self, config: TransformerConfig, size: int) -> None:
        super().__init__()
        self.size = config.hidden_size
        self.sources = nn.Embedding(size, self.size)
        self.targets = nn.Embedding(size, self.size)
        for table in (self.sources, self.targets):
            nn.init.normal_(table.weight, std=self.size**-0.5)
        self.transformer = nn.Transformer(
            self.size,
            config.heads,
            config.layers,
            config.layers,
            config.feed_size,
            config.dropout,
            batch_first=True,
            norm_first=True,
        )
        self.dropout = nn.Dropout(config.dropout)
        self.bias = nn.Parameter(torch.zeros(size))
        self.register_buffer("waves", sinusoids(torch.arange(512), self.size))

    def loss(self, batch: PairBatch) -> Tensor:
        """The mean cross-entropy of a target token, padding left out."""
        source = pad_sequence(batch.source.by_document.rows(), batch_first=True)
        previous = pad_sequence(batch.previous.rows(), batch_first=True)
        answers = pad_sequence(batch.target.rows(), batch_first=True, padding_value=-100)
        logits = self(source, previous, source == 0, previous == 0)
        return cross_entropy(logits.flatten(0, 1).float(), answers.flatten(), ignore_index=-100)

    def forward(
        self, source: Tensor, previous: Tensor, absent: Tensor, unwritten: Tensor
    ) -> Tensor:
        """Logits, (pairs, steps, words)."""
        causal = torch.ones(
            previous.shape[1], previous.shape[1], dtype=torch.bool, device=source.device
        ).triu(1)
        states = self.transformer(
            self.enter(self.sources(source)),
            self.enter(self.targets(previous)),
            tgt_mask=causal,
            src_key_padding_mask=absent,
            tgt_key_padding_mask=unwritten,
            memory_key_padding_mask=absent,
            tgt_is_causal=True,
        )
        return states @ self.targets.weight.T + self.bias

    def enter(self, vectors: Tensor) -> Tensor:
        """Vectors of tokens with their places."""
        return self.dropout(vectors * math.sqrt(self.size) + self.waves[: vectors.shape[1]])


if __name__ == "__main__":
    main()
