import unicodedata

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.experiments.romanization import romanized
from regard.experiments.transliteration import Transliteration, draw_words
from regard.text.units import END


def test_no_word_that_is_asked_is_learnt_from():
    words = draw_words(Transliteration(examples=300, asked=20), seed=0)
    assert (len(words.training), len(words.asked)) == (300, 140)
    assert not set(words.training) & set(words.asked)
    assert [len(word) for word in words.asked[::20]] == [2, 3, 4, 5, 6, 7, 8]
    assert {len(word) for word in words.training} == set(range(2, 9))


def test_the_seed_decides_the_words():
    small = Transliteration.quick()
    first, again, other = (draw_words(small, seed) for seed in (1, 1, 2))
    assert first == again != other


def test_letters_are_read_and_letters_are_written():
    """003-14: character by character on both sides, and the rule says what is right."""
    words = draw_words(Transliteration(examples=50, asked=5), seed=0)
    lesson = words.lesson
    batch = lesson.held_out.batch(np.arange(len(words.asked)))
    letters: dict[int, str] = {}
    rows = zip(batch.source.by_document.rows(), batch.target.rows(), words.asked, strict=True)
    for source, target, word in rows:
        assert target[-1] == END
        pairs = [(source, unicodedata.normalize("NFD", word)), (target[:-1], romanized(word))]
        for ids, text in pairs:
            assert len(ids) == len(text)
            for id, letter in zip(ids.tolist(), text, strict=True):
                assert letters.setdefault(id, letter) == letter, "an id stands for one letter"
                assert id < lesson.id_count


def test_exact_match_and_error_rate_are_given_for_every_length():
    """003-14: with attention and without, all words together and length by length."""
    found = Transliteration.quick().run(0, lambda line: None)
    assert [row.name for row in found.rows] == [
        "with attention",
        "with attention, 2 syllables",
        "with attention, 3 syllables",
        "without",
        "without, 2 syllables",
        "without, 3 syllables",
    ]
    assert Transliteration.columns == ("exact match", "character error rate")
    assert all(0 <= row.values[0] <= 1 and row.values[1] > 0 for row in found.rows)
    assert [len(curve.points) for curve in found.chart.curves] == [2, 2]


@pytest.mark.slow
def test_attention_learns_the_rules():
    """003-14: nine words of ten without a mistake."""
    found = Transliteration(plain_epochs=1).run(0, lambda line: None).rows[0]
    exact, errors = found.values
    assert exact > 0.9 and errors < 0.02


@pytest.mark.parametrize("wrong", [{"shortest": 1}, {"shortest": 9}])
def test_words_of_one_syllable_are_refused(wrong):
    with pytest.raises(ConfigError, match="shortest must be from 2 to the longest, 8"):
        Transliteration(**wrong)
