"""The saved folder: whole or not there at all, readable by a person, and kind when it is broken."""

import copy
import json
import random
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from regard import Document, DocumentClassifier, ModelError, RegardError
from regard.estimators.folder import seal
from regard.estimators.saved import Saved
from regard.models.base import Model, Output
from regard.nn.rows import row_mean
from regard.text.vocab import Vocab
from support.full_disk import full_disk
from support.reviews import reviews, tiny

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
    settled = replace(fitted.text, unknown="alike")  # what "auto" came to
    assert again.get_params() == fitted.get_params() | {"text": settled, "text__unknown": "alike"}
    assert again.classes_.tolist() == ["bad", "good"]
    assert again.history_ == fitted.history_
    assert again.facts_ == {**fitted.facts_, "baseline_accuracy": again.facts_["baseline_accuracy"]}
    assert again.explain(TEXTS[0]).to_json() == fitted.explain(TEXTS[0]).to_json()
    fitted_tags.save(tmp_path / "tags")
    tags = DocumentClassifier.load(str(tmp_path / "tags"))
    assert list(tags.predict(TEXTS)) == list(fitted_tags.predict(TEXTS))


def test_labels_keep_their_kind(tmp_path):
    for labels in (
        [3, 14],
        ["3", "14"],
        ["\ud800 lone", "`|*\n<b>"],
        ["p", "p\0"],
        [-1, 2**63 + 12345],
    ):
        classifier = tiny(training__epochs=1).fit(TEXTS, labels * 10)
        classifier.save(tmp_path / "model")
        again = DocumentClassifier.load(tmp_path / "model")
        assert again.classes_.tolist() == sorted(labels)
        assert set(again.predict(TEXTS).tolist()) <= set(labels)
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
        "wide.safetensors",
    }
    for path in saved.iterdir():
        assert not path.read_bytes().startswith((b"\x80", b"PK")), path
    about = json.loads((saved / "config.json").read_text())
    assert about["format"] == 2 and about["model"] == "han" and about["classes"] == ["bad", "good"]
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


def with_weight(name, weight):
    def change(folder):
        weights = load_file(folder / "weights.safetensors")
        save_file({**weights, name: weight}, folder / "weights.safetensors")

    return change


def other_baseline(folder):
    path = folder / "baseline.safetensors"
    with safe_open(path, "pt") as file:
        facts = file.metadata()
    arrays = load_file(path)
    save_file({**arrays, "coefficients": arrays["coefficients"][:1]}, path, metadata=facts)


def other_fingerprints(folder):
    save_file({"fingerprints": torch.ones(3, 3)}, folder / "seen.safetensors")


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


def unknown_part(folder):
    save_file({"bias": torch.ones(2)}, folder / "bias.safetensors")


