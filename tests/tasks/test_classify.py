"""The classification loss against torch's own, against sums over shares, and against slopes."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.utils.class_weight import compute_class_weight

from regard.data.batch import Batch
from regard.errors import DataError
from regard.models.base import Output
from regard.ragged import Ragged
from regard.tasks.classify import ClassificationLoss, balanced_weights, probabilities


def batch_of(labels):
    count = len(labels) if labels is not None else 2
    return Batch(
        Ragged(torch.arange(count), torch.ones(count, dtype=torch.int64)),
        torch.ones(count, dtype=torch.int64),
        labels=labels,
    )


def draw(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


ONE = torch.tensor([0, 2, 1, 1, 2, 0, 0])
SEVERAL = (draw(7, 3, seed=1) > 0).float()
WEIGHTS = torch.tensor([0.2, 1.0, 3.0], dtype=torch.float64)
LOSSES = {
    "plain": ClassificationLoss(),
    "weights": ClassificationLoss(class_weights=WEIGHTS),
    "smoothing": ClassificationLoss(label_smoothing=0.1),
    "focal": ClassificationLoss(focal=2.0),
    "all": ClassificationLoss(WEIGHTS, label_smoothing=0.1, focal=0.5),
}


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_one_label_costs_what_torch_says(weights, smoothing):
    """001-18: cross-entropy, with class weights and label smoothing, is torch's mean."""
    logits = draw(7, 3)
    loss = ClassificationLoss(weights, smoothing).of(Output(logits), batch_of(ONE))
    expected = F.cross_entropy(logits, ONE, weights, label_smoothing=smoothing)
    torch.testing.assert_close(loss.mean, expected)


@pytest.mark.parametrize("weights", [None, WEIGHTS])
def test_several_labels_cost_what_torch_says(weights):
    """001-18: binary cross-entropy over documents and classes is torch's mean."""
    logits = draw(7, 3)
    loss = ClassificationLoss(weights).of(Output(logits), batch_of(SEVERAL))
    expected = F.binary_cross_entropy_with_logits(logits, SEVERAL.double(), pos_weight=weights)
    torch.testing.assert_close(loss.mean, expected)


def test_binary_cross_entropy_has_its_minus():
    """001-18, D8: two classes cost -[y log p + (1 - y) log(1 - p)], a positive number."""
    logits, labels = draw(5, 2), torch.tensor([0, 1, 1, 0, 1])
    right = torch.softmax(logits, 1)[:, 1]
    by_hand = -(labels * right.log() + (1 - labels) * (1 - right).log()).mean()
    loss = ClassificationLoss().of(Output(logits), batch_of(labels)).mean
    torch.testing.assert_close(loss, by_hand)
    assert loss > 0


def test_focal_loss_follows_its_formula():
    """001-18: the focal option is -(1 - p)^2 log p of the true label."""
    logits = draw(7, 3)
    right = torch.softmax(logits, 1)[torch.arange(7), ONE]
    by_hand = (-((1 - right) ** 2) * right.log()).mean()
    loss = ClassificationLoss(focal=2.0).of(Output(logits), batch_of(ONE)).mean
    torch.testing.assert_close(loss, by_hand)
    each = torch.where(SEVERAL > 0, torch.sigmoid(logits), torch.sigmoid(-logits))
    by_hand = (-((1 - each) ** 2) * each.log()).mean()
    loss = ClassificationLoss(focal=2.0).of(Output(logits), batch_of(SEVERAL)).mean
    torch.testing.assert_close(loss, by_hand)


def test_focal_loss_asks_how_likely_the_label_is_and_not_what_it_costs():
    """What a class weighs and how labels are smoothed change the cost, and not the doubt."""
    logits = draw(7, 3)
    right = torch.softmax(logits, 1)[torch.arange(7), ONE]
    costs = F.cross_entropy(logits, ONE, WEIGHTS, reduction="none", label_smoothing=0.2)
    by_hand = ((1 - right) ** 2 * costs).sum() / WEIGHTS[ONE].sum()
    loss = ClassificationLoss(WEIGHTS, 0.2, focal=2.0).of(Output(logits), batch_of(ONE)).mean
    torch.testing.assert_close(loss, by_hand)


