"""The page shows the text as written, escaped, with its weights, and asks for nothing."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.records.explanation import Decision
from regard.records.weights import Weights
from regard.views.drawing.colours import Scale
from regard.views.explanation.page import fragment, notebook, render, styles
from regard.views.explanation.stop_words import says_little

REVIEW = "I sat there. It was brilliant, Zorblax!\n\nThe end\tdragged."
HOSTILE = [
    "<script>alert(1)</script>",
    "</p></div></article><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)' autofocus onfocus='alert(1)",
    "&lt;b&gt; &amp; &#60;",
    "]]> --> <!-- <![CDATA[",
    "a\x00b \ud800 c\udfff d\x1b[31m",
]


class Page(HTMLParser):
    """Collects the text that is explained, and all elements with their attributes."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text, self.elements, self._inside = "", [], False
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        self._inside |= tag == "p" and dict(attributes).get("dir") == "auto"

    def handle_endtag(self, tag):
        self._inside &= tag != "p"

    def handle_data(self, data):
        if self._inside:
            self.text += data

    def of_kind(self, kind: str) -> list[dict[str, str]]:
        return [a for _, a in self.elements if kind in (a.get("class") or "").split()]


def shown(text: str) -> str:
    """What a browser can show of a text."""
    return re.sub("[\x00\ud800-\udfff]", "\ufffd", text)


def test_the_text_is_shown_as_it_is_written(explain):
    """001-23: with its own spacing, line breaks and capitals."""
    assert Page(fragment(explain(REVIEW))).text == REVIEW


