"""A small BERT taught on IMDB's texts, and what that is worth; spans and tags on real data.

    python benchmarks/bert.py begin --save START                pieces of IMDB, and fresh weights
    python benchmarks/bert.py pretrain --bert START --save BERT --minutes 5
                                 teach it on training and unlabelled texts, without labels
    python benchmarks/bert.py text --bert BERT                  2,000 labels: from those weights,
                                 and from fresh ones of the same network; each with the learning
                                 rate that is best for it on 4,000 further training texts
    python benchmarks/bert.py spans --bert BERT [--held-out]    evidence in reviews (ERASER Movies)
    python benchmarks/bert.py tags --bert BERT [--held-out]     sentences (UD English EWT)
    python benchmarks/bert.py join FILE FILE                    put results together

With --held-out the test files are not touched: so settings are chosen, by --set PART.NAME=VALUE.
Each run is added to benchmarks/results/bert.json, or to --out. Needs ../shared/data, or --data.
"""

from __future__ import annotations

import argparse
import json
import signal
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import torch
from measuring import RESULTS, provenance

from regard.config import with_text_values
from regard.data.masking import MaskingConfig
from regard.data.spans import Marked, read_marked
from regard.data.tuning import Example
from regard.estimators.bert_folder import save_bert
from regard.estimators.bert_usages import (
    BertSpanFinder,
    BertTagger,
    BertTextClassifier,
)
from regard.estimators.fitting import FitOptions
from regard.estimators.named import split_changes
from regard.estimators.pretraining import PRETRAINING, Pretrainer
from regard.estimators.tuning import TUNING, BertUsage
from regard.models.bert import BertConfig
from regard.models.tuned_bert import TuningConfig
from regard.tasks.spans import score_segments
from regard.text.pieces import PiecesConfig, WordPieces
from regard.text.tokenize import tokenize
from regard.training.config import TrainingConfig
from regard.training.observers import TrainingProgress

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LABELS = 2000
HELD_OUT = 4000  # further training texts that settings are chosen by
NETWORK = BertConfig(hidden_size=256, layers=4, heads=4, feed_size=1024, longest=512)
MASKING = MaskingConfig(longest=512)
TEACHING = replace(PRETRAINING, learning_rate=1e-3)
TRIAL = 2000  # texts by which it is found out how much can be read in the time there is
RATES = {"taught": ("1e-4", "2e-4", "4e-4"), "fresh": ("1e-4", "3e-4", "1e-3")}
EPOCHS = {"taught": 6, "fresh": 12}
TOGETHER = 10  # sentences of a treebank that make a text
Spans = tuple[Marked, ...]


def column(path: Path, name: str) -> list[str]:
    """One column of a Parquet file."""
    return [str(one) for one in pyarrow.parquet.read_table(path, columns=[name])[name].to_pylist()]


def changed(changes: Sequence[str], **settings: object) -> list[object]:
    """Settings changed as asked: ``training.epochs=3``."""
    by_part = split_changes(changes, list(settings))
    return [with_text_values(one, by_part[part]) for part, one in settings.items()]  # type: ignore[type-var]


def precise(device: str) -> str:
    return "bfloat16" if device != "cpu" and torch.cuda.is_available() else "float32"


def texts_without_labels(data: Path) -> list[str]:
    """The training and unlabelled texts of IMDB, each once, and none that the test has."""
    folder = data / "imdb"
    tested = set(column(folder / "test.parquet", "text"))
    texts = column(folder / "train.parquet", "text") + column(folder / "unsup.parquet", "text")
    return [text for text in dict.fromkeys(texts) if text not in tested]


def begin(asked: argparse.Namespace) -> None:
    """Write a network with fresh weights, and pieces: those of the texts, or of a folder."""
    if asked.pieces is not None:
        pieces = WordPieces.load(asked.pieces)
    else:
        texts = texts_without_labels(asked.data)
        pieces = WordPieces.from_texts(lambda: texts, PiecesConfig(size=8000))
    (network,) = changed(asked.set, network=NETWORK)
    assert isinstance(network, BertConfig)
    torch.manual_seed(asked.seeds[0])
    save_bert(asked.save, network.build(vocab_size=len(pieces)), pieces)


