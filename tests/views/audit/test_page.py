import re
from dataclasses import replace

import pytest

from regard.records.audit import (
    Audit,
    FlipTable,
    MethodAudit,
    Metric,
    NeedleCell,
    NeedleMap,
    Rival,
)
from regard.records.evaluation import Interval
from regard.records.measures import MEASURES
from regard.views.audit.page import attention_tables, method_tables, needle_map, overview, render
from regard.views.audit.terminal import summary
from regard.views.audit.words import compare_flips, headline, tell_warnings
from support.pages import Page

NASTY = "<script>alert(1)</script>\"'>&amp;"
ABOUT_MODEL = ("adversarial_jsd", "needle_recall")


def metric(name, value=0.5, baseline_name="random ranking"):
    interval = Interval(value - 0.1, value + 0.1)
    return Metric(name, value, interval, 0.31, 40, "by hand", baseline_name=baseline_name)


def whole(text="reviews.csv"):
    methods = ("attention", "integrated_gradients")
    names = [name for name in MEASURES if name not in ABOUT_MODEL]
    cells = tuple(
        NeedleCell(length, place, 10, 10 - place, 10 * (place > 2), 5)
        for length in (5, 10)
        for place in range(0, length, 2)
    )
    return Audit(
        40,
        "integrated_gradients",
        (
            *(MethodAudit(name, tuple(metric(one) for one in names[:16])) for name in methods),
            MethodAudit(text, (metric("tau_shuffled_weights", 0.8),)),
        ),
        about_model=(metric("adversarial_jsd", 0.69, text), metric("needle_recall")),
        flips=FlipTable("sentence", 1, 2, 3, 34),
        needle=NeedleMap("integrated_gradients", cells),
        model=text,
        data=text,
    )


CASES = {"whole": whole(), "nasty": whole(NASTY), "bare": Audit(40, "attention", ())}


@pytest.mark.parametrize("audit", CASES.values(), ids=CASES)
def test_an_audit_is_one_whole_page_without_requests(audit):
    written = render(audit)
    read = Page(written)
    assert read.tags.count("script") == len(read.scripts) == 1
    for _, name, _ in read.attributes:
        assert not name.startswith("on") and name not in ("src", "href", "action")
    assert not re.search(r"url\(|@import|https?:", written)
    assert audit.to_html() == written


def test_whatever_users_wrote_is_shown_and_not_obeyed():
    assert f"{NASTY} hardly changes" in Page(render(CASES["nasty"])).text


def test_the_page_goes_from_the_summary_to_the_picture_to_the_folded_numbers():
    written = render(CASES["whole"])
    marks = [
        'class="lead"',
        'role="alert"',
        'class="overview"',
        "Single flips",
        "Blind spots",
    ]
    places = [written.index(mark) for mark in (*marks, 'class="family"')]
    assert places == sorted(places)
    read = Page(written)
    assert ("details", "open", None) not in read.attributes
    assert [text for text in read.texts if text in ("Faithfulness", "Agreement")]


def test_methods_are_named_in_words():
    written = render(CASES["whole"])
    assert "integrated gradients" in written and "integrated_gradients" not in written
    forgetful = MethodAudit("integrated_gradients", (metric("tau_shuffled_weights", 0.8),))
    (told,) = tell_warnings(Audit(40, "attention", (forgetful,)))
    assert told.startswith("Integrated gradients hardly changes")


def test_the_summary_says_the_default_its_gain_and_what_is_tell_warnings_of():
    first, second, *_, last = headline(CASES["whole"])
    assert first == (
        "The default explanation of this model, integrated gradients, finds words that the "
        "answers rest on."
    )
    assert "loses 50.0 percentage points" in second and "40.0 to 60.0" in second
    assert "random words 31.0." in second
    assert last == "There are 2 warnings:"
    assert headline(CASES["bare"]) == [
        "The default explanation of this model is attention.",
        "Measured on 40 documents, drawn with seed 0.",
        "There is nothing to warn of.",
    ]


def test_one_document_is_said_to_be_too_few():
    """No interval is written, on the page or on the terminal, and no praise."""
    lost = replace(metric("comprehensiveness"), interval=None, documents=1)
    ranking = MethodAudit("attention", (lost,))
    rival = Rival("comprehensiveness", "last words", 0.1, 0.4, None, 1)
    found = Audit(1, "attention", (ranking,), about_model=(lost,), rivals=(rival,))
    first, second, third, _ = headline(found)
    assert third == "Measured on 1 document, drawn with seed 0."
    assert first.endswith("attention, cannot be judged by so few documents.")
    assert "(comprehensiveness; no interval)" in second
    page, lines = Page(render(found)).text, "\n".join(summary(found))
    for told in (page, lines):
        assert "Too few documents were measured, 1: below 6 nothing can be told" in told
        assert "no interval" in told and "answers rest on" not in told
        assert not re.search(r"\d to [-+]?\d", told)
    translator = MethodAudit("attention", (replace(lost, name="looked_at_drop"),))
    verdict, drop, *_ = headline(Audit(1, "attention", (translator,)))
    assert verdict == "Where this translator looks cannot be judged by so few texts."
    assert "(no interval)" in drop


