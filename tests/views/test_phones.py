"""Every page fits a phone: nothing but boxes that scroll by themselves is wider than its screen."""

import pytest

from regard.records.translation import TranslationScores, WrittenPair
from support.evaluations import complete, evaluated
from support.looks import differing, looked

LONG_NAME = "department-of-quite-long-names/" * 3
TEXT = "The food was good. The staff, however, was slow; we waited for an hour.\n\n\nNever again."


def pages(explain):
    """A page of each kind, with names and texts of some length."""
    pair = WrittenPair(0, TEXT, TEXT, TEXT, 40.0)
    made = explain(TEXT, labels=(LONG_NAME, "no"))
    return {
        "explanation": made.to_html(f"What decided: {LONG_NAME} on {LONG_NAME}.csv"),
        "evaluation": complete(evaluated([f"class {n}" for n in range(12)], 400)).to_html(),
        "look": looked(made, label=LONG_NAME).to_html(),
        "difference": differing(made, made, label=LONG_NAME).to_html(),
        "translation": TranslationScores(9, 1, 2, "a|b" * 30, "c", 0.1, worst=(pair,)).to_html(),
    }


@pytest.mark.parametrize("kind", ["explanation", "evaluation", "look", "difference", "translation"])
def test_a_page_is_no_wider_than_a_phone(open_html, explain, kind):
    page = open_html(pages(explain)[kind], viewport={"width": 390, "height": 800})
    wide = page.evaluate(
        "[...document.querySelectorAll('main *')].filter(one => one.getBoundingClientRect().right"
        " > innerWidth + 1 && !one.closest('.scroll, .rg-name, details:not([open]), svg')"
        " && getComputedStyle(one).visibility != 'hidden')"
        ".map(one => one.outerHTML.slice(0, 80))"
    )
    assert wide == [] and page.evaluate("document.documentElement.scrollWidth") <= 390
    assert page.requested == [page.url] and page.said == []
