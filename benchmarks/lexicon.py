"""Do words of sentiment weigh most? Their share among the heaviest tenth of words, and the rest.

    python benchmarks/lexicon.py MODEL [--documents 1000]

MODEL is a folder that ``regard train`` wrote from the IMDB training reviews. The list of words was
written by hand before the first run and is not fitted to anything. Also says where among the
sentences of one review the one stands that a published note quotes.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

import pyarrow.parquet
from measuring import provenance, save

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
SEED = 0
QUOTED = "Mulholland Drive is downright brilliant"
"""What a published note found to weigh most in one of the reviews."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--data", type=Path, default=DATA)
    options = parser.parse_args()
    if not options.data.exists():
        sys.exit(f"{options.data} is not here; this benchmark needs the IMDB reviews")
    texts = pyarrow.parquet.read_table(options.data, columns=["text"]).column("text").to_pylist()
    chosen = random.Random(SEED).sample(texts, options.documents)
    classifier = DocumentClassifier.load(options.model)
    counts = tally(classifier, chosen)
    (quoted,) = (text for text in texts if QUOTED in text)
    found = {
        "documents": options.documents,
        **counts,
        "p_value": report(counts),
        "quoted": {name: place_of(classifier, quoted, name) for name in ("attention", "default")},
    }
    print(f"the quoted sentence of the quoted review stands at {found['quoted']}")
    save("lexicon", {**provenance((SEED,)), **found})


def place_of(classifier: DocumentClassifier, text: str, method: str) -> int:
    """Which of the sentences the quoted one is, the heaviest being the first; 0 where it is none.

    Where sentences are told apart otherwise, the one that holds its words counts.
    """
    heaviest = classifier.explain(text, method=method, receipt=False).sentences(10**6)
    held = (place for place, one in enumerate(heaviest, start=1) if QUOTED in one.text)
    return next(held, 0)


def tally(classifier: DocumentClassifier, texts: list[str]) -> dict[str, int]:
    """Count words, and those of the list, in the heaviest tenth of each document and outside."""
    counts = {"heavy_listed": 0, "heavy": 0, "light_listed": 0, "light": 0}
    for explanation in classifier.explain(texts, method="attention", receipt=False):
        words = explanation.words(10**6)
        border = max(1, len(words) // 10)
        for place, word in enumerate(words):
            side = "heavy" if place < border else "light"
            counts[side] += 1
            counts[f"{side}_listed"] += word.text.lower() in LEXICON
    return counts


def report(counts: dict[str, int]) -> float:
    """Print both shares and Fisher's exact test; return its p-value."""
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
    return float(test.pvalue)


if __name__ == "__main__":
    main()
