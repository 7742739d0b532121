"""The model card: what was trained on what, how it scored, and how to use it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import cast

__all__ = ["card", "code", "table"]


def card(about: Mapping[str, object]) -> str:
    """Return the card, as Markdown, of a model described by its ``config.json``."""
    facts = cast(Mapping[str, object], about["facts"])
    classes = cast(list[object], about["classes"])
    kind = "labels" if about["multilabel"] else "classes"
    lines = [
        f"# A {about['model']} classifier of {len(classes)} {kind}",
        "",
        "Trained with [regard](https://pypi.org/project/regard/) "
        f"{about['version']} on {facts.get('date', 'an unknown day')}.",
        "",
        "## Use",
        "",
        "```",
        'regard explain FOLDER --text "..."',
        "regard predict FOLDER new.csv --out predictions.csv",
        "```",
        "",
        "```python",
        "from regard import DocumentClassifier",
        'classifier = DocumentClassifier.load("FOLDER")',
        "```",
        "",
        "## Facts",
        "",
        *table(facts),
        "",
        "## Classes",
        "",
        ", ".join(code(name) for name in classes),
        "",
        "## Settings",
        "",
    ]
    for part in ("network", "training", "text"):
        lines += [f"### {part}", "", *table(cast(Mapping[str, object], about[part])), ""]
    lines += [
        "## Mind",
        "",
        "The vocabulary of this folder, and every report and explanation made with it, contain "
        "words of the texts it was trained on or shown. Share them as you would share those texts. "
        "By `seen.safetensors` whoever has a text can tell whether it was trained on, as "
        "`regard evaluate` does; the rest works without that file.",
        "",
        "The scores above were measured on validation data that chose the best epoch; measure on "
        "data that the training never saw with `regard evaluate FOLDER test.csv`.",
        "",
    ]
    return "\n".join(lines)


def table(values: Mapping[str, object]) -> list[str]:
    """Names and values as the lines of a Markdown table."""
    rows = [f"| {name.replace('_', ' ')} | {code(value)} |" for name, value in values.items()]
    return ["| what | value |", "|---|---|", *rows]


def code(value: object) -> str:
    """Return a value as inline code, whatever characters it holds."""
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    text = text.replace("\n", " ").replace("|", "\\|")
    if not text.strip():
        return "(empty)"
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    # A longer fence than any within, and a space, because the text may begin with a backtick.
    return f"{'`' * (longest + 1)} {text} {'`' * (longest + 1)}" if longest else f"`{text}`"
