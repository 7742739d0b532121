"""A table with what the model says beside it, as an actor of Ray or a task of Spark makes it."""

import pyarrow
import pytest

from regard.errors import DataError
from regard.scale.labelling import Labeller, Labelling
from support.reviews import reviews, tagged, tiny


@pytest.fixture(scope="module")
def model(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels") / "model"
    fitted.save(folder)
    return folder


def test_labels_stand_beside_what_was_there(fitted, model):
    texts = [*reviews(20)[0], None]
    given = pyarrow.table({"text": texts, "id": [*range(20), None]})
    found = Labeller(model)(given)
    assert found.select(["text", "id"]).equals(given)  # with its types, and what was missing
    expected = [text or "" for text in texts]
    assert found["predicted"].to_pylist() == fitted.predict(expected).tolist()
    likely = fitted.predict_proba(expected)
    assert found["probability"].to_pylist() == pytest.approx(likely.max(axis=1))
    rows = [list(row.values()) for row in found["probabilities"].to_pylist()]
    assert rows == pytest.approx(likely)


def test_it_explains_and_abstains_as_asked(model):
    asked = Labelling(abstain_below=1.1, explain=True)
    found = Labeller(model, labelling=asked)(pyarrow.table({"text": reviews(5)[0]}))
    assert found.column_names == ["text", *asked.columns]
    for row in found.to_pylist():
        assert row["predicted"] is None and row["verdict"]
        assert sum(piece["weight"] for piece in row["heaviest_words"]) > 0
        for piece in (*row["heaviest_words"], *row["heaviest_sentences"]):
            assert row["text"][piece["start"] : piece["end"]] == piece["text"]


@pytest.mark.parametrize("labelling", [Labelling(), Labelling(explain=True, receipt=False)])
def test_every_table_has_the_same_types_an_empty_one_too(model, labelling):
    labeller = Labeller(model, labelling=labelling)
    full = labeller(pyarrow.table({"text": ["A great evening.", ""]}))
    empty = labeller(pyarrow.table({"text": pyarrow.array([], pyarrow.string())}))
    assert len(empty) == 0 and empty.schema == full.schema


def test_several_labels_are_a_list(tmp_path):
    texts, labels = tagged(30)
    tiny(progress=False).fit(texts, labels).save(tmp_path / "model")
    found = Labeller(tmp_path / "model")(pyarrow.table({"text": texts[:4]}))
    assert all(isinstance(row, list) for row in found["predicted"].to_pylist())


def test_several_columns_make_one_text(model):
    texts = reviews(4)[0]
    parts = pyarrow.table({"title": ["A film", None, "", "A film"], "body": texts})
    joined = [f"A film\n\n{texts[0]}", texts[1], texts[2], f"A film\n\n{texts[3]}"]
    found = Labeller(model, "title,body")(parts)
    whole = Labeller(model)(pyarrow.table({"text": joined}))
    assert found.column_names[:2] == ["title", "body"]
    assert found["probability"].to_pylist() == whole["probability"].to_pylist()
    with pytest.raises(DataError, match="no column 'note'; use --text-column"):
        Labeller(model, "title,note")(parts)


def test_what_does_not_fit_is_an_error_in_a_line(model):
    with pytest.raises(DataError, match="no column 'body'; use --text-column"):
        Labeller(model, "body")(pyarrow.table({"text": ["a"]}))
    with pytest.raises(DataError, match="'probability', which the predictions would replace"):
        Labeller(model)(pyarrow.table({"text": ["a"], "probability": [1.0]}))
