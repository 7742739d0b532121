"""Random texts of all of Unicode, made of what tends to break a tokeniser."""

import random

PIECES = (
    *("word", "Word", "don't", "U.S.", "Mr.", "e.g.", "1,234.56", "8/10", "3.", "a", "I", "No. 5"),
    *(
        "<br />",
        "<p>",
        "</b>",
        "<i",
        ">",
        "< ",
        '<a href="x">',
        "<!-- c -->",
        "<!--",
        "</",
        "<sigh>",
    ),
    *("&amp;", "&nbsp;", "&#39;", "&#xD800;", "&nosuch;", "&", "&#1114112;", "&eacute;"),
    *("http://a.org/b?c", "www.", "a@b.org", "@", ":)", ":-(", ":D", "1)", "2.)", "•", "[17]"),
    *("日本語", "。", "「", "」と", "！", "한국어", "했습니다", "ไทย", "שלום", "مرحبا؟", "हिन्दी।"),
    *("👩‍👩‍👧", "👍🏽", "🇩🇪", "🇫", "\u200d", "\ufe0f", "\u0301", "\u00ad", "\u200f", "İ", "Σ"),
    *(
        "\ud800",
        "\udc00",
        "\0",
        "\x85",
        "\u2028",
        "\u2029",
        "\xa0",
        "\u3000",
        "\ufeff",
        "\r",
        "\r\n",
    ),
)
SPACES = (" ", " ", " ", " ", "", "", "\n", "\n\n", "\t", "  ")
PUNCTUATION = ".,!?…;:-–—'\"“”‘’()[]{}«»*=~_/\\^$%#+|`"


def random_text(generator: random.Random) -> str:
    """Return up to 25 odd pieces, punctuation or characters of any plane."""
    parts = []
    for _ in range(generator.randrange(25)):
        chance = generator.random()
        if chance < 0.55:
            parts.append(generator.choice(PIECES))
        elif chance < 0.8:
            parts.append("".join(generator.choices(PUNCTUATION, k=generator.randrange(1, 4))))
        else:
            plane = generator.choice((0, 0, 0, 1, 1, 2, 3, 14, 15, 16))
            parts.append(chr(plane * 0x10000 + generator.randrange(0x10000)))
        parts.append(generator.choice(SPACES))
    return "".join(parts)


# What the rules of the tokeniser ask for, so that random strings of it run into all of them.
SIGNS = (
    "aA1 .!?…。、，,と」》\"'`()[]<>\n\r\t\f:;=-–•*~^$#+/&@wWxX漢다요죠했하해f\u0301\u200d😀🇩"
    "ſKİΣ_0Zz한あ．・\u00ad\x85\u2028\0\ud800\udfff"
)
FRAGMENTS = (
    *("Mr", "Co", "etc", "no", "No", "The", "I", "am", "Oktober", "Yahoo", "U.S", "p.m", "word"),
    *("www.", "Www.", "wWw.", "WWW.", "http://", "HTTPS://", "ftp://", "://"),
    *("&amp;", "&#39;", "&#x27;", "&apos;", "&nbsp;", "&#10;", "&#44032;", "&#65;", "&#9999999;"),
    *("<br>", "<BR/>", "</p>", "<b a='c'>", "<!--x-->", "<!DOCTYPE>", "<li\n>", "<K>", "</a"),
    *("a.b@c.d", "x" * 64 + "@a.b", "y" * 65 + "@a.b", "@" + "h" * 64 + ".c", "@h" + ".d" * 10),
    *("@" + "h" * 63 + "." + "c" * 64, "<a " + "b" * 99 + "=>", "<a " + "b" * 100 + "=>"),
    *(":-)", ";D", "=(", ":))(", "=-P", "[17]", " [1]", "[1234]", " :) "),
    *("1)", "12.)", "2. ", "a) ", "• ", "- ", "-- ", "다 ", "했다 ", "요~ ", " .", " . . ."),
    *('<a href="http://a.b/c">', '<a b="c@d.e">', "</!x>", "<!-x>", "<!x", "http:x", "WwW.a"),
    *("Yahoo! in", "fig. x", "No. x", "no. 5", "etc. x", "Co. It", "p.m. He", "1984. Z", "네요 "),
    *("am 12. Okt", "12. Oktober", "im 3. x", " 123. X", "&#xE9;", "&#x1F600;", "&#xFg;", "&lt;"),
    *(". -- a", ". --- a", ". ---- a", ".[123]", ".[1234]", '?!"', "...)"),
    *("<br" + " " * 9 + ">", "<br" + " " * 10 + ">", ". " + "(" * 8 + "a", ". " + "(" * 9 + "a"),
    *("x" * 39, "y" * 80, "z" * 119, "\r\n"),
)
LINE_WORDS = ("word", "Word", "a", "1.", "(b)", "and", "The", "end.", "end!", "Mr.", "x", "-", "•")


def dense_text(generator: random.Random) -> str:
    """Return a text in which hardly a character is plain."""
    return "".join(
        generator.choice(FRAGMENTS if generator.random() < 0.25 else SIGNS)
        for _ in range(generator.randrange(60))
    )


def lined_text(generator: random.Random) -> str:
    """Return lines of about the lengths at which a line counts as wrapped."""
    lines = []
    for _ in range(generator.randrange(1, 6)):
        length = generator.choice((20, 39, 40, 41, 60, 70, 119, 120, 121))
        lines.append(" ".join(generator.choices(LINE_WORDS, k=60))[:length])
    return generator.choice(("\n", " \n", "\n ", "\r\n", "<br>\n")).join(lines)


def odd_texts(count: int, seed: int = 0) -> list[str]:
    """Return so many texts of all three kinds, in turn."""
    generator = random.Random(seed)
    makers = (random_text, dense_text, lined_text)
    return [makers[number % 3](generator) for number in range(count)]
