"""Where two models differ: side by side on a page, and as lines."""

from dataclasses import replace

from regard.records.look import Difference
from regard.records.weights import Weights
from regard.views.difference import render, summary
from regard.views.explanation.page import render_beside
from support.looks import differing
from support.pages import Page

TEXT = "It was good. The end."
NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\x00"


def test_the_page_shows_both_explanations_side_by_side_and_every_change(explain):
    page = Page(render(differing(explain(TEXT), explain(TEXT, seed=1))))
    assert page.tags.count("article") == 2
    assert "positive 80.0 % → no 60.0 %" in page.text
    assert "(corrected)" in page.text and "20 % of the reasons shared" in page.text
    table = page.text.partition("Every change")[2]
    assert "positive 70.0 %" in table and "40 %" in table


def test_hostile_names_stay_text(explain):
    found = differing(explain(TEXT), explain(TEXT), label=NASTY, start=NASTY)
    page = Page(render(replace(found, old=NASTY, new=NASTY, only_old=(NASTY,))))
    assert page.tags.count("script") == len(page.scripts) == 1
    assert "img" not in page.tags
    assert all("\x00" not in line and "\n" not in line for line in summary(found))


def test_the_terminal_lists_what_changed(explain):
    said = summary(differing(explain(TEXT), explain(TEXT)))
    assert said[0] == (
        "Of 30 documents, 1 got another label and 1 the same label for other reasons."
    )
    assert said[1] == "1 label became right and 0 wrong."
    assert said[-2].startswith("document 5: positive 80.0 % → no 60.0 % (corrected), 20 % of")
    assert "document 10: positive 90.0 %, for other reasons, 40 %" in said[-1]


def test_labels_that_one_model_lacks_are_told(explain):
    many = tuple(range(12))
    found = replace(differing(explain(TEXT), explain(TEXT)), only_old=("good",), only_new=many)
    told = (
        f"The models do not have the same labels: {found.new} lacks good; {found.old} lacks 0, 1, "
        "2, 3, 4, 5, 6, 7, 8, 9 and 2 more."
    )
    assert summary(found)[1] == told and told in Page(render(found)).text
    assert summary(Difference("m1", "m2", 30, (), only_old=("bad",)))[1:] == [
        "The models do not have the same labels: m2 lacks bad."
    ]


def test_no_change_is_said_to_be_none():
    same = Difference("m1", "m2", 30, ())
    assert summary(same) == [
        "Nothing changed: the same labels for the same reasons on 30 documents."
    ]
    assert "Nothing changed" in Page(render(same)).text


def test_a_long_list_is_cut_on_the_terminal(explain):
    found = differing(explain(TEXT), explain(TEXT))
    many = replace(found, changes=found.changes[1:] * 50)
    assert summary(many)[-1] == "and 30 more; --out and --json list them all"


def test_two_explanations_make_a_page_of_their_own(explain):
    made = render_beside(("attention", explain(TEXT)), ("<erasure>", explain(TEXT, seed=2)))
    page = Page(made)
    assert page.tags.count("article") == 2 and "<erasure>" in page.text
    assert "script-src 'none'" in made


def test_what_speaks_against_the_label_differs_from_what_speaks_for_it(scored):
    made = scored(TEXT)
    spans = [(start, end) for start, end in made.decisions[0].level("sentence").pieces]
    old, new = (
        replace(made, decisions=(replace(made.decisions[0], weights=(weights,)),))
        for weights in (
            Weights.from_scores("sentence", spans, scores, unit="log-odds")
            for scores in ([2.0, -1.0], [-2.0, -1.0])
        )
    )
    html = render(differing(old, new))
    assert "<small>67 % → −67 %</small>" in html and "<small>−33 % → −33 %</small>" in html


def test_which_label_is_explained_is_said_and_phones_see_what_differs(open_html, explain):
    old, new = explain(TEXT), explain(TEXT, seed=1)
    html = render(differing(old, new))
    assert "Both explain the label <b><bdi>positive</bdi></b>." in html
    page = open_html(html, viewport={"width": 390, "height": 800})
    assert page.locator(".differing").first.is_visible()
    assert not page.locator(".mistake article").first.is_visible(), "these sentences alone"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    wide = open_html(html, viewport={"width": 1200, "height": 800})
    assert wide.locator(".mistake .rg-text").first.is_visible()
    assert not wide.locator(".differing").first.is_visible()
