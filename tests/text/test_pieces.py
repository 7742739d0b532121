"""Word pieces are learnt the same way each time, and lie where they stand in the text."""

import itertools
import json
import sys

import pytest

from regard.errors import MissingExtra, ModelError
from regard.text.pieces import SPECIAL, WordPieces
from regard.text.vocab import cut_texts
from support.pieces import TEXTS, learnt


def test_same_texts_give_the_same_pieces_in_the_same_order():
    """The library by itself would number pieces by a table with random places."""
    assert len({tuple(learnt().pieces) for _ in range(4)}) == 1


def test_special_pieces_come_first_and_the_size_is_kept():
    """Their order is BERT's, and there are no more pieces than asked for."""
    pieces = learnt()
    assert tuple(pieces.pieces[:5]) == SPECIAL
    assert len(pieces) == len(pieces.pieces) <= 120
    assert (pieces.padding, pieces.mask) == (0, 4)


def test_pieces_lie_in_the_untouched_text():
    """Spans point at the letters as they were written, capitals and all."""
    text = "Brilliantly PLAYED, é and 한국"
    (cut,) = cut_texts([text], learnt())
    found = [text[start:end] for start, end in cut.tokens.spans]
    assert "".join(found) == "".join(text.split())
    assert len(found) == len(cut.ids)


def test_no_text_can_pass_for_a_special_piece():
    """[SEP] in a text is three pieces of it, not the end of a text."""
    pieces = learnt()
    (ids,) = pieces.ids(["[SEP] [MASK] [CLS]"])
    assert not {pieces.end, pieces.mask, pieces.start} & set(ids.tolist())


def test_ids_are_those_of_encode():
    """The quick way finds the same."""
    pieces = learnt()
    encoded = pieces.encode([*TEXTS, "", "\ud800 odd"])
    assert [row.tolist() for row in pieces.ids([*TEXTS, "", "\ud800 odd"])] == [
        part.tolist() for part in _rows(encoded)
    ]


def _rows(encoded):
    starts = [0, *encoded.lengths.cumsum().tolist()]
    return [encoded.ids[a:b] for a, b in itertools.pairwise(starts)]


def test_decode_joins_the_pieces_of_a_word():
    """A word in several pieces is written as one."""
    pieces = learnt(80)
    (ids,) = pieces.ids(["boringly played"])
    assert len(ids) > 2
    assert pieces.decode([pieces.start, *ids, pieces.end]) == "boringly played"


def test_saved_pieces_are_read_again(tmp_path):
    """A list of pieces with its options comes back."""
    pieces = WordPieces(learnt().pieces, lowercase=False, strip_accents=True)
    pieces.save(tmp_path)
    again = WordPieces.load(tmp_path)
    assert again.pieces == pieces.pieces
    assert (again.lowercase, again.strip_accents) == (False, True)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "holds no word pieces"),
        ("[]", "names no model"),
        (json.dumps({"model": {"type": "BPE", "vocab": {}}}), "other pieces"),
        (json.dumps({"model": {"vocab": {}}, "normalizer": {"type": "NFC"}}), "another way"),
        (
            json.dumps({"model": {"vocab": {"a": 7}}, "normalizer": {"type": "BertNormalizer"}}),
            "not numbered one by one",
        ),
        (
            json.dumps({"model": {"vocab": {"a": 0}}, "normalizer": {"type": "BertNormalizer"}}),
            r"lack \[PAD\]",
        ),
    ],
)
def test_a_foreign_tokenizer_is_one_line(tmp_path, content, problem):
    """What is not BERT's way of cutting is refused, and named."""
    (tmp_path / "tokenizer.json").write_text(content, encoding="utf-8")
    with pytest.raises(ModelError, match=problem):
        WordPieces.load(tmp_path)


def test_without_the_library_the_extra_is_named(monkeypatch):
    """One line says what to install."""
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"regard\[bert\]"):
        WordPieces.from_texts(lambda: TEXTS)
