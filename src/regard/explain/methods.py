"""The methods of explanation, by name: all that the rest of the package knows of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..models.base import Hierarchical, Model
from ..records.explanation import Explanation
from . import (
    attention,
    counterfactual,
    lime,
)
from .answers import Answers
from .erasure import contrast, erase
from .gradients import (
    integrate_gradients,
    multiply_attention_by_gradient,
    multiply_gradient_by_input,
)

__all__ = ["DEFAULT_METHOD", "METHODS", "Method", "methods_for"]


@dataclass(frozen=True, slots=True)
class Method:
    """One way to explain, and what must be known to choose it.

    A method is ``usual`` if it ranks every word by why the model answers as it does: such methods
    are audited, and the best of them is the default of a model. The others answer another question
    or are there to compare with.
    """

    explain: Callable[[Answers], list[Explanation]]
    title: str  # what it says, in a few words
    readings: int  # how many readings of a text it takes, about
    usual: bool = True
    keeps: bool = False  # whether it takes so few only where sentence vectors can be kept


METHODS: dict[str, Method] = {
    "attention": Method(
        attention.explain, "where the model looked: the weights of its attention", readings=1
    ),
    "attention_gradient": Method(
        multiply_attention_by_gradient,
        "attention x gradient: what the answer would gain from more of each weight",
        readings=8,
    ),
    "gradient_input": Method(
        multiply_gradient_by_input,
        "gradient x input: how steeply the answer rises along each word's own vector",
        readings=10,
    ),
    "integrated_gradients": Method(
        integrate_gradients,
        "the gradient averaged on the way from nothing to the word; adds up to the answer",
        readings=100,
    ),
    "erasure": Method(
        erase,
        "what is lost without each word and each sentence, by leaving it out",
        readings=40,
        keeps=True,
    ),
    "counterfactual": Method(
        counterfactual.explain,
        "a few sentences without which the answer is another",
        readings=200,
        usual=False,
    ),
    "contrast": Method(
        contrast,
        "why this label rather than that: what the odds between two lose without each piece",
        readings=40,
        usual=False,
    ),
    "lime": Method(
        lime.explain,
        "LIME, a line fitted to a thousand samples of the words; slow, to compare with",
        readings=1000,
        usual=False,
    ),
}

DEFAULT_METHOD = "gradient_input"
"""What stands for "default" in a model that was saved or stopped before a method was measured.

Quick, there for every network, and next to the best wherever all were measured.
"""


def methods_for(model: Model) -> tuple[str, ...]:
    """The usual methods, without those that this model makes slow."""
    kept = isinstance(model.network, Hierarchical) and model.network.isolated
    return tuple(
        name for name, method in METHODS.items() if method.usual and (kept or not method.keeps)
    )
