"""Pictures: the text with its shades, in any script, without a warning."""

import io
import re
import subprocess
import sys
from dataclasses import replace

import pytest

pytest.importorskip("matplotlib", reason="pictures need the extra plots")

from PIL import Image

from regard.errors import ConfigError
from regard.records.explanation import Decision
from regard.views.drawing.colours import LIGHT
from regard.views.drawing.pictures import Type
from regard.views.explanation.picture import render, write

REVIEW = "I sat there. It was brilliant, Zorblax!\n\nThe end<br />dragged on and on."


def picture(explanation) -> Image.Image:
    return Image.open(io.BytesIO(render(explanation))).convert("RGB")


def amount(image: Image.Image, colour) -> int:
    return sum(count for count, pixel in image.getcolors(1 << 24) if pixel == tuple(colour))


def test_words_and_sentences_are_shaded(explain):
    """001-23: a picture of word and sentence weights."""
    image = picture(explain(REVIEW))
    assert amount(image, LIGHT.sentence) > 500
    assert amount(image, LIGHT.word) > 500


def test_what_speaks_against_the_label_has_its_own_colour(explain, scored):
    assert amount(picture(scored(REVIEW)), LIGHT.against) > 500
    assert amount(picture(explain(REVIEW)), LIGHT.against) == 0


def test_the_legend_of_scores_stays_inside_the_picture(scored):
    image = picture(scored(REVIEW))
    edge = image.crop((image.width - 20, 0, image.width, image.height))
    assert edge.getcolors() == [(20 * image.height, LIGHT.paper)]


def test_the_ending_says_the_format(explain, tmp_path):
    beginnings = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    for kind, beginning in beginnings.items():
        write(explain(REVIEW), tmp_path / f"found.{kind}")
        assert (tmp_path / f"found.{kind}").read_bytes().startswith(beginning)
    with pytest.raises(ConfigError, match="cannot be 'jpg'; use png, svg or pdf"):
        write(explain(REVIEW), tmp_path / "found.jpg")


def test_a_text_that_is_given_no_label_is_headed_by_none(explain):
    shares = (("positive", 0.4), ("negative", 0.1))
    decision = replace(explain(REVIEW).decisions[0], probability=0.4)
    found = replace(explain(REVIEW), decisions=(decision,), probabilities=shares, several=True)
    written = re.findall("<!-- (.*?) -->", render(found, "svg").decode())
    assert written[0] == "no label" and written[1].startswith("positive 40.0 %")
    written = re.findall("<!-- (.*?) -->", render(replace(found, several=False), "svg").decode())
    assert written[0] == "positive" and written[1].startswith("40.0 %")


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_the_same_explanation_gives_the_same_bytes(explain, kind):
    assert render(explain(REVIEW), kind) == render(explain(REVIEW), kind)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "这部电影真的非常精彩。我不喜欢结尾。",
        "هذا الفيلم رائع. הסרט היה טוב.",
        "smile 🙂 flag 🇩🇪 family 👩‍👩‍👧.",
        "costs $5 or $6, \\frac{1}{2} % _ ^ #.",
        "a\x00b \ud800 c\x1b[31m\u2028d\r\ne\tf.",
        "x" * 500,
    ],
    ids=["empty", "blank", "chinese", "rtl", "emoji", "mathematics", "controls", "long word"],
)
def test_any_text_is_drawn_without_a_warning(explain, text):
    """Warnings are errors in these tests; a letter without a glyph must not raise one."""
    made = replace(explain(text, labels=(text[:5] or "x", "y")), true_labels=(text[:9],))
    assert render(made).startswith(b"\x89PNG")
    assert b"</svg>" in render(made, "svg")


def test_a_letter_that_no_font_has_becomes_a_box():
    private = "\U000ffffd"  # a letter that is left for private use
    fonts = Type.for_text("ab" + private)
    assert fonts.drawable(f"a{private}b") == "a□b"
    assert fonts.drawable("a\u200d\x00\ufe0f b\n") == "a b\n"


def test_of_a_long_text_the_heaviest_sentences_are_drawn(explain):
    text = " ".join(f"This is sentence number {number} of many." for number in range(400))
    made = explain(text)
    image = picture(made)
    short = picture(explain("This is one sentence. " * 5))
    assert short.height < image.height < 4_000


@pytest.mark.parametrize("levels", [(0,), (1,), ()], ids=["words", "sentences", "nothing"])
def test_what_is_not_weighed_is_not_drawn(explain, levels):
    made = explain(REVIEW)
    weights = tuple(made.decisions[0].weights[level] for level in levels)
    image = picture(replace(made, decisions=(Decision("x", 0.9, weights),)))
    assert bool(amount(image, LIGHT.sentence)) is (1 in levels)
    assert bool(amount(image, LIGHT.word)) is (0 in levels)


def test_no_global_state_of_matplotlib_is_touched():
    """No pyplot, and settings are what they were; in a process of its own, to see it cleanly."""
    program = (
        "import sys, matplotlib\n"
        "from regard.records.explanation import Decision, Explanation\n"
        "from regard.views.explanation.picture import render\n"
        "before = matplotlib.rcParams.copy()\n"
        "render(Explanation('One. Two.', 'attention', (Decision('x', 1.0, ()),)))\n"
        "assert matplotlib.rcParams.copy() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_without_matplotlib_the_error_says_what_to_install():
    program = (
        "import sys\n"
        "sys.modules['matplotlib'] = None\n"
        "from regard.errors import MissingExtra\n"
        "from regard.records.explanation import Decision, Explanation\n"
        "from regard.views.explanation.picture import render\n"
        "try:\n"
        "    render(Explanation('One.', 'attention', (Decision('x', 1.0, ()),)))\n"
        "except MissingExtra as problem:\n"
        "    assert \"pip install 'regard[plots]'\" in str(problem)\n"
        "else:\n"
        "    raise SystemExit('drew without matplotlib')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
