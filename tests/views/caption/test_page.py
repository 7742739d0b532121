"""Captions on a page, in a terminal and as a picture: safe, whole, and the worst first."""

import re
from dataclasses import replace

import numpy as np
import pytest

from regard.errors import DataError
from regard.records.alignment import WrittenReceipt
from regard.records.caption import Caption, CaptionEvaluation, CaptionScores
from regard.records.explanation import UNDECIDED, Judgement
from regard.views.caption.page import notebook, render, render_errors
from regard.views.caption.words import levels, name_place, tell_verdict
from support.captions import caption

Image = pytest.importorskip("PIL.Image", reason="no pillow")


def test_a_page_shows_every_word_over_the_picture_and_escapes_all_of_it():
    """004-08: an overlay for each written word."""
    page = render([caption()], title="<script>")
    assert page.count('class="rg-veil"') == 3 and page.count('<li data-n="') == 3
    assert page.count("<i class=") == 18, "a cell for each of two by three, for each word"
    assert "&lt;b&gt;" in page and "<b> dog" not in page
    assert "holiday &amp; &lt;i&gt;.jpg" in page and "<title>&lt;script&gt;" in page
    assert page.count("data:image/jpeg;base64,") == 1, "the picture stands once, however many words"
    assert "http" not in page.replace("http-equiv", "")
    assert "lost 70 (10)" in page and "You may take what each word looked at" in page


def test_cells_are_shaded_by_the_heaviest_of_a_word():
    shown = levels(np.array([[0.5, 0.25, 0.25, 0.0], [0.25] * 4], np.float32))
    assert shown.tolist() == [[8, 4, 4, 0], [8, 8, 8, 8]]
    assert [name_place(caption(), row) for row in range(3)] == [
        "top left",
        "top middle",
        "top right",
    ]


def test_errors_come_worst_first_with_what_people_wrote():
    """004-09: the pictures that cost most, with where the model looked."""
    worst = [
        caption("a cat", references=("a dog runs", "<u>dog</u>"), loss=5.0),
        caption("a dog", references=("a dog",), loss=1.0),
    ]
    scores = CaptionScores(2, 50.0, 40.0, 30.0, 20.0, "sig", 0.5, 3.0, left_out=("x.jpg: <bad>",))
    page = render_errors(CaptionEvaluation(scores, tuple(worst)))
    assert page.index("a dog runs") < page.index("loss 1.00")
    assert "&lt;u&gt;dog" in page and "x.jpg: &lt;bad&gt;" in page
    assert page.count("rg-captioned") > 2 and "BLEU-4" in page


def test_a_caption_survives_json():
    given = caption(references=("one",), loss=2.5)
    again = Caption.from_json(given.to_json())
    assert again.to_json() == given.to_json() and again.picture == given.picture
    assert again.receipt == given.receipt and np.array_equal(again.weights, given.weights)
    with pytest.raises(DataError, match="do not fit 12 cells"):
        Caption.from_json(given.to_json().replace('"columns": 3', '"columns": 6'))


def test_weights_that_do_not_fit_are_refused():
    with pytest.raises(DataError, match="do not fit words and cells"):
        replace(caption(), rows=3)
    with pytest.raises(DataError, match="not finite"):
        replace(caption(), weights=np.full((3, 6), np.nan, np.float32))


def test_a_terminal_has_a_map_for_each_word():
    text = caption("a\x1b[31m dog").to_text()
    assert "\x1b" not in text and text.count("██") >= 2
    assert "lost 70 (10)" in text and "You may take" in text


def test_a_notebook_gets_all_that_it_needs():
    shown = notebook([caption()])
    assert shown.startswith("<style>") and "<script>" in shown


def test_a_picture_has_a_panel_for_each_word(tmp_path):
    """004-08: a grid of overlays as PNG and SVG."""
    pytest.importorskip("matplotlib", reason="no matplotlib")
    caption().write_image(tmp_path / "x.png")
    with Image.open(tmp_path / "x.png") as drawn:
        assert drawn.width > 800 and drawn.height > 150
    caption().write_image(tmp_path / "x.svg")
    assert "dog" in (tmp_path / "x.svg").read_text() or (tmp_path / "x.svg").stat().st_size > 5000
    with pytest.raises(DataError, match="does not hold its picture"):
        replace(caption(), picture=b"").write_image(tmp_path / "y.png")


def partly_decided():
    """A caption whose first word follows from the grammar."""
    shown = caption("a red dog")
    first = WrittenReceipt(1.0, 0.9999, 1.0, 0.4, blind=0.998)
    rest = tuple(replace(one, blind=0.3) for one in shown.receipt.written[1:])
    return replace(shown, receipt=replace(shown.receipt, written=(first, *rest)))


def test_every_view_says_which_words_the_picture_does_not_decide():
    """004-09: such a word has no comparison of rounding errors, and the figures leave it out."""
    shown = partly_decided()
    page, text = render([shown]), shown.to_text()
    for view in (page, text):
        assert view.count("lost 70 (10)") == 2
        assert "not decided by the picture" in view and "lost 0" not in view
        assert "2 of 2 words lose more" in view
        assert "does not decide 1 word. Such a word loses less than 1 percentage point" in view
    assert "all cells covered 99.8 %" in page
    again = Caption.from_json(shown.to_json())
    assert [one.decided for one in again.receipt.written] == [False, True, True]


def test_a_caption_that_the_picture_does_not_decide_says_so():
    shown = partly_decided()
    none = tuple(replace(one, blind=one.probability) for one in shown.receipt.written)
    judged = Judgement("piece", UNDECIDED, sets=20)
    shown = replace(shown, receipt=replace(shown.receipt, judgement=judged, written=none))
    conclusion, rule = tell_verdict(shown)
    assert "The picture decides none of these words" in conclusion
    assert "does not decide 3 words" in rule and "leave it out" not in rule


def test_a_caption_written_before_pictures_were_covered_whole_still_reads():
    """A receipt from an older version has no such figure, and all of its words count."""
    old = re.sub(r', "blind": [^}]*', "", partly_decided().to_json())
    assert "blind" not in old
    assert all(one.decided for one in Caption.from_json(old).receipt.written)


def test_what_was_not_measured_is_not_told():
    assert tell_verdict(replace(caption(), receipt=None)) == []
    assert "lost" not in render([replace(caption(), receipt=None)]).split("<article")[1]
