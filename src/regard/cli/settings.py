"""``--set part.name=value``: settings from the shell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..config import require_one_of, with_text_values
from ..errors import ConfigError, suggestion

if TYPE_CHECKING:
    from ..estimators.classifier import DocumentClassifier

__all__ = ["classifier_from", "split_changes"]

PARTS = ("network", "training", "text")


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


def split_changes(changes: Sequence[str]) -> dict[str, dict[str, str]]:
    """Sort ``part.name=value`` by part; a later change of the same setting wins."""
    by_part: dict[str, dict[str, str]] = {part: {} for part in PARTS}
    for change in changes:
        path, equals, value = change.partition("=")
        part, dot, name = path.strip().partition(".")
        if not (equals and dot):
            raise ConfigError(
                f"--set takes part.name=value, such as network.hidden_size=100, got {change!r}"
            )
        if part not in by_part:
            raise ConfigError(f"--set knows no part {part!r}; {suggestion(part, PARTS)}")
        by_part[part][name] = value.strip()
    return by_part
