"""An explanation is plain data that survives JSON, and answers simple questions about itself."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.records.encoding import decode
from regard.records.explanation import (
    Change,
    Decision,
    ErasureCurve,
    Explanation,
    Receipt,
    ReceiptMeasure,
)
from regard.records.weights import Weights

TEXT = "Dull film. A brilliant end!"
WORDS = Weights(
    "word",
    ((0, 4), (5, 9), (11, 12), (13, 22), (23, 26)),
    (0.9, 0.1, 0.1, 0.7, 0.2),
    by="sentence",
)
SENTENCES = Weights("sentence", ((0, 9), (11, 26)), (0.25, 0.75))


def explanation(**changes) -> Explanation:
    decision = Decision("pos", 0.8, (WORDS, SENTENCES))
    made = Explanation(TEXT, "attention", (decision,), (("neg", 0.2), ("pos", 0.8)))
    return replace(made, **changes)


def test_the_heaviest_words_and_sentences_come_first():
    """000-05: informative words and informative sentences are read out of one record."""
    found = explanation()
    assert [(word.text, word.span) for word in found.words(2)] == [
        ("brilliant", (13, 22)),
        ("Dull", (0, 4)),
    ]
    assert [word.weight for word in found.words(2)] == pytest.approx([0.525, 0.225])
    assert [(piece.text, piece.weight) for piece in found.sentences(1)] == [
        ("A brilliant end", 0.75)
    ]
    assert len(found.words(99)) == 5


def test_what_speaks_against_the_label_is_never_among_the_heaviest():
    """Lists and receipts mean the same by heaviest: signed towards the label, not the size."""
    scores = (-0.9, 0.1, 0.0, 0.3, -0.2)
    words = Weights.from_scores("word", WORDS.pieces, scores, unit="probability")
    sentences = Weights.from_scores("sentence", SENTENCES.pieces, (-0.8, 0.1), unit="probability")
    found = explanation(decisions=(Decision("pos", 0.8, (words, sentences)),))
    assert [(word.text, word.score) for word in found.words()] == [
        ("brilliant", 0.3),
        ("film", 0.1),
    ]
    assert [(word.text, word.score) for word in found.words_against()] == [
        ("Dull", -0.9),
        ("end", -0.2),
    ]
    assert [piece.text for piece in found.sentences()] == ["A brilliant end"]
    assert [piece.text for piece in found.sentences_against()] == ["Dull film"]
    assert words.heaviest(1) == [3] and words.opposing(1) == [0]


def test_attention_knows_nothing_that_speaks_against():
    found = explanation()
    assert found.words_against() == [] and found.sentences_against() == []


def test_words_without_sentence_weights_are_ranked_by_their_own():
    found = explanation(decisions=(Decision("pos", 0.8, (WORDS,)),))
    assert found.words(1)[0].text == "Dull"
    assert found.sentences() == []
    assert found.decisions[0].importance() is None


def test_weights_over_the_document_are_importance_already():
    words = replace(WORDS, by="document", values=(0.1, 0.1, 0.1, 0.6, 0.1))
    found = explanation(decisions=(Decision("pos", 0.8, (words, SENTENCES)),))
    assert found.decisions[0].importance() is words


def test_without_weights_there_is_nothing_to_rank():
    found = explanation(decisions=(Decision("pos", 0.8, ()),))
    assert found.words() == [] and found.words_against() == []
    assert found.sentences() == [] and found.sentences_against() == []


def test_any_explained_label_can_be_asked_for():
    other = Decision("neg", 0.2, (replace(WORDS, by="document"),))
    found = explanation(decisions=(explanation().decisions[0], other))
    assert (found.label, found.probability) == ("pos", 0.8)
    assert found.decision("neg") is other
    assert found.words(1, label="neg")[0].text == "Dull"
    with pytest.raises(DataError, match="'nag' was not explained; did you mean 'neg'"):
        found.decision("nag")


def test_everything_survives_json():
    curve = ErasureCurve("word", 9, (1, 3), (0.5, 0.25), (0.5, 0.75), (0.5, 0.5), (0.5, 0.5))
    measures = (ReceiptMeasure("sufficiency", 0.1, 0.05, "word"), ReceiptMeasure("tau", 0.3))
    receipt = Receipt("weak", measures, (0.1,), (curve,), 20, 1.5, "mask")
    full = explanation(
        decisions=(
            Decision(1, 0.8, (replace(WORDS, hops=(WORDS.values,) * 2), SENTENCES)),
            Decision(2, 0.1 + 0.2, (), 1, Change(((0, 4),), 0.25, True, 1), receipt),
        ),
        unknown=((0, 4),),
        unread=((23, 27),),
        true_labels=(1, 2),
        erasure="delete",
    )
    again = Explanation.from_json(full.to_json())
    assert again == full
    assert again.to_json() == full.to_json()
    assert "\n" not in full.to_json()


def test_unknown_truth_and_no_true_label_are_told_apart_in_json():
    for labels in (None, (), ("pos",)):
        found = explanation(true_labels=labels)
        assert Explanation.from_json(found.to_json()).true_labels == labels


@given(
    st.text(st.characters(), max_size=40),
    st.lists(st.floats(-1e300, 1e300), max_size=5),
    st.text(st.characters(), max_size=5),
)
def test_any_text_and_any_number_survive_json(text, values, label):
    """Lone surrogates, halves of pairs side by side, NULs: the source comes back as it was."""
    pieces = tuple((0, len(text)) for _ in values)
    weights = Weights("word", pieces, tuple(values))
    made = Explanation(text, "attention", (Decision(label, 0.1, (weights,)),), ((label, 0.1),))
    assert Explanation.from_json(made.to_json()) == made


def test_the_two_halves_of_a_pair_stay_two_characters():
    text = "a\ud83d\ude00\ud83d\ude00b"
    made = Explanation(text, "attention", (Decision("x", 1.0, ()),), unread=((5, 6),))
    again = Explanation.from_json(made.to_json())
    assert again.source == text
    assert len(again.source) == 6


@pytest.mark.parametrize(
    "broken",
    [
        "{",
        "[]",
        '{"source": "a"}',
        '{"source": 5, "method": "m", "decisions": []}',
        '{"source": "a", "method": "m", "decisions": 5}',
        '{"source": "a", "method": "m", "decisions": []}',
    ],
)
def test_what_is_no_explanation_is_refused(broken):
    with pytest.raises(DataError):
        Explanation.from_json(broken)


def test_json_is_readable_without_this_package():
    value = json.loads(explanation().to_json())
    word = value["decisions"][0]["weights"][0]
    texts = [value["source"][start:end] for start, end in word["pieces"]]
    assert texts == ["Dull", "film", "A", "brilliant", "end"]


def test_spans_must_lie_in_the_text():
    with pytest.raises(DataError, match="5:99 is no span of a text of 27 characters"):
        explanation(unread=((5, 99),))


def test_a_field_of_a_later_version_is_left_out():
    value = json.loads(explanation().to_json()) | {"mood": "sunny"}
    assert decode(Explanation, json.dumps(value)) == explanation()


def test_a_record_says_briefly_what_it_is():
    assert repr(explanation()) == (
        "Explanation('pos' 0.800 by attention, 5 word weights, 2 sentence weights)"
    )
    assert "no weights" in repr(explanation(decisions=(Decision("pos", 0.8, ()),)))


def test_a_record_hands_itself_to_the_views(tmp_path, capsys):
    """001-23: HTML, notebook, text and picture of the same record."""
    found = explanation()
    assert found.to_html().startswith("<!DOCTYPE html>")
    assert found._repr_html_().startswith("<style>")
    assert "brilliant" in found.to_text(width=60)
    found.show()
    assert "brilliant" in capsys.readouterr().out
    found.write_image(tmp_path / "found.svg")
    assert (tmp_path / "found.svg").read_text(encoding="utf-8").startswith("<?xml")
