"""Whether explanations point where people point: against the evidence that people marked.

What a page draws is what is scored: words by themselves, words by the phrases that they stand in,
and sentences. A white-space token has the largest score of the words in it. People mark phrases
and methods score words, so most is found by phrases. A model may be right for reasons that nobody
would mark: plausible is not faithful.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from ..explain.erasing import Mask
from ..explain.rankings import Floats
from ..explain.receipts import ranked_levels
from ..records.explanation import Explanation
from ..records.weights import Span, Weights, phrases
from ..text.document import Document
from .tally import Measured

__all__ = [
    "average_precision",
    "iou_f1",
    "mark_tokens",
    "measure_marked_share",
    "measure_plausibility",
    "read_evidence",
    "score_tokens",
    "token_f1",
    "token_spans",
]

RANDOM_RANKINGS = 5


Spans = NDArray[np.int64]  # (spans, 2)


def token_spans(text: str) -> Spans:
    """Where the white-space tokens of a text begin and end."""
    found = [match.span() for match in re.finditer(r"\S+", text)]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def mark_tokens(tokens: Spans, evidence: Sequence[Span]) -> Mask:
    """Which tokens people marked: those that share a character with a span."""
    found = np.zeros(len(tokens), dtype=bool)
    for start, end in evidence:
        found |= (tokens[:, 0] < end) & (tokens[:, 1] > start)
    return found


def score_tokens(tokens: Spans, pieces: Sequence[tuple[int, ...]], scores: Floats) -> Floats:
    """Give each token the largest score of the words in it; one without words gets the least."""
    found = np.full(len(tokens), scores.min(initial=0.0))
    spans = np.array(pieces, dtype=np.int64).reshape(-1, 2)
    first = np.searchsorted(tokens[:, 1], spans[:, 0], side="right")
    counts = np.searchsorted(tokens[:, 0], spans[:, 1], side="left") - first
    # The tokens that each piece touches, one run behind the other.
    places = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
    np.maximum.at(found, places, np.repeat(scores, counts))
    return found


def average_precision(truth: Mask, scores: Floats) -> float:
    """Return the area under the steps of precision over recall; equal scores count as one step."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(truth[order])
    ends = np.flatnonzero(np.diff(scores[order], append=np.nan) != 0)  # of runs of equal scores
    precision = hits[ends] / (ends + 1)
    recall = hits[ends] / max(int(truth.sum()), 1)
    return float(np.sum(np.diff(recall, prepend=0.0) * precision))


def token_f1(truth: Mask, chosen: Mask) -> float:
    """Return the F1 of the chosen tokens."""
    total = int(truth.sum() + chosen.sum())
    return 2 * int((truth & chosen).sum()) / total if total else 1.0


