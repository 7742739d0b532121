"""Estimators by the names of their parts: a recipe, a network, and settings that are changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..config import require_one_of, with_text_values
from ..errors import ConfigError, suggestion

if TYPE_CHECKING:
    from ..models.base import PairConfig
    from .classifier import DocumentClassifier
    from .translator import Translator

__all__ = [
    "CLASSIFIER_PARTS",
    "TRANSLATOR_PARTS",
    "USUAL_RECIPE",
    "classifier_from",
    "split_changes",
    "translator_from",
    "translator_networks",
]

USUAL_RECIPE = "balanced"
CLASSIFIER_PARTS = ("network", "training", "text", "wide")
TRANSLATOR_PARTS = ("network", "training", "units", "forcing", "generation")


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


def translator_from(changes: Sequence[str], *, device: str, model: str = "seq2seq") -> Translator:
    """Make a translator, with its default settings, or a preset's, changed as asked.

    Settings that were asked for stay as they are, however many pairs there are.
    """
    from .translator import Translator

    usual, known = Translator(), translator_networks()
    require_one_of("--model", model, known)
    by_part = split_changes(changes, TRANSLATOR_PARTS)
    fixed = {f"{part}.{name}" for part, names in by_part.items() for name in names}
    return Translator(
        with_text_values(known[model], by_part["network"]),
        training=with_text_values(usual.training, by_part["training"]),
        units=with_text_values(usual.units, by_part["units"]),
        forcing=with_text_values(usual.forcing, by_part["forcing"]),
        generation=with_text_values(usual.generation, by_part["generation"]),
        fixed=tuple(sorted(fixed)),
        device=device,
    )


def translator_networks() -> dict[str, PairConfig]:
    """Return the networks that a translator can be made of: every kind, and the presets."""
    from ..models import PAIR_MODELS
    from ..models.seq2seq import PRESETS
    from .translator import Translator

    usual = Translator().network
    kinds = {name: kind() for name, kind in PAIR_MODELS.items()}
    return {**kinds, usual.name: usual, **PRESETS}


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