DAMAGES = {
    "no config": (without("config.json"), "is not a saved model: it has no config.json"),
    "broken JSON": (broken_json, r"config.json cannot be read .*; copy or train it again"),
    "no format": (with_config(format=...), "was not written by regard: it names no format"),
    "format 99": (with_config(format=99), "saved in format 99 by regard .*upgrade regard"),
    "no classes": (with_config(classes=...), "config.json has no 'classes'"),
    "no list of classes": (with_config(classes="bad"), "classes must be a list of classes"),
    "a list as class": (with_config(classes=[["a"], "b"]), "a list of texts or of whole numbers"),
    "true as class": (with_config(classes=[True, 0]), "a list of texts or of whole numbers"),
    "a class twice": (with_config(classes=["a", "a"]), "the class 'a' is there twice"),
    "a class of a million letters": (with_config(classes=["a", "b" * 10**6]), "1,000,000 charact"),
    "one class more": (
        with_config(classes=["a", "b", "c"]),
        r"does not fit the rest .size mismatch for classify",
    ),
    "no flag": (with_config(multilabel=1), "multilabel must be true or false, found 1"),
    "no temperature": (with_config(temperature=None), "temperature must be a number, found None"),
    "temperature 0": (
        with_config(temperature=0),
        "temperature must be a number from 0.001 to 1000",
    ),
    "temperature -1": (with_config(temperature=-1.0), "temperature must be a number from"),
    "temperature NaN": (with_config(temperature=float("nan")), "temperature must be a number from"),
    "temperature inf": (with_config(temperature=float("inf")), "temperature must be a number from"),
    "temperature 10**400": (with_config(temperature=10**400), "temperature must be a number from"),
    "no section": (with_config(network=[1]), r"network must be an object, found \[1\]"),
    "a list as setting": (with_setting("text", "min_count", [1]), "text.min_count must be a plain"),
    "a number too large": (
        with_setting("network", "hidden_size", 10**400),
        "HANConfig.hidden_size is too large, or no number: 1000",
    ),
    "infinity": (with_setting("training", "clip", float("inf")), "clip is too large, or no number"),
    "a size of a billion": (
        with_setting("network", "hidden_size", 10**9),
        "does not fit the rest .Storage size calculation overflowed",
    ),
    "a billion layers": (with_setting("network", "layers", 10**9), "layers must be from 1 to 100"),
    "no facts": (with_config(facts=3), "facts must be an object"),
    "another history": (with_config(history={"epochs": 3}), "a list was expected, got 3"),
    "unknown network": (with_config(model="hna"), "a network called 'hna'; did you mean 'han'"),
    "unknown setting": (
        with_setting("network", "hiden_size", 8),
        "made by a newer regard .*config.json says of network 'hiden_size', which this one",
    ),
    "something unknown": (
        with_config(bias=[1, 2]),
        r"model was made by a newer regard \(.*\): config.json says 'bias', which this one "
        r"\(.*\) does not know; upgrade regard",
    ),
    "an unknown part": (unknown_part, "made by a newer regard .*: it has 'bias.safetensors'"),
    "wrong setting": (with_setting("training", "epochs", "many"), "must be a whole number"),
    "another size": (with_setting("network", "hidden_size", 9), "does not fit the rest"),
    "no vocabulary": (without("vocab.txt"), r"model has no vocab.txt; copy or train"),
    "short vocabulary": (
        short_vocabulary,
        r"size mismatch for embedding.weight: .*\[23, 16\].*\[20, 16\]",
    ),
    "foreign vocabulary": (foreign_vocabulary, "vocab.txt is no vocabulary"),
    "a word twice": (twice_in_vocabulary, "a vocabulary cannot hold '.*' twice"),
    "not UTF-8": (bytes_in_vocabulary, "vocab.txt is damaged, it is not UTF-8"),
    "no weights": (without("weights.safetensors"), r"model has no weights.safetensors; copy"),
    "truncated weights": (truncated, "cannot be read .SafetensorError: "),
    "weights that are no numbers": (
        with_weight("classify.bias", torch.tensor([0.0, torch.nan])),
        "classify.bias holds what is no number",
    ),
    "weights that are whole": (
        with_weight("classify.bias", torch.tensor([1, 2])),
        "classify.bias holds what is no number",
    ),
    "one number as vectors": (
        with_weight("embedding.weight", torch.tensor(1.0)),
        r"size mismatch for embedding.weight: .*\[\]",
    ),
    "a weight too many": (
        with_weight("other", torch.ones(1)),
        "rest .Unexpected key.*other",
    ),
    "a baseline of other classes": (
        other_baseline,
        "the TF-IDF baseline .* cannot be read .coefficients should be",
    ),
    "other fingerprints": (other_fingerprints, "seen.safetensors holds no fingerprints of texts"),
    "no baseline terms": (without("baseline.txt"), "the TF-IDF baseline .* cannot be read"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_folder_gives_one_line_that_says_what_to_do(damaged, name):
    damage, message = DAMAGES[name]
    damage(damaged)
    if "JSON" not in name and (damaged / "config.json").exists():
        seal(damaged)  # as if it had been written so
    with pytest.raises(ModelError, match=message) as error:
        DocumentClassifier.load(damaged)
    assert "\n" not in str(error.value) and len(str(error.value)) < 500
    assert "model" in str(error.value)


FILES = ("config.json", "vocab.txt", "weights.safetensors", "baseline.txt", "seen.safetensors")


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_found_wherever_it_is(damaged, name):
    """Without digests, half of them changed answers in silence."""
    draw = random.Random(name)
    whole = (damaged / name).read_bytes()
    for _ in range(20):
        changed = bytearray(whole)
        changed[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        (damaged / name).write_bytes(changed)
        with pytest.raises(ModelError, match=rf"model/{name}|in format \d by regard") as error:
            DocumentClassifier.load(damaged)
        assert "\n" not in str(error.value)


def test_the_card_leads_to_no_page_of_others(saved):
    card = (saved / "card.md").read_text(encoding="utf-8")
    assert "Trained with regard" in card and "://" not in card


def test_the_card_may_be_edited_and_what_can_be_done_without_deleted(damaged, fitted):
    (damaged / "card.md").write_text("my own words")
    (damaged / "report.html").write_text("my report")
    for name in ("seen.safetensors", "baseline.safetensors", "baseline.txt"):
        (damaged / name).unlink()
    again = DocumentClassifier.load(damaged)
    assert np.array_equal(again.predict_proba(TEXTS), fitted.predict_proba(TEXTS))
    assert again.seen_ is None and again.baseline_ is None


def test_config_json_may_be_written_in_another_layout(damaged):
    about = json.loads((damaged / "config.json").read_text())
    (damaged / "config.json").write_text(json.dumps(about, sort_keys=True))
    DocumentClassifier.load(damaged)


def test_deeply_nested_json_is_one_line(damaged):
    (damaged / "config.json").write_text(
        '{"format": 2, "facts": ' + "[" * 10**5 + "]" * 10**5 + "}"
    )
    with pytest.raises(ModelError, match=r"config.json cannot be read .*; copy or train it again"):
        DocumentClassifier.load(damaged)


def test_what_is_no_model_is_named(tmp_path):
    with pytest.raises(ModelError, match=r"there is no folder .*; train a model with: regard"):
        DocumentClassifier.load(tmp_path / "nowhere")
    (tmp_path / "config.json").write_text('{"architectures": ["BertModel"]}')
    with pytest.raises(ModelError, match="was not written by regard"):
        DocumentClassifier.load(tmp_path)
    with pytest.raises(ModelError, match=r"config.json is a file; name the folder that regard"):
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
    unwritable = replace(Saved.read(saved), vocab=Vocab(["two\nlines"]))
    with pytest.raises(RegardError):
        unwritable.write(damaged)
    assert {path.name: path.read_bytes() for path in damaged.iterdir()} == before
    with pytest.raises(RegardError):
        unwritable.write(damaged.with_name("fresh"))
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
    with pytest.raises(ModelError, match=r"called 'mean of words'; there are .*cahan, flat, han"):
        DocumentClassifier.load(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model", models={"mean of words": MeanConfig})
    assert again.network == MeanConfig(size=4)
    assert np.array_equal(again.predict_proba(TEXTS), classifier.predict_proba(TEXTS))


@pytest.mark.parametrize("name", ["saved_1", "saved_classifier"])
def test_a_folder_of_an_earlier_version_still_loads_and_answers_alike(name):
    """Written by ``PYTHONPATH=tests python -m support.saved_model`` and not touched since."""
    expected = json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))
    again = DocumentClassifier.load(KEPT / name)
    likely = again.predict_proba(expected["texts"])
    np.testing.assert_allclose(likely, expected["probabilities"], atol=1e-5)
    assert again.classes_.tolist() == expected["classes"]
    baseline = again.baseline_.predict_proba(expected["texts"])
    np.testing.assert_allclose(baseline, expected["baseline"], atol=1e-5)
    told = again.explain(expected["texts"][0], method="attention")
    assert told.words(1)[0].text == expected["heaviest_word"]
    if "labels" in expected:
        assert again.predict(expected["texts"]).tolist() == expected["labels"]
        assert again.seen_.tolist() == expected["seen"]


@pytest.mark.parametrize("size", [50, 400, 3000])
def test_a_full_disk_is_told_by_the_name_of_the_folder(fitted, tmp_path, size):
    folder = tmp_path / "model"
    with full_disk(size), pytest.raises((OSError, ModelError)) as failed:
        fitted.save(folder)
    named = getattr(failed.value, "filename", None) or str(failed.value)
    assert str(folder) in named and not list(tmp_path.iterdir())
