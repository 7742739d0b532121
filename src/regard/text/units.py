"""The pieces that a text is read or written in: words, characters or parts of words.

A piece has an id and a span in the text, and from the ids the text can be written again. So
that this works for words too, a word with white space before it is another piece than one without.
Parts of words are those of byte-pair encoding (Sennrich et al., 2016), found by ``tokenizers``:
frequent words whole, rare ones in several parts.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ..config import checked_settings, from_dict, require, require_one_of, to_dict
from ..errors import ConfigError, DataError, MissingExtra, ModelError
from .characters import lower_words
from .document import Tokens, cut_stream
from .encode import Encoded
from .tokenize import tokenize_many
from .vocab import PADDING, UNKNOWN, Vocabulary

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "END",
    "KINDS",
    "RESERVED",
    "START",
    "ListedUnits",
    "SubwordUnits",
    "Units",
    "UnitsConfig",
    "build_units",
    "lay_out",
    "load_units",
    "save_units",
    "spell",
    "without_surrogates",
]

START = 2
"""The id that stands before the first piece of a written text."""
END = 3
"""The id that stands after the last piece of a written text."""
RESERVED = ("<pad>", "<oov>", "<start>", "<end>")
"""The names of the first ids: padding and unknown as in every vocabulary, then start and end."""

MOST = 1_000_000
"""How many different pieces there can be; memory for all of them is taken before the first."""

UnitKind = Literal["words", "characters", "subwords"]
KINDS: tuple[UnitKind, ...] = ("words", "characters", "subwords")

Spans = NDArray[np.int32]

_UNKNOWN = "\N{REPLACEMENT CHARACTER}"
# The tokenizer has the unknown piece as its first; ours comes after three other reserved ids.
_SHIFT = len(RESERVED) - 1
_GAP = "▁"  # stands for a space before a piece


@dataclass(frozen=True)
@checked_settings
class UnitsConfig:
    """Which pieces texts are made of, and how many different ones there are at most."""

    kind: UnitKind = "subwords"
    size: int = 8000  # different pieces at most, the reserved ones counted
    min_count: int = 2  # a piece that the training texts hold fewer times is unknown
    lowercase: bool = False  # read and write in lower case; the text itself is never altered
    shared: bool = False  # one vocabulary for sources and targets
    longest: int = 200  # pieces of a text at most; training leaves longer ones out

    def __post_init__(self) -> None:
        require_one_of("kind", self.kind, KINDS)
        require(5 <= self.size <= MOST, f"size must be from 5 to {MOST:,}, got {self.size}")
        require(self.min_count >= 1, f"min_count must be at least 1, got {self.min_count}")
        require(self.longest >= 1, f"longest must be at least 1, got {self.longest}")


class Units(Vocabulary, Protocol):
    """A vocabulary from whose ids a text can be written as it was; every text is one sentence."""

    @property
    def config(self) -> UnitsConfig:
        """How the pieces were made."""
        ...

    def to_dict(self) -> Mapping[str, object]:
        """Return what the units are made of, as values that JSON can hold."""
        ...


def build_units(texts: Iterable[str], config: UnitsConfig) -> Units:
    """Find the pieces that the training texts are best cut into."""
    if config.kind == "subwords":
        return SubwordUnits.from_texts(texts, config)
    return ListedUnits.from_texts(texts, config)


def save_units(units: Units, path: Path) -> None:
    """Write the pieces to a JSON file."""
    path.write_text(json.dumps(units.to_dict(), indent=1), encoding="utf-8")


def load_units(path: Path) -> Units:
    """Read what ``save_units`` wrote."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(values, dict) or not isinstance(values.get("config"), dict):
            raise DataError("it names no settings")
        config = from_dict(UnitsConfig, values["config"])
        if config.kind == "subwords":
            return SubwordUnits.from_model(values.get("model"), config)
        return ListedUnits.from_pieces(values.get("pieces"), config)
    except (ConfigError, DataError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} holds no pieces of text: {error}") from error


