import dataclasses
import importlib.util
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.data.pairs import EncodedPairs
from regard.errors import ConfigError
from regard.models.seq2seq import PRESETS, Seq2SeqConfig
from regard.nn.dropout import drop
from regard.tasks.generate import GenerationConfig, TokenLoss, generate
from regard.text.units import END
from support.small_pairs import SEQ2SEQ, VOCAB, batch, build, random_rows
from support.small_pairs import SMALL as SMALL_PAIRS

SMALL = SMALL_PAIRS["seq2seq"]
SETTINGS = SEQ2SEQ
every_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


def plain_module():
    path = Path(__file__).resolve().parents[2] / "benchmarks" / "plain_seq2seq.py"
    spec = importlib.util.spec_from_file_location("plain_seq2seq", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def built(settings, seed=0, dtype=torch.float64):
    return build(dataclasses.replace(SMALL, **settings), seed, dtype)


@every_setting
class TestEverySetting:
    def test_the_source_is_read_one_for_one_and_the_target_is_as_long_as_it_likes(self, settings):
        """004-02: a state for each item of the source, n = m; a step for each token, n != m."""
        model, pair = built(settings), batch((3, 0, 5), (9, 1, 2))
        assert model.encode(pair.source).memory.lengths.tolist() == [3, 0, 5]
        assert len(model(pair).logits) == (9 + 1) + (1 + 1) + (2 + 1)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize(
    "settings",
    [
        {"decoder": "sutskever"},
        {"decoder": "cho"},
        {"decoder": "luong", "score": "dot", "feeding": False},
        {"decoder": "luong", "score": "general"},
        {"decoder": "bahdanau", "score": "concat"},
        {"decoder": "bahdanau", "score": "additive"},
    ],
    ids=lambda settings: " ".join(map(str, settings.values())),
)
def test_values_and_gradients_equal_a_plain_loop_over_steps(settings, layers, cell):
    """002-17, D10: padded, packed, one torch step at a time, with the same parameters."""
    model = built({**settings, "layers": layers, "cell": cell})
    plain = plain_module().PlainSeq2Seq(model).eval()
    pair = batch()
    ours = TokenLoss()(model, pair)
    theirs = plain.loss(pair)
    torch.testing.assert_close(ours.mean, theirs)
    found = torch.autograd.grad(ours.mean, list(model.parameters()))
    expected = torch.autograd.grad(theirs, list(model.parameters()))
    for (name, _), one, other in zip(model.named_parameters(), found, expected, strict=True):
        torch.testing.assert_close(one, other, msg=lambda text, name=name: f"{name}: {text}")
    output, (logits, weights) = model(pair), plain(pair)
    by_pair = output.logits.split(pair.target.host_lengths)
    for number, found in enumerate(by_pair):
        torch.testing.assert_close(found, logits[: len(found), number])
    if output.attention:
        rows = iter(output.attention[0].weights.rows())
        for number, count in enumerate(pair.target.host_lengths):
            for step in range(count):
                row = next(rows)
                torch.testing.assert_close(row, weights[step][number, : len(row)])


def test_encoder_and_decoder_share_no_parameter():
    """002-01: two networks; only what is tied on purpose is shared."""
    model = built({})
    encoder = {id(parameter) for parameter in model.encoder.parameters()}
    decoder = {id(parameter) for parameter in model.decoder.parameters()}
    assert not encoder & decoder
    tied = built({"tied": "all"})
    assert tied.embedding is tied.decoder.embedding
    with pytest.raises(ConfigError, match="one vocabulary, got 5 and 6"):
        Seq2SeqConfig(tied="all").build(source_size=5, target_size=6)


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_two_layers_and_two_directions_are_wired_right(cell):
    """002-02, D10: the decoder's layer n starts from both directions of the encoder's layer n."""
    model = built({"cell": cell, "bridge": "copy"})
    pair = batch((4,), (2,))
    words = model.embedding(pair.source.ids.values)
    last = model.encoder.layers(words)[1]
    carries = model.encode(pair.source).carries
    for part, theirs in enumerate(last if cell == "lstm" else (last,)):
        for layer in range(2):
            expected = torch.cat([theirs[2 * layer], theirs[2 * layer + 1]])
            torch.testing.assert_close(carries[layer][part][0], expected)
    assert model.decoder.stack.layers.hidden_size == 2 * SMALL.hidden_size


def test_a_reversed_source_is_read_from_its_end_but_remembered_in_order():
    """002-05, 003-02."""
    forward = built({"directions": 1})
    backward = built({"directions": 1, "reverse_source": True})
    rows = random_rows([4, 2])
    pair = EncodedPairs(rows, rows).batch([0, 1])
    turned = EncodedPairs([row[::-1] for row in rows], rows).batch([0, 1])
    found, expected = backward.encode(pair.source), forward.encode(turned.source)
    torch.testing.assert_close(found.carries, expected.carries)
    for one, other in zip(found.memory.rows(), expected.memory.rows(), strict=True):
        torch.testing.assert_close(one, other.flip(0))


def test_a_doubled_source_is_read_twice_and_remembered_as_read_last():
    """As if it had been written down twice."""
    once, twice = built({}), built({"repeat_source": 2})
    rows = random_rows([4, 2])
    single = EncodedPairs(rows, rows).batch([0, 1])
    double = EncodedPairs([np.tile(row, 2) for row in rows], rows).batch([0, 1])
    found, expected = twice.encode(single.source), once.encode(double.source)
    torch.testing.assert_close(found.carries, expected.carries)
    for one, other in zip(found.memory.rows(), expected.memory.rows(), strict=True):
        torch.testing.assert_close(one, other[len(one) :])


def test_dropout_stands_over_the_words_of_a_source_and_between_layers():
    """The states of the last layer, which are looked at, are whole."""
    model, source = built({"dropout": 0.5, "layers": 2, "bridge": "copy"}).train(), batch().source
    ids = source.by_document
    torch.manual_seed(2)
    words = drop(model.embedding(ids.values), 0.5, training=True)
    expected = model.encoder.read(ids.with_values(words))
    torch.manual_seed(2)
    found = model.encode(source)
    torch.testing.assert_close(found.memory.values, expected.states.values)
    torch.testing.assert_close(found.carries, expected.ends)


def test_the_network_of_the_notes_builds_and_learns_a_step():
    """002-16: embedding 256, hidden 512, two layers, two directions, dropout 0.1, 2 h to h."""
    config = PRESETS["notes"]
    assert (config.embedding_size, config.hidden_size, config.layers) == (256, 512, 2)
    assert (config.directions, config.dropout) == (2, 0.1)
    torch.manual_seed(0)
    model = config.build(source_size=VOCAB, target_size=VOCAB).train()
    assert [layer.weight.shape for layer in model.bridge.layers] == [(512, 1024)] * 2
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    costs = []
    for _ in range(3):
        optimizer.zero_grad()
        costs.append(TokenLoss()(model, batch()).backward().mean.item())
        optimizer.step()
    assert costs[-1] < costs[0]


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_builds(name):
    assert (
        PRESETS[name].build(source_size=VOCAB, target_size=VOCAB)(batch()).logits.shape[1] == VOCAB
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"hidden_size": 0}, "hidden_size must be at least 1, got 0"),
        ({"repeat_source": 0}, "repeat_source must be at least 1"),
        ({"directions": 3}, "directions must be 1 or 2"),
        ({"dropout": 1.0}, "dropout must be from 0 to below 1"),
        ({"decoder": "luung"}, "did you mean 'luong'"),
        ({"bridge": "copi"}, "did you mean 'copy'"),
        ({"score": "dott"}, "did you mean 'dot'"),
        ({"window": "globl"}, "did you mean 'global'"),
        ({"decoder": "sutskever", "bridge": "none"}, "nothing of the source would be known"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        Seq2SeqConfig(**wrong)


def test_told_nothing_the_network_never_sees_its_targets():
    """002-09, D9: the length of a target is all that is known of it."""
    model = built({})
    rows = random_rows([3, 5])
    first = EncodedPairs(rows, random_rows([4, 2], seed=1)).batch([0, 1])
    other = EncodedPairs(rows, random_rows([4, 2], seed=2)).batch([0, 1])
    assert torch.equal(model(first, 0.0).logits, model(other, 0.0).logits)
    assert not torch.equal(model(first, 1.0).logits, model(other, 1.0).logits)


def train(model, encoded, *, epochs, rate=1e-2, batch_size=64):
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    order = np.random.default_rng(0)
    for _ in range(epochs):
        parts = np.array_split(order.permutation(len(encoded)), len(encoded) // batch_size)
        for part in parts:
            optimizer.zero_grad()
            TokenLoss()(model, encoded.batch(part)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()


def test_copying_is_learned_and_attention_lies_on_the_diagonal():
    """002-01, 004-05, 004-06: at least 99 % exact on unseen rows, free-running; sharp weights."""
    draw = np.random.default_rng(0)
    rows = [draw.integers(4, VOCAB, size=draw.integers(1, 8)) for _ in range(2200)]
    settings = {"hidden_size": 32, "embedding_size": 16, "layers": 1, "feeding": False}
    model = built(settings, dtype=torch.float32)
    train(model.train(), EncodedPairs(rows[:2000], rows[:2000]), epochs=16)
    held = EncodedPairs(rows[2000:], rows[2000:]).batch(range(200))
    found = generate(model, held.source, GenerationConfig("greedy"))
    exact = [
        hypothesis.ids.tolist() == [*row.tolist(), END]
        for [hypothesis], row in zip(found, rows[2000:], strict=True)
    ]
    assert np.mean(exact) >= 0.99
    places = [hypothesis.weights[:-1].argmax(1) for [hypothesis] in found]
    wanted = [torch.arange(len(row)) for row in rows[2000:]]
    hits = torch.cat([a == b for a, b in zip(places, wanted, strict=True) if len(a) == len(b)])
    assert hits.float().mean() > 0.9
    weights = torch.cat([one.weights.flatten() for [one] in found]).clamp(min=1e-9)
    steps = sum(len(one.ids) for [one] in found)
    entropy = -(weights * weights.log()).sum() / steps
    assert torch.exp(entropy) < 1.5
