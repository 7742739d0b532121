"""Where to compute."""

from __future__ import annotations

import torch
from torch import nn

from ..errors import ConfigError

__all__ = ["choose_device", "device_of"]


def choose_device(name: str = "auto") -> torch.device:
    """Return the device of that name; "auto" is the GPU if there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        # Naming a device is not having it.
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as problem:
        reason = str(problem).splitlines()[0]
        raise ConfigError(
            f"device {name!r} cannot be used ({reason}); try auto or cpu"
        ) from problem
    return device


def device_of(model: nn.Module) -> torch.device:
    """Return where the weights of a model are."""
    return next(model.parameters()).device
