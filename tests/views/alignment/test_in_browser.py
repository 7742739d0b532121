"""The page of an alignment in a real browser: pointing lights what belongs together."""

import pytest

from regard.records.alignment import Alignment
from regard.views.alignment.page import notebook, render
from support.aligned import ARABIC, DOGS, HOSTILE, KOREAN, aligned

HOUSE = Alignment(
    "ein kleines Haus",
    "a small house",
    ((0, 3), (4, 11), (12, 16)),
    ((0, 1), (2, 7), (8, 13)),
    [[0.9, 0.1, 0.0], [0.05, 0.7, 0.25], [0.0, 0.2, 0.8]],
)


def lit(page, side):
    """Which pieces of a text are lit, and how strongly."""
    return page.locator(f".rg-{side} [data-n]").evaluate_all(
        "all => all.filter(one => /\\bx\\d/.test(one.className))"
        ".map(one => [one.textContent, Number(/x(\\d+)/.exec(one.className)[1])])"
    )


def here(page):
    return page.locator("[data-n].rg-here").all_inner_texts()


def cells(page):
    """The weights in the cells of the matrix that are lit."""
    return page.locator(".rg-matrix td.rg-on:not(.rg-count)").all_inner_texts()


def said(page):
    return page.locator(".rg-said:visible").inner_text().replace("\u2068", "").replace("\u2069", "")


def test_pointing_at_a_source_word_lights_who_looked_at_it(open_html):
    """002-15: hover in either sentence lights the other, and the column."""
    page = open_html(render([[HOUSE]]))
    usual = said(page)
    page.locator(".rg-from >> text=kleines").hover()
    found = lit(page, "to")
    assert [word for word, _ in found] == ["a", "small", "house"]
    assert max(found, key=lambda pair: pair[1])[0] == "small"
    assert here(page) == ["kleines"] and lit(page, "from") == []
    assert cells(page) == ["10", "70", "20"]
    assert said(page) == "“kleines” was looked at by “small” 70 %, “house” 20 %, “a” 10 %"
    page.mouse.move(1, 1)
    assert (lit(page, "to"), here(page), cells(page), said(page)) == ([], [], [], usual)
    assert page.said == []


def test_pointing_at_a_written_word_lights_where_it_looked(open_html):
    """002-15: and the row."""
    page = open_html(render([[HOUSE]]))
    page.locator(".rg-to >> text=house").hover()
    assert [word for word, _ in lit(page, "from")] == ["kleines", "Haus"]
    assert cells(page) == ["", "20", "80"]
    shades = page.locator(".rg-from [data-n]").evaluate_all(
        "all => all.map(one => getComputedStyle(one).backgroundColor)"
    )
    assert len(set(shades)) == 3, "each as strongly as it counted"


def test_the_matrix_points_back_at_both_texts(open_html):
    page = open_html(render([[HOUSE]]))
    page.locator(".rg-matrix tbody tr").nth(1).locator("td").nth(2).hover()
    assert sorted(here(page)) == ["Haus", "small"]
    assert said(page) == "“small” looked at “Haus”: 25 %"
    page.locator(".rg-matrix thead th").nth(0).hover()
    assert here(page) == ["ein"]
    page.locator(".rg-matrix tbody th").nth(2).hover()
    assert here(page) == ["house"]


def test_everything_works_by_keyboard(open_html):
    """One stop of the tab key for each text; arrows walk, up and down go to the counterpart."""
    page = open_html(render([[HOUSE]]))
    page.keyboard.press("Tab")
    assert here(page) == ["ein"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert here(page) == ["Haus"]
    page.keyboard.press("ArrowDown")
    assert here(page) == ["house"]
    page.keyboard.press("Home")
    assert here(page) == ["a"]
    page.keyboard.press("ArrowUp")
    assert here(page) == ["ein"]
    page.keyboard.press("Tab")
    assert here(page) == ["a"], "the text remembers where its reader was"
    page.keyboard.press("Escape")
    assert here(page) == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "rg-scroll"


def test_arrows_follow_the_direction_of_the_text(open_html):
    page = open_html(render([[aligned(ARABIC, DOGS)]]))
    page.keyboard.press("Tab")
    assert here(page) == [ARABIC.split()[0]]
    page.keyboard.press("ArrowLeft")
    assert here(page) == [ARABIC.split()[1]]
    places = page.locator(".rg-matrix thead th:not(.rg-count)").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().left)"
    )
    assert places == sorted(places, reverse=True), "the first column is at the right"


