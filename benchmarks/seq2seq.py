"""Sequence to sequence: a training step against a plain loop, a beam at once against one by one.

    python benchmarks/seq2seq.py [--threads 2] [--batches 6]
    python benchmarks/seq2seq.py --trained FOLDER [--sources 256]

On English to German pairs of Multi30k. The plain loop, ``plain_seq2seq.py``, is what tutorials
write in PyTorch and has the same parameters; both get the same batches, grouped by length. Writing
is timed with trained weights, which know where to stop, on sources of test_2016_flickr: FOLDER is
what ``multi30k.py --save`` kept.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow.parquet
import torch
from measuring import provenance, save
from plain_seq2seq import PlainSeq2Seq

from regard.data.batches import plan_batches
from regard.data.pairs import EncodedPairs, PairBatch
from regard.estimators.translator import Translator
from regard.models.seq2seq import PRESETS, Seq2Seq, Seq2SeqConfig
from regard.tasks.generate import GenerationConfig, TokenLoss
from regard.text.units import UnitsConfig, build_units
from regard.text.vocab import cut_texts

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"
SETTINGS = {
    "the notes' (dot, no feeding)": PRESETS["notes"],
    "Luong, general, input feeding": Seq2SeqConfig(score="general"),
    "Bahdanau, concat": Seq2SeqConfig(decoder="bahdanau", score="concat", attention_size=512),
    "Luong, small": PRESETS["small"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batches", type=int, default=6)
    parser.add_argument("--trained", type=Path, default=None, help="a model, to time its writing")
    parser.add_argument("--sources", type=int, default=256)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs Multi30k")
    torch.set_num_threads(options.threads)
    if options.trained is not None:
        found = writing(options.trained, options.data, options.sources)
        print(json.dumps(found), flush=True)
        save("decoding", {**provenance(), **found})
        return
    pairs, size = encoded(options.data, "train")
    plan = plan_batches(pairs.lengths, batch_size=64, batch_tokens=1 << 30, seed=0, epoch=0)
    batches = [pairs.batch(part) for part in plan[: options.batches]]
    results = {}
    for name, config in SETTINGS.items():
        torch.manual_seed(0)
        model = config.build(source_size=size, target_size=size)
        results[name] = training(model, batches)
        print(name, json.dumps(results[name]), flush=True)
    save("seq2seq", {**provenance(), "threads": options.threads, "results": results})


def encoded(data: Path, part: str) -> tuple[EncodedPairs, int]:
    """The pairs of a file as ids of one vocabulary of subwords, and how many ids there are."""
    table = pyarrow.parquet.read_table(data / f"{part}.parquet", columns=["en", "de"])
    english, german = (table[name].to_pylist() for name in ("en", "de"))
    units = build_units([*english, *german], UnitsConfig("subwords", size=8000))
    sides = [[pieces.ids for pieces in cut_texts(side, units)] for side in (english, german)]
    return EncodedPairs(*sides), len(units)


def training(model: Seq2Seq, batches: Sequence[PairBatch]) -> dict[str, float]:
    """Milliseconds of a forward and backward pass, ours and plain, and how many times as many."""
    plain, loss = PlainSeq2Seq(model), TokenLoss()
    ours = times(model, batches, lambda batch: loss(model, batch).backward())
    theirs = times(plain, batches, lambda batch: plain.loss(batch).backward())
    return {"training_ms": ours, "plain_ms": theirs, "training_ratio": round(theirs / ours, 2)}


def times(
    model: torch.nn.Module, batches: Sequence[PairBatch], work: Callable[[PairBatch], object]
) -> float:
    """The median over the batches, after one to warm up."""
    model.train()
    found = []
    for batch in [batches[0], *batches]:
        model.zero_grad()
        began = time.perf_counter()
        work(batch)
        found.append(1000 * (time.perf_counter() - began))
    return round(statistics.median(found[1:]), 1)


def writing(folder: Path, data: Path, count: int) -> dict[str, object]:
    """Seconds to translate sources of the test file with a beam of five, in batches and alone."""
    translator = Translator.load(folder, device="cpu")
    translator.set_params(generation=GenerationConfig("beam", beam=5))
    table = pyarrow.parquet.read_table(data / "test_2016_flickr.parquet", columns=["en"])
    texts = table["en"].to_pylist()[:count]
    translator.predict(texts[:8])  # what is made at the first call is no part of it
    began = time.perf_counter()
    together = translator.predict(texts)
    in_batches = time.perf_counter() - began
    began = time.perf_counter()
    alone = [translator.predict([text])[0] for text in texts]
    one_by_one = time.perf_counter() - began
    same = [a == b for a, b in zip(together, alone, strict=True)]
    return {
        "model": type(translator.network).__name__,
        "decoder": getattr(translator.network, "decoder", None),
        "sources": len(texts),
        "in_batches_s": round(in_batches, 2),
        "one_by_one_s": round(one_by_one, 2),
        "ratio": round(one_by_one / in_batches, 1),
        "same": sum(same) / len(same),
    }


if __name__ == "__main__":
    main()
