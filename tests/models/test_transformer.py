"""The Transformer as a translator: its parts are the paper's, and it keeps what it made."""

import dataclasses
import json

import numpy as np
import pytest
import torch
from torch import nn

from regard.config import from_dict, to_dict
from regard.data.pairs import EncodedPairs
from regard.errors import ConfigError
from regard.models.transformer import TransformerConfig
from regard.nn.positions import row_positions
from regard.nn.rows import row_sum
from regard.tasks.generate import GenerationConfig, TokenLoss, generate
from regard.text.units import END, START

VOCAB = 11
SMALL = TransformerConfig(hidden_size=8, heads=2, feed_size=12, layers=2, dropout=0.0)
SETTINGS = {
    "plain": {},
    "as in the paper": {"norm": "post", "tied": "all"},
    "rotary": {"positions": "rotary", "activation": "gelu"},
    "learned": {"positions": "learned", "tied": "none"},
    "one layer": {"layers": 1, "heads": 1},
    "three layers": {"layers": 3, "positions": "rotary", "norm": "post"},
}
every_setting = pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)


def built(settings, seed=0, dtype=torch.float64):
    torch.manual_seed(seed)
    model = dataclasses.replace(SMALL, **settings).build(source_size=VOCAB, target_size=VOCAB)
    return model.to(dtype).eval()


def random_rows(lengths, seed=0):
    draw = np.random.default_rng(seed)
    return [draw.integers(4, VOCAB, size=length) for length in lengths]


def pairs(sources=(3, 5, 1, 4), targets=(2, 4, 3, 0)):
    return EncodedPairs(random_rows(sources), random_rows(targets, seed=1))


def batch(sources=(3, 5, 1, 4), targets=(2, 4, 3, 0)):
    return pairs(sources, targets).batch(range(len(sources)))


@every_setting
class TestEverySetting:
    def test_scores_every_token_of_the_targets(self, settings):
        logits = built(settings)(batch((3, 0, 5), (2, 4, 0))).logits
        assert logits.shape == (3 + 5 + 1, VOCAB)
        assert torch.isfinite(logits).all()

    def test_company_changes_nothing(self, settings):
        """Mixed lengths and an empty source."""
        model, encoded = built(settings), pairs((3, 0, 50, 1), (2, 40, 0, 3))
        together = model(encoded.batch(range(4)))
        alone = [model(encoded.batch([row])) for row in range(4)]
        torch.testing.assert_close(together.logits, torch.cat([one.logits for one in alone]))
        (layer,) = together.attention
        parts = torch.cat([one.attention[0].weights.values for one in alone])
        torch.testing.assert_close(layer.weights.values, parts)

    def test_attention_is_rows_that_sum_to_one_over_the_source(self, settings):
        (cross,) = built(settings)(batch((3, 0, 5), (2, 4, 0))).attention
        assert (cross.name, cross.by, cross.over) == ("cross", "step", "token")
        assert cross.weights.lengths.tolist() == [3] * 3 + [0] * 5 + [5]
        torch.testing.assert_close(row_sum(cross.weights), (cross.weights.lengths > 0).double())

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

    def test_learns_from_every_parameter(self, settings):
        model = built(settings).train()
        TokenLoss()(model, batch()).backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), name

    def test_same_seed_same_bits(self, settings):
        first, second = built(settings), built(settings)
        for one, other in zip(first.parameters(), second.parameters(), strict=True):
            assert torch.equal(one, other)

    def test_settings_survive_json(self, settings):
        config = dataclasses.replace(SMALL, **settings)
        assert from_dict(TransformerConfig, json.loads(json.dumps(to_dict(config)))) == config

    def test_weights_survive_their_state(self, settings):
        model, other = built(settings), built(settings, seed=1)
        other.load_state_dict(model.state_dict())
        assert torch.equal(model(batch()).logits, other(batch()).logits)
        names = [tensor.data_ptr() for tensor in model.state_dict().values()]
        assert len(set(names)) == len(names)  # no tensor is saved twice

    def test_half_of_the_bits_give_about_the_same(self, settings):
        model, pair = built(settings, dtype=torch.float32), batch((3, 0, 5), (2, 4, 0))
        exact = TokenLoss()(model, pair).mean
        for forcing in (1.0, 0.0):
            with torch.autocast("cpu", torch.bfloat16):
                loss = TokenLoss(forcing)(model, pair).mean
            loss.backward()
            assert all(torch.isfinite(p.grad).all() for p in model.parameters())
            if forcing == 1:
                torch.testing.assert_close(loss, exact, atol=0.05, rtol=0)
        with torch.autocast("cpu", torch.bfloat16):
            assert len(generate(model, pair.source, GenerationConfig())) == 3

    def test_takes_an_empty_batch(self, settings):
        for forcing in (1.0, 0.5):
            output = built(settings)(pairs((), ()).batch([]), forcing)
            assert output.logits.shape == (0, VOCAB)


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


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@every_setting
def test_a_gpu_writes_what_the_cpu_writes(settings):
    config = dataclasses.replace(SMALL, hidden_size=32, **settings)
    torch.manual_seed(0)
    model = config.build(source_size=VOCAB, target_size=VOCAB).eval()
    pair = batch((3, 0, 50, 1), (2, 40, 0, 3))
    expected = model(pair)
    wrote = generate(model, pair.source, GenerationConfig("beam", beam=3))
    model.to("cuda")
    found = model(pair.to("cuda"))
    torch.testing.assert_close(found.logits.cpu(), expected.logits, atol=2e-3, rtol=2e-3)
    torch.testing.assert_close(
        found.attention[0].weights.values.cpu(),
        expected.attention[0].weights.values,
        atol=2e-3,
        rtol=2e-3,
    )
    again = generate(model, pair.to("cuda").source, GenerationConfig("beam", beam=3))
    same = [a[0].ids.tolist() == b[0].ids.tolist() for a, b in zip(wrote, again, strict=True)]
    assert all(same)
