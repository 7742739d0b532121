"""``--set part.name=value``: settings from the shell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..config import require_one_of, with_text_values
from ..errors import ConfigError, suggestion

if TYPE_CHECKING:
    from ..estimators.classifier import DocumentClassifier
    from ..estimators.translator import Translator
    from ..models.seq2seq import Seq2SeqConfig

__all__ = [
    "CLASSIFIER_PARTS",
    "TRANSLATOR_PARTS",
    "classifier_from",
    "split_changes",
    "translator_from",
    "translator_networks",
]

CLASSIFIER_PARTS = ("network", "training", "text")
TRANSLATOR_PARTS = ("network", "training", "units", "forcing", "generation")


def classifier_from(model: str, changes: Sequence[str], *, device: str) -> DocumentClassifier:
    """Make a classifier of the named network, with its default settings changed as asked."""
    from ..estimators.classifier import DocumentClassifier
    from ..models import MODELS
    from ..text.tokenize import TextConfig
    from ..training.config import TrainingConfig

    require_one_of("--model", model, MODELS)
    by_part = split_changes(changes)
    return DocumentClassifier(
        with_text_values(MODELS[model](), by_part["network"]),
        training=with_text_values(TrainingConfig(), by_part["training"]),
        text=with_text_values(TextConfig(), by_part["text"]),
        device=device,
    )


def translator_from(changes: Sequence[str], *, device: str, model: str = "seq2seq") -> Translator:
    """Make a translator, with its default settings, or a preset's, changed as asked.

    What was asked for is not chosen by the number of pairs.
    """
    from ..estimators.translator import Translator

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


def translator_networks() -> dict[str, Seq2SeqConfig]:
    """Return the networks that a translator can be made of: the usual one, and the presets."""
    from ..estimators.translator import Translator
    from ..models.seq2seq import PRESETS

    usual = Translator().network
    return {usual.name: usual, **PRESETS}


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
