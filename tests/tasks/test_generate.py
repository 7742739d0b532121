import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from regard.data.pairs import EncodedPairs
from regard.errors import ConfigError, DataError
from regard.models.base import Output
from regard.models.seq2seq import Seq2SeqConfig
from regard.tasks.generate import (
    FORCINGS,
    ForcedLoss,
    ForcingConfig,
    GenerationConfig,
    TokenLoss,
    forcing_ratio,
    generate,
)
from regard.text.units import END, START
from regard.text.vocab import PADDING

VOCAB = 9


def built(**settings):
    torch.manual_seed(0)
    plain = {"embedding_size": 6, "hidden_size": 8, "attention_size": 5, "dropout": 0.3}
    config = Seq2SeqConfig(**{**plain, **settings})
    return config.build(source_size=VOCAB, target_size=VOCAB).double()


def pairs(count=6, seed=0):
    draw = np.random.default_rng(seed)
    rows = [draw.integers(4, VOCAB, size=draw.integers(0, 7)) for _ in range(2 * count)]
    return EncodedPairs(rows[:count], rows[count:])


class TestLoss:
    def test_is_the_mean_cross_entropy_of_a_token(self):
        model, batch = built().eval(), pairs().batch(range(6))
        loss = TokenLoss()(model, batch)
        expected = cross_entropy(model(batch).logits, batch.target.values)
        torch.testing.assert_close(loss.mean, expected)
        assert loss.documents == 6 and loss.weight == len(batch.target.values)

    def test_shares_of_a_batch_add_up(self):
        model, encoded = built().eval(), pairs()
        whole = TokenLoss()(model, encoded.batch(range(6)))
        shares = [TokenLoss()(model, encoded.batch(part)) for part in ([0, 3], [1, 2, 4, 5])]
        total = sum(share.total for share in shares) / sum(share.weight for share in shares)
        torch.testing.assert_close(total, whole.mean)

    def test_smoothing_is_torchs(self):
        model, batch = built().eval(), pairs().batch(range(6))
        expected = cross_entropy(model(batch).logits, batch.target.values, label_smoothing=0.1)
        torch.testing.assert_close(TokenLoss(label_smoothing=0.1)(model, batch).mean, expected)

    def test_a_penalty_counts_once_a_pair(self):
        batch = pairs().batch(range(6))
        logits = torch.zeros(len(batch.target.values), VOCAB)
        loss = TokenLoss().of(Output(logits, penalty=torch.tensor(0.5)), batch)
        assert loss.mean.item() == pytest.approx(np.log(VOCAB) + 0.5)

    def test_forcing_is_handed_on(self):
        """002-09."""
        model, encoded = built().eval(), pairs()
        batch = encoded.batch(range(6))
        free = TokenLoss(forcing=0.0)(model, batch)
        expected = cross_entropy(model(batch, 0.0).logits, batch.target.values)
        torch.testing.assert_close(free.mean, expected)
        assert not torch.isclose(free.mean, TokenLoss()(model, batch).mean)

    def test_wrong_ones_are_refused(self):
        with pytest.raises(ConfigError, match=r"forcing must be from 0 to 1, got 1\.5"):
            TokenLoss(forcing=1.5)
        with pytest.raises(DataError, match="2 answers do not fit"):
            TokenLoss().of(Output(torch.zeros(2, VOCAB)), pairs().batch(range(6)))


