"""Whether this version is as fast as an earlier one: python benchmarks/versions.py EARLIER

EARLIER is a checkout of the earlier commit with its kernels built (``git worktree add EARLIER
COMMIT``, then ``python setup.py build_ext --inplace`` in it). Each version runs in a process of its
own, on one thread, and they do the same work in turns; processor time is compared. Ratios above
one: this version is faster. Both answer with the models that the earlier one trained and saved.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
DATA = HERE.parent / "shared" / "data"
REVIEWS, ASKED, ERASED, PAIRS, TRANSLATED = 2000, 2000, 40, 1500, 300


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("earlier", type=Path)
    arguments.add_argument("--rounds", type=int, default=9)
    asked = arguments.parse_args()
    with tempfile.TemporaryDirectory() as models:
        compare(asked.earlier.resolve(), Path(models), asked.rounds)


def compare(earlier_folder: Path, models: Path, rounds: int) -> None:
    versions = {"earlier": Version(earlier_folder, models)}
    versions["earlier"].run("training")  # it has saved its models when this is done
    versions["now"] = Version(HERE, models)
    ratios = {}
    for job in JOBS:
        seconds = {name: [] for name in versions}
        for turn in range(rounds + 1):  # the first round warms up
            for name in sorted(versions, reverse=bool(turn % 2)):
                seconds[name].append(versions[name].run(job))
        # What disturbs a run only adds to it: the quicker half of the rounds is compared.
        halves = {name: sorted(found[1:])[: (rounds + 1) // 2] for name, found in seconds.items()}
        earlier, now = (statistics.mean(halves[name]) for name in ("earlier", "now"))
        ratios[job] = round(earlier / now, 3)
        print(f"{job:24} {earlier:8.3f} s, now {now:8.3f} s: {ratios[job]:.3f}", flush=True)
    from measuring import machine, save

    found = {
        "machine": machine(),
        "date": time.strftime("%Y-%m-%d"),
        "commit": versions["now"].commit,
        "earlier": versions["earlier"].commit,
        "seed": 0,
        "ratios": ratios,
    }
    save("versions", found)


class Version:
    """A checkout at work in a process of its own."""

    def __init__(self, folder: Path, models: Path) -> None:
        asked = ["git", "-C", str(folder), "rev-parse", "--short", "HEAD"]
        self.commit = subprocess.run(asked, capture_output=True, text=True).stdout.strip()
        environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--work", str(folder), str(models)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def run(self, job: str) -> float:
        """Let it do the work once; the processor seconds it took."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(job + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"version {self.commit} ended in {job!r}")
        return json.loads(line)


def work(folder: str, models: Path) -> None:
    """Do the jobs that are asked for, line by line."""
    import warnings

    import regard

    warnings.simplefilter("ignore")
    assert str(Path(regard.__file__).resolve()).startswith(folder), regard.__file__
    answers, sys.stdout = sys.stdout, sys.stderr
    desk = Desk(models)
    for line in sys.stdin:
        job = getattr(desk, JOBS[line.strip()])
        began = time.process_time()
        job()
        answers.write(json.dumps(time.process_time() - began) + "\n")
        answers.flush()


class Desk:
    """What the jobs work on: the same in every version, through names that all versions have."""

    def __init__(self, models: Path) -> None:
        import pyarrow.parquet as pq

        from regard import DocumentClassifier, Translator
        from regard.models.seq2seq import Seq2SeqConfig

        rows = pq.read_table(DATA / "imdb" / "train.parquet").to_pydict()
        step = len(rows["text"]) // REVIEWS
        self.texts, self.labels = rows["text"][::step][:REVIEWS], rows["label"][::step][:REVIEWS]
        rows = pq.read_table(DATA / "multi30k" / "train.parquet").slice(0, PAIRS).to_pydict()
        self.sources = rows["en"]
        if not models.joinpath("translator").exists():
            self._fresh(DocumentClassifier).fit(self.texts, self.labels).save(models / "classifier")
            translator = self._fresh(Translator, network=Seq2SeqConfig())
            translator.fit(self.sources, rows["de"]).save(models / "translator")
        self.untrained = self._fresh(DocumentClassifier)
        self.classifier = DocumentClassifier.load(models / "classifier")
        self.translator = Translator.load(models / "translator")
        self.read = self.classifier.reader_.scan(self.texts[:ASKED])

    def _fresh(self, kind: type, **settings: object) -> object:
        from regard import TrainingConfig

        if "wide" in inspect.signature(kind.__init__).parameters:
            settings["wide"] = None  # networks are compared, and earlier versions have nothing else
        return kind(training=TrainingConfig(epochs=2, seed=0), **settings)

    def train(self) -> None:
        from regard import Document

        documents = map(Document, self.texts, self.labels)
        self.untrained.fit_documents(documents, options=self._training_alone())

    def _training_alone(self) -> object:
        """Options without what earlier versions did not do: methods measured, vectors learnt."""
        fit = type(self.untrained).fit_documents
        kind = type(inspect.signature(fit).parameters["options"].default)
        names, options = kind.__dataclass_fields__, {}
        if "choose_method" in names:
            options["choose_method"] = False
        if "recipe" in names:
            from regard.estimators.recipes import RECIPES

            options["recipe"] = RECIPES["fast"]
        return kind(**options)

    def predict_ids(self) -> None:
        self.classifier.reader_.answer(self.classifier.model_, self.read)

    def predict_texts(self) -> None:
        self.classifier.predict_proba(self.texts[:ASKED])

    def translate(self) -> None:
        self.translator.predict(self.sources[:TRANSLATED])

    def erase(self) -> None:
        self.classifier.explain(self.texts[:ERASED], method="erasure", receipt=False)


JOBS = {
    "training": "train",
    "prediction from ids": "predict_ids",
    "prediction from texts": "predict_texts",
    "translation": "translate",
    "erasure": "erase",
}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