@pytest.mark.parametrize(
    ("value", "words"),
    [(0.5, "rest on"), (0.31, "cannot be told apart from chance"), (0.1, "less than random")],
)
def test_the_first_sentence_does_not_praise_what_chance_does_as_well(value, words):
    ranking = MethodAudit("attention", (metric("comprehensiveness", value),))
    assert words in headline(Audit(40, "attention", (ranking,)))[0]


def test_each_measure_has_a_table_with_baseline_and_interval():
    written = method_tables(CASES["whole"].rankings)
    read = Page(written)
    assert read.tags.count("table") == 17 and read.tags.count("details") == 3
    assert read.text.count("0.400 to 0.600") == 32 and read.text.count("0.310") == 33
    assert read.text.count("Random ranking") == 17
    assert f"{MEASURES['auprc'].title}: higher is better" in read.text
    assert method_tables(()) == ""


def test_a_protocol_stands_once_in_a_family_and_a_name_once_at_a_table():
    text = Page(method_tables(CASES["whole"].rankings)).text
    assert text.count("By hand.") == 3
    assert text.count("Comprehensiveness (ferret)") == 1


def test_every_measure_of_a_method_belongs_to_one_family():
    """A measure that no family holds would be missing from the page."""
    rankings = CASES["whole"].rankings
    text = Page(method_tables(rankings)).text
    assert all(MEASURES[one.name].title in text for one in rankings[0].metrics)


def test_the_attention_itself_is_told_with_its_protocols():
    text = Page(attention_tables(CASES["whole"])).text
    assert "By hand." in text and "reviews.csv" in text
    assert compare_flips(CASES["whole"].flips) in text
    assert attention_tables(CASES["bare"]) == ""


def test_single_flips_are_counted_for_the_heaviest_and_a_random_other():
    assert compare_flips(FlipTable("sentence", 1, 2, 3, 34)) == (
        "With no weight for the heaviest sentence, 7.5 % of 40 answers flip; with none for a "
        "random other sentence, 10.0 % do."
    )
    assert "0 % of 0 answers flip" in compare_flips(FlipTable("word", 0, 0, 0, 0))


def test_the_map_draws_each_cell_and_crosses_out_what_is_unread():
    read = Page(needle_map(CASES["whole"].needle))
    assert read.tags.count("rect") == 8
    assert sum(tag == "line" for tag in read.tags) == 4
    assert "From sentence 5 on nothing is read" in read.text
    assert "sentence 3 of 5: found in 8 of 10" in read.text


def test_the_terminal_gets_every_number_with_its_baseline():
    lines = summary(CASES["whole"])
    assert lines[:4] == headline(CASES["whole"]) and lines[4].startswith(
        "  Reviews.csv hardly changes"
    )
    assert any("only the heaviest 5.0 %" in line for line in lines)
    numbers = [line for line in lines if "n=40" in line and "flips without" not in line]
    assert len(numbers) == 35
    assert all(re.search(r"\(-?\d\.\d+ to \d\.\d+\)", line) for line in numbers)
    assert summary(CASES["bare"]) == headline(CASES["bare"])


def test_a_single_warning_is_counted_as_one():
    capped = NeedleMap("attention", (NeedleCell(9, 8, 2, 0, 2, 0),))
    assert headline(replace(CASES["bare"], needle=capped))[-1] == "There is 1 warning:"


MAIN = ("comprehensiveness", "sufficiency", "tau_loo", "flip_fraction", "auprc_word")


def measured(name, value, *, spread=0.05, baseline=0.3):
    better = "low" if name in ("sufficiency", "flip_fraction") else "high"
    interval = Interval(value - spread, value + spread)
    return Metric(name, value, interval, baseline, 40, "by hand", better=better)


def audited(values, *, names=MAIN, default="attention"):
    rankings = tuple(
        MethodAudit(method, tuple(measured(name, value) for name in names))
        for method, value in values.items()
    )
    return Audit(40, default, rankings)


