"""Long texts: an overview, links, and folds, with nothing of the text left out."""

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from regard.records.explanation import Decision
from regard.records.weights import Weights
from regard.views.explanation.folding import LONG, deciding, opposing, runs
from regard.views.explanation.page import fragment, render
from support.pages import Page

LONG_TEXT = " ".join(f"This is sentence {n} of a report." for n in range(200))


def weighed(made, values):
    """The explanation with other weights of its sentences."""
    words, sentences = made.decisions[0].weights
    total = sum(values)
    shares = tuple(value / total for value in values)
    weights = (words, replace(sentences, values=shares))
    return replace(made, decisions=(replace(made.decisions[0], weights=weights),))


def peaked(explain):
    values = [0.01] * 200
    values[50], values[150] = 3.0, 2.0
    return weighed(explain(LONG_TEXT), values)


def lines(html):
    return re.findall(r'<p dir="auto">(.*?)</p>', html, re.DOTALL)


def test_quiet_parts_are_folded_and_nothing_is_left_out(explain):
    html = fragment(peaked(explain))
    Page(html)
    assert "".join(re.sub(r"<[^>]*>", "", line) for line in lines(html)) == LONG_TEXT
    folds = re.findall(r"<summary>(\d+) quiet sentences, ([\d.]+) % of the weight", html)
    assert [int(count) for count, _ in folds] == [49, 97, 48]
    assert "open" not in re.findall(r"<details class=\"rg-fold\"[^>]*>", html)[0]


def test_the_deciding_sentences_are_linked_the_heaviest_first(explain):
    made = peaked(explain)
    html = fragment(made)
    assert deciding(made.decisions[0]) == [50, 150]
    links = re.findall(r'<a href="#(rg-\w+-\d+)">', html)
    assert [link.rpartition("-")[2] for link in links] == ["51", "151"]
    for link in links:
        assert f'<div class="rg-line rg-loud" id="{link}" tabindex="-1"' in html


def test_sentences_against_the_label_are_linked_apart(scored):
    made = scored(LONG_TEXT)
    words, sentences = made.decisions[0].weights
    values = [0.001] * 200
    values[50], values[120], values[150] = 0.3, -0.9, 0.2
    scores = Weights.from_scores("sentence", sentences.pieces, values, unit="probability")
    decision = replace(made.decisions[0], weights=(words, scores))
    assert deciding(decision) == [50, 150] and opposing(decision) == [120]
    html = fragment(replace(made, decisions=(decision,)))
    linked = re.search(
        r"<span>Deciding sentences</span>(.*?)<span>Speaks against it</span>(.*?)<span class",
        html,
        re.DOTALL,
    )
    assert "51<small>" in linked[1] and "121<small>" not in linked[1]
    assert re.search(r"<a class=rg-minus [^>]*>121<small>", linked[2])


def test_the_strip_has_a_cell_a_sentence_and_at_most_four_hundred(explain):
    strip = re.search(r"<svg viewBox.*?</svg>", fragment(peaked(explain)), re.DOTALL)[0]
    assert strip.count("<a ") == 200
    huge = explain(" ".join(f"Sentence {n}." for n in range(3_000)))
    assert fragment(huge).count('class="rg-back"') == 375


def test_short_texts_need_no_help(explain):
    short = " ".join(f"Sentence {n}." for n in range(LONG - 1))
    html = render([explain(short)])
    assert not re.search('<nav class="rg-overview|<details class="rg-fold|<script', html)
    assert "<script" in render([explain(short + " One more.")])


def test_even_weights_are_folded_and_said_to_say_little(explain):
    html = fragment(weighed(explain(LONG_TEXT), [1.0] * 200))
    assert "Evenly spread: this picture says little." in html
    assert '<details class="rg-fold' in html
    hidden = sum(map(int, re.findall(r"<summary>(\d+) quiet sentences", html)))
    assert hidden > 170
    assert "Evenly spread" not in fragment(weighed(explain(LONG_TEXT), [1.0] * 3 + [0.01] * 197))


def test_of_many_loud_sentences_a_page_shows_two_dozen_at_once(explain):
    html = fragment(weighed(explain(LONG_TEXT), [1.0 + (n % 4 == 0) * 9 for n in range(200)]))
    hidden = sum(map(int, re.findall(r"<summary>(\d+) quiet sentences", html)))
    assert hidden > 100, "fifty are loud, and each keeps its neighbours"


def test_two_explanations_of_one_text_have_anchors_of_their_own(explain):
    both = fragment(explain(LONG_TEXT)) + fragment(explain(LONG_TEXT, seed=1))
    ids = re.findall(r' id="([^"]+)"', both)
    assert len(ids) == len(set(ids)) == 400


@settings(max_examples=60)
@given(st.lists(st.booleans(), max_size=40))
def test_runs_cover_every_line_once_and_hide_no_loud_one(quiet):
    found = list(runs(quiet))
    assert [run.first for run in found[1:]] == [run.after for run in found[:-1]]
    assert sum(run.after - run.first for run in found) == len(quiet)
    for run in found:
        if run.quiet:
            assert all(quiet[max(0, run.first - 1) : run.after + 1])
            assert run.after - run.first >= 5


def hopped(explain, hops=3):
    made = explain("It was good. The end came late.")
    words, sentences = made.decisions[0].weights
    others = [explain(made.source, seed=n).decisions[0].weights for n in range(1, hops + 1)]
    weights = (
        replace(words, hops=tuple(other[0].values for other in others)),
        replace(sentences, hops=tuple(other[1].values for other in others)),
    )
    return replace(made, decisions=(Decision("x", 0.9, weights),))


def test_each_hop_can_be_chosen_for_words_and_for_sentences(explain):
    made = hopped(explain)
    html = render([made])
    values = re.findall(r'<input type="radio" name="(\w+)" value="([^"]+)"', html)
    shades = [value for name, value in values if name == "shade"]
    assert shades == ["x", "y", "z", "w", "h1-", "h2-", "h3-"]
    assert [value for name, value in values if name == "bars"] == ["mean", "b1", "b2", "b3"]
    assert html.count("checked") == 4 + html.split("<body>")[0].count("checked")
    assert re.search(r'style="--v:[\d.]+;--v1:[\d.]+;--v2:[\d.]+;--v3:[\d.]+"', html)
    assert "[value=h3-]:checked" in html and "[value=b3]:checked" in html
    assert "[value=h1-]:checked" not in render([explain("No hops.")])
