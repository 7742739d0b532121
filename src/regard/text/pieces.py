"""Word pieces, as BERT reads texts: frequent words whole, others in pieces that begin with ##.

They are those of Wu et al. (2016), learnt and found by ``tokenizers``. A text that holds the name
of a special piece, such as [SEP], is read as those letters: no text can pass for our own marks.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..config import checked_settings, require
from ..errors import DataError, MissingExtra, ModelError
from .document import cut_stream
from .encode import Encoded
from .units import lay_out, without_surrogates

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["SPECIAL", "PiecesConfig", "WordPieces", "require_tokenizers"]

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""Padding, an unknown word, the start of a row, the end of each text in it, and a hidden piece."""

CONTINUES = "##"
"""Begins the pieces that go on with a word."""

LONGEST_WORD = 100
"""Letters of a word at most; a longer one is unknown, as it is to BERT."""

_MOST_LETTERS = 6000  # different ones that have pieces; the rest are unknown
_WITH_SPACES = re.compile(  # letters that are words by themselves, to BERT's way of cutting
    "[\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff\U00020000-\U0002ceaf\U0002f800-\U0002fa1f]"
)
_TABLE, _WHOLE, _OPTIONS = "vocab.txt", "tokenizer.json", "tokenizer_config.json"


@dataclass(frozen=True)
@checked_settings
class PiecesConfig:
    """How many different pieces there are at most, and how letters are read."""

    size: int = 8000  # the special ones counted
    min_count: int = 2  # how often the texts must hold what becomes a piece
    lowercase: bool = True  # read in lower case and without accents; the text is never altered

    def __post_init__(self) -> None:
        require(
            len(SPECIAL) < self.size <= 1_000_000,
            f"size must be from {len(SPECIAL) + 1} to 1,000,000, got {self.size}",
        )
        require(self.min_count >= 1, f"min_count must be at least 1, got {self.min_count}")