def test_korean_columns_stand_over_their_cells(open_html):
    page = open_html(render([[aligned(KOREAN, DOGS)]]))
    heads = page.locator(".rg-matrix thead th:not(.rg-count)")
    assert heads.all_text_contents() == list(aligned(KOREAN, DOGS).source_pieces)
    lefts = "all => all.map(one => Math.round(one.getBoundingClientRect().left))"
    columns = page.locator(".rg-matrix tbody tr").first.locator("td:not(.rg-count)")
    assert heads.evaluate_all(lefts) == columns.evaluate_all(lefts)


def test_candidates_are_switched_without_a_script(open_html):
    many = [[aligned("a b", f"x{rank} y") for rank in (1, 2)] for _ in range(2)]
    for options in ({}, {"java_script_enabled": False}):
        page = open_html(render(many), **options)
        first, second = page.locator(".regard").nth(0), page.locator(".regard").nth(1)
        assert first.locator(".rg-wrote:visible .rg-to").inner_text() == "x1 y"
        first.locator("[value=n2]").check()
        assert first.locator(".rg-wrote:visible .rg-to").inner_text() == "x2 y"
        assert second.locator(".rg-wrote:visible .rg-to").inner_text() == "x1 y"
        assert first.locator(".rg-matrix:visible td").first.is_visible()


def test_no_script_of_a_text_runs_and_no_request_leaves(open_html):
    page = open_html(render([[aligned(HOSTILE, HOSTILE), aligned(HOSTILE, "x")]], title=HOSTILE))
    page.wait_for_load_state("networkidle")
    page.locator(".rg-from [data-n]").first.hover()
    page.locator(".rg-matrix tbody td").first.hover()
    page.keyboard.press("Tab")
    assert page.evaluate("window.hit") is None
    assert page.locator("article script, article img").count() == 0
    assert len(page.requested) == 1 and page.said == []
    assert page.locator(".rg-from").first.text_content() == HOSTILE


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_themselves(open_html, scheme):
    page = open_html(render([[HOUSE]]), color_scheme=scheme)
    heavy, paper = (
        page.locator(f"{place} >> nth=0").evaluate(
            "one => getComputedStyle(one).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
        )
        for place in (".rg-matrix .g10, .rg-matrix .g9", ".regard")
    )
    assert (sum(heavy) < sum(paper)) is (scheme == "light")


def test_a_long_matrix_scrolls_in_its_own_box(open_html):
    words = " ".join(f"word{number}" for number in range(80))
    page = open_html(render([[aligned(words, words)]]), viewport={"width": 600, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    box = page.locator(".rg-scroll")
    assert box.evaluate("box => box.scrollWidth > box.clientWidth")
    head = page.locator(".rg-matrix tbody th").first
    before = head.bounding_box()["x"]
    box.evaluate("box => box.scrollBy(500, 0)")
    assert head.bounding_box()["x"] == pytest.approx(before, abs=2), "names stay in sight"
    page.locator(".rg-from [data-n]").first.focus()
    page.keyboard.press("End")
    assert (
        page.locator(".rg-matrix thead th")
        .nth(79)
        .evaluate("head => head.getBoundingClientRect().right <= innerWidth")
    )


def test_several_may_stand_in_one_notebook(open_html):
    page = open_html(notebook([HOUSE]) + notebook([aligned("a b", "x y")]))
    for place, word in ((0, "ein"), (1, "a")):
        article = page.locator(".regard").nth(place)
        article.locator(".rg-from [data-n]").first.hover()
        assert article.locator("[data-n].rg-here").inner_text() == word
    assert page.said == []
