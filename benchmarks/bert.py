"""A small BERT taught on IMDB's texts, and what that is worth; spans and tags on real data.

    python benchmarks/bert.py pretrain --save BERT --epochs 12   teach one on training and
                                                                 unlabelled texts, without labels
    python benchmarks/bert.py text --bert BERT [--held-out]      2,000 labels: from that BERT, and
                                                                 from fresh weights of the same size
    python benchmarks/bert.py spans --bert BERT [--held-out]     evidence in reviews (ERASER Movies)
    python benchmarks/bert.py tags --bert BERT [--held-out]      sentences (UD English EWT)

With --held-out the test files are not touched: so settings are chosen, by --set PART.NAME=VALUE
for the tuned and --fresh-set for the fresh network. Each run is added to
benchmarks/results/bert.json, or to --out. Needs ../shared/data, or --data.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet
import torch
from measuring import RESULTS, provenance

from regard.cli.training import split_changes
from regard.config import with_text_values
from regard.data.masking import MaskingConfig
from regard.data.spans import Marked, read_marked
from regard.data.tuning import Example
from regard.estimators.bert_usages import (
    TUNING,
    BertSpanFinder,
    BertTagger,
    BertTextClassifier,
    BertUsage,
)
from regard.estimators.fitting import FitOptions
from regard.estimators.pretraining import PRETRAINING, Pretrainer
from regard.models.bert import BertConfig
from regard.models.tuned_bert import TuningConfig
from regard.tasks.spans import score_segments
from regard.text.pieces import PiecesConfig
from regard.text.tokenize import tokenize
from regard.training.observers import TrainingProgress

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LABELS = 2000
HELD_OUT = 4000  # further training texts that settings are chosen by
NETWORK = BertConfig(hidden_size=384, layers=6, heads=6, feed_size=1536, longest=512)
MASKING = MaskingConfig(longest=512)
TEACHING = replace(PRETRAINING, batch_size=512, batch_tokens=65536, learning_rate=7e-4, warmup=0.08)
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


def teach(asked: argparse.Namespace) -> dict[str, object]:
    """Pretrain on texts that no test has."""
    folder = asked.data / "imdb"
    tested = set(column(folder / "test.parquet", "text"))
    texts = column(folder / "train.parquet", "text") + column(folder / "unsup.parquet", "text")
    texts = [text for text in dict.fromkeys(texts) if text not in tested][: asked.limit]
    training = replace(
        TEACHING, epochs=asked.epochs, seed=asked.seeds[0], precision=precise(asked.device)
    )
    network, masking, pieces, training = changed(
        asked.set,
        network=NETWORK,
        masking=MASKING,
        pieces=PiecesConfig(size=8000),
        training=training,
    )
    pretrainer = Pretrainer(
        network, training=training, masking=masking, pieces=pieces, device=asked.device
    )
    began = time.perf_counter()
    with TrainingProgress() as lines:
        pretrainer.fit_texts(iter(texts), options=FitOptions(observers=(lines,)))
    pretrainer.save(asked.save)
    seconds = pretrainer.history_.seconds if pretrainer.history_ else 0.0
    passes = pretrainer.training.epochs
    read = int(str(pretrainer.facts_["training_pieces"])) * passes
    return {
        "texts": len(texts),
        "pieces_a_second": round(read / seconds),
        "minutes_of_training": round(seconds / 60, 2),
        "minutes_in_all": round((time.perf_counter() - began) / 60, 2),
        "facts": dict(pretrainer.facts_),
        "settings": pretrainer.settings_.to_dict(),
    }


def labelled(path: Path) -> list[Example]:
    rows = zip(column(path, "text"), column(path, "label"), strict=True)
    return [Example(text, label=label) for text, label in rows]


def tune_texts(asked: argparse.Namespace) -> dict[str, object]:
    """Tune on 2,000 labels, from the folder's weights and from fresh ones, seed by seed."""
    folder = asked.data / "imdb"
    every = labelled(folder / "train.parquet")
    runs = []
    for seed in asked.seeds:
        order = np.random.default_rng(seed).permutation(len(every))
        given = [every[n] for n in order[:LABELS]]
        judged = [every[n] for n in order[LABELS : LABELS + HELD_OUT]]
        if not asked.held_out:
            judged = labelled(folder / "test.parquet")
        for fresh, changes in ((False, asked.set), (True, asked.fresh_set)):
            run = tuned(asked, BertTextClassifier, given, judged, seed, changes, fresh=fresh)
            runs.append({"begins": "fresh" if fresh else "taught", **run})
    return {"labels": LABELS, "runs": runs}


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
    *,
    fresh: bool = False,
) -> dict[str, object]:
    """Tune once with all that is given, and score once."""
    training = replace(TUNING, seed=seed, precision=precise(asked.device), epochs=asked.epochs)
    tuning, training = changed(changes, tuning=TuningConfig(fresh=fresh), training=training)
    began = time.perf_counter()
    estimator = usage(
        asked.bert, tuning=tuning, training=training, validation=0.0, device=asked.device
    ).fit_examples(given)
    seconds = time.perf_counter() - began
    found = estimator.evaluate_examples(judged)
    print(usage.task, "fresh" if fresh else "taught", seed, changes, found.scores, flush=True)
    return {
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
    parser.add_argument("measure", choices=MEASURES)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--bert", type=Path)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--name", default="")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--fresh-set", action="append", default=[])
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path, default=RESULTS / "bert.json")
    asked = parser.parse_args()
    made = MEASURES[asked.measure](asked)
    known = json.loads(asked.out.read_text()) if asked.out.exists() else {"measures": []}
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    entry = {"measure": asked.measure, "name": asked.name, "held_out": asked.held_out, **made}
    known |= provenance(asked.seeds) | {"device": device}
    known["measures"].append(entry)
    asked.out.write_text(json.dumps(known, indent=1) + "\n")
    print(json.dumps(entry, indent=1), flush=True)


if __name__ == "__main__":
    main()
