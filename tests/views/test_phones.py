"""Every page fits a phone: nothing but boxes that scroll by themselves is wider than its screen."""

import pytest

from regard.records.audit import Audit, FlipTable, MethodAudit, Metric, NeedleCell, NeedleMap
from regard.records.evaluation import Interval
from regard.records.measures import MEASURES
from regard.records.translation import TranslationScores, WrittenPair
from support.evaluations import complete, evaluated
from support.looks import differing, looked

LONG_NAME = "department-of-quite-long-names/" * 3
METHODS = ("attention", "gradient_input", "integrated_gradients", "erasure")
KINDS = ("explanation", "evaluation", "look", "difference", "audit", "translation")
TEXT = "The food was good. The staff, however, was slow; we waited for an hour.\n\n\nNever again."


def audited():
    """An audit with every measure, a table of flips and a map of planted sentences."""
    metrics = [
        Metric(name, 0.5, Interval(0.4, 0.6), 0.31, 40, "by hand", baseline_name="random ranking")
        for name in MEASURES
    ]
    cells = [
        NeedleCell(size, place, 10, 7, 0, 5) for size in (5, 40) for place in range(0, size, 4)
    ]
    return Audit(
        40,
        "integrated_gradients",
        tuple(MethodAudit(name, tuple(metrics)) for name in METHODS),
        about_model=tuple(metrics),
        flips=FlipTable("sentence", 1, 2, 3, 34),
        needle=NeedleMap("integrated_gradients", tuple(cells)),
        model=LONG_NAME,
        data=LONG_NAME,
    )


def pages(explain):
    """A page of each kind, with names and texts of some length."""
    pair = WrittenPair(0, TEXT, TEXT, TEXT, 40.0)
    made = explain(TEXT, labels=(LONG_NAME, "no"))
    return {
        "explanation": made.to_html(f"What decided: {LONG_NAME} on {LONG_NAME}.csv"),
        "evaluation": complete(evaluated([f"class {n}" for n in range(12)], 400)).to_html(),
        "look": looked(made, label=LONG_NAME).to_html(),
        "difference": differing(made, made, label=LONG_NAME).to_html(),
        "audit": audited().to_html(),
        "translation": TranslationScores(9, 1, 2, "a|b" * 30, "c", 0.1, worst=(pair,)).to_html(),
    }


@pytest.mark.parametrize("kind", KINDS)
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
