"""Teaching a BERT: the same seed gives the same bits, and what was left off can be gone on with."""

import json
from dataclasses import replace

import pytest
import torch

from regard.data.masking import MaskingConfig
from regard.errors import ConfigError, DataError
from regard.estimators.bert_folder import load_bert
from regard.estimators.fitting import FitOptions
from regard.estimators.pretraining import PRETRAINING, Pretrainer
from regard.models.bert import BertConfig
from regard.text.pieces import PiecesConfig
from support.pieces import TEXTS

MANY = [f"{text} {number % 7} films." for number, text in enumerate(TEXTS * 6)]


def small(**changes) -> Pretrainer:
    """One that takes a moment."""
    training = replace(PRETRAINING, epochs=3, batch_size=16, learning_rate=5e-3)
    given = {
        "training": training,
        "pieces": PiecesConfig(size=120),
        "masking": MaskingConfig(longest=24),
        "validation": 0.2,
        "device": "cpu",
        "progress": False,
        **changes,
    }
    network = given.pop("network", BertConfig(16, 1, 2, 24, longest=32))
    return Pretrainer(network, **given)


def weights(pretrainer: Pretrainer) -> dict[str, torch.Tensor]:
    """All weights by their names."""
    return pretrainer.model_.state_dict()


def test_it_learns_and_the_same_seed_gives_the_same_bits():
    """The loss falls, hidden pieces are guessed better, and a second run is the first again."""
    one, two = small().fit(MANY), small().fit(MANY)
    losses = [epoch.train_loss for epoch in one.history_.epochs]
    assert losses[-1] < losses[0]
    assert one.facts_["validation_accuracy"] > 0
    assert all(torch.equal(part, weights(two)[name]) for name, part in weights(one).items())
    other = small(training=replace(one.training, seed=1)).fit(MANY)
    assert not torch.equal(
        weights(one)["bert.embedding.weight"], weights(other)["bert.embedding.weight"]
    )


def test_an_ended_run_goes_on_to_the_same_weights(tmp_path):
    """A checkpoint after the second of three epochs loses nothing."""

    class Stop(Exception):
        pass

    class Watcher:
        def on_stage(self, stage):
            pass

        def on_step(self, step):
            pass

        def on_epoch(self, epoch):
            if epoch.epoch == 2:
                raise Stop

    whole = small().fit_texts(MANY)
    with pytest.raises(Stop):
        small().fit_texts(MANY, options=FitOptions(work=tmp_path, observers=(Watcher(),)))
    resumed = small().fit_texts(MANY, options=FitOptions(work=tmp_path, resume=True))
    for name, part in weights(whole).items():
        assert torch.equal(part, weights(resumed)[name]), name


@pytest.mark.parametrize(
    "masking",
    [MaskingConfig(longest=24, whole_words=True), MaskingConfig(longest=16, next_sentence=False)],
)
def test_other_ways_of_hiding_work_too(masking):
    """Whole words, or no second text."""
    assert small(masking=masking).fit(MANY).history_.best is not None


def test_a_saved_bert_can_be_gone_on_with(tmp_path):
    """Its folder says how it was taught, and others begin where it ended."""
    first = small().fit(MANY)
    first.save(tmp_path / "bert")
    about = json.loads((tmp_path / "bert" / "config.json").read_text())
    assert about["regard"]["masking"]["longest"] == 24
    loaded = load_bert(tmp_path / "bert")
    assert torch.equal(loaded.bert.embedding.weight, first.model_.bert.embedding.weight)
    training = replace(first.training, epochs=1, learning_rate=1e-9)
    again = small(bert=tmp_path / "bert", network=BertConfig(), training=training).fit(MANY)
    torch.testing.assert_close(again.model_.bert.embedding.weight, loaded.bert.embedding.weight)
    assert again.settings_.network == first.network


def test_nothing_to_learn_from_is_one_line():
    """No texts, or none with a word."""
    with pytest.raises(DataError, match="no texts"):
        small().fit([])
    with pytest.raises(DataError, match="none of the texts has a word"):
        small(bert=None).fit(["", " "])
    with pytest.raises(ConfigError, match="monitor"):
        small(training=replace(PRETRAINING, monitor="bleu")).fit(MANY)
    with pytest.raises(ConfigError, match="more than the network reads, 32"):
        small(masking=MaskingConfig(longest=33)).fit(MANY)
