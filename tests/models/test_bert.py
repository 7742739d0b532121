"""Our BERT: rows keep to themselves, gradients reach the words, and too long a row is refused."""

from dataclasses import replace

import pytest
import torch

from regard.errors import ConfigError, DataError
from regard.models.bert import Bert, BertConfig, BertPretraining
from regard.nn.dropout import drop
from regard.nn.multihead import Scope
from regard.nn.positions import row_positions
from regard.ragged import Ragged

SMALL = BertConfig(hidden_size=16, layers=2, heads=2, feed_size=24, longest=12)


def small() -> Bert:
    """A BERT of a few weights."""
    torch.manual_seed(1)
    return SMALL.build(vocab_size=30).eval()


def rows(*lengths: int) -> Ragged:
    """Rows of ids."""
    generator = torch.Generator().manual_seed(len(lengths))
    ids = torch.randint(30, (sum(lengths),), generator=generator)
    return Ragged(ids, torch.tensor(lengths))


def test_company_changes_nothing():
    """A row has the same states alone as among others."""
    bert, together = small(), rows(5, 12, 1, 7)
    segments = torch.arange(25) % 2
    states = bert(together, segments).rows()
    for row, own, state in zip(
        together.rows(), segments.split(together.host_lengths), states, strict=True
    ):
        alone = bert(Ragged(row, torch.tensor([len(row)])), own)
        torch.testing.assert_close(alone.values, state, atol=1e-5, rtol=1e-5)


def test_last_of_all_states_is_what_forward_gives():
    """There is one more than layers, and the weights of each layer sum to one."""
    bert, ids = small(), rows(5, 3)
    states = bert.states(ids)
    assert len(states) == SMALL.layers + 1
    torch.testing.assert_close(states[-1].values, bert(ids).values)
    for layer in bert.weights(ids):
        assert layer.values.shape == (5 * 5 + 3 * 3, SMALL.heads)
        sums = torch.stack([row.sum(0) for row in layer.rows()])
        torch.testing.assert_close(sums, torch.ones_like(sums))


def test_vectors_can_stand_for_pieces():
    """Gradients reach the vectors of the words."""
    bert, ids = small(), rows(4, 6)
    vectors = bert.word_vectors(ids)
    given = vectors.values.detach().requires_grad_()
    states = bert.from_vectors(vectors.with_values(given))
    torch.testing.assert_close(states.values, bert(ids).values)
    bert.pool(states).sum().backward()
    assert given.grad is not None and bool((given.grad.abs().sum(1) > 0).all())


def test_segments_and_places_matter():
    """004-14: the same piece in another place, or in the other text, has another state."""
    bert = small()
    ids = Ragged(torch.tensor([3, 3, 3]), torch.tensor([3]))
    plain = bert(ids).values
    assert not torch.allclose(plain[0], plain[1])
    assert not torch.allclose(plain, bert(ids, torch.tensor([0, 0, 1])).values)


def test_dropout_stands_where_bert_has_it():
    """Over the norm of the three vectors' sum, and then inside the blocks; not over what leaves."""
    torch.manual_seed(1)
    bert, ids = replace(SMALL, dropout=0.5).build(vocab_size=30).train(), rows(5, 3)
    segments = torch.arange(8) % 2
    total = bert.embedding(ids.values) + bert.places(row_positions(ids)) + bert.segments(segments)
    torch.manual_seed(4)
    states = drop(bert.norm(total), 0.5, training=True)
    for block in bert.blocks:
        states = block(states, Scope(ids))
    torch.manual_seed(4)
    torch.testing.assert_close(bert(ids, segments).values, states)


def test_weights_start_as_in_the_paper():
    """Small ones with a spread of 0.02, no biases, and norms that change nothing yet."""
    torch.manual_seed(1)
    config = BertConfig(hidden_size=64, layers=1, heads=2, feed_size=96, longest=64)
    model = BertPretraining(config, vocab_size=90)
    for name, weights in model.named_parameters():
        kind = "norm" if "norm" in name else "bias" if weights.ndim == 1 else "weights"
        values = weights.detach()
        if kind == "weights" and weights.numel() > 1000:
            assert float(values.std()) == pytest.approx(0.02, rel=0.1), name
        if kind != "weights":
            expected = 1.0 if kind == "norm" and name.endswith("weight") else 0.0
            assert torch.equal(values, torch.full_like(values, expected)), name


def test_a_row_too_long_is_an_error():
    """Nothing is cut in silence."""
    with pytest.raises(DataError, match="13 pieces, and this BERT reads 12"):
        small()(rows(13))


def test_no_rows_give_no_states():
    """Nothing in, nothing out."""
    nothing = Ragged(torch.zeros(0, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
    assert small()(nothing).values.shape == (0, 16)


@pytest.mark.parametrize(
    "wrong", [{"heads": 3}, {"layers": 0}, {"dropout": 1.0}, {"eps": 0.0}, {"longest": 2}]
)
def test_settings_are_checked(wrong):
    """A size that cannot be is named."""
    with pytest.raises(ConfigError):
        BertConfig(**wrong)


def test_pretraining_names_pieces_by_the_vectors_it_reads():
    """One table reads and writes, and each row is judged."""
    model = BertPretraining(SMALL, vocab_size=30)
    states = model.bert(rows(4, 6))
    assert model.name_pieces(states.values).shape == (10, 30)
    assert model.judge_next(states).shape == (2, 2)
    assert sum("embedding" in name for name, _ in model.named_parameters()) == 1


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
def test_a_gpu_gives_the_same_states():
    """Rows end to end through the kernels of a GPU, in 32 bits and nearly so in 16."""
    bert, ids = small(), rows(5, 12, 1, 7)
    expected = bert(ids).values
    moved, given = bert.to("cuda"), ids.to("cuda")
    torch.testing.assert_close(moved(given).values.cpu(), expected, atol=1e-5, rtol=1e-5)
    with torch.autocast("cuda", torch.bfloat16):
        half = moved(given).values.float().cpu()
    torch.testing.assert_close(half, expected, atol=0.1, rtol=0.1)
