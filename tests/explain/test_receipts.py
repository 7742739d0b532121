"""Receipts against a naive recomputation, and what verdicts say of right and wrong explanations."""

import math
import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from regard.data.batch import Batch
from regard.explain import receipts
from regard.explain.erasing import documents
from regard.explain.methods import METHODS, methods_for
from regard.explain.receipts import comprehensiveness, with_receipts
from regard.ragged import Ragged
from regard.records.explanation import CHANCE, FAITHFUL, NOT_MEASURED, TOO_SHORT, WEAK
from regard.records.weights import Weights
from regard.text.vocab import UNKNOWN
from support.questions import CONFIGS, VOCAB, WORDS, LinearBag, asked, bag, built

TEXT = (
    "It was brilliant! I laughed, and laughed. The end was dull. I slept, woke and left. "
    "The film was dull, dull, dull. Nobody laughed! One end. The brilliant end was dull."
)


def read(answers, sentences, number):
    """The probability of a class for a document given as lists of ids."""
    sentences = [sentence for sentence in sentences if sentence]
    flat = torch.tensor([id for sentence in sentences for id in sentence], dtype=torch.int64)
    lengths = torch.tensor([len(sentence) for sentence in sentences], dtype=torch.int64)
    with torch.no_grad():
        logits = answers.model(Batch(Ragged(flat, lengths), torch.tensor([len(sentences)]))).logits
    scaled = logits.double() / answers.temperature
    likely = torch.sigmoid(scaled) if answers.multilabel else torch.softmax(scaled, 1)
    return likely[0]


def without(ids, gone, level, policy):
    """The document without the pieces of the given numbers, as lists of ids."""
    found, place = [], 0
    for number, sentence in enumerate(ids):
        kept = []
        for id in sentence:
            is_gone = number in gone if level == "sentence" else place in gone
            if not is_gone or policy == "mask":
                kept.append(UNKNOWN if is_gone else id)
            place += 1
        found.append(kept)
    return found


def naive(answers, decision, level, policy):
    """The measures of a decision, one version at a time, straight from the definitions."""
    number = answers.classes.index(decision.label)
    (rows,) = documents(answers.batch)
    ids = [row.tolist() for row in rows.rows()]
    weights = decision.importance() if level == "word" else decision.level("sentence")
    amounts, count = weights.amounts, len(weights)
    order = sorted(range(count), key=lambda place: -amounts[place])
    start = float(read(answers, ids, number)[number])
    lost, missing, flip = [], [], 1.0
    for share in (0.5, 0.2, 0.1, 0.05, 0.01):
        top = order[: math.ceil(share * count - 1e-9)]
        rest = [place for place in range(count) if place not in top]
        left = read(answers, without(ids, top, level, policy), number)
        lost.append(start - float(left[number]))
        missing.append(
            start - float(read(answers, without(ids, rest, level, policy), number)[number])
        )
        holds = left[number] > 0.5 if answers.multilabel else left.argmax() == number
        held = start > 0.5 if answers.multilabel else answers.probabilities[0].argmax() == number
        if bool(holds) != bool(held):
            flip = share
    return {
        "comprehensiveness": float(np.mean(lost)),
        "sufficiency": float(np.mean(missing)),
        "flip": flip,
    }


@pytest.mark.parametrize("policy", ["delete", "mask"])
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("multilabel", [False, True])
def test_a_receipt_equals_a_naive_recomputation(name, policy, multilabel):
    """To 1e-5, at word and sentence level, for the answer and another class."""
    model = built(CONFIGS[name], label_count=3)
    answers = asked(model, [TEXT], multilabel=multilabel, temperature=0.5, chosen=(0, 2))
    (found,) = with_receipts(answers, METHODS["gradient_input"].explain(answers), policy)
    for decision in found.decisions:
        for level in ("word", "sentence"):
            for measure, expected in naive(answers, decision, level, policy).items():
                value = decision.receipt.measure(measure, level).value
                assert value == pytest.approx(expected, abs=1e-5), (measure, level)
        assert decision.receipt.erasure == policy


@pytest.mark.parametrize("name", methods_for(built(CONFIGS["han"])))
def test_comprehensiveness_alone_is_that_of_the_receipt(name):
    answers = asked(built(CONFIGS["han"]), [TEXT, "", "One"])
    made = METHODS[name].explain(answers)
    for loss, one in zip(
        comprehensiveness(answers, made), with_receipts(answers, made), strict=True
    ):
        losses = [m.value for m in one.receipt.measures if m.name == "comprehensiveness"]
        assert loss == pytest.approx(np.mean(losses or [0.0]), abs=1e-6)


