import numpy as np
import pytest
import torch

from regard.nn.attention import (
    SCORES,
    AdditiveScore,
    ConcatScore,
    ContextScore,
    DotScore,
    GeneralDiagonalScore,
    GeneralScore,
    LocationScore,
)
from regard.nn.positions import sinusoids
from regard.ragged import Ragged

QUERY, KEY, HIDDEN = 5, 4, 3
LENGTHS = [2, 0, 3, 1]


def keys():
    torch.manual_seed(1)
    return Ragged(torch.randn(sum(LENGTHS), KEY), torch.tensor(LENGTHS))


def queries(size):
    torch.manual_seed(2)
    return torch.randn(len(LENGTHS), size)


def by_loop(formula, query):
    """The formula, in NumPy and double precision, for one key after another."""
    scores = []
    for row, row_keys in enumerate(keys().rows()):
        asked = query[row].double().numpy()
        scores += [formula(asked, key, at) for at, key in enumerate(row_keys.double().numpy())]
    return torch.tensor(np.array(scores), dtype=torch.float32)


def array(parameter):
    return parameter.detach().double().numpy()


def check(score, formula, query):
    found = score(query, keys())
    torch.testing.assert_close(found, by_loop(formula, query), atol=1e-6, rtol=1e-6)


def test_context_is_its_formula():
    """001-07: u = tanh(W h + b), score u . u_w."""
    score = ContextScore(QUERY, KEY, HIDDEN)
    weights, bias = array(score.key.weight), array(score.key.bias)
    check(score, lambda q, k, _: q @ np.tanh(weights @ k + bias), queries(QUERY))


def test_dot_is_its_formula():
    """002-11."""
    check(DotScore(KEY, KEY, HIDDEN), lambda q, k, _: q @ k, queries(KEY))


def test_general_is_its_formula():
    """002-12: a full matrix."""
    score = GeneralScore(QUERY, KEY, HIDDEN)
    weights = array(score.key.weight)
    check(score, lambda q, k, _: q @ weights @ k, queries(QUERY))


def test_general_with_the_identity_is_dot():
    """002-12."""
    general, dot = GeneralScore(KEY, KEY, HIDDEN), DotScore(KEY, KEY, HIDDEN)
    torch.nn.init.eye_(general.key.weight)
    torch.testing.assert_close(general(queries(KEY), keys()), dot(queries(KEY), keys()))


def test_the_diagonal_score_is_the_full_one_with_a_diagonal_matrix():
    """002-12, D11: two scores, named apart."""
    diagonal, full = GeneralDiagonalScore(KEY, KEY, HIDDEN), GeneralScore(KEY, KEY, HIDDEN)
    with torch.no_grad():
        diagonal.diagonal.normal_()
        full.key.weight.copy_(torch.diag(diagonal.diagonal))
    torch.testing.assert_close(diagonal(queries(KEY), keys()), full(queries(KEY), keys()))


def test_the_diagonal_score_starts_as_dot():
    score = GeneralDiagonalScore(KEY, KEY, HIDDEN)
    check(score, lambda q, k, _: q @ k, queries(KEY))


def test_additive_is_its_formula():
    """002-13, 004-04."""
    score = AdditiveScore(QUERY, KEY, HIDDEN)
    w, u, v = array(score.query.weight), array(score.key.weight), array(score.out.weight)[0]
    check(score, lambda q, k, _: v @ np.tanh(w @ q + u @ k), queries(QUERY))


def test_concat_is_its_formula():
    """002-13."""
    score = ConcatScore(QUERY, KEY, HIDDEN)
    w, v = array(score.both.weight), array(score.out.weight)[0]
    check(score, lambda q, k, _: v @ np.tanh(w @ np.concatenate([q, k])), queries(QUERY))


def test_location_asks_where_a_key_stands_and_not_what_it_is():
    """002-14, D18: of any length."""
    score = LocationScore(QUERY, KEY, HIDDEN)
    weights = array(score.place.weight)
    places = sinusoids(torch.arange(3), HIDDEN).double().numpy()
    check(score, lambda q, _, at: q @ weights @ places[at], queries(QUERY))
    other = keys().with_values(torch.randn(sum(LENGTHS), KEY))
    assert torch.equal(score(queries(QUERY), keys()), score(queries(QUERY), other))
    long = Ragged(torch.zeros(5000, KEY), torch.tensor([5000]))
    assert score(queries(QUERY)[:1], long).shape == (5000,)


@pytest.mark.parametrize("kind", SCORES.values(), ids=SCORES)
def test_keys_prepared_once_answer_every_query(kind):
    """A decoder asks the same keys at every step."""
    size = KEY if kind.same_size else QUERY
    score = kind(size, KEY, HIDDEN)
    prepared = score.prepare(keys())
    for seed in range(2):
        torch.manual_seed(seed)
        query = torch.randn(len(LENGTHS), size)
        torch.testing.assert_close(score.compare(query, prepared), score(query, keys()))
