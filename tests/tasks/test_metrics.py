from itertools import pairwise

import numpy as np
import pytest
from sklearn import metrics

from regard.errors import DataError
from regard.tasks.metrics import evaluate, length_effect, worst_mistakes
from regard.tasks.predictions import BaselineAnswers, Predictions
from support.evaluations import evaluated, predictions

NAMES = tuple(f"class {number}" for number in range(7))


@pytest.mark.parametrize("several", [False, True], ids=["single", "multi"])
@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 200])
def test_scores_are_those_of_scikit_learn(several, count):
    """D5: no score depends on how the documents were batched; each equals scikit-learn's."""
    given = predictions(NAMES, count, several=several, noise=2.5)
    truth, answers = given.labels, given.decisions()
    found = evaluate(given)
    assert found.task == ("multi-label" if several else "single-label")
    assert found.accuracy == pytest.approx(metrics.accuracy_score(truth, answers))
    assert found.hamming_loss == pytest.approx(metrics.hamming_loss(truth, answers))
    for average, value in (("macro", found.macro_f1), ("micro", found.micro_f1)):
        expected = metrics.f1_score(truth, answers, average=average, zero_division=0)
        assert value == pytest.approx(expected)
    report = metrics.classification_report(
        truth, answers, labels=range(7), target_names=NAMES, output_dict=True, zero_division=0
    )
    for score in found.per_class:
        expected = report[score.label]
        assert score.precision == pytest.approx(expected["precision"])
        assert score.recall == pytest.approx(expected["recall"])
        assert score.f1 == pytest.approx(expected["f1-score"])
        assert score.support == expected["support"]


def test_the_confusion_matrix_counts_true_by_predicted():
    """000-14: a confusion matrix comes with every evaluation."""
    given = predictions(NAMES, 300, noise=2.5)
    counted = np.zeros((7, 7), int)
    for true, predicted in zip(given.labels, given.decisions(), strict=True):
        counted[true, predicted] += 1
    found = evaluate(given)
    assert np.array_equal(found.confusion, counted)
    assert [score.predicted for score in found.per_class] == counted.sum(axis=0).tolist()
    assert [score.correct for score in found.per_class] == counted.diagonal().tolist()


def test_labels_of_any_kind_are_named_in_words():
    found = evaluate(Predictions((1, 2), np.array([0, 1, 1]), np.array([[1.0, 0], [0, 1], [1, 0]])))
    assert found.classes == ("1", "2")
    assert found.mistakes[0].true == "2"


def test_intervals_hold_their_scores():
    found = evaluated(NAMES, 300, noise=2.5)
    for part in (found, *found.baselines):
        assert part.accuracy_interval.low < part.accuracy < part.accuracy_interval.high
        assert part.macro_f1_interval.low < part.macro_f1 < part.macro_f1_interval.high


def test_differences_to_a_plain_method_are_paired():
    given = predictions(("a", "b"), 400, noise=3.0)
    answers = given.probabilities()
    wrong = np.flatnonzero(given.correct())[:4]
    answers[wrong] = answers[wrong, ::-1]
    found = evaluate(given, baselines=[BaselineAnswers("nearly the same", answers)]).baselines[0]
    assert found.accuracy_difference.value == pytest.approx(0.01)
    paired = found.accuracy_difference.interval
    alone = found.accuracy_interval
    assert paired.low >= 0 and paired.high < 0.025
    assert alone.high - alone.low > 3 * (paired.high - paired.low)


def test_a_method_that_always_says_the_same_is_known_as_such():
    learned, constant = evaluated(NAMES).baselines
    assert learned.constant_answer is None
    assert constant.constant_answer == NAMES[0]
    nothing = evaluated(NAMES, several=True).baselines[1]
    assert nothing.constant_answer == "none"


def test_all_right_is_not_taken_for_certainty():
    found = evaluate(Predictions(("a", "b"), np.zeros(10, int), np.array([[1.0, 0.0]] * 10)))
    assert found.accuracy == 1.0
    assert found.accuracy_interval.low < 0.8
    assert found.mistakes == ()


def test_a_class_without_documents_breaks_nothing():
    given = Predictions(("a", "b", "never"), np.array([0, 1, 1]), np.eye(3)[[0, 1, 0]])
    found = evaluate(given)
    assert found.macro_f1 == pytest.approx(metrics.f1_score([0, 1, 1], [0, 1, 0], average="macro"))
    assert (found.per_class[2].support, found.per_class[2].f1) == (0, 0.0)


def test_nothing_to_evaluate_is_an_error():
    with pytest.raises(DataError, match="nothing to evaluate"):
        evaluate(Predictions(("a", "b"), np.zeros(0, int), np.zeros((0, 2))))


def test_answers_that_do_not_fit_are_an_error():
    given = predictions(("a", "b"), 5)
    with pytest.raises(DataError, match="TF-IDF answered"):
        evaluate(given, baselines=[BaselineAnswers("TF-IDF", np.zeros((4, 2)))])
    with pytest.raises(DataError, match="as many lengths"):
        evaluate(given, lengths=np.arange(4))


def test_lengths_fall_into_bins_of_about_as_many_documents():
    given = predictions(("a", "b"), 600)
    lengths = np.random.default_rng(0).integers(1, 1000, size=600)
    bins = length_effect(lengths, given)
    assert len(bins) == 6 and sum(part.count for part in bins) == 600
    correct = given.correct()
    for part, following in pairwise(bins):
        inside = (lengths >= part.low) & (lengths <= part.high)
        assert part.high < following.low
        assert part.count == inside.sum() and 90 <= part.count <= 110
        assert part.accuracy == pytest.approx(correct[inside].mean())
        assert part.interval.low < part.accuracy < part.interval.high


@pytest.mark.parametrize("lengths", [[3], [0] * 30, [1] * 59 + [9]])
def test_few_or_equal_lengths_share_a_bin(lengths):
    bins = length_effect(np.array(lengths), predictions(("a", "b"), len(lengths)))
    assert sum(part.count for part in bins) == len(lengths)
    assert len(bins) <= 2


def test_the_worst_mistakes_are_the_surest():
    given = predictions(NAMES, 300, noise=2.5)
    found = worst_mistakes(given, temperature=2.0, count=8)
    assert len(found) == 8
    probabilities, correct = given.probabilities(2.0), given.correct()
    sure = probabilities.max(axis=1)
    assert [mistake.probability for mistake in found] == sorted(sure[~correct])[::-1][:8]
    for mistake in found:
        assert mistake.true == NAMES[given.labels[mistake.index]] != mistake.predicted
        truth = given.labels[mistake.index]
        assert mistake.true_probability == pytest.approx(probabilities[mistake.index, truth])


def test_a_mistake_in_several_labels_names_them_all():
    given = Predictions(("a", "b", "c"), np.array([[1, 0, 1]]), np.array([[-3.0, -2.0, -1.0]]))
    (mistake,) = worst_mistakes(given)
    assert (mistake.true, mistake.predicted) == ("a, c", "none")


def test_nothing_handed_in_is_changed():
    labels, logits = np.array([0, 1, 1], np.int32), np.array([[1, 0], [0, 1], [1, 0]], np.float32)
    before = labels.copy(), logits.copy()
    evaluate(Predictions(("a", "b"), labels, logits), temperature=2.0)
    assert np.array_equal(labels, before[0]) and np.array_equal(logits, before[1])
