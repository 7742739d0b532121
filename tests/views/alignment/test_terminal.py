"""Alignments on a terminal: shades, or blocks where there are no colours, within its width."""

import re

import pytest
from rich.cells import cell_len

from regard.records.alignment import Alignment
from regard.views.alignment.terminal import Terminal, render
from support.aligned import ARABIC, DOGS, HOSTILE, KOREAN, aligned

SHARP = Alignment(
    "ein Haus", "a house", ((0, 3), (4, 8)), ((0, 1), (2, 7)), [[0.97, 0.03], [0.25, 0.75]]
)
CODES = re.compile("\x1b\\[[0-9;]*m")


def plain(alignment, width=80):
    return render([alignment], Terminal(width=width, depth="none")).splitlines()


def test_weights_are_blocks_where_there_is_no_colour():
    """002-15: rows are written pieces, columns those of the source, read downwards."""
    lines = plain(SHARP)
    assert lines[:2] == ["ein Haus", "a house"]
    start = next(place for place, line in enumerate(lines) if line.strip() == "H")
    heads = [line.ljust(10)[6:10] for line in lines[start : start + 4]]
    assert ["".join(row[column] for row in heads).strip() for column in (0, 2)] == ["ein", "Haus"]
    assert lines[start + 4] == "    a ██░░  1.1 ein 97 %"
    assert lines[start + 5] == "house ▒▒██  1.8 Haus 75 %"


@pytest.mark.parametrize("depth", ["truecolor", "256"])
def test_with_colours_every_cell_is_painted(depth):
    shown = render([SHARP], Terminal(depth=depth))
    row = next(line for line in shown.splitlines() if line.startswith("house"))
    assert row.count("██") == 2 and len(set(CODES.findall(row))) >= 3
    assert "░" not in shown
    assert "░" in render([SHARP], Terminal(depth="bold"))


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize(
    ("source", "target"),
    [
        (DOGS, KOREAN),
        (KOREAN, DOGS),
        (ARABIC, DOGS),
        (" ".join(f"word{n}" for n in range(60)), "a " * 40),
        ("x" * 300, "y" * 300),
        ("e\u0301\u0301 ｆｕｌｌ", "👩‍👩‍👧 🇩🇪"),
    ],
    ids=["to korean", "korean", "arabic", "long", "long word", "odd"],
)
def test_every_line_fits(source, target, width):
    lines = plain(aligned(source, target), width)
    assert max(map(cell_len, lines)) <= width


def test_columns_that_do_not_fit_stand_below():
    made = aligned(" ".join("abcdefghij" * 6), "x y")
    lines = plain(made, 60)
    rows = [line for line in lines if line.startswith("x ")]
    assert len(rows) >= 3
    assert sum("%" in row for row in rows) == 1, "what is behind a row is written once"
    heads = [line for line in lines if line.startswith("  ")]
    assert " ".join(heads).split() == list("abcdefghij" * 6)


def test_several_candidates_are_numbered():
    shown = render([aligned("a", "b"), aligned("a", "c", ended=False)], Terminal(depth="none"))
    assert "1. b" in shown and "2. c" in shown and "Score −0.250." in shown
    assert "limit of its length" in shown


def test_a_text_cannot_steer_the_terminal():
    made = aligned(f"\x1b[31m a {HOSTILE}", "\x07 \x1b]0;x\x07 \x9b2J")
    for depth in ("none", "truecolor"):
        shown = CODES.sub("", render([made], Terminal(depth=depth)))
        assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f]", shown)


def test_nothing_written_is_said():
    assert plain(aligned("a", ""))[1] == "Nothing was written."
    assert "There was nothing to look at." in plain(aligned("", "a"))


def test_the_record_shows_itself(capsys):
    SHARP.show()
    assert "Haus 75 %" in capsys.readouterr().out
    assert SHARP.to_text(width=50).splitlines() == plain(SHARP, 50)
