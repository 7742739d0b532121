"""Where ``compare`` of ``regard.look.difference`` was; kept for one version."""

from __future__ import annotations

from ..former import find_former_name

__all__: list[str] = []

_NOW = {
    "Comparison": "regard.look.difference.Comparison",
    "compare": "regard.look.difference.compare",
}


def __getattr__(name: str) -> object:
    return find_former_name(__name__, name, _NOW)
