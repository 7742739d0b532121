"""What opponents would bring: rankings without a model, and how a method is held against them."""

import numpy as np
import pytest
import torch

from regard.audit.opponents import OPPONENTS, Opponents, Seen, _shuffle_all_but_vectors, best_rivals
from regard.audit.run import AuditOptions, audit
from regard.audit.tally import Measured, Tally
from regard.records.audit import Audit
from regard.text.document import Document
from regard.views.audit.terminal import summary
from support.reviews import reviews

TEXTS, LABELS = reviews(12, seed=6)


def seen():
    """Two sentences of three words and one: the last but one word is the rarest."""
    ids = np.array([2, 5, 9, 3])
    return Seen(ids, np.array([0, 0, 0, 1]), rarity=np.log([1.0, 2.0, 3.0, 1.0]))


@pytest.mark.parametrize(
    ("name", "first"), [("first words", 0), ("last words", 3), ("short sentences", 3)]
)
def test_position_and_length_need_no_model(name, first):
    scores = OPPONENTS[name](seen())
    assert scores.argmax() == first and (scores > 0).all()


@pytest.mark.parametrize("name", ["rare words", "TF-IDF"])
def test_rare_words_come_first(name):
    assert OPPONENTS[name](seen()).argmax() == 2


def test_every_opponent_ranks_every_word_and_sentence(fitted):
    made = Opponents(fitted.fitted_, TEXTS)
    for _, answers in fitted.fitted_.answers(["", *TEXTS]):
        for name, found in made.explain(answers).items():
            for text, explanation in zip(answers.batch.texts, found, strict=True):
                assert len(explanation.decisions[0].level("word")) == len(text), name
                assert len(explanation.decisions[0].level("sentence")) == len(text.per_sentence)


def test_a_linear_model_brings_its_own_weights(fitted):
    known = fitted.fit_baseline([Document(*pair) for pair in zip(*reviews(80), strict=True)])
    weights = known.baseline_.word_weights(["A", "great", "dull", "evening"], 1)
    other = known.baseline_.word_weights(["A", "great", "dull", "evening"], 0)
    assert list(known.classes_) == ["bad", "good"]
    assert weights[1] > 0 > weights[2] and other[1] < 0 < other[2]
    made = Opponents(known.fitted_, TEXTS, linear=known.baseline_)
    ((_, answers),) = known.fitted_.answers(TEXTS[:1])
    assert "linear n-grams" in made.explain(answers)


def test_shuffled_weights_keep_the_vectors(fitted):
    other = _shuffle_all_but_vectors(fitted.model_, 0)
    assert torch.equal(other.embedding.weight, fitted.model_.embedding.weight)
    assert not torch.equal(other.network.classify.weight, fitted.model_.network.classify.weight)


def test_the_best_opponent_is_the_one_to_beat():
    own, near, far = Tally(), Tally(), Tally()
    for place in range(30):
        own.add({"auprc_word": Measured(0.5 + 0.01 * (place % 3), 0)})
        near.add({"auprc_word": Measured(0.45, 0)})
        far.add({"auprc_word": Measured(0.1, 0)})
    (rival,) = best_rivals(own, {"far": far, "near": near})
    assert rival.name == "near" and rival.beaten
    assert rival.lead == pytest.approx(0.06) and rival.interval.low > 0.05
    (lost,) = best_rivals(far, {"near": near})
    assert not lost.beaten and lost.lead == pytest.approx(-0.35)


def test_of_too_few_documents_a_lead_is_none():
    own, other = Tally(), Tally()
    own.add({"auprc_word": Measured(0.9, 0)})
    other.add({"auprc_word": Measured(0.1, 0)})
    (rival,) = best_rivals(own, {"other": other})
    assert rival.interval is None and not rival.beaten


def test_an_audit_shows_the_best_opponent_beside_the_default_method(fitted):
    documents = [Document(*pair) for pair in zip(TEXTS, LABELS, strict=True)]
    found = audit(fitted, documents, AuditOptions(needle=False))
    measures = {one.measure for one in found.rivals}
    assert {"comprehensiveness", "sufficiency", "comprehensiveness_sentence"} <= measures
    assert "beside the best that needs no taught model" in "\n".join(summary(found))
    assert "Best opponent" in found.to_html()
    assert Audit.from_json(found.to_json()).rivals == found.rivals
