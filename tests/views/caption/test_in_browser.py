"""The page of captions in a real browser: pointing at a word shows where it looked, large."""

import pytest

from regard.records.caption import CaptionEvaluation, CaptionScores
from regard.views.caption.page import render, render_errors
from support.captions import caption

pytest.importorskip("PIL.Image", reason="no pillow")


def stage(page, number=0):
    """How dark each cell of the large picture is; nothing while no word is pointed at."""
    place = page.locator(".rg-stage .rg-pic").nth(number)
    return place.locator("i").evaluate_all(
        "all => all.map(one => Number(getComputedStyle(one).getPropertyValue('--o')))"
    )


def test_pointing_at_a_word_shows_where_it_looked(open_html):
    """004-08: hover lights the cells of the word, and leaving puts the picture back."""
    page = open_html(render([caption("a big dog")]))
    assert stage(page) == []
    page.locator(".rg-sentence >> text=big").hover()
    dark = stage(page)
    assert len(dark) == 6 and dark.index(min(dark)) == 1 and min(dark) == 0
    assert page.locator(".rg-here").all_inner_texts() == ["big"]
    assert "big" in page.locator(".rg-said").inner_text()
    page.locator(".rg-looks li").nth(2).hover()
    assert stage(page).index(0) == 2
    page.mouse.move(1, 1)
    assert stage(page) == [] and page.said == []


def test_the_worst_come_first_and_each_can_be_pointed_at(open_html):
    """004-09: the browser of errors."""
    worst = tuple(
        caption(text, references=("a cat sleeps",), loss=loss)
        for text, loss in (("a green car", 6.0), ("a dog", 2.0))
    )
    scores = CaptionScores(2, 50.0, 40.0, 30.0, 20.0, "sig", 0.0, 4.0)
    page = open_html(render_errors(CaptionEvaluation(scores, worst)))
    assert [one.split()[-1] for one in page.locator(".rg-index li").all_inner_texts()] == [
        "6.00",
        "2.00",
    ]
    page.locator(".rg-sentence >> text=dog").hover()
    assert stage(page, 0) == [] and len(stage(page, 1)) == 6
    boxes = page.locator(".rg-stage .rg-pic").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect()).map(at => at.width / at.height)"
    )
    assert all(abs(ratio - 1.5) < 0.02 for ratio in boxes), "pictures keep their shape"
