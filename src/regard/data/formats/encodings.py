"""Which encoding a file has that does not say so: what its bytes would mean in each, weighed.

UTF-8 and UTF-16 show themselves. Of the older encodings every one turns every byte into
something, so each is judged by how likely its text would be in the languages it is used for:
the letters of a language by how often they occur, signs beside letters and capitals inside words
counted against it. Noise is a candidate too, and what is no likelier than noise is not guessed.
"""

from __future__ import annotations

import codecs
import functools
import itertools
import math
import re
from collections import Counter
from dataclasses import dataclass

from ...errors import ConfigError

__all__ = [
    "MARKS",
    "SINGLE_BYTE",
    "Guess",
    "beginning",
    "guess_encoding",
    "has_plain_lines",
    "is_utf_8",
    "require_encoding",
    "wide_encoding",
]

MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Byte order marks, the longer of two that begin alike first."""

_SAMPLE = 1 << 15  # bytes in lines beyond ASCII, which are enough to know a language
_FILLING = b"\xff\xff\xff"  # what lies where nothing was written, and no word of any language
_PROBE = "text 1"
_LINES = b"a,1\r\n\\n\x0e"
_CLEAR = 3.0  # a rival that is e**3 = 20 times less likely is no rival,
_UNCLEAR = 6.0  # but of one byte alone nobody should be so sure
_FEWEST_LETTERS = 4  # of another script than Latin: two bytes of noise make a word of any
_NOISE = math.log(1 / 256)  # a byte
_ASCII = math.log(1 / 20)  # a character
_STRANGE = math.log(1e-5)  # a character that nobody writes in this encoding
_DAMAGED = -8.0  # a character, or a place that is none, of UTF-8 with some damage
_SHORT = -3.0  # letters of another script so few that chance may have made them
_MISPLACED = math.log(2e-3)  # a sign between letters, a capital inside a word, two scripts in one

_WESTERN = {
    "German": "üäößé",
    "French": "éèàêçâîôùûœëïæ",
    "Spanish": "óíáéñúü",
    "Portuguese": "ãçéáóíêõâúàô",
    "Italian": "èàùòéì",
    "Dutch": "ëéïèöü",
    "Swedish": "äåöé",
    "Danish and Norwegian": "åøæé",
    "Icelandic": "áíðéóþöúæý",
    "Catalan": "àéóèíçòúïü",
}
_CENTRAL = {
    "Polish": "łążęóśćńź",
    "Czech": "íáěéčřýžšůúňťďó",
    "Slovak": "áíčéýžšúľťôóňďäŕĺ",
    "Hungarian": "áéöóőüíúű",
    "Romanian": "ăîâşţ",
    "Croatian and Slovenian": "čšžćđ",
}
_CYRILLIC = {
    "Russian": "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
    "Ukrainian": "оаинівтеркслдпумьязгбчйхшїюцєжщфґ",
    "Bulgarian": "аиоентрсвлдкпмзябугъщчцжшйхфюь",
}
_ALPHABETS: dict[str, dict[str, str]] = {
    "cp1252": _WESTERN,
    "cp1250": _CENTRAL,
    "cp1251": _CYRILLIC,
    "cp1253": {"Greek": "αοιετσνρκπυμλςηίόάδέγωχθφύβήώξζψϊϋΐ"},
    "cp1254": {"Turkish": "ıüşçğöâîû"},
    "cp1255": {"Hebrew": "יוהלארתבמשענדקפחצטכםסגןזץףך"},
    "cp1256": {"Arabic": "ايلمنوترةعبهدسفكقحجأشصىطخإزذضغئآءظثؤ"},
    "cp1257": {
        "Lithuanian": "ėšžįųčąūę",
        "Latvian": "āīēšņļžūčģķ",
        "Estonian": "äõüöšž",
    },
    "cp874": {"Thai": "านรอกเงมยลวดทสตะปบคหแจพชขใไโผถณศธซภษญฟฐฉฎฮ่้ัี์ิื็ูุึำๆ"},
    "iso8859_2": _CENTRAL,
    "koi8_r": {"Russian": _CYRILLIC["Russian"]},
    "cp866": {"Russian": _CYRILLIC["Russian"]},
    "mac_roman": _WESTERN,
    "cp850": _WESTERN,
}
"""The letters beyond ASCII of the languages of each encoding, the most frequent first."""

SINGLE_BYTE = frozenset(_ALPHABETS)
"""The encodings, of those that are guessed, that have a byte for each character."""

_PLACES = {
    "cp1252": "Excel writes it in Western Europe",
    "cp1250": "Excel writes it in Central Europe",
    "cp1251": "Excel writes Cyrillic",
    "cp1253": "Excel writes it in Greece",
    "cp1254": "Excel writes it in Turkey",
    "cp1255": "Excel writes it in Israel",
    "cp1256": "Excel writes Arabic",
    "cp1257": "Excel writes it on the Baltic",
    "cp874": "Excel writes it in Thailand",
    "cp932": "Excel writes it in Japan",
    "cp949": "Excel writes it in Korea",
    "gb18030": "Excel writes it in China",
    "cp950": "Excel writes it in Taiwan and Hong Kong",
    "iso8859_2": "older systems write it in Central Europe",
    "koi8_r": "older systems write Russian",
    "cp866": "DOS programs write Russian",
    "mac_roman": "older programs write it on a Mac",
    "cp850": "DOS programs write it in Western Europe",
}
# How seldom files in an encoding are, as logarithms; the others lie between.
_SELDOM = {"cp1252": 0.0} | dict.fromkeys(
    ("iso8859_2", "koi8_r", "cp866", "mac_roman", "cp850"), -4.0
)
_LESS_OFTEN = -1.5

_SIGNS = "‘’“”„‚–—…•€£§°«»´·¡¿®™©½¼¾²³µ×±ºª†‰‹›¢¥¬¦¨¹÷№\xa0\xad"
_WIDE_SIGNS = "　、。「」『』（），．：；？！・ー“”‘’…《》【】〜～％／"
_OFTEN = {
    "cp949": "이다는에의가을를고하지은로기사어한아대서도인나리일시있자그해부들정보만게라수제여과",
    "gb18030": "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道出而要于就下得可你年生自"
    "会那后能对着事其里所去行过家十用发天如然作方成者多日都三小军二无同么经法当起与好看学很",
    "cp950": "的一是不了人我在有他這為之大來以個中上們到說國和地也子時道出而要於就下得可你年生自"
    "會那後能對著事其裡所去行過家十用發天如然作方成者多日都三小軍二無同麼經法當起與好看學很",
}
# How much of running text the characters of each kind are, and how many of them there are.
_CHARACTERS = {
    "cp949": (
        ("often", 0.55, 50),
        ("hangul", 0.4, 2350),
        ("signs", 0.03, 40),
        ("more", 0.01, 14e3),
    ),
    "gb18030": (
        ("often", 0.4, 90),
        ("first", 0.45, 3755),
        ("signs", 0.12, 40),
        ("more", 0.02, 2e4),
    ),
    "cp950": (("often", 0.4, 90), ("first", 0.45, 5401), ("signs", 0.12, 40), ("more", 0.02, 8e3)),
    "cp932": (("kana", 0.6, 166), ("first", 0.27, 2965), ("signs", 0.12, 40), ("more", 0.005, 4e3)),
}
_LANGUAGES = {"cp949": "Korean", "gb18030": "Chinese", "cp950": "Chinese", "cp932": "Japanese"}

_LETTER = r"[^\W\d_]"
# Not counted: what stands inside words, above letters of other scripts, or behind units.
_ALLOWED = r"\w\s!-~’´·‘ºª™®©²³°\xad\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0e31-\u0e4e"
_MISPLACED_SIGN = re.compile(f"(?<={_LETTER})[^{_ALLOWED}]+(?={_LETTER})|€(?={_LETTER})")
_ALL_ACCENTS = re.compile("[\xc0-\u024f]{3}")


@dataclass(frozen=True, slots=True)
class Guess:
    """The encoding that a sample most likely has, and why."""

    encoding: str
    reason: str  # how a message goes on: "read as cp1250, ..."
    rivals: tuple[str, ...] = ()  # others that read the sample otherwise and are as likely, almost


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a sample means in one encoding and how likely that is."""

    encoding: str
    language: str
    text: str
    score: float


