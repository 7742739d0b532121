"""Settings of a translator by the number of its pairs."""

from dataclasses import replace

import pytest

from regard import Translator
from regard.data.pairs import pair_texts
from regard.estimators.fitting import FitOptions
from regard.estimators.named import translator_from
from regard.estimators.training_pairs import FEW_PAIRS, suit_pairs
from support.parrots import parrots

USUAL = Translator()._asked()


@pytest.mark.parametrize(
    ("pairs", "limit"), [(10, 2000), (2000, 2000), (2001, 6000), (20000, 20000)]
)
def test_few_pairs_have_settings_of_their_own(pairs, limit):
    """Issue 10.7: with the usual ones 3,000 pairs taught nothing."""
    settings, chosen = suit_pairs(USUAL, USUAL, pairs=pairs)
    assert chosen == FEW_PAIRS[limit]
    used = settings.to_dict()
    for path, value in FEW_PAIRS[limit].items():
        part, name = path.split(".")
        assert used[part][name] == value


def test_many_pairs_have_the_usual_ones():
    assert suit_pairs(USUAL, USUAL, pairs=29_000) == (USUAL, {})
    assert suit_pairs(USUAL, USUAL, pairs=10, fixed="all") == (USUAL, {})


def test_what_was_asked_for_stays():
    asked = replace(USUAL, training=replace(USUAL.training, batch_size=128))
    settings, chosen = suit_pairs(asked, USUAL, pairs=3000, fixed={"training.epochs"})
    assert (settings.training.batch_size, settings.training.epochs) == (128, 30)
    assert "training.batch_size" not in chosen and "units.size" in chosen
    own = replace(USUAL, network=replace(USUAL.network, cell="lstm"))
    assert suit_pairs(own, USUAL, pairs=3000)[0].network == own.network, "its sizes stay together"


def test_the_number_of_words_is_not_that_of_parts_of_words():
    asked = replace(USUAL, units=replace(USUAL.units, kind="words"))
    settings, _ = suit_pairs(asked, USUAL, pairs=3000)
    assert settings.units.size == USUAL.units.size


def test_from_the_shell_even_a_usual_value_stays_if_it_was_given():
    made = translator_from(["training.batch_size=64"], device="cpu")
    settings, chosen = suit_pairs(made._asked(), USUAL, pairs=3000, fixed=made.fixed)
    assert settings.training.batch_size == 64 and chosen["network.hidden_size"] == 128
    small = translator_from([], device="cpu", model="small")
    settings, chosen = suit_pairs(small._asked(), USUAL, pairs=3000, fixed=small.fixed)
    assert settings.network == small.network and chosen["training.batch_size"] == 16


def test_a_fit_uses_them_tells_them_and_leaves_the_parameters(tmp_path):
    translator = Translator(progress=False, device="cpu").set_params(training__epochs=1)
    told = []
    options = FitOptions(on_check=told.append)
    translator.fit_pairs(pair_texts(*parrots(60)), options=options)
    assert translator.network.hidden_size == 512 and translator.training.batch_size == 64
    assert translator.settings_.network.hidden_size == 128
    assert translator.model_.config.hidden_size == 128
    assert "training.batch_size 16" in told[0].describe()[1]
    translator.save(tmp_path / "model")
    again = Translator.load(tmp_path / "model", device="cpu")
    assert again.predict(["a b"]) == translator.predict(["a b"])
