import numpy as np
import torch

from regard.audit.randomisation import likeness, put_to, shuffled_copy
from support.questions import CONFIGS, asked, built


def test_a_shuffled_copy_has_the_same_numbers_in_other_places():
    model = built(CONFIGS["han"])
    before = [parameter.clone() for parameter in model.parameters()]
    copied = shuffled_copy(model, seed=1)
    moved = 0
    for old, new, kept in zip(before, copied.parameters(), model.parameters(), strict=True):
        assert torch.equal(old, kept), "the model itself stays as it is"
        assert torch.equal(old.flatten().sort().values, new.flatten().sort().values)
        moved += int((old != new).sum())
    assert moved > 100
    again = shuffled_copy(model, seed=1).state_dict()
    assert all(torch.equal(again[name], part) for name, part in copied.state_dict().items())


def test_the_copy_is_asked_about_the_same_classes():
    model = built(CONFIGS["han"])
    answers = asked(model, chosen=(1,))
    other = put_to(answers, shuffled_copy(model))
    assert other.chosen == answers.chosen and other.model is not model
    assert not torch.allclose(other.output.logits, answers.output.logits)


def test_likeness_is_one_for_the_same_and_about_none_for_others():
    scores = np.random.default_rng(0).normal(size=50)
    assert likeness(scores, scores)["tau_shuffled_weights"].value == 1.0
    assert abs(likeness(scores, scores)["tau_shuffled_weights"].baseline) < 0.2
    assert likeness(scores, np.ones(50)) == {}
