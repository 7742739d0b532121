"""Blocks and stacks against torch's reference modules, with the same weights."""

import pytest
import torch
from torch import nn
from torch.nn.functional import relu

from regard.errors import ConfigError, DataError
from regard.nn import transformer
from regard.nn.dropout import drop
from regard.nn.multihead import Scope
from regard.nn.positions import row_positions
from regard.nn.rows import row_sum
from regard.nn.transformer import (
    ACTIVATIONS,
    POSITIONS,
    BlockConfig,
    DecoderBlock,
    EncoderBlock,
    EncoderStack,
    TransformerEncoder,
)
from regard.ragged import Ragged

SIZE, HEADS, FEED = 12, 3, 20
LENGTHS = [3, 0, 6, 1, 40, 6]
SOURCES = [5, 4, 2, 2, 9, 30]
NAMES = {
    "self_attn.in_proj_weight": "attention.enter.weight",
    "self_attn.in_proj_bias": "attention.enter.bias",
    "self_attn.out_proj.weight": "attention.leave.weight",
    "self_attn.out_proj.bias": "attention.leave.bias",
    "linear1.weight": "feed.widen.weight",
    "linear1.bias": "feed.widen.bias",
    "linear2.weight": "feed.narrow.weight",
    "linear2.bias": "feed.narrow.bias",
    "norm1.weight": "attended.norm.weight",
    "norm1.bias": "attended.norm.bias",
}
"""What torch calls the parameters of an encoder's layer."""
TWO = {"norm2.weight": "fed.norm.weight", "norm2.bias": "fed.norm.bias"}
THREE = {
    "multihead_attn.in_proj_weight": "cross.enter.weight",
    "multihead_attn.in_proj_bias": "cross.enter.bias",
    "multihead_attn.out_proj.weight": "cross.leave.weight",
    "multihead_attn.out_proj.bias": "cross.leave.bias",
    "norm2.weight": "crossed.norm.weight",
    "norm2.bias": "crossed.norm.bias",
    "norm3.weight": "fed.norm.weight",
    "norm3.bias": "fed.norm.bias",
}


def rows(lengths=LENGTHS, seed=1, size=SIZE):
    torch.manual_seed(seed)
    values = torch.randn(sum(lengths), size, dtype=torch.float64)
    return Ragged(values, torch.tensor(lengths, dtype=torch.int64))


def shape(norm="pre", activation="relu", dropout=0.0):
    return BlockConfig(SIZE, HEADS, FEED, dropout, norm, activation)


def made(kind, *given, **settings):
    """A module of ours with weights that are not the first ones, so that every one counts."""
    torch.manual_seed(0)
    module = kind(*given, **settings).double().eval()
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.4)
    return module


def copied(theirs, ours, names):
    """Torch's module with our weights."""
    theirs = theirs.double().eval()
    weights = ours.state_dict()
    theirs.load_state_dict({name: weights[own] for name, own in names.items()})
    return theirs


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("activation", ACTIVATIONS)
class TestAgainstTorch:
    def settings(self, norm, activation):
        return {
            "dim_feedforward": FEED,
            "dropout": 0.0,
            "activation": activation,
            "batch_first": True,
            "norm_first": norm == "pre",
        }

    def test_an_encoder_block_is_torchs_layer(self, norm, activation):
        """004-12: to 1e-5, and here to 1e-9."""
        ours = made(EncoderBlock, shape(norm, activation))
        theirs = nn.TransformerEncoderLayer(SIZE, HEADS, **self.settings(norm, activation))
        theirs = copied(theirs, ours, NAMES | TWO)
        items = rows()
        found = items.with_values(ours(items.values, Scope(items))).rows()
        for row, one in zip(items.rows(), found, strict=True):
            if len(row):
                torch.testing.assert_close(one, theirs(row[None])[0], atol=1e-9, rtol=1e-9)

    def test_a_decoder_block_is_torchs_layer(self, norm, activation):
        """004-12: masked self-attention, attention to the source, feed-forward."""
        ours = made(DecoderBlock, shape(norm, activation))
        theirs = nn.TransformerDecoderLayer(SIZE, HEADS, **self.settings(norm, activation))
        theirs = copied(theirs, ours, NAMES | THREE)
        items, source = rows(), rows(SOURCES, seed=2)
        found = items.with_values(
            ours(items.values, Scope(items, causal=True), source.values, Scope(items, source))
        )
        for row, seen, one in zip(items.rows(), source.rows(), found.rows(), strict=True):
            if len(row):
                mask = nn.Transformer.generate_square_subsequent_mask(len(row)).double()
                expected = theirs(row[None], seen[None], tgt_mask=mask)[0]
                torch.testing.assert_close(one, expected, atol=1e-9, rtol=1e-9)

    def test_gradients_are_torchs(self, norm, activation):
        ours = made(EncoderBlock, shape(norm, activation))
        theirs = nn.TransformerEncoderLayer(SIZE, HEADS, **self.settings(norm, activation))
        theirs = copied(theirs, ours, NAMES | TWO).train()  # in evaluation torch has none
        items = rows()
        given = items.values.clone().requires_grad_()
        ours(given, Scope(items)).square().sum().backward()
        plain = [row.clone().requires_grad_() for row in items.rows() if len(row)]
        sum(theirs(row[None]).square().sum() for row in plain).backward()
        torch.testing.assert_close(given.grad, torch.cat([row.grad for row in plain]))
        grads = {name: parameter.grad for name, parameter in ours.named_parameters()}
        for name, parameter in theirs.named_parameters():
            torch.testing.assert_close(grads[(NAMES | TWO)[name]], parameter.grad)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("norm", ["pre", "post"])