class ListedUnits:
    """Words or characters by their ids; a word after white space begins with a space."""

    def __init__(self, pieces: Iterable[str], config: UnitsConfig) -> None:
        self.config = config
        self.pieces = [*RESERVED, *pieces]
        self._ids = {piece: id for id, piece in enumerate(self.pieces) if id >= len(RESERVED)}

    @classmethod
    def from_texts(cls, texts: Iterable[str], config: UnitsConfig) -> ListedUnits:
        """Take the pieces that occur often enough, falling by frequency, then by alphabet."""
        units = cls((), config)
        counts: Counter[str] = Counter()
        for some in cut_stream(texts, len):
            for pieces, _ in units._cut(some):
                counts.update(pieces)
        frequent = sorted(item for item in counts.items() if item[1] >= config.min_count)
        frequent.sort(key=lambda item: item[1], reverse=True)
        room = config.size - len(RESERVED)
        return cls((piece for piece, _ in frequent[:room]), config)

    @classmethod
    def from_pieces(cls, pieces: object, config: UnitsConfig) -> ListedUnits:
        """Take the pieces that ``to_dict`` wrote; what cannot be such a list is an error."""
        if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
            raise DataError("its pieces are no list of texts")
        if len(set(pieces)) < len(pieces):
            raise DataError(f"it holds {Counter(pieces).most_common(1)[0][0]!r} twice")
        return cls(pieces, config)

    def __len__(self) -> int:
        """How many ids there are, the reserved ones counted."""
        return len(self.pieces)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Cut each text into pieces."""
        ids, spans = [], []
        for pieces, places in self._cut(texts):
            ids.append(np.fromiter(map(self._ids.get, pieces, itertools.repeat(UNKNOWN)), np.int32))
            spans.append(places)
        return lay_out(ids, spans)

    def decode(self, ids: Iterable[int]) -> str:
        """Write the text that pieces make; an unknown piece becomes the replacement character."""
        shown = [id for id in ids if id not in (PADDING, START, END)]
        gap = " " if self.config.kind == "words" else ""
        unknown = f"{gap}\N{REPLACEMENT CHARACTER}"
        text = "".join(unknown if id == UNKNOWN else self.pieces[id] for id in shown)
        return text.removeprefix(gap)

    def to_dict(self) -> Mapping[str, object]:
        """Return what the units are made of, as values that JSON can hold."""
        return {"config": to_dict(self.config), "pieces": self.pieces[len(RESERVED) :]}

    def _cut(self, texts: Sequence[str]) -> Iterator[tuple[list[str], Spans]]:
        for pieces, spans in _CUTS[self.config.kind](texts):
            yield (lower_words(pieces) if self.config.lowercase else pieces), spans


def _cut_words(texts: Sequence[str]) -> Iterator[tuple[list[str], Spans]]:
    for tokens in tokenize_many(texts):
        starts, ends = tokens.spans[:, 0], tokens.spans[:, 1]
        # The first word counts as one after white space, so that it is the same anywhere.
        apart = np.ones(len(starts), dtype=bool)
        apart[1:] = starts[1:] > ends[:-1]
        words = zip(apart.tolist(), tokens.words(), strict=True)
        yield [f" {word}" if gap else word for gap, word in words], tokens.spans


def _cut_characters(texts: Sequence[str]) -> Iterator[tuple[list[str], Spans]]:
    for text in texts:
        starts = np.arange(len(text), dtype=np.int32)
        yield list(text), np.stack([starts, starts + 1], 1)


_CUTS: dict[str, Callable[[Sequence[str]], Iterator[tuple[list[str], Spans]]]] = {
    "words": _cut_words,
    "characters": _cut_characters,
}


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

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Cut each text into pieces."""
        known = [without_surrogates(text) for text in texts]
        ids, spans = [], []
        for text, cut in zip(texts, self._tokenizer.encode_batch(known), strict=True):
            theirs = np.array(cut.ids, dtype=np.int32)
            ids.append(np.where(theirs > 0, theirs + _SHIFT, UNKNOWN))
            spans.append(_trim(text, cut.offsets))
        return lay_out(ids, spans)

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
    tokenizer.train_from_iterator(map(without_surrogates, texts), trainer)
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


def without_surrogates(text: str) -> str:
    """Replace lone surrogates, which are no characters, by the replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _trim(text: str, offsets: Sequence[tuple[int, int]]) -> NDArray[np.int32]:
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


def lay_out(ids: Sequence[NDArray[np.int32]], spans: Sequence[Spans]) -> Encoded:
    """Lay the pieces of texts end to end, each text as one sentence, and an empty one as none."""
    lengths = np.array([len(row) for row in ids], dtype=np.int64)
    return Encoded(
        ids=np.concatenate([np.empty(0, np.int32), *ids], dtype=np.int32),
        spans=np.concatenate([np.empty((0, 2), np.int32), *spans], dtype=np.int32),
        lengths=lengths,
        sentence_lengths=lengths[lengths > 0].astype(np.int32),
        sentences=(lengths > 0).astype(np.int64),
    )


def spell(units: Units, ids: Sequence[int], instead: Mapping[int, str] | None = None) -> Tokens:
    """Write the text that pieces make, and say where in it each of them stands.

    White space before a piece is left out of its span, as where a text is cut; start, end and
    padding have an empty span. ``instead`` gives what to write at some places, such as those of
    unknown pieces.
    """
    text = units.decode(ids)
    ends = [len(units.decode(ids[:count])) for count in range(len(ids) + 1)]
    spans = np.zeros((len(ids), 2), dtype=np.int32)
    for place, (start, end) in enumerate(itertools.pairwise(ends)):
        # Written together, pieces may make less than one by one, such as a space at an end.
        begin, stop = min(start, len(text)), min(end, len(text))
        while begin < stop and text[begin].isspace():
            begin += 1
        spans[place] = (begin, max(begin, stop))
    for place, written in sorted((instead or {}).items(), reverse=True):
        begin, stop = spans[place].tolist()
        text = text[:begin] + written + text[stop:]
        spans[place, 1] = begin + len(written)
        spans[place + 1 :] += len(written) - (stop - begin)
    return Tokens(text, spans, np.array([len(ids)] if ids else [], dtype=np.int32))
