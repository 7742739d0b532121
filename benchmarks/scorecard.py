"""What was asked for and what came out: a line for each target, from the files of results.

scripts/tables writes it into docs/records/targets.md. A target that is missed is called missed
there, by the figures and by nobody's choice of words.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import mean
from typing import Any

RESULTS = Path(__file__).resolve().parent / "results"
Found = Mapping[str, Any]


@dataclass(frozen=True)
class Target:
    """Something that was asked for, and what was measured."""

    what: str
    must: str
    reached: str
    met: bool
    page: str  # where the figure stands with all that belongs to it

    def cells(self) -> list[str]:
        """A row of a table."""
        told = f"[{self.reached}]({self.page})"
        return [self.what, self.must, told, "yes" if self.met else "**missed**"]


def targets() -> dict[str, list[Target]]:
    """All targets, by the question that they answer."""
    return {
        "Is it as accurate as what you use today?": list(accuracy()),
        "Is the explanation true?": list(trust()),
        "Transformer, BERT, and documents read through BERT": list(reading()),
        "Captions": list(captions()),
    }


@cache
def read(name: str) -> Found:
    """A file of results."""
    found: Found = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    return found


def at_least(what: str, must: float, value: float, page: str, told: str = "{:.1f}") -> Target:
    """A target that is met by no less."""
    return Target(what, told.format(must), told.format(value), value >= must, page)


def at_most(what: str, must: float, value: float, page: str, told: str = "{:.1f}") -> Target:
    """A target that is met by no more."""
    return Target(what, f"{told.format(must)} at most", told.format(value), value <= must, page)


def means(found: Found, method: str) -> dict[str, float]:
    """The accuracy of a method on each set, in per cent, on average over its seeds."""
    scores: dict[str, list[float]] = {}
    for run in found["runs"]:
        if run["method"] == method:
            scores.setdefault(run["set"], []).append(100 * run["accuracy"])
    return {name: mean(some) for name, some in scores.items()}


def leads(found: Found) -> dict[str, float]:
    """By how much the default leads the better of the two linear models on each set."""
    linear = [means(found, method) for method in found["linear"]]
    ours = means(found, "regard default")
    return {name: ours[name] - max(one[name] for one in linear) for name in ours}


def accuracy() -> Iterator[Target]:
    """The default beside linear models, and what it costs."""
    page = "results.md#accuracy-beside-linear-models"
    found = read("accuracy")
    ours = means(found, "regard default")
    for name, must in found["musts"].items():
        told = "{:.2f} %" if name in ours else "{}"
        yield at_least(found["sets"][name], must, ours[name], page, told)
    amazon = mean(score for name, score in ours.items() if name.startswith("amazon"))
    yield at_least("Amazon's reviews, the mean of four kinds", 86, amazon, page, "{:.2f} %")
    lead = min(leads(found).values())
    what = "lead over the better of two linear models, on the set where it is least"
    yield at_least(what, -0.3, lead, page, "{:+.2f} points")
    for file, title, place in (
        ("other-sets", "texts of other kinds", "results.md#texts-of-other-kinds"),
        ("packages", "descriptions of packages", "results.md#descriptions-of-packages"),
        (
            "found-texts",
            "texts that come with packages",
            "results.md#texts-that-come-with-packages",
        ),
    ):
        least = leads(read(file))
        enough = sum(value >= -0.3 for value in least.values())
        reached = f"{enough} of {len(least)}, {mean(least.values()):+.1f} points on the mean"
        what = f"sets on which it is behind by 0.3 points at most: {title}"
        yield Target(what, f"all {len(least)}", reached, enough == len(least), place)
    runs = read("demo")["runs"]
    lead = min(100 * run["difference"] for run in runs)
    what = "`make demo`, lead over TF-IDF with regression, the lower of two seeds"
    yield at_least(what, 0, lead, "results.md#the-demo-beside-tf-idf", "{:+.1f} points")
    cost, place = read("wide-cost"), "results.md#what-n-grams-cost"
    what = "time of a training on IMDB, against the commit before n-grams"
    yield at_most(what, cost["most_training"], cost["training_ratio"], place, "{:.2f} times")
    what = "answers a second from raw text, against the same"
    yield at_least(what, cost["least_answers"], cost["answers_ratio"], place, "{:.2f} times")


def trust() -> Iterator[Target]:
    """What explanations are held against."""
    found, page = read("movies"), "../trust.md#eraser-movies"
    must = found["must"]["lead"]
    for column, rows in found["columns"].items():
        for drawn in (("word", "phrase"), ("sentence", "sentence, per word")):
            if column.startswith("test"):
                own = {level: rows[level] for level in drawn}
                met = any(one["lead"] >= must and one["interval"][0] > 0 for one in own.values())
                told = "; ".join(f"{level} {one['lead']:+.3f}" for level, one in own.items())
                what = f"Movies, {column}: lead over the best opponent by {drawn[0]}s"
                yield Target(what, f"{must:+.2f}", told, met, page)
    ratio = mean(run["comprehensiveness_ratio"] for run in found["runs"])
    what = "Movies: lost without the heaviest words, against random ones"
    yield at_least(what, found["must"]["comprehensiveness"], ratio, page, "{:.0f} times")
    planted = read("planted-words")
    for kind, title in (("word", "one word"), ("phrase", "a phrase"), ("both", "two sentences")):
        least = 100 * min(run["heaviest"] for run in planted[kind]["runs"])
        what = f"planted evidence is the heaviest: {title}, the lowest of three seeds"
        must = 100 * planted[kind]["must"]
        yield at_least(what, must, least, "../trust.md#planted-words", "{:.1f} %")
    verdict, page = read("verdict"), "../trust.md#how-to-read-a-receipts-verdict"
    shares = dict[str, list[float]]()
    for part in ("reviews", "planted"):
        for band in verdict[part].values():
            for kind, row in band.items() if isinstance(band, dict) else ():
                own = ", own," in kind
                if kind.endswith(", both") and not (own and part == "reviews"):
                    name = kind.partition(",")[0] if own else "false"
                    shares.setdefault(name, []).append(100 * row.get("faithful", 0.0))
    what = "false “faithful”, the worst of methods, lengths and kinds"
    yield at_most(what, 2, max(shares["false"]), page, "{:.1f} %")
    chosen = shares[verdict["planted"]["default method"]]
    what = "planted evidence called faithful, over 20 words, the lowest of three lengths"
    yield at_least(what, 90, min(chosen), page, "{:.1f} %")
    times = min(read("receipts")["times, with n-grams"].values())
    what = "explanations with receipts a second, against b55b01f, the slowest method"
    yield at_least(what, 3, times, "speed.md#explanations-with-receipts-a-second", "{:.1f} times")
    audit = read("auditing")
    what = f"an audit of {audit['documents']} long reviews, two cores"
    page = "speed.md#an-audit-of-long-documents"
    yield at_most(what, 180, audit["seconds"], page, "{:.0f} s")


def reading() -> Iterator[Target]:
    """Transformer and BERT."""
    page, runs = "results.md#han-over-bert", read("bert_han")["runs"]
    tuned = mean(100 * run["accuracy"] for name, run in runs.items() if name.startswith("imdb,"))
    yield at_least("HAN over MiniLM, tuned: IMDB", 92.5, tuned, page, "{:.1f} %")
    papers = read("papers")["runs"]
    floor = max(run["accuracy"] for name, run in papers.items() if name.endswith("test, TF-IDF"))
    best = mean(
        run["accuracy"]
        for name, run in papers.items()
        if name.startswith("title,abstract,text, test, seed")
    )
    what = "the same on whole papers of arXiv: two points above TF-IDF"
    yield at_least(what, round(100 * floor + 2, 1), 100 * best, page, "{:.1f} %")
    memory = runs["memory"]
    what = f"a document of {memory['words']:,} words, memory beside the weights"
    taken = memory["gigabytes_beside_weights"]
    yield at_most(what, memory["limit"], taken, page, "{:.2f} GB")
    votes, page = read("voting")["accuracy"], "results.md#sentences-that-vote"
    what = "planted evidence in long documents, read as a whole"
    yield at_least(what, 95, 100 * votes["HAN"]["mean"], page, "{:.0f} %")
    vote = 100 * votes["sentences, vote"]["mean"]
    yield at_most("the same by sentences that vote: near chance", 60, vote, page, "{:.0f} %")
    scores = [run["test_2016_flickr_bleu"] for run in read("multi30k")["runs"]]
    what = "Transformer, Multi30k en-de, BLEU on test_2016_flickr, the lower of two seeds"
    yield at_least(what, 36, min(scores), "results.md#translation")
    steps = min(one["ratio"] for one in read("transformer")["results"].values())
    what = "its training step, against torch's own with padding"
    yield at_least(what, 1, steps, "speed.md", "{:.2f} times as fast")
    begun = dict[str, list[float]]()
    for entry in read("bert")["measures"]:
        if entry["measure"] == "text":
            for run in entry["runs"]:
                begun.setdefault(run["begins"], []).append(100 * run["scores"]["accuracy"])
    gain = mean(begun["taught"]) - mean(begun["fresh"])
    what = "a small BERT taught on the texts, against fresh weights, 2,000 labels"
    yield at_least(what, 3, gain, "../bert.md#what-it-is-worth", "{:+.1f} points")


def captions() -> Iterator[Target]:
    """Shapes, where the right place is known, and photographs."""
    runs, page = read("shapes")["runs"], "../experiments/shapes.md#what-came-out"
    of = {"weight": ("shapes", "weight_on_its_shape"), "need": ("all", "needs_it_of_all_words")}
    exact = [run["exact"] for run in runs]
    weight, need = ([run["words"][kind][name] for run in runs] for kind, name in of.values())
    yield shares("coloured shapes: captions that are exact", 95, exact, page)
    yield shares("coloured shapes: weight of a shape's word on that shape", 80, weight, page)
    yield shares("coloured shapes: words that need what they looked at", 95, need, page)
    times = [run["training_seconds"] for run in read("shapes-two-cores")["runs"]]
    yield at_most("the same: a training on two cores", 180, max(times), page, "{:.0f} s")
    found, page = read("flickr8k"), "../captions.md#how-good-it-is"
    for size, must in ((1, 55), (4, 13)):
        soft = [run["test"][f"bleu_{size}"] for run in found["runs"] if run["attention"] == "soft"]
        yield at_least(f"Flickr8k, BLEU-{size}", must, mean(soft), page)
    lead = found["lead"]["bleu_4"]
    what = "Flickr8k, BLEU-4: attention over the mean of the picture"
    yield at_least(what, 1, lead, page, "{:+.1f}")


def shares(what: str, must: float, values: Iterable[float], page: str) -> Target:
    """A target for the mean of the seeds; how many of them reach it by themselves is told too."""
    some = [100 * value for value in values]
    reached = sum(value >= must for value in some)
    told = f"{mean(some):.1f} %, {reached} of {len(some)} seeds by themselves"
    return Target(what, f"{must:g} %", told, mean(some) >= must, page)
