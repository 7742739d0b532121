"""Multi30k: trains a translator of English, scores it on val and on the published test files.

    python benchmarks/multi30k.py --target de --network transformer [--set network.dropout=0.4]
    python benchmarks/multi30k.py --target de --attention luong
    python benchmarks/multi30k.py --target fr --attention none --data FOLDER

Trained on train, the epoch chosen on val by greedy BLEU, the tests read once at the end. Prints one
JSON line: cased, detokenised BLEU with sacrebleu's own settings, beam 5, and the seconds it took;
runs without --set or --pairs are kept in benchmarks/results/multi30k.json.
--validation-only leaves the tests alone: that is how settings are chosen; --save keeps the model,
and --score FOLDER scores one that was kept.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch
from measuring import keep_run

from regard.data.pairs import Pair
from regard.estimators.fitting import FitOptions
from regard.estimators.named import translator_from
from regard.estimators.translator import Translator
from regard.records.history import Epoch
from regard.training.loop import Step
from regard.training.observers import Observer

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "multi30k"
DECODERS = {"none": "sutskever", "cho": "cho", "luong": "luong", "bahdanau": "bahdanau"}
SETTINGS = {
    "seq2seq": [
        "network.embedding_size=256",
        "network.hidden_size=512",
        "network.layers=1",
        "network.dropout=0.5",
        "units.size=8000",
        "training.batch_size=128",
        "training.batch_tokens=16384",
        "training.epochs=30",
        "training.patience=6",
    ],
    "transformer": [
        "network.tied=all",
        "units.shared=true",
        "units.size=8000",
        "training.batch_size=256",
        "training.batch_tokens=16384",
        "training.epochs=50",
        "training.average=8",
        "training.precision=bfloat16",
    ],
}
"""What differs from the defaults, chosen on val."""
TESTS = ("test_2016_flickr", "test_2017_flickr", "test_2017_mscoco", "test_2018_flickr")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="de")
    parser.add_argument("--network", choices=SETTINGS, default="seq2seq")
    parser.add_argument("--attention", choices=DECODERS, default="luong", help="of seq2seq")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--pairs", type=int, default=None, help="train on the first ones alone")
    parser.add_argument("--seconds", type=float, default=400, help="stop training after so many")
    parser.add_argument("--validation-only", action="store_true")
    parser.add_argument("--save", type=Path, default=None, help="keep the trained model here")
    parser.add_argument("--score", type=Path, default=None, help="train nothing: score this model")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs Multi30k")
    found = run(options) if options.score is None else score(options)
    print(json.dumps(found), flush=True)
    trial = options.changes or options.pairs or options.validation_only or options.score
    if not trial:
        keep_run("multi30k", found, same=("target", "network", "attention", "seed"))


def run(options: argparse.Namespace) -> dict[str, object]:
    """Train and score once."""
    began = time.perf_counter()
    changes = [*SETTINGS[options.network], f"training.seed={options.seed}"]
    if options.network == "seq2seq":
        changes.append(f"network.decoder={DECODERS[options.attention]}")
    translator = translator_from(
        [*changes, *options.changes], device=options.device, model=options.network
    ).set_params(fixed="all")
    validation = pairs(options.data, "val", options.target)
    training = pairs(options.data, "train", options.target)[: options.pairs]
    watch = Watch(began + options.seconds)
    translator.fit_pairs(training, validation, options=FitOptions(observers=(watch,)))
    trained = time.perf_counter() - began
    found: dict[str, object] = {
        "target": options.target,
        "network": options.network,
        "attention": options.attention if options.network == "seq2seq" else None,
        "seed": options.seed,
        "changes": options.changes,
        "parameters": translator.facts_["parameters"],
        "epochs": len(translator.history_.epochs),
        "best_epoch": translator.facts_["best_epoch"],
        "stopped": translator.history_.stopped,
        "val_greedy_bleu": round(translator.facts_["validation_bleu"], 2),
        **scored(translator, validation, "val"),
    }
    if options.save is not None:
        translator.save(options.save)
    if not options.validation_only:
        found |= tested(translator, options)
    seconds = {"training_s": round(trained, 1), "seconds": round(time.perf_counter() - began, 1)}
    return found | seconds | {"device": device_name(translator)}


def score(options: argparse.Namespace) -> dict[str, object]:
    """Score a model that was kept, on val and on the tests."""
    translator = Translator.load(options.score, device=options.device)
    validation = pairs(options.data, "val", options.target)
    found = {"model": str(options.score), **scored(translator, validation, "val")}
    return found if options.validation_only else found | tested(translator, options)


def tested(translator: Translator, options: argparse.Namespace) -> dict[str, object]:
    """The scores on every test file that has the language."""
    found: dict[str, object] = {}
    for name in TESTS:
        given = pairs(options.data, name, options.target)
        found |= scored(translator, given, name) if given else {}
    return found


def scored(translator: Translator, given: list[Pair], name: str) -> dict[str, object]:
    """BLEU and chrF by beam search, with the signature."""
    translator.set_params(generation=replace(translator.generation, method="beam", beam=5))
    began = time.perf_counter()
    scores = translator.evaluate(given)
    return {
        f"{name}_bleu": round(scores.bleu, 2),
        f"{name}_chrf": round(scores.chrf, 2),
        f"{name}_effective_count": scores.effective_count,
        f"{name}_s": round(time.perf_counter() - began, 1),
        "signature": scores.bleu_signature,
    }


def pairs(folder: Path, part: str, target: str) -> list[Pair]:
    """The English sentences of a file with those of another language."""
    lines = folder / f"{part}.jsonl"  # for a machine without pyarrow
    if lines.exists():
        rows = [json.loads(line) for line in lines.read_text(encoding="utf-8").split("\n")[:-1]]
        return [Pair(row["en"], row[target]) for row in rows if target in row]
    import pyarrow.parquet

    path = folder / f"{part}.parquet"
    if target not in pyarrow.parquet.read_schema(path).names:
        return []
    table = pyarrow.parquet.read_table(path, columns=["en", target])
    columns = [column.to_pylist() for column in table.columns]
    return [Pair(*both) for both in zip(*columns, strict=True)]


class Watch(Observer):
    """Prints every epoch, and ends a training that takes too long as if by hand."""

    def __init__(self, until: float) -> None:
        self.until = until

    def on_step(self, step: Step) -> None:
        if step.ends_epoch is False and time.perf_counter() > self.until:
            raise KeyboardInterrupt

    def on_epoch(self, epoch: Epoch) -> None:
        print(
            f"epoch {epoch.epoch} loss {epoch.train_loss:.3f} val {epoch.validation_loss:.3f} "
            f"BLEU {epoch.validation_bleu:.2f} {epoch.seconds:.1f} s",
            file=sys.stderr,
            flush=True,
        )


def device_name(translator: Translator) -> str:
    device = translator.writer_.device
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


if __name__ == "__main__":
    main()
