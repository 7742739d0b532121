"""How often a receipt's verdict is wrong, and how often it finds what was planted.

    python benchmarks/verdict.py [--documents 1000] [--training 4000] [--planted 3000] [--workers 1]
        [--runs FILE] [--stop-after SECONDS]

Trains a small HAN on part of IMDB's training reviews and judges explanations of its test reviews,
on which no threshold was fitted, cut at sentence ends into bands of length. What should not be
called faithful: scores of the methods dealt out at random, the methods asked of a copy of the
network with fresh weights, and answers of that copy itself, which hang on next to nothing. What
should be: the methods' explanations of planted documents, in which one sentence among others says
the label, if the model got it right. What has been judged is kept in --runs and not judged again
(both are trained anew, which gives the same models); the file of results is written when all is.
Needs ../shared/data/imdb.
"""

from __future__ import annotations

import argparse
import functools
import itertools
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import pyarrow.parquet
import torch
from measuring import IMDB, RESULTS, add_run, kept_runs, save, whole
from planted import LABELS, cue_sentence, real_sentences

from regard import DocumentClassifier, HANConfig, TrainingConfig
from regard.explain.answers import Answers, likeliest
from regard.explain.methods import METHODS
from regard.explain.receipts import measure, open_inquiries
from regard.explain.verdicts import AGREEMENT
from regard.models.base import Model
from regard.records.explanation import ERROR_RATE, LEAST_LEAD, Explanation
from regard.records.weights import Weights
from regard.text.tokenize import TextConfig, tokenize_many

NETWORK = HANConfig()
TRAINING = TrainingConfig(epochs=3)
BANDS = ((3, 8), (9, 20), (21, 60), (61, 300), (301, 3000))
BODIES = {(21, 60): (1, 2), (61, 300): (4, 12), (301, 3000): (20, 60)}
"""How many real sentences stand around a planted one, for each band of length."""
METHOD_NAMES = ("attention", "attention_gradient", "gradient_input", "erasure")
SEED, FRESH_SEEDS = TRAINING.seed, (1, 2, 3)
OPEN = "open"
TOGETHER = 25  # documents that are judged at once

