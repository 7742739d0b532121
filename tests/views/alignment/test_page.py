"""The page of an alignment: both texts as written, every weight, nothing left unescaped."""

import re
from dataclasses import replace

import numpy as np
import pytest

from regard.records.alignment import Alignment
from regard.records.explanation import UNDECIDED, Judgement
from regard.views.alignment.page import fragment, notebook, render
from regard.views.alignment.words import names, stretches, tell_looks, tell_verdict
from regard.views.drawing.colours import DARK, LEVELS, LIGHT, contrast
from support.aligned import ARABIC, DOGS, HOSTILE, KOREAN, aligned, measured
from support.pages import Page

SHARP = Alignment(
    "ein Haus", "a house", ((0, 3), (4, 8)), ((0, 1), (2, 7)), [[0.97, 0.03], [0.25, 0.75]]
)


def sentences(html):
    """The two texts as a reader sees them."""
    found = re.findall(r'<p class="rg-sentence[^>]*>(.*?)</p>', html, re.DOTALL)
    return [Page(part).text for part in found]


def cells(html):
    return re.findall(r'<td(?: class="g(\d+)")?>(\d*)</td>', html)


@pytest.mark.parametrize("text", [DOGS, KOREAN, ARABIC, HOSTILE, "", " ", "a\nb\u2028c", "\x00"])
def test_both_texts_stand_there_as_written(text):
    """002-15, 004-05: pieces are parts of the texts themselves, in any script."""
    for source, target in ((text, DOGS), (DOGS, text)):
        page = render([[aligned(source, target)]])
        Page(page)
        shown = [part.replace("\x00", "\ufffd") for part in (source, target)]
        assert sentences(page) == shown


def test_each_weight_is_a_grey_with_its_number():
    """004-05: a row for each written piece, a column for each of the source."""
    first, faint, quarter, most = cells(fragment([SHARP]))[1:]
    assert [number for _, number in (first, faint, quarter, most)] == ["97", "3", "25", "75"]
    levels = [int(level) for level, _ in (faint, quarter, most, first)]
    assert levels == sorted(levels) and levels[0] >= 1 and levels[-1] == LEVELS


def test_every_row_says_how_many_pieces_counted():
    """004-06: the exponential of the entropy beside each row, and its mean above."""
    html = fragment([SHARP])
    counts = re.findall(r'<td class="rg-count"[^>]*>([\d.]+)</td>', html)
    assert counts == [f"{count:.1f}" for count in SHARP.effective_counts]
    mean = SHARP.effective_counts.mean()
    assert f"A piece looked at {mean:.1f} of 2 pieces of the source" in html


def test_nothing_of_a_text_is_markup():
    page = render([[aligned(HOSTILE, HOSTILE)], [aligned("a", HOSTILE)] * 2])
    parsed = Page(page)
    assert parsed.tags.count("script") == 1 and "img" not in parsed.tags
    assert not {name for _, name, _ in parsed.attributes if name.startswith("on")}
    assert "default-src 'none'" in page


def test_several_candidates_have_a_matrix_each_and_a_switch():
    html = render([[aligned("a b", f"x{rank}", score=-rank) for rank in (1, 2, 3)]])
    assert html.count('<table class="rg-matrix"') == 3
    assert re.findall(r'value="(n\d)"( checked)?', html) == [
        ("n1", " checked"),
        ("n2", ""),
        ("n3", ""),
    ]
    assert "[value=n3]:checked" in html and "3 translations, best first" in html
    assert "score −2.000" in html
    alone = fragment([aligned("a b", "x")])
    assert 'type="radio"' not in alone


def test_a_source_from_right_to_left_has_its_first_column_at_the_right():
    assert 'class="rg-matrix" dir="rtl"' in fragment([aligned(ARABIC, DOGS)])
    assert 'class="rg-matrix" dir="ltr"' in fragment([aligned(DOGS, ARABIC)])


def test_without_weights_there_is_no_matrix():
    nothing = fragment([aligned("a b", "")])
    assert "rg-matrix" not in nothing and "Nothing was written." in nothing
    assert "There was nothing to look at." in fragment([aligned("", "a")])
    assert "The limit of its length came before its end." in fragment(
        [aligned("a", "b", ended=False)]
    )
    assert "<h1>" in render([])


def test_a_notebook_shows_it_with_all_it_needs():
    html = SHARP._repr_html_()
    assert html == notebook([SHARP])
    assert html.startswith("<style>") and html.endswith("</script>") and "<html" not in html
    Page(html)
    assert SHARP.to_html(title="<T>").count("&lt;T&gt;") == 2


