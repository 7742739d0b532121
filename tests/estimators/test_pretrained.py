"""A classifier that reads through BERT: fitted, saved, loaded, asked, explained, judged."""

import dataclasses
import sys

import numpy as np
import pytest

from regard import DocumentClassifier, TrainingConfig
from regard.audit.run import audit
from regard.errors import ConfigError, MissingExtra, ModelError
from regard.models import BertHANConfig
from regard.text.document import Document
from support.reviews import reviews
from support.small_bert import small_bert

TEXTS, LABELS = reviews(32)
NEW = ["We saw a greatish Story then.\nIt was awfully dull!", "", "Lovely “evening” — brightness"]
TRAINING = TrainingConfig(
    epochs=12, batch_size=8, learning_rate=0.02, schedule="constant", patience=None
)
SMALL = {"hidden_size": 4, "attention_size": 6, "bert_rate": 3e-3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return small_bert(tmp_path_factory.mktemp("bert") / "bert", TEXTS)


@pytest.fixture(autouse=True)
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def fitted(folder, **settings):
    network = BertHANConfig(folder=str(folder), **SMALL, **settings)
    classifier = DocumentClassifier(network, training=TRAINING, wide=None, progress=False)
    return classifier.set_params(validation=0).fit(TEXTS, LABELS)


@pytest.fixture(scope="module")
def tuned(folder):
    return fitted(folder)


def test_a_small_encoder_learns_its_documents_by_heart(tuned):
    """000-01: all right on the 32 documents it was trained on."""
    assert (tuned.predict(TEXTS) == LABELS).all()


@pytest.mark.parametrize(
    "settings", [{}, {"places": True}, {"tuned_layers": 0, "word_pooling": "mean"}]
)
def test_a_saved_folder_needs_nothing_else_and_answers_alike(folder, tmp_path, settings):
    """000-01: to the bit, and without the folder of the encoder."""
    moved = tmp_path / "encoder"
    moved.symlink_to(folder)
    network = BertHANConfig(folder=str(moved), **SMALL, **settings)
    short = dataclasses.replace(TRAINING, epochs=1)
    classifier = DocumentClassifier(network, training=short, progress=False).fit(TEXTS, LABELS)
    classifier.save(tmp_path / "model")
    moved.unlink()
    again = DocumentClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(NEW), classifier.predict_proba(NEW))
    assert again.network.bert_pieces == classifier.vocab_.pieces.__len__()


def test_frozen_sentences_are_read_once_for_all_trainings(folder, cache):
    """000-09: the second training finds every vector where the first left it."""
    first = fitted(folder, tuned_layers=0, word_pooling="mean")
    store = first.model_.store
    known = len(store)
    files = list(cache.rglob("*.rows"))
    assert known > 0 and files
    size = sum(path.stat().st_size for path in files)
    second = fitted(folder, tuned_layers=0, word_pooling="mean")
    assert len(second.model_.store) == known
    assert sum(path.stat().st_size for path in files) == size
    np.testing.assert_allclose(second.predict_proba(NEW), first.predict_proba(NEW), atol=1e-6)


@pytest.mark.parametrize("method", ["attention", "gradient_input", "erasure"])
def test_words_and_sentences_are_explained_where_they_stand(tuned, method):
    """000-09: pieces merged, offsets true, with a receipt."""
    explanation = tuned.explain(NEW[0], method=method)
    words, sentences = explanation.decisions[0].weights
    parts = [NEW[0][start:end] for start, end in words.pieces]
    assert "".join(parts) == "".join(NEW[0].split())
    assert {"We", "Story", "dull"} <= set(parts)  # words of the training are whole
    assert [NEW[0][start:end] for start, end in sentences.pieces] == NEW[0].split("\n")
    assert explanation.decisions[0].receipt is not None


def test_it_is_audited_and_looked_at(tuned):
    documents = [Document(text, label) for text, label in zip(*reviews(8, seed=5), strict=True)]
    assert tuned.look(documents).to_json()
    assert audit(tuned, documents).to_json()


def test_any_length_is_answered(tuned):
    """Far beyond the 32 places of BERT, in one sentence and in many."""
    long = "great " * 500 + ". " + "It was a story. " * 300
    assert np.isfinite(tuned.predict_proba([long])).all()


def test_without_the_extra_one_line_names_it(monkeypatch, folder):
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(MissingExtra, match=r"pip install 'regard\[bert\]'"):
        fitted(folder)


def test_what_does_not_fit_is_one_line(tmp_path):
    with pytest.raises(ModelError, match="there is no folder"):
        fitted(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="tuned_layers must be at least 0"):
        BertHANConfig(tuned_layers=-1)
