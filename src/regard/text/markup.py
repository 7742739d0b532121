"""What in a text is not plain words: tags, entities, addresses, faces.

Nothing is cut out of the text. The kinds of its characters are overwritten, so that the rules
for words and sentences pass over a tag as over a space and keep an address in one piece.
Every pattern looks a bounded way ahead or takes all it has looked at, so any text takes time in
proportion to its length.
"""

from __future__ import annotations

import re
from html.entities import name2codepoint

from .characters import Kinds, kind_table

__all__ = ["BLOCK_TAGS", "ENTITIES", "INLINE_TAGS", "mask_markup"]


def _names(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


BLOCK_TAGS = _names(
    "address article aside blockquote body br caption center dd details div dl dt fieldset "
    "figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html legend li main menu nav "
    "ol optgroup option p pre section select summary table tbody td textarea tfoot th thead "
    "title tr ul"
)
INLINE_TAGS = _names(
    "a abbr acronym area audio b base basefont bdi bdo big blink button canvas cite code col "
    "colgroup data datalist del dfn dir em embed font frame frameset i iframe img input ins kbd "
    "label link map mark marquee meta meter nobr noframes noscript object output param picture "
    "progress q rp rt ruby s samp script slot small source span strike strong style sub sup svg "
    "template time track tt u var video wbr"
)
ENTITIES = {**name2codepoint, "apos": ord("'")}

# A "<" before a space or a figure is a sign of arithmetic or a heart. What follows the name must
# look like attributes, or "a <b and c> d" would lose its words.
_TAG = re.compile(
    r"<(?:/?([A-Za-z][A-Za-z0-9]{0,10})(?:[ \t\r\n]{0,9}/?|[ \t\r\n][^<>=]{0,99}=[^<>]{0,1999})"
    r"|!(?:--|[A-Za-z])[^<>]{0,1999})>"
)
_ENTITY = re.compile(r"&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,7}));")
# The last character of an address is never one that more likely ends the sentence around it.
_URL = re.compile(
    r"(?<![A-Za-z0-9])(?:(?:[Hh][Tt]{2}[Pp][Ss]?|[Ff][Tt][Pp])://|(?:www|Www|WWW)\.)"
    r"[!#-;=?-Z\[\]_a-z~]*[#-&*+\-/-9=@-Z_a-z~]"
)
_EMAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,8}", re.ASCII
)
_FACE = re.compile(r"([:;]-?\)+)|[:;=]-?(?:[()]+|[DPp])")
_FACE_SIGNS = tuple(eyes + mouth for eyes in ":;=" for mouth in "-()DPp")

_MASKED = frozenset(b" \f")
_NOTHING = frozenset(b" \n\f")
_IN_WORDS = frozenset(b"aAx1")
_FILLING = frozenset(b"aAxk1 m")


def mask_markup(text: str, kinds: Kinds) -> None:
    """Overwrite ``kinds``, those of ``text``, wherever it is not plain words.

    A tag becomes white space or, where it ends a line or a block, ``\\f``; an address becomes
    ``u`` and a face like :-) becomes ``f``, each one token; an entity becomes what it stands for.
    """
    if "<" in text:
        _mask_tags(text, kinds)
    if "&" in text:
        _mask_entities(text, kinds)
    if "://" in text or "ww." in text or "WW." in text:
        _mask_addresses(_URL, text, kinds)
    if "@" in text:
        _mask_addresses(_EMAIL, text, kinds)
    if any(sign in text for sign in _FACE_SIGNS):
        _mask_faces(text, kinds)


def _mask_tags(text: str, kinds: Kinds) -> None:
    for tag in _TAG.finditer(text):
        name = (tag[1] or "a").lower()  # a comment or a declaration is no block
        if name in BLOCK_TAGS:
            kinds[tag.start() : tag.end()] = ord("\f")
        elif name in INLINE_TAGS:
            kinds[tag.start() : tag.end()] = ord(" ")


def _mask_entities(text: str, kinds: Kinds) -> None:
    for entity in _ENTITY.finditer(text):
        start, end = entity.span()
        code = _code_point(entity)
        if code is None or kinds[start] in _MASKED:
            continue
        kind = int(kind_table()[code])
        if kind == ord("'") and _is_inside_word(kinds, start, end):
            kind = ord("a")  # don&#39;t
        elif kind == ord("\n"):
            kind = ord(" ")
        # A sign is one character, its other letters are marks on it.
        kinds[start:end] = kind if kind in _FILLING else ord("m")
        kinds[start] = kind


def _code_point(entity: re.Match[str]) -> int | None:
    """The character an entity stands for, or None where it stands for none."""
    decimal, hexadecimal, name = entity.groups()
    if name:
        return ENTITIES.get(name)
    code = int(decimal) if decimal else int(hexadecimal, 16)
    return code if code < 0x110000 else None


def _is_inside_word(kinds: Kinds, start: int, end: int) -> bool:
    return start > 0 and end < len(kinds) and {kinds[start - 1], kinds[end]} <= _IN_WORDS


def _mask_addresses(pattern: re.Pattern[str], text: str, kinds: Kinds) -> None:
    for address in pattern.finditer(text):
        # One inside a tag is not text.
        if kinds[address.start()] not in _MASKED:
            kinds[address.start() : address.end()] = ord("u")


def _mask_faces(text: str, kinds: Kinds) -> None:
    for face in _FACE.finditer(text):
        start, end = face.span()
        # After a word only :) is a face, "x=(1" and "note:(a)" hold none.
        is_apart = start == 0 or kinds[start - 1] in _NOTHING
        is_whole = end == len(kinds) or kinds[end] not in _IN_WORDS
        if kinds[start] not in _MASKED and (face[1] or (is_apart and is_whole)):
            kinds[start:end] = ord("f")