class TestGenerating:
    @pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
    def test_start_and_padding_are_never_written(self, method):
        model, batch = built(), pairs().batch(range(6))
        with torch.no_grad():
            model.decoder.output.bias[[PADDING, START]] = 50
        found = generate(model, batch.source, GenerationConfig(method))
        ids = torch.cat([one.ids for hypotheses in found for one in hypotheses])
        assert not set(ids.tolist()) & {PADDING, START}

    @pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
    def test_gives_every_source_something(self, method):
        batch = pairs().batch(range(6))
        found = generate(built(), batch.source, GenerationConfig(method))
        assert len(found) == 6
        for hypotheses, length in zip(found, batch.source.by_document.host_lengths, strict=True):
            assert 1 <= len(hypotheses) <= (5 if method == "beam" else 1)
            for one in hypotheses:
                assert one.weights.shape == (len(one.ids), length)
                assert one.ended == (one.ids[-1].item() == END)
                assert len(one.ids) <= 2 * length + 10

    @pytest.mark.parametrize("method", ["greedy", "beam"])
    def test_company_changes_nothing(self, method):
        """002-03."""
        model, encoded = built(), pairs()
        config = GenerationConfig(method)
        together = generate(model, encoded.batch(range(6)).source, config)
        for row in range(6):
            (alone,) = generate(model, encoded.batch([row]).source, config)
            assert [one.ids.tolist() for one in alone] == [
                one.ids.tolist() for one in together[row]
            ]

    def test_is_without_dropout_and_leaves_the_model_as_it_was(self):
        model, batch = built().train(), pairs().batch(range(6))
        first, second = (generate(model, batch.source, GenerationConfig()) for _ in range(2))
        assert [h[0].score for h in first] == [h[0].score for h in second]
        assert model.training
        assert len(generate(model.eval(), batch.source, GenerationConfig())) == 6
        assert not model.training

    def test_runs_free_and_scores_what_it_wrote(self):
        """D19: the same numbers as reading the written ids, and never a target."""
        model, batch = built().eval(), pairs().batch(range(6))
        found = generate(model, batch.source, GenerationConfig("greedy"))
        sources = [row.tolist() for row in batch.source.by_document.rows()]
        written = [one.ids[: len(one.ids) - one.ended].tolist() for [one] in found]
        again = EncodedPairs(sources, written).batch(range(6))
        logits = model(again).logits
        logits[:, [PADDING, START]] = -torch.inf  # they are never written
        logs = torch.log_softmax(logits, 1)
        chosen = logs.gather(1, again.target.values[:, None]).squeeze(1)
        for [one], row in zip(found, chosen.split(again.target.host_lengths), strict=True):
            total = row[: len(one.ids)].sum().item()
            assert one.log_probability == pytest.approx(total, abs=1e-4)

    def test_no_longer_than_asked_for(self):
        batch = pairs().batch(range(6))
        for method in ("greedy", "beam", "sample"):
            config = GenerationConfig(method, longest=2)
            found = generate(built(), batch.source, config)
            assert max(len(one.ids) for hypotheses in found for one in hypotheses) <= 2

    def test_sampling_draws_from_the_seed(self):
        model, batch = built(), pairs().batch(range(6))
        drawn = [
            [one.ids.tolist() for [one] in generate(model, batch.source, config)]
            for config in (
                GenerationConfig("sample", seed=1),
                GenerationConfig("sample", seed=1),
                GenerationConfig("sample", seed=2),
            )
        ]
        assert drawn[0] == drawn[1] != drawn[2]

    def test_the_start_is_read_first(self):
        model, batch = built().eval(), pairs().batch(range(6))
        assert batch.previous.values[batch.target.offsets[:-1]].tolist() == [START] * 6
        found = generate(model, batch.source, GenerationConfig("greedy", longest=1))
        first = model(batch).logits[batch.target.offsets[:-1]].argmax(1)
        assert [one.ids.item() for [one] in found] == first.tolist()

    @pytest.mark.parametrize(
        ("wrong", "message"),
        [
            ({"method": "bean"}, "did you mean 'beam'"),
            ({"beam": 0}, "beam must be at least 1"),
            ({"longest": 0}, "longest must be at least 1"),
            ({"length_power": -1.0}, "length_power must be from 0 to 100"),
            ({"temperature": 0.0}, "temperature must be from 1e-06 to 1e"),
            ({"longest_ratio": -1.0}, "longest_ratio must be from 0 to 1e"),
        ],
    )
    def test_wrong_settings_are_refused(self, wrong, message):
        with pytest.raises(ConfigError, match=message):
            GenerationConfig(**wrong)


@pytest.mark.parametrize("schedule", FORCINGS)
def test_every_schedule_falls_from_its_start_to_its_end(schedule):
    """002-10: the true token early, the decoder's own later."""
    config = ForcingConfig(schedule, start=0.9, end=0.2)
    ratios = [forcing_ratio(config, step / 20) for step in range(21)]
    assert ratios[0] == pytest.approx(0.9)
    assert ratios[-1] == pytest.approx(0.9 if schedule == "constant" else 0.2)
    assert ratios == sorted(ratios, reverse=True)
    assert all(0 <= ratio <= 1 for ratio in ratios)


def test_each_has_its_own_shape():
    half = {name: forcing_ratio(ForcingConfig(name, start=1.0, end=0.25), 0.5) for name in FORCINGS}
    assert half == {
        "constant": 1.0,
        "linear": pytest.approx(0.625),
        "exponential": pytest.approx(0.5),
        "inverse-sigmoid": pytest.approx(0.625),
    }
    early = forcing_ratio(ForcingConfig("inverse-sigmoid", end=0.0), 0.1)
    assert early > 0.97  # flat at first, unlike the straight line


def test_before_the_start_and_after_the_end_nothing_changes():
    config = ForcingConfig("linear", end=0.5)
    assert forcing_ratio(config, -1.0) == 1.0
    assert forcing_ratio(config, 2.0) == 0.5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"schedule": "liner"}, "did you mean 'linear'"),
        ({"start": 1.2}, "start must be from 0 to 1, got 1.2"),
        ({"end": -0.1}, "end must be from 0 to 1"),
        ({"schedule": "exponential", "end": 0.0}, "never reaches 0"),
    ],
)
def test_wrong_settings_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        ForcingConfig(**wrong)


class Spy:
    """Keeps how often each step was to be told the true token."""

    def __init__(self):
        self.told = []

    def __call__(self, batch, forcing):
        self.told.append(forcing)
        return Output(torch.zeros(batch.target.values.shape[0], 9))


def test_the_loss_follows_the_schedule():
    """002-09, 002-10: all at the start of the training, none at its end."""
    spy, batch = Spy(), EncodedPairs([[5]], [[6, 7]]).batch([0])
    loss = ForcedLoss(TokenLoss(), ForcingConfig("linear", start=1.0, end=0.0))
    costs = [loss(spy, batch, progress) for progress in (0.0, 0.25, 1.0)]
    assert spy.told == pytest.approx([1.0, 0.75, 0.0])
    assert float(costs[0].weight) == 3  # two tokens and the end
    assert loss.to(torch.device("cpu")) is loss
