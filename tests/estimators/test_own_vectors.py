"""A network starts from vectors that its own texts, and others without labels, have taught."""

import numpy as np
import pytest
import torch

from regard.data.readers import read_texts
from regard.errors import ConfigError
from regard.estimators.fitting import FitOptions
from regard.estimators.recipes import RECIPES
from support.reviews import reviews, tiny


def first_vectors(options):
    """The word vectors after a training that leaves them as they started."""
    texts, labels = reviews(40)
    classifier = tiny(training__freeze_vectors=True)
    classifier.fit_documents(read_texts(texts, labels), options=options)
    return classifier, classifier.model_.embedding.weight.detach().clone()


def test_own_texts_and_others_say_where_word_vectors_start():
    """13.2: drawn by the recipe fast; from the training's texts; from those without labels too."""
    _, drawn = first_vectors(FitOptions(recipe=RECIPES["fast"]))
    own, from_own = first_vectors(FitOptions())
    more = reviews(200, seed=1)[0]
    both, from_both = first_vectors(FitOptions(unlabelled=read_texts(more)))
    assert drawn.shape == from_own.shape == from_both.shape  # the vocabulary stays as it is
    assert not torch.allclose(drawn, from_own) and not torch.allclose(from_own, from_both)
    assert own.vector_coverage_.word_share == both.vector_coverage_.word_share == 1
    _, again = first_vectors(FitOptions(unlabelled=read_texts(more)))
    assert torch.equal(from_both, again)


def test_texts_without_labels_can_be_given_to_fit():
    texts, labels = reviews(40)
    classifier = tiny().fit(texts, labels, unlabelled=reviews(60, seed=2)[0])
    assert classifier.vector_coverage_ is not None
    assert np.isfinite(classifier.predict_proba(texts)).all()


def test_a_file_of_vectors_and_unlabelled_texts_are_two_answers(tmp_path):
    options = FitOptions(vectors=tmp_path / "vectors.txt", unlabelled=read_texts(["good film"]))
    with pytest.raises(ConfigError, match="give one"):
        first_vectors(options)
