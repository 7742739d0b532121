"""The translator: it learns, writes, explains, stops, and does so again from the same seed."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from regard import Translator
from regard.data.pairs import Pair
from regard.errors import ConfigError, DataError, ModelError, NotFittedError
from regard.estimators.fitting import FitOptions
from regard.models.seq2seq import Seq2SeqConfig
from regard.models.transformer import TransformerConfig
from regard.records.alignment import Alignment
from regard.tasks.translations import character_error_rate
from regard.text.units import UnitsConfig
from regard.training.observers import Observer
from support.parrots import new_translator, parrots

LINES, CAPITALS = parrots(900)
KO_EN = Path(__file__).resolve().parents[2] / ".." / "shared" / "data" / "ko_en" / "tatoeba.parquet"


@pytest.fixture(scope="module")
def fitted():
    return new_translator().fit(LINES, CAPITALS)


def flat(translator):
    return torch.cat([weight.flatten() for weight in translator.model_.state_dict().values()])


def test_it_learns_to_copy(fitted):
    """002-01: the copy task is solved, on lines that were never seen."""
    new, wanted = parrots(100, seed=1)
    exact = fitted.evaluate([Pair(*both) for both in zip(new, wanted, strict=True)]).exact
    assert exact >= 0.99
    assert fitted.score(new, wanted) > 99


def test_a_step_looks_at_what_it_writes(fitted):
    """002-06, 002-15, 004-05, 004-06: rows sum to one, near the diagonal, and few pieces count."""
    found = fitted.explain(["a b c d", "h g f"])
    for alignment in found:
        weights = alignment.weights
        assert weights.sum(1) == pytest.approx(np.ones(len(weights)), abs=1e-5)
        assert weights.argmax(1).tolist() == list(range(len(weights)))
        assert alignment.effective_counts.mean() < 2
        assert alignment.target == alignment.source.upper()
        assert [piece.upper() for piece in alignment.source_pieces] == list(alignment.target_pieces)
    assert isinstance(fitted.explain("a b"), Alignment)


def test_how_it_went_is_told(fitted):
    history = fitted.history_
    assert history.monitor == "bleu"
    best = max(epoch.validation_bleu for epoch in history.epochs)
    assert history.best.validation_bleu == best == fitted.facts_["validation_bleu"]
    assert all(epoch.validation_accuracy is None for epoch in history.epochs)
    assert fitted.facts_["training_pairs"] + fitted.facts_["validation_pairs"] == 900


def test_a_source_is_never_on_both_sides():
    texts = [f"a {letter}" for letter in "bcd"] * 20
    made = new_translator(training__epochs=1, validation=0.3).fit(texts, texts)
    assert made.facts_["validation_pairs"] == 20


def test_candidates_come_best_first(fitted):
    """002-07: as many as were asked for, from a beam that is as wide."""
    (found,) = fitted.candidates(["a b c"], 7)
    assert len(found) == 7 and found[0].text == "A B C"
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert len({one.text for one in found}) == 7


@pytest.mark.parametrize("method", ["greedy", "beam", "sample"])
def test_company_and_order_change_nothing(fitted, method):
    """002-03: alone, together and in another order the same is written, whatever the method."""
    again = dataclasses.replace(fitted.generation, method=method, temperature=0.01)
    texts = ["a b c d", "e", "", "f g"]
    before, fitted.generation = fitted.generation, again
    try:
        together = fitted.predict(texts)
        assert [fitted.predict([text])[0] for text in texts] == together
        assert fitted.predict(texts[::-1]) == together[::-1]
    finally:
        fitted.generation = before


def test_a_text_given_often_is_sampled_anew_each_time(fitted):
    """Texts are written about in chunks, and each chunk had the draws of the first."""
    asked = dataclasses.replace(fitted.generation, method="sample", temperature=3.0)
    found = fitted.predict(["a b c d"] * 1060, generation=asked)
    assert found[1024:] != found[: 1060 - 1024]
    assert found == fitted.predict(["a b c d"] * 1060, generation=asked)


def test_nothing_is_written_about_nothing(fitted):
    assert fitted.predict(["", "  "]) == ["", ""]
    assert fitted.predict([]) == []
    assert fitted.explain("").weights.shape == (0, 0)


def test_unknown_words_are_read_as_unknown(fitted):
    (line,) = fitted.predict(["a zebra b"])
    assert "zebra" not in line.lower()


def test_same_seed_same_bits():
    few = (LINES[:60], CAPITALS[:60])
    made = [new_translator(training__epochs=2, training__seed=seed).fit(*few) for seed in (3, 3, 4)]
    assert torch.equal(flat(made[0]), flat(made[1]))
    assert not torch.equal(flat(made[0]), flat(made[2]))
    dropped = [dataclasses.replace(e, seconds=0) for e in made[0].history_.epochs]
    assert dropped == [dataclasses.replace(e, seconds=0) for e in made[1].history_.epochs]


class Stopper(Observer):
    """Breaks a run off at a step."""

    def __init__(self, last):
        self.last = last

    def on_step(self, step):
        if step.step == self.last:
            raise RuntimeError

    def on_epoch(self, epoch):
        pass


def test_a_run_that_broke_off_goes_on_to_the_same_bits(tmp_path):
    """The schedule of forcing goes on too: it is drawn from the number of the step."""
    pairs = [Pair(*both) for both in zip(LINES[:60], CAPITALS[:60], strict=True)]
    changes = {"training__epochs": 4, "forcing__schedule": "linear", "forcing__end": 0.2}
    whole = new_translator(**changes).fit_pairs(pairs)
    with pytest.raises(RuntimeError):
        broken = FitOptions(work=tmp_path, observers=(Stopper(6),))
        new_translator(**changes).fit_pairs(pairs, options=broken)
    going_on = FitOptions(work=tmp_path, resume=True)
    resumed = new_translator(**changes).fit_pairs(pairs, options=going_on)
    assert torch.equal(flat(resumed), flat(whole))
    with pytest.raises(ConfigError, match=r"begun with forcing\.end = 0\.2, now it is 0\.5"):
        other = new_translator(**{**changes, "forcing__end": 0.5})
        other.fit_pairs(pairs, options=going_on)


@pytest.mark.parametrize("decoder", ["sutskever", "cho"])
def test_without_attention_it_writes_but_cannot_say_where_it_looked(decoder):
    """004-03: the context once, or at every step."""
    made = new_translator(network__decoder=decoder, training__epochs=1)
    made.fit(LINES[:60], CAPITALS[:60])
    assert len(made.predict(["a b"])) == 1
    assert made.evaluate([Pair("a", "A")]).effective_count is None
    with pytest.raises(ModelError, match=f"'{decoder}' has no attention"):
        made.explain("a b")


def test_letters_are_scored_by_their_error_rate(fitted):
    """003-14: exact match and character error rate of what is written letter by letter."""
    made = new_translator(units__kind="characters", training__epochs=1)
    made.fit(LINES[:60], CAPITALS[:60])
    scores = made.evaluate([Pair(*both) for both in zip(LINES[:9], CAPITALS[:9], strict=True)])
    expected = character_error_rate(made.predict(LINES[:9]), CAPITALS[:9])
    assert scores.character_error_rate == expected > 0
    assert fitted.evaluate([Pair("a", "A")]).character_error_rate is None


def test_the_loss_can_choose_the_epoch():
    made = new_translator(training__epochs=2, training__monitor="loss")
    made.fit(LINES[:60], CAPITALS[:60], validation=(LINES[60:80], CAPITALS[60:80]))
    assert made.history_.best.validation_bleu is None
    assert made.facts_["validation_pairs"] == 20


def test_the_notes_preset_trains_a_step_on_a_cpu():
    """002-16: embedding 256, hidden 512, 2 layers, two directions, dropout 0.1."""
    from regard.models.seq2seq import PRESETS

    made = new_translator(training__epochs=1, training__monitor="loss")
    made.set_params(network=PRESETS["notes"]).fit(LINES[:8], CAPITALS[:8])
    assert made.facts_["parameters"] > 10_000_000


def test_long_and_empty_pairs_are_left_out():
    sources, targets = LINES[:30], CAPITALS[:30]
    made = new_translator(training__epochs=1, units__longest=10, validation=0.0)
    made.fit([*sources, "", "a", "a " * 50], [*targets, "A", "", "A"])
    assert (made.facts_["training_pairs"], made.facts_["pairs_left_out"]) == (30, 3)
    with pytest.raises(DataError, match="none of the 1 pairs can be trained on"):
        new_translator().fit([""], ["a"])


@pytest.mark.parametrize(
    ("sources", "targets", "message"),
    [
        (["a"], ["b", "c"], "1 sources cannot be paired with 2 targets"),
        ("a", ["b"], "sources must be a list of strings"),
        (["a"], [3], "number 1 of the targets is int 3, not a string"),
        ([], [], "there are no pairs to train on"),
    ],
)
def test_what_cannot_be_paired_is_an_error(sources, targets, message):
    with pytest.raises(DataError, match=message):
        new_translator().fit(sources, targets)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training__monitor": "accuracy"}, "monitor cannot be 'accuracy'"),
        ({"network__tied": "all"}, "units.shared=true"),
        ({"validation": 1.0}, "validation must be from 0 to below 1"),
    ],
)
def test_settings_that_do_not_fit_are_an_error(changes, message):
    with pytest.raises(ConfigError, match=message):
        new_translator(**changes).fit(LINES[:30], CAPITALS[:30])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network": "seq2seq"}, r"network must be settings, as Seq2SeqConfig\(\) makes them"),
        ({"training": {"epochs": 1}}, r"training must be .* got {'epochs': 1}"),
        ({"units": None}, r"units must be .* UnitsConfig\(\) makes them; got None"),
        ({"generation": "beam"}, r"generation must be .* got 'beam'"),
    ],
)
def test_a_parameter_of_another_kind_is_named(given, message):
    with pytest.raises(ConfigError, match=message):
        Translator(**given, device="cpu", progress=False).fit(LINES[:30], CAPITALS[:30])


@pytest.mark.parametrize("given", [0.2, (LINES[:5],)])
def test_what_is_held_out_is_a_pair(given):
    with pytest.raises(ConfigError, match="validation must be sources and targets, got"):
        new_translator().fit(LINES[:30], CAPITALS[:30], validation=given)


def test_one_vocabulary_may_be_shared():
    made = new_translator(training__epochs=1, network__tied="all", units__shared=True)
    made.fit(LINES[:30], CAPITALS[:30])
    assert made.source_units_ is made.target_units_
    assert len(made.predict(["a"])) == 1


def test_several_candidates_need_a_beam(fitted):
    greedy = new_translator(generation__method="greedy", training__epochs=1)
    greedy.fit(LINES[:30], CAPITALS[:30])
    with pytest.raises(ConfigError, match="several candidates need a beam"):
        greedy.candidates(["a"], 2)


def test_before_a_fit_nothing_is_written():
    with pytest.raises(NotFittedError, match="this Translator is not fitted yet"):
        Translator().predict(["a"])


def test_a_file_names_its_columns(tmp_path):
    rows = "".join(f"{a}\t{b}\n" for a, b in zip(LINES[:30], CAPITALS[:30], strict=True))
    (tmp_path / "pairs.tsv").write_text("small\tlarge\n" + rows)
    made = new_translator(training__epochs=1)
    made.fit_file(tmp_path / "pairs.tsv", source="small", target="large")
    assert made.facts_["source_column"] == "small" and made.facts_["data"] == "pairs.tsv"
    with pytest.raises(DataError, match="has no column 'huge'; it has small, large"):
        made.fit_file(tmp_path / "pairs.tsv", source="small", target="huge")


def test_korean_pieces_lie_on_their_characters():
    """Every span of a Korean source, and of what is written about it, is the text itself."""
    pytest.importorskip("tokenizers", reason="the extra translate is not installed")
    if not KO_EN.exists():
        pytest.skip("the Korean pairs are not here")
    import pyarrow.parquet

    rows = pyarrow.parquet.read_table(KO_EN, columns=["ko", "en"]).to_pylist()[:200]
    korean, english = [row["ko"] for row in rows], [row["en"] for row in rows]
    made = new_translator(training__epochs=1, training__monitor="loss")
    made.set_params(units=UnitsConfig(size=400)).fit(english, korean)
    for alignment in made.explain(english[:5]):
        assert "".join(alignment.target_pieces) == "".join(alignment.target.split())
    back = new_translator(training__epochs=1, training__monitor="loss")
    back.set_params(units=UnitsConfig(size=400)).fit(korean, english)
    for text, alignment in zip(korean[:5], back.explain(korean[:5]), strict=True):
        assert alignment.source == text
        assert "".join(alignment.source_pieces) == "".join(text.split())


def test_settings_have_scikit_learns_names():
    made = Translator(Seq2SeqConfig(hidden_size=7))
    assert made.get_params()["network__hidden_size"] == 7
    assert made.set_params(forcing__start=0.5).forcing.start == 0.5


def test_what_is_no_translation_yet_is_warned_of():
    """Issue 10.7: one step teaches it to write the same about everything."""
    made = new_translator(training__epochs=1, training__batch_size=500, training__monitor="loss")
    with pytest.warns(UserWarning, match="is no translation yet: .* is written about"):
        made.fit(LINES[:400], CAPITALS[:400])
    assert "is written about" in made.facts_["doubt"]


def test_what_is_one_is_not_doubted(fitted):
    assert "doubt" not in fitted.facts_


@pytest.fixture(scope="module")
def transformer():
    network = TransformerConfig(hidden_size=32, heads=2, feed_size=64, layers=1, dropout=0.0)
    made = Translator(network, units=UnitsConfig("words", min_count=1), device="cpu")
    made.set_params(training__learning_rate=0.005, training__batch_size=32)
    return made.set_params(training__epochs=12).fit(LINES, CAPITALS)


class TestTransformer:
    """The same estimator with another network: what it can do does not depend on which."""

    def test_it_learns_to_copy(self, transformer):
        new, wanted = parrots(60, seed=1)
        scores = transformer.evaluate([Pair(*both) for both in zip(new, wanted, strict=True)])
        assert scores.exact >= 0.9
        assert 1 <= scores.effective_count < 3

    def test_it_says_where_it_looked(self, transformer):
        found = transformer.explain("a b c d", receipt=True)
        assert found.target == "A B C D"
        assert found.weights.sum(1) == pytest.approx(np.ones(4), abs=1e-5)
        assert found.weights.argmax(1).tolist() == [0, 1, 2, 3]
        assert len(found.receipt.written) == 4
        assert "<svg" in found.to_html() or "<table" in found.to_html()

    def test_a_given_text_is_looked_at_as_if_it_had_been_written(self, transformer):
        written = transformer.explain("a b c d")
        (given,) = transformer.align(["a b c d"], [written.target])
        np.testing.assert_allclose(given.weights, written.weights, atol=1e-5)
        assert given.score == pytest.approx(written.score, abs=1e-4)

    def test_company_and_order_change_nothing(self, transformer):
        texts = ["a b", "h", "a b c d e", "", "c d"]
        together = transformer.predict(texts)
        assert together == [transformer.predict([text])[0] for text in texts]

    def test_it_is_saved_and_loaded(self, transformer, tmp_path):
        transformer.save(tmp_path / "model")
        again = Translator.load(tmp_path / "model", device="cpu")
        assert again.settings_ == transformer.settings_
        assert torch.equal(flat(again), flat(transformer))
        assert again.predict(["a b c"]) == transformer.predict(["a b c"])

    def test_a_folder_that_names_another_network_is_an_error(self, transformer, tmp_path):
        transformer.save(tmp_path / "model")
        config = tmp_path / "model" / "config.json"
        config.write_text(config.read_text().replace('"model": "transformer"', '"model": "trans"'))
        with pytest.raises(ModelError):
            Translator.load(tmp_path / "model")
