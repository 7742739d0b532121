"""Is attention worth it? HN-ATT against HN-AVE and HN-MAX, and HAN against CAHAN, on IMDB.

    python benchmarks/pooling.py [--documents 25000] [--seeds 0 1 2 3 4] [--variants HN-ATT HN-AVE]
        [--jobs 1] [--runs FILE] [--stop-after SECONDS]

Each is trained at the defaults of `regard train`, n-grams beside the network, on the same training
reviews and scored on the same test reviews: the model as people get it, and its network alone. The
tests are those of `regard compare`: paired over documents and seeds, corrected for how many there
are. What is trained is kept in --runs and not trained again; --stop-after begins no training after
so many seconds. What does not hang on the network is done once for a seed: texts are read, word
vectors are learnt and n-grams, which stand beside each variant. Nothing is chosen here, so the test
reviews are looked at to score alone.

Needs ../shared/data/imdb, or --data with train.parquet and test.parquet in it.
"""

from __future__ import annotations

import argparse
import base64
import functools
import hashlib
import json
import os
import random
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TypeVar

import numpy as np
from measuring import IMDB, RESULTS, add_run, kept_runs, save, whole

from regard.estimators import classifier, wide
from regard.estimators.training_documents import Prepared

T = TypeVar("T")
VARIANTS = {
    "HN-ATT": ("han", []),
    "HN-AVE": ("han", ["network.pooling=mean"]),
    "HN-MAX": ("han", ["network.pooling=max"]),
    "CAHAN": ("cahan", []),
}
PAIRS = [("HN-ATT", "HN-AVE"), ("HN-ATT", "HN-MAX"), ("HN-ATT", "CAHAN")]
PARTS = {"whole": "as people get it, with n-grams", "network": "the network alone"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=25_000)
    parser.add_argument("--test-documents", type=int, default=25_000)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--data", type=Path, default=IMDB)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--threads", type=int, default=1, help="of each training")
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    parser.add_argument("--runs", type=Path, default=RESULTS / "pooling-runs.jsonl")
    parser.add_argument("--name", default="pooling")
    options = parser.parse_args()
    if not (options.data / "train.parquet").exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
    os.environ["OMP_NUM_THREADS"] = str(options.threads)
    asked = [(name, seed) for seed in options.seeds for name in options.variants]
    done = {(run["variant"], run["seed"]) for run in runs_of(options)}
    left = {
        seed: [name for name in options.variants if (name, seed) not in done]
        for seed in options.seeds
    }
    ends = time.time() + options.stop_after
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        going = [pool.submit(train_seed, *one, vars(options), ends) for one in left.items()]
        for one in going:
            one.result()
    report([run for run in runs_of(options) if (run["variant"], run["seed"]) in asked], options)


def runs_of(options: argparse.Namespace) -> list[dict]:
    return [run for run in kept_runs(options.runs) if run["documents"] == options.documents]


def train_seed(seed: int, variants: list[str], options: dict, ends: float) -> None:
    """Train some variants with one seed, and keep each as it comes."""
    import torch

    torch.set_num_threads(options["threads"])
    share_work()
    for name in variants:
        if time.time() > ends:
            print(f"no time is left for {name} with seed {seed}", flush=True)
            return
        run = add_run(options["runs"], train(name, seed, options))
        told = {name: value for name, value in run.items() if not name.startswith("right")}
        print(json.dumps(told), flush=True)


def share_work() -> None:
    """Do what no network has a say in once for all networks of the same documents."""
    classifier.prepare = once(classifier.prepare, key_of_reading)
    classifier.learn_own_vectors = once(classifier.learn_own_vectors, key_of_vectors)
    wide.learn_ngrams = once(wide.learn_ngrams, key_of_ngrams)


def once(work: Callable[..., T], key: Callable[..., str]) -> Callable[..., T]:
    """The same, but what was done for a key is given again."""
    known: dict[str, T] = {}

    @functools.wraps(work)
    def recall(*given: object, **named: object) -> T:
        asked = key(*given, **named)
        if asked not in known:
            known[asked] = work(*given, **named)
        return known[asked]

    return recall


def key_of_reading(*given: object, text: object, holdout: object, **rest: object) -> str:
    return f"{text} {holdout}"  # the documents of a process are always the same


def key_of_vectors(
    data: Prepared, unlabelled: object, *, size: int, seed: int, **rest: object
) -> str:
    return f"{hashed(data.training)} {len(data.vocab)} {size} {seed}"


def key_of_ngrams(data: wide.LearningData, config: wide.WideConfig, **rest: object) -> str:
    rows = (data.rows.ids, data.rows.sentence_lengths, data.rows.sentences)
    return f"{hashed(*rows, data.labels, data.held_out_in)} {config}"


