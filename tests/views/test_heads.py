"""The page of heads: escaped, alone, quick in a browser, and what pointing at a word shows."""

import random
import time

import pytest

from regard.records.heads import AttentionHeads, Head
from regard.views.drawing.terminal import Terminal
from regard.views.heads import render, render_terminal

HOSTILE = "<script>window.hit = 1</script> said “no” to </b> & <img src=x onerror='window.hit = 2'>"


@pytest.fixture(scope="module")
def made(explain):
    """Heads whose words look at others by chance."""

    def making(text: str, *, heads: int = 3, few: int = 24) -> AttentionHeads:
        draw = random.Random(0)
        explanation = explain(text, flat=True)
        words = tuple((a, b) for a, b in explanation.decisions[0].weights[0].pieces)
        count = len(words)
        width = min(few, count)

        def head(layer: int, number: int) -> Head:
            targets, shares = [], []
            for _ in range(count):
                targets += draw.sample(range(count), width)
                shares += sorted(
                    (draw.randint(1, 1000 // width) for _ in range(width)), reverse=True
                )
            return Head(layer, number, tuple(targets), tuple(shares), explanation)

        found = (head(0, 0), *(head(6, number) for number in range(1, heads + 1)))
        return AttentionHeads(text, words, found, 6, 12)

    return making


def test_texts_are_escaped_and_nothing_leaves(made, open_html):
    """004-13."""
    page = open_html(render([made(HOSTILE)]))
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.hit") is None
    assert page.locator(".rg-words").text_content() == HOSTILE
    assert [url for url in page.requested if not url.startswith("file:")] == []
    assert page.said == []


def test_two_thousand_words_are_drawn_within_two_seconds(made, open_html):
    """004-13: twelve heads and the rollout, from opening the file to the drawn matrix."""
    found = made(" ".join(f"word{n % 300}." for n in range(1000)), heads=12)
    assert len(found.words) == 2000
    page = open_html(render([found]))
    # The quickest of three: other work on the machine may make any of them wait.
    assert min(_seconds_to_draw_again(page) for _ in range(3)) < 2
    began = time.perf_counter()
    page.select_option(".rg-head", "12")
    page.wait_for_function("document.querySelector('.rg-heads').dataset.drawn === '12'")
    assert time.perf_counter() - began < 1


def _seconds_to_draw_again(page) -> float:
    began = time.perf_counter()
    page.reload()
    page.wait_for_function("document.querySelector('.rg-heads').dataset.drawn === '0'")
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
    return time.perf_counter() - began


def test_pointing_at_a_word_shows_what_it_looked_at(made, open_html):
    found = made("One two three four five.")
    page = open_html(render([found]))
    page.locator("[data-n='1']").hover()
    few = found.few
    best = found.source[slice(*found.words[found.heads[0].targets[few]])]
    said = page.locator(".rg-said").text_content()
    assert "“\u2068two\u2069” looked at" in said and best in said.split("looked at")[1]
    assert page.locator("[data-n='1'].rg-here").count() == 1
    page.locator(".rg-back").check()
    page.locator("[data-n='1']").hover()
    assert "was looked at by" in page.locator(".rg-said").text_content()


def test_words_are_walked_by_keyboard_and_each_head_has_its_receipt(made, open_html):
    page = open_html(render([made("One two three four five.")]))
    page.locator(".rg-words").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.locator(".rg-here").text_content() == "two"
    page.keyboard.press("Escape")
    assert page.locator(".rg-here").count() == 0
    assert page.locator(".rg-of-head").nth(0).is_visible()
    page.select_option(".rg-head", "2")
    assert not page.locator(".rg-of-head").nth(0).is_visible()
    assert page.locator(".rg-of-head").nth(2).is_visible()


def test_the_terminal_names_the_heaviest_looks(made):
    lines = render_terminal(made("One two three four five."), Terminal()).splitlines()
    assert lines[-4].startswith("rollout: ") and "→" in lines[-1]
    assert lines[-1].startswith("layer 6, head 3: ")
