"""Which words do people mark? A ranking that knows their marks and no model, on ERASER's Movies.

    python benchmarks/marked_words.py

From the marks in the training reviews it is counted how often each word is marked at all, and how
often as a reason for each label. Words of other reviews are ranked by that alone, and drawn as a
page draws an explanation. Whoever teaches explanations with marks has to lead this one. Needs
../shared/data/rationales.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

import numpy as np
from measuring import provenance, save
from movies import DATA, DRAWN, MARKS, average_precisions

from regard.audit.plausibility import mark_tokens, read_evidence, token_spans
from regard.data.readers import read_documents
from regard.records.weights import Weights, per_word, phrases, sum_by
from regard.text.document import Document, Tokens
from regard.text.tokenize import TextConfig, tokenize_many

FIRST = 10.0  # occurrences that a word is taken to have had before it was counted


class MarkedWords:
    """How often words are marked, in the training reviews."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._occurring: Counter[str] = Counter()
        self._marked: dict[str, Counter[str]] = {}
        for document, tokens in zip(documents, cut(documents), strict=True):
            marked = np.zeros(len(document.text) + 1, bool)
            for start, end in read_evidence(document, "evidence"):
                marked[start:end] = True
            for start, end in tokens.spans.tolist():
                word = document.text[start:end]
                self._occurring[word] += 1
                if marked[start]:
                    self._marked.setdefault(str(document.label), Counter())[word] += 1
        self._total = sum(self._occurring.values())

    def log_odds(self, word: str, label: str | None) -> float:
        """How much likelier the word is to be marked, for this label or for any, than not."""
        counted = [self._marked[one] for one in self._marked if label is None or one == label]
        usual = sum(sum(one.values()) for one in counted) / self._total
        marked = sum(one[word] for one in counted) + FIRST * usual
        return float(np.log(marked / (self._occurring[word] + FIRST - marked)))

    def drawn(self, tokens: Tokens, label: str | None) -> tuple[Weights, ...]:
        """Words, phrases, sentences, and sentences per word, as an explanation has them."""
        spans = [(start, end) for start, end in tokens.spans.tolist()]
        scores = [self.log_odds(tokens.text[start:end], label) for start, end in spans]
        words = Weights.from_scores("word", spans, scores, unit="log-odds")
        sentences = sum_by(words, [(start, end) for start, end in tokens.sentence_spans()])
        return words, phrases(words, sentences), sentences, per_word(sentences, words)


def cut(documents: Sequence[Document]) -> list[Tokens]:
    return tokenize_many([document.text for document in documents], TextConfig())


def main() -> None:
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs ERASER's Movies")
    known = MarkedWords(list(read_documents(DATA / "movies_train.parquet")))
    rows = []
    for split, columns in MARKS.items():
        documents = list(read_documents(DATA / f"movies_{split}.parquet"))
        for column in columns:
            for by_label in (False, True):
                found = precisions(known, documents, column, by_label=by_label)
                row = {"marks": f"{split}, {column}", "by_label": by_label, **found}
                print(row)
                rows.append(row)
    save("marked-words", {**provenance(), "rows": rows})


def precisions(
    known: MarkedWords, documents: Sequence[Document], column: str, *, by_label: bool
) -> dict[str, float]:
    """The average precision of what would be drawn, over the reviews in which something is marked.

    ``by_label`` ranks by how often words are marked for the label that the review has.
    """
    found = []
    for document, tokens in zip(documents, cut(documents), strict=True):
        places = token_spans(document.text)
        truth = mark_tokens(places, read_evidence(document, column))
        if not truth.any():
            continue
        drawn = known.drawn(tokens, str(document.label) if by_label else None)
        found.append(average_precisions(places, truth, drawn))
    values = dict(zip(DRAWN, np.mean(found, axis=0).tolist(), strict=True))
    return {"documents": len(found), **values}


if __name__ == "__main__":
    main()