def test_curves_are_what_the_measures_are_means_of():
    answers = asked(built(CONFIGS["han"]), [TEXT])
    (found,) = with_receipts(answers, METHODS["erasure"].explain(answers))
    receipt = found.receipt
    assert receipt.bins == (0.01, 0.05, 0.1, 0.2, 0.5)
    for level in ("word", "sentence"):
        curve, start = receipt.curve(level), found.probability
        assert curve.piece_count == len(found.decisions[0].level(level))
        for name, own, others in (
            ("comprehensiveness", curve.without, curve.random_without),
            ("sufficiency", curve.alone, curve.random_alone),
        ):
            measure = receipt.measure(name, level)
            assert measure.value == pytest.approx(start - np.mean(own), abs=1e-6)
            assert measure.random == pytest.approx(start - np.mean(others), abs=1e-6)


def test_receipts_do_not_depend_on_company_and_repeat():
    model = built(CONFIGS["han"])
    together = asked(model, [TEXT, "One", ""], chosen=(1,))
    alone = asked(model, [TEXT], chosen=(1,))
    (first, *_) = with_receipts(together, METHODS["erasure"].explain(together))
    (second,) = with_receipts(alone, METHODS["erasure"].explain(alone))
    for mine, theirs in zip(first.receipt.measures, second.receipt.measures, strict=True):
        assert mine.value == pytest.approx(theirs.value, abs=1e-5)
        assert mine.random == pytest.approx(theirs.random, abs=1e-5)
    assert with_receipts(alone, METHODS["erasure"].explain(alone)) == [second]


@pytest.mark.parametrize(
    ("text", "verdict"), [("", NOT_MEASURED), ("One", TOO_SHORT), ("One end", TOO_SHORT)]
)
@pytest.mark.parametrize("method", METHODS)
def test_where_there_is_nothing_to_rank_that_is_said(text, verdict, method):
    """Not that it is no better than chance: an empty text was never measured."""
    answers = asked(built(CONFIGS["han"]), [text])
    (found,) = with_receipts(answers, METHODS[method].explain(answers))
    if found.decisions[0].change is not None:
        assert found.receipt is None, "a counterfactual ranks nothing"
    else:
        assert found.receipt.verdict == verdict
        assert {one.verdict for one in found.receipt.judgements} == {verdict}
        assert found.to_text()


def test_even_weights_are_no_better_than_chance():
    """Mean pooling weighs all words alike: a picture of it must not pass for a reason."""
    config = replace(CONFIGS["flat"], pooling="mean")
    answers = asked(built(config), [TEXT])
    (found,) = with_receipts(answers, METHODS["attention"].explain(answers))
    judgement = found.receipt.judgement("word")
    assert judgement.verdict == CHANCE and judgement.p_value == 1 and judgement.agreement == 0


def test_words_are_not_called_faithful_for_what_sentences_carry():
    """The words' own scores are dealt out at random; the sentences' are those of the model."""
    verdicts = []
    for seed in range(8):
        answers = asked(built(CONFIGS["han"], seed=seed), [TEXT + " " + TEXT.replace("I", "It")])
        (made,) = METHODS["erasure"].explain(answers)
        words, sentences = made.decisions[0].weights
        mixed = np.random.default_rng(seed).permutation(words.scores).tolist()
        words = Weights.from_scores("word", words.pieces, mixed, unit="probability")
        one = replace(made, decisions=(replace(made.decisions[0], weights=(words, sentences)),))
        (found,) = with_receipts(answers, [one])
        verdicts.append([found.receipt.judgement(level).verdict for level in ("word", "sentence")])
        assert found.receipt.verdict != FAITHFUL or verdicts[-1] == [FAITHFUL, FAITHFUL]
    assert FAITHFUL not in [of_words for of_words, _ in verdicts]
    assert FAITHFUL in [of_sentences for _, of_sentences in verdicts]


def test_what_is_too_small_to_matter_is_not_faithful():
    """A model with fresh weights answers every text alike; its words are told apart by nothing."""
    torch.manual_seed(0)
    model = CONFIGS["han"].build(vocab_size=len(VOCAB), label_count=2).eval()
    answers = asked(model, [TEXT])
    (found,) = with_receipts(answers, METHODS["erasure"].explain(answers))
    judgement = found.receipt.judgement("word")
    assert judgement.p_value <= 0.01, "the order is right"
    assert judgement.lead < 0.05 and judgement.verdict == CHANCE


