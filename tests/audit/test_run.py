"""Whole audits of small classifiers."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score

from regard.audit.plausibility import mark_tokens, score_tokens, token_spans
from regard.audit.run import AuditOptions, Companions, audit, sample
from regard.errors import ConfigError, DataError
from regard.records.audit import Audit
from regard.text.document import Document
from support.reviews import CUES, reviews, tagged, tiny

CUE_WORDS = {word for words in CUES.values() for word in words}


def documents(count, seed=3):
    """Reviews with the cue marked as evidence."""
    found = []
    for text, label in zip(*reviews(count, seed=seed), strict=True):
        places = [
            (start, end)
            for start, end in token_spans(text).tolist()
            if text[start:end].lower().strip(".!?") in CUE_WORDS
        ]
        found.append(Document(text, label, {"evidence": places}))
    return found


@pytest.fixture(scope="module")
def whole(fitted):
    """One audit with everything in it."""
    other = tiny(training__seed=1).fit(*reviews(80))
    even = tiny(network__pooling="mean").fit(*reviews(80))
    options = AuditOptions(("attention", "erasure"), evidence="evidence", full=True)
    return audit(fitted, documents(16), options, Companions([other], even, documents(30, seed=5)))


def test_every_number_has_a_baseline_an_interval_and_documents(whole):
    metrics = [metric for one in whole.rankings for metric in one.metrics]
    assert len(metrics) > 20 and whole.documents == 16
    for metric in (*metrics, *whole.about_model):
        assert metric.interval.low - 1e-9 <= metric.value <= metric.interval.high + 1e-9
        assert metric.documents > 0 and metric.protocol and metric.baseline_name
        assert np.isfinite(metric.baseline)
    assert Audit.from_json(whole.to_json()) == whole


def test_all_of_the_contract_s_measures_are_there(whole):
    names = {metric.name for one in whole.rankings for metric in one.metrics}
    assert names == {
        *("auprc", "auprc_word", "auprc_sentence", "token_f1", "iou_f1"),
        *("comprehensiveness", "sufficiency"),
        *("comprehensiveness_sentence", "sufficiency_sentence"),
        *("normalised_comprehensiveness", "normalised_sufficiency"),
        *("comprehensiveness_ferret", "sufficiency_ferret"),
        *("tau_loo", "tau_gradient", "flip_fraction", "tau_shuffled_weights"),
    }
    assert {metric.name for metric in whole.about_model} == {
        *("adversarial_jsd", "permutation_change"),
        *("uniform_gap_forced", "uniform_gap_trained"),
        *("stability_jsd", "stability_overlap"),
        *("probe_attention", "probe_adversarial"),
        *("needle_recall", "needle_recall_2", "needle_recall_4"),
    }
    assert whole.flips.unit == "sentence" and whole.flips.documents <= 16


def test_auprc_is_the_mean_average_precision_over_documents(whole, fitted):
    """Against scikit-learn over the public explanation of each text."""
    expected = []
    for document in documents(16):
        found = fitted.explain(document.text, method="erasure")
        tokens = token_spans(document.text)
        truth = mark_tokens(tokens, document.fields["evidence"])
        drawn = found.decisions[0].phrases
        scores = score_tokens(tokens, drawn.pieces, np.array(drawn.amounts))
        expected.append(average_precision_score(truth, scores))
    metric = whole.ranking("erasure").metric("auprc")
    assert metric.value == pytest.approx(np.mean(expected), abs=1e-6)


def test_comprehensiveness_is_the_mean_of_the_receipts(whole, fitted):
    receipts = [
        fitted.explain(document.text, method="attention").receipt for document in documents(16)
    ]
    for name in ("comprehensiveness", "sufficiency"):
        expected = np.mean([receipt.measure(name, "word").value for receipt in receipts])
        metric = whole.ranking("attention").metric(name)
        assert metric.value == pytest.approx(expected, abs=1e-6)
        random = np.mean([receipt.measure(name, "word").random for receipt in receipts])
        assert metric.baseline == pytest.approx(random, abs=1e-6)


def test_a_good_explanation_beats_chance_and_hangs_on_the_weights(whole):
    erasure = whole.ranking("erasure")
    assert erasure.metric("comprehensiveness").beats_baseline
    assert erasure.metric("tau_shuffled_weights").value < 0.5


def test_a_model_that_needs_no_attention_is_warned_of(whole):
    """Mean pooling learns these reviews as well."""
    assert any("even attention is within noise" in warning for warning in whole.warnings)


def test_several_labels_and_flat_models_are_audited(fitted_tags):
    texts, labels = tagged(6, seed=4)
    some = [Document(text, tuple(tags)) for text, tags in zip(texts, labels, strict=True)]
    options = AuditOptions(methods=("attention",), needle=False)
    assert audit(fitted_tags, some, options).ranking("attention").metric("tau_loo")
    from regard import FlatConfig

    flat = tiny(network=FlatConfig(embedding_size=8, hidden_size=4)).fit(*reviews(40))
    found = audit(flat, documents(4), options)
    assert found.flips.unit == "word" and found.needle is None


def test_documents_without_words_do_no_harm(fitted):
    some = [Document("", "good"), Document("<br>", None), Document("great", "good")]
    found = audit(fitted, some, AuditOptions(needle=False))
    assert found.documents == 3
    assert found.ranking("attention").metric("comprehensiveness").documents == 1


def test_a_sample_is_drawn_by_the_seed_and_keeps_the_order():
    stream = [Document(str(place)) for place in range(100)]
    one = [int(document.text) for document in sample(iter(stream), 10, seed=1)]
    assert one == sorted(one) and len(set(one)) == 10 and max(one) > 20
    assert one == [int(document.text) for document in sample(stream, 10, seed=1)]
    assert [document.text for document in sample(stream[:3], 10)] == ["0", "1", "2"]


def test_errors_say_what_to_do(fitted):
    with pytest.raises(DataError, match="no documents to audit"):
        audit(fitted, [])
    with pytest.raises(ConfigError, match="method cannot be 'atention'; did you mean 'attention'"):
        AuditOptions(methods=("atention",))
    with pytest.raises(ConfigError, match="ranks nothing"):
        AuditOptions(methods=("counterfactual",))
    with pytest.raises(ConfigError, match="limit must be at least 1"):
        sample([], 0)
    foreign = tiny(training__epochs=1).fit(*reviews(40, classes=("x", "y")))
    with pytest.raises(DataError, match="must know the same labels"):
        audit(fitted, documents(2), companions=Companions([foreign]))


def test_the_slow_measures_are_taken_where_they_are_asked_for(fitted, whole):
    """Issue 12.7: an audit takes minutes; what takes most of them waits for ``full``."""
    quick = audit(fitted, documents(4), AuditOptions(("attention",), needle=False))
    known = {metric.name for metric in (*quick.rankings[0].metrics, *quick.about_model)}
    every = {metric.name for metric in (*whole.rankings[0].metrics, *whole.about_model)}
    slow = {"comprehensiveness_ferret", "sufficiency_ferret", "adversarial_jsd"}
    assert slow <= every and not slow & known
