"""The report as a browser shows it; skipped where there is no chromium or no playwright."""

import pytest

from regard.views.evaluation.page import render
from support.evaluations import complete, evaluated


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    names = ("<script>document.title='stolen'</script>", *(f"class {n}" for n in range(1, 40)))
    path.write_text(render(complete(evaluated(names, 400, noise=2.0))), encoding="utf-8")
    return path.as_uri()


def test_the_page_asks_for_nothing_and_runs_only_its_own_script(browser, report):
    page = browser.new_page()
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(report)
    assert (asked, said) == ([report], [])
    # Should escaping ever fail, the policy still stands between a name and its script.
    smuggled = "<img src=x onerror=\"document.title='stolen'\">"
    page.evaluate("html => document.body.insertAdjacentHTML('beforeend', html)", smuggled)
    page.wait_for_function("document.images[0].complete")
    assert page.title() == "model/ on test.csv"
    assert said and all("Content Security Policy" in line for line in said)
    page.close()


def test_headings_sort_by_mouse_and_by_keyboard(browser, report):
    page = browser.new_page()
    page.goto(report)
    column = "#classes tbody tr td:nth-child(6)"
    page.click("#classes th:nth-child(6) button")
    numbers = [float(text.rstrip(" %")) for text in page.locator(column).all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True) and len(numbers) == 40
    page.focus("#classes th:nth-child(6) button")
    page.keyboard.press("Enter")
    turned = [float(text.rstrip(" %")) for text in page.locator(column).all_inner_texts()]
    assert turned == sorted(numbers)
    assert page.get_attribute("#classes th:nth-child(6)", "aria-sort") == "ascending"
    page.click("#classes th:nth-child(1) button")
    names = page.locator("#classes tbody tr th").all_inner_texts()
    assert names[:3] == ["<script>document.title='stolen'</script>", "class 1", "class 2"]
    assert page.get_attribute("#classes th:nth-child(6)", "aria-sort") is None
    page.close()


@pytest.mark.parametrize("width", [360, 768, 1400])
def test_nothing_hangs_over_the_edge_of_the_window(browser, report, width):
    page = browser.new_page(viewport={"width": width, "height": 800})
    page.goto(report)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()


def test_dark_rooms_get_a_dark_page_and_paper_a_light_one(browser, report):
    shade = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)[0]"
    page = browser.new_page(color_scheme="dark")
    page.goto(report)
    assert page.evaluate(shade) < 60
    page.emulate_media(media="print")
    assert page.evaluate(shade) == 255
    page.close()
