"""Explanations through a fitted classifier."""

import numpy as np
import pytest
import torch

from regard import FlatConfig, HANConfig
from regard.data.batch import collate
from regard.explain import fitted as fitted_module
from regard.explain.methods import METHODS
from regard.models import reader
from regard.text.tokenize import tokenize
from support.reviews import reviews, tiny

TEXTS, LABELS = reviews(20, seed=6)


def test_the_weights_are_those_the_model_used(fitted):
    """D16: attention is returned, not recomputed by other means."""
    for text, found in zip(TEXTS, fitted.explain(TEXTS, method="attention"), strict=True):
        with torch.no_grad():
            output = fitted.model_(collate([tokenize(text)], fitted.vocab_))
        used = {layer.name: layer.weights.values.numpy() for layer in output.attention}
        for name in ("word", "sentence"):
            given = found.decisions[0].level(name).values
            np.testing.assert_allclose(given, used[name], atol=1e-6)
        assert found.source == text and found.method == "attention"
        assert found.label == fitted.predict([text])[0]


def test_weights_sum_to_one_and_point_at_the_text(fitted):
    """000-05: per sentence over its words, per document over its sentences."""
    for text, found in zip(TEXTS, fitted.explain(TEXTS, method="attention"), strict=True):
        decision = found.decisions[0]
        words, sentences = decision.level("word"), decision.level("sentence")
        assert sum(sentences.values) == pytest.approx(1, abs=1e-6)
        for start, end in sentences.pieces:
            inside = [
                weight
                for (first, last), weight in zip(words.pieces, words.values, strict=True)
                if start <= first and last <= end
            ]
            assert sum(inside) == pytest.approx(1, abs=1e-6)
        assert sum(decision.importance().values) == pytest.approx(1, abs=1e-6)
        assert all(text[start:end].strip() for start, end in words.pieces)


def test_a_text_without_a_span_is_answered_as_its_score_says(fitted):
    """A full stop that is erased joins no sentences: the text is cut as it was."""
    (found,) = fitted.explain([TEXTS[2]], method="erasure", receipt=False)
    (decision,) = found.decisions
    number = fitted.classes_.tolist().index(decision.label)
    words, sentences = decision.level("word"), decision.level("sentence")
    assert len(sentences) > 1
    pieces = [*words.pieces, *sentences.pieces]
    likely = fitted.fitted_.likely_without([TEXTS[2]] * len(pieces), [[one] for one in pieces])
    lost = decision.probability - likely[:, number]
    np.testing.assert_allclose(lost, [*words.scores, *sentences.scores], atol=1e-6)
    whole = fitted.fitted_.likely_without(TEXTS, [[]] * len(TEXTS))
    np.testing.assert_allclose(whole, fitted.predict_proba(TEXTS), atol=1e-6)
    nothing = fitted.fitted_.likely_without(TEXTS[:2], [[(0, len(text))] for text in TEXTS[:2]])
    np.testing.assert_allclose(nothing, fitted.predict_proba(["", ""]), atol=1e-6)
    assert fitted.fitted_.likely_without([], []).shape == (0, 2)


def test_order_is_kept_over_many_chunks(fitted, monkeypatch):
    monkeypatch.setattr(reader, "BATCH_TOKENS", 40)
    monkeypatch.setattr(fitted_module, "chunks", lambda items: reader.chunks(items, 7))
    assert [found.source for found in fitted.explain(TEXTS)] == TEXTS


@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("text", ["", "word", "...", "\ud800\x00", "One. Two! Three?"])
def test_every_method_explains_every_text(fitted, method, text):
    assert fitted.explain(text, method=method).source == text


@pytest.mark.parametrize(
    "network",
    [
        FlatConfig(embedding_size=8, hidden_size=4, attention_size=4),
        HANConfig(embedding_size=8, encoder="none", attention_size=4),
        HANConfig(embedding_size=8, hidden_size=4, pooling="structured", hops=2),
        HANConfig(embedding_size=8, hidden_size=4, pooling="max"),
    ],
    ids=["flat", "glass box", "structured", "max"],
)
def test_every_kind_of_network_can_be_explained(network):
    classifier = tiny(network=network, training__epochs=1).fit(TEXTS, LABELS)
    found = classifier.explain(TEXTS[0], method="attention")
    assert sum(piece.weight for piece in found.sentences(99)) == pytest.approx(1)
    assert "<html" in classifier.explain(TEXTS[0]).to_html()
