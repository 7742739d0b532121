"""Words known by their pieces: what is one token, and where the pieces of others lie."""

import numpy as np
import pytest

from regard.errors import ModelError
from regard.text.pieced import PiecedVocab, load_pieces, save_pieces
from regard.text.tokenize import TextConfig
from regard.text.vocab import UNKNOWN
from support.pieces import learnt

COUNTS = {"the": 3, "film": 3, "filmboringly": 1, "Café": 1}


def vocab() -> PiecedVocab:
    return PiecedVocab.of(COUNTS, TextConfig(), learnt())


def test_a_word_of_the_training_texts_is_one_token():
    words = vocab()
    found = words.encode(["The filmboringly film."])
    assert [words.words[id] for id in found.ids[:3]] == ["the", "filmboringly", "film"]
    table = words.table
    starts = np.cumsum(table.lengths) - table.lengths
    place = int(found.ids[1])
    pieces = table.pieces[starts[place] : starts[place] + table.lengths[place]]
    assert pieces.tolist() == words.pieces.ids(["filmboringly"])[0].tolist()
    assert len(pieces) > 1


def test_another_word_is_read_in_its_pieces_with_true_offsets():
    words = vocab()
    text = "The  filmplayers never."
    found = words.encode([text, "", "film"])
    spans = [(int(start), int(end)) for start, end in found.spans]
    written = [text[start:end] for start, end in spans[: found.lengths[0]]]
    assert "".join(written) == text.replace(" ", "")
    assert written[0] == "The" and len(written) > 4
    spelt = [words.words[id].removeprefix("##") for id in found.ids[: len(written)]]
    assert spelt == [part.lower() for part in written]
    assert UNKNOWN not in found.ids
    assert found.sentence_lengths.sum() == found.lengths.sum() == len(found.ids)
    assert found.lengths.tolist()[1:] == [0, 1]
    assert len(found.sentence_lengths) == found.sentences.sum()


def test_every_id_has_a_piece_and_its_own():
    words = vocab()
    assert len(words.table.lengths) == len(words)
    assert (words.table.lengths >= 1).all()
    starts = np.cumsum(words.table.lengths) - words.table.lengths
    going_on = next(word for word in words.words if word.startswith("##"))
    place = words.words.index(going_on)
    assert words.pieces.pieces[words.table.pieces[starts[place]]] == going_on


def test_what_bert_has_no_letters_for_stays_one_unknown_word():
    words = vocab()
    found = words.encode(["the ☃ film"])
    assert (found.ids == UNKNOWN).sum() == 1
    assert found.lengths.tolist() == [3]


def test_pieces_survive_their_file(tmp_path):
    pieces = learnt()
    save_pieces(pieces, tmp_path / "pieces.json")
    again = load_pieces(tmp_path / "pieces.json")
    assert again.pieces == pieces.pieces and again.lowercase == pieces.lowercase
    (tmp_path / "pieces.json").write_text('{"pieces": [1]}')
    with pytest.raises(ModelError, match="holds no word pieces"):
        load_pieces(tmp_path / "pieces.json")
