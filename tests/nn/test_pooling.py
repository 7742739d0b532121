import numpy as np
import pytest
import torch

from regard.nn.pooling import (
    AttentionPooling,
    LastPooling,
    MaxPooling,
    MeanPooling,
    PoolingConfig,
    StructuredPooling,
    redundancy,
)
from regard.nn.rows import row_softmax
from regard.ragged import Ragged

SIZE = 4
LENGTHS = [3, 0, 5, 1]


def items(seed=1):
    torch.manual_seed(seed)
    return Ragged(torch.randn(sum(LENGTHS), SIZE), torch.tensor(LENGTHS))


def attention(score="context", seed=0):
    torch.manual_seed(seed)
    return AttentionPooling(SIZE, PoolingConfig(attention_size=6, score=score))


def test_attention_with_context_equals_numpy():
    """001-07: u = tanh(W h + b), weights softmax(u . u_w), vector sum of weights times h."""
    pooling = attention()
    w, b = (p.detach().double().numpy() for p in pooling.score.key.parameters())
    query = pooling.query.detach().double().numpy()[0]
    pooled = pooling(items())
    for row, vector, weights in zip(
        items().rows(), pooled.vectors, pooled.weights.rows(), strict=True
    ):
        states = row.double().numpy()
        scores = np.tanh(states @ w.T + b) @ query
        grown = np.exp(scores - scores.max()) if len(scores) else scores
        expected = grown / grown.sum() if len(scores) else grown
        np.testing.assert_allclose(weights.detach().numpy(), expected, atol=1e-6)
        np.testing.assert_allclose(vector.detach().numpy(), expected @ states, atol=1e-6)


@pytest.mark.parametrize("score", ["context", "general", "additive"])
@pytest.mark.parametrize(
    "device",
    [
        "cpu",
        pytest.param(
            "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
        ),
    ],
)
def test_kernels_pool_as_the_plain_version_does(score, device):
    """In double precision no kernel is used; gradients of vectors and of weights go back."""
    quick, plain = attention(score).to(device), attention(score).double()
    gradients = []
    for pooling, inputs in ((quick, items()), (plain, items())):
        parameter = next(pooling.parameters())
        values = inputs.values.to(parameter).requires_grad_()
        pooled = pooling(Ragged(values, inputs.lengths.to(parameter.device)))
        count = len(values)
        (
            pooled.vectors.square().sum() + pooled.weights.values @ torch.arange(count).to(values)
        ).backward()
        wanted = [values, *pooling.parameters()]
        gradients.append([pooled.vectors, pooled.weights.values, *(one.grad for one in wanted)])
    for found, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(found.double().cpu(), expected, rtol=1e-5, atol=1e-6)


def test_scores_are_not_squashed():
    """D13: with a tanh around the score no weight could be more than e^2 = 7.4 times another."""
    pooling = attention()
    with torch.no_grad():
        pooling.query.fill_(3.0)
    weights = pooling(items()).weights.rows()[2]
    assert weights.max() / weights.min() > 7.4


def test_attention_starts_near_uniform():
    """001-07: everything begins within +-0.1, so nothing is preferred yet."""
    pooling = attention()
    assert pooling.query.abs().max() <= 0.1
    weights = pooling(items()).weights.rows()[2]
    assert weights.max() / weights.min() < 1.5


def test_mean_gives_every_item_the_same_weight():
    pooled = MeanPooling(SIZE, PoolingConfig())(items())
    assert pooled.weights.rows()[0].tolist() == pytest.approx([1 / 3] * 3)
    torch.testing.assert_close(pooled.vectors[2], items().rows()[2].mean(0))
    assert not pooled.vectors[1].any()


def test_max_gives_each_item_the_share_of_coordinates_taken_from_it():
    rows = Ragged(torch.tensor([[1.0, 0.0, 5.0, 2.0], [0.0, 3.0, 5.0, 1.0]]), torch.tensor([2]))
    pooled = MaxPooling(4, PoolingConfig())(rows)
    assert pooled.vectors.tolist() == [[1.0, 3.0, 5.0, 2.0]]
    # The third coordinate is a tie: half of it each.
    assert pooled.weights.values.tolist() == [0.625, 0.375]


