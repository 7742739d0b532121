import pytest
import torch

from regard.errors import ConfigError
from regard.models.base import Attention, Output
from regard.models.importance import importance
from regard.ragged import Ragged
from support.random_ids import batch_of

BATCH = batch_of([[[2, 3, 4], [5]], [], [[6, 7]]])


def output(words, sentences=None):
    layers = [Attention("word", "sentence", "token", BATCH.ids.with_values(torch.tensor(words)))]
    if sentences is not None:
        rows = Ragged(torch.tensor(sentences), BATCH.sentences)
        layers.append(Attention("sentence", "document", "sentence", rows))
    return Output(torch.zeros(3, 2), tuple(layers))


def test_a_word_counts_as_much_as_it_and_its_sentence_do():
    """001-13: word weight times sentence weight."""
    made = output([0.5, 0.25, 0.25, 1.0, 0.1, 0.9], [0.4, 0.6, 1.0])
    found = importance(made, BATCH)
    assert found.lengths.tolist() == [4, 0, 2]
    assert found.values.tolist() == pytest.approx([0.2, 0.1, 0.1, 0.6, 0.1, 0.9])


def test_length_correction_undoes_that_long_sentences_share_their_weight():
    """001-13: times the length of the sentence, and to one again."""
    made = output([0.5, 0.25, 0.25, 1.0, 0.1, 0.9], [0.4, 0.6, 1.0])
    found = importance(made, BATCH, length_corrected=True)
    # 0.6, 0.3, 0.3 and 0.6 before they are made to sum to one.
    expected = [0.6 / 1.8, 0.3 / 1.8, 0.3 / 1.8, 0.6 / 1.8, 0.1, 0.9]
    assert found.values.tolist() == pytest.approx(expected)


def test_several_columns_count_by_their_mean():
    columns = [[0.5, 0.1], [0.25, 0.1], [0.25, 0.8], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    made = output(columns, [0.5, 0.5, 1.0])
    expected = [0.15, 0.0875, 0.2625, 0.5, 0.5, 0.5]
    assert importance(made, BATCH).values.tolist() == pytest.approx(expected)


def test_without_sentences_a_word_counts_as_much_as_its_weight():
    weights = [0.25, 0.25, 0.25, 0.25, 0.5, 0.5]
    assert importance(output(weights), BATCH).values.tolist() == pytest.approx(weights)


def test_a_model_without_word_weights_is_refused():
    with pytest.raises(ConfigError, match="gives words no weights"):
        importance(Output(torch.zeros(3, 2)), BATCH)
