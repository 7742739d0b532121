import numpy as np
import pytest

from regard.errors import DataError
from regard.tasks.predictions import Predictions
from support.evaluations import predictions


def test_probabilities_are_those_of_softmax_and_sigmoid():
    logits = np.array([[1.0, -2.0, 0.5], [1000.0, 0.0, -1000.0]])
    single = Predictions(("a", "b", "c"), np.array([0, 2]), logits)
    plain = np.exp(logits[0] / 2) / np.exp(logits[0] / 2).sum()
    np.testing.assert_allclose(single.probabilities(2.0)[0], plain)
    np.testing.assert_allclose(single.probabilities()[1], [1, 0, 0])
    several = Predictions(("a", "b", "c"), np.zeros((2, 3), int), logits)
    np.testing.assert_allclose(several.probabilities()[0], 1 / (1 + np.exp(-logits[0])))


@pytest.mark.parametrize("several", [False, True])
def test_no_temperature_changes_a_decision(several):
    given = predictions(("a", "b", "c"), several=several)
    for temperature in (0.1, 1.0, 9.0):
        probabilities = given.probabilities(temperature)
        decided = probabilities > 0.5 if several else probabilities.argmax(axis=1)
        assert np.array_equal(decided, given.decisions())


def test_probabilities_instead_of_logits_give_the_same_answers():
    given = predictions(("a", "b", "c"))
    again = Predictions.from_probabilities(given.classes, given.labels, given.probabilities())
    np.testing.assert_allclose(again.probabilities(), given.probabilities())
    several = predictions(("a", "b"), several=True)
    again = Predictions.from_probabilities(several.classes, several.labels, several.probabilities())
    np.testing.assert_allclose(again.logits, several.logits)


def test_a_document_of_several_labels_is_right_only_as_a_whole():
    labels = np.array([[1, 0, 1], [0, 0, 0]])
    logits = np.array([[2.0, -1.0, -0.5], [-1.0, -2.0, -3.0]])
    given = Predictions(("a", "b", "c"), labels, logits)
    assert given.correct().tolist() == [False, True]
    sure = 1 / (1 + np.exp(-np.abs(logits)))
    np.testing.assert_allclose(given.confidences(), sure.prod(axis=1))


@pytest.mark.parametrize(
    ("labels", "logits", "word"),
    [
        ([0, 1], [[1.0, 2.0]], "shape"),
        ([0], [[1.0, 2.0, 3.0]], "shape"),
        ([2], [[1.0, 2.0]], "between 0 and 1"),
        ([-1], [[1.0, 2.0]], "between 0 and 1"),
        ([0], [[np.nan, 2.0]], "finite"),
    ],
)
def test_arrays_that_do_not_fit_are_an_error(labels, logits, word):
    with pytest.raises(DataError, match=word):
        Predictions(("a", "b"), np.array(labels), np.array(logits))