def test_last_takes_the_last_item_with_one_direction():
    pooled = LastPooling(SIZE, PoolingConfig(directions=1))(items())
    assert pooled.weights.rows()[0].tolist() == [0.0, 0.0, 1.0]
    torch.testing.assert_close(pooled.vectors[2], items().rows()[2][-1])
    assert not pooled.vectors[1].any()


def test_last_takes_both_ends_with_two_directions():
    """D10: the backward direction ends at the first item."""
    pooled = LastPooling(SIZE, PoolingConfig(directions=2))(items())
    row = items().rows()[2]
    torch.testing.assert_close(pooled.vectors[2], torch.cat([row[-1, :2], row[0, 2:]]))
    assert pooled.weights.rows()[0].tolist() == [[0.0, 1.0], [0.0, 0.0], [1.0, 0.0]]


def structured(hops=3, score="context"):
    torch.manual_seed(0)
    return StructuredPooling(SIZE, PoolingConfig(attention_size=6, score=score, hops=hops))


def test_structured_pooling_is_its_formula():
    """004-10: A = softmax(W2 tanh(W1 H)) by rows, M = A H."""
    pooling = structured()
    pooled = pooling(items())
    assert pooled.vectors.shape == (len(LENGTHS), 3 * SIZE)
    for row, vector, weights in zip(
        items().rows(), pooled.vectors, pooled.weights.rows(), strict=True
    ):
        scores = torch.tanh(pooling.score.key(row)) @ pooling.query.T
        expected = torch.softmax(scores, 0)
        torch.testing.assert_close(weights, expected)
        torch.testing.assert_close(vector.view(3, SIZE), expected.T @ row)


def test_hops_start_apart():
    """Hops that begin alike would have the same gradients, and stay alike for ever."""
    queries = structured(hops=5).query
    assert queries.abs().max() <= 0.1
    assert torch.pdist(queries).min() > 0.05


def test_penalty_equals_numpy():
    """D3, 001-10: ||A A^T - I||_F^2, squared, the identity of all hops, for every row."""
    pooled = structured(hops=7)(items())
    for penalty, weights in zip(pooled.penalty, pooled.weights.rows(), strict=True):
        matrix = weights.detach().double().numpy().T
        expected = np.linalg.norm(matrix @ matrix.T - np.eye(7), "fro") ** 2
        np.testing.assert_allclose(penalty.item(), expected if len(weights) else 0, rtol=1e-5)


def test_penalty_is_zero_when_every_hop_has_an_item_of_its_own():
    weights = Ragged(torch.eye(3)[[2, 0, 1]], torch.tensor([3]))
    assert redundancy(weights).tolist() == [0.0]


def test_gradient_of_the_penalty_equals_finite_differences():
    """001-10."""
    rows = Ragged(torch.randn(8, 3, dtype=torch.float64), torch.tensor([5, 0, 3]))
    scores = rows.values.requires_grad_()
    assert torch.autograd.gradcheck(lambda s: redundancy(row_softmax(rows.with_values(s))), scores)


def overlap(strength):
    """The mean product of different hops after training against the penalty."""
    pooling, rows = structured(hops=3), items()
    goal = torch.randn(len(LENGTHS), 3 * SIZE, generator=torch.Generator().manual_seed(3))
    optimizer = torch.optim.Adam(pooling.parameters(), lr=0.05)
    for _ in range(60):
        pooled = pooling(rows)
        loss = (pooled.vectors - goal).square().mean() + strength * pooled.penalty.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    row = pooling(rows).weights.rows()[2].detach()
    products = row.T @ row
    return float((products.sum() - products.trace()) / 6)


def test_a_larger_penalty_means_less_overlap():
    """001-10: the overlap falls as the penalty grows."""
    overlaps = [overlap(strength) for strength in (0.0, 0.01, 0.1, 1.0)]
    assert overlaps == sorted(overlaps, reverse=True)
    assert overlaps[-1] < 0.5 * overlaps[0]