def hashed(*arrays: np.ndarray) -> str:
    return hashlib.sha256(
        b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)
    ).hexdigest()


def train(variant: str, seed: int, options: dict) -> dict:
    """Train one variant with one seed; which answers are right, of the whole and of its network."""
    from regard.data.readers import read_texts
    from regard.estimators.fitting import FitOptions
    from regard.estimators.named import classifier_from

    training = read(options["data"] / "train.parquet", options["documents"])
    test = read(options["data"] / "test.parquet", options["test_documents"])
    network, changes = VARIANTS[variant]
    seeded = [*changes, f"training.seed={seed}"]
    estimator = classifier_from(network, seeded, device=options["device"])
    began = time.monotonic()
    documents = read_texts(*map(list, zip(*training, strict=True)))
    fitted = estimator.fit_documents(documents, options=FitOptions(choose_method=False))
    seconds = time.monotonic() - began
    texts, truth = zip(*test, strict=True)
    run = {"variant": variant, "seed": seed, "documents": len(training), "seconds": seconds}
    names, scanned = fitted.labels_.array, fitted.reader_.scan(texts)
    for part, answering in (("whole", fitted.model_), ("network", fitted.model_.network)):
        answered = fitted.reader_.answer(answering, scanned).logits.numpy().argmax(1)
        right = np.array([str(names[a]) == str(b) for a, b in zip(answered, truth, strict=True)])
        run |= {part: float(right.mean()), f"right_{part}": packed(right)}
    return run


def read(path: Path, count: int) -> list[tuple[str, str]]:
    """Texts and labels, so many of them drawn with a fixed seed."""
    from pyarrow.parquet import read_table

    table = read_table(path, columns=["text", "label"]).to_pylist()
    rows = [(row["text"], str(row["label"])) for row in table]
    return rows if count >= len(rows) else random.Random(0).sample(rows, count)


def packed(right: np.ndarray) -> str:
    return base64.b64encode(np.packbits(right).tobytes()).decode()


def unpacked(text: str, count: int) -> np.ndarray:
    bits = np.unpackbits(np.frombuffer(base64.b64decode(text), np.uint8))
    return bits[:count].astype(float)


def report(runs: list[dict], options: argparse.Namespace) -> None:
    """Write and print means, deviations and the paired tests, of the seeds that all have."""
    from regard.tasks.bootstrap import percentiles
    from regard.tasks.paired import correct_for_many, flip_signs, redraw_accuracies, seeds_won

    by_name = {name: {r["seed"]: r for r in runs if r["variant"] == name} for name in VARIANTS}
    by_name = {name: one for name, one in by_name.items() if one}
    pairs = [pair for pair in PAIRS if set(pair) <= set(by_name)]
    if not pairs:
        sys.exit("no two variants are trained yet")
    seeds = sorted(set.intersection(*(set(one) for one in by_name.values())))
    if not seeds:
        sys.exit("no seed of all variants is trained yet")
    used = [run for run in runs if run["seed"] in seeds]
    about = {key: value for key, value in whole(used).items() if key != "runs"}
    found: dict[str, object] = about | {
        "training_documents": options.documents,
        "test_documents": options.test_documents,
        "device": options.device,
        "parts": PARTS,
    }
    for part in PARTS:
        right = {
            name: np.stack(
                [unpacked(one[seed][f"right_{part}"], options.test_documents) for seed in seeds]
            )
            for name, one in by_name.items()
        }
        draws = redraw_accuracies(right)
        values = [flip_signs(right[first], right[second]) for first, second in pairs]
        found[part] = {
            "accuracies": {name: [one[s][part] for s in seeds] for name, one in by_name.items()},
            "pairs": [
                {
                    "pair": f"{first} - {second}",
                    "difference": float(right[first].mean() - right[second].mean()),
                    "interval": [
                        percentiles(draws[first] - draws[second]).low,
                        percentiles(draws[first] - draws[second]).high,
                    ],
                    "p": value,
                    "p_corrected": corrected,
                    "seeds_won": seeds_won(right[first], right[second])[0],
                }
                for (first, second), value, corrected in zip(
                    pairs, values, correct_for_many(values), strict=True
                )
            ],
        }
        print(f"\n{PARTS[part]}, {len(seeds)} seeds")
        for name, rows in right.items():
            means = rows.mean(1)
            spread = statistics.stdev(means) if len(means) > 1 else 0.0
            print(f"{name}: {100 * means.mean():.2f} ({100 * spread:.2f})")
        for pair in found[part]["pairs"]:
            print(json.dumps(pair))
    save(options.name, found)


if __name__ == "__main__":
    main()
