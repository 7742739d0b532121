"""Texts that come with packages of Debian and PyPI, beside the same linear models.

    mkdir texts && cd texts
    apt-get download wordnet-base fortunes fortunes-min fortunes-de fortunes-it fortunes-pl \
        fortunes-ru aisleriot anjuta-common epiphany-browser-data evolution-common gimp-data \
        gnome-control-center-data gnucash-common libgtk-3-common inkscape nautilus-data \
        rhythmbox-data shotwell-common vlc-l10n
    for package in *.deb; do dpkg -x $package .; done
    pip download --no-deps --no-binary :all: vaderSentiment==3.3.2 && tar xzf vader*.tar.gz
    tar xzf vader*/additional_resources/*.tar.gz
    python benchmarks/found_texts.py --data texts [--sets tweets nouns] [--seeds 0] [--jobs 2]

Nothing was chosen with these: short posts and sentences by what people say of their mood, what
a word means by what kind of thing it is, fortune cookies of five languages by the file they lie
in, and what programs say in 17 languages by the program. All options are those of accuracy.py, and
the figures go to benchmarks/results/found-texts.json.
"""

from __future__ import annotations

import gettext
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from accuracy import RESULTS, Part, Rows, Set, main

RATED = "hutto_ICWSM_2014/{}_GroundTruth.txt"
MEANINGS = "usr/share/wordnet/data.{}"
COOKIES = "usr/share/games/fortunes"
MESSAGES = "usr/share/locale/{}/LC_MESSAGES"
RAREST = 30  # texts that a class must have
SHORTEST = 20  # characters of a message
NEUTRAL = 0.5  # of four, up to which a mean rating is neither good nor bad

Parts = Callable[[Path], Iterator[Part]]
Labelled = dict[str, tuple[str, str]]  # by its text: the label, and what it stands together with


def mood(rating: float) -> str:
    return "good" if rating > 0 else "bad"


def mood_or_none(rating: float) -> str:
    return "neither" if abs(rating) <= NEUTRAL else mood(rating)


def rated(name: str, label: Callable[[float], str]) -> Parts:
    """Short texts with the mean of what twenty people thought of their mood, from -4 to 4."""

    def texts(data: Path) -> Labelled:
        found: Labelled = {}
        for line in (data / RATED.format(name)).read_text("cp1252").splitlines():
            number, rating, text = line.split("\t", 2)
            found.setdefault(text.strip(), (label(float(rating)), number.split("_")[0]))
        return found

    return parted(texts)


def meanings(kind: str, learnt: int, asked: int) -> Parts:
    """What words mean, by the file of WordNet in which they are written up, without examples."""

    def texts(data: Path) -> Labelled:
        found: Labelled = {}
        for line in (data / MEANINGS.format(kind)).read_text("utf-8").splitlines():
            if line.startswith("  "):
                continue  # the licence
            head, _, said = line.partition("|")
            meaning = re.split(r';\s*"', said)[0].strip()
            found.setdefault(meaning, (head.split()[1], meaning))
        return found

    return parted(texts, learnt, asked)


def cookies(language: str, learnt: int | None = None, asked: int | None = None) -> Parts:
    """Sayings, jokes and quotations, by the file in which they lie."""

    def texts(data: Path) -> Labelled:
        found: Labelled = {}
        for path in sorted((data / COOKIES / language).iterdir()):
            if path.is_file() and not path.is_symlink() and not path.suffix:
                for saying in re.split(r"^%+\s*$", path.read_text("utf-8"), flags=re.M):
                    if re.search(r"\w", saying):
                        found.setdefault(saying.strip(), (path.name, saying))
        return found

    return parted(texts, learnt, asked)


def messages(language: str) -> Parts:
    """What a program says to people, in their language, by the program."""

    def texts(data: Path) -> Labelled:
        found: Labelled = {}
        for path in sorted((data / MESSAGES.format(language)).glob("*.mo")):
            with path.open("rb") as file:
                told = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
            program = re.split(r"[\d-]", path.stem)[0]  # gimp20-libgimp is gimp
            for original, text in told.items():
                plain = text.replace("_", "").strip()  # marks of keys
                if original and len(plain) >= SHORTEST:
                    found.setdefault(plain, (program, plain))
        return found

    return parted(texts, 3000, 2000)


def parted(
    texts: Callable[[Path], Labelled], learnt: int | None = None, asked: int | None = None
) -> Parts:
    """Some texts to learn from and others to ask, else two thirds and the rest.

    Those that stand together are all learnt from or all asked.
    """

    def parts(data: Path) -> Iterator[Part]:
        rows = texts(data)
        counts = Counter(label for label, _ in rows.values())
        kept = [(text, *row) for text, row in rows.items() if counts[row[0]] >= RAREST]
        draw = random.Random(0)
        groups = sorted({group for _, _, group in kept})
        draw.shuffle(groups)
        draw.shuffle(kept)
        share = learnt / (learnt + asked) if learnt and asked else 2 / 3
        first = set(groups[: round(share * len(groups))])

        def some(inside: bool, most: int | None) -> Rows:
            own = [row for row in kept if (row[2] in first) == inside]
            return [{"text": text, "label": label} for text, label, _ in own[:most]]

        yield Part(some(True, learnt), some(False, asked))

    return parts


SETS = {
    "tweets": Set("Posts, good or bad", rated("tweets", mood)),
    "tweets-three": Set("Posts, good, bad or neither", rated("tweets", mood_or_none)),
    "products": Set("Sentences on products", rated("amazonReviewSnippets", mood)),
    "editorials": Set("Sentences of editorials", rated("nytEditorialSnippets", mood)),
    "editorials-three": Set(
        "Sentences of editorials, or neither", rated("nytEditorialSnippets", mood_or_none)
    ),
    "nouns": Set("What nouns mean", meanings("noun", 8000, 4000)),
    "nouns-500": Set("What nouns mean, 500 to learn from", meanings("noun", 500, 4000)),
    "nouns-all": Set("What nouns mean, all to learn from", meanings("noun", 74000, 8000)),
    "verbs": Set("What verbs mean", meanings("verb", 6000, 3000)),
    "cookies": Set("Sayings, English", cookies("", 8000, 3000)),
    "cookies-de": Set("Sayings, German", cookies("de", 6000, 3000)),
    "cookies-it": Set("Sayings, Italian", cookies("it", 6000, 3000)),
    "cookies-pl": Set("Sayings, Polish", cookies("pl", 6000, 3000)),
    "cookies-ru": Set("Sayings, Russian", cookies("ru", 6000, 3000)),
}
CHARACTERS = {"words": None, "characters": (1, 3)}
SETS |= {
    f"messages-{language}": Set(f"Messages, {name}", messages(language))
    for language, name in {
        "ar": "Arabic",
        "el": "Greek",
        "fi": "Finnish",
        "he": "Hebrew",
        "hi": "Hindi",
        "hu": "Hungarian",
        "tr": "Turkish",
        "vi": "Vietnamese",
        # Those below were first asked when unknown words were read as the nearest.
        "cs": "Czech",
        "et": "Estonian",
        "eu": "Basque",
        "ka": "Georgian",
        "lt": "Lithuanian",
        "pl": "Polish",
        "ta": "Tamil",
        "uk": "Ukrainian",
    }.items()
}
SETS["messages-th"] = Set("Messages, Thai", messages("th"), **CHARACTERS)

if __name__ == "__main__":
    main(SETS, RESULTS / "found-texts.json", __file__, __doc__)