@settings(max_examples=60)
@given(st.text(st.characters(), max_size=50), st.booleans())
def test_any_text_is_shown_as_it_is_written(explain, text, flat):
    assert Page(fragment(explain(text, flat=flat))).text == shown(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_adds_no_element_and_no_attribute(explain, text):
    harmless = Page(render([explain(re.sub(r"\W", "x", text) + ".", labels=("xx", "yy"))]))
    attacked = explain(text + ".", labels=(text, text + "2"))
    page = Page(render([replace(attacked, true_labels=(text,), method=text)], title=text))
    assert shown(text + ".") == page.text
    known = {tag for tag, _ in harmless.elements} | {"u", "mark", "span", "b"}
    assert {tag for tag, _ in page.elements} <= known
    for _, attributes in page.elements:
        assert not [name for name in attributes if name.startswith("on") or name == "src"]


def test_the_page_asks_for_nothing_and_runs_nothing(explain):
    html = render([explain(REVIEW), explain("Again.")], title="Two")
    assert "<script" not in html
    assert not re.search(r"(?:src|href)=\"(?!#)", html)
    assert "url(" not in html
    assert "@import" not in html
    assert "script-src 'none'" in html


def test_a_line_a_sentence_with_its_weight(explain):
    """001-23, 000-05: a bar and a number beside each sentence."""
    made = explain(REVIEW)
    page = Page(fragment(made))
    lengths = [
        float(re.search(r"--v:([\d.]+)", line["style"])[1]) for line in page.of_kind("rg-line")
    ]
    values = made.decisions[0].level("sentence").values
    order = sorted(range(3), key=lambda place: values[place])
    assert sorted(range(3), key=lambda place: lengths[place]) == order
    assert all(0 <= length <= 1 for length in lengths)


def test_an_unknown_word_is_shown_as_written_with_a_mark(explain):
    """001-23: never as <|OOV|>."""
    html = fragment(explain(REVIEW, unknown=("Zorblax",)))
    assert re.search(r'(<u>|<mark class="[^"]*rg-unknown[^"]*"[^>]*>)Zorblax</', html)
    assert "not in the vocabulary" in html
    assert "not in the vocabulary" not in fragment(explain(REVIEW))


def test_the_unread_part_is_grey_and_said_to_be(explain):
    html = fragment(explain(REVIEW, unread_from=REVIEW.index("The end")))
    assert '<span class="rg-unread">The end\tdragged.</span>' in html
    assert "not read" in html
    assert "A length cap kept 28 % of this text from the model" in html


def test_tags_of_the_text_are_shown_dimmed(explain):
    html = fragment(explain("One.<br />Two."))
    assert '<span class="rg-tag">&lt;br /&gt;</span>' in html


def test_the_heaviest_word_is_strongest_and_says_its_weight(explain):
    made = explain(REVIEW)
    heaviest = made.words(1)[0]
    html = fragment(made)
    found = re.search(rf'<mark class="x(\d+)[^>]*data-w="([^"]*)"[^>]*>{heaviest.text}<', html)
    assert int(found[1]) == max(map(int, re.findall(r'<mark class="x(\d+)', html))) >= 8
    assert found[2].startswith(f"{100 * heaviest.weight:.0f} % of the document&#10;")
    assert "of its sentence" in found[2]


def test_what_speaks_against_the_label_has_its_own_list_and_colour(explain, scored):
    html = fragment(scored(REVIEW))
    lists = re.findall(
        r'<p class="rg-caption">([^<]*)</p><ol class="rg-bars rg-words">(.*?)</ol>', html
    )
    titles = ["Heaviest words", "Speaks against it"]
    assert [title for title, _ in lists] == titles * 2, "with stop words, and without"
    assert "rg-minus" not in lists[0][1] and ">-0." not in lists[0][1]
    assert lists[1][1].count("<li>") == lists[1][1].count("class=rg-minus") > 0
    assert '<span class="rg-key rg-minus"></span>speaks against it' in html
    assert re.search(r'<mark class="x10 x-minus', html)
    assert "gainst" not in fragment(explain(REVIEW))


def test_a_quiet_word_has_no_markup_of_its_own(explain):
    text = " ".join(["quiet"] * 5_000 + ["loud"])
    made = explain(text, flat=True)
    words = made.decisions[0].weights[0]
    spiked = replace(words, values=tuple([1e-5] * 5_000 + [0.95]))
    decision = replace(made.decisions[0], weights=(spiked, made.decisions[0].weights[1]))
    html = fragment(replace(made, decisions=(decision,)))
    assert html.count('<mark class="x') == 1
    assert html.count("<mark") < 20  # the words of its phrase, in the shading by phrases
    assert len(html) < len(text) + 6_000


def test_every_probability_is_shown_and_the_tail_is_folded(explain):
    labels = [f"topic {number}" for number in range(20)]
    made = explain("One word.", labels=labels)
    html = fragment(made)
    assert all(f"<bdi>{label}</bdi>" in html for label in labels)
    assert "<summary>12 more</summary>" in html
    assert html.count(f"{100 * made.probability:.1f} %") == 2


@pytest.mark.parametrize(
    ("truth", "said"),
    [(("positive",), "✓ true label"), (("negative",), "✗ true label"), ((), "<bdi>none</bdi>")],
)
def test_the_true_label_is_said_where_it_is_known(explain, truth, said):
    assert said in fragment(replace(explain(REVIEW), true_labels=truth))
    assert "true label" not in fragment(explain(REVIEW))


def test_words_can_be_shaded_alone_or_with_their_sentence(explain):
    """001-13: word alone, word x sentence, and the same corrected for length."""
    values = [a["value"] for tag, a in Page(fragment(explain(REVIEW))).elements if tag == "input"]
    assert values == ["x", "y", "z", "w", "mean", "b1", "lines", "written", "every", "telling"]
    flat = Page(fragment(explain(REVIEW, flat=True)))
    values = [a["value"] for tag, a in flat.elements if tag == "input"]
    assert values == ["x", "y", "mean", "b1", "lines", "written", "every", "telling"]


def test_signs_are_told_in_plain_words_above_the_text(explain, scored):
    html = fragment(scored(REVIEW))
    told = "speak for “positive”; those in violet, with a minus, speak against it."
    assert html.index(told) < html.index('class="rg-text"')
    assert html.index('class="rg-legend"') < html.index('class="rg-text"')
    assert "the longer the bar, the more the model looked there" in fragment(explain(REVIEW))


@pytest.mark.parametrize("word", ["the", "The", ",", "…", "und", "les"])
def test_stop_words_and_punctuation_say_little(word):
    assert says_little(word)


@pytest.mark.parametrize("word", ["not", "no", "never", "nicht", "good", "5", "東京"])
def test_what_denies_or_means_something_is_no_stop_word(word):
    assert not says_little(word)


def test_words_can_be_shaded_by_their_phrases(explain):
    """Issue 12.5: phrases are drawn, since they are scored; each shading has its own sign."""
    made = explain("one two three four" + " more" * 40, flat=True)
    pieces = made.decisions[0].weights[0].pieces
    scores = [0.0, 4.0, -1.0, *[0.0] * 41]
    words = Weights.from_scores("word", pieces, scores, unit="log-odds")
    html = fragment(replace(made, decisions=(replace(made.decisions[0], weights=(words,)),)))
    assert ">word</label>" in html and ">phrase</label>" in html
    assert "mean of the words about it" in html
    assert re.search(r'<mark class="x\d+ x-minus y\d+" data-w="-1[^>]*>three<', html)
    assert re.search(r'<mark class="y\d+"[^>]*>four<', html), "no weight of its own"


def test_bars_of_sentences_can_be_drawn_per_word(explain, scored):
    """Issue 12.5: what is scored against people's marks is what the page draws."""
    made = scored(REVIEW)
    drawn = made.decisions[0].sentences_per_word
    scale = Scale.of_sentences(drawn)
    html = fragment(made)
    assert ">whole</label>" in html and ">per word</label>" in html
    lengths = re.findall(r"--v1:([\d.]+)", html)
    assert lengths == [f"{scale.length(one):.2f}" for one in drawn.amounts]
    assert "[value=b1]:checked) .rg-line{--shown:var(--v1)}" in styles()
    assert ">per word<" not in fragment(explain("One sentence alone.", flat=True))


def test_labels_with_the_same_weights_share_one_text(explain):
    made = explain(REVIEW)
    both = (made.decisions[0], replace(made.decisions[0], label="other", probability=0.7))
    html = fragment(replace(made, decisions=both))
    assert html.count("<article") == 1
    assert "<bdi>other</bdi><small>70.0 %</small>" in html
    different = replace(both[1], weights=explain(REVIEW, seed=1).decisions[0].weights)
    assert fragment(replace(made, decisions=(both[0], different))).count("<article") == 2


def test_signed_weights_show_what_speaks_against(explain):
    made = explain("good bad.", flat=True)
    words = replace(made.decisions[0].weights[0], values=(0.6, -0.4, 0.0))
    html = fragment(replace(made, decisions=(Decision("x", 0.9, (words,)),)))
    assert re.search(r'<mark class="x\d+ x-minus[^"]*" data-w="-0.400', html)
    assert "+0.600" in html


def test_a_text_without_words_says_so(explain):
    for text in ("", "  \n"):
        html = fragment(explain(text))
        assert "no words to read" in html
        assert "Half of the weight" not in html


def test_a_model_that_weighs_one_level_is_drawn_by_that_level(explain):
    made = explain(REVIEW)
    words, sentences = made.decisions[0].weights
    only_words = fragment(replace(made, decisions=(Decision("x", 0.9, (words,)),)))
    assert "does not weigh sentences" in only_words
    assert "rg-gutter" not in only_words
    assert '<mark class="x' in only_words
    only_sentences = fragment(replace(made, decisions=(Decision("x", 0.9, (sentences,)),)))
    assert "does not weigh single words" in only_sentences
    assert "<mark" not in only_sentences
    assert Page(only_words).text == Page(only_sentences).text == REVIEW


def test_the_mean_of_hops_is_said_to_be_one(explain):
    made = explain(REVIEW)
    words, sentences = made.decisions[0].weights
    hopped = replace(words, hops=(words.values,) * 3)
    html = fragment(replace(made, decisions=(Decision("x", 0.9, (hopped, sentences)),)))
    assert "mean of 3 hops" in html


def test_right_to_left_text_runs_from_the_right(explain):
    page = Page(fragment(explain("הסרט היה טוב. מאוד.")))
    assert page.of_kind("rg-text")[0]["dir"] == "rtl"
    assert Page(fragment(explain(REVIEW))).of_kind("rg-text")[0]["dir"] == "ltr"


def test_a_page_of_several_lists_them(explain):
    page = Page(render([explain(REVIEW), explain("Other text here.")], title="A & B"))
    links = [a["href"] for tag, a in page.elements if tag == "a"]
    anchors = [f"#{a['id']}" for _, a in page.elements if "id" in a]
    assert links == anchors == ["#document-1", "#document-2"]
    assert not [tag for tag, _ in Page(render([explain(REVIEW)])).elements if tag == "a"]


def test_a_page_of_none_is_a_page():
    assert "<h1>Explanations</h1>" in render([])


def test_a_notebook_gets_the_styles_with_the_picture(explain):
    assert notebook(explain(REVIEW)) == f"<style>{styles()}</style>{fragment(explain(REVIEW))}"


def test_both_themes_are_in_the_styles():
    assert "prefers-color-scheme:dark" in styles()
    assert styles().count("--rg-paper:#") == 4, "by the system, and by the notebook"
