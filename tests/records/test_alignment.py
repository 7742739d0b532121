"""Alignments: checked when they are made, and the same after JSON."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from regard.errors import DataError
from regard.records.alignment import Alignment, AlignmentReceipt, WrittenReceipt
from regard.records.explanation import Judgement, Piece

MADE = Alignment(
    source="ein Haus",
    target="a house",
    source_spans=((0, 3), (4, 8)),
    target_spans=((0, 1), (2, 5), (5, 7)),
    weights=np.array([[1, 0], [0.5, 0.5], [0.1, 0.9]], dtype=np.float32),
    score=-0.25,
)


def test_pieces_are_cut_from_the_texts():
    assert MADE.source_pieces == ("ein", "Haus")
    assert MADE.target_pieces == ("a", "hou", "se")
    assert repr(MADE) == "Alignment('a house', 3 pieces over 2)"


def test_effective_counts_are_the_exponential_of_the_entropy():
    """004-06: one where a step looked at one piece alone, two where at both alike."""
    third = math.exp(-(0.1 * math.log(0.1) + 0.9 * math.log(0.9)))
    assert MADE.effective_counts.tolist() == pytest.approx([1, 2, third], rel=1e-5)


def test_an_alignment_survives_json_to_the_last_bit():
    odd = Alignment("\ud83d\ude00 \udfff", "x", ((0, 3),), ((0, 1),), np.array([[1 / 3]]))
    for made in (MADE, odd):
        again = Alignment.from_json(made.to_json())
        assert np.array_equal(again.weights, made.weights)
        for name in ("source", "target", "source_spans", "target_spans", "score", "ended"):
            assert getattr(again, name) == getattr(made, name)


def test_a_receipt_survives_json_and_older_files_have_none():
    written = tuple(WrittenReceipt(0.9, 0.1 * n, 0.5, 0.02) for n in range(3))
    judged = Judgement("piece", "faithful", 0.005, None, 0.3, 60, 199)
    made = replace(MADE, receipt=AlignmentReceipt(judged, written, 1, 0.4))
    assert Alignment.from_json(made.to_json()).receipt == made.receipt
    assert made.receipt.mean_drop == pytest.approx(0.8)
    assert made.receipt.mean_random_drop == pytest.approx(0.4) and made.receipt.better_count == 3
    fields = json.loads(MADE.to_json())
    del fields["receipt"]
    assert Alignment.from_json(json.dumps(fields)).receipt is None
    assert made.by_words().receipt is None, "what was measured of pieces says nothing of words"
    with pytest.raises(DataError, match="a receipt of 2 rows does not fit 3 pieces"):
        replace(made, receipt=replace(made.receipt, written=written[:2]))


def test_what_a_piece_looked_at_is_cut_from_the_source():
    assert MADE.looked_at(2, 1) == [Piece("Haus", (4, 8), pytest.approx(0.9))]
    assert [piece.text for piece in MADE.looked_at(0)] == ["ein"], "no weight is no look"


@pytest.mark.parametrize("targets", [0, 2])
def test_a_source_without_pieces_has_no_columns(targets):
    made = Alignment("", "ab", (), ((0, 1), (1, 2))[:targets], np.zeros((targets, 0)))
    assert made.effective_counts.tolist() == [0] * targets
    assert Alignment.from_json(made.to_json()).weights.shape == (targets, 0)


def test_weights_cannot_be_changed_behind_its_back():
    given = np.ones((1, 1), dtype=np.float32)
    made = Alignment("a", "b", ((0, 1),), ((0, 1),), given)
    given[0, 0] = 5
    assert made.weights[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        made.weights[0, 0] = 2


@pytest.mark.parametrize(
    ("spans", "weights", "message"),
    [
        (((0, 1),), [[0.5, 0.5]], "do not fit"),
        (((0, 9),), [[1.0]], "0:9 is no span of a text of 1"),
        (((1, 0),), [[1.0]], "1:0 is no span"),
        (((0, 1),), [[math.nan]], "diverged"),
    ],
)
def test_what_does_not_fit_is_an_error(spans, weights, message):
    with pytest.raises(DataError, match=message):
        Alignment("a", "b", spans, ((0, 1),), np.array(weights))


def test_json_that_does_not_fit_is_an_error():
    with pytest.raises(DataError, match="do not fit"):
        Alignment.from_json(MADE.to_json().replace("[0.5, 0.5]", "[0.5]"))
