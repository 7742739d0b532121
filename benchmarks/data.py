"""Speed of the data path on IMDB's training file: python benchmarks/data.py shared/data

One thread. Processor time is taken, so that other work on the machine counts little.
"""

import csv
import itertools
import json
import sys
import tempfile
import time
from pathlib import Path

from regard.data.batches import plan_batches
from regard.data.columns import Columns
from regard.data.corpus import build_corpus
from regard.data.readers import read_documents
from regard.text.tokenize import TextConfig, tokenize, tokenize_many
from regard.text.vocab import Vocab

PLAIN = Columns(carry=False)
TOKENISED = 5_000


def timed(work):
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def written(documents, folder):
    """The same reviews as CSV and as JSON lines."""
    with (folder / "a.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["text", "label"])
        writer.writerows((document.text, document.label) for document in documents)
    with (folder / "a.jsonl").open("w", encoding="utf-8") as file:
        for document in documents:
            file.write(json.dumps({"text": document.text, "label": document.label}) + "\n")
    return [folder / "a.csv", folder / "a.jsonl"]


def main(data, folder):
    source = data / "imdb" / "train.parquet"
    documents = list(read_documents(source, PLAIN))
    for path in [source, *written(documents, folder)]:
        count, seconds = timed(lambda path=path: sum(1 for _ in read_documents(path, PLAIN)))
        print(f"read {path.suffix}: {count / seconds:,.0f} documents/s")
    some = documents[:: len(documents) // TOKENISED][:TOKENISED]
    texts = [document.text for document in some]
    tokenize_many([""])  # makes the tables
    for name, work in (
        ("one by one", lambda: list(map(tokenize, texts))),
        ("many at once", lambda: tokenize_many(texts)),
    ):
        _, seconds = timed(work)
        print(f"tokenise {name}: {len(some) / seconds:,.0f} documents/s")
    corpus, seconds = timed(lambda: build_corpus(some, folder / "corpus"))
    print(f"build a corpus: {len(some) / seconds:,.0f} documents/s")
    tokens = int(corpus.lengths.sum())
    print(f"{corpus.size_on_disk / tokens:.2f} bytes a token, {tokens:,} tokens")
    vocab = Vocab.from_counts(corpus.word_counts(), TextConfig())
    corpus = corpus.remapped(vocab)
    plan = plan_batches(corpus.lengths, batch_size=64, batch_tokens=50_000, seed=0, epoch=0)
    _, seconds = timed(lambda: [corpus.batch(batch) for batch in itertools.chain(plan, plan)])
    print(f"gather batches of 64: {2 * len(some) / seconds:,.0f} documents/s")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(Path(sys.argv[1]), Path(place))
