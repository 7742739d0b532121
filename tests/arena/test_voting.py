"""Pieces that vote: how they are cut, what the rules say, and what is saved."""

import numpy as np
import pytest

from regard.arena.voting import RULES, VotingClassifier, cut_pieces
from regard.errors import ConfigError, ModelError
from regard.text.tokenize import TextConfig
from support.reviews import reviews, tiny

TEXT = "One two. Three four five!\nSix. Seven eight nine ten eleven twelve."
LIKELY = np.array([[0.6, 0.4], [0.55, 0.45], [0.1, 0.9]])


def test_pieces_are_sentences_or_runs_of_them():
    assert cut_pieces(TEXT, TextConfig()) == [
        "One two.",
        "Three four five!",
        "Six.",
        "Seven eight nine ten eleven twelve.",
    ]
    runs = cut_pieces(TEXT, TextConfig(), words=7)
    assert runs == ["One two. Three four five!", "Six.", "Seven eight nine ten eleven twelve."]
    assert cut_pieces("", TextConfig()) == [""]
    for words in (None, 1, 5, 50):
        assert "".join("".join(cut_pieces(TEXT, TextConfig(), words=words)).split()) == "".join(
            TEXT.split()
        )


def test_the_rules_make_one_answer_of_many():
    """000-02: vote, mean and max."""
    np.testing.assert_allclose(RULES["vote"](LIKELY), [2 / 3, 1 / 3])
    np.testing.assert_allclose(RULES["mean"](LIKELY), LIKELY.mean(0))
    np.testing.assert_allclose(RULES["max"](LIKELY), np.array([0.6, 0.9]) / 1.5)


def test_any_classifier_votes_and_is_saved(tmp_path):
    texts, labels = reviews(60)
    voter = VotingClassifier(tiny(progress=False), rule="max").fit(texts, labels)
    likely = voter.predict_proba([*texts, ""])
    assert likely.shape == (61, 2)
    np.testing.assert_allclose(likely.sum(1), 1)
    assert (voter.predict(texts) == labels).mean() > 0.9
    voter.save(tmp_path)
    again = VotingClassifier.load(tmp_path)
    assert again.rule == "max" and again.words is None
    np.testing.assert_array_equal(again.predict_proba(texts), likely[:-1])


def test_no_document_is_partly_learnt_and_partly_held_out():
    texts, labels = reviews(60)
    voter = VotingClassifier(tiny(progress=False)).fit(texts, labels)
    homes = np.repeat(
        np.arange(len(texts)), [len(cut_pieces(text, TextConfig())) for text in texts]
    )
    fitted = voter.classifier
    learnt, held_out = homes[fitted.training_places_], homes[fitted.held_out_places_]
    assert len(held_out) and not set(learnt.tolist()) & set(held_out.tolist())


def test_what_is_wrong_is_one_line(tmp_path):
    with pytest.raises(ConfigError, match="rule cannot be 'most'"):
        VotingClassifier(tiny(), rule="most")
    with pytest.raises(ModelError, match="holds no votes of pieces"):
        VotingClassifier.load(tmp_path)
