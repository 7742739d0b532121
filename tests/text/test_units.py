"""What all pieces of texts must do, tried on each kind."""

import json
from pathlib import Path

import numpy as np
import pytest

from regard.config import to_dict
from regard.errors import ConfigError, ModelError
from regard.text.tokenize import tokenize
from regard.text.units import (
    END,
    KINDS,
    START,
    UnitsConfig,
    build_units,
    load_units,
    save_units,
    spell,
)
from regard.text.vocab import PADDING, UNKNOWN, cut_texts

pytest.importorskip("tokenizers")

TEXTS = [
    "Ein Hund läuft, schnell nach Hause.",
    "Zwei Hunde laufen im Schnee.",
    "A man (in a red shirt) doesn't look.",
    "한국어 문장입니다.",
    "Emoji 😀 and 👨‍👩‍👧!",
] * 3
ODD = [
    "",
    " ",
    "neues Wort",
    "<end> <oov> <start> <pad>",
    "a\ud800b",
    "zwei  Räume\n da",
    "x" * 300,
]
every_kind = pytest.mark.parametrize("kind", KINDS)


def units(kind, **settings):
    return build_units(TEXTS, UnitsConfig(kind, **{"size": 300, "min_count": 1, **settings}))


@every_kind
class TestEveryKind:
    def test_texts_of_known_pieces_are_written_again(self, kind):
        made = units(kind)
        for text, pieces in zip(TEXTS, cut_texts(TEXTS, made), strict=True):
            assert made.decode(pieces.ids) == text

    @pytest.mark.parametrize("text", [*TEXTS[:5], *ODD])
    def test_what_is_spelled_says_where_each_piece_stands(self, kind, text):
        made = units(kind)
        ids = cut_texts([text], made)[0].ids.tolist()
        found = spell(made, ids)
        assert found.text == made.decode(ids) and len(found.spans) == len(ids)
        written = "".join(found.text[start:end] for start, end in found.spans)
        assert written == "".join(found.text.split())

    def test_ends_have_no_place(self, kind):
        made = units(kind)
        ids = [START, *cut_texts(TEXTS[:1], made)[0].ids.tolist(), END]
        spans = spell(made, ids).spans.tolist()
        assert spans[0] == [0, 0] and spans[-1] == [len(TEXTS[0])] * 2
        assert len(spell(made, []).spans) == 0

    def test_ends_are_passed_over(self, kind):
        made = units(kind)
        ids = [START, *cut_texts(TEXTS[:1], made)[0].ids.tolist(), END, PADDING]
        assert made.decode(ids) == TEXTS[0]

    @pytest.mark.parametrize("text", [*TEXTS[:5], *ODD])
    def test_spans_point_at_the_pieces_in_order(self, kind, text):
        (pieces,) = cut_texts([text], units(kind))
        spans = pieces.tokens.spans
        assert spans.shape == (len(pieces.ids), 2)
        assert pieces.tokens.text is text
        assert (spans[:, 0] <= spans[:, 1]).all() and (spans[1:, 0] >= spans[:-1, 1]).all()
        assert len(spans) == 0 or (spans[0, 0] >= 0 and spans[-1, 1] <= len(text))
        covered = "".join(pieces.tokens.words())
        assert "".join(covered.split()) == "".join(text.split())
        assert pieces.tokens.per_sentence.sum() == len(spans)

    def test_no_text_is_taken_for_a_reserved_id(self, kind):
        """A word that is written like the end of a text must not end it."""
        (pieces,) = cut_texts(["<end> <start> <pad>"], units(kind))
        assert not np.isin(pieces.ids, [START, END, PADDING]).any()

    def test_ids_are_within_the_size(self, kind):
        made = units(kind, size=40)
        assert len(made) <= 40
        for pieces in cut_texts([*TEXTS, *ODD], made):
            assert pieces.ids.dtype == np.int32
            assert ((pieces.ids >= UNKNOWN) & (pieces.ids < len(made))).all()

    def test_what_is_unknown_is_shown_as_such(self, kind):
        made = units(kind)
        (pieces,) = cut_texts(["Жук"], made)
        assert UNKNOWN in pieces.ids
        assert "\N{REPLACEMENT CHARACTER}" in made.decode(pieces.ids)

    def test_lower_case_is_read_and_written_but_the_text_stays(self, kind):
        made = units(kind, lowercase=True)
        upper, lower = cut_texts(["EIN HUND", "ein hund"], made)
        assert upper.ids.tolist() == lower.ids.tolist()
        assert made.decode(upper.ids) == "ein hund"
        assert upper.tokens.text == "EIN HUND"

    def test_the_same_texts_give_the_same_pieces(self, kind):
        first, second = units(kind), units(kind)
        assert first.to_dict() == second.to_dict()

    def test_a_file_keeps_them(self, kind, tmp_path):
        path = tmp_path / "units.json"
        made = units(kind)
        save_units(made, path)
        again = load_units(path)
        assert again.config == made.config and len(again) == len(made)
        for one, other in zip(
            cut_texts([*TEXTS, *ODD], again), cut_texts([*TEXTS, *ODD], made), strict=True
        ):
            assert one.ids.tolist() == other.ids.tolist()
            assert again.decode(one.ids) == made.decode(other.ids)

    def test_no_texts_give_no_pieces(self, kind):
        made = build_units([], UnitsConfig(kind))
        assert cut_texts([], made) == []
        assert made.decode([]) == ""
        (pieces,) = cut_texts(["etwas"], made)
        assert (pieces.ids == UNKNOWN).all()


def test_words_are_those_of_the_tokenizer_whoever_finds_them():
    """The scanner in C takes many texts at once; ``tokenize`` defines what a word is."""
    texts = [*TEXTS, *ODD]
    for text, pieces in zip(texts, cut_texts(texts, units("words")), strict=True):
        assert pieces.tokens.spans.tolist() == tokenize(text).spans.tolist()


def test_a_word_after_a_gap_is_another_than_one_without():
    made = units("words")
    apart, joined = cut_texts(["läuft .", "läuft."], made)
    assert apart.tokens.words() == joined.tokens.words() == ["läuft", "."]
    assert made.decode(joined.ids) == "läuft."
    assert apart.ids[1] == UNKNOWN != joined.ids[1]


def test_frequent_words_are_one_subword_and_rare_ones_are_parts():
    made = build_units(["der Hund bellt"] * 50 + ["Hundehütte"], UnitsConfig(size=40, min_count=2))
    frequent, rare = cut_texts(["Hund", "Hundehütte"], made)
    assert frequent.tokens.words() == ["Hund"]
    assert len(rare.ids) > 1 and "".join(rare.tokens.words()) == "Hundehütte"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "word"}, "did you mean 'words'"),
        ({"size": 4}, "size must be from 5 to 1,000,000"),
        ({"min_count": 0}, "min_count must be at least 1"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        UnitsConfig(**wrong)


@pytest.mark.parametrize(
    "content",
    [b"\xff", b"{", b"[]", b"{}", json.dumps({"config": to_dict(UnitsConfig("words"))}).encode()],
)
def test_a_damaged_file_is_named(content, tmp_path: Path):
    path = tmp_path / "units.json"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"units\.json holds no pieces of text"):
        load_units(path)
