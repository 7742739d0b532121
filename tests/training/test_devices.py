"""Choosing a device."""

import pytest
import torch

from regard.errors import ConfigError
from regard.training.devices import choose_device


def test_auto_takes_a_gpu_where_there_is_one():
    """000-07: the device is chosen without being asked for."""
    assert choose_device().type == ("cuda" if torch.cuda.is_available() else "cpu")
    assert choose_device("cpu") == torch.device("cpu")


@pytest.mark.parametrize("name", ["cuda:99", "gpu", "xpu", ""])
def test_a_device_that_is_not_there_is_named(name):
    with pytest.raises(ConfigError, match="try auto or cpu"):
        choose_device(name)
