import numpy as np
import pytest

from regard.look import context
from regard.look.context import ContextTally
from support.reviews import reviews

TEXTS = reviews(60, seed=4)[0]


def contexts(fitted, texts, words=()):
    known = [fitted.vocab_.words[id] for id in fitted.vocab_.ids(words)]
    tally = ContextTally(fitted.vocab_.words, known)
    for _, answers in fitted.fitted_.answers(texts):
        tally.add(answers)
    return tally.contexts(fitted.labels_.classes)


def plain_weights(fitted, word):
    """The weights of a word by answer, read off explanations one by one."""
    found = {}
    for explanation in fitted.explain(TEXTS, method="attention"):
        weights = explanation.decisions[0].level("word")
        for (start, end), value in zip(weights.pieces, weights.values, strict=True):
            if explanation.source[start:end].lower() == word:
                found.setdefault(explanation.label, []).append(value)
    return found


@pytest.mark.parametrize("word", ["film", "great"])
def test_a_histogram_per_predicted_class_holds_the_weights_of_the_word(fitted, word):
    """004-11: how the weight of a word changes with context, as in HAN's figures 3 and 4."""
    (found,) = contexts(fitted, TEXTS, [word])
    plain = plain_weights(fitted, word)
    everything, *by_answer = found.uses
    assert (found.word, found.by) == (word, "sentence")
    assert {use.label: use.count for use in by_answer} == {k: len(v) for k, v in plain.items()}
    assert everything.count == sum(map(len, plain.values())) == sum(everything.bins)
    for use in by_answer:
        assert use.mean == pytest.approx(np.mean(plain[use.label]), rel=1e-5)
        expected, _ = np.histogram(np.float32(plain[use.label]), found.edges)
        assert use.bins == tuple(expected.tolist())
    assert tuple(map(sum, zip(*(use.bins for use in by_answer), strict=True))) == everything.bins


def test_capitals_do_not_make_another_word(fitted):
    assert contexts(fitted, ["Film film FILM."], ["FILM"])[0].uses[0].count == 3


def test_a_lift_of_one_is_an_even_share(fitted):
    """Over all words of a text the weights times the sizes of their sentences average to one."""
    every = sorted({word.lower() for text in TEXTS for word in text[:-1].split()})
    found = contexts(fitted, TEXTS[:5], [word for word in every if word in fitted.vocab_])
    uses = [use for one in found for use in one.uses[:1]]
    assert min(use.lift for use in uses) < 1 < max(use.lift for use in uses)


def test_without_a_choice_those_words_are_shown_whose_weight_depends_on_the_answer(
    fitted, monkeypatch
):
    draw = np.random.default_rng(0)
    uses = np.zeros(400, dtype=context._USE)
    uses["id"] = np.repeat([2, 3, 4, 5], 100)
    uses["answer"] = np.tile([0, 1], 200)
    uses["lift"] = 1 + 0.1 * draw.normal(size=400)
    uses["lift"][uses["id"] == 4] += uses["answer"][uses["id"] == 4]
    uses["lift"][uses["id"] == 5] += 2 * uses["answer"][uses["id"] == 5]
    words = ["<pad>", "<oov>", "film", "story", "good", "!"]
    assert context._choose_most_dependent(uses, words)[0] == 4, "a sign is no word"
    assert 5 not in context._choose_most_dependent(uses, words)
    chosen = contexts(fitted, TEXTS)
    assert 0 < len(chosen) <= context.CHOSEN
    monkeypatch.setattr(context, "SAMPLE", 100)
    assert 0 < len(contexts(fitted, TEXTS * 4)) <= context.CHOSEN


def test_nothing_to_look_at_gives_nothing(fitted):
    assert contexts(fitted, ["", " "]) == ()
    assert contexts(fitted, ["Film."], ["great"]) == ()
