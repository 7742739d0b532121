"""The GPU kernels against torch's own layers in float64; run by ``test_gpu.py``.

On a machine without a GPU they run in Triton's interpreter, which must be switched on before
Triton is imported: hence a process of their own, and small shapes.
"""

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from regard.kernels import gpu
from regard.kernels.gpu import attend_rows, plan, recur, recurrence
from regard.kernels.gpu.plan import GATES, cut_for, interpreted, longest_first, room_on
from regard.ragged import Ragged

DEVICE = "cpu" if interpreted() else "cuda"
LAYERS = {"rnn": nn.RNN, "gru": nn.GRU, "lstm": nn.LSTM}
SHAPES = {
    "mixed": [3, 0, 1, 7, 2],
    "one": [5],
    "empty": [0, 0],
    "none": [],
    "ones": [1] * 17,
    "long and short": [1, 12 if interpreted() else 3000, 0, 2],
    "many": [1, 2, 0] * 7,
}
SMALL = 3
# Share of a tensor's largest value; a bf16 number has 8 bits.
TOLERANCE = {torch.float32: 5e-6, torch.bfloat16: 3e-2}


class Case:
    """Random inputs of the recurrence, and the torch layer that it must agree with."""

    def __init__(self, cell: str, lengths: list[int], size: int = SMALL, directions: int = 2):
        torch.manual_seed(len(lengths) + size)
        self.cell, self.size, self.directions = cell, size, directions
        self.layer = LAYERS[cell](4, size, bidirectional=directions == 2).double().to(DEVICE)
        for parameter in self.layer.parameters():
            nn.init.normal_(parameter, std=size**-0.5)
            parameter.grad = torch.zeros_like(parameter)
        self.table = torch.randn(6, 4, dtype=torch.float64, device=DEVICE)
        # The last word is never used: its gradient must be zero.
        self.index = torch.randint(0, 5, (sum(lengths),), device=DEVICE)
        self.rows = Ragged(self.index, torch.tensor(lengths, dtype=torch.int64, device=DEVICE))

    def parameters(self, name: str) -> Tensor:
        ends = ("", "_reverse")[: self.directions]
        return torch.stack([getattr(self.layer, f"{name}_l0{end}").detach() for end in ends])

    def inputs(self, dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
        """Projected table, recurrent weights and biases, as leaves."""
        inner = self.parameters("weight_ih").flatten(0, 1), self.parameters("bias_ih").flatten()
        projected = self.table @ inner[0].t() + inner[1]
        weights, biases = self.parameters("weight_hh"), self.parameters("bias_hh")
        leaves = projected.to(dtype), weights.float(), biases.float()
        return tuple(leaf.requires_grad_() for leaf in leaves)  # type: ignore[return-value]

    def run(self, dtype: torch.dtype, indexed: bool = True) -> tuple[list[Tensor], Tensor]:
        """Output and gradients by the kernels, and the gradient that went in."""
        projected, weights, biases = self.inputs(dtype)
        table, index = (projected, self.index) if indexed else (projected[self.index], None)
        out = recur(self.cell, table, index, self.rows, weights, biases)
        torch.manual_seed(0)
        gradient = torch.randn_like(out)
        gradients = torch.autograd.grad(out, (projected, weights, biases), gradient)
        return [out.detach(), *gradients], gradient

    def expect(self, gradient: Tensor) -> list[Tensor]:
        """The same by the layer, row by row, in float64."""
        table = self.table.clone().requires_grad_()
        table.grad = torch.zeros_like(table)
        parts = [self.layer(table[self.index[span]])[0] for span in self._spans()]
        out = torch.cat([*parts, table.new_zeros(0, self.directions * self.size)])
        self.layer.zero_grad(set_to_none=False)
        if parts:
            out.backward(gradient.double())
        found = {name: parameter.grad for name, parameter in self.layer.named_parameters()}
        ends = ("", "_reverse")[: self.directions]
        names = ("weight_hh_l0", "bias_hh_l0")
        stacked = [torch.stack([found[name + end] for end in ends]) for name in names]
        return [out.detach(), table.grad, *stacked]

    def _spans(self) -> list[slice]:
        ends = self.rows.lengths.cumsum(0).tolist()
        starts = [
            end - length for end, length in zip(ends, self.rows.lengths.tolist(), strict=True)
        ]
        return [slice(start, end) for start, end in zip(starts, ends, strict=True) if end > start]


def assert_agree(case: Case, dtype: torch.dtype, indexed: bool = True) -> None:
    found, gradient = case.run(dtype, indexed)
    expected = case.expect(gradient)
    # The layer's gradient reaches the table; ours stops at the projected table before it.
    found[1] = found[1].double() @ case.parameters("weight_ih").flatten(0, 1)
    for name, got, want in zip(("out", "table", "weights", "biases"), found, expected, strict=True):
        assert got.shape == want.shape
        scale = float(want.abs().max()) if want.numel() else 0.0
        error = float((got.double() - want).abs().max()) if want.numel() else 0.0
        assert error <= TOLERANCE[dtype] * max(scale, 1e-3), f"{name}: {error} of {scale}"


@pytest.mark.parametrize("cell", LAYERS)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_rows_of_any_lengths_agree_with_the_layer(cell, shape):
    assert_agree(Case(cell, shape), torch.float32)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("cell", LAYERS)
def test_sizes_over_one_tile_agree_with_the_layer(cell, dtype, monkeypatch):
    room = room_on(torch.device(DEVICE))
    whole = cut_for(cell, 20, many=False, dtype=dtype, room=room)
    tiles = replace(whole, resident=False, width=16)
    monkeypatch.setattr(plan, "cut_for", lambda *_, **__: tiles)
    assert_agree(Case(cell, [2, 0, 3], 20), dtype)


@pytest.mark.parametrize("cell", LAYERS)
def test_bf16_agrees_to_its_own_precision(cell):
    assert_agree(Case(cell, SHAPES["mixed"]), torch.bfloat16)


@pytest.mark.skipif(interpreted(), reason="too slow without a GPU")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("size", [50, 64, 128, 200])
@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_every_size_agrees_with_the_layer(cell, size, dtype):
    assert_agree(Case(cell, [9, 0, 1, 40] * 20, size), dtype)


@pytest.mark.parametrize("cell", LAYERS)
def test_items_may_have_inputs_of_their_own(cell):
    assert_agree(Case(cell, SHAPES["mixed"]), torch.float32, indexed=False)


@pytest.mark.parametrize("cell", LAYERS)
def test_one_direction_agrees_with_the_layer(cell):
    assert_agree(Case(cell, SHAPES["mixed"], directions=1), torch.float32)


def test_the_longest_rows_come_first():
    torch.manual_seed(0)
    lengths = torch.randint(0, 2000, (1500,), device=DEVICE)
    order = longest_first(lengths)
    assert torch.equal(order.sort().values, torch.arange(1500, device=DEVICE))
    assert torch.equal(lengths[order], lengths.sort(descending=True).values)
    assert longest_first(lengths[:0]).shape == (0,)


def test_frequent_words_are_summed_in_chunks(monkeypatch):
    """A word that fills whole chunks gets the same gradient as one that does not."""
    monkeypatch.setattr(recurrence, "_CHUNKS_FROM", 1)
    case = Case("gru", [9] * 16)
    case.index[5:140] = 2
    assert_agree(case, torch.float32)


def test_the_same_batch_gives_the_same_bits():
    case = Case("gru", SHAPES["mixed"])
    first, second = case.run(torch.float32)[0], case.run(torch.float32)[0]
    assert all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def test_without_gradients_the_values_are_the_same():
    case = Case("lstm", SHAPES["mixed"])
    projected, weights, biases = case.inputs(torch.float32)
    with torch.no_grad():
        out = recur("lstm", projected, case.index, case.rows, weights, biases)
    assert not out.requires_grad
    assert torch.equal(out, case.run(torch.float32)[0][0])


def test_inputs_need_not_be_contiguous():
    case = Case("gru", SHAPES["mixed"])
    projected, weights, biases = (leaf.detach() for leaf in case.inputs(torch.float32))
    out = recur("gru", projected, case.index, case.rows, weights, biases)
    wide = torch.stack([case.index, case.index], 1)[:, 0]
    strided = recur("gru", projected.t().contiguous().t(), wide, case.rows,
                    weights.transpose(1, 2).contiguous().transpose(1, 2), biases)  # fmt: skip
    assert torch.equal(out, strided)


def test_an_index_outside_of_the_table_gives_nan_and_no_crash():
    case = Case("gru", [2, 2, 2])
    projected, weights, biases = (leaf.detach() for leaf in case.inputs(torch.float32))
    index = case.index.clone()
    index[2], index[4] = 6, -1
    out = recur("gru", projected, index, case.rows, weights, biases)
    assert out[:2].isfinite().all()
    assert out[2:, :SMALL].isnan().all()


def test_lengths_that_promise_too_much_do_not_crash():
    case = Case("gru", [2, 3])
    rows = Ragged(case.index, torch.tensor([2, 3000], device=DEVICE))
    projected, weights, biases = (leaf.detach() for leaf in case.inputs(torch.float32))
    out = recur("gru", projected, case.index, rows, weights, biases)
    right = recur("gru", projected, case.index, case.rows, weights, biases)
    assert torch.equal(out, right)


def test_wrong_inputs_are_refused_with_a_reason():
    case = Case("gru", [2, 3])
    projected, weights, biases = case.inputs(torch.float32)
    with pytest.raises(ValueError, match="did you mean 'gru'"):
        recur("gruu", projected, case.index, case.rows, weights, biases)
    with pytest.raises(ValueError, match=r"needs weights \(2, 9, 3\)"):
        recur("gru", projected, case.index, case.rows, weights[:, :8], biases)
    with pytest.raises(ValueError, match="float64"):
        recur("gru", projected.double(), case.index, case.rows, weights, biases)
    with pytest.raises(ValueError, match="index must be int64"):
        recur("gru", projected, case.index.float(), case.rows, weights, biases)
    with pytest.raises(ValueError, match="rows of 5 items cannot lay out 6"):
        recur("gru", projected, None, case.rows, weights, biases)


def test_gates_are_counted_alike_everywhere():
    assert gpu._GATES == GATES


def plain_attention(scores: Tensor, values: Tensor, rows: Ragged) -> tuple[Tensor, Tensor]:
    lengths = rows.lengths.tolist()
    weights = [part.softmax(0) for part in scores.split(lengths)]
    parts = zip(weights, values.split(lengths), strict=True)
    pooled = [(weight[:, None] * value).sum(0) for weight, value in parts]
    return torch.stack(pooled), torch.cat(weights)


@pytest.mark.parametrize("wanted", ["pooled", "weights", "both"])
@pytest.mark.parametrize("shape", ["mixed", "one", "ones", "long and short", "many"])
def test_attention_agrees_with_softmax_row_by_row(shape, wanted):
    torch.manual_seed(0)
    lengths = torch.tensor(SHAPES[shape], device=DEVICE)
    rows = Ragged(torch.zeros(int(lengths.sum()), device=DEVICE), lengths)
    scores = (3 * torch.randn(len(rows.values), device=DEVICE)).requires_grad_()
    values = torch.randn(len(rows.values), 7, device=DEVICE, requires_grad=True)
    found = attend_rows(scores, values, rows)
    expected = plain_attention(scores.double(), values.double(), rows)
    choice = {"pooled": [0], "weights": [1], "both": [0, 1]}[wanted]
    down = [torch.randn_like(found[part]) for part in choice]
    leaves = (scores, values)
    ours = torch.autograd.grad([found[part] for part in choice], leaves, down)
    theirs = torch.autograd.grad(
        [expected[part] for part in choice], leaves, [d.double() for d in down], allow_unused=True
    )
    for got, want in zip((*found, *ours), (*expected, *theirs), strict=True):
        want = torch.zeros_like(got) if want is None else want
        torch.testing.assert_close(got.double(), want.double(), atol=2e-6, rtol=1e-5)


def test_attention_survives_scores_of_any_size():
    """001-08: peaks of plus and minus 10,000 in different rows; an empty row gives zeros."""
    lengths = torch.tensor([2, 0, 2], device=DEVICE)
    scores = torch.tensor([1e4, 1e4 - 1, -1e4, -1e4 - 1], device=DEVICE)
    pooled, weights = attend_rows(scores, torch.ones(4, 3, device=DEVICE), Ragged(scores, lengths))
    torch.testing.assert_close(weights[:2], weights[2:])
    torch.testing.assert_close(
        pooled, torch.tensor([[1.0] * 3, [0.0] * 3, [1.0] * 3], device=DEVICE)
    )


def test_attention_takes_bf16_and_values_wider_than_a_tile():
    lengths = torch.tensor([3, 20], device=DEVICE)
    torch.manual_seed(0)
    scores = torch.randn(23, device=DEVICE).bfloat16()
    values = torch.randn(23, 150, device=DEVICE).bfloat16()
    pooled, weights = attend_rows(scores, values, Ragged(scores, lengths))
    expected = plain_attention(scores.double(), values.double(), Ragged(scores, lengths))
    assert (pooled.dtype, weights.dtype) == (torch.bfloat16, torch.float32)
    torch.testing.assert_close(weights.double(), expected[1], atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(pooled.double(), expected[0], atol=1e-2, rtol=1e-2)


def test_attention_refuses_shapes_that_do_not_fit():
    rows = Ragged(torch.zeros(2, device=DEVICE), torch.tensor([2], device=DEVICE))
    with pytest.raises(ValueError, match="attention needs scores"):
        attend_rows(torch.zeros(2, device=DEVICE), torch.zeros(3, 4, device=DEVICE), rows)
    with pytest.raises(ValueError, match="rows of 2 items cannot lay out 3"):
        attend_rows(torch.zeros(3, device=DEVICE), torch.zeros(3, 4, device=DEVICE), rows)