class TestEveryStack:
    def stack(self, positions, norm, **settings):
        return made(EncoderStack, shape(norm, **settings), layers=2, positions=positions)

    def test_company_changes_nothing(self, positions, norm):
        stack, items = self.stack(positions, norm), rows()
        together = stack(items).rows()
        for row, found in zip(items.rows(), together, strict=True):
            alone = stack(Ragged(row, torch.tensor([len(row)]))).values
            torch.testing.assert_close(found, alone)

    def test_order_counts(self, positions, norm):
        """Without positions a row read backward would give the same, backward."""
        stack, items = self.stack(positions, norm), rows([6])
        turned = stack(items.with_values(items.values.flip(0))).values.flip(0)
        assert not torch.allclose(stack(items).values, turned)

    def test_weights_of_all_layers_and_heads_are_given_on_request(self, positions, norm):
        """They are those by which the fused kernels add up: test_multihead compares."""
        stack, items = self.stack(positions, norm), rows()
        before = stack(items).values
        layers = stack.weights(items)
        assert len(layers) == 2
        for weights in layers:
            assert weights.lengths.tolist() == [n for n in LENGTHS for _ in range(n)]
            sums = row_sum(weights)
            torch.testing.assert_close(sums, torch.ones_like(sums))
        assert torch.equal(stack(items).values, before)

    def test_gradient_reaches_every_parameter(self, positions, norm):
        stack, items = self.stack(positions, norm).train(), rows()
        stack(items).values.square().sum().backward()
        for name, parameter in stack.named_parameters():
            assert parameter.grad is not None and parameter.grad.any(), name

    def test_nothing_is_read_where_there_is_nothing(self, positions, norm):
        assert self.stack(positions, norm)(rows([0, 0])).values.shape == (0, SIZE)

    def test_dropout_is_drawn_in_training_only(self, positions, norm):
        stack, items = self.stack(positions, norm, dropout=0.5), rows()
        assert torch.equal(stack(items).values, stack(items).values)
        stack.train()
        assert not torch.allclose(stack(items).values, stack(items).values)


@pytest.mark.parametrize("norm", ["pre", "post"])
def test_dropout_stands_where_the_paper_has_it(norm):
    """Over vectors that know their places, and over what a part made before it is added.

    Beyond the paper, and as in torch, also between the two layers of the feed-forward net.
    """

    def dropped(values):
        return drop(values, 0.5, training=True)

    def added(residual, states, part):
        if norm == "pre":
            return states + dropped(part(residual.norm(states)))
        return residual.norm(states + dropped(part(states)))

    stack = made(EncoderStack, shape(norm, dropout=0.5), layers=2, positions="sinusoidal").train()
    items = rows()
    scope = Scope(items)
    torch.manual_seed(5)
    states = dropped(stack.positions(items.values, row_positions(items)))
    for block in stack.blocks:
        attention, feed = block.attention, block.feed
        states = added(block.attended, states, lambda given: attention(given, scope))  # noqa: B023
        states = added(
            block.fed,
            states,
            lambda given: feed.narrow(dropped(relu(feed.widen(given)))),  # noqa: B023
        )
    torch.manual_seed(5)
    torch.testing.assert_close(stack(items).values, stack.norm(states))


