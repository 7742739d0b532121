"""Flickr8k: trains captioners with attention and without, and scores them on the official test.

    python benchmarks/flickr8k.py --backbone efficientnet-lite0.safetensors
    python benchmarks/flickr8k.py --backbone FILE --validation-only --set network.dropout=0.4

The data are 3,000 of the 6,000 training pictures, 128 pixels on the shorter side, 500 of the
official dev pictures, by which the epoch is chosen, and all 1,000 test pictures, which are
looked at once at the end. ``mean`` is the same decoder with every cell weighed alike: a
mean-pooled picture. BLEU counts words in lower case without punctuation, against five references.
--validation-only leaves the test alone: that is how settings are chosen; --save keeps the models,
and --score FOLDER scores those that were kept, which are named by their attention and seed.
--join FILE... puts runs together that were done side by side, and keeps what the test said before;
--tried FILE... keeps beside them what settings that were not chosen had on the dev pictures.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path

import measuring
from scipy.stats import ttest_ind

from regard.config import with_text_values
from regard.data.captions import Captioned, read_captioned, read_captions
from regard.estimators.captioner import Captioner
from regard.estimators.fitting import FitOptions
from regard.estimators.named import split_changes
from regard.models.show_attend_tell import PICTURE_PRESETS
from regard.records.history import Epoch
from regard.training.loop import Step
from regard.training.observers import Observer, Stage

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "flickr8k"
PARTS = ("network", "training", "units", "forcing", "generation")
PUBLISHED = {"bleu_1": 67.0, "bleu_4": 19.5}
"""Xu et al. (2015), soft attention: twice the pictures, larger, and a larger network."""


class Watch(Observer):
    """Prints how each epoch went."""

    def __init__(self, name: str) -> None:
        self.name, self.began = name, time.perf_counter()

    def on_stage(self, stage: Stage) -> None:
        pass

    def on_step(self, step: Step) -> None:
        pass

    def on_epoch(self, epoch: Epoch) -> None:
        scores = ", ".join(f"{name} {value:.3f}" for name, value in epoch.validation.items())
        seconds = time.perf_counter() - self.began
        told = f"loss {epoch.train_loss:.3f}; dev {scores}"
        print(f"{self.name}, epoch {epoch.epoch}, {seconds:.0f} s: {told}", flush=True)


def captioner_from(options: argparse.Namespace, attention: str, seed: int) -> Captioner:
    usual = Captioner()
    changes = split_changes(options.set, PARTS)
    network = replace(PICTURE_PRESETS["pretrained"], attention=attention)
    training = replace(usual.training, seed=seed)
    return Captioner(
        with_text_values(network, changes["network"]),
        backbone=options.backbone,
        features=options.features,
        training=with_text_values(training, changes["training"]),
        units=with_text_values(usual.units, changes["units"]),
        forcing=with_text_values(usual.forcing, changes["forcing"]),
        generation=with_text_values(usual.generation, changes["generation"]),
        device=options.device,
    )


def captions(folder: Path, part: str) -> list[Captioned]:
    return list(read_captioned(read_captions(folder / f"{part}.parquet")))


def train(options: argparse.Namespace, attention: str, seed: int) -> tuple[Captioner, float]:
    captioner = captioner_from(options, attention, seed)
    began = time.perf_counter()
    captioner.fit_captions(
        captions(options.data, "train"),
        captions(options.data, "dev"),
        options=FitOptions(observers=(Watch(f"{attention} {seed}"),)),
    )
    return captioner, time.perf_counter() - began


def run(options: argparse.Namespace, attention: str, seed: int) -> dict[str, object]:
    captioner, seconds = train(options, attention, seed)
    found: dict[str, object] = {
        "attention": attention,
        "seed": seed,
        "seconds": seconds,
        "parameters": captioner.facts_["parameters"],
        "epoch": captioner.facts_["best_epoch"],
        "dev_greedy_bleu_4": captioner.facts_["validation_bleu"],
    }
    dev = captioner.evaluate(captions(options.data, "dev"), worst=0).scores
    found |= {f"dev_bleu_{n}": getattr(dev, f"bleu_{n}") for n in (1, 2, 3, 4)}
    found["dev_loss"] = dev.loss
    if options.save is not None:
        folder = options.save / f"{attention}-{seed}"
        captioner.save(folder)
        (options.save / f"{folder.name}.json").write_text(json.dumps(found))
    return found if options.validation_only else found | score(options, captioner)


def score(options: argparse.Namespace, captioner: Captioner) -> dict[str, object]:
    """Look at the test pictures, once."""
    pictures = captions(options.data, "test")
    found: dict[str, object] = {"test": asdict(captioner.evaluate(pictures, worst=0).scores)}
    if options.receipts and captioner.settings_.network.attends:
        found["receipts"] = receipts(captioner, pictures, options.receipts)
    return found


def score_kept(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(folder.with_name(f"{folder.name}.json").read_text())
    return found | score(options, Captioner.load(folder, device=options.device))


def receipts(captioner: Captioner, test: list[Captioned], count: int) -> dict[str, object]:
    """What words lose without the cells they looked at, over the first test pictures.

    Of those words that the picture decides; ``better_all`` is of all.
    """
    pictures = list({one.name: one.picture for one in test}.values())[:count]
    shown = captioner.explain(pictures)
    words = [word for one in shown if one.receipt for word in one.receipt.written]
    decided = [word for word in words if word.decided]
    verdicts = [one.receipt.verdict for one in shown if one.receipt]

    def mean(values: Iterable[float]) -> float | None:
        known = list(values)
        return statistics.fmean(known) if known else None

    return {
        "pictures": len(shown),
        "words": len(words),
        "decided": mean(word.decided for word in words),
        "drop": mean(word.drop for word in decided),
        "random_drop": mean(word.random_drop for word in decided),
        "better": mean(word.drop > word.random_drop for word in decided),
        "better_all": mean(word.drop > word.random_drop for word in words),
        "verdicts": {name: verdicts.count(name) for name in sorted(set(verdicts))},
    }


def lead(runs: list[dict]) -> dict[str, float]:
    """How far attention is ahead of the mean picture on the test, with Welch's interval of 95 %."""
    soft, mean = (
        [run["test"]["bleu_4"] for run in runs if run["attention"] == one]
        for one in ("soft", "mean")
    )
    interval = ttest_ind(soft, mean, equal_var=False).confidence_interval(0.95)
    between = statistics.fmean(soft) - statistics.fmean(mean)
    return {"bleu_4": between, "low": float(interval.low), "high": float(interval.high)}