class WordPieces:
    """A vocabulary of word pieces: the id of a piece is its place in ``pieces``."""

    def __init__(
        self,
        pieces: Sequence[str],
        *,
        lowercase: bool = True,
        strip_accents: bool | None = None,  # None: where the letters are made small
    ) -> None:
        require_tokenizers()
        self.pieces = list(pieces)
        self.lowercase, self.strip_accents = lowercase, strip_accents
        ids = {piece: id for id, piece in enumerate(self.pieces)}
        if len(ids) < len(self.pieces):
            twice = Counter(self.pieces).most_common(1)[0][0]
            raise DataError(f"a vocabulary cannot hold {twice!r} twice")
        missing = [piece for piece in SPECIAL if piece not in ids]
        if missing:
            raise DataError(
                f"the word pieces lack {', '.join(missing)}; they are not those of BERT"
            )
        self.padding, self.unknown, self.start, self.end, self.mask = (ids[p] for p in SPECIAL)
        self.continues = np.array([piece.startswith(CONTINUES) for piece in self.pieces])
        self._tokenizer = _tokenizer(ids, lowercase=lowercase, strip_accents=strip_accents)

    @classmethod
    def from_texts(
        cls,
        texts: Callable[[], Iterable[str]],
        config: PiecesConfig = PiecesConfig(),
    ) -> WordPieces:
        """Learn pieces from texts, which are read twice; the same texts give the same pieces."""
        require_tokenizers()
        return cls(_learn(texts, config), lowercase=config.lowercase)

    @classmethod
    def load(cls, folder: Path) -> WordPieces:
        """Read the pieces of a BERT folder: ``tokenizer.json``, or ``vocab.txt`` and options."""
        try:
            if (folder / _WHOLE).is_file():
                return _from_whole(json.loads((folder / _WHOLE).read_text(encoding="utf-8")))
            return _from_table(folder)
        except FileNotFoundError as problem:
            raise ModelError(f"{folder} has neither {_WHOLE} nor {_TABLE}") from problem
        except (DataError, ValueError, RecursionError, OSError) as problem:
            raise ModelError(f"{folder} holds no word pieces of BERT: {problem}") from problem

    def save(self, folder: Path) -> None:
        """Write ``vocab.txt``, and the options as ``transformers`` reads them."""
        broken = next((piece for piece in self.pieces if len(piece.splitlines()) != 1), None)
        if broken is not None:
            raise DataError(f"{_TABLE} holds a piece a line, so {broken!r} cannot be written to it")
        lines = "".join(f"{piece}\n" for piece in self.pieces)
        (folder / _TABLE).write_text(lines, encoding="utf-8", newline="\n")
        options = {
            "do_lower_case": self.lowercase,
            "strip_accents": self.strip_accents,
            "tokenize_chinese_chars": True,
            "tokenizer_class": "BertTokenizer",
        }
        (folder / _OPTIONS).write_text(json.dumps(options, indent=2) + "\n", encoding="utf-8")

    def __len__(self) -> int:
        """How many ids there are, the special ones counted."""
        return len(self.pieces)

    def encode(self, texts: Sequence[str]) -> Encoded:
        """Cut each text into pieces; each is one sentence, without special pieces around it."""
        ids, spans = [], []
        for cut in self._cut(texts):
            ids.append(np.array(cut.ids, dtype=np.int32))
            spans.append(_apart(np.array(cut.offsets, dtype=np.int32).reshape(-1, 2)))
        return lay_out(ids, spans)

    def ids(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """The ids of each text; where they lie in it is not asked for, which is quicker."""
        return [np.array(cut.ids, dtype=np.int32) for cut in self._cut(texts)]

    def decode(self, ids: Iterable[int]) -> str:
        """Write pieces with a space between words; which space was there is not known."""
        hidden = (self.padding, self.start, self.end)
        shown = [
            "\N{REPLACEMENT CHARACTER}" if id == self.unknown else self.pieces[id]
            for id in ids
            if id not in hidden
        ]
        return " ".join(shown).replace(f" {CONTINUES}", "")

    def _cut(self, texts: Sequence[str]):  # type: ignore[no-untyped-def]  # theirs has no name
        return self._tokenizer.encode_batch(
            [without_surrogates(text) for text in texts], add_special_tokens=False
        )


def require_tokenizers() -> None:
    """Raise ``MissingExtra`` where there is no library to find word pieces."""
    try:
        import tokenizers  # noqa: F401
    except ImportError as error:
        raise MissingExtra("tokenizers", "bert", "BERT") from error


def _tokenizer(ids: Mapping[str, int], *, lowercase: bool, strip_accents: bool | None) -> Tokenizer:
    """Make the cutter of texts anew, whatever a folder says of one: patterns there may not end."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(
        models.WordPiece(
            dict(ids),
            unk_token=SPECIAL[1],
            continuing_subword_prefix=CONTINUES,
            max_input_chars_per_word=LONGEST_WORD,
        )
    )
    tokenizer.normalizer = normalizers.BertNormalizer(
        lowercase=lowercase, strip_accents=strip_accents
    )
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


def _learn(texts: Callable[[], Iterable[str]], config: PiecesConfig) -> list[str]:
    from tokenizers import trainers

    blank = _tokenizer({SPECIAL[1]: 0}, lowercase=config.lowercase, strip_accents=None)
    normalize = blank.normalizer.normalize_str
    counts: Counter[str] = Counter()
    for some in cut_stream(texts(), len):
        for text in some:
            counts.update(normalize(without_surrogates(text)))
    for space in [letter for letter in counts if letter.isspace()]:
        del counts[space]
    room = min(_MOST_LETTERS, max(1, (config.size - len(SPECIAL)) // 2))
    common = sorted(counts, key=lambda letter: (-counts[letter], letter))[:room]
    # Given before the training, their order is that of the alphabet. Found by it, it would be
    # that of a table with random places, and so would be which of two equal pairs is merged.
    going_on = [CONTINUES + letter for letter in sorted(common) if not _WITH_SPACES.match(letter)]
    alphabet = sorted([*common, *going_on])
    rare = str.maketrans(dict.fromkeys(set(counts) - set(common), " "))
    trainer = trainers.WordPieceTrainer(
        vocab_size=config.size,
        min_frequency=config.min_count,
        special_tokens=[*SPECIAL, *alphabet],
        continuing_subword_prefix=CONTINUES,
        show_progress=False,
    )
    prepared = (normalize(without_surrogates(text)).translate(rare) for text in texts())
    blank.train_from_iterator(prepared, trainer)
    learnt = blank.get_vocab(with_added_tokens=False)
    return sorted(learnt, key=learnt.__getitem__)


def _apart(offsets: NDArray[np.int32]) -> NDArray[np.int32]:
    """Spans that do not overlap: of several pieces of one letter the last has it."""
    starts, ends = offsets[:, 0].copy(), offsets[:, 1].copy()
    ends[:-1] = np.where(starts[1:] < ends[:-1], starts[:-1], ends[:-1])
    return np.stack([starts, ends], 1)


def _from_whole(whole: object) -> WordPieces:
    if not isinstance(whole, dict) or not isinstance(whole.get("model"), dict):
        raise DataError(f"{_WHOLE} names no model")
    model, normalizer = whole["model"], whole.get("normalizer")
    table = model.get("vocab")
    # Old files do not name the kind of their model.
    known = model.get("type", "WordPiece") == "WordPiece"
    prefix = model.get("continuing_subword_prefix", CONTINUES)
    if not known or prefix != CONTINUES or not isinstance(table, dict):
        raise DataError(f"{_WHOLE} holds other pieces than those of words")
    options = normalizer if isinstance(normalizer, dict) else {}
    if options.get("type") != "BertNormalizer":
        raise DataError(f"{_WHOLE} prepares texts in another way than BERT")
    added = {token["content"]: token["id"] for token in whole.get("added_tokens", ())}
    return WordPieces(
        _in_order({**table, **added}),
        lowercase=options.get("lowercase", True) is True,
        strip_accents=_flag(options.get("strip_accents")),
    )


def _from_table(folder: Path) -> WordPieces:
    pieces = (folder / _TABLE).read_text(encoding="utf-8").split("\n")
    if pieces and not pieces[-1]:
        pieces.pop()
    options: object = {}
    if (folder / _OPTIONS).is_file():
        options = json.loads((folder / _OPTIONS).read_text(encoding="utf-8"))
    if not isinstance(options, dict):
        raise DataError(f"{_OPTIONS} holds no options")
    return WordPieces(
        [piece.rstrip("\r") for piece in pieces],
        lowercase=options.get("do_lower_case", True) is True,
        strip_accents=_flag(options.get("strip_accents")),
    )


def _in_order(table: Mapping[object, object]) -> list[str]:
    """The pieces by their ids, which count from zero without a gap."""
    places: dict[int, str] = {}
    for piece, id in table.items():
        if not isinstance(piece, str) or isinstance(id, bool) or not isinstance(id, int):
            raise DataError("its pieces are not numbered")
        places[id] = piece
    if sorted(places) != list(range(len(table))):
        raise DataError("its pieces are not numbered one by one")
    return [places[id] for id in range(len(places))]


def _flag(value: object) -> bool | None:
    return value if isinstance(value, bool) else None
