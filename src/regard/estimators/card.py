"""The model card: what was trained on what, how it scored, and how to use it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

__all__ = ["CARDS", "card"]


@dataclass(frozen=True)
class Wording:
    """What the card of one task says beside the facts."""

    title: str  # filled from config.json
    commands: Sequence[str]
    estimator: str
    variable: str
    sections: Sequence[str]  # of settings
    mind: Sequence[str]  # what whoever has the folder should know, paragraph by paragraph


CARDS = {
    "classify": Wording(
        title="A {model} classifier of {count} {kind}",
        commands=(
            'regard explain FOLDER --text "..."',
            "regard predict FOLDER new.csv --out predictions.csv",
        ),
        estimator="DocumentClassifier",
        variable="classifier",
        sections=("network", "training", "text"),
        mind=(
            "The vocabulary of this folder, and every report and explanation made with it, contain "
            "words of the texts it was trained on or shown. Share them as you would share those "
            "texts. By `seen.safetensors` whoever has a text can tell whether it was trained on, "
            "as `regard evaluate` does; the rest works without that file.",
            "The scores above were measured on validation data that chose the best epoch; measure "
            "on data that the training never saw with `regard evaluate FOLDER test.csv`.",
        ),
    ),
    "translate": Wording(
        title="A sequence-to-sequence translator",
        commands=(
            'regard translate FOLDER "..."',
            "regard translate FOLDER new.txt --out translations.txt",
        ),
        estimator="Translator",
        variable="translator",
        sections=("network", "units", "training", "forcing", "generation"),
        mind=(
            "The vocabularies of this folder contain words of the texts it was trained on. Share "
            "them as you would share those texts.",
            "The scores above were measured, by greedy writing, on validation data that chose the "
            "best epoch; measure on data that the training never saw with "
            "`regard evaluate FOLDER test.tsv`.",
        ),
    ),
}
"""The wording of every task's card."""


def card(about: Mapping[str, object]) -> str:
    """Return the card, as Markdown, of a model described by its ``config.json``."""
    wording = CARDS[str(about["task"])]
    facts = cast(Mapping[str, object], about["facts"])
    classes = cast(list[object], about.get("classes", []))
    kind = "labels" if about.get("multilabel") else "classes"
    title = wording.title.format(model=about["model"], count=len(classes), kind=kind)
    lines = [
        f"# {title}",
        "",
        "Trained with [regard](https://pypi.org/project/regard/) "
        f"{about['version']} on {facts.get('date', 'an unknown day')}.",
        "",
        "## Use",
        "",
        *("```", *wording.commands, "```"),
        "",
        "```python",
        f"from regard import {wording.estimator}",
        f'{wording.variable} = {wording.estimator}.load("FOLDER")',
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
    for part in wording.sections:
        lines += [f"### {part}", "", *_table(cast(Mapping[str, object], about[part])), ""]
    lines += ["## Mind", ""]
    for paragraph in wording.mind:
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
