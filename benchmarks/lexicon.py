"""Do words of sentiment weigh most? Their share among the heaviest tenth of words, and the rest.

    python benchmarks/lexicon.py MODEL [--documents 1000]

MODEL is a folder that ``regard train`` wrote from the IMDB training reviews. The list of words was
written by hand before the first run and is not fitted to anything.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from pathlib import Path

import pyarrow.parquet

from regard import DocumentClassifier

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb" / "test.parquet"
_LIST = """
    good great excellent wonderful brilliant masterpiece amazing superb fantastic perfect best love
    loved enjoy enjoyed enjoyable beautiful beautifully funny hilarious touching moving favorite
    favourite highly recommend recommended fun charming delightful gem powerful outstanding awesome
    entertaining incredible impressive memorable fascinating stunning gripping clever witty solid
    bad worst awful terrible horrible boring dull waste wasted poor poorly stupid ridiculous lame
    disappointing disappointed disappointment annoying mess crap garbage fails failed weak pathetic
    laughable unfunny avoid mediocre bland predictable pointless hate hated worse dreadful tedious
    unwatchable painful forgettable nonsense cheap silly ludicrous rubbish atrocious
    """
LEXICON = frozenset(_LIST.split())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--out", type=Path, default=None)
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs the IMDB reviews")
    texts = pyarrow.parquet.read_table(DATA, columns=["text"]).column("text").to_pylist()
    chosen = random.Random(0).sample(texts, options.documents)
    counts = tally(DocumentClassifier.load(options.model), chosen)
    report(counts)
    if options.out:
        options.out.write_text(json.dumps(counts, indent=2) + "\n")


def tally(classifier: DocumentClassifier, texts: list[str]) -> dict[str, int]:
    """Count words, and those of the list, in the heaviest tenth of each document and outside."""
    counts = {"heavy_listed": 0, "heavy": 0, "light_listed": 0, "light": 0}
    for explanation in classifier.explain(texts, method="attention"):
        words = explanation.words(10**6)
        border = max(1, len(words) // 10)
        for place, word in enumerate(words):
            side = "heavy" if place < border else "light"
            counts[side] += 1
            counts[f"{side}_listed"] += word.text.lower() in LEXICON
    return counts


def report(counts: dict[str, int]) -> None:
    """Print both shares and Fisher's exact test."""
    from scipy.stats import fisher_exact

    heavy, light = (
        counts["heavy_listed"] / counts["heavy"],
        counts["light_listed"] / counts["light"],
    )
    table = [
        [counts["heavy_listed"], counts["heavy"] - counts["heavy_listed"]],
        [counts["light_listed"], counts["light"] - counts["light_listed"]],
    ]
    test = fisher_exact(table, alternative="greater")
    print(
        f"in the list are {100 * heavy:.2f} % of the heaviest tenth of words, "
        f"{100 * light:.2f} % of the others"
    )
    print(f"{heavy / light:.1f} times as many; one-sided Fisher's exact test p = {test.pvalue:.3g}")


if __name__ == "__main__":
    main()