def drawn(written, tag, name):
    return [
        float(re.search(rf' {name}="([^"]+)"', found).group(1))
        for found in re.findall(rf"<{tag} [^>]*>", written)
    ]


BOTH = {"attention": 0.5, "gradient_input": 0.4}


def test_each_method_has_a_dot_an_interval_and_a_baseline_for_each_measure():
    written = overview(audited(BOTH))
    assert written.count("<circle") == 2 * 5
    assert written.count('class="orange"') == 2 * 5
    assert "gradient x input" in written and "gradient_input" not in written


def test_a_column_is_drawn_only_where_it_was_measured():
    without = overview(audited(BOTH, names=MAIN[:4]))
    assert "Evidence" not in without and "Evidence" in overview(audited(BOTH))
    assert overview(audited(BOTH, names=("token_f1",))) == ""
    assert overview(Audit(1, "attention", ())) == ""


def test_a_method_without_a_measure_leaves_its_place_empty():
    one = MethodAudit("attention", (measured("tau_loo", 0.5),))
    other = MethodAudit("lime", (measured("auprc_word", 0.5),))
    written = overview(Audit(40, "attention", (one, other)))
    assert written.count("<circle") == 2
    assert "lime: Evidence (AUPRC) 0.500" in Page(written).text + written


def test_all_methods_of_a_column_share_one_scale():
    written = overview(audited({"attention": 0.2, "erasure": 0.4, "lime": 0.6}, names=MAIN[:1]))
    first, second, third = drawn(written, "circle", "cx")
    assert second - first == pytest.approx(third - second, abs=0.05)
    (baseline,) = {x for x in re.findall(r'class="orange"[^>]* x1="([^"]+)"', written)}
    assert float(baseline) == pytest.approx((first + second) / 2, abs=0.05)


def test_a_dot_is_filled_only_where_its_whole_interval_beats_the_baseline():
    """Told by shape, not by colour alone; for a low measure, lower beats."""
    clear = overview(audited({"erasure": 0.9}, names=("comprehensiveness", "sufficiency")))
    dots = re.findall(r'<circle class="([^"]+)"', clear)
    assert dots == ["grey-fill", "hollow grey"]
    assert "hollow" in overview(audited({"erasure": 0.32}, names=MAIN[:1]))


def test_the_better_direction_stands_over_each_column():
    text = Page(overview(audited(BOTH))).text
    assert text.count("higher is better →") == 3 and text.count("← lower is better") == 2


def test_the_row_of_the_default_is_emphasised_once():
    written = overview(audited(BOTH))
    assert written.count('class="band-default"') == 1 and ">default</text>" in written
    other = overview(audited(BOTH, default="lime"))
    assert "band-default" not in other and ">default</text>" not in other


def test_the_picture_is_told_in_words():
    written = overview(audited(BOTH))
    (label,) = re.findall(r'<svg[^>]* aria-label="([^"]+)"', written)
    assert "attention: Comprehensiveness 0.500 (0.450 to 0.550), random ranking 0.300" in label
    assert "<title>Comprehensiveness: 0.500 (0.450 to 0.550), random ranking 0.300, n=40" in written


@pytest.mark.parametrize("value", [0.0, 1.0, -0.001, 1e-9, 1e6])
def test_odd_values_stay_inside_the_picture(value):
    one = MethodAudit("attention", (measured("tau_loo", value, spread=0.0, baseline=value),))
    two = MethodAudit("<b>", (measured("tau_loo", value, spread=abs(value)),))
    for rankings in ((one,), (one, two)):
        written = overview(Audit(1, "attention", rankings))
        Page(written)
        assert all(176 <= x <= 976 for x in drawn(written, "circle", "cx"))
        assert "−0.00<" not in written and "<b>" not in written


def test_words_on_which_next_to_nothing_hangs_are_not_called_what_answers_rest_on():
    """A model that always says the same loses 0.2 points without them: surely more, and nothing."""
    lost = Metric("comprehensiveness", 0.002, Interval(0.002, 0.003), 0.0, 40, "by words")
    said = headline(Audit(40, "attention", (MethodAudit("attention", (lost,)),)))[0]
    assert said.endswith(
        "finds words that matter more than random ones, but next to nothing hangs on them."
    )


def test_the_headline_does_not_praise_what_a_warning_is_about():
    sure = audited({"attention": 0.5}, names=("comprehensiveness",))
    assert "finds words that the answers rest on." in headline(sure)[0]
    both = (*sure.rankings[0].metrics, measured("tau_shuffled_weights", 0.95))
    doubted = replace(sure, rankings=(MethodAudit("attention", both),))
    assert headline(doubted)[0].endswith("but one of the warnings is about it.")
