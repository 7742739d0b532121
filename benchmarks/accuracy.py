"""Accuracy on real data, beside plain linear models: the whole table by one command.

    python benchmarks/accuracy.py [--sets mr imdb] [--recipe balanced] [--seeds 0 1 2] [--jobs 1]

For every set and seed one `regard train` and one `regard evaluate`, as a person would call them.
The linear columns are fitted in the same run on the same texts. What is done is kept in
benchmarks/results/accuracy.json and not done again; --again throws away what the sets named have.
--jobs 8 --threads 1 measures eight at a time: the first seed of every set, then the next.
Everything is chosen on the training files: the test files are read to score. scripts/tables puts
the table of that file into docs/records/results.md.

Needs ../shared/data. --splits FOLDER writes what is trained and scored as JSON lines and stops, and
--from FOLDER reads them there, for machines that have not the data or cannot read parquet.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import numpy as np
from measuring import RESULTS, machine, processor

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
KEPT = RESULTS / "accuracy.json"

SVM, BAYES = "tfidf_svm", "bayes_regression"
LINEAR = {SVM: "TF-IDF + SVM", BAYES: "naive Bayes 1-3-grams + LR"}
LETTERS = "letters_svm"
STRONGER = {LETTERS: "TF-IDF of letters + SVM"}  # nobody asked for it; better on short texts
OURS = {"": "default", "fast": "fast", "balanced": "balanced", "accurate": "accurate"}

Row = dict[str, object]
Rows = list[Row]
Item = tuple[str, str, int | None]  # a set, a method, and a seed where it draws numbers


@dataclass(frozen=True)
class Part:
    """Texts to train on, and others to score."""

    train: Rows
    test: Rows


@dataclass(frozen=True)
class Set:
    """Where a set comes from, and what n-grams the TF-IDF of its linear opponent has."""

    title: str
    parts: Callable[[Path], Iterator[Part]]  # several where folds are scored together
    words: tuple[int, int] | None = (1, 2)
    characters: tuple[int, int] | None = None  # instead of words, where words are not parted
    must: float | None = None  # what was asked for, in per cent
    carried: tuple[str, ...] = ()  # other columns of the training file, given to regard as they are


def rows(path: Path, text: Callable[[Row], str] = lambda row: str(row["text"])) -> Rows:
    """Read texts and labels of a parquet file, and whatever else stands there."""
    from pyarrow.parquet import read_table

    found = read_table(path).to_pylist()
    return [{**row, "text": text(row)} for row in found]


def two_files(
    train: str, test: str, text: Callable[[Row], str] = lambda row: str(row["text"])
) -> Callable[[Path], Iterator[Part]]:
    """A set with a file to train on and another to score."""
    return lambda data: iter([Part(rows(data / train, text), rows(data / test, text))])


def amazon(domain: str) -> Callable[[Path], Iterator[Part]]:
    """One of the four kinds of things that the reviews are about."""

    def parts(data: Path) -> Iterator[Part]:
        own = [row for row in rows(data / "amazon_mds/reviews.parquet") if row["domain"] == domain]
        yield Part(*([row for row in own if row["split"] == name] for name in ("train", "test")))

    return parts


def hyperpartisan(data: Path) -> Iterator[Part]:
    """Ten folds, each scored once."""
    articles = rows(data / "hyperpartisan/articles.parquet")
    for fold in range(10):
        test = [row["fold"] == fold for row in articles]
        yield Part(
            [row for row, held in zip(articles, test, strict=True) if not held],
            [row for row, held in zip(articles, test, strict=True) if held],
        )


def body(row: Row) -> str:
    """A post without its headers, the lines it quotes, and the lines that say whom."""
    text = str(row["text"]).partition("\n\n")[2]
    lines = text.split("\n")
    return "\n".join(line for line in lines if not _QUOTED.search(line))


_QUOTED = re.compile(r"^\s*[>|:}]|^In article\b|^Quoted from\b|\b(writes|wrote|says|said):?\s*$")

SETS = {
    "imdb": Set("IMDB", two_files("imdb/train.parquet", "imdb/test.parquet"), must=92.3),
    "20newsgroups-cut": Set(
        "20newsgroups, headers and quotes cut",
        two_files("20newsgroups/train.parquet", "20newsgroups/test.parquet", body),
        must=76,
    ),
    "20newsgroups": Set(
        "20newsgroups, whole",
        two_files("20newsgroups/train.parquet", "20newsgroups/test.parquet"),
        must=87.5,
    ),
    "r52": Set(
        "Reuters R52",
        two_files("reuters/r52_train.parquet", "reuters/r52_test.parquet"),
        words=(1, 1),
        must=94.8,
    ),
    "mr": Set("MR", two_files("mr/train.parquet", "mr/test.parquet"), must=78),
    "arxiv": Set(
        "arXiv, whole papers",
        two_files("arxiv_long/train.parquet", "arxiv_long/test.parquet"),
        words=(1, 1),
        must=82,
    ),
    "hyperpartisan": Set("Hyperpartisan, 10 folds", hyperpartisan, must=79.5),
    "amazon-books": Set("Amazon books", amazon("books")),
    "amazon-dvd": Set("Amazon dvd", amazon("dvd")),
    "amazon-electronics": Set("Amazon electronics", amazon("electronics")),
    "amazon-kitchen": Set("Amazon kitchen", amazon("kitchen")),
    "nsmc": Set(
        "NSMC, Korean",
        two_files("nsmc_ko/train.parquet", "nsmc_ko/test.parquet"),
        words=None,
        characters=(1, 3),
        must=86.5,
    ),
    "chnsenticorp": Set(
        "ChnSentiCorp, Chinese, dev",
        two_files("chnsenticorp_zh/train.parquet", "chnsenticorp_zh/dev.parquet"),
        words=None,
        characters=(1, 2),
        must=92.5,
    ),
    "movies": Set(
        "Movies (ERASER)",
        two_files("rationales/movies_train.parquet", "rationales/movies_test.parquet"),
        must=93,
    ),
    "movies-marked": Set(
        "Movies (ERASER), with what people marked in its training file",
        two_files("rationales/movies_train.parquet", "rationales/movies_test.parquet"),
        must=93,
        carried=("evidence",),
    ),
}


def main(
    sets: Mapping[str, Set] = SETS, kept: Path = KEPT, script: str = __file__, about: str = ""
) -> None:
    """Measure sets as a script of theirs is asked to, and keep what is found in a file."""
    parser = argparse.ArgumentParser(
        description=about or __doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=sets, default=list(sets), metavar="SET")
    parser.add_argument("--recipe", choices=[*OURS], default="")
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--set", action="append", default=[], dest="changes", help="as for train")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--jobs", type=int, default=1, help="trainings side by side")
    parser.add_argument("--threads", type=int, default=2, help="of each training")
    parser.add_argument("--no-linear", action="store_true", help="leave the linear columns out")
    parser.add_argument("--letters", action="store_true", help="a linear model of letters as well")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--splits", type=Path, help="write what is trained and scored, and stop")
    parser.add_argument("--from", type=Path, dest="written", help="read what --splits wrote")
    parser.add_argument("--out", type=Path, default=kept)
    parser.add_argument("--answer", nargs=3, help=argparse.SUPPRESS)  # a part, its set, a method
    options = parser.parse_args()
    if options.answer:
        part, name, method = options.answer
        print(json.dumps(count_right(Path(part), sets[name], method)))
        return
    if options.splits:
        for name in options.sets:
            write_parts(sets[name], options.data, options.splits / name)
        return
    if options.written is None and not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs those data")
    Measuring(options, sets, script).run()


@dataclass(frozen=True)
class Counted:
    """How many documents of a part were right, and how long it took."""

    right: int
    documents: int
    seconds: float


class Measuring:
    """Measures what is asked for and not yet there, and keeps each figure as it comes."""

    def __init__(self, options: argparse.Namespace, sets: Mapping[str, Set], script: str) -> None:
        self.options, self.sets, self.script = options, sets, script
        self.kept: Rows = (
            json.loads(options.out.read_text())["runs"] if options.out.exists() else []
        )
        if options.again:
            self.kept = [run for run in self.kept if run["set"] not in options.sets]
        self.lock = Lock()
        self.counted: dict[Item, list[Counted]] = {}
        self.facts: Row = {
            "commit": commit(),
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "processor": processor(),
            "device": options.device,
            "threads": options.threads,
        }

    def run(self) -> None:
        """Measure set after set, some seeds at once where there are cores for it."""
        with tempfile.TemporaryDirectory() as place:
            folder = self.options.written or Path(place)
            if self.options.written is None:
                for name in self.options.sets:
                    if self._missing(name):
                        write_parts(self.sets[name], self.options.data, folder / name)
            work = [item for name in self.options.sets for item in self._missing(name)]
            # Seed after seed, so that whoever has to stop early has a figure of every set.
            work.sort(key=lambda item: 0.5 if item[2] is None else item[2])
            parts = [(item, sorted((folder / item[0]).iterdir())) for item in work]
            with ThreadPoolExecutor(self.options.jobs) as pool:
                begun = [
                    pool.submit(self._measure, part, item, len(some))
                    for item, some in parts
                    for part in some
                ]
                for one in begun:
                    one.result()

    def _missing(self, name: str) -> list[Item]:
        """What is still to be measured on a set: a method, and a seed where it draws numbers."""
        methods = [] if self.options.no_linear else [*LINEAR]
        methods += STRONGER if self.options.letters else []
        linear = [(name, method, None) for method in methods]
        ours = [(name, self._method, seed) for seed in self.options.seeds]
        done = {(run["set"], run["method"], run["seed"]) for run in self.kept}
        return [item for item in [*ours, *linear] if item not in done]

    @property
    def _method(self) -> str:
        return " ".join(["regard", self.options.recipe or "default", *self.options.changes])

    def _measure(self, part: Path, item: Item, part_count: int) -> None:
        """Train and score one part of a set in one way; keep the figure after the last part."""
        name, method, seed = item
        began = time.perf_counter()
        if seed is None:
            asked = ["--answer", str(part), name, method]
            told = self._call([sys.executable, self.script, *asked])
            right, documents = json.loads(told.splitlines()[-1])
        else:
            right, documents = self._ours(part, seed)
        with self.lock:
            counted = self.counted.setdefault(item, [])
            counted.append(Counted(right, documents, time.perf_counter() - began))
            if len(counted) == part_count:
                self._keep(item, counted)

    def _keep(self, item: Item, parts: Sequence[Counted]) -> None:
        """Keep how many documents of a set were right."""
        name, method, seed = item
        total = sum(part.documents for part in parts)
        right = sum(part.right for part in parts)
        run: Row = {"set": name, "method": method, "seed": seed, "accuracy": right / total}
        run |= {"documents": total, "seconds": round(sum(part.seconds for part in parts), 1)}
        self.kept.append(run | self.facts)
        beside = self.options.out.with_suffix(".part")
        beside.write_text(json.dumps(whole(self.kept, self.sets), indent=1) + "\n")
        beside.replace(self.options.out)
        print(json.dumps(run), flush=True)

    def _ours(self, part: Path, seed: int) -> tuple[int, int]:
        """Train and score as a person would."""
        with tempfile.TemporaryDirectory() as place:
            model = str(Path(place) / "model")
            command = ["train", str(part / "train.jsonl.gz"), "--out", model, "--no-baseline"]
            command += ["--seed", str(seed), "--device", self.options.device, "--quiet"]
            command += ["--recipe", self.options.recipe] if self.options.recipe else []
            for change in self.options.changes:
                command += ["--set", change]
            self._regard(command)
            asked = ["evaluate", model, str(part / "test.jsonl.gz"), "--json", "--quiet"]
            report = json.loads(self._regard([*asked, "--device", self.options.device]))
        # One whose label nobody has learnt is left out there, and wrong here, as for linear models.
        right = round(report["accuracy"] * report["document_count"])
        return right, len(read_rows(part / "test.jsonl.gz"))

    def _regard(self, arguments: Sequence[str]) -> str:
        return self._call([sys.executable, "-m", "regard", *arguments])

    def _call(self, command: Sequence[str]) -> str:
        threads = {"OMP_NUM_THREADS": str(self.options.threads)}
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=os.environ | threads)
        if done.returncode:
            sys.exit(f"`{' '.join(command)}` failed; its message stands above")
        return done.stdout


def write_parts(used: Set, data: Path, folder: Path) -> None:
    """Write what is trained and scored as packed JSON lines, a folder for each part."""
    for number, part in enumerate(used.parts(data)):
        place = folder / f"{number:02}"
        place.mkdir(parents=True, exist_ok=True)
        for name, own in (("train", part.train), ("test", part.test)):
            with gzip.open(place / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
                for row in own:
                    plain = {"text": row["text"], "label": str(row["label"])}
                    if name == "train":
                        plain |= {column: row[column] for column in used.carried}
                    file.write(json.dumps(plain, ensure_ascii=False) + "\n")


def read_rows(path: Path) -> Rows:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def count_right(part: Path, used: Set, method: str) -> tuple[int, int]:
    """Fit a plain linear model on a part's training texts; count right answers to its test texts.

    In a process of its own, so that several can be fitted at a time.
    """
    answers = linear_answers(part, used, method)
    truth = [row["label"] for row in read_rows(part / "test.jsonl.gz")]
    right = sum(str(one) == str(other) for one, other in zip(answers, truth, strict=True))
    return right, len(truth)


def linear_answers(part: Path, used: Set, method: str) -> list[object]:
    """Fit a plain linear model on a part's training texts and answer its test texts."""
    train, test = (read_rows(part / f"{name}.jsonl.gz") for name in ("train", "test"))
    texts, labels = [str(row["text"]) for row in train], np.array([row["label"] for row in train])
    asked = [str(row["text"]) for row in test]
    fit = {SVM: fit_svm, BAYES: fit_bayes, LETTERS: fit_letters}[method]
    return list(fit(texts, labels, asked, used))


