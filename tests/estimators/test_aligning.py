"""Where a network looks while it is told what to write, and what else it would have written."""

import numpy as np
import pytest
import torch

from aligned import aligned
from parrots import new_translator, parrots
from regard.data.pairs import EncodedPairs
from regard.errors import ConfigError, DataError, ModelError
from regard.records.links import GoldLinks
from regard.tasks.alignment import links_of, mean_effective_count, score_links
from regard.text.units import START
from regard.text.vocab import PADDING

LINES, CAPITALS = parrots(450)


@pytest.fixture(scope="module")
def fitted():
    return new_translator(training__monitor="loss").fit(LINES, CAPITALS)


def test_copying_looks_at_what_is_copied(fitted):
    """002-15, 004-05, 004-06: near the diagonal, no alignment error, about one piece counts."""
    new, wanted = parrots(50, seed=1)
    found = fitted.align(new, wanted)
    gold = [GoldLinks(frozenset((n, n) for n in range(len(line.split())))) for line in new]
    assert score_links([links_of(one) for one in found], gold).error_rate < 0.05
    assert mean_effective_count(found) < 2
    worse = fitted.align(new, [line[::-1] for line in wanted])
    assert np.mean([one.score for one in worse]) < np.mean([one.score for one in found])


def test_given_texts_are_looked_at_as_if_they_had_been_written(fitted):
    for written in fitted.explain(["a b c d", "h g f"]):
        (told,) = fitted.align([written.source], [written.target])
        assert told.target_spans == written.target_spans
        np.testing.assert_allclose(told.weights, written.weights, atol=1e-4)
        assert told.score == pytest.approx(written.score, abs=1e-4)


def test_weights_and_score_are_those_of_the_network_itself(fitted):
    source, target = "a b c", "B A"
    sides = (fitted.source_units_, source), (fitted.target_units_, target)
    ids = [[units.encode([text])[0].ids] for units, text in sides]
    batch = EncodedPairs(*ids).batch([0])
    with torch.no_grad():
        output = fitted.model_.eval()(batch)
    (found,) = fitted.align([source], [target])
    np.testing.assert_allclose(
        found.weights, output.attention[0].weights.values.reshape(3, 3)[:2], atol=1e-6
    )
    output.logits[:, [PADDING, START]] = -torch.inf
    loss = torch.nn.functional.cross_entropy(output.logits, batch.target.values)
    assert found.score == pytest.approx(-float(loss), abs=1e-5)


def test_company_and_order_change_nothing(fitted):
    sources, targets = ["a b c d", "", "e", " ", "f g"], ["A", "B", "E F", "", ""]
    together = fitted.align(sources, targets)
    assert [one.source for one in together] == sources
    assert [one.target for one in together] == targets
    assert [one.weights.shape for one in together] == [(1, 4), (1, 0), (2, 1), (0, 0), (0, 2)]
    for place, (source, target) in enumerate(zip(sources, targets, strict=True)):
        (alone,) = fitted.align([source], [target])
        np.testing.assert_allclose(alone.weights, together[place].weights, atol=1e-5)
    assert fitted.align([], []) == []
    assert not fitted.model_.training


def test_every_candidate_has_its_own_matrix(fitted):
    (found,) = fitted.explain_candidates(["a b c"], 4)
    (texts,) = fitted.candidates(["a b c"], 4)
    assert [one.target for one in found] == [one.text for one in texts]
    assert [one.score for one in found] == [one.score for one in texts]
    for one in found:
        assert one.weights.shape == (len(one.target.split()), 3)
        np.testing.assert_allclose(one.weights.sum(1), 1, atol=1e-5)
    assert fitted.explain_candidates([""], 3)[0][0].weights.shape == (0, 0)
    with pytest.raises(ConfigError, match="count must be at least 1"):
        fitted.explain_candidates(["a"], 0)


def test_what_cannot_be_aligned_is_an_error(fitted):
    with pytest.raises(DataError, match="1 sources cannot be paired with 2 targets"):
        fitted.align(["a"], ["A", "B"])
    blind = new_translator(network__decoder="cho", training__epochs=1, training__monitor="loss")
    blind.fit(LINES[:30], CAPITALS[:30])
    for asked in (lambda: blind.align(["a"], ["A"]), lambda: blind.explain_candidates(["a"], 2)):
        with pytest.raises(ModelError, match="has no attention"):
            asked()


def test_the_views_take_what_it_gives(fitted):
    found = fitted.explain("a b")
    assert "A" in found.to_text() and "rg-matrix" in found.to_html()
    assert aligned("a", "b").to_html()