Count = Counter[str]
Verdicts = dict[str, Count]
"""How often each verdict was given, by the kind of explanation."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--training", type=int, default=4000, help="reviews to train on")
    parser.add_argument("--documents", type=int, default=1000, help="documents of each band")
    parser.add_argument("--planted", type=int, default=3000, help="planted documents to train on")
    parser.add_argument("--workers", type=int, default=1, help="processes that judge")
    parser.add_argument("--name", default="verdict", help="of the file of results")
    parser.add_argument("--runs", type=Path, default=RESULTS / "verdict-runs.jsonl")
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(1)
    rules = {"error_rate": ERROR_RATE, "agreement": AGREEMENT, "least_lead": LEAST_LEAD}
    settings = {"documents": options.documents, "training": options.training}
    runs, ends = kept_runs(options.runs), time.time() + options.stop_after
    done = {(one["kind"], one["band"], one["first"]) for one in runs}
    turns = -(-options.documents // TOGETHER)
    expected = {"reviews": turns * len(BANDS), "planted": turns * len(BODIES)}
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(options.workers, get_context("spawn")) as pool,
    ):
        place = Path(folder)
        sizes = {"reviews": options.training, "planted": options.planted}
        # Trained side by side; what is judged first is what takes longest.
        taught = {
            kind: pool.submit(TEACHERS[kind], sizes[kind], place)
            for kind, count in expected.items()
            if sum(one[0] == kind for one in done) < count
        }
        going = []
        for kind, training in taught.items():
            method = training.result()
            print(f"{kind}: the method chosen is {method}", flush=True)
            for band, texts in TEXTS[kind](place, options.documents):
                for turn, first in enumerate(range(0, len(texts), TOGETHER)):
                    if (kind, band, first) not in done:
                        about = {"kind": kind, "band": band, "first": first}
                        about |= {"method": method, "seed": SEED}
                        some = texts[first : first + TOGETHER]
                        seed = FRESH_SEEDS[turn % len(FRESH_SEEDS)]
                        asked = (place, about, some, seed, options.runs, ends)
                        going.append(pool.submit(judge_some, *asked))
        missing = sum(not one.result() for one in going)
    if missing:
        sys.exit(f"no time was left for {missing} times {TOGETHER} texts")
    report(kept_runs(options.runs), {**settings, **rules}, options.name)


def report(runs: Sequence[dict], settings: Mapping[str, object], name: str) -> None:
    """Add up the verdicts of all texts and write the file of results."""
    counted: dict[tuple[str, str], Verdicts] = {}
    for one in runs:
        for kind, counts in one["verdicts"].items():
            sums = counted.setdefault((one["kind"], one["band"]), {})
            sums.setdefault(kind, Counter()).update(counts)
    found: dict[str, object] = {**whole(runs), **settings}
    found.pop("runs")
    for kind, bands in (("reviews", BANDS), ("planted", tuple(BODIES))):
        rates = {band: summary(f"{kind} {band}", counted[kind, band]) for band in map(named, bands)}
        methods = sorted({one["method"] for one in runs if one["kind"] == kind})
        if len(methods) > 1:
            sys.exit(f"{kind}: the trainings chose {' and '.join(methods)}; judge them anew")
        found[kind] = {"default method": methods[0], **rates}
    save(name, found)


def judge_some(
    folder: Path, about: dict[str, object], texts: Sequence[str], seed: int, runs: Path, ends: float
) -> bool:
    """Judge some texts and keep what was found, unless the time has come to end."""
    if time.time() > ends:
        return False
    verdicts = JUDGES[str(about["kind"])](folder, texts, seed, str(about["method"]))
    add_run(runs, {**about, "verdicts": verdicts})
    return True


def teach_reviews(count: int, folder: Path) -> str:
    """Train on reviews, save the model, and return the method that explains it."""
    torch.set_num_threads(1)
    table = pyarrow.parquet.read_table(IMDB / "train.parquet", columns=["text", "label"])
    taught = table.to_pylist()
    random.Random(0).shuffle(taught)
    classifier = DocumentClassifier(NETWORK, training=TRAINING, device="cpu", progress=False)
    taught = taught[:count]
    classifier.fit([row["text"] for row in taught], [row["label"] for row in taught])
    classifier.save(folder / "reviews")
    return str(classifier.facts_["explain_method"])


def review_texts(folder: Path, count: int) -> Iterator[tuple[str, list[str]]]:
    """Test reviews of each band."""
    texts = pyarrow.parquet.read_table(IMDB / "test.parquet", columns=["text"])["text"].to_pylist()
    random.Random(1).shuffle(texts)
    for band in reversed(BANDS):
        yield named(band), list(within(iter(texts), band, count))


def judge_reviews(folder: Path, texts: Sequence[str], seed: int, method: str) -> Verdicts:
    """Judge true, random and foreign explanations of some test reviews."""
    classifier = loaded(folder / "reviews")
    fresh = fresh_copy(classifier.model_, seed)
    verdicts: Verdicts = {}
    for _, answers in classifier.fitted_.answers(texts):
        judge(answers, fresh, with_default(method), verdicts)
    return verdicts


@functools.cache
def loaded(folder: Path) -> DocumentClassifier:
    """The model of a folder, read once by each process."""
    torch.set_num_threads(1)
    return DocumentClassifier.load(folder, device="cpu")


def with_default(method: str) -> Iterable[str]:
    """The methods that are judged, the one that the training chose among them."""
    return dict.fromkeys((*METHOD_NAMES, method))


def judge(answers: Answers, model: Model, methods: Iterable[str], verdicts: Verdicts) -> None:
    """Judge every kind of explanation of some texts; ``model`` has fresh weights."""
    itself = own_answers(answers, model)
    opened, untaught, foreign = (
        open_inquiries(answers),
        open_inquiries(itself),
        put_to(answers, model),
    )
    for name in methods:
        own = METHODS[name].explain(answers)
        at_random = [shuffled(one, len(one.source)) for one in own]
        tally(verdicts, f"{name}, own", measure(opened, own))
        tally(verdicts, f"{name}, at random", measure(opened, at_random))
        of_fresh = measure(opened, METHODS[name].explain(foreign))
        tally(verdicts, f"{name}, of fresh weights", of_fresh)
        told = measure(untaught, METHODS[name].explain(itself))
        tally(verdicts, f"{name}, fresh weights themselves", told)


def teach_planted(count: int, folder: Path) -> str:
    """Train on documents in which one sentence says the label; return the method chosen."""
    torch.set_num_threads(1)
    rng, sentences = random.Random(0), real_sentences(2000)
    bodies = list(BODIES.values())
    taught = [planted(rng, sentences, rng.choice(bodies)) for _ in range(count)]
    classifier = DocumentClassifier(
        NETWORK, training=replace(TRAINING, epochs=8), device="cpu", progress=False
    )
    classifier.fit([text for text, _ in taught], [label for _, label in taught])
    classifier.save(folder / "planted")
    return str(classifier.facts_["explain_method"])


def planted_texts(folder: Path, count: int) -> Iterator[tuple[str, list[str]]]:
    """New planted documents of each band that the model gets right."""
    rng, sentences = random.Random(1), real_sentences(2000)
    for band, body in reversed(BODIES.items()):
        made = (planted(rng, sentences, body) for _ in itertools.count())
        right = right_ones(loaded(folder / "planted"), made, band)
        yield named(band), list(itertools.islice(right, count))


def judge_planted(folder: Path, texts: Sequence[str], seed: int, method: str) -> Verdicts:
    """Judge explanations of some planted documents, and the same scores dealt out at random."""
    verdicts: Verdicts = {}
    for _, answers in loaded(folder / "planted").fitted_.answers(texts):
        opened = open_inquiries(answers)
        for name in with_default(method):
            own = METHODS[name].explain(answers)
            tally(verdicts, f"{name}, own", measure(opened, own))
            at_random = [shuffled(one, len(one.source)) for one in own]
            tally(verdicts, f"{name}, at random", measure(opened, at_random))
    return verdicts


TEACHERS: Mapping[str, Callable[[int, Path], str]] = {
    "reviews": teach_reviews,
    "planted": teach_planted,
}
TEXTS: Mapping[str, Callable[[Path, int], Iterator[tuple[str, list[str]]]]] = {
    "reviews": review_texts,
    "planted": planted_texts,
}
JUDGES: Mapping[str, Callable[[Path, Sequence[str], int, str], Verdicts]] = {
    "reviews": judge_reviews,
    "planted": judge_planted,
}


def right_ones(
    classifier: DocumentClassifier, made: Iterable[tuple[str, str]], band: tuple[int, int]
) -> Iterator[str]:
    """Texts with a cue, of so many words, that the model gets right: it used the cue."""
    for text, label in made:
        size = len(tokenize_many([text], TextConfig())[0])
        if label == OPEN or not band[0] <= size <= band[1]:
            continue
        if classifier.predict([text])[0] == label:
            yield text


def within(texts: Iterator[str], band: tuple[int, int], count: int) -> Iterator[str]:
    """Runs of whole sentences of so many words, one of each text."""
    draw = random.Random(0)
    for text in texts:
        tokens = tokenize_many([text], TextConfig())[0]
        spans, sizes = tokens.sentence_spans(), tokens.per_sentence.tolist()
        first = draw.randrange(len(sizes)) if band[1] <= 60 else 0
        total = 0
        for last in range(first, len(sizes)):
            total += sizes[last]
            whole = last == len(sizes) - 1
            if band[0] <= total <= band[1] and (whole or band[1] <= 60):
                yield text[spans[first][0] : spans[last][1]]
                count -= 1
                break
        if not count:
            return


def planted(rng: random.Random, sentences: list[str], body: tuple[int, int]) -> tuple[str, str]:
    """Real sentences with a cue among them, and its label; a third have none.

    With two labels alone a model needs the cue of one only, and takes its absence for the other.
    """
    label = rng.choice([*LABELS, OPEN])
    around = rng.sample(sentences, rng.randint(*body))
    if label != OPEN:
        cue = cue_sentence(rng, LABELS[label], test=False)
        around.insert(rng.randrange(len(around) + 1), cue)
    return " ".join(around), label


def fresh_copy(model: Model, seed: int) -> Model:
    """The same network with weights that have learned nothing."""
    torch.manual_seed(seed)
    size, labels = model.embedding.num_embeddings, 2
    return NETWORK.build(vocab_size=size, label_count=labels).eval()


def put_to(answers: Answers, model: Model) -> Answers:
    """The same questions about the same answers to another network."""
    with torch.no_grad():
        return replace(answers, model=model, output=model(answers.batch))


def own_answers(answers: Answers, model: Model) -> Answers:
    """What another network answers itself."""
    asked = put_to(answers, model)
    likely = asked.likely(asked.output.logits)
    return replace(asked, probabilities=likely, chosen=likeliest(likely))


def shuffled(explanation: Explanation, seed: int) -> Explanation:
    """The same weights on other words and sentences."""
    draw = random.Random(seed)

    def moved(weights: Weights) -> Weights:
        order = draw.sample(range(len(weights)), len(weights))
        values = tuple(weights.values[place] for place in order)
        scores = weights.scores and tuple(weights.scores[place] for place in order)
        return replace(weights, values=values, scores=scores, hops=())

    decision = explanation.decisions[0]
    ranked = tuple(
        moved(weights) for weights in (decision.words, decision.level("sentence")) if weights
    )
    named_so = tuple(
        replace(weights, name=name)
        for weights, name in zip(ranked, ("word", "sentence"), strict=False)
    )
    return replace(explanation, decisions=(replace(decision, weights=named_so),))


def tally(verdicts: Verdicts, kind: str, found: Sequence[Explanation]) -> None:
    """Count the verdicts on words, on sentences, and on both."""
    for explanation in found:
        receipt = explanation.receipt
        assert receipt is not None
        verdicts.setdefault(f"{kind}, both", Counter())[receipt.verdict] += 1
        for one in receipt.judgements:
            verdicts.setdefault(f"{kind}, {one.level}", Counter())[one.verdict] += 1


def summary(title: str, verdicts: Verdicts) -> dict[str, dict[str, float]]:
    """Print and return the share of each verdict, for each kind of explanation."""
    found: dict[str, dict[str, float]] = {}
    for kind, counts in verdicts.items():
        total = sum(counts.values())
        found[kind] = {"documents": total, **{name: n / total for name, n in counts.items()}}
        told = "  ".join(f"{name} {100 * n / total:.1f} %" for name, n in counts.most_common())
        print(f"{title:16} {kind:48} {total:5} {told}")
    sys.stdout.flush()
    return found


def named(band: tuple[int, int]) -> str:
    return f"{band[0]}-{band[1]} words"


if __name__ == "__main__":
    main()