def test_of_a_long_document_some_words_are_left_out_one_by_one(monkeypatch):
    answers = asked(built(CONFIGS["han"]), [TEXT])
    (inquiry,) = receipts.open_inquiries(answers)
    every = inquiry.pieces("word")
    assert len(every.places) == every.count
    monkeypatch.setattr(receipts, "WORDS_LEFT_OUT", 20)
    (inquiry,) = receipts.open_inquiries(answers)
    some = inquiry.pieces("word")
    assert len(some.places) == 20
    torch.testing.assert_close(some.drops, every.drops[some.places])


def long_document(draw, cues):
    """Sixty sentences' worth of words that mean nothing, with a few that do."""
    quiet = [word for word in WORDS if word.isalpha() and word not in ("dull", "brilliant", "left")]
    words = draw.choices(quiet, k=110) + ["dull"] * cues
    draw.shuffle(words)
    return " ".join(" ".join(words[place : place + 9]) + "." for place in range(0, len(words), 9))


def shuffled(explanation, seed):
    draw = random.Random(seed)

    def moved(weights):
        return replace(weights, values=_mixed(draw, weights.values), scores=None, by="document")

    weights = tuple(map(moved, explanation.decisions[0].weights))
    return replace(explanation, decisions=(replace(explanation.decisions[0], weights=weights),))


def _mixed(draw, values):
    return tuple(draw.sample(values, len(values)))


def test_verdicts_tell_right_explanations_from_shuffled_ones():
    """On planted data: AUC at least 0.95, and random rankings are no better than chance."""
    draw = random.Random(0)
    model = bag({"dull": 1.0})
    model.bias = torch.tensor([0.0, -2.0])
    right, wrong = [], []
    for seed in range(40):
        answers = asked(model, [long_document(draw, cues=5)], chosen=(1,))
        made = METHODS["gradient_input"].explain(answers)
        right += [one.receipt for one in with_receipts(answers, made)]
        wrong += [one.receipt for one in with_receipts(answers, [shuffled(made[0], seed)])]
    margins = [receipt.margin for receipt in right + wrong]
    assert roc_auc_score([1] * 40 + [0] * 40, margins) >= 0.95
    assert all(receipt.verdict == FAITHFUL for receipt in right)
    assert sum(receipt.verdict == CHANCE for receipt in wrong) >= 37
    assert FAITHFUL not in [receipt.verdict for receipt in wrong]


@pytest.mark.parametrize("multilabel", [False, True])
def test_a_contrast_is_judged_by_the_odds_between_its_two_labels(multilabel):
    """What tells the one from the other may say nothing of how likely either is beside a third."""
    draw, table = random.Random(2), torch.zeros(len(VOCAB), 3)
    table[VOCAB.words.index("dull"), 0] = 1.5
    table[VOCAB.words.index("left")] = torch.tensor([-4.0, -4.0, 4.0])
    model = LinearBag(table, torch.tensor([-4.0, 0.0, 0.0])).eval()
    for _ in range(5):
        text = long_document(draw, cues=12).replace("dull", "left", 6)
        answers = replace(asked(model, [text], chosen=(0,), multilabel=multilabel), against=1)
        (found,) = with_receipts(answers, METHODS["contrast"].explain(answers))
        assert found.receipt.verdict == FAITHFUL
        judgement = found.receipt.judgement("word")
        assert judgement.agreement == pytest.approx(1), "each word is worth what its score says"
        assert judgement.lead > 0.5
        assert found.receipt.curve("word").without[0] <= found.probability < 0.01


def test_a_part_of_the_truth_is_weak():
    """Who knows three of twelve equal reasons beats chance, and is not called faithful."""
    draw = random.Random(1)
    verdicts = []
    for _ in range(10):
        text = long_document(draw, cues=12).replace("dull", "left", 9)
        model = bag({"dull": 1.5, "left": 1.5})
        model.bias = torch.tensor([0.0, -8.0])
        answers = asked(model, [text], chosen=(1,))
        (made,) = METHODS["gradient_input"].explain(answers)
        words, _ = made.decisions[0].weights
        left = VOCAB.words.index("left")
        known = [
            0.0 if id == left else score
            for id, score in zip(answers.batch.ids.values.tolist(), words.scores, strict=True)
        ]
        half = Weights.from_scores("word", words.pieces, known, unit="")
        one = replace(made, decisions=(replace(made.decisions[0], weights=(half,)),))
        verdicts += [found.receipt.verdict for found in with_receipts(answers, [one])]
    assert verdicts.count(WEAK) >= 5, verdicts
    assert verdicts.count(FAITHFUL) <= 3, "the correlation is one half, give or take an eighth"
