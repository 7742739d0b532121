import numpy as np
import pytest

from regard.experiments.gradients import Gradients


@pytest.fixture(scope="module")
def curves():
    found = Gradients(length=40, rows=4).run(0, lambda line: None)
    return {curve.name: np.array(curve.points)[:, 1] for curve in found.chart.curves}


def test_the_gradient_fades_fastest_in_a_plain_network(curves):
    """001-03: what reaches the farthest item, beside what reaches the nearest."""
    reach = {name: norms[-1] / norms[0] for name, norms in curves.items()}
    plain = reach.pop("RNN")
    assert all(plain < 1e-2 * other for other in reach.values())


def test_attention_keeps_the_gradient_from_fading(curves):
    """001-03, 002-08: the first item read still gets a gradient, and far more than without."""
    attended = curves["RNN with attention"]
    assert attended[-1] > 1e6 * curves["RNN"][-1]
    assert attended[-1] > 1e-3 * attended[0]
    flat = attended[len(attended) // 2 :]
    assert flat.min() > 0.1 * flat.max()


def test_the_norms_are_those_of_the_vectors_read():
    """Moving one vector a little changes the answer by as much as its gradient says."""
    import torch

    from regard.data.pairs import EncodedPairs
    from regard.text.units import RESERVED

    config = Gradients(length=3, rows=1, hidden_size=8)
    network = config.networks()["GRU"]
    words = np.arange(3) + len(RESERVED)
    batch = EncodedPairs([words], [()]).batch(np.arange(1))
    torch.manual_seed(0)
    model = network.build(source_size=7, target_size=8).double()
    model(batch).logits.sum().backward()
    gradient = model.embedding.weight.grad[words[0]]
    moved = 1e-6 * gradient / gradient.norm()
    with torch.no_grad():
        before = model(batch).logits.sum()
        model.embedding.weight[words[0]] += moved
        after = model(batch).logits.sum()
    assert (after - before).item() / 1e-6 == pytest.approx(gradient.norm().item(), rel=1e-3)