def require_encoding(name: str) -> None:
    """Raise ``ConfigError`` unless this names a way to write text as bytes."""
    known = "such as utf-8, cp1252, cp949, gb18030"
    try:
        found = codecs.lookup(name)
    except (LookupError, ValueError):  # a NUL in the name is a ValueError
        raise ConfigError(f"encoding {name!r} is unknown; {known}") from None
    try:
        written = found._is_text_encoding and _PROBE.encode(name).decode(name) == _PROBE
    except (UnicodeError, LookupError):
        written = False
    if not written or found.name in ("punycode", "idna"):
        raise ConfigError(f"encoding {name!r} is none of texts; use one {known}")


@functools.cache
def has_plain_lines(name: str) -> bool:
    """Tell whether the bytes of a line end mean that and nothing else, and each line stands alone.

    Not so in EBCDIC, in UTF-16, where escapes spell line ends, and where one shift is for all.
    """
    return _LINES.decode(name, "replace") == _LINES.decode("ascii")


def beginning(sample: bytes, name: str) -> str:
    """Decode a sample, possibly cut inside of a character; nothing where it is not so encoded."""
    try:
        return codecs.getincrementaldecoder(name)("ignore").decode(sample)
    except UnicodeError:
        return ""


def is_utf_8(sample: bytes) -> bool:
    """Tell whether a sample, possibly cut inside of a character, is UTF-8 as far as it goes."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def wide_encoding(sample: bytes) -> str | None:
    """Return UTF-16 where a sample evidently is that, though no mark says so."""
    for encoding, here, other in (("utf-16-le", 1, 0), ("utf-16-be", 0, 1)):
        zeros = sample[here::2].count(0)
        if zeros < max(3, len(sample) / 100, sample[other::2].count(0)):
            continue
        text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
        # NULs in a file of another encoding leave few line ends that are some in UTF-16.
        ends = 2 * text.count("\n") >= max(1, sample.count(b"\n"))
        if ends and not re.search("[\0-\x08\x0e-\x1f\ufffd]", text):
            return encoding
    return None


def guess_encoding(sample: bytes) -> Guess | None:
    """Return the encoding that makes the likeliest text of a sample that is not UTF-8.

    ``None``: none does better than noise, or most of the lines are UTF-8 after all.
    """
    lines = [line for line in sample.splitlines() if not (line.isascii() or _FILLING in line)]
    sound = sum(map(_is_almost_utf_8, lines))
    if not lines or 2 * sound >= len(lines):
        return None
    looked_at = b"\n".join(lines)[:_SAMPLE]
    readings = sorted(_readings(looked_at), key=lambda reading: -reading.score)
    best = readings[0]
    if best.score <= _nothing(looked_at):
        return None
    near = best.score - _CLEAR - _UNCLEAR / sum(byte > 127 for byte in looked_at)
    rivals = {
        reading.encoding: None
        for reading in readings[1:]
        if reading.score > near and reading.text != best.text
    }
    reason = f"as {_PLACES[best.encoding]} (it looks like {best.language})"
    return Guess(best.encoding, reason, tuple(rivals)[:3])


def _is_almost_utf_8(line: bytes) -> bool:
    """Whether a line is UTF-8, halves of characters that some programs write as such included."""
    try:
        line.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _nothing(sample: bytes) -> float:
    """How likely a sample is as noise, or as UTF-8 with some damage."""
    high = sum(byte > 127 for byte in sample)
    noise = _NOISE * high + _ASCII * (len(sample) - high)
    text = sample.decode("utf-8", "replace")
    low = sum(one.isascii() for one in text)
    return max(noise, _DAMAGED * (len(text) - low) + _ASCII * low)


def _readings(sample: bytes) -> list[_Reading]:
    """The sample in every encoding and language that we know."""
    found: list[_Reading] = []
    for encoding, languages in _ALPHABETS.items():
        text = sample.decode(encoding, "replace")
        counts = Counter(text)
        before = _context(text) + _SELDOM.get(encoding, _LESS_OFTEN)
        for language in languages:
            table = _letter_table(encoding, language)
            found.append(_Reading(encoding, language, text, before + _weigh(counts, table)))
    for encoding, language in _LANGUAGES.items():
        text = sample.decode(encoding, "replace")
        counts = Counter(text)
        table = {one: _character_score(one, encoding) for one in counts if not one.isascii()}
        score = _context(text) + _LESS_OFTEN + _weigh(counts, table)
        found.append(_Reading(encoding, language, text, score))
    return found


def _weigh(counts: Counter[str], table: dict[str, float]) -> float:
    return sum(
        count * (_ASCII if one.isascii() else table.get(one, _STRANGE))
        for one, count in counts.items()
    )


def _context(text: str) -> float:
    """What speaks against a text whatever its language."""
    count = len(_MISPLACED_SIGN.findall(text)) + len(_ALL_ACCENTS.findall(text))
    for (before, here), times in Counter(itertools.pairwise(text)).items():
        if before.isalpha() and here.isalpha() and not (before.isascii() and here.isascii()):
            count += times * (before.islower() and here.isupper())
            count += times * (_script(before) != _script(here))
    return _MISPLACED * count + _SHORT * _chance_letters(text)


def _script(letter: str) -> int:
    """A number that the letters of one script share; Chinese characters go with kana and hangul."""
    code = ord(letter)
    if code < 0x370:
        return 0
    return 1 if code >= 0x2E80 else code >> 8 if code > 0x3FF else 3


def _chance_letters(text: str) -> int:
    """How many letters of another script chance may have made: few, or the same few again."""
    letters = [one for one in text if one >= "\u0370" and one.isalpha()]
    if not letters or len(set(letters)) >= (_FEWEST_LETTERS if max(letters) < "\u2e80" else 2):
        return 0
    return 1 if len(letters) < _FEWEST_LETTERS else len(letters)


@functools.cache
def _letter_table(encoding: str, language: str) -> dict[str, float]:
    """How likely each character beyond ASCII is among those of a language, as logarithms."""
    letters = _ALPHABETS[encoding][language]
    shares: dict[str, float] = {}

    def add(characters: str, share: float) -> None:
        for one in characters:
            if len(one) == 1:
                shares[one] = shares.get(one, 0.0) + share

    harmonic = sum(1 / (rank + 2) for rank in range(len(letters)))
    for rank, letter in enumerate(letters):
        share = 1 / (rank + 2) / harmonic
        add(letter, 0.6 * share)
        add("İ" if letter == "i" else letter.upper(), 0.06 * share)
    if language == "Turkish":
        add("İ", 0.02)
    add(_SIGNS, 0.25 / len(_SIGNS))
    # Names and quotations bring letters of the neighbours.
    beside = {one for known in _ALPHABETS[encoding].values() for one in known}
    add("".join(beside), 0.05 / len(beside))
    add("".join(one.upper() for one in beside), 0.01 / len(beside))
    return {one: math.log(share) for one, share in shares.items()}


@functools.cache
def _character_score(one: str, encoding: str) -> float:
    """How likely a Chinese, Japanese or Korean character is, as a logarithm."""
    kind = _kind(one, encoding)
    for name, share, count in _CHARACTERS[encoding]:
        if name == kind:
            return math.log(share / count)
    return 2 * _STRANGE


def _kind(one: str, encoding: str) -> str:
    code = ord(one)
    if one in _WIDE_SIGNS:
        return "signs"
    if one in _OFTEN.get(encoding, ""):
        return "often"
    if encoding == "cp932" and 0x3041 <= code <= 0x30FE:
        return "kana"
    if encoding == "cp949" and 0xAC00 <= code <= 0xD7A3:
        return "hangul" if _in(one, "euc_kr") else "more"
    if 0x4E00 <= code <= 0x9FFF:
        return "first" if _is_first_level(one, encoding) else "more"
    return "more" if 0x3000 <= code <= 0xFFEF and not 0xE000 <= code <= 0xF8FF else "strange"


def _is_first_level(one: str, encoding: str) -> bool:
    """Whether a character is among the frequent ones, which the standards list first."""
    if encoding == "gb18030":
        return _in(one, "gb2312") and one.encode("gb2312")[0] < 0xD8
    if encoding == "cp950":
        return one.encode("cp950")[0] < 0xC9
    if encoding == "cp932":
        return _in(one, "shift_jis") and 0x88 <= one.encode("shift_jis")[0] <= 0x98
    return False


def _in(one: str, encoding: str) -> bool:
    try:
        one.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
