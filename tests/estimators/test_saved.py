"""The saved folder of a translator: the same bits again, and kind errors."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from regard import DocumentClassifier, Translator
from regard.errors import ModelError
from regard.estimators.folder import seal, task_of
from support.parrots import new_translator, parrots
from support.reviews import reviews, tiny

LINES, CAPITALS = parrots(60)
KEPT = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def fitted():
    return new_translator(training__epochs=2).fit(LINES, CAPITALS)


@pytest.fixture
def saved(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_loaded_translator_writes_the_same(fitted, saved):
    again = Translator.load(saved, device="cpu")
    assert again.predict(LINES[:9]) == fitted.predict(LINES[:9])
    for name, weight in fitted.model_.state_dict().items():
        assert torch.equal(again.model_.state_dict()[name], weight)
    assert again.history_ == fitted.history_ and again.facts_ == fitted.facts_
    assert again.get_params()["training__epochs"] == 2


def test_the_folder_can_be_read_by_a_person(saved):
    names = ["card.md", "config.json", "source_units.json", "target_units.json"]
    assert sorted(path.name for path in saved.iterdir()) == [*names, "weights.safetensors"]
    about = json.loads((saved / "config.json").read_text())
    assert (about["task"], about["model"], task_of(saved)) == ("translate", "seq2seq", "translate")
    card = (saved / "card.md").read_text()
    assert "regard translate FOLDER" in card and "### forcing" in card


@pytest.mark.parametrize("kind", ["subwords", "characters"])
def test_every_kind_of_pieces_is_kept(kind, tmp_path):
    if kind == "subwords":
        pytest.importorskip("tokenizers", reason="the extra translate is not installed")
    made = new_translator(training__epochs=1, units__kind=kind, training__monitor="loss")
    made.fit(LINES, CAPITALS).save(tmp_path / "model")
    assert Translator.load(tmp_path / "model").predict(["a b"]) == made.predict(["a b"])


def test_tied_weights_are_kept(tmp_path):
    made = new_translator(training__epochs=1, network__tied="all", units__shared=True)
    made.fit(LINES, CAPITALS).save(tmp_path / "model")
    assert Translator.load(tmp_path / "model").predict(["a b"]) == made.predict(["a b"])


def test_saving_again_replaces_the_model_and_keeps_the_rest(fitted, saved):
    (saved / "notes.txt").write_text("mine")
    fitted.save(saved)
    assert (saved / "notes.txt").read_text() == "mine"
    assert Translator.load(saved).facts_ == fitted.facts_


def test_nothing_foreign_is_replaced(fitted, tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(ModelError, match="exists and is not a saved model"):
        fitted.save(tmp_path)


def test_each_loads_its_own_kind_alone(saved, tmp_path):
    with pytest.raises(ModelError, match=r"the task 'translate', not 'classify'; card.md in it"):
        DocumentClassifier.load(saved)
    classifier = tmp_path / "classifier"
    tiny().fit(*reviews(30)).save(classifier)
    assert task_of(classifier) == "classify"
    with pytest.raises(ModelError, match=r"the task 'classify', not 'translate'; card.md in it"):
        Translator.load(classifier)


def test_a_translator_takes_the_place_of_a_classifier_whole(fitted, tmp_path):
    folder = tmp_path / "model"
    tiny().fit(*reviews(30)).save(folder)
    fitted.save(folder)
    assert not (folder / "vocab.txt").exists() and not (folder / "seen.safetensors").exists()


@pytest.mark.parametrize("name", ["source_units.json", "target_units.json", "weights.safetensors"])
@pytest.mark.parametrize("content", [None, b"", b"\xff\x00"], ids=["missing", "empty", "garbage"])
def test_a_damaged_folder_is_one_line(saved, name, content):
    if content is None:
        (saved / name).unlink()
    else:
        (saved / name).write_bytes(content)
    with pytest.raises(ModelError, match=name) as caught:
        Translator.load(saved)
    assert "\n" not in str(caught.value)
    seal(saved)
    with pytest.raises(ModelError) as caught:
        Translator.load(saved)
    assert "\n" not in str(caught.value)


def test_units_of_another_model_do_not_fit(saved, tmp_path):
    other = tmp_path / "other"
    new_translator(training__epochs=1).fit(["x y"] * 30, ["z"] * 30).save(other)
    shutil.copy(other / "target_units.json", saved / "target_units.json")
    with pytest.raises(ModelError, match=r"target_units.json is not as it was written"):
        Translator.load(saved)
    seal(saved)
    with pytest.raises(ModelError, match="does not fit the rest"):
        Translator.load(saved)


def test_a_folder_of_an_earlier_version_still_loads_and_writes_alike():
    """Written by ``PYTHONPATH=tests python -m support.saved_model`` and not touched since."""
    pytest.importorskip("tokenizers", reason="the extra translate is not installed")
    expected = json.loads((KEPT / "saved_translator.json").read_text(encoding="utf-8"))
    again = Translator.load(KEPT / "saved_translator", device="cpu")
    found = again.candidates(expected["texts"], 2)
    assert [[one.text for one in several] for several in found] == expected["translations"]
    for several, scores in zip(found, expected["scores"], strict=True):
        np.testing.assert_allclose([one.score for one in several], scores, atol=1e-5)
    looked = again.explain(expected["texts"][0]).weights
    np.testing.assert_allclose(looked, expected["looked"], atol=1e-5)