def test_a_norm_adds_to_the_variance_what_the_settings_say():
    """BERT's is 1e-12, which counts where a row hardly varies."""
    block = made(EncoderBlock, BlockConfig(SIZE, HEADS, FEED, norm="post", eps=0.5))
    items = rows([1])
    attended = items.values + block.attention(items.values, Scope(items))
    apart = attended - attended.mean()
    norm = block.attended.norm
    expected = norm.weight * apart / (apart.square().mean() + 0.5).sqrt() + norm.bias
    torch.testing.assert_close(block.attended(items.values, attended - items.values), expected)
    stack = EncoderStack(BlockConfig(SIZE, HEADS, FEED, eps=0.5), layers=1, positions="rotary")
    assert stack.norm.eps == 0.5


def test_learned_places_start_small():
    """Vectors of words must not drown in them."""
    torch.manual_seed(0)
    places = POSITIONS["learned"](shape()).places.weight.detach()
    assert float(places.std()) == pytest.approx(0.02, rel=0.1)


def test_sinusoids_are_added_as_in_the_paper():
    positions = POSITIONS["sinusoidal"](shape())
    found = positions(torch.zeros(3, SIZE, dtype=torch.float64), torch.tensor([0, 1, 7]))
    for row, place in zip(found, (0, 1, 7), strict=True):
        for pair in range(SIZE // 2):
            angle = torch.tensor(place / 10_000 ** (2 * pair / SIZE))
            assert row[pair] == pytest.approx(float(angle.sin()), abs=1e-6)
            assert row[SIZE // 2 + pair] == pytest.approx(float(angle.cos()), abs=1e-6)


def test_a_row_beyond_the_last_learned_place_is_refused(monkeypatch):
    monkeypatch.setattr(transformer, "LONGEST_LEARNED", 5)
    stack = made(EncoderStack, shape(), layers=1, positions="learned")
    stack(rows([5]))
    with pytest.raises(DataError, match="a text of 6 items is longer than the 5 learned positions"):
        stack(rows([6]))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"heads": 5}, "5 heads cannot share 12 columns evenly"),
        ({"heads": 0}, "0 heads"),
        ({"norm": "middle"}, "norm cannot be 'middle'"),
        ({"activation": "rleu"}, "did you mean 'relu'"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ConfigError, match=message):
        BlockConfig(**({"size": SIZE, "heads": HEADS, "feed_size": FEED} | settings))
    with pytest.raises(ConfigError, match="rotary positions need heads of an even size, got 3"):
        EncoderStack(BlockConfig(9, 3, 4), layers=1, positions="rotary")


class TestEncoderOfDocuments:
    def encoder(self):
        return made(TransformerEncoder, 5, shape(), layers=2, positions="rotary")

    def test_vectors_of_any_size_are_read(self):
        encoder, items = self.encoder(), rows(size=5)
        assert (encoder.input_size, encoder.output_size) == (5, SIZE)
        assert encoder(items).values.shape == (sum(LENGTHS), SIZE)
        assert [len(layer) for layer in encoder.weights(items)] == [sum(LENGTHS)] * 2

    def test_a_table_gives_what_its_vectors_give(self):
        encoder = self.encoder()
        table = torch.randn(4, 5, dtype=torch.float64)
        index = rows().with_values(torch.randint(0, 4, (sum(LENGTHS),)))
        by_vectors = encoder(index.with_values(table[index.values]))
        torch.testing.assert_close(encoder.from_table(table, index).values, by_vectors.values)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("positions", POSITIONS)
def test_a_gpu_reads_what_the_cpu_reads(positions):
    config = BlockConfig(32, 2, 64)
    stack = made(EncoderStack, config, layers=2, positions=positions).float()
    items = rows(size=32)
    items = items.with_values(items.values.float())
    expected, weights = stack(items).values, stack.weights(items)
    stack, moved = stack.to("cuda"), items.to("cuda")
    torch.testing.assert_close(stack(moved).values.cpu(), expected, atol=2e-3, rtol=2e-3)
    for ours, theirs in zip(stack.weights(moved), weights, strict=True):
        torch.testing.assert_close(ours.values.cpu(), theirs.values, atol=2e-3, rtol=2e-3)
