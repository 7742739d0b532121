"""The page in a real browser: nothing runs, nothing leaves, keys work, long texts are quick."""

import shutil
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from regard.views.html import render

sync_api = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")

REVIEW = "I sat there. It was brilliant, Zorblax!\n\nThe end dragged."
HOSTILE = (
    "<script>window.hit = 1</script> <img src=x onerror='window.hit = 2'> "
    '" onfocus="window.hit = 3" autofocus x=" </style><script>window.hit = 4</script> '
    "<svg onload=window.hit=5> <a href='https://example.com/x'>x</a> &lt;b&gt;."
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[object]:
    program = next(
        filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])), None
    )
    if program is None:
        pytest.skip("no chromium on this machine; install it to test the page in a real browser")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def open_page(browser, tmp_path):
    """Open explanations in the browser; ``requests`` of the page lists what it asked for."""
    opened = []

    def opening(explanations, **options):
        file = tmp_path / "page.html"
        file.write_text(render(explanations), encoding="utf-8")
        page = browser.new_page(**options)
        page.requested = []
        page.on("request", lambda request: page.requested.append(request.url))
        opened.append(page)
        page.goto(file.as_uri())
        return page

    yield opening
    for page in opened:
        page.close()


def shade(page, word: str) -> str:
    return page.locator(f"mark:text-is('{word}')").first.evaluate(
        "e => getComputedStyle(e).backgroundColor"
    )


def test_no_script_of_the_text_runs_and_no_request_leaves(open_page, explain):
    made = explain(HOSTILE, labels=(HOSTILE, "other"), unknown=("script",))
    page = open_page([replace(made, method=HOSTILE, true_labels=(HOSTILE,))])
    page.wait_for_load_state("networkidle")
    page.locator("mark").first.hover()
    page.keyboard.press("Tab")
    assert page.evaluate("window.hit") is None
    assert page.locator("article script, article img, article svg, article a").count() == 0
    assert [url for url in page.requested if not url.startswith("file:")] == []
    assert len(page.requested) == 1


def test_the_browser_shows_the_text_as_written(open_page, explain):
    page = open_page([explain(REVIEW), explain(HOSTILE)])
    shown = page.evaluate(
        "[...document.querySelectorAll('.rg-text')].map("
        "t => [...t.querySelectorAll('p')].map(p => p.textContent).join(''))"
    )
    assert shown == [REVIEW, HOSTILE]


def test_the_switches_work_by_keyboard(open_page, explain):
    page = open_page([explain(REVIEW), explain(REVIEW, seed=3)])
    first, second = page.locator(".regard").nth(0), page.locator(".regard").nth(1)
    word = explain(REVIEW).words(1)[0].text
    before = shade(page, word)
    first.locator("input").first.focus()
    page.keyboard.press("ArrowRight")
    assert first.locator("[value=y]").is_checked()
    assert first.locator(".rg-in-y").is_visible()
    page.keyboard.press("ArrowRight")
    assert first.locator("[value=z]").is_checked()
    assert not second.locator("[value=z]").is_checked()
    assert first.locator(".rg-in-z").is_visible()
    assert not first.locator(".rg-in-x").is_visible()
    assert second.locator(".rg-in-x").is_visible()
    assert shade(page, word) != before
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    assert first.locator("[value=written]").is_checked()
    assert not first.locator(".rg-gutter").first.is_visible()
    assert second.locator(".rg-gutter").first.is_visible()
    page.keyboard.press("Enter")
    assert page.url.endswith("page.html")


def test_heavy_words_are_reached_by_keyboard_and_say_their_weight(open_page, explain):
    page = open_page([explain(REVIEW)])
    page.locator("input").last.focus()
    page.keyboard.press("Tab")
    said = page.evaluate("getComputedStyle(document.activeElement, '::after').content")
    assert page.evaluate("document.activeElement.tagName") == "MARK"
    assert "of the document" in said


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_readable(open_page, explain, scheme):
    page = open_page([explain(REVIEW)], color_scheme=scheme)
    paper, ink = page.locator(".regard").evaluate(
        "e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color]"
    )
    light = {"light": paper, "dark": ink}[scheme]
    dark = {"light": ink, "dark": paper}[scheme]
    assert min(_parts(light)) > 220
    assert max(_parts(dark)) < 60


def test_a_narrow_window_needs_no_sideways_scrolling(open_page, explain):
    text = "A very long word: " + "x" * 400 + ". " + REVIEW
    page = open_page([explain(text)], viewport={"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_right_to_left_text_stands_on_the_right(open_page, explain):
    page = open_page([explain("הסרט היה טוב. מאוד.")])
    line = page.locator(".rg-line").first
    gutter, text = line.locator(".rg-gutter").bounding_box(), line.locator("p").bounding_box()
    assert gutter["x"] > text["x"]
    assert line.locator("p").evaluate("e => getComputedStyle(e).direction") == "rtl"


def test_ten_thousand_words_are_drawn_within_two_seconds(open_page, explain):
    """004-13 asks for 2,000 tokens within 2 s; a page of ours has 10,000 words."""
    text = " ".join(
        f"This is sentence number {n} of a long report on it, nothing more." for n in range(770)
    )
    made = explain(text)
    assert len(made.decisions[0].weights[0]) > 10_000
    page = open_page([made])
    assert page.locator(".rg-line").count() == 770
    # The best of three: a machine that is busy with other things says nothing about the page.
    took = min(_seconds_to_draw_again(page) for _ in range(3))
    assert took < 2, f"{took:.2f} s"


def _seconds_to_draw_again(page) -> float:
    began = time.perf_counter()
    page.reload()
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    page.locator(".rg-line").last.scroll_into_view_if_needed()
    return time.perf_counter() - began


def _parts(colour: str) -> list[int]:
    return [int(part) for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
