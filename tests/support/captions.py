"""Captions made by hand, for tests of what is drawn of them."""

import io
import re
from dataclasses import replace

import numpy as np

from regard.records.alignment import AlignmentReceipt, WrittenReceipt
from regard.records.caption import Caption
from regard.records.explanation import FAITHFUL, Judgement


def picture():
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (30, 20), (200, 30, 30)).save(file, "JPEG")
    return file.getvalue()


def caption(text="a <b> dog", **changes):
    spans = tuple(match.span() for match in re.finditer(r"\S+", text))
    weights = np.full((len(spans), 6), 0.1, np.float32)
    for row in range(len(spans)):
        weights[row, row % 6] = 0.5
    written = tuple(WrittenReceipt(0.9, 0.2, 0.8, 0.01) for _ in spans)
    receipt = AlignmentReceipt(Judgement("piece", FAITHFUL, 0.005, None, 0.6, 60, 199), written, 2)
    made = Caption(
        "holiday & <i>.jpg", text, spans, weights, 2, 3, picture(), 30, 20, -0.5, receipt=receipt
    )
    return replace(made, **changes)
