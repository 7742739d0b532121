"""Many threads may ask one fitted estimator at once: each gets the answer that it gets alone."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from torch import nn

from regard.explain.methods import METHODS
from regard.tasks.generate import GenerationConfig
from support.parrots import new_translator, parrots
from support.reviews import reviews

TEXTS, _ = reviews(12, seed=9)
THREADS = 4


def asked_together(ask, given):
    """The answers of several threads, each of which is given everything in another order."""

    def turn(first):
        order = [*range(first, len(given)), *range(first)]
        return {place: ask(given[place]) for place in order}

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(turn, range(THREADS)))


def state_of(estimator):
    """All that the estimator and its network hold and could have been written to."""
    weights = {name: part.clone() for name, part in estimator.model_.state_dict().items()}
    gradients = [weight.grad for weight in estimator.model_.parameters()]
    modes = [module.training for module in estimator.model_.modules()]
    return weights, gradients, modes, {name: id(value) for name, value in vars(estimator).items()}


def require_same_state(before, after):
    assert before[0].keys() == after[0].keys()
    assert all((part == after[0][name]).all() for name, part in before[0].items())
    assert before[1:] == after[1:]


def test_probabilities_are_those_of_one_thread(fitted):
    """Issue 11.8."""
    before = state_of(fitted)
    alone = [fitted.predict_proba([text]) for text in TEXTS]
    for answers in asked_together(lambda text: fitted.predict_proba([text]), TEXTS):
        assert all(np.array_equal(answers[place], alone[place]) for place in range(len(TEXTS)))
    require_same_state(before, state_of(fitted))


@pytest.mark.parametrize("method", METHODS)
def test_explanations_are_those_of_one_thread(fitted, method):
    texts = TEXTS[:4]

    def explain(text):
        return fitted.explain(text, method=method, receipt=method == "attention").to_json()

    before = state_of(fitted)
    alone = [explain(text) for text in texts]
    for answers in asked_together(explain, texts):
        assert [answers[place] for place in range(len(texts))] == alone
    require_same_state(before, state_of(fitted))


@pytest.fixture(scope="module")
def translator():
    return new_translator(training__epochs=2).fit(*parrots(60))


def test_translations_are_those_of_one_thread(translator):
    lines = parrots(8, seed=3)[0]

    def explain(line):
        return translator.explain(line).to_json()

    before = state_of(translator)
    alone = [explain(line) for line in lines]
    for answers in asked_together(explain, lines):
        assert [answers[place] for place in range(len(lines))] == alone
    require_same_state(before, state_of(translator))


def test_each_thread_is_answered_in_its_own_way(translator):
    lines = parrots(4, seed=3)[0]
    ways = [
        GenerationConfig(method="greedy"),
        *(GenerationConfig(beam=beam) for beam in (2, 4)),
        GenerationConfig(method="sample", temperature=3.0, seed=1),
    ]
    asked = [(line, way) for line in lines for way in ways]

    def write(question):
        line, way = question
        return translator.candidates([line], generation=way)

    before = state_of(translator)
    alone = [write(question) for question in asked]
    assert len({str(found) for found in alone}) > len(lines)  # the ways do differ
    for answers in asked_together(write, asked):
        assert [answers[place] for place in range(len(asked))] == alone
    require_same_state(before, state_of(translator))


@pytest.fixture
def writes(monkeypatch):
    """Call something, and get what was set on an estimator or on the parts of its network."""

    def of(estimator, ask):
        watched, found = {id(part) for part in estimator.model_.modules()} | {id(estimator)}, []

        def noting(usual):
            def set_attribute(self, name, value):
                if id(self) in watched:
                    found.append(name)
                usual(self, name, value)

            return set_attribute

        with monkeypatch.context() as patch:
            for kind in (nn.Module, type(estimator)):
                patch.setattr(kind, "__setattr__", noting(kind.__setattr__), raising=False)
            ask()
        return found

    return of


def test_a_classifier_is_not_written_to_while_it_answers(fitted, writes):
    asked = [lambda: fitted.predict_proba(TEXTS)]
    asked += [lambda name=name: fitted.explain(TEXTS[:2], method=name) for name in METHODS]
    assert [writes(fitted, ask) for ask in asked] == [[]] * len(asked)
    assert writes(fitted, fitted.model_.eval)  # what is written is seen


def test_a_translator_is_not_written_to_while_it_answers(translator, writes):
    lines = parrots(3, seed=3)[0]
    asked = [
        lambda: translator.predict(lines),
        lambda: translator.candidates(lines, 2, generation=GenerationConfig(beam=3)),
        lambda: translator.explain(lines),
        lambda: translator.explain_candidates(lines, 2),
        lambda: translator.align(lines, lines),
    ]
    assert [writes(translator, ask) for ask in asked] == [[]] * len(asked)
