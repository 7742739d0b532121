"""The card of a translator: what was trained on what, how it scored, and how to use it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from .card import table

__all__ = ["translator_card"]

PARTS = ("network", "units", "training", "forcing", "generation")


def translator_card(about: Mapping[str, object]) -> str:
    """Return the card, as Markdown, of a translator described by its ``config.json``."""
    facts = cast(Mapping[str, object], about["facts"])
    lines = [
        "# A sequence-to-sequence translator",
        "",
        "Trained with [regard](https://pypi.org/project/regard/) "
        f"{about['version']} on {facts.get('date', 'an unknown day')}.",
        "",
        "## Use",
        "",
        "```",
        'regard translate FOLDER "..."',
        "regard translate FOLDER new.txt --out translations.txt",
        "```",
        "",
        "```python",
        "from regard import Translator",
        'translator = Translator.load("FOLDER")',
        "```",
        "",
        "## Facts",
        "",
        *table(facts),
        "",
        "## Settings",
        "",
    ]
    for part in PARTS:
        lines += [f"### {part}", "", *table(cast(Mapping[str, object], about[part])), ""]
    lines += [
        "## Mind",
        "",
        "The vocabularies of this folder contain words of the texts it was trained on. Share them "
        "as you would share those texts.",
        "",
        "The scores above were measured, by greedy writing, on validation data that chose the best "
        "epoch; measure on data that the training never saw with "
        "`regard evaluate FOLDER test.tsv`.",
        "",
    ]
    return "\n".join(lines)
