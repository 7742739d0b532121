"""People see words, also where a model reads characters or syllables: drawn, listed and scored."""

from dataclasses import replace

import numpy as np
import pytest

from regard import DocumentClassifier, FlatConfig, TrainingConfig
from regard.audit.run import AuditOptions, audit
from regard.explain.methods import METHODS
from regard.look.run import look
from regard.text.document import Document
from regard.text.tokenize import tokenize
from regard.views.explanation.passages import passages
from regard.views.explanation.words import heavy_words
from support.reviews import tiny

pytest.importorskip("icu4py")

GOOD = ["房间很干净，服务非常热情。早餐也不错！", "酒店的位置很好。我们下次还会再来。"]
BAD = ["房间又小又脏，服务态度太差。早餐很难吃！", "酒店太吵了，我们一晚上没睡好。再也不来。"]
KOREAN = ["이 영화는 정말 재미있었다.", "배우들의 연기가 너무 좋았어요!"]
DULL = ["이 영화는 정말 지루했다.", "배우들의 연기가 너무 어색했어요!"]
METHODS_OF_WORDS = [name for name in METHODS if name != "counterfactual"]


@pytest.fixture(scope="module")
def chinese():
    return tiny().fit((GOOD + BAD) * 10, (["good"] * 2 + ["bad"] * 2) * 10)


@pytest.fixture(scope="module")
def korean():
    classifier = tiny(text__hangul="syllables")
    return classifier.fit((KOREAN + DULL) * 10, (["good"] * 2 + ["bad"] * 2) * 10)


def pieces(explanation, level="word"):
    weights = explanation.decisions[0].level(level)
    return [explanation.source[start:end] for start, end in weights.pieces]


@pytest.mark.parametrize("method", METHODS_OF_WORDS)
def test_every_method_weighs_words_of_chinese_and_not_characters(chinese, method):
    explanation = chinese.explain(GOOD[0], method=method, receipt=False)
    assert pieces(explanation)[:5] == ["房间", "很", "干净", "，", "服务"]
    assert "".join(pieces(explanation)) == GOOD[0]
    assert len(pieces(explanation, "sentence")) == 2


@pytest.mark.parametrize("method", METHODS_OF_WORDS)
def test_every_method_weighs_words_of_korean_and_not_syllables(korean, method):
    explanation = korean.explain(KOREAN[0], method=method, receipt=False)
    assert pieces(explanation) == ["이", "영화는", "정말", "재미있었다", "."]


def test_attention_of_the_words_of_a_sentence_still_sums_to_one(chinese):
    weights = chinese.explain(GOOD[0], method="attention").decisions[0].level("word")
    ends = [end for _, end in tokenize(GOOD[0]).sentence_spans()]
    firsts = sum(
        value
        for (_, end), value in zip(weights.pieces, weights.values, strict=True)
        if end <= ends[0]
    )
    assert firsts == pytest.approx(1)
    assert sum(weights.values) == pytest.approx(2)


def test_the_score_of_a_word_is_what_the_answer_loses_without_all_of_it(chinese):
    """What is drawn is what was measured: the model reads the text without the whole word."""
    explanation = chinese.explain(GOOD[0], method="erasure")
    likely = dict(zip(chinese.classes_, chinese.predict_proba([GOOD[0]])[0], strict=True))
    weights = explanation.decisions[0].level("word")
    for word in ("干净", "服务", "很"):
        place = pieces(explanation).index(word)
        without = GOOD[0].replace(word, "", 1)
        left = chinese.predict_proba([without])[0][list(chinese.classes_).index(explanation.label)]
        lost = likely[explanation.label] - left
        assert weights.scores[place] == pytest.approx(lost, abs=1e-5)


def test_gradients_of_a_word_add_up_to_those_of_its_characters(chinese):
    words = chinese.explain(GOOD[0], method="gradient_input", receipt=False)
    ((_, answers),) = chinese.fitted_.answers([GOOD[0]])
    (text,) = answers.batch.texts
    characters = replace(text, per_word=None)
    alone = replace(answers, batch=replace(answers.batch, texts=(characters,)))
    (by_character,) = METHODS["gradient_input"].explain(alone)
    scores = np.array(by_character.decisions[0].level("word").scores)
    expected = text.sum_by_word(scores)
    np.testing.assert_allclose(words.decisions[0].level("word").scores, expected, rtol=1e-9)
    assert len(expected) < len(scores) == len(GOOD[0])


def test_a_receipt_counts_words_and_the_shares_add_up(chinese):
    explanation = chinese.explain(GOOD[0])
    decision = explanation.decisions[0]
    assert decision.receipt.curve("word").piece_count == len(pieces(explanation))
    shares = decision.shares
    assert shares.ngrams.pieces == decision.level("word").pieces
    total = shares.network + shares.start + sum(shares.ngrams.amounts)
    assert total == pytest.approx(shares.total, abs=1e-6)


def test_a_word_with_a_character_that_the_model_does_not_know_is_marked_as_a_whole(chinese):
    text = "房间很好，早晨热情。"
    explanation = chinese.explain(text, receipt=False)
    unknown = [text[start:end] for start, end in explanation.unknown]
    assert unknown == ["早晨"] and "早" in chinese.vocab_ and "晨" not in chinese.vocab_
    drawn = passages(explanation, explanation.decisions[0])
    assert "".join(part.text for line in drawn for part in line.stretches) == text


def test_lists_of_heaviest_words_name_words(chinese):
    explanation = chinese.explain(BAD[0])
    listed = heavy_words(explanation, explanation.decisions[0], count=20)
    assert {word.text for word in listed} <= set(pieces(explanation))
    assert any(len(word.text) > 1 for word in listed)


def test_a_look_shows_words_in_context_and_knows_those_asked_for(chinese):
    documents = [Document(text, label) for text in GOOD + BAD for label in ["good"]] * 10
    found = look(chinese, documents, words=["房间", "很"])
    assert [(context.word, context.uses[0].count) for context in found.words] == [
        ("房间", 20),
        ("很", 20),
    ]
    words = sum(len(pieces(one)) for one in chinese.explain(GOOD + BAD, receipt=False))
    evenness = {one.level: one for one in found.spreads}["word"]
    sentences = sum(len(tokenize(text).per_sentence) for text in GOOD + BAD)
    assert evenness.mean_items == pytest.approx(words / sentences)
    chosen = look(chinese, documents).words
    assert any(len(context.word) > 1 for context in chosen)


@pytest.mark.parametrize("network", ["hierarchical", "flat"])
def test_an_audit_asks_about_words(chinese, network):
    """A flat network attends to characters all over the document, each by the rank of its word."""
    if network == "flat":
        flat = FlatConfig(embedding_size=8, hidden_size=4)
        chinese = DocumentClassifier(flat, training=TrainingConfig(epochs=1))
        chinese.fit((GOOD + BAD) * 10, (["good"] * 2 + ["bad"] * 2) * 10)
    documents = [Document(text) for text in GOOD + BAD]
    found = audit(chinese, documents, AuditOptions(needle=False, full=True))
    for name in ("comprehensiveness", "tau_loo", "tau_gradient", "flip_fraction"):
        assert found.rankings[-1].metric(name) is not None