def teach(asked: argparse.Namespace) -> dict[str, object]:
    """Pretrain, as many passes as the time allows."""
    began = time.perf_counter()
    texts = texts_without_labels(asked.data)[: asked.limit]
    training = replace(
        TEACHING, epochs=asked.epochs, seed=asked.seeds[0], precision=precise(asked.device)
    )
    masking, training = changed(asked.set, masking=MASKING, training=training)
    assert isinstance(masking, MaskingConfig) and isinstance(training, TrainingConfig)
    if asked.minutes is not None:
        some = texts[:: max(1, len(texts) // TRIAL)]
        trial = replace(training, epochs=1)
        tried = Pretrainer(
            training=trial, masking=masking, bert=asked.bert, validation=0.0, device=asked.device
        ).fit_texts(some)
        count = int(str(tried.facts_["training_pieces"]))
        a_pass = float(str(tried.facts_["training_seconds"])) * len(texts) / len(some)
        training = replace(training, epochs=max(1, int(60 * asked.minutes / a_pass)))
        print(f"{count} pieces in a trial, {a_pass:.0f} s a pass: {training.epochs}", flush=True)
    pretrainer = Pretrainer(
        training=training, masking=masking, bert=asked.bert, device=asked.device
    )
    with TrainingProgress() as lines:
        pretrainer.fit_texts(iter(texts), options=FitOptions(observers=(lines,)))
    pretrainer.save(asked.save)
    history = pretrainer.history_
    assert history is not None
    read = int(str(pretrainer.facts_["training_pieces"])) * len(history.epochs)
    return {
        "texts": len(texts),
        "passes": len(history.epochs),
        "pieces_a_second": round(read / max(history.seconds, 1e-9)),
        "minutes_of_training": round(history.seconds / 60, 2),
        "minutes_in_all": round((time.perf_counter() - began) / 60, 2),
        "facts": dict(pretrainer.facts_),
        "settings": pretrainer.settings_.to_dict(),
    }


def labelled(path: Path) -> list[Example]:
    rows = zip(column(path, "text"), column(path, "label"), strict=True)
    return [Example(text, label=label) for text, label in rows]


def tune_texts(asked: argparse.Namespace) -> dict[str, object]:
    """Tune on 2,000 labels, from the folder's weights or from fresh ones, seed by seed."""
    folder = asked.data / "imdb"
    every, tested = labelled(folder / "train.parquet"), labelled(folder / "test.parquet")
    tries, runs = [], []
    for begins in asked.begins:
        best: tuple[float, list[str]] = (-1.0, [])
        for rate in asked.rates or RATES[begins]:
            given, judged = drawn(every, asked.seeds[0])
            changes = [f"training.learning_rate={rate}", *asked.set]
            run = tuned(asked, BertTextClassifier, given, judged, asked.seeds[0], changes, begins)
            tries.append(run)
            best = max(best, (run["scores"]["accuracy"], changes))  # type: ignore[index]
        for seed in () if asked.held_out else asked.seeds:
            given, _ = drawn(every, seed)
            runs.append(tuned(asked, BertTextClassifier, given, tested, seed, best[1], begins))
    return {"labels": LABELS, "tries": tries, "runs": runs}


def drawn(every: Sequence[Example], seed: int) -> tuple[list[Example], list[Example]]:
    """Examples to learn from, and others to choose settings by."""
    order = np.random.default_rng(seed).permutation(len(every)).tolist()
    chosen = [every[n] for n in order[: LABELS + HELD_OUT]]
    return chosen[:LABELS], chosen[LABELS:]


def evidence(path: Path, name: str) -> list[Example]:
    """Reviews with what people marked in them; the question says how they were meant."""
    rows = pyarrow.parquet.read_table(path, columns=["text", "label", name]).to_pylist()
    asked = ("why is it bad ?", "why is it good ?")
    return [
        Example(
            row["text"],
            asked[int(row["label"])],
            marked=read_marked(row[name], row["text"], where="evidence"),
        )
        for row in rows
    ]


def tune_spans(asked: argparse.Namespace) -> dict[str, object]:
    """Find a stretch that people marked as evidence."""
    folder = asked.data / "rationales"
    given = evidence(folder / "movies_train.parquet", "evidence")
    judged = evidence(folder / "movies_val.parquet", "evidence")
    if not asked.held_out:
        judged = evidence(folder / "movies_test.parquet", "evidence")
    runs = [
        tuned(asked, BertSpanFinder, given, judged, seed, ["tuning.stride=128", *asked.set])
        for seed in asked.seeds
    ]
    return {"runs": runs}


def sentences(path: Path, split: str) -> Iterator[Example]:
    """Runs of ten sentences joined by a space each, of which every one is a span."""
    rows = pyarrow.parquet.read_table(path, columns=["split", "text"]).to_pylist()
    texts = [row["text"] for row in rows if row["split"] == split]
    for first in range(0, len(texts), TOGETHER):
        some = texts[first : first + TOGETHER]
        starts = np.cumsum([0, *(len(text) + 1 for text in some)]).tolist()
        marked = [
            Marked(start, start + len(text), "sentence")
            for start, text in zip(starts, some, strict=False)
        ]
        yield Example(" ".join(some), marked=tuple(marked))


def tune_tags(asked: argparse.Namespace) -> dict[str, object]:
    """Tag where sentences begin, learnt from the development part; beside our own rules."""
    folder = asked.data / "sentence_boundaries"
    given = list(sentences(folder / "ud_en_ewt.parquet", "dev"))
    judged = list(sentences(folder / "ud_en_ewt.parquet", "test"))
    if asked.held_out:
        judged, given = given[::5], [one for n, one in enumerate(given) if n % 5]
    else:
        given += sentences(folder / "ud_en_gum.parquet", "dev")
    texts = [one.text for one in judged]
    right = [one.marked for one in judged]
    rules = score_segments(texts, [by_rule(text) for text in texts], right)
    runs = [tuned(asked, BertTagger, given, judged, seed, asked.set) for seed in asked.seeds]
    return {"rules": rules, "runs": runs}


def by_rule(text: str) -> Spans:
    """The sentences that our own rules find."""
    return tuple(Marked(*span, "sentence") for span in tokenize(text).sentence_spans())


def tuned(
    asked: argparse.Namespace,
    usage: type[BertUsage],
    given: Sequence[Example],
    judged: Sequence[Example],
    seed: int,
    changes: Sequence[str],
    begins: str = "taught",
) -> dict[str, object]:
    """Tune once with all that is given, and score once."""
    epochs = asked.epochs or EPOCHS[begins]
    training = replace(TUNING, seed=seed, precision=precise(asked.device), epochs=epochs)
    fresh = TuningConfig(fresh=begins == "fresh")
    tuning, training = changed(changes, tuning=fresh, training=training)
    began = time.perf_counter()
    estimator = usage(
        asked.bert, tuning=tuning, training=training, validation=0.0, device=asked.device
    ).fit_examples(given)
    seconds = time.perf_counter() - began
    found = estimator.evaluate_examples(judged)
    print(usage.task, begins, seed, changes, found.scores, flush=True)
    return {
        "begins": begins,
        "seed": seed,
        "changes": list(changes),
        "scores": dict(found.scores),
        "baseline": dict(found.baseline),
        "baseline_name": found.baseline_name,
        "examples": found.examples,
        "cut": found.cut,
        "seconds": round(seconds, 1),
        "parameters": estimator.facts_["parameters"],
    }


MEASURES = {"pretrain": teach, "text": tune_texts, "spans": tune_spans, "tags": tune_tags}


def main() -> None:
    """Run one measure, and add it to the file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("measure", choices=("begin", *MEASURES, "join"))
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--bert", type=Path)
    parser.add_argument("--pieces", type=Path)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--name", default="taught")
    parser.add_argument("--epochs", type=int, default=None)
    parser.add_argument("--minutes", type=float, default=None)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--begins", nargs="+", choices=tuple(RATES), default=list(RATES))
    parser.add_argument("--rates", nargs="+")
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=RESULTS / "bert.json")
    asked = parser.parse_args()
    # Started in the background, it would not hear of Ctrl-C, which ends a training well.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    known = json.loads(asked.out.read_text()) if asked.out.exists() else {"measures": []}
    if asked.measure == "begin":
        begin(asked)
        return
    if asked.measure == "join":
        for path in asked.files:
            other = json.loads(path.read_text())
            known = {**other, "measures": known["measures"] + other["measures"]}
        asked.out.write_text(json.dumps(known, indent=1) + "\n")
        return
    if asked.measure == "pretrain" and asked.epochs is None:
        asked.epochs = 1
    made = MEASURES[asked.measure](asked)
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    entry = {"measure": asked.measure, "name": asked.name, "held_out": asked.held_out, **made}
    known |= provenance(asked.seeds) | {"device": device}
    known["measures"].append(entry)
    asked.out.write_text(json.dumps(known, indent=1) + "\n")
    print(json.dumps(entry, indent=1), flush=True)


if __name__ == "__main__":
    main()
