"""Classifiers of several seeds: one model in one folder, whoever asks."""

import json

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score, log_loss

from regard import DocumentClassifier
from regard.audit.run import AuditOptions, audit
from regard.data.readers import read_texts
from regard.errors import ConfigError, ModelError
from regard.estimators.fitting import FitOptions
from regard.estimators.folder import seal
from regard.estimators.training_documents import score_answers
from regard.models.ensemble import Ensemble
from regard.tasks.predictions import soften
from regard.training.observers import Observer
from support.reviews import reviews, tagged, tiny

TEXTS, LABELS = reviews(80)


@pytest.fixture(scope="module")
def three():
    return tiny(seeds=3, training__epochs=2).fit(TEXTS, LABELS)


def test_members_differ_and_their_probabilities_are_averaged(three):
    network = three.model_.network
    assert isinstance(network, Ensemble) and len(network.members) == 3
    likely = [
        three.reader_.answer(member, TEXTS[:8]).logits.softmax(1) for member in network.members
    ]
    assert not np.allclose(likely[0], likely[1])
    together = three.reader_.answer(network, TEXTS[:8]).logits.softmax(1)
    np.testing.assert_allclose(together, sum(likely) / 3, atol=1e-6)


def test_the_first_member_is_what_one_seed_trains(three):
    alone = tiny(training__epochs=2).fit(TEXTS, LABELS)
    first = three.model_.network.members[0]
    np.testing.assert_array_equal(
        three.reader_.answer(first, TEXTS).logits,
        alone.reader_.answer(alone.model_.network, TEXTS).logits,
    )


def test_it_is_saved_as_one_model(three, tmp_path):
    three.save(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model")
    assert again.seeds == 3 and again.facts_["seeds"] == 3
    np.testing.assert_array_equal(again.predict_proba(TEXTS), three.predict_proba(TEXTS))
    assert again.explain(TEXTS[0]) == three.explain(TEXTS[0])
    assert not list((tmp_path / "model").glob("*.pkl"))


def test_the_same_seed_gives_the_same_bits(three, tmp_path):
    again = tiny(seeds=3, training__epochs=2).fit(TEXTS, LABELS)
    for place, one in enumerate((three, again)):
        one.save(tmp_path / str(place))
    weights = [(tmp_path / name / "weights.safetensors").read_bytes() for name in "01"]
    assert weights[0] == weights[1]


def test_explanations_have_receipts_and_audits_and_looks_work(three):
    texts, labels = reviews(6, seed=5)
    for method in ("attention", "gradient_input", "erasure"):
        explanation = three.explain(texts[0], method=method)
        assert explanation.receipt is not None and len(explanation.decisions[0].words)
    documents = list(read_texts(texts, labels))
    assert (
        audit(three, documents, AuditOptions(needle=False, methods=("attention",))).documents == 6
    )
    assert three.look(documents).documents == 6
    assert three.evaluate(documents).document_count == 6


def test_a_kill_between_two_members_is_gone_on_from_to_the_same_bits(three, tmp_path):
    class Killed(BaseException):
        pass

    epochs = []

    class Killer(Observer):
        def on_epoch(self, epoch):
            epochs.append(epoch)
            if len(epochs) == 3:  # the second member has one more to go
                raise Killed

    documents = list(read_texts(TEXTS, LABELS))
    asked = {"work": tmp_path, "choose_method": False}
    with pytest.raises(Killed):
        tiny(seeds=3, training__epochs=2).fit_documents(
            documents, options=FitOptions(**asked, observers=(Killer(),))
        )
    epochs.clear()
    epochs += [None] * 10  # never again
    resumed = tiny(seeds=3, training__epochs=2).fit_documents(
        documents, options=FitOptions(**asked, resume=True, observers=(Killer(),))
    )
    assert len(epochs) - 10 == 3, "what was done is not done again"
    np.testing.assert_array_equal(resumed.predict_proba(TEXTS), three.predict_proba(TEXTS))


def test_ctrl_c_keeps_the_members_that_were_trained(tmp_path):
    class Pressed(Observer):
        def __init__(self, interrupts):
            self.interrupts, self.count = interrupts, 0

        def on_epoch(self, epoch):
            self.count += 1
            if self.count == 3:
                self.interrupts.pending = True

    from regard.training.interrupts import Interrupts

    interrupts = Interrupts()
    options = FitOptions(
        interrupts=interrupts, observers=(Pressed(interrupts),), choose_method=False
    )
    found = tiny(seeds=4, training__epochs=2).fit_documents(
        read_texts(TEXTS, LABELS), options=options
    )
    assert found.settings_.seeds == len(found.model_.network.members) == 2
    found.save(tmp_path / "model")
    assert DocumentClassifier.load(tmp_path / "model").seeds == 2


def test_several_labels_a_document_are_averaged_too(tmp_path):
    texts, labels = tagged(60)
    found = tiny(seeds=2, training__epochs=2).fit(texts, labels)
    found.save(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(texts), found.predict_proba(texts))


@pytest.mark.parametrize("seeds", [0, 101, 2.5, "many"])
def test_a_folder_with_an_odd_number_of_seeds_is_one_line(three, tmp_path, seeds):
    three.save(tmp_path / "model")
    path = tmp_path / "model" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"seeds": seeds}))
    seal(tmp_path / "model")
    with pytest.raises(ModelError, match="seeds must be"):
        DocumentClassifier.load(tmp_path / "model")


def test_a_number_of_seeds_that_makes_no_sense_is_refused():
    with pytest.raises(ConfigError, match="seeds must be from 1 to 100, got 0"):
        tiny(seeds=0).fit(TEXTS, LABELS)


def test_facts_are_those_of_the_model_that_people_get(three):
    """The score after a training is of network and n-grams together."""
    best = three.history_.best
    assert three.facts_["validation_accuracy"] >= best.validation_accuracy
    assert three.facts_["validation_loss"] != best.validation_loss
    alone = tiny(wide=None, training__epochs=2).fit(TEXTS, LABELS)
    assert alone.facts_["validation_loss"] == alone.history_.best.validation_loss


@pytest.mark.parametrize("several", [False, True])
def test_answers_are_scored_as_scikit_learn_does(several):
    draw = np.random.default_rng(0)
    logits = draw.normal(size=(50, 3))
    labels = draw.integers(2, size=(50, 3)) if several else draw.integers(3, size=50)
    guess = (logits > 0).astype(int) if several else logits.argmax(1)
    found = score_answers(logits, labels, temperature=2.0)
    assert found["accuracy"] == pytest.approx(accuracy_score(labels, guess))
    assert found["macro_f1"] == pytest.approx(f1_score(labels, guess, average="macro"))
    if not several:
        likely = soften(logits, multilabel=False, temperature=2.0)
        assert found["loss"] == pytest.approx(log_loss(labels, likely))
