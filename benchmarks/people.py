"""How far do people agree on ERASER's Movies? Each kind of marks ranks words for each other.

    python benchmarks/people.py

The test reviews were marked several times: in full, once before that, and by several people of whom
most agreed. By the code that ranks explanations one kind of marks ranks words for another: marked
words come first, and the others count the same or, beside it, the later the heavier. Beside both
stands where a word stands, alone. Nothing is learnt, and no model is asked. Needs
../shared/data/rationales.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np
from measuring import provenance, save
from movies import DATA, DRAWS, MARKS

from regard.audit.plausibility import average_precision, mark_tokens, read_evidence, token_spans
from regard.data.readers import read_documents
from regard.tasks.bootstrap import percentiles
from regard.text.document import Document

COLUMNS = MARKS["test"]


def main() -> None:
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs ERASER's Movies")
    documents = list(read_documents(DATA / "movies_test.parquet"))
    found = [
        compare(documents, marks, other) for marks, other in itertools.permutations(COLUMNS, 2)
    ]
    save("people", {**provenance(), "rows": found})


def compare(documents: list[Document], marks: str, other: str) -> dict[str, object]:
    """Rank the words of reviews that both have marks of by the other's, and hold them to these."""
    rows = []
    for document in documents:
        tokens = token_spans(document.text)
        truth, told = (
            mark_tokens(tokens, read_evidence(document, column)) for column in (marks, other)
        )
        if truth.any() and told.any():
            late = np.arange(len(tokens)) / len(tokens)
            ranks = (told.astype(float), told + late / 2, late)
            rows.append([truth.mean(), *(average_precision(truth, rank) for rank in ranks)])
    values = np.array(rows)
    share, alone, then_late, late = values.mean(0).tolist()
    draws = np.random.default_rng(0).integers(len(values), size=(DRAWS, len(values)))
    interval = percentiles((values[:, 1] - values[:, 3])[draws].mean(1))
    print(f"{marks} by {other}: {alone:.3f}, then late {then_late:.3f}, late words {late:.3f}")
    return {
        "marks": marks,
        "by": other,
        "documents": len(values),
        "marked": share,
        "alone": alone,
        "then_late": then_late,
        "late": late,
        "lead": alone - late,
        "interval": [interval.low, interval.high],
    }


if __name__ == "__main__":
    main()