def fit_svm(texts: list[str], labels: np.ndarray, asked: list[str], used: Set) -> np.ndarray:
    """TF-IDF with a linear support vector machine, C = 0.5."""
    kind, lengths = ("char", used.characters) if used.characters else ("word", used.words)
    return fit_tfidf(texts, labels, asked, kind=kind, lengths=lengths)


def fit_letters(texts: list[str], labels: np.ndarray, asked: list[str], used: Set) -> np.ndarray:
    """The same over runs of two to five letters inside words."""
    return fit_tfidf(texts, labels, asked, kind="char_wb", lengths=(2, 5))


def fit_tfidf(
    texts: list[str], labels: np.ndarray, asked: list[str], *, kind: str, lengths: tuple[int, int]
) -> np.ndarray:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.svm import LinearSVC

    vectorizer = TfidfVectorizer(
        analyzer=kind, ngram_range=lengths, sublinear_tf=True, min_df=2, dtype=np.float32
    )
    model = LinearSVC(C=0.5).fit(vectorizer.fit_transform(texts), labels)
    return model.predict(vectorizer.transform(asked))


def fit_bayes(texts: list[str], labels: np.ndarray, asked: list[str], used: Set) -> np.ndarray:
    """One class against the rest: which n-grams occur, times their log ratio, and regression.

    Wang and Manning (2012), with logistic regression in place of the support vector machine.
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = CountVectorizer(
        analyzer="char" if used.characters else "word",
        ngram_range=(1, 3),
        token_pattern=None if used.characters else r"\w+|[^\w\s]",
        binary=True,
        min_df=2,
        dtype=np.float32,
    )
    vectors = vectorizer.fit_transform(texts)
    questions = vectorizer.transform(asked)
    classes = np.unique(labels)
    scores = []
    for name in classes[1:] if len(classes) == 2 else classes:
        own = labels == name
        inside = np.asarray(vectors[own].sum(axis=0)).ravel() + 1
        outside = np.asarray(vectors[~own].sum(axis=0)).ravel() + 1
        ratio = np.log(inside / inside.sum()) - np.log(outside / outside.sum())
        model = LogisticRegression(C=0.1, solver="liblinear", random_state=0)
        model.fit(vectors.multiply(ratio).tocsr(), own)
        scores.append(model.decision_function(questions.multiply(ratio).tocsr()))
    if len(classes) == 2:
        return classes[(scores[0] > 0).astype(int)]
    return classes[np.argmax(scores, axis=0)]


def whole(runs: Rows, sets: Mapping[str, Set]) -> Row:
    """All runs with what any file of results says of itself; each run has its own commit too."""
    return {
        "commit": ", ".join(sorted({str(run["commit"]) for run in runs})),
        "date": max(str(run["date"]) for run in runs),
        "seeds": sorted({run["seed"] for run in runs} - {None}),  # type: ignore[type-var]
        "machine": machine(),
        "sets": {name: one.title for name, one in sets.items()},
        "musts": {name: one.must for name, one in sets.items() if one.must is not None},
        "linear": LINEAR,
        "stronger": STRONGER,
        "runs": runs,
    }


def commit() -> str:
    """The commit that is measured, or where there is no git what the environment says."""
    if "COMMIT" in os.environ:
        return os.environ["COMMIT"]
    command = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    main()