def test_smoothing_of_several_labels_moves_targets_towards_a_half():
    logits = draw(7, 3)
    loss = ClassificationLoss(label_smoothing=0.2).of(Output(logits), batch_of(SEVERAL)).mean
    targets = torch.where(SEVERAL > 0, 0.9, 0.1).double()
    torch.testing.assert_close(loss, F.binary_cross_entropy_with_logits(logits, targets))


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("labels", [ONE, SEVERAL], ids=["one", "several"])
def test_slopes_agree_with_differences(loss, labels):
    """001-18: gradients equal finite differences, for every option."""

    def mean(logits):
        return loss.of(Output(logits, penalty=logits.square().mean()), batch_of(labels)).mean

    assert torch.autograd.gradcheck(mean, draw(7, 3).requires_grad_())


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("labels", [ONE, SEVERAL], ids=["one", "several"])
def test_shares_of_a_batch_add_up_to_it(loss, labels):
    logits = draw(7, 3)
    penalties = draw(7, seed=3)
    whole = loss.of(Output(logits, penalty=penalties.mean()), batch_of(labels))
    parts = [
        loss.of(Output(logits[part], penalty=penalties[part].mean()), batch_of(labels[part]))
        for part in (slice(0, 1), slice(1, 5), slice(5, 7))
    ]
    for name in ("total", "weight", "penalty", "documents"):
        torch.testing.assert_close(
            torch.stack([getattr(part, name) for part in parts]).sum(), getattr(whole, name)
        )


def test_the_models_penalty_is_added():
    plain = ClassificationLoss().of(Output(draw(7, 3)), batch_of(ONE)).mean
    output = Output(draw(7, 3), penalty=torch.tensor(0.25))
    torch.testing.assert_close(ClassificationLoss().of(output, batch_of(ONE)).mean, plain + 0.25)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
@pytest.mark.parametrize("labels", [ONE, SEVERAL], ids=["one", "several"])
def test_huge_logits_stay_finite_and_have_slopes(loss, labels):
    logits = (draw(7, 3) * 1e4).float().requires_grad_()
    mean = loss.of(Output(logits), batch_of(labels)).mean
    mean.backward()
    assert torch.isfinite(mean)
    assert torch.isfinite(logits.grad).all()


def test_half_precision_logits_are_judged_in_full_precision():
    logits = draw(7, 3).bfloat16()
    loss = ClassificationLoss().of(Output(logits), batch_of(ONE)).mean
    torch.testing.assert_close(loss, F.cross_entropy(logits.float(), ONE))


def test_backward_returns_the_loss_and_fills_gradients():
    logits = draw(7, 3).requires_grad_()
    result = ClassificationLoss().of(Output(logits), batch_of(ONE)).backward()
    expected = draw(7, 3).requires_grad_()
    F.cross_entropy(expected, ONE).backward()
    torch.testing.assert_close(logits.grad, expected.grad)
    assert not result.total.requires_grad


def test_a_batch_without_labels_is_refused():
    with pytest.raises(DataError, match="needs labels"):
        ClassificationLoss().of(Output(draw(2, 3)), batch_of(None))


def test_probabilities_are_softmax_or_sigmoid_of_softened_logits():
    logits = draw(4, 3)
    torch.testing.assert_close(probabilities(logits, False), torch.softmax(logits, 1))
    torch.testing.assert_close(probabilities(logits, True), torch.sigmoid(logits))
    torch.testing.assert_close(
        probabilities(logits, False, temperature=2.0), torch.softmax(logits / 2, 1)
    )
    assert probabilities(logits.half(), False).dtype == torch.float32
    assert probabilities(logits[:0], False).shape == (0, 3)


@pytest.mark.parametrize("multilabel", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_probabilities_have_the_same_bits_alone_and_in_company(multilabel, dtype):
    logits = 5 * torch.randn(301, 3, dtype=dtype, generator=torch.Generator().manual_seed(0))
    together = probabilities(logits, multilabel, temperature=1.3)
    alone = torch.cat([probabilities(row[None], multilabel, temperature=1.3) for row in logits])
    assert torch.equal(alone, together)
    assert probabilities(logits[:0], multilabel).shape == (0, 3)


def test_balanced_weights_are_those_of_scikit_learn():
    labels = np.array([0, 0, 0, 1, 2, 2])
    weights = balanced_weights(np.bincount(labels), document_count=6, multilabel=False)
    expected = compute_class_weight("balanced", classes=np.arange(3), y=labels)
    np.testing.assert_allclose(weights, expected, rtol=1e-6)


def test_balanced_weights_of_several_labels_even_out_each_class():
    weights = balanced_weights(np.array([3, 0, 4]), document_count=4, multilabel=True)
    np.testing.assert_allclose(weights, [1 / 3, 4.0, 1 / 4], rtol=1e-6)


def test_a_class_without_documents_has_a_finite_weight():
    weights = balanced_weights(np.array([2, 0]), document_count=2, multilabel=False)
    assert torch.isfinite(weights).all()
