"""Where ``render`` of ``regard.views.explanation`` was; kept for one version."""

from __future__ import annotations

from ..former import find_former_name

__all__: list[str] = []


def __getattr__(name: str) -> object:
    now = {"render": "regard.views.explanation.page.render_beside"}
    return find_former_name(__name__, name, now)
