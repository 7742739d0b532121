"""Attention of rows to rows, against torch's own module and against the formula."""

import pytest
import torch
from torch import nn

from regard.nn.multihead import MultiHeadAttention, Scope, Turn, attend, attend_by_weights, weigh
from regard.nn.rows import row_sum
from regard.ragged import Ragged

SIZE, HEADS = 12, 3
LENGTHS = [3, 0, 6, 1, 40, 6, 7]
SOURCES = [5, 4, 0, 2, 9, 30, 7]


def rows(lengths=LENGTHS, seed=1, size=SIZE, dtype=torch.float64):
    torch.manual_seed(seed)
    return Ragged(
        torch.randn(sum(lengths), size, dtype=dtype), torch.tensor(lengths, dtype=torch.int64)
    )


def attention():
    torch.manual_seed(0)
    made = MultiHeadAttention(SIZE, HEADS).double()
    for parameter in made.parameters():
        nn.init.normal_(parameter, std=0.5)
    return made


def as_torch(made):
    """Torch's module with the same weights."""
    plain = nn.MultiheadAttention(SIZE, HEADS, batch_first=True).double()
    plain.load_state_dict(
        {
            "in_proj_weight": made.enter.weight,
            "in_proj_bias": made.enter.bias,
            "out_proj.weight": made.leave.weight,
            "out_proj.bias": made.leave.bias,
        }
    )
    return plain.eval()


@pytest.mark.parametrize("causal", [False, True])
def test_it_is_torchs_own_attention_within_each_row(causal):
    """004-12, 001-09: values and weights, with copied weights; later items get exactly none."""
    made, items = attention(), rows()
    plain = as_torch(made)
    scope = Scope(items, causal=causal)
    found = items.with_values(made(items.values, scope)).rows()
    weights = made.weights(items.values, scope).rows()
    start = 0
    for row, one in zip(items.rows(), found, strict=True):
        if not len(row):
            continue
        mask = torch.ones(len(row), len(row), dtype=torch.bool).triu(1) if causal else None
        expected, looked = plain(
            row, row, row, attn_mask=mask, need_weights=True, average_attn_weights=False
        )
        torch.testing.assert_close(one, expected, atol=1e-9, rtol=1e-9)
        for place in range(len(row)):
            seen = place + 1 if causal else len(row)
            torch.testing.assert_close(weights[start + place].T, looked[:, place, :seen])
        start += len(row)


def test_it_is_torchs_own_attention_over_a_source():
    """004-12: a source of no items is looked at by nobody, and gives the bias alone."""
    made, items, source = attention(), rows(), rows(SOURCES, seed=2)
    plain = as_torch(made)
    found = items.with_values(made(items.values, Scope(items, source), source=source.values))
    for row, seen, one in zip(items.rows(), source.rows(), found.rows(), strict=True):
        if len(row) and len(seen):
            torch.testing.assert_close(one, plain(row, seen, seen)[0], atol=1e-9, rtol=1e-9)
        else:
            torch.testing.assert_close(one, made.leave.bias.expand_as(one))


@pytest.mark.parametrize("causal", [False, True])
def test_weights_give_what_was_found_without_them(causal):
    """The fused way and the written-down way are one function."""
    made, items = attention(), rows()
    scope = Scope(items, causal=causal)
    query, key, value = made.project(items.values)
    weights = weigh(query, key, scope)
    ones = torch.ones(len(weights), HEADS, dtype=torch.float64)
    torch.testing.assert_close(row_sum(weights), ones)
    fused, place = attend(query, key, value, scope), 0
    for start, length in zip(items.offsets.tolist(), LENGTHS, strict=False):
        for item in range(length):
            row = weights.rows()[place]
            seen = value[start : start + len(row)]  # (seen, heads, size)
            torch.testing.assert_close(fused[start + item], (row[:, :, None] * seen).sum(0))
            place += 1


def test_weights_over_a_source_are_rows_of_its_length():
    made, items, source = attention(), rows(), rows(SOURCES, seed=2)
    weights = made.weights(items.values, Scope(items, source), source=source.values)
    expected = torch.tensor(SOURCES).repeat_interleave(items.lengths)
    assert weights.lengths.tolist() == expected.tolist()
    sums = row_sum(weights)
    torch.testing.assert_close(sums, (expected > 0).double()[:, None].expand_as(sums))


def test_nobody_sees_what_comes_later():
    """004-12: to the last bit, and nothing else is hidden."""
    made, items = attention(), rows([7, 9])
    scope = Scope(items, causal=True)
    before = made(items.values, scope)
    changed = items.values.clone()
    changed[4] += 1
    moved = (made(changed, scope) != before).any(1)
    assert moved.tolist() == [False] * 4 + [True] * 3 + [False] * 9


def test_company_changes_nothing():
    made, items = attention(), rows()
    together = items.with_values(made(items.values, Scope(items))).rows()
    for row, found in zip(items.rows(), together, strict=True):
        alone = Ragged(row, torch.tensor([len(row)]))
        torch.testing.assert_close(found, made(row, Scope(alone)))


