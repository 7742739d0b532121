"""Parts of words as the pieces of a text: frequent words whole, rare ones in several parts.

The parts are those of byte-pair encoding (Sennrich et al., 2016), found by ``tokenizers``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...config import to_dict
from ...errors import DataError, MissingExtra
from ..vocab import PADDING, UNKNOWN
from .pieces import END, RESERVED, START, CutText, UnitsConfig, one_sentence

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["SubwordUnits"]

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
# The tokenizer has the unknown piece as its first; ours comes after three other reserved ids.
_SHIFT = len(RESERVED) - 1
_GAP = "▁"  # stands for a space before a piece


class SubwordUnits:
    """Parts of words by their ids, as ``tokenizers`` finds them."""

    def __init__(self, tokenizer: Tokenizer, config: UnitsConfig) -> None:
        self.config = config
        self._tokenizer = tokenizer

    @classmethod
    def from_texts(cls, texts: Iterable[str], config: UnitsConfig) -> SubwordUnits:
        """Learn which parts to merge from the texts; the same texts give the same parts."""
        return cls(_learn(texts, config), config)

    @classmethod
    def from_model(cls, model: object, config: UnitsConfig) -> SubwordUnits:
        """Take the parts that ``to_dict`` wrote as its model; anything else is an error.

        The library would believe more: patterns that never end, and parts on which it gives up.
        """
        made = json.loads(_learn([], config).to_str())
        if not isinstance(model, dict) or not isinstance(model.get("model"), dict):
            raise DataError("it has no parts of words")
        vocabulary, merges = model["model"].pop("vocab", None), model["model"].pop("merges", None)
        if not _agree(model, {**made, "model": {**made["model"], "vocab": None, "merges": None}}):
            raise DataError("its parts of words were not made by regard")
        _require_parts(vocabulary, merges)
        made["model"].update(vocab=vocabulary, merges=merges)
        from tokenizers import Tokenizer

        return cls(Tokenizer.from_str(json.dumps(made)), config)

    def __len__(self) -> int:
        """How many ids there are, the reserved ones counted."""
        return self._tokenizer.get_vocab_size() + _SHIFT

    def encode(self, texts: Sequence[str]) -> list[CutText]:
        """Cut each text into pieces."""
        known = [_without_surrogates(text) for text in texts]
        found: list[CutText] = []
        for text, cut in zip(texts, self._tokenizer.encode_batch(known), strict=True):
            ids = np.array(cut.ids, dtype=np.int32)
            spans = _trimmed(text, cut.offsets)
            shifted = np.where(ids > 0, ids + _SHIFT, UNKNOWN).astype(np.int32)
            found.append(CutText(one_sentence(text, spans), shifted))
        return found

    def decode(self, ids: Iterable[int]) -> str:
        """Write the text that pieces make; an unknown piece becomes the replacement character."""
        shown = [int(id) for id in ids if id not in (PADDING, START, END)]
        theirs = [0 if id == UNKNOWN else id - _SHIFT for id in shown]
        return self._tokenizer.decode(theirs, skip_special_tokens=False)

    def to_dict(self) -> Mapping[str, object]:
        """Return what the units are made of, as values that JSON can hold."""
        return {"config": to_dict(self.config), "model": json.loads(self._tokenizer.to_str())}


def _learn(texts: Iterable[str], config: UnitsConfig) -> Tokenizer:
    _require_library()
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token=_UNKNOWN))
    if config.lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Metaspace(_GAP), pre_tokenizers.Punctuation()]
    )
    tokenizer.decoder = decoders.Metaspace(_GAP)
    trainer = trainers.BpeTrainer(
        vocab_size=config.size - _SHIFT,
        min_frequency=config.min_count,
        limit_alphabet=config.size - _SHIFT - 1,
        # No name of a reserved id is among them: a text may hold it as a word like any other.
        special_tokens=[_UNKNOWN],
        show_progress=False,
    )
    tokenizer.train_from_iterator(map(_without_surrogates, texts), trainer)
    return tokenizer


def _agree(found: object, expected: object) -> bool:
    """Whether two JSON values say the same wherever both speak; versions add and drop names."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return all(_agree(found[name], expected[name]) for name in found.keys() & expected.keys())
    if isinstance(found, list) and isinstance(expected, list):
        return len(found) == len(expected) and all(map(_agree, found, expected))
    return type(found) is type(expected) and found == expected


def _require_parts(vocabulary: object, merges: object) -> None:
    """Raise ``DataError`` unless these are parts with their numbers, and pairs that make parts."""
    if not isinstance(vocabulary, dict) or vocabulary.get(_UNKNOWN) != 0:
        raise DataError("its first part of a word is not the unknown one")
    numbers = list(vocabulary.values())
    if {type(number) for number in numbers} != {int} or sorted(numbers) != list(
        range(len(numbers))
    ):
        raise DataError("its parts of words are not numbered one by one")
    if not isinstance(merges, list):
        raise DataError("it does not say which parts to merge")
    for merge in merges:
        pair = merge.split(" ") if isinstance(merge, str) else merge
        if not isinstance(pair, list) or len(pair) != 2 or {type(part) for part in pair} != {str}:
            raise DataError("it merges what are no two parts")
        if any(part not in vocabulary for part in (*pair, "".join(pair))):
            raise DataError(f"it merges {' and '.join(map(repr, pair))}, which are no parts of it")


def _require_library() -> None:
    try:
        import tokenizers  # noqa: F401
    except ImportError as error:
        raise MissingExtra("tokenizers", "translate", "a vocabulary of subwords") from error


def _without_surrogates(text: str) -> str:
    """Replace lone surrogates, which are no characters, by the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _trimmed(text: str, offsets: Sequence[tuple[int, int]]) -> NDArray[np.int32]:
    """Leave out white space before a piece from its span, and overlaps.

    A gap before the very first word was never written: its piece has an empty span.
    """
    spans = np.zeros((len(offsets), 2), dtype=np.int32)
    reached = 0
    for place, (start, end) in enumerate(offsets):
        begin = max(start, reached)
        while begin < end - 1 and text[begin].isspace():
            begin += 1
        ahead = place + 1 < len(offsets) and offsets[place + 1][0] < end
        spans[place] = (begin, begin if ahead else end)
        reached = spans[place, 1]
    return spans
