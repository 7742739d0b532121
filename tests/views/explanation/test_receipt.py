"""A receipt is told in plain words, drawn beside random rankings, and escaped."""

import re
from dataclasses import replace

import pytest

from regard.records.explanation import Change, ErasureCurve, Judgement, Receipt, ReceiptMeasure
from regard.records.weights import Weights
from regard.views.explanation.page import fragment, render
from regard.views.explanation.receipt import conclusion, panel, tell_receipt, verdicts
from regard.views.explanation.terminal import Terminal
from regard.views.explanation.terminal import render as printed
from support.pages import Page

BINS = (0.01, 0.05, 0.1, 0.2, 0.5)
REVIEW = "I sat there. It was brilliant, Zorblax!\n\nThe end dragged."


def receipt(verdict="faithful", *, without=0.31, count=304, level="word", judged=None):
    measures = (
        ReceiptMeasure("comprehensiveness", 0.3121, 0.0512, level),
        ReceiptMeasure("tau", 0.2, None, level),
        ReceiptMeasure("<odd>", 0.2, 0.1),
    )
    taken = tuple(max(1, round(share * count)) for share in BINS)
    curve = ErasureCurve(level, count, taken, (without,) * 5, (0.9,) * 5, (0.95,) * 5, (0.6,) * 5)
    judgements = tuple(
        Judgement(level, word, 0.005, 0.7, 0.2, 200, 199) for level, word in (judged or {}).items()
    )
    return Receipt(verdict, measures, BINS, (curve,), 20, 4.6, judgements=judgements)


def measured(made, **options):
    decision = replace(made.decisions[0], probability=0.97, receipt=receipt(**options))
    return replace(made, decisions=(decision,))


def said(explain, **options):
    (line,) = tell_receipt(measured(explain(REVIEW), **options).decisions[0])
    return line.replace("\u00a0", " ")


def test_what_erasing_did_is_said_in_plain_words(explain):
    assert said(explain) == (
        "Taking the 30 heaviest of 304 words away lowers the probability from 97.0 % to 31.0 %; "
        "taking 30 random words away: to 95.0 %. Alone they give 90.0 %, 30 random words 60.0 %."
    )
    assert "raises the probability from 97.0 % to 99.0 %" in said(explain, without=0.99)
    assert "leaves the probability at 97.0 %" in said(explain, without=0.97)
    assert "Taking the heaviest of 5 sentences away" in said(explain, count=5, level="sentence")
    assert "a random sentence away: to 95.0 %. Alone it gives 90.0 %, a random sentence" in said(
        explain, count=5, level="sentence"
    )
    assert said(explain, count=1) == "There is only one word, so there is nothing to rank."


def test_a_change_that_does_not_show_in_the_figures_is_not_said(explain):
    for start, end, told in (
        (0.9994, 0.9986, "leaves the probability at 99.9 %"),
        (0.9994, 0.9984, "lowers the probability from 99.9 % to 99.8 %"),
        (0.9994, 0.9996, "raises the probability from 99.9 % to >99.9 %"),
    ):
        decision = measured(explain(REVIEW), without=end).decisions[0]
        (line,) = tell_receipt(replace(decision, probability=start))
        assert told in line.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("verdict", "meant", "concluded"),
    [
        ("faithful", "the answer rests on the words marked here", "You may take what is marked"),
        ("weak", "but other words count too", "a part of what the answer rests on"),
        ("no better than chance", "next to nothing hangs on them", "Do not take what is marked"),
        ("too short to tell", "too few words to tell this from luck", "The text is too short"),
        ("not measured", "no words to take away", "Nothing was measured"),
    ],
)
def test_the_verdict_comes_with_its_meaning_and_a_conclusion(explain, verdict, meant, concluded):
    made = measured(explain(REVIEW), verdict=verdict, judged={"word": verdict})
    html = fragment(made)
    text = printed(made, Terminal(width=300, depth="none"))
    for drawn in (html, text):
        assert f"Words: {verdict}" in drawn and meant in drawn and concluded in drawn
    assert "Taking the 30 heaviest of 304 words away" in text.replace("\u00a0", " ")


def test_a_rank_that_is_no_luck_is_not_called_luck():
    """A model that always answers the same is sure without any words, whatever their rank says."""
    made = receipt(judged={"word": "no better than chance"})
    ((_, told),) = verdicts(made, "the answer")
    assert "the weights fit as well with probability 0.005" in told
    assert told.startswith(
        "next to nothing hangs on them, though they are ranked better than by luck"
    )
    likely = tuple(replace(one, p_value=0.4) for one in made.judgements)
    ((_, told),) = verdicts(replace(made, judgements=likely), "the answer")
    assert told.startswith("the answer needs the words marked here no more than any others.")


@pytest.mark.parametrize("verdict", ["faithful", "weak", "no better than chance", "not measured"])
def test_a_label_that_is_not_the_answer_is_not_called_so(explain, verdict):
    judged = {"word": verdict, "sentence": verdict}
    made = measured(explain(REVIEW, labels=("<positive>", "negative")), verdict=verdict)
    found = replace(made.decisions[0].receipt, judgements=receipt(judged=judged).judgements)
    other = replace(made.decisions[0], label="negative", receipt=found)
    asked = replace(made, decisions=(other,))
    unmeasured = replace(made, decisions=(replace(other, receipt=None),))
    for drawn in (fragment(asked), printed(asked, Terminal(width=300, depth="none"))):
        assert "the answer" not in drawn.lower()
        assert ("the label “negative”" in drawn) == (verdict != "not measured")
    assert "Whether the label “negative” rests on what is marked" in fragment(unmeasured)
    given = replace(made, decisions=(replace(other, label="<positive>"),))
    assert "the label" not in fragment(given)
    # Of several labels none may be given at all.
    none = replace(given, several=True, probabilities=(("<positive>", 0.3), ("negative", 0.2)))
    assert ("the label “&lt;positive&gt;”" in fragment(none)) == (verdict != "not measured")


