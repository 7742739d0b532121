"""The probe of a fitted classifier's attention."""

from dataclasses import replace

import numpy as np
import pytest

from regard.audit.probe import _bags, probe_attention
from regard.text.document import Document
from support.reviews import reviews, tagged, tiny


def documents(count, seed):
    return [Document(text, label) for text, label in zip(*reviews(count, seed=seed), strict=True)]


def test_each_document_gets_an_answer_of_every_probe(fitted):
    found = probe_attention(fitted.fitted_, documents(40, 1), documents(12, 5))
    assert len(found) == 12
    assert set(found[0]) == {"probe_attention", "probe_adversarial"}
    assert {one.value for row in found for one in row.values()} <= {0.0, 1.0}
    # Both stand beside the same probe under even weights.
    assert all(
        row["probe_attention"].baseline == row["probe_adversarial"].baseline for row in found
    )


def test_every_guide_s_weights_sum_to_one(fitted):
    bags = _bags(fitted.fitted_, documents(6, 2), 0)
    for one in bags.values():
        sums = np.bincount(one.homes, one.weights, minlength=one.count)
        np.testing.assert_allclose(sums, 1.0, atol=1e-6)
    assert not np.allclose(bags["own"].weights, bags["adversarial"].weights)


def test_documents_without_a_known_label_are_left_out(fitted):
    some = documents(6, 3)
    mixed = [*some, replace(some[0], label=None), replace(some[1], label="never met")]
    assert len(probe_attention(fitted.fitted_, mixed, mixed)) == 6
    assert probe_attention(fitted.fitted_, [], some) == []


def test_nothing_is_said_of_documents_with_several_labels():
    texts, labels = tagged(40)
    several = tiny().fit(texts, labels)
    pairs = [Document(text, tuple(names)) for text, names in zip(texts, labels, strict=True)]
    assert probe_attention(several.fitted_, pairs, pairs[:4]) == []


@pytest.mark.parametrize("name", ["max", "attention"])
def test_flat_models_and_other_poolings_can_be_probed(name):
    from regard.models.flat import FlatConfig

    flat = tiny(network=FlatConfig(embedding_size=8, hidden_size=4, attention_size=4, pooling=name))
    flat.fit(*reviews(40))
    assert len(probe_attention(flat.fitted_, documents(20, 1), documents(5, 2))) == 5
