"""Documents to a corpus, its two sides, a vocabulary and classes."""

import numpy as np
import pytest

from regard import DataError, Document, TextConfig
from regard.data.columns import Columns
from regard.data.readers import read_rows
from regard.estimators.fitting import FEWEST_TO_SPLIT, FitOptions, Holdout
from regard.estimators.training_documents import prepare
from support.reviews import reviews


def documents(count, seed=0, **fields):
    texts, labels = reviews(count, seed=seed)
    return [
        Document(text, label, {name: make(place) for name, make in fields.items()})
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def prepared(tmp_path, given, validation=None, *, fraction=0.1, **options):
    return prepare(
        given,
        validation,
        folder=tmp_path,
        text=TextConfig(min_count=1),
        holdout=Holdout(fraction, 0),
        options=FitOptions(**options),
    )


def test_words_that_only_held_out_texts_have_are_unknown(tmp_path):
    """001-17: the vocabulary comes from the training side alone."""
    given = documents(30)
    data = prepared(tmp_path, given, [Document("zebra crossing", "bad")])
    assert "zebra" not in data.vocab and "film" in data.vocab
    split = prepared(tmp_path / "b", [Document(f"word{n}", n % 2) for n in range(40)])
    known = {f"word{n}" in split.vocab for n in split.validation.tolist()}
    assert known == {False}
    assert all(f"word{n}" in split.vocab for n in split.training.tolist())


def test_a_share_is_held_out_by_the_seed(tmp_path):
    data = prepared(tmp_path, documents(50), fraction=0.2)
    assert (len(data.training), len(data.validation)) == (40, 10)
    assert sorted([*data.training, *data.validation]) == list(range(50))
    again = prepared(tmp_path / "b", documents(50), fraction=0.2)
    assert np.array_equal(again.validation, data.validation)


def test_with_very_few_documents_all_are_trained_on(tmp_path):
    data = prepared(tmp_path, documents(FEWEST_TO_SPLIT - 1))
    assert len(data.validation) == 0 and len(data.training) == FEWEST_TO_SPLIT - 1


def test_whole_groups_are_held_out(tmp_path):
    given = documents(60, author=lambda place: f"author {place // 6}")
    data = prepared(tmp_path, given, split="group", columns=Columns(group="author"))
    held_out = {place // 6 for place in data.validation.tolist()}
    assert held_out and not held_out & {place // 6 for place in data.training.tolist()}


def test_the_latest_are_held_out(tmp_path):
    given = documents(30, day=lambda place: f"2024-01-{30 - place:02}")
    data = prepared(tmp_path, given, split="time", columns=Columns(time="day"))
    assert data.validation.tolist() == [0, 1, 2]


def test_given_validation_documents_are_the_other_side(tmp_path):
    data = prepared(tmp_path, documents(30), documents(7, seed=1), fraction=0.5)
    assert data.training.tolist() == list(range(30))
    assert data.validation.tolist() == list(range(30, 37))
    assert (data.check.documents, data.check.validation_documents) == (30, 7)


def test_rows_that_were_not_read_are_in_the_check(tmp_path):
    rows = [{"text": "a b", "label": "x"}, {"text": "c", "label": "y"}, {"text": 3, "label": "x"}]
    reader = read_rows(rows, name="rows", on_bad_row="skip")
    data = prepared(tmp_path, reader, readers=(reader,))
    assert data.check.skipped_rows == 1
    assert "  1 skipped: 1 wrong type" in data.check.describe()


@pytest.mark.parametrize(
    ("given", "validation", "message"),
    [
        ([], None, "no documents to train on"),
        ([], [Document("a", "x"), Document("b", "y")], "no documents to train on"),
        ([Document("a", "x"), Document("b", "y")], [], "no documents to validate on"),
        ([Document("a"), Document("b")], None, "have no labels"),
        ([Document("a", "x")] * 3, None, "all 3 documents have the label 'x'"),
        ([Document("a", ())] * 3, None, "none of the 3 documents has a label"),
    ],
)
def test_what_cannot_be_learned_from_is_named(tmp_path, given, validation, message):
    with pytest.raises(DataError, match=message):
        prepared(tmp_path, given, validation)
