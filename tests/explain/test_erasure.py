"""Erasure, contrast, counterfactual and LIME on models whose answers are known."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.explain import counterfactual, lime
from regard.explain.counterfactual import RANDOM_SETS
from regard.explain.erasure import contrast, erase
from regard.text.tokenize import tokenize
from support.questions import CONFIGS, TEXTS, WORDS, LinearBag, asked, bag, built

WORTH = {"dull": 1.5, "brilliant": -2.0, "left": 0.25}


def sigmoid(value):
    return 1 / (1 + math.exp(-value))


def worths(text):
    return [WORTH.get(word.lower(), 0.0) for word in tokenize(text).words()]


@pytest.mark.parametrize("multilabel", [False, True])
def test_erasure_is_the_probability_lost(multilabel):
    """In a linear bag the drop without a word is known in closed form."""
    found = erase(asked(bag(WORTH), multilabel=multilabel, chosen=(1,)))
    for explanation, text in zip(found, TEXTS, strict=True):
        words, total = worths(text), sum(worths(text))
        expected = [sigmoid(total) - sigmoid(total - value) for value in words]
        drops = explanation.decisions[0].level("word").scores
        assert drops == pytest.approx(expected, abs=1e-6)
        sentences = explanation.decisions[0].level("sentence")
        spans = tokenize(text).spans.tolist()
        for (start, end), drop in zip(sentences.pieces, sentences.scores, strict=True):
            inside = [v for v, (a, b) in zip(words, spans, strict=True) if start <= a and b <= end]
            assert drop == pytest.approx(sigmoid(total) - sigmoid(total - sum(inside)), abs=1e-6)
        assert explanation.erasure == "delete"


def test_a_contrast_sees_only_the_two_classes():
    """A word that speaks for a third class says nothing about why the first and not the second."""
    table = torch.zeros(len(WORDS) + 2, 3)
    table[2:] = torch.randn(len(WORDS), 3, generator=torch.Generator().manual_seed(0))
    answers = asked(LinearBag(table).eval(), temperature=2.0, chosen=(0,))
    for explanation, text in zip(contrast(replace(answers, against=1)), TEXTS, strict=True):
        ids = [
            2 + WORDS.index(w.lower()) if w.lower() in WORDS else 1 for w in tokenize(text).words()
        ]
        expected = [float(table[id, 0] - table[id, 1]) / 2 for id in ids]
        decision = explanation.decisions[0]
        assert decision.level("word").scores == pytest.approx(expected, abs=1e-5)
        assert (decision.label, decision.against) == ("class 0", "class 1")
    rivals = [one.decisions[0].against for one in contrast(answers)]
    likely = answers.probabilities[:, 1:].argmax(1) + 1
    assert rivals == [f"class {number}" for number in likely.tolist()], "the likeliest other"


def test_no_class_is_contrasted_with_itself():
    """Over a file the answer is sometimes the label that was named as the rival of all."""
    table = torch.randn(len(WORDS) + 2, 3, generator=torch.Generator().manual_seed(1))
    answers = replace(asked(LinearBag(table).eval()), against=1)
    pairs = [(one.decisions[0].label, one.decisions[0].against) for one in contrast(answers)]
    assert {label for label, _ in pairs} > {"class 1"}, "both cases are among the texts"
    for (label, against), row in zip(pairs, answers.probabilities, strict=True):
        ranked = [f"class {number}" for number in row.argsort(descending=True).tolist()]
        assert against == (ranked[1] if label == "class 1" else "class 1")


TEXT = "It was dull. It was brilliant! The end was dull. I left."


def test_the_fewest_sentences_that_flip_are_found():
    """Worth +1.5, -1, +1.5 and +0.25: the answer flips without both dull sentences."""
    model = bag({"dull": 1.5, "brilliant": -1.0, "left": 0.25})
    (found,) = counterfactual.explain(asked(model, [TEXT], chosen=(1,)))
    change = found.decisions[0].change
    assert [TEXT[start:end] for start, end in change.removed] == [
        "It was dull.",
        "The end was dull.",
    ]
    assert change.flips and change.label == "class 0"
    assert change.probability == pytest.approx(sigmoid(-0.75), abs=1e-6)
    (weights,) = found.decisions[0].weights
    assert [score != 0 for score in weights.scores] == [True, False, True, False]
    assert sum(weights.scores) == pytest.approx(sigmoid(2.25) - sigmoid(-0.75), abs=1e-6)
    assert 0 < change.random_flips < 0.6 and (change.random_flips * RANDOM_SETS) % 1 == 0


def test_a_class_that_is_no_answer_is_made_one():
    (found,) = counterfactual.explain(asked(bag(WORTH), [TEXT], chosen=(0,)))
    change = found.decisions[0].change
    assert change.flips and change.label == "class 0"
    assert change.probability > 0.5
    assert sum(found.decisions[0].weights[0].scores) < 0, "the probability was won, not lost"


def test_where_nothing_flips_that_is_said():
    (found,) = counterfactual.explain(asked(bag({}), [TEXT], chosen=(0,)))
    assert not found.decisions[0].change.flips
    assert found.decisions[0].change.removed == ()
    model = bag({"dull": 1.0})
    model.bias = torch.tensor([0.0, 9.0])
    (found,) = counterfactual.explain(asked(model, [TEXT], chosen=(1,)))
    assert not found.decisions[0].change.flips
    assert len(found.decisions[0].change.removed) == 2
    assert "No sentences were found that decide" in found.to_text()


def test_several_labels_flip_one_by_one():
    (found,) = counterfactual.explain(asked(bag(WORTH), [TEXT], multilabel=True, chosen=(1, 0)))
    first, second = (decision.change for decision in found.decisions)
    assert first.flips and first.label is None and first.probability < 0.5
    assert not second.flips, "nothing speaks for or against the other class"


@pytest.mark.parametrize("name", ["han", "flow"])
def test_the_removed_sentences_flip_the_answer_and_none_could_stay(name):
    """Cut from the text, which is then read again, by a model of either kind."""
    flips = 0
    for seed in range(8):
        model = built(CONFIGS[name], seed=seed)
        answers = asked(model, [TEXTS[0] + " " + TEXTS[3] + " " + TEXT])
        (found,) = counterfactual.explain(answers)
        change, number = found.decisions[0].change, answers.chosen[0][0]
        shorter = read_without(answers, change.removed)
        assert float(shorter[number]) == pytest.approx(change.probability, abs=1e-5)
        assert (int(shorter.argmax()) != number) == change.flips
        flips += change.flips
        for place in range(len(change.removed) if change.flips else 0):
            fewer = change.removed[:place] + change.removed[place + 1 :]
            assert int(read_without(answers, fewer).argmax()) == number
    assert flips >= 2


def read_without(answers, removed):
    """The probabilities of the text without some of its sentences."""
    (text,) = answers.batch.texts
    kept = [span for span in text.sentence_spans() if span not in removed]
    shorter = " ".join(text.text[start:end] for start, end in kept)
    return asked(answers.model, [shorter]).probabilities[0]


def test_lime_finds_the_words_of_a_linear_bag():
    (found,) = lime.explain(
        asked(bag({"dull": 0.4, "brilliant": -0.3}), TEXTS[:1], chosen=(1,)), 800
    )
    words = dict(
        zip(tokenize(TEXTS[0]).words(), found.decisions[0].level("word").scores, strict=True)
    )
    order = sorted(words, key=words.get)
    assert (order[0], order[-1]) == ("brilliant", "dull")
    assert words["dull"] == pytest.approx(0.4 / 4, abs=0.02), (
        "the slope of the probability at one half"
    )
    quiet = [abs(score) for word, score in words.items() if word not in ("dull", "brilliant")]
    assert max(quiet) < 0.02


def test_lime_is_its_formula():
    """A ridge whose samples weigh sqrt(exp(-d^2 / 0.25^2)), d = 1 - the cosine to the document."""
    worth = np.array(worths(TEXTS[0]))
    (found,) = lime.explain(asked(bag(WORTH), TEXTS[:1], chosen=(1,)), 60)
    kept = lime.sampled(len(worth), 60).astype(float)
    likely = 1 / (1 + np.exp(-kept @ worth))
    whole = np.ones(len(worth))
    lengths = np.linalg.norm(kept, axis=1) * np.linalg.norm(whole)
    cosines = np.divide(kept @ whole, lengths, out=np.zeros(60), where=lengths > 0)
    near = np.exp(-((1 - cosines) ** 2) / 0.25**2) ** 0.5
    apart = kept - near @ kept / near.sum()
    moved = likely - near @ likely / near.sum()
    slopes = np.linalg.solve(apart.T * near @ apart + np.eye(len(worth)), apart.T * near @ moved)
    assert found.decisions[0].level("word").scores == pytest.approx(slopes, abs=1e-6)


def test_lime_gives_the_same_twice():
    answers = asked(built(CONFIGS["han"]))
    assert lime.explain(answers, 40) == lime.explain(answers, 40)
