"""The Transformer as a translator: its parts are the paper's, and it keeps what it made."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import nn

from regard.data.pairs import EncodedPairs
from regard.errors import ConfigError
from regard.models.transformer import TransformerConfig
from regard.nn.dropout import drop
from regard.nn.multihead import Scope
from regard.nn.positions import row_positions
from regard.tasks.generate import GenerationConfig, TokenLoss, generate
from regard.text.units import END, START
from support.small_pairs import SMALL as SMALL_PAIRS
from support.small_pairs import TRANSFORMER, batch, build, random_rows

SMALL = SMALL_PAIRS["transformer"]
SETTINGS = TRANSFORMER
every_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


def built(settings, seed=0, dtype=torch.float64):
    return build(dataclasses.replace(SMALL, **settings), seed, dtype)


@every_setting
class TestEverySetting:
    def test_weights_cost_nothing_but_time(self, settings):
        """In training they are not given, and the logits are the same: there is no dropout."""
        model, pair = built(settings), batch()
        asked = model(pair)
        silent = model.train()(pair)
        assert silent.attention == ()
        assert torch.equal(silent.logits, asked.logits)

    def test_nobody_sees_what_is_to_be_written(self, settings):
        """004-12: a later token changes no earlier answer, to the last bit."""
        model = built(settings)
        row = random_rows((6,), seed=1)[0]
        logits = []
        for last in (row[-2], (row[-2] - 3) % 7 + 4):
            changed = row.copy()
            changed[-2] = last
            logits.append(model(EncodedPairs(random_rows((5,)), [changed]).batch([0])).logits)
        same = (logits[0] == logits[1]).all(1).tolist()
        assert same == [True] * 5 + [False] * 2

    def test_steps_that_keep_what_was_made_give_what_whole_rows_give(self, settings):
        """Cached decoding equals uncached: logits and weights of every step."""
        model, pair = built(settings), batch((3, 0, 5), (6, 6, 6))
        whole = model(pair)
        previous = pair.previous.values.view(3, -1)
        state = model.start(pair.source)
        logits, weights = [], []
        for step in range(previous.shape[1]):
            made = model.decoder.step(state, previous[:, step])
            state = made.state
            logits.append(made.logits)
            weights.append(made.weights)
        torch.testing.assert_close(torch.stack(logits, 1).flatten(0, 1), whole.logits)
        stepped = torch.stack(weights, 1)  # (sources, steps, longest)
        rows = whole.attention[0].weights.rows()
        for number, row in enumerate(rows):
            found = stepped[number // 7, number % 7, : len(row)]
            torch.testing.assert_close(found, row)

    def test_a_beam_writes_what_asking_anew_at_every_step_would(self, settings):
        """Hypotheses are cut, reordered and left behind; what is kept follows them."""
        model, source = built(settings), batch((3, 5, 1, 4)).source
        config = GenerationConfig("beam", beam=3, longest=8)
        for number, found in enumerate(generate(model, source, config)):
            row = source.by_document.rows()[number].numpy()
            for one in found:
                ids = one.ids.tolist()
                written = ids[:-1] if one.ended else ids
                again = EncodedPairs([row], [written]).batch([0])
                logits = model(again).logits[: len(ids)].detach()
                logits[:, [0, START]] = -torch.inf
                logs = torch.log_softmax(logits.float(), 1)
                total = logs[torch.arange(len(ids)), one.ids].sum()
                assert one.log_probability == pytest.approx(float(total), abs=1e-4)

    def test_told_nothing_it_reads_its_own_tokens(self, settings):
        model, pair = built(settings), batch()
        free = model(pair, 0.0)
        assert free.logits.shape == model(pair).logits.shape
        first = row_positions(pair.target) == 0
        torch.testing.assert_close(free.logits[first], model(pair).logits[first])


def test_it_is_torchs_own_transformer():
    """004-12: encoder, decoder and their masks together, as in the paper, with copied weights."""
    model = built({"norm": "post", "layers": 2})
    theirs = nn.Transformer(8, 2, 2, 2, dim_feedforward=12, dropout=0.0, batch_first=True).double()
    theirs.encoder.norm = theirs.decoder.norm = None  # which the paper does not have
    for ours, block in [
        *zip(model.encoder.blocks, theirs.encoder.layers, strict=True),
        *zip(model.decoder.blocks, theirs.decoder.layers, strict=True),
    ]:
        moved = {"self_attn": ours.attention, "multihead_attn": getattr(ours, "cross", None)}
        for name, attention in moved.items():
            if attention is not None:
                part = getattr(block, name)
                part.in_proj_weight.data, part.in_proj_bias.data = (
                    attention.enter.weight.data,
                    attention.enter.bias.data,
                )
                part.out_proj.load_state_dict(attention.leave.state_dict())
        block.linear1.load_state_dict(ours.feed.widen.state_dict())
        block.linear2.load_state_dict(ours.feed.narrow.state_dict())
    pair = batch((4,), (5,))
    asked = [pair.source.by_document, pair.previous]
    read = [
        part.positions(table(rows.values) * 8**0.5, row_positions(rows))[None]
        for part, table, rows in zip(
            (model.encoder, model.decoder),
            (model.embedding, model.decoder.embedding),
            asked,
            strict=True,
        )
    ]
    mask = nn.Transformer.generate_square_subsequent_mask(6).double()
    states = theirs(*read, tgt_mask=mask)[0]
    logits = states @ model.decoder.embedding.weight.T + model.decoder.bias
    torch.testing.assert_close(model(pair).logits, logits, atol=1e-9, rtol=1e-9)


def test_dropout_stands_where_the_paper_has_it():
    """Over the sums of vectors and positions of both sides, and inside every block.

    Nothing is dropped between the last block and the words.
    """
    model, pair = built({"norm": "post", "dropout": 0.5}).train(), batch((4,), (5,))
    source, previous = pair.source.by_document, pair.previous
    scope, over = Scope(previous, causal=True), Scope(previous, source)

    def entered(part, table, rows):
        vectors = part.positions(table(rows.values) * 8**0.5, row_positions(rows))
        return drop(vectors, 0.5, training=True)

    torch.manual_seed(3)
    memory = entered(model.encoder, model.embedding, source)
    for block in model.encoder.blocks:
        memory = block(memory, Scope(source))
    states = entered(model.decoder, model.decoder.embedding, previous)
    for block in model.decoder.blocks:
        states = block(states, scope, memory, over)
    expected = states @ model.decoder.embedding.weight.T + model.decoder.bias
    torch.manual_seed(3)
    torch.testing.assert_close(model(pair).logits, expected)


def test_the_last_layer_but_one_tells_where_it_looks():
    """On average over its heads; a single layer tells itself."""
    for layers, teller in ((1, 0), (2, 0), (3, 1)):
        model, pair = built({"layers": layers}), batch((4,), (5,))
        memory = model.encode(pair.source)
        scope, over = Scope(pair.previous, causal=True), Scope(pair.previous, memory)
        vectors = model.decoder.embedding(pair.previous.values) * 8**0.5
        states = model.decoder.positions(vectors, row_positions(pair.previous))
        for block in model.decoder.blocks[:teller]:
            states = block(states, scope, memory.values, over)
        looked = model.decoder.blocks[teller].weights(states, scope, memory.values, over)
        found = model(pair).attention[0].weights
        torch.testing.assert_close(found.values, looked.values.mean(1))


def test_vectors_of_words_start_as_large_as_their_positions():
    """They are multiplied by the root of their size, which gives numbers of about one."""
    torch.manual_seed(0)
    model = TransformerConfig(hidden_size=64).build(source_size=200, target_size=200)
    for table in (model.embedding, model.decoder.embedding):
        assert float(table.weight.detach().std() * 8) == pytest.approx(1, rel=0.05)


def test_twenty_pairs_are_learned_by_heart():
    """Every pair is written exactly, by a beam, from its source alone."""
    draw = np.random.default_rng(0)
    sources = [draw.integers(4, 30, size=draw.integers(1, 9)) for _ in range(20)]
    targets = [draw.integers(4, 30, size=draw.integers(0, 9)) for _ in range(20)]
    torch.manual_seed(0)
    config = TransformerConfig(hidden_size=32, heads=4, feed_size=64, layers=2, dropout=0.0)
    model = config.build(source_size=30, target_size=30).train()
    everything = EncodedPairs(sources, targets).batch(range(20))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(120):
        optimizer.zero_grad()
        TokenLoss()(model, everything).backward()
        optimizer.step()
    found = generate(model, everything.source, GenerationConfig("beam", beam=3))
    assert [one[0].ids.tolist() for one in found] == [[*row.tolist(), END] for row in targets]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"heads": 3}, "3 heads cannot share 256 columns evenly"),
        ({"layers": 0}, "layers must be at least 1, got 0"),
        ({"dropout": 1.0}, "dropout must be from 0 to below 1"),
        ({"positions": "rotery"}, "did you mean 'rotary'"),
        ({"norm": "prae"}, "did you mean 'pre'"),
        ({"hidden_size": 12, "positions": "rotary"}, "rotary positions need heads of an even size"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        TransformerConfig(**wrong)


def test_one_table_needs_one_vocabulary():
    with pytest.raises(ConfigError, match="tied='all' needs one vocabulary, got 10 and 11 words"):
        TransformerConfig(tied="all").build(source_size=10, target_size=11)