@pytest.mark.parametrize("over", ["itself", "what came before", "a source"])
def test_gradients_are_those_of_the_formula(over):
    lengths, sources = [3, 0, 20, 1, 2], [2, 3, 4, 0, 19]
    items, source = rows(lengths, size=2 * 4), rows(sources, seed=3, size=2 * 4)
    scope = {
        "itself": Scope(items),
        "what came before": Scope(items, causal=True),
        "a source": Scope(items, source),
    }[over]
    keys = source if over == "a source" else items
    query, key, value = (
        part.values.view(-1, 2, 4).clone().requires_grad_() for part in (items, keys, keys)
    )
    assert torch.autograd.gradcheck(
        lambda *parts: attend(*parts, scope), (query, key, value), fast_mode=True
    )
    assert torch.autograd.gradcheck(
        lambda *parts: weigh(*parts, scope).values, (query, key), fast_mode=True
    )


def test_rows_of_similar_lengths_go_together():
    """Short rows are few groups, and no row is filled up to a third more than it has."""
    torch.manual_seed(0)
    lengths = torch.randint(1, 400, (500,)).tolist()
    scope = Scope(Ragged(torch.zeros(sum(lengths)), torch.tensor(lengths)))
    places = sum(rows * longest for rows, longest in scope.groups.queries.shapes)
    assert len(scope.groups.shapes) < 15
    assert places < 1.2 * sum(lengths)


def test_nothing_is_read_where_there_is_nothing():
    made = attention()
    for lengths in ([], [0, 0]):
        empty = rows(lengths)
        assert made(empty.values, Scope(empty)).shape == (0, SIZE)
        assert made.weights(empty.values, Scope(empty)).values.shape == (0, HEADS)


def test_turned_vectors_know_how_far_apart_they_stand():
    """Rotary: lengths stay, and a product depends on the distance alone."""
    torch.manual_seed(0)
    query, key = torch.randn(2, 1, 1, 8).expand(2, 30, 1, 8)
    turned = [Turn.to(torch.arange(30), 8)(part) for part in (query, key)]
    torch.testing.assert_close(turned[0].norm(dim=-1), query.norm(dim=-1))
    products = (turned[0][:, 0] @ turned[1][:, 0].T).double()
    for apart in (-5, 0, 3):
        same = products.diagonal(apart)
        torch.testing.assert_close(same, same[:1].expand_as(same), atol=1e-4, rtol=1e-4)
    assert not torch.allclose(products[0, 1], products[0, 5])


def test_hidden_keys_get_nothing():
    torch.manual_seed(0)
    parts = torch.randn(3, 2, 5, HEADS, 4)
    hidden = torch.arange(5) >= torch.tensor([3, 5])[:, None, None, None]
    found, weights = attend_by_weights(*parts, hidden)
    assert not weights[0, :, :, 3:].any()
    alone, _ = attend_by_weights(*(part[:1, :3] for part in parts))
    torch.testing.assert_close(found[:1, :3], alone)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("over", ["itself", "what came before", "a source"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_gpu_gives_what_the_cpu_gives(over, dtype):
    """Values and gradients of the kernels for rows of any lengths; empty rows on either side."""
    lengths, sources = [30, 0, 200, 1, 20], [20, 30, 40, 0, 190]
    items, source = rows(lengths, size=2 * 16), rows(sources, seed=3, size=2 * 16)
    keys = source if over == "a source" else items

    def found(device, dtype):
        one, other = items.to(device), keys.to(device)
        parts = [
            part.values.to(dtype).view(-1, 2, 16).detach().requires_grad_()
            for part in (one, other, other)
        ]
        scope = Scope(one, other) if over == "a source" else Scope(one, causal=over != "itself")
        made = attend(*parts, scope)
        gradients = torch.autograd.grad(made.float().square().sum(), parts)
        return [part.float().cpu() for part in (made, *gradients)]

    slack = 1e-3 if dtype == torch.float32 else 3e-2
    for ours, exact in zip(found("cuda", dtype), found("cpu", torch.float64), strict=True):
        assert torch.isfinite(ours).all()
        assert (ours - exact).norm() < slack * exact.norm()


def test_missed_items_of_a_source_give_nothing_and_only_in_training():
    """They answer as before, so they keep their weight; each head misses others."""
    torch.manual_seed(0)
    module, items = MultiHeadAttention(8, 2, missed=0.5), torch.randn(400, 8)
    keys, values = module.train().keys_and_values(items)
    told, given = module.eval().keys_and_values(items)
    torch.testing.assert_close(keys, told)
    missed = (values == 0).all(-1)
    assert 0.4 < missed.float().mean() < 0.6 and (missed[:, 0] != missed[:, 1]).any()
    torch.testing.assert_close(values[~missed], 2 * given[~missed])
