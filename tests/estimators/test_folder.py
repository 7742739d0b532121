"""The saved folder: whole or not there at all, readable by a person, and kind when it is broken."""

import copy
import json
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from regard import Document, DocumentClassifier, ModelError, RegardError
from regard.estimators.folder import read_folder, write_folder
from regard.models.base import Model, Output
from regard.nn.rows import row_mean
from regard.text.vocab import Vocab
from reviews import reviews, tiny

TEXTS, LABELS = reviews(20, seed=5)
KEPT = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "model"
    documents = [Document(text, label) for text, label in zip(*reviews(80), strict=True)]
    copy.deepcopy(fitted).fit_baseline(documents).save(folder)
    return folder


@pytest.fixture
def damaged(saved, tmp_path):
    """A copy of the folder, to break."""
    return Path(shutil.copytree(saved, tmp_path / "model"))


def test_a_loaded_classifier_gives_the_same_bits(fitted, fitted_tags, saved, tmp_path):
    again = DocumentClassifier.load(saved)
    assert np.array_equal(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    assert again.get_params() == fitted.get_params()
    assert again.classes_.tolist() == ["bad", "good"]
    assert again.history_ == fitted.history_ and again.facts_ == fitted.facts_
    assert again.explain(TEXTS[0]).to_json() == fitted.explain(TEXTS[0]).to_json()
    fitted_tags.save(tmp_path / "tags")
    tags = DocumentClassifier.load(str(tmp_path / "tags"))
    assert list(tags.predict(TEXTS)) == list(fitted_tags.predict(TEXTS))


def test_labels_keep_their_kind(tmp_path):
    for labels in ([3, 14], ["3", "14"], ["\ud800 lone", "`|*\n<b>"]):
        classifier = tiny(training__epochs=1).fit(TEXTS, labels * 10)
        classifier.save(tmp_path / "model")
        again = DocumentClassifier.load(tmp_path / "model")
        assert again.classes_.tolist() == sorted(labels)
        assert again.classes_.dtype == classifier.classes_.dtype


def test_no_file_is_a_pickle_and_all_can_be_read_by_others(saved):
    """D16: plain JSON, plain lines, safetensors."""
    assert {path.name for path in saved.iterdir()} == {
        "config.json",
        "vocab.txt",
        "weights.safetensors",
        "card.md",
        "baseline.safetensors",
        "baseline.txt",
        "seen.safetensors",
    }
    for path in saved.iterdir():
        assert not path.read_bytes().startswith((b"\x80", b"PK")), path
    about = json.loads((saved / "config.json").read_text())
    assert about["format"] == 1 and about["model"] == "han" and about["classes"] == ["bad", "good"]
    assert about["network"]["hidden_size"] == 8
    words = (saved / "vocab.txt").read_text().split("\n")
    assert words[:2] == ["<pad>", "<oov>"]
    assert len(load_file(saved / "weights.safetensors")["embedding.weight"]) == len(words)


def test_every_file_may_be_read_by_whoever_may_read_the_folder(saved):
    modes = {path.stat().st_mode & 0o777 for path in saved.iterdir()}
    assert len(modes) == 1


def broken_json(folder):
    (folder / "config.json").write_text('{"format": 1, "mod')


def without(name):
    return lambda folder: (folder / name).unlink()


def with_config(**changes):
    def change(folder):
        about = json.loads((folder / "config.json").read_text())
        about.update(changes)
        kept = {name: value for name, value in about.items() if value is not ...}
        (folder / "config.json").write_text(json.dumps(kept))

    return change


def with_setting(part, name, value):
    def change(folder):
        about = json.loads((folder / "config.json").read_text())
        about[part][name] = value
        (folder / "config.json").write_text(json.dumps(about))

    return change


def truncated(folder):
    path = folder / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def wrong_shapes(folder):
    weights = load_file(folder / "weights.safetensors")
    weights["classify.weight"] = torch.zeros(7, 7)
    save_file(weights, folder / "weights.safetensors")


def short_vocabulary(folder):
    words = (folder / "vocab.txt").read_text().split("\n")
    (folder / "vocab.txt").write_text("\n".join(words[:-3]))


def foreign_vocabulary(folder):
    (folder / "vocab.txt").write_text("these\nare\nwords")


def twice_in_vocabulary(folder):
    words = (folder / "vocab.txt").read_text().split("\n")
    (folder / "vocab.txt").write_text("\n".join([*words[:-1], words[2]]))


def bytes_in_vocabulary(folder):
    (folder / "vocab.txt").write_bytes(b"<pad>\n<oov>\n\xff\xfe")


DAMAGES = {
    "no config": (without("config.json"), "is not a saved model: it has no config.json"),
    "broken JSON": (broken_json, r"config.json cannot be read .*; copy or train it again"),
    "no format": (with_config(format=...), "was not written by regard: it names no format"),
    "format 99": (with_config(format=99), "saved in format 99 by regard .*upgrade regard"),
    "no classes": (with_config(classes=...), "is damaged .*classes"),
    "one class more": (with_config(classes=["a", "b", "c"]), "does not fit config.json"),
    "unknown network": (with_config(model="hna"), "a network called 'hna'; did you mean 'han'"),
    "unknown setting": (
        with_setting("network", "hiden_size", 8),
        "HANConfig has no setting 'hiden_size'; did you mean 'hidden_size'",
    ),
    "wrong setting": (with_setting("training", "epochs", "many"), "must be a whole number"),
    "another size": (with_setting("network", "hidden_size", 9), "does not fit config.json"),
    "no vocabulary": (without("vocab.txt"), r"is damaged .*vocab.txt"),
    "short vocabulary": (short_vocabulary, r"vocab.txt has \d+ words, .* vectors of \d+"),
    "foreign vocabulary": (foreign_vocabulary, "vocab.txt is no vocabulary"),
    "a word twice": (twice_in_vocabulary, "is damaged .* twice"),
    "not UTF-8": (bytes_in_vocabulary, "vocab.txt is damaged, it is not UTF-8"),
    "no weights": (without("weights.safetensors"), r"is damaged .*weights.safetensors"),
    "truncated weights": (truncated, "is damaged"),
    "no baseline terms": (without("baseline.txt"), "the TF-IDF baseline .* cannot be read"),
    "wrong shapes": (wrong_shapes, "does not fit config.json; copy or train it again"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_folder_gives_one_line_that_says_what_to_do(damaged, name):
    damage, message = DAMAGES[name]
    damage(damaged)
    with pytest.raises(ModelError, match=message) as error:
        DocumentClassifier.load(damaged)
    assert "\n" not in str(error.value) and "model" in str(error.value)


def test_what_is_no_model_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"there is no folder .*; train a model with: regard"):
        DocumentClassifier.load(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    with pytest.raises(ModelError, match="was not written by regard"):
        DocumentClassifier.load(tmp_path)
    with pytest.raises(ModelError, match="there is no folder"):
        DocumentClassifier.load(tmp_path / "config.json")


@pytest.mark.parametrize("kind", ["folder", "file"])
def test_something_foreign_is_not_overwritten(fitted, tmp_path, kind):
    place = tmp_path / "precious"
    if kind == "folder":
        place.mkdir()
    inside = place / "thesis.txt" if kind == "folder" else place
    inside.write_text("years of work")
    with pytest.raises(ModelError, match="exists and is not a saved model; name another folder"):
        fitted.save(place)
    assert inside.read_text() == "years of work"
    assert list(tmp_path.iterdir()) == [place]


def test_an_empty_folder_and_an_old_model_are_replaced(fitted, saved, tmp_path):
    place = tmp_path / "deep" / "model"
    place.mkdir(parents=True)
    tiny(training__epochs=1).fit(TEXTS, [1, 2] * 10).save(place)
    fitted.save(place)
    assert DocumentClassifier.load(place).classes_.tolist() == ["bad", "good"]
    assert [path.name for path in place.parent.iterdir()] == ["model"]


def test_what_a_person_put_into_the_folder_stays(fitted, tmp_path):
    place = tmp_path / "model"
    documents = tiny(training__epochs=1).fit(TEXTS, LABELS)
    documents.save(place)
    (place / "baseline.txt").write_text("left by a model that had a baseline")
    (place / "report.html").write_text("my report")
    (place / "notes").mkdir()
    (place / "notes" / "a.txt").write_text("my notes")
    fitted.save(place)
    assert (place / "report.html").read_text() == "my report"
    assert (place / "notes" / "a.txt").read_text() == "my notes"
    assert not (place / "baseline.txt").exists()


def test_a_link_to_a_folder_stays_a_link(fitted, saved, tmp_path):
    shutil.copytree(saved, tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    fitted.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert DocumentClassifier.load(tmp_path / "real").classes_.tolist() == ["bad", "good"]


def test_a_write_that_fails_leaves_what_was_there(saved, damaged):
    before = {path.name: path.read_bytes() for path in damaged.iterdir()}
    unwritable = replace(read_folder(saved), vocab=Vocab(["two\nlines"]))
    with pytest.raises(RegardError):
        write_folder(damaged, unwritable)
    assert {path.name: path.read_bytes() for path in damaged.iterdir()} == before
    with pytest.raises(RegardError):
        write_folder(damaged.with_name("fresh"), unwritable)
    assert list(damaged.parent.iterdir()) == [damaged]


def test_a_rename_that_fails_brings_the_old_model_back(saved, damaged, monkeypatch):
    rename = Path.rename

    def failing(self, target):
        if self.name == "new":
            raise OSError("the disk is gone")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(OSError, match="the disk is gone"):
        write_folder(damaged, read_folder(saved))
    assert read_folder(damaged).labels.classes == ("bad", "good")
    assert list(damaged.parent.iterdir()) == [damaged]


@dataclass(frozen=True)
class MeanConfig:
    """A network from outside the package: the mean of the word vectors."""

    name: ClassVar[str] = "mean of words"
    size: int = 8

    def build(self, *, vocab_size, label_count):
        return Mean(self.size, vocab_size, label_count)


class Mean(Model):
    def __init__(self, size, vocab_size, label_count):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, size)
        self.classify = nn.Linear(size, label_count)

    def from_vectors(self, words, batch, impose=None):
        return Output(self.classify(row_mean(batch.by_document.with_values(words.values))))


def test_a_network_from_outside_fits_saves_and_loads(tmp_path):
    classifier = tiny(network=MeanConfig(size=4), training__epochs=30).fit(*reviews(60))
    assert classifier.score(TEXTS, LABELS) > 0.9
    classifier.save(tmp_path / "model")
    with pytest.raises(ModelError, match="called 'mean of words'; there are cahan, flat, han"):
        DocumentClassifier.load(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model", models={"mean of words": MeanConfig})
    assert again.network == MeanConfig(size=4)
    assert np.array_equal(again.predict_proba(TEXTS), classifier.predict_proba(TEXTS))


@pytest.mark.parametrize("name", ["saved_1", "saved_classifier"])
def test_a_folder_of_an_earlier_version_still_loads_and_answers_alike(name):
    """Written by ``python tests/saved_model.py`` and not touched since."""
    expected = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    again = DocumentClassifier.load(KEPT / name)
    likely = again.predict_proba(expected["texts"])
    np.testing.assert_allclose(likely, expected["probabilities"], atol=1e-5)
    assert again.classes_.tolist() == expected["classes"]
    baseline = again.baseline_.predict_proba(expected["texts"])
    np.testing.assert_allclose(baseline, expected["baseline"], atol=1e-5)
    assert again.explain(expected["texts"][0]).words(1)[0].text == expected["heaviest_word"]
    if "labels" in expected:
        assert again.predict(expected["texts"]).tolist() == expected["labels"]
        assert again.seen_.tolist() == expected["seen"]
