"""Romanization: place names as they are written on road signs, and every letter in its place."""

import unicodedata

import pytest

from regard.experiments.romanization import FINALS, INITIALS, VOWELS, romanized, syllable

PLACES = {
    "구미": "gumi",
    "구리": "guri",
    "옥천": "okcheon",
    "영동": "yeongdong",
    "임실": "imsil",
    "합정": "hapjeong",
    "백암": "baegam",
    "호법": "hobeop",
    "설악": "seorak",
    "울릉": "ulleung",
    "신라": "silla",
    "대관령": "daegwallyeong",
    "별내": "byeollae",
    "종로": "jongno",
    "백마": "baengma",
    "왕십리": "wangsimni",
    "독립문": "dongnimmun",
    "촉석루": "chokseongnu",
    "샛별": "saetbyeol",
    "영어": "yeongeo",
}


@pytest.mark.parametrize(("word", "written"), PLACES.items())
def test_places_are_written_as_on_signs(word, written):
    """003-14: the rule that a network is to learn."""
    assert romanized(word) == written


def test_syllables_are_put_together_as_unicode_does():
    for initial in range(len(INITIALS)):
        for vowel in range(len(VOWELS)):
            for final in FINALS:
                letters = chr(0x1100 + initial) + chr(0x1161 + vowel)
                letters += chr(0x11A7 + final) if final else ""
                assert syllable(initial, vowel, final) == unicodedata.normalize("NFC", letters)


def test_a_syllable_alone_is_its_letters_in_a_row():
    assert romanized(syllable(18, 0, 4)) == "han"
    assert romanized(syllable(11, 20, 0)) == "i", "the silent initial is not written"
    assert romanized("") == ""
