"""Texts to ids of words in JavaScript: the scanner of ``assets``, with the tables it follows.

The tables are written down by Python, so that no browser's own idea of Unicode counts.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import cache
from importlib import resources

import numpy as np

from ..text.characters import kind_table, lower_table
from ..text.markup import BLOCK_TAGS, ENTITIES, INLINE_TAGS
from ..text.sentences import WORD_LISTS
from ..text.spelling import ALIKE, NEAREST
from ..text.words import PARTICLES, STANDING

__all__ = ["asset", "reader_module", "scanner_rules"]

_LISTS = (
    *("abbreviations", "beforeNumbers", "oftenLast", "starters", "ordinals", "names"),
    *("beforeYo", "beforeDa"),
)
"""How the script calls the lists of ``WORD_LISTS``, in their order."""

_MODULE = """
/** Make a reader of the vocabulary's file and of how texts were read in training. */
export async function createReader(vocabulary, config) {
  const rules = makeRules(RULES, config.parted);
  const reader = new Reader(vocabulary.split("\\n"), rules, config);
  return { read: (texts) => readTogether(reader, texts) };
}

function readTogether(reader, texts) {
  const wordIds = [], sentenceLengths = [], documentLengths = [], spans = [];
  for (const text of texts) {
    const found = reader.read(text), units = [0];
    for (const letter of text) units.push(units.at(-1) + letter.length);
    for (const row of found.rows) {
      for (const id of row) wordIds.push(id);
      sentenceLengths.push(row.length);
    }
    for (const [start, end] of found.spans) spans.push(units[start], units[end]);
    documentLengths.push(found.rows.length);
  }
  return {
    wordIds: Int32Array.from(wordIds),
    sentenceLengths: Int32Array.from(sentenceLengths),
    documentLengths: Int32Array.from(documentLengths),
    spans: Int32Array.from(spans), // where each word begins and ends, in UTF-16 units
  };
}
"""


def asset(name: str) -> str:
    """Return the text of a script that comes with the package."""
    return resources.files(__package__).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def scanner_rules() -> dict[str, object]:
    """Return all that the rules for texts know of characters and words, as plain data."""
    kinds = kind_table()
    starts = np.concatenate([[0], np.flatnonzero(np.diff(kinds)) + 1])
    lower = lower_table()
    changed = np.flatnonzero(lower != np.arange(len(lower)))
    tags = dict.fromkeys(sorted(INLINE_TAGS), ord(" "))
    return {
        "kinds": {
            "lengths": np.diff(starts, append=len(kinds)).tolist(),
            "letters": kinds[starts].tobytes().decode("ascii"),
        },
        "lower": np.stack([changed, lower[changed]], axis=1).ravel().tolist(),
        "tags": tags | dict.fromkeys(sorted(BLOCK_TAGS), ord("\f")),
        "entities": ENTITIES,
        "alike": asdict(ALIKE),
        "nearest": asdict(NEAREST),
        "lists": {name: sorted(words) for name, words in zip(_LISTS, WORD_LISTS, strict=True)}
        | {"particles": sorted(PARTICLES), "standing": sorted(STANDING)},
    }


def reader_module() -> str:
    """Return a module for Node or a browser whose ``createReader`` reads texts as regard does."""
    rules = json.dumps(scanner_rules(), separators=(",", ":"))
    return f"{asset('scanner.js')}\nconst RULES = {rules};\n{_MODULE}"