def test_words_and_sentences_are_judged_apart():
    judged = {"word": "no better than chance", "sentence": "faithful"}
    made = receipt("weak", judged=judged)
    assert [verdict for verdict, _ in verdicts(made, "the answer")] == [
        "Words: no better than chance",
        "Sentences: faithful",
    ]
    assert verdicts(made, "the answer")[1][1] == (
        "the answer rests on the sentences marked here. Dealt out at random, the weights fit as "
        "well with probability 0.005."
    )
    assert conclusion(made, "the answer") == (
        "You may take the sentences marked here for what the answer rests on; not the words."
    )
    short = receipt("faithful", judged={"word": "faithful", "sentence": "too short to tell"})
    said = conclusion(short, "the label “x”")
    assert said == (
        "You may take the words marked here for what the label “x” rests on; of the sentences "
        "nothing can be said."
    )


def test_a_receipt_of_an_older_version_has_one_verdict(explain):
    assert verdicts(receipt(), "the answer") == [
        ("Faithful", "the answer rests on the parts of the text marked here.")
    ]
    made = measured(explain(REVIEW))
    assert "● Faithful" in panel(made, made.decisions[0])


def test_every_measure_stands_beside_the_random_one(explain):
    made = measured(explain(REVIEW))
    html = panel(made, made.decisions[0])
    assert "<td>words</td><td>0.312</td><td>0.051</td><td>high</td>" in html
    assert "<td>0.200</td><td></td>" in html, "a measure without a baseline leaves it open"
    assert "&lt;odd&gt;" in html and "<odd>" not in html
    assert "mean of 20 random rankings, beaten by 4.6" in html
    assert "1, 5, 10, 20, 50 %" in html


def test_curves_have_words_for_those_who_cannot_see_them(explain):
    hostile = '"><script>x</script>'
    made = measured(explain(REVIEW, labels=(hostile, "other")))
    html = render([made])
    page = Page(html)
    labels = [value for tag, name, value in page.attributes if (tag, name) == ("svg", "aria-label")]
    assert len(labels) == 1
    assert "heaviest: 31.0 %" in labels[0] and "random: 95.0 %" in labels[0]
    assert "<script>x" not in html


def test_without_a_receipt_nothing_is_claimed(explain):
    html = fragment(explain(REVIEW))
    assert "rg-receipt" not in html and "Faithful" not in html
    assert panel(explain(REVIEW), explain(REVIEW).decisions[0]) == ""
    assert tell_receipt(explain(REVIEW).decisions[0]) == []


def test_nothing_to_take_away_is_said(explain):
    judged = (Judgement("word", "not measured"),)
    found = Receipt("not measured", (), judgements=judged)
    empty = replace(explain(REVIEW).decisions[0], receipt=found)
    assert tell_receipt(empty) == []
    assert verdicts(found, "the answer") == [
        ("Words: not measured", "there were no words to take away, so nothing is known of them.")
    ]
    assert "All measures" not in panel(explain(REVIEW), empty)


def test_scores_are_drawn_with_their_sign_and_unit(explain):
    made = explain(REVIEW)
    words, sentences = made.decisions[0].weights
    values = [0.3 if place == 5 else -0.2 if place == 2 else 0.0 for place in range(len(words))]
    scored = Weights.from_scores("word", words.pieces, values, unit="probability")
    of_sentences = Weights.from_scores("sentence", sentences.pieces, [0.1, 0.3, -2e-5], unit="")
    decision = replace(made.decisions[0], weights=(scored, of_sentences))
    html = fragment(replace(made, decisions=(decision,)))
    assert re.search(r'x-minus[^"]*" data-w="-0.200 probability"', html)
    assert 'data-w="+0.300 probability"' in html
    assert "how far the probability falls without it" in html
    assert ">&gt;-0.0001</span>" in html, "never a false zero, nor a power of ten"
    assert "sum over its words" not in html
    summed = Weights.from_scores("sentence", sentences.pieces, [-0.2, 0.3, 0.0], unit="")
    adding = replace(made, decisions=(replace(decision, weights=(scored, summed)),))
    assert "sum over its words" in fragment(adding)


def test_a_rival_and_a_counterfactual_are_told(explain):
    made = explain(REVIEW)
    contrast = replace(made.decisions[0], against="<b>negative</b>")
    html = fragment(replace(made, decisions=(contrast,)))
    assert "rather than &lt;b&gt;negative&lt;/b&gt;" in html
    span = made.decisions[0].level("sentence").pieces[1]
    for change, words in (
        (Change((span,), 0.2, True, "negative", 0.04), "the answer is negative"),
        (Change((span,), 0.2, True, None, 0.04), "the answer is another"),
        (Change((span,), 0.4, False, "positive"), "that decide: without the sentence marked"),
        (Change((), 0.4, False, "positive"), "No sentences were found that decide."),
    ):
        decision = replace(made.decisions[0], change=change)
        for drawn in (
            fragment(replace(made, decisions=(decision,))),
            replace(made, decisions=(decision,)).to_text(200),
        ):
            assert words in drawn
