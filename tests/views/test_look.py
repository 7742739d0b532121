"""The page of a look through a corpus: all of it is there, escaped, and nothing is asked for."""

import re
from dataclasses import replace

from regard.records.look import Look
from regard.views.look import render, summary
from support.looks import looked
from support.pages import Page

TEXT = "It was good. The end."
NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\x00\ud800"


def test_every_section_is_there_and_linked(explain):
    """004-11: a page that shows how attention to a word changes with context."""
    page = Page(render(looked(explain(TEXT))))
    links = [value for tag, name, value in page.attributes if (tag, name) == ("a", "href")]
    anchors = [value for tag, name, value in page.attributes if (tag, name) == ("section", "id")]
    wanted = ["deciding-sentences", "suspicious-labels", "words-in-context", "evenness"]
    assert anchors == wanted == [link.removeprefix("#") for link in links]
    assert page.tags.count("svg") == 4
    for said in ("18 uses", "3.00 × an even share", "over about 4.5 of 12.0 words", "It was good."):
        assert said in page.text


def test_a_histogram_says_in_words_what_it_shows(explain):
    html = render(looked(explain(TEXT)))
    assert "weight 0.25 to 0.5: 3 uses, 33 %" in html
    assert len(re.findall(r'role="img" aria-label="Weights of good, ', html)) == 2


def test_hostile_names_stay_text(explain):
    found = looked(explain(TEXT, labels=(NASTY, "b")), label=NASTY, word=NASTY, sentence=NASTY)
    page = Page(render(replace(found, title=NASTY)))
    assert page.tags.count("script") == len(page.scripts) == 1
    assert "img" not in page.tags
    assert not [name for _, name, _ in page.attributes if name.startswith("on") or name == "src"]
    assert "\x00" not in "".join(summary(found))


def test_what_was_not_found_takes_no_room():
    page = Page(render(Look(documents=3)))
    assert page.tags.count("section") == 0
    assert "Looked through 3 documents." in page.text
    unlabelled = summary(Look(documents=1))
    assert unlabelled == ["Looked through 1 document."]


def test_the_terminal_says_the_same(explain):
    said = "\n".join(summary(looked(explain(TEXT))))
    for part in (
        "Looked through 40 documents.",
        "1 label looks suspicious.",
        "‘good’ by answer",
        "What decides for positive (25 documents), and what is lost without it",
        "−42 % in 3 documents  It was good.",
        "document 7: label negative, model positive 97.0 %, faithful",
    ):
        assert part in said


def test_many_classes_are_cut_on_the_terminal_and_folded_on_the_page(explain):
    found = looked(explain(TEXT))
    many = replace(
        found,
        classes=tuple(replace(found.classes[0], label=f"c{n}") for n in range(30)),
        words=(
            replace(
                found.words[0],
                uses=found.words[0].uses[:1]
                + tuple(replace(found.words[0].uses[1], label=f"c{n}", count=n) for n in range(30)),
            ),
        ),
    )
    assert "and 18 rarer answers" in summary(many)
    html = render(many)
    assert "And 22 rarer answers." in html
    assert html.count('<details class="deciding" open>') == 6
    assert html.count('<details class="deciding">') == 24


def test_fewer_than_ten_uses_are_named_and_not_drawn(explain):
    look = looked(explain(TEXT))
    context = look.words[0]
    few = replace(context, uses=(context.uses[0], replace(context.uses[1], count=9)))
    html = render(replace(look, words=(few,)))
    assert html.count("mean weight") == 1
    rare = replace(context, word="seldom", uses=(replace(context.uses[0], count=4),))
    told = "Too few uses to tell anything: seldom (4)."
    assert told in render(replace(look, words=(rare,)))
    assert told in summary(replace(look, words=(rare,)))
