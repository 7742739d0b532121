"""Descriptions of Debian's packages in ten languages, beside the same linear models.

    apt-get -o Acquire::Languages=en,de,fr,it,es,pl,ru,ja,ko,zh_CN update
    python benchmarks/packages.py [--sets english japanese] [--seeds 0] [--jobs 2 --threads 1]

What section is a package in, by what is said of it, or by its name? Texts of one or of some
sentences, of up to 57 classes, some of them rare, that lie on every Debian machine and that no
default was chosen with, but for three: that single characters count by themselves with many classes
was chosen on folds of what is learnt from here in Japanese, Korean and Chinese, up to 16 epochs on
a quarter of the German texts that are learnt from, among others, and when to read letters in place
of words by n-grams on names of the twelve largest sections, those asked here among them. Packages
of one source, which are said to be much the same, are all learnt from or all asked. All options are
those of accuracy.py, and the figures go to benchmarks/results/packages.json.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from accuracy import RESULTS, Part, Rows, Set, main

LISTS = Path("/var/lib/apt/lists")
READER = "/usr/lib/apt/apt-helper"
RAREST = 20  # packages that a section must have

Label = Callable[[str], str]
Labelled = dict[str, tuple[str, str]]  # by its text: the section, and the source


def read_list(pattern: str) -> str:
    """The text of one of the lists that apt keeps."""
    found = sorted(LISTS.glob(f"*_debian_dists_*_main_{pattern}*"))
    if not found:
        sys.exit(f"there is no {pattern} in {LISTS}; see the first lines of this script")
    shortest = min(found, key=lambda path: len(path.name))  # not of updates
    told = subprocess.run(
        [READER, "cat-file", shortest], stdout=subprocess.PIPE, text=True, check=True
    )
    return told.stdout


@cache
def packages() -> dict[str, tuple[str, str]]:
    """The section and the source of each package."""
    found = {}
    for block in read_list("binary-*_Packages").split("\n\n"):
        fields = dict(re.findall(r"^([\w-]+): (.*)$", block, re.M))
        if "Package" in fields:
            name = fields["Package"]
            section = fields.get("Section", "").split("/")[-1]
            found[name] = section, fields.get("Source", name).split(" ")[0]
    return found


def descriptions(language: str) -> dict[str, tuple[str, str]]:
    """What is said of each package in a language: in a line, and in some."""
    found = {}
    for block in read_list(f"i18n_Translation-{language}").split("\n\n"):
        name = re.match(r"Package: (\S+)\n", block)
        said = re.search(r"^Description-(?!md5)[\w-]+: (.*)\n((?: .*\n?)*)", block, re.M)
        if name and said and name[1] in packages():
            lines = [line[1:] for line in said[2].splitlines()]
            found[name[1]] = said[1], "\n".join("" if line == "." else line for line in lines)
    return found


def described(
    language: str,
    learnt: int,
    asked: int,
    *,
    short: bool = False,
    label: Label = str,
    seed: int = 0,
) -> Callable[[Path], Iterator[Part]]:
    """Descriptions to learn from, and those of packages of other sources to ask."""

    def texts() -> Labelled:
        rows: Labelled = {}  # by their text: many are said alike
        for name, (line, more) in descriptions(language).items():
            section, source = packages()[name]
            rows.setdefault(line if short else f"{line}\n\n{more}", (label(section), source))
        return rows

    return parted(texts, learnt, asked, seed=seed)


def named(learnt: int, asked: int, *, seed: int = 0) -> Callable[[Path], Iterator[Part]]:
    """Names of packages and nothing else."""

    return parted(packages, learnt, asked, seed=seed)


def parted(
    texts: Callable[[], Labelled], learnt: int, asked: int, *, seed: int
) -> Callable[[Path], Iterator[Part]]:
    """Texts of some sources to learn from, and those of others to ask."""

    def parts(data: Path) -> Iterator[Part]:
        rows = texts()
        counts = Counter(own for own, _ in rows.values())
        kept = [(text, *row) for text, row in rows.items() if counts[row[0]] >= RAREST]
        draw = random.Random(seed)
        sources = sorted({source for _, _, source in kept})
        draw.shuffle(sources)
        first = set(sources[: len(sources) * learnt // (learnt + asked)])
        draw.shuffle(kept)

        def some(inside: bool, most: int) -> Rows:
            own = [row for row in kept if (row[2] in first) == inside]
            return [{"text": text, "label": one} for text, one, _ in own[:most]]

        training = some(True, learnt)
        known = {row["label"] for row in training}
        yield Part(training, [row for row in some(False, asked) if row["label"] in known])

    return parts


def is_library(section: str) -> str:
    return str(section in ("libs", "libdevel"))


CHARACTERS = {"words": None, "characters": (1, 3)}
SETS = {
    "english": Set("English", described("en", 8000, 4000)),
    "english-1000": Set("English, 1,000 to learn from", described("en", 1000, 4000, seed=1)),
    "lines": Set("English, one line", described("en", 8000, 4000, short=True)),
    "lines-500": Set(
        "English, one line, 500 to learn from", described("en", 500, 4000, short=True, seed=1)
    ),
    "english-all": Set("English, all to learn from", described("en", 52000, 6000)),
    "lines-all": Set(
        "English, one line, all to learn from", described("en", 52000, 6000, short=True)
    ),
    "libraries": Set(
        "English, one line: a library?",
        described("en", 4000, 4000, short=True, label=is_library, seed=2),
    ),
    "names": Set("Names of packages", named(8000, 4000)),
    "names-500": Set("Names of packages, 500 to learn from", named(500, 4000, seed=1)),
    "german": Set("German", described("de", 3000, 2000)),
    "french": Set("French", described("fr", 3000, 2000)),
    "italian": Set("Italian", described("it", 3000, 2000)),
    "spanish": Set("Spanish", described("es", 1100, 700)),
    "polish": Set("Polish", described("pl", 1900, 1300)),
    "russian": Set("Russian", described("ru", 1700, 1200)),
    "japanese": Set("Japanese", described("ja", 3000, 2000), **CHARACTERS),
    "korean": Set("Korean", described("ko", 2300, 1600), **CHARACTERS),
    "chinese": Set("Chinese", described("zh*CN", 650, 220), **CHARACTERS),
}

if __name__ == "__main__":
    main(SETS, RESULTS / "packages.json", __file__, __doc__)
