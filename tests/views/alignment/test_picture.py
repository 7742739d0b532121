"""Pictures of alignments: greys, any script, without a warning, the same bytes each time."""

import io
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra plots")

from PIL import Image

from regard.errors import ConfigError
from regard.records.alignment import Alignment
from regard.views.alignment.picture import render
from regard.views.drawing.colours import LIGHT
from regard.views.drawing.pictures import Type
from support.aligned import ARABIC, DOGS, HOSTILE, KOREAN, aligned


def amount(alignment, colour):
    image = Image.open(io.BytesIO(render(alignment))).convert("RGB")
    return sum(count for count, pixel in image.getcolors(1 << 24) if pixel == tuple(colour))


def diagonal(weights):
    size = len(weights)
    text = " ".join("abcdefghij"[:size])
    spans = tuple((2 * place, 2 * place + 1) for place in range(size))
    return Alignment(text, text, spans, spans, weights)


def test_heavy_weights_are_dark():
    """004-05: a matrix in greys; as many dark cells as heavy weights."""
    few, many = diagonal(np.diag([1, 0, 0, 0])), diagonal(np.eye(4))
    dark = [amount(made, LIGHT.grey(10)) for made in (few, many)]
    assert dark[0] > 500
    # Names and numbers are inked as dark, so the cells are compared by what they add.
    assert dark[1] - dark[0] == pytest.approx(3 * dark[0], rel=0.5)
    assert amount(diagonal(np.full((4, 4), 0.25)), LIGHT.grey(10)) < dark[0] / 2


def test_a_matrix_without_weight_is_paler_than_the_ink():
    assert amount(diagonal(np.zeros((4, 4))), LIGHT.panel) > 10_000


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (KOREAN, DOGS),
        (DOGS, ARABIC),
        (ARABIC, KOREAN),
        (HOSTILE, "costs $5 or $6, \\frac{1}{2} % _ ^ #."),
        ("", ""),
        ("a", ""),
        ("", "a"),
        ("x" * 300, "y " * 50),
        ("\x00 \ud800 \x1b[31m 🙂", "e\u0301"),
    ],
    ids=["korean", "to arabic", "both", "marks", "nothing", "mute", "blind", "long", "odd"],
)
@pytest.mark.parametrize("kind", ["png", "svg"])
def test_any_text_is_drawn_without_a_warning(source, target, kind):
    made = aligned(source, target)
    beginning = {"png": b"\x89PNG", "svg": b"<?xml"}[kind]
    assert render(made, kind).startswith(beginning)


def test_the_same_alignment_gives_the_same_bytes():
    for kind in ("png", "svg", "pdf"):
        assert render(aligned(DOGS, DOGS), kind) == render(aligned(DOGS, DOGS), kind)


def test_the_ending_says_the_format(tmp_path):
    aligned("a", "b").write_image(tmp_path / "looked.svg")
    assert b"</svg>" in (tmp_path / "looked.svg").read_bytes()
    with pytest.raises(ConfigError, match="cannot be 'gif'; use png, svg or pdf"):
        aligned("a", "b").write_image(str(tmp_path / "looked.gif"))


def test_arabic_is_drawn_by_the_font_that_comes_along():
    assert Type.for_text(ARABIC).drawable(ARABIC) == ARABIC


def test_neither_torch_nor_pyplot_is_needed():
    program = (
        "import sys, numpy\n"
        "from regard.records.alignment import Alignment\n"
        "from regard.views.alignment.picture import render\n"
        "made = Alignment('a', 'b', ((0, 1),), ((0, 1),), numpy.ones((1, 1)))\n"
        "render(made), made.to_html(), made.to_text()\n"
        "assert not {'torch', 'matplotlib.pyplot'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