def test_every_grey_can_be_read_on():
    for theme in (LIGHT, DARK):
        for level in range(1, LEVELS + 1):
            grey = theme.grey(level)
            assert contrast(grey, theme.ink_on(grey)) >= 4.5
        assert theme.grey(0) == theme.paper and theme.grey(LEVELS) == theme.ink


def test_stretches_joined_are_the_text():
    for spans in ((), ((0, 1), (1, 1), (2, 4)), ((2, 4), (0, 1)), ((0, 3), (1, 2)), ((0, 5),)):
        parts = list(stretches("ab cd", spans))
        assert "".join(part.text for part in parts) == "ab cd"
        for part in parts:
            if part.piece is not None:
                start, end = spans[part.piece]
                assert part.text == "ab cd"[start:end]


def test_a_piece_without_letters_has_a_name():
    assert names(("", " ", "a b\nc")) == ("␣", "␣", "a b c")
    assert tell_looks(aligned("a", "")) == "Nothing was written."


def test_a_matrix_of_two_hundred_pieces_stays_small():
    words = " ".join(f"w{number}" for number in range(200))
    made = Alignment(words, words, *([aligned(words, "x").source_spans] * 2), np.eye(200))
    assert len(render([[made]])) < 1_000_000


@pytest.mark.parametrize(
    ("verdict", "concluded"),
    [
        ("faithful", "You may take what each piece looked at"),
        ("weak", "for a part of what it was written from"),
        ("no better than chance", "Do not take what each piece looked at"),
        ("too short to tell", "too short to tell whether what was looked at matters"),
        ("not measured", "Nothing was measured"),
    ],
)
def test_a_receipt_says_whether_what_was_looked_at_matters(verdict, concluded):
    made = measured(aligned(DOGS, "Zwei Hunde."), verdict)
    html, text = fragment([made]), made.to_text(300)
    for drawn in (html, text):
        assert concluded in drawn
        assert f"{verdict.capitalize()}: without what it looked at most" in drawn
        assert "loses 80.0 percentage points of its probability on average" in drawn
        assert "without a random piece of the source 20.0; 3 of 3 written pieces" in drawn
    assert html.count('<td class="rg-lost"') == 3 and ">80 (20)</td>" in html
    assert "lost without it (random)" in html and text.count("lost 80 (20)") == 3
    assert "90.0 %, without what it looked at 10.0 %, without random pieces 70.0 %; p 0.02" in html


def test_every_view_says_which_pieces_the_source_does_not_decide():
    """004-09: such a piece has no comparison of rounding errors, and the figures leave it out."""
    made = measured(aligned(DOGS, "Zwei Hunde."))
    *rest, last = (replace(one, blind=0.3) for one in made.receipt.written)
    written = (*rest, replace(last, blind=0.895))
    made = replace(made, receipt=replace(made.receipt, written=written))
    html, text = fragment([made]), made.to_text(300)
    for drawn in (html, text):
        assert "2 of 2 written pieces lose more" in drawn
        assert "The source does not decide 1 piece. Such a piece loses less than 1" in drawn
        assert "The figures above leave such pieces out." in drawn
        assert drawn.count("80 (20)") == 2 and "not decided" in drawn
    assert ">not decided</td>" in html and text.count("lost 80 (20)") == 2
    assert "without any piece 89.5 %; not decided by the source" in html
    assert "without any piece 30.0 %; p 0.02" in html


def test_a_translation_that_the_source_does_not_decide_says_so():
    made = measured(aligned(DOGS, "Zwei Hunde."))
    written = tuple(replace(one, blind=0.9) for one in made.receipt.written)
    receipt = replace(
        made.receipt, judgement=Judgement("piece", UNDECIDED, sets=6), written=written
    )
    conclusion, rule = tell_verdict(replace(made, receipt=receipt))
    assert "The source decides none of these pieces" in conclusion
    assert "does not decide 3 pieces" in rule and "leave such" not in rule


def test_without_a_receipt_nothing_is_claimed():
    made = aligned(DOGS, "Zwei Hunde.")
    assert "rg-lost" not in fragment([made]) and "rg-receipt" not in fragment([made])
    assert "lost" not in made.to_text(300)
    odd = measured(made, without=0.95)
    assert ">−5 (20)</td>" in fragment([odd]), "a piece may be likelier without what it looked at"