def iou_f1(truth: Mask, chosen: Mask, least: float = 0.5) -> float:
    """Return the F1 of runs of chosen tokens; one is right if it overlaps a marked run enough."""
    marked_runs, chosen_runs = _runs(truth), _runs(chosen)
    if not marked_runs or not chosen_runs:
        return float(not marked_runs and not chosen_runs)
    overlaps = np.array([[_overlap(one, other) for other in marked_runs] for one in chosen_runs])
    precision = float((overlaps.max(1) >= least).mean())
    recall = float((overlaps.max(0) >= least).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def measure_plausibility(
    explanation: Explanation, evidence: Sequence[Span], *, share: float, seed: int = 0
) -> dict[str, Measured]:
    """Compare an explanation with what people marked; nothing where nothing is marked.

    ``share`` is how much of a text people mark on average: so many tokens are chosen.
    """
    tokens = token_spans(explanation.source)
    truth = mark_tokens(tokens, evidence)
    decision = explanation.decisions[0]
    words = ranked_levels(decision).get("word")
    if not truth.any() or words is None:
        return {}
    draw = np.random.default_rng([seed, len(tokens)])
    sentences = ranked_levels(decision).get("sentence")
    own = score_tokens(tokens, words.pieces, np.array(phrases(words, sentences).amounts))
    # A random ranking of the words goes through the same code.
    random = [
        Weights("word", words.pieces, tuple(draw.permutation(len(words)).astype(float)))
        for _ in range(RANDOM_RANKINGS)
    ]
    chance = [
        score_tokens(tokens, words.pieces, np.array(phrases(one, sentences).amounts))
        for one in random
    ]
    count = max(1, round(share * len(tokens)))
    found = {"auprc": _compare_precision(truth, own, chance)}
    for name, measure in (("token_f1", token_f1), ("iou_f1", iou_f1)):
        values = [measure(truth, _choose_heaviest(row, count)) for row in (own, *chance)]
        found[name] = Measured(values[0], float(np.mean(values[1:])))
    plain = score_tokens(tokens, words.pieces, np.array(words.amounts))
    chance = [score_tokens(tokens, words.pieces, np.array(one.amounts)) for one in random]
    found["auprc_word"] = _compare_precision(truth, plain, chance)
    if sentences is not None:
        rows = [np.array(sentences.amounts)]
        rows += [draw.permutation(len(sentences)).astype(float) for _ in range(RANDOM_RANKINGS)]
        by_token = [score_tokens(tokens, sentences.pieces, row) for row in rows]
        found["auprc_sentence"] = _compare_precision(truth, by_token[0], by_token[1:])
    return found


def _compare_precision(truth: Mask, own: Floats, chance: list[Floats]) -> Measured:
    random = float(np.mean([average_precision(truth, row) for row in chance]))
    return Measured(average_precision(truth, own), random)


def _choose_heaviest(scores: Floats, count: int) -> Mask:
    chosen = np.zeros(len(scores), dtype=bool)
    chosen[np.argsort(-scores, kind="stable")[:count]] = True
    return chosen


def _runs(chosen: Mask) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(chosen.astype(np.int8), prepend=0, append=0))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> float:
    """The intersection of two runs over their union."""
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return max(shared, 0) / (one[1] - one[0] + other[1] - other[0] - max(shared, 0))


def read_evidence(document: Document, column: str) -> tuple[Span, ...]:
    """Return the spans in a column: a list of ``start_char`` and ``end_char``, as JSON or not.

    An empty cell is a document in which nothing is marked.
    """
    if column not in document.fields:
        known = ", ".join(document.fields) or "no others"
        raise DataError(f"the data have no column {column!r} of evidence; there are {known}")
    cell = document.fields[column]
    if isinstance(cell, str) and cell.strip():
        try:
            cell = json.loads(cell)
        except json.JSONDecodeError as problem:
            raise DataError(f"column {column!r} is no JSON list of spans: {problem}") from problem
    if cell is None or cell == "":
        return ()
    if not isinstance(cell, Sequence) or isinstance(cell, str | bytes):
        raise _wrong(column, cell)
    return tuple(_span(item, document, column) for item in cell)


def measure_marked_share(documents: Sequence[Document], column: str) -> float:
    """How much of a text people mark, as the mean share of its white-space tokens."""
    shares = []
    for document in documents:
        tokens = token_spans(document.text)
        if len(tokens):
            shares.append(float(mark_tokens(tokens, read_evidence(document, column)).mean()))
    return float(np.mean(shares)) if shares else 0.0


def _span(item: object, document: Document, column: str) -> Span:
    values: Sequence[object]
    if isinstance(item, Mapping):
        values = [item.get("start_char"), item.get("end_char")]
    elif isinstance(item, Sequence) and len(item) == 2 and not isinstance(item, str):
        values = item
    else:
        raise _wrong(column, item)
    start, end = map(_offset, values)
    if start is None or end is None:
        raise _wrong(column, item)
    if not 0 <= start <= end <= len(document.text):
        size = len(document.text)
        raise DataError(f"{column} marks {start}:{end} in a text of {size:,} characters")
    return start, end


def _offset(value: object) -> int | None:
    """The whole number that a value is, also one that a program wrote as 3.0; else None."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _wrong(column: str, value: object) -> DataError:
    shown = repr(value)[:60]
    return DataError(f"column {column!r} must hold a list of {{start_char, end_char}}, got {shown}")
