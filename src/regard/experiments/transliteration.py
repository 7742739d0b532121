"""Korean words in Latin letters: two networks learn the rules, with attention and without.

A word is read letter by letter (ㅅ ㅓ ㄹ ㅇ ㅏ ㄱ) and written letter by letter (seorak). Most
letters are always written alike; where syllables meet, both decide.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..config import checked_settings, require
from ..data.pairs import EncodedPairs
from ..models.seq2seq import PRESETS
from ..nn.decoding.decoders import DecoderName
from ..records.experiment import Chart, Curve, Finding, ResultRow
from ..tasks.translations import character_error_rate
from ..text.units import RESERVED
from ..training.seeds import derived_seed
from .romanization import FINALS, INITIALS, VOWELS, romanized, syllable
from .running import Tell, training_of, under
from .sequences import DECODERS
from .teaching import Lesson, build, study, written

__all__ = ["Transliteration", "Words", "draw_words"]

_KOREAN = [
    *(syllable(place, 0, 0) for place in range(len(INITIALS))),
    *(syllable(0, place, 0) for place in range(len(VOWELS))),
    *(syllable(0, 0, place) for place in FINALS),
]
_LETTERS = sorted({*unicodedata.normalize("NFD", "".join(_KOREAN)), *string.ascii_lowercase})
_IDS = {letter: len(RESERVED) + place for place, letter in enumerate(_LETTERS)}


@dataclass(frozen=True)
@checked_settings
class Transliteration:
    """How long the words get, and how much is learnt from them.

    The learning rate falls to nothing over the epochs of a network. The one without attention gets
    more of them, so that it is not judged before it has learnt something.
    """

    name: ClassVar[str] = "transliteration"
    title: ClassVar[str] = "Korean words in Latin letters: mistakes a letter, by length"
    columns: ClassVar[tuple[str, ...]] = ("exact match", "character error rate")

    shortest: int = 2  # syllables
    longest: int = 8
    examples: int = 8_000
    asked: int = 200  # words of each length
    hidden_size: int = 64
    epochs: int = 12  # with attention
    plain_epochs: int = 30  # without
    batch_size: int = 32
    learning_rate: float = 2e-3

    def __post_init__(self) -> None:
        require(
            2 <= self.shortest <= self.longest,
            f"shortest must be from 2 to the longest, {self.longest}, got {self.shortest}",
        )

    @classmethod
    def quick(cls) -> Transliteration:
        """A few short words, looked at twice."""
        return cls(longest=3, examples=200, asked=10, hidden_size=12, epochs=1, plain_epochs=2)

    def run(self, seed: int, tell: Tell) -> Finding:
        """Teach both networks words of all lengths, then ask length by length."""
        words = draw_words(self, seed)
        rows, curves = [], []
        for way, decoder in DECODERS.items():
            answers = self._answers(decoder, words, seed, under(way, tell))
            marks = {length: _marked(words.asked, answers, length) for length in self._lengths}
            rows.append(ResultRow(way, _marked(words.asked, answers)))
            rows += [
                ResultRow(f"{way}, {length} syllables", both) for length, both in marks.items()
            ]
            points = tuple((float(length), errors) for length, (_, errors) in marks.items())
            curves.append(Curve(way, points))
        chart = Chart("lines", "syllables in the word", "character error rate", tuple(curves))
        return Finding(seed, tuple(rows), chart)

    @property
    def _lengths(self) -> range:
        return range(self.shortest, self.longest + 1)

    def _answers(self, decoder: DecoderName, words: Words, seed: int, tell: Tell) -> list[str]:
        """What a network writes about the words that are asked, once it has learnt."""
        lesson = words.lesson
        network = replace(PRESETS["addition"], decoder=decoder, hidden_size=self.hidden_size)
        model = build(network, lesson, seed)
        epochs = self.epochs if decoder == "luong" else self.plain_epochs
        training = training_of(replace(self, epochs=epochs), derived_seed(seed, "training"))
        study(model, lesson, training, tell)
        return [_text(one.ids.tolist()) for one in written(model, lesson.held_out)]


@dataclass(frozen=True)
class Words:
    """Words to learn from, and others to be asked about, as many of each length."""

    training: tuple[str, ...]
    asked: tuple[str, ...]

    @property
    def lesson(self) -> Lesson:
        """Both as ids: letters of Hangul to read, Latin ones to write."""
        return Lesson(_paired(self.training), _paired(self.asked), len(RESERVED) + len(_LETTERS))


def draw_words(config: Transliteration, seed: int) -> Words:
    """Draw words of all lengths; none that is asked about is learnt from."""
    random = np.random.default_rng(derived_seed(seed, "words"))
    lengths = range(config.shortest, config.longest + 1)
    asked = tuple(_word(random, length) for length in lengths for _ in range(config.asked))
    known, training = set(asked), list[str]()
    while len(training) < config.examples:
        word = _word(random, int(random.choice(lengths)))
        if word not in known:
            training.append(word)
    return Words(tuple(training), asked)


def _word(random: np.random.Generator, length: int) -> str:
    """Put random syllables together, half of them with a final."""
    initials = random.integers(0, len(INITIALS), length).tolist()
    vowels = random.integers(0, len(VOWELS), length).tolist()
    finals = random.choice(list(FINALS)[1:], length) * random.integers(0, 2, length)
    return "".join(map(syllable, initials, vowels, finals.tolist()))


def _paired(words: Sequence[str]) -> EncodedPairs:
    sources = [_ids(unicodedata.normalize("NFD", word)) for word in words]
    return EncodedPairs(sources, [_ids(romanized(word)) for word in words])


def _ids(text: str) -> list[int]:
    return [_IDS[letter] for letter in text]


def _text(ids: Sequence[int]) -> str:
    return "".join(_LETTERS[id - len(RESERVED)] for id in ids if id >= len(RESERVED))


def _marked(
    words: Sequence[str], answers: Sequence[str], length: int | None = None
) -> tuple[float, float]:
    """The share of words that are written right, and the character error rate of all."""
    pairs = [
        (romanized(word), answer)
        for word, answer in zip(words, answers, strict=True)
        if length in (None, len(word))
    ]
    expected, found = zip(*pairs, strict=True)
    exact = sum(map(str.__eq__, expected, found)) / len(pairs)
    return exact, character_error_rate(found, expected)
