"""Alignments made by hand, for tests of the views: no model, weights drawn from a seed."""

import re
from dataclasses import replace

import numpy as np

from regard.records.alignment import Alignment, AlignmentReceipt, WrittenReceipt
from regard.records.explanation import Judgement

HOSTILE = (
    "<script>window.hit = 1</script> <img src=x onerror='window.hit = 2'> "
    '" onfocus="window.hit = 3" autofocus x=" </style><script>window.hit = 4</script> &lt;b&gt;'
)
KOREAN = "개 두 마리가 눈 속에서 뛰어다니고 있다."
ARABIC = "كلبان يركضان في الثلج."
DOGS = "Two dogs run through the snow."


def spans(text):
    """Words and marks, each with its place."""
    return tuple(found.span() for found in re.finditer(r"\w+|[^\w\s]", text))


def measured(alignment, verdict="faithful", *, without=0.1):
    """The alignment with a receipt made by hand."""
    written = tuple(WrittenReceipt(0.9, without, 0.7, 0.02) for _ in alignment.target_spans)
    judged = Judgement("piece", verdict, 0.005, None, 0.6, 60, 199)
    return replace(alignment, receipt=AlignmentReceipt(judged, written, 1, 0.4))


def aligned(source, target, *, seed=0, score=-0.25, ended=True):
    """Align along the diagonal, with some noise."""
    columns, rows = spans(source), spans(target)
    scores = np.random.default_rng(seed).normal(size=(len(rows), len(columns)))
    for row in range(len(rows)):
        if columns:
            scores[row, row * len(columns) // len(rows)] += 4
    grown = np.exp(scores)
    weights = grown / grown.sum(1, keepdims=True)
    return Alignment(source, target, columns, rows, weights, score, ended)
