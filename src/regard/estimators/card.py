"""The model card: what was trained on what, how it scored, and how to use it.

Each kind of estimator hands its own wording over when it is saved.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

__all__ = ["Card"]


@dataclass(frozen=True)
class Card:
    """What the card of one kind of model says beside the facts."""

    title: str  # filled from config.json
    commands: Sequence[str]
    python: Sequence[str]  # how it is loaded
    sections: Sequence[str]  # of settings
    mind: Sequence[str]  # what whoever has the folder should know, paragraph by paragraph

    def write(self, about: Mapping[str, object]) -> str:
        """Return the card, as Markdown, of a model described by its ``config.json``."""
        facts = cast(Mapping[str, object], about["facts"])
        classes = cast(list[object], about.get("classes", []))
        kind = "labels" if about.get("multilabel") else "classes"
        title = self.title.format(model=about["model"], count=len(classes), kind=kind)
        lines = [
            f"# {title}",
            "",
            f"Trained with regard {about['version']} on {facts.get('date', 'an unknown day')}.",
            "",
            "## Use",
            "",
            *("```", *self.commands, "```"),
            "",
            "```python",
            *self.python,
            "```",
            "",
            "## Facts",
            "",
            *_table(facts),
            "",
        ]
        if classes:
            lines += ["## Classes", "", ", ".join(_code(name) for name in classes), ""]
        lines += ["## Settings", ""]
        for part in self.sections:
            lines += [f"### {part}", "", *_table(cast(Mapping[str, object], about[part])), ""]
        lines += ["## Mind", ""]
        for paragraph in self.mind:
            lines += [paragraph, ""]
        return "\n".join(lines)


def _table(values: Mapping[str, object]) -> list[str]:
    """Names and values as the lines of a Markdown table."""
    rows = [f"| {name.replace('_', ' ')} | {_code(value)} |" for name, value in values.items()]
    return ["| what | value |", "|---|---|", *rows]


def _code(value: object) -> str:
    """Return a value as inline code, whatever characters it holds."""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    text = text.replace("\n", " ").replace("|", "\\|")
    if not text.strip():
        return "(empty)"
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    # A longer fence than any within, and a space, because the text may begin with a backtick.
    return f"{'`' * (longest + 1)} {text} {'`' * (longest + 1)}" if longest else f"`{text}`"
