"""The methods of explanation, by name."""

from __future__ import annotations

from collections.abc import Callable

from ..records.explanation import Explanation
from . import (
    attention,
    attention_gradient,
    contrast,
    counterfactual,
    erasure,
    gradient_input,
    integrated_gradients,
    lime,
)
from .answers import Answers

__all__ = ["DEFAULT_METHOD", "LINEAR_METHODS", "METHODS", "RANKING_METHODS", "Method"]

Method = Callable[[Answers], list[Explanation]]

METHODS: dict[str, Method] = {
    "attention": attention.explain,
    "attention_gradient": attention_gradient.explain,
    "gradient_input": gradient_input.explain,
    "integrated_gradients": integrated_gradients.explain,
    "erasure": erasure.explain,
    "counterfactual": counterfactual.explain,
    "contrast": contrast.explain,
    "lime": lime.explain,
}

LINEAR_METHODS = ("attention", "attention_gradient", "gradient_input", "integrated_gradients")
"""The methods that rank all words for one class at a cost that grows as the document does."""

RANKING_METHODS = (*LINEAR_METHODS, "erasure")
"""Those, and the one that costs as little only where sentence vectors can be kept."""

DEFAULT_METHOD = "attention"
"""What stands for "default" until a model's methods were measured."""
