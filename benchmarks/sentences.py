"""How well sentences and words are found, on treebanks and golden rules, as markdown.

Run: python benchmarks/sentences.py [--split dev] [--data FOLDER]
What test rows give is kept in benchmarks/results/sentences.json.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow.parquet
from measuring import provenance, save

from regard.text.tokenize import tokenize

__all__ = [
    "GOLDEN_ENGLISH",
    "TREEBANKS",
    "Score",
    "golden_passed",
    "score_sentences",
    "score_words",
]

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
FOLDER = "sentence_boundaries"
TOGETHER = 10  # so many sentences in a row are joined by one space each

# name in the table: file, and how the ids of the wanted sentences begin
TREEBANKS = {
    "English EWT, reviews": ("ud_en_ewt", "reviews"),
    "English EWT": ("ud_en_ewt", ""),
    "English GUM": ("ud_en_gum", ""),
    "German GSD": ("ud_de_gsd", ""),
    "Korean GSD": ("ud_ko_gsd", ""),
    "Korean Kaist": ("ud_ko_kaist", ""),
}
GOLDEN_ENGLISH = "GOLDEN_EN_RULES"
# These expect a text to be cleaned first.
NOT_PURE_SPLITTING = ("CLEAN", "PDF")


@dataclass(frozen=True)
class Score:
    """How many things were found, how many there are, how many of them are the same."""

    found: int
    wanted: int
    right: int

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, in per cent."""
        return 200 * self.right / (self.found + self.wanted) if self.right else 0.0

    def __add__(self, other: Score) -> Score:
        return Score(self.found + other.found, self.wanted + other.wanted, self.right + other.right)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a treebank and its words, as the treebank has them."""

    text: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Rule:
    """A golden rule: a text and the sentences in it."""

    language: str
    name: str
    text: str
    sentences: tuple[str, ...]


def read_treebank(data: Path, name: str, split: str) -> list[Sentence]:
    file, prefix = TREEBANKS[name]
    rows = pyarrow.parquet.read_table(data / FOLDER / f"{file}.parquet").to_pylist()
    return [
        Sentence(row["text"].strip(), tuple(row["tokens"]))
        for row in rows
        if row["split"] == split and row["sent_id"].startswith(prefix)
    ]


def read_golden(data: Path) -> list[Rule]:
    """The golden rules that ask for splitting alone."""
    rows = pyarrow.parquet.read_table(data / FOLDER / "golden_rules.parquet").to_pylist()
    return [
        Rule(row["lang"], row["rule_set"], row["text"], tuple(map(str.strip, row["sentences"])))
        for row in rows
        if row["rule_set"] == "TESTS_WO_CLEAN"
        or not any(mark in row["rule_set"] for mark in NOT_PURE_SPLITTING)
    ]


def score_sentences(sentences: list[Sentence], *, with_last: bool = True) -> Score:
    """Compare the places where sentences end; the text's own end counts unless said."""
    total = Score(0, 0, 0)
    for first in range(0, len(sentences), TOGETHER):
        texts = [sentence.text for sentence in sentences[first : first + TOGETHER]]
        text = " ".join(texts)
        wanted = {len(" ".join(texts[: count + 1])) for count in range(len(texts))}
        found = {end for _, end in tokenize(text).sentence_spans()}
        if not with_last:
            wanted, found = wanted - {len(text)}, found - {len(text)}
        total += Score(len(found), len(wanted), len(found & wanted))
    return total


def score_words(sentences: list[Sentence]) -> Score:
    """Compare the spans of words, sentence by sentence."""
    total = Score(0, 0, 0)
    for sentence in sentences:
        found = set(map(tuple, tokenize(sentence.text).spans.tolist()))
        wanted = set(_spans(sentence))
        total += Score(len(found), len(wanted), len(found & wanted))
    return total


def _spans(sentence: Sentence) -> Iterable[tuple[int, int]]:
    end = 0
    for word in sentence.words:
        start = sentence.text.index(word, end)
        end = start + len(word)
        yield start, end


def golden_passed(rules: list[Rule]) -> int:
    """How many texts are split exactly as the rule wants."""
    return sum(
        tuple(rule.text[start:end] for start, end in tokenize(rule.text).sentence_spans())
        == rule.sentences
        for rule in rules
    )


def treebank_table(data: Path, split: str) -> str:
    lines = [
        f"| treebank, {split} rows | sentences | sentence F1 | without text ends | word F1 |",
        "|---|---|---|---|---|",
    ]
    for name in TREEBANKS:
        sentences = read_treebank(data, name, split)
        scores = [
            score_sentences(sentences).f1,
            score_sentences(sentences, with_last=False).f1,
            score_words(sentences).f1,
        ]
        cells = " | ".join(f"{score:.1f}" for score in scores)
        lines.append(f"| {name} | {len(sentences):,} | {cells} |")
    return "\n".join(lines)


def golden_table(data: Path) -> str:
    lines = ["| golden rules | passed |", "|---|---|"]
    rules = read_golden(data)
    groups = {
        "English, the 48 that papers report": [r for r in rules if r.name == GOLDEN_ENGLISH],
        "Chinese and Japanese": [r for r in rules if r.language in ("zh", "ja")],
        "German": [r for r in rules if r.language == "de"],
        "Danish": [r for r in rules if r.language == "da"],
        "French, Italian, Spanish": [r for r in rules if r.language in ("fr", "it", "es")],
        "Russian": [r for r in rules if r.language == "ru"],
        "Amharic, Burmese, Hindi, Marathi, Persian, Urdu": [
            r for r in rules if r.language in ("am", "my", "hi", "mr", "fa", "ur")
        ],
    }
    named = {id(rule) for group in groups.values() for rule in group}
    groups["all others"] = [rule for rule in rules if id(rule) not in named]
    lines += [f"| {name} | {golden_passed(g)} of {len(g)} |" for name, g in groups.items()]
    return "\n".join(lines)


def speed(data: Path, count: int = 2500) -> str:
    rows = pyarrow.parquet.read_table(data / "imdb" / "train.parquet", columns=["text"])
    texts = rows["text"].to_pylist()[:: len(rows) // count]
    tokenize("")  # makes the table of characters
    seconds = []
    for _ in range(3):
        start = time.process_time()
        tokens = sum(len(tokenize(text)) for text in texts)
        seconds.append(time.process_time() - start)
    rate, length = len(texts) / min(seconds), tokens / len(texts)
    return (
        f"{rate:,.0f} IMDB reviews of {length:.0f} tokens a second on one core, best of three runs"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--split", default="test", choices=("dev", "test"))
    parser.add_argument("--data", type=Path, default=DATA)
    arguments = parser.parse_args()
    tables = [treebank_table(arguments.data, arguments.split), golden_table(arguments.data)]
    print("\n\n".join([*tables, speed(arguments.data)]))
    if arguments.split == "test":
        lines = [table.splitlines() for table in tables]
        treebanks, golden = ([_cells(line) for line in one[2:]] for one in lines)
        save("sentences", {**provenance(()), "treebanks": treebanks, "golden": golden})


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


if __name__ == "__main__":
    main()
