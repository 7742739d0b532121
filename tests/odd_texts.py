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
