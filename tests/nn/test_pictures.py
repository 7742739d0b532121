"""Maps of features: the small network, and EfficientNet-Lite0 against the one it comes from."""

import pytest
import torch

from regard.nn.pictures import EfficientNetLite0, FineEfficientNetLite0, SmallCNN


def pictures(count, side, seed=0):
    draw = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (count, 3, side, side), generator=draw, dtype=torch.uint8)


def test_a_small_network_gives_a_map_that_is_not_flattened():
    """004-07: one vector for each cell, side by side as in the picture."""
    network = SmallCNN(channels=12, halvings=3).eval()
    found = network(pictures(2, 32))
    assert found.shape == (2, 12, 4, 4)
    torch.testing.assert_close(network(pictures(2, 32)[:1]), found[:1])


def test_a_cell_sees_its_own_part_of_the_picture():
    network = SmallCNN(channels=8, halvings=3).double()
    given = pictures(1, 64).double().requires_grad_()
    # What a norm shares between cells is the same for all; what is a cell's own is not.
    network(given)[0, :, 0, 0].sum().backward()
    seen = given.grad[0].abs().sum(0)
    assert seen[:16, :16].mean() > 20 * seen[48:, 48:].mean()


def test_a_cell_that_is_looked_at_alone_sees_nothing_else():
    network = SmallCNN(channels=8, halvings=3, alone=True).eval()
    given = pictures(1, 32)
    found = network(given)
    assert found.shape == (1, 8, 4, 4)
    given[:, :, 8:16, 24:] = 255 - given[:, :, 8:16, 24:]  # the last cell of the second row
    changed = (network(given) != found).any(1)[0]
    assert changed.nonzero().tolist() == [[1, 3]]


def test_a_fine_map_has_four_times_the_cells_and_the_last_map_in_it():
    torch.manual_seed(0)
    coarse, fine = EfficientNetLite0().eval(), FineEfficientNetLite0().eval()
    fine.load_state_dict(coarse.state_dict())
    given = pictures(1, 64)
    with torch.no_grad():
        found, last = fine(given), coarse(given)
    assert found.shape == (1, 1392, 4, 4)
    torch.testing.assert_close(found[:, 112:], last.repeat_interleave(2, 2).repeat_interleave(2, 3))


def test_efficientnet_halves_five_times_whatever_the_size():
    network = EfficientNetLite0().eval()
    with torch.no_grad():
        assert network(pictures(1, 64)).shape == (1, 1280, 2, 2)
        assert network(pictures(1, 96)).shape == (1, 1280, 3, 3)


def test_efficientnet_is_the_one_whose_weights_it_takes():
    """The network of the package index, from which the weights come, gives the same features."""
    package = pytest.importorskip("efficientnet_lite_pytorch", reason="no EfficientNet to compare")
    reference = package.EfficientNet.from_name("efficientnet-lite0").eval()
    network = EfficientNetLite0().eval()
    found = network.load_state_dict(EfficientNetLite0.rename(reference.state_dict()), strict=False)
    assert not found.unexpected_keys
    assert all(name.endswith("num_batches_tracked") for name in found.missing_keys)
    given = pictures(1, 224)
    with torch.no_grad():
        expected = reference.extract_features((given.float() - 127) / 128)
        torch.testing.assert_close(network(given), expected)
