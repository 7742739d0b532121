"""Where ``summary`` of ``regard.views.evaluation`` was; kept for one version."""

from __future__ import annotations

from ..former import find_former_name

__all__: list[str] = []


def __getattr__(name: str) -> object:
    return find_former_name(__name__, name, {"summary": "regard.views.evaluation.terminal.summary"})
