"""Texts of other kinds than those of the table of accuracy, beside the same linear models.

    python benchmarks/other_sets.py [--sets ag-news gum] [--seeds 0] [--jobs 2 --threads 1]

Defaults that were chosen with some sets at hand may suit just those. These sets were not looked at
when most were chosen; what was chosen since went by folds of what is learnt from here. They are
news in English and German, titles and subjects of a few words, sentences by their genre, what a
review is about, eight grades instead of two, and a few hundred documents of sets that have
thousands. Where a set of the table is used, it is its training file alone, but for the reviews of
Amazon, which are one file and have other texts or labels here. All options are those of
accuracy.py, and the figures go to benchmarks/results/other-sets.json.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from accuracy import RESULTS, Part, Row, Rows, Set, body, main, rows

Parts = Callable[[Path], Iterator[Part]]
Value = Callable[[Row], object]


def column(name: str) -> Value:
    return lambda row: row[name]


TEXT, LABEL = column("text"), column("label")


def both(row: Row) -> str:
    """A title, and the text under it."""
    return f"{row['title']}\n\n{row['text']}"


def subject(row: Row) -> str:
    """What a post says that it is about, without the mark of an answer."""
    found = re.search(r"^Subject:[ \t]*(?:Re:[ \t]*)*(.*)$", str(row["text"]), re.M)
    return found[1].strip() if found else ""


def genre(row: Row) -> str:
    """The kind of text a sentence of GUM comes from: GUM_academic_exposure-6 is academic."""
    return str(row["sent_id"]).split("_")[1]


def plain(found: Rows, text: Value, label: Value) -> Rows:
    """Texts and labels alone; texts without a word are left out."""
    short = [{"text": str(text(row)), "label": str(label(row))} for row in found]
    return [row for row in short if re.search(r"\w", str(row["text"]))]


def drawn(
    path: str,
    learnt: int | None = None,
    asked: int | None = None,
    *,
    text: Value = TEXT,
    label: Value = LABEL,
) -> Parts:
    """Some documents of a file to learn from and others to ask; else four fifths and the rest."""

    def parts(data: Path) -> Iterator[Part]:
        found = plain(rows(data / path), text, label)
        order = np.random.default_rng(0).permutation(len(found)).tolist()
        first = learnt or 4 * len(found) // 5
        last = first + asked if asked else len(found)
        yield Part([found[one] for one in order[:first]], [found[one] for one in order[first:last]])

    return parts


def folds(path: str, count: int) -> Parts:
    """Every document of a file is asked once."""

    def parts(data: Path) -> Iterator[Part]:
        found = plain(rows(data / path), TEXT, LABEL)
        homes = np.random.default_rng(0).permutation(len(found)) % count
        for fold in range(count):
            inside = [row for row, home in zip(found, homes, strict=True) if home != fold]
            yield Part(
                inside, [row for row, home in zip(found, homes, strict=True) if home == fold]
            )

    return parts


def files(train: str, test: str, *, text: Value) -> Parts:
    """Learn from one file and ask the documents of another."""
    return lambda data: iter(
        [Part(*(plain(rows(data / path), text, LABEL) for path in (train, test)))]
    )


def gum(data: Path) -> Iterator[Part]:
    """Sentences of one half of GUM, by their kind, and of the documents of the other half."""
    found = rows(data / "sentence_boundaries/ud_en_gum.parquet")
    own = {part: [row for row in found if row["split"] == part] for part in ("dev", "test")}
    yield Part(*(plain(own[part], TEXT, genre) for part in ("dev", "test")))


AG, GNAD = "ag_news/official_test_only.parquet", "gnad10_de/official_test_only.parquet"
NEWSGROUPS, AMAZON = "20newsgroups/train.parquet", "amazon_mds/reviews.parquet"
PAPERS = "arxiv_long/train.parquet", "arxiv_long/dev.parquet"
IMDB, MR = "imdb/train.parquet", "mr/train.parquet"
NSMC, CHINESE = "nsmc_ko/train.parquet", "chnsenticorp_zh/train.parquet"

SETS = {
    "ag-news": Set("AG News, 6,080 of its test file", drawn(AG, text=both)),
    "ag-titles": Set("AG News, titles", drawn(AG, text=column("title"))),
    "ag-300": Set("AG News, 300 to learn from", drawn(AG, 300, text=both)),
    "gnad": Set("10kGNAD, German, 5 folds of 1,028", folds(GNAD, 5)),
    "subjects": Set("20newsgroups, subjects", drawn(NEWSGROUPS, text=subject)),
    "newsgroups-1000": Set("20newsgroups, 1,000 bodies", drawn(NEWSGROUPS, 1000, 4000, text=body)),
    "titles": Set("arXiv, titles", files(*PAPERS, text=column("title"))),
    "abstracts": Set("arXiv, abstracts", files(*PAPERS, text=column("abstract"))),
    "headlines": Set(
        "Reuters R52, headlines",
        drawn("reuters/r52_train.parquet", text=lambda row: str(row["text"]).partition("\n")[0]),
    ),
    "gum": Set("GUM, genre of a sentence", gum),
    "goods": Set(
        "Amazon, what a review is about, 1,000",
        drawn(AMAZON, 1000, 5000, label=column("domain")),
    ),
    "summaries": Set("Amazon, titles of reviews", drawn(AMAZON, text=column("title"))),
    "grades": Set("IMDB, eight grades, 4,000", drawn(IMDB, 4000, 4000, label=column("rating"))),
    "imdb-300": Set("IMDB, 300 to learn from", drawn(IMDB, 300, 5000)),
    "mr-300": Set("MR, 300 to learn from", drawn(MR, 300)),
    "nsmc-1000": Set(
        "NSMC, 1,000 to learn from", drawn(NSMC, 1000, 10000), words=None, characters=(1, 3)
    ),
    "chnsenticorp-500": Set(
        "ChnSentiCorp, 500 to learn from", drawn(CHINESE, 500, 5000), words=None, characters=(1, 2)
    ),
}

if __name__ == "__main__":
    main(SETS, RESULTS / "other-sets.json", __file__, __doc__)
