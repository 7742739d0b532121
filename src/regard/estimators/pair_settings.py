"""How a translator is trained on so many pairs, where nothing else was asked for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

from ..config import Plain
from .saved import TranslatorSettings

__all__ = ["FEW_PAIRS", "Fixed", "suit_pairs"]

Fixed = Collection[str] | Literal["all"]
"""Settings that stay as they are, such as ``training.epochs``."""

FEW_PAIRS: dict[int, Mapping[str, Plain]] = {
    2_000: {
        "network.embedding_size": 64,
        "network.hidden_size": 128,
        "network.layers": 1,
        "units.size": 1000,
        "training.batch_size": 16,
        "training.learning_rate": 2e-3,
        "training.epochs": 40,
    },
    6_000: {
        "network.embedding_size": 64,
        "network.hidden_size": 128,
        "network.layers": 1,
        "units.size": 2000,
        "training.batch_size": 16,
        "training.learning_rate": 2e-3,
    },
    20_000: {
        "network.embedding_size": 128,
        "network.hidden_size": 256,
        "network.layers": 1,
        "units.size": 4000,
        "training.batch_size": 32,
    },
}
"""What suits at most so many pairs; more than the last have the usual settings.

Few pairs need small steps on small batches, or the weights hardly move, and few pieces, or most
are met too rarely to be learned. ``benchmarks/few_pairs.py`` compares.
"""


def suit_pairs(
    asked: TranslatorSettings, usual: TranslatorSettings, *, pairs: int, fixed: Fixed = ()
) -> tuple[TranslatorSettings, dict[str, Plain]]:
    """Choose the settings that are still the usual ones by the number of pairs; say which.

    A setting that was changed stays, and so does one that is ``fixed``. A network of which anything
    was changed stays whole: its sizes belong together.
    """
    limit = next((most for most in FEW_PAIRS if pairs <= most), None)
    chosen: dict[str, Plain] = {}
    if limit is None or fixed == "all":
        return asked, chosen
    before, ours = asked.to_dict(), usual.to_dict()
    own_network = before["network"] != ours["network"]
    for path, value in FEW_PAIRS[limit].items():
        part, _, name = path.partition(".")
        # How many words are enough is another matter than how many parts of words.
        by_words = path == "units.size" and asked.units.kind != "subwords"
        applies = not by_words and not (part == "network" and own_network)
        if applies and path not in fixed and before[part][name] == ours[part][name] != value:
            chosen[path] = value
            settings = replace(getattr(asked, part), **{name: value})
            asked = replace(asked, **{part: settings})
    return asked, chosen
