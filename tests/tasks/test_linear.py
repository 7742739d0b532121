"""Linear models by a convex solver, against scikit-learn's."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, random
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_info, threadpool_limits

from regard.tasks import linear
from regard.tasks.linear import Linear, _Place, _Vector, bayes_ratios, fit_linear


def drawn(classes, rows=200, features=30):
    draw = np.random.default_rng(classes)
    vectors = random(rows, features, density=0.3, random_state=draw, format="csr")
    labels = (vectors @ draw.normal(size=(features, classes))).argmax(1)
    return vectors, labels


@pytest.mark.parametrize("classes", [2, 4])
def test_it_finds_the_margins_that_scikit_learn_finds(classes):
    vectors, labels = drawn(classes)
    found = fit_linear(vectors, labels, class_count=classes, penalty=1.0).logits(vectors)
    # There the intercept costs too; times a hundred it costs next to nothing.
    other = LinearSVC(C=1.0, intercept_scaling=100, tol=1e-8, max_iter=100_000, random_state=0)
    expected = other.fit(vectors, labels).decision_function(vectors)
    if classes == 2:
        found = found[:, 1] - found[:, 0]
    np.testing.assert_allclose(found, 4 * expected, atol=0.1)


class Bowl:
    """A bowl to go down in, whose rows are the weights themselves; it counts how often it is asked.

    Where a weight is above zero it is ``steep``: beyond such a kink the slope says nothing of how
    the bowl curves.
    """

    def __init__(self, steep=1.0):
        self.steep, self.asked = steep, 0

    def ask(self, place):
        self.asked += 1
        steep = np.where(place > 0, self.steep, 1.0)
        return float((steep * place**2).sum() / 2), steep * place

    def place(self, weights):
        value, slope = self.ask(weights.own)
        return _Place(weights, value, _Vector(slope, slope), float(np.abs(slope).max()))

    def along(self, place, direction):
        def at(rate):
            value, slope = self.ask(place.weights.own + rate * direction.own)
            return value, float(slope @ direction.own)

        return at


def at(*weights):
    return _Vector(np.array(weights), np.array(weights))


def test_a_way_that_is_bent_too_far_is_not_the_end():
    """Where remembered turns lead far past the valley, a shorter step or the slope leads on."""
    bowl = Bowl(steep=1e4)
    found = linear._descend(bowl, bowl.place(at(-3.0, 2.0, -0.5, 1e-3)), 1e-6, 200)
    np.testing.assert_allclose(found.weights.own, 0, atol=1e-5)
    assert bowl.asked < 600


def test_a_step_goes_back_as_far_as_it_must():
    """A direction a million times too long still leads down, in few trials."""
    bowl = Bowl()
    place = bowl.place(at(1.0, -2.0))
    direction = place.slope.scaled(-1e6)
    rate = linear._search(bowl, place, direction, 1.0)
    assert rate and bowl.place(place.weights.moved(rate, direction)).value < 1e-3


@pytest.mark.parametrize("mixed", [False, True])
def test_sums_of_rows_are_as_good_as_weights(mixed):
    """The descent knows how low it is and how it slopes without a look at any weight."""
    vectors, labels = drawn(3, rows=40)
    draw = np.random.default_rng(0)
    mixing = random(30, 12, density=0.4, random_state=draw, format="csr") if mixed else None
    parts = vectors @ mixing if mixed else vectors
    scales = draw.random((parts.shape[1], 3))
    problem = linear._Problem(vectors, mixing, labels, 3, 0.7, scales, None)
    first = problem.start(None)
    place = problem.place(first.slope.scaled(-0.01))
    # The same by weights of features, as the definition says it.
    own, intercepts = place.weights.own[:-1], place.weights.own[-1]
    weights = scales * (parts.T @ own)

    def value(weights, intercepts):
        margins = np.where(np.eye(3)[labels] > 0, 1, -1) * (parts @ (scales * weights) + intercepts)
        return (np.maximum(1 - margins, 0) ** 2).sum() + 0.35 * (weights**2).sum()

    assert place.value == pytest.approx(value(weights, intercepts), rel=1e-5)
    slope = scales * (parts.T @ place.slope.own[:-1])
    step = 1e-6
    for feature, column in [(0, 0), (3, 2), (7, 1)]:
        nudge = np.zeros_like(weights)
        nudge[feature, column] = step
        risen = value(weights + nudge, intercepts) - value(weights - nudge, intercepts)
        assert slope[feature, column] == pytest.approx(risen / (2 * step), abs=1e-3)
    assert place.steepest == pytest.approx(
        max(np.abs(slope).max(), np.abs(place.slope.own[-1]).max()), rel=1e-5
    )
    found, along = problem.along(first, first.slope.scaled(-0.01))(1.0)
    assert found == pytest.approx(place.value, rel=1e-5)
    assert along == pytest.approx(first.slope.scaled(-0.01).times(place.slope), rel=1e-4)


def test_blas_gets_one_thread(monkeypatch):
    """Idle threads of NumPy's library spin in the way of SciPy's."""
    asked, own = [], linear._descend

    def watched(*arguments):
        asked.extend(threadpool_info())
        return own(*arguments)

    monkeypatch.setattr(linear, "_descend", watched)
    vectors, labels = drawn(2)
    with threadpool_limits(2, user_api="blas"):
        fit_linear(vectors, labels, class_count=2, penalty=0.1)
        after = [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]
    during = [one["num_threads"] for one in asked if one["user_api"] == "blas"]
    assert during and set(during) == {1} and set(after) == {2}


def test_several_labels_are_learnt_each_on_its_own():
    """By logistic regression, so that each has a probability."""
    vectors, first = drawn(2)
    truth = np.stack([first, 1 - first, np.arange(len(first)) % 2], axis=1)
    found = fit_linear(vectors, truth, class_count=3, penalty=0.1).logits(vectors)
    for label in range(3):
        other = LogisticRegression(C=10.0, tol=1e-8, max_iter=2000).fit(vectors, truth[:, label])
        np.testing.assert_allclose(found[:, label], other.decision_function(vectors), atol=0.1)


def test_a_row_that_counts_twice_is_as_two_rows():
    vectors, labels = drawn(3, rows=60)
    twice = np.where(np.arange(60) < 20, 2, 1)
    both = np.repeat(np.arange(60), twice)
    weighted = fit_linear(vectors, labels, class_count=3, penalty=0.1, counts=twice)
    repeated = fit_linear(vectors[both], labels[both], class_count=3, penalty=0.1)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=0.1)


def test_a_class_without_rows_is_never_answered():
    vectors, labels = drawn(2)
    found = fit_linear(vectors, labels * 2, class_count=4, penalty=0.1)
    logits = found.logits(vectors)
    assert set(logits.argmax(1).tolist()) == {0, 2}
    assert (logits[:, [1, 3]].max(1) < logits.max(1) - 10).all()


def test_beginning_at_the_end_changes_nothing_much():
    vectors, labels = drawn(3)
    scales = bayes_ratios(vectors, labels, 3)
    arguments = {"class_count": 3, "penalty": 3.0, "scales": scales}
    found = fit_linear(vectors, labels, **arguments)
    again = fit_linear(vectors, labels, **arguments, start=found)
    np.testing.assert_allclose(again.logits(vectors), found.logits(vectors), atol=0.2)


def test_the_same_data_give_the_same_bits():
    vectors, labels = drawn(3)
    first, second = (fit_linear(vectors, labels, class_count=3, penalty=0.1) for _ in range(2))
    assert first.weights.tobytes() == second.weights.tobytes()


def test_bayes_ratios_are_above_zero_where_a_feature_speaks_for_a_class():
    vectors = csr_matrix(np.array([[1.0, 0, 1], [1, 0, 1], [0, 1, 1], [0, 1, 1]]))
    ratios = bayes_ratios(vectors, np.array([0, 0, 1, 1]), 2)
    assert ratios[0].tolist() == (-ratios[1]).tolist()
    assert ratios[0, 0] > 0 > ratios[0, 1]
    assert ratios[2].tolist() == [0, 0]


def test_logits_are_weighted_sums():
    model = Linear(np.array([[1.0, -1.0]]), np.array([0.5, 0.0]))
    assert model.logits(csr_matrix([[2.0]])).tolist() == [[2.5, -2.0]]
