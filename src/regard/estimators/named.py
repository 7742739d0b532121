"""Classifiers by the names of their parts: a recipe, a network, and settings that are changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..config import require_one_of, with_text_values
from ..errors import ConfigError, suggestion

if TYPE_CHECKING:
    from .classifier import DocumentClassifier

__all__ = ["CLASSIFIER_PARTS", "USUAL_RECIPE", "classifier_from", "split_changes"]

USUAL_RECIPE = "balanced"
CLASSIFIER_PARTS = ("network", "training", "text", "wide")


def classifier_from(
    model: str,
    changes: Sequence[str],
    *,
    device: str,
    wide: str = "on",
    recipe: str = USUAL_RECIPE,
) -> DocumentClassifier:
    """Make a classifier of the named network, with the settings of a recipe changed as asked.

    ``wide`` says whether n-grams are weighed beside the network, "on" or "off".
    """
    from ..models import MODELS
    from ..models.wide import WideConfig
    from ..text.tokenize import TextConfig
    from ..training.config import TrainingConfig
    from .classifier import DocumentClassifier
    from .recipes import find_recipe

    require_one_of("--model", model, MODELS)
    require_one_of("--wide", wide, ("on", "off"))
    by_part = split_changes(changes)
    if by_part["wide"] and wide == "off":
        raise ConfigError("--set changes wide and --wide leaves it out; give one of them")
    for part, usual in find_recipe(recipe).changes.items():
        by_part[part] = {**usual, **by_part[part]}
    ngrams = with_text_values(WideConfig(), by_part["wide"])
    return DocumentClassifier(
        with_text_values(MODELS[model](), by_part["network"]),
        training=with_text_values(TrainingConfig(), by_part["training"]),
        text=with_text_values(TextConfig(), by_part["text"]),
        wide=ngrams if wide == "on" else None,
        device=device,
    )


def split_changes(
    changes: Sequence[str], parts: Sequence[str] = CLASSIFIER_PARTS
) -> dict[str, dict[str, str]]:
    """Sort ``part.name=value`` by part; a later change of the same setting wins."""
    by_part: dict[str, dict[str, str]] = {part: {} for part in parts}
    for change in changes:
        path, equals, value = change.partition("=")
        part, dot, name = path.strip().partition(".")
        if not (equals and dot):
            raise ConfigError(
                f"--set takes part.name=value, such as network.hidden_size=100, got {change!r}"
            )
        if part not in by_part:
            raise ConfigError(f"--set knows no part {part!r}; {suggestion(part, parts)}")
        by_part[part][name] = value.strip()
    return by_part