def join(paths: list[Path], name: str, tried: list[Path]) -> None:
    """Put runs of several files into one, with every reading of the test pictures before them.

    ``tried`` are what ``--save`` wrote of all settings among which the dev pictures chose.
    """
    parts = [json.loads(path.read_text()) for path in paths]
    runs = [run | {"settings": part["settings"]} for part in parts for run in part["runs"]]
    own, first = (measuring.RESULTS / f"{one}.json" for one in (name, "flickr8k"))
    before = json.loads((own if own.exists() else first).read_text())
    kept = ("attention", "seed", "dev_bleu_4", "test", "settings")
    read = [{one: run[one] for one in kept if one in run} for run in before["runs"]]
    found = {one: value for one, value in parts[0].items() if one != "settings"}
    found["commit"] = ", ".join(sorted({part["commit"] for part in parts}))
    found["seeds"] = sorted({run["seed"] for run in runs})
    found["runs"] = sorted(runs, key=lambda run: (run["seed"], run["attention"] == "mean"))
    found["lead"] = lead(runs)
    if tried:
        found["tried"] = [{"of": path.stem} | json.loads(path.read_text()) for path in tried]
    found["read_before"] = [*before.get("read_before", []), *read]
    measuring.save(name, found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--backbone", type=Path)
    parser.add_argument("--features", type=Path)
    parser.add_argument("--attention", nargs="+", default=["soft", "mean"])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--set", nargs="*", default=[])
    parser.add_argument("--receipts", type=int, default=100)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--save", type=Path)
    parser.add_argument("--score", type=Path, nargs="+", default=[])
    parser.add_argument("--join", type=Path, nargs="+", default=[])
    parser.add_argument("--tried", type=Path, nargs="+", default=[])
    parser.add_argument("--validation-only", action="store_true")
    parser.add_argument("--name", default="flickr8k")
    options = parser.parse_args()
    if options.join:
        return join(options.join, options.name, options.tried)
    with tempfile.TemporaryDirectory() as folder:
        options.features = options.features or Path(folder)
        runs: list[dict[str, object]] = []
        result: dict[str, object] = measuring.provenance(options.seeds)
        result |= {"settings": options.set, "published": PUBLISHED, "runs": runs}
        asked = [(seed, attention) for seed in options.seeds for attention in options.attention]
        for one in options.score or asked:
            kept = isinstance(one, Path)
            runs.append(score_kept(options, one) if kept else run(options, one[1], one[0]))
            print(json.dumps(runs[-1]), flush=True)
            measuring.save(options.name, result)


if __name__ == "__main__":
    main()
