import re
from dataclasses import replace

import pytest

from regard.records.evaluation import DataNotes, Fresh, Interval
from regard.views.evaluation.page import class_table, render
from support.evaluations import complete, evaluated, explained
from support.pages import Page

NASTY = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;\x00\ud800"
MANY = tuple(f"class {number}" for number in range(52))
CASES = {
    "bare": evaluated(),
    "complete": complete(evaluated()),
    "fifty-two classes": complete(evaluated(MANY, 400, noise=2.0)),
    "many classes": evaluated(tuple(map(str, range(200))), 400),
    "several labels": complete(evaluated(("a", "b", "c"), several=True)),
    "one document": evaluated(count=1),
    "one class": evaluated(("only",), 5),
    "all right": evaluated(noise=0.0),
    "nasty names": complete(evaluated((NASTY, "pos", "ﷺ עברית", "")), NASTY),
}


@pytest.mark.parametrize("evaluation", CASES.values(), ids=CASES)
def test_a_report_is_one_whole_page_without_requests(evaluation):
    written = render(evaluation)
    assert written.encode()
    read = Page(written)
    assert read.tags.count("script") == len(read.scripts) == 1
    assert "img" not in read.tags and "link" not in read.tags and "iframe" not in read.tags
    for _, name, value in read.attributes:
        assert not name.startswith("on") and name not in ("src", "action")
        assert name != "href" or value.startswith("#")
    assert not re.search(r"url\(|@import|https?:", re.sub("<svg.*?</svg>", "", written))


@pytest.mark.parametrize("evaluation", CASES.values(), ids=CASES)
def test_no_picture_is_drawn_outside_its_numbers(evaluation):
    read = Page(render(evaluation))
    numbers = [
        float(value)
        for tag, name, value in read.attributes
        if tag in ("line", "circle", "rect") and name in ("x", "y", "x1", "x2", "y1", "y2", "r")
    ]
    assert all(-10 <= number <= 2000 for number in numbers)
    assert "nan" not in read.text.lower().split() and "inf" not in read.text.lower().split()


def test_whatever_users_wrote_is_shown_and_not_obeyed():
    text = Page(render(CASES["nasty names"])).text
    assert NASTY.replace("\x00", "\ufffd").replace("\ud800", "\ufffd") in text


def test_links_lead_somewhere_and_names_are_unique():
    read = Page(render(CASES["complete"]))
    ids = [value for _, name, value in read.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    links = [value[1:] for _, name, value in read.attributes if name == "href"]
    assert len(links) == 8 and set(links) <= set(ids)


def test_the_summary_puts_the_score_beside_the_plain_methods():
    """Trust rules: a number without its baseline and interval is not printed."""
    evaluation = CASES["complete"]
    text = Page(render(evaluation)).text
    interval = evaluation.accuracy_interval
    assert (
        f"Right on {100 * evaluation.accuracy:.1f} % of 200 documents "
        f"({100 * interval.low:.1f}–{100 * interval.high:.1f})." in text
    )
    learned, constant = evaluation.baselines
    assert f"TF-IDF + logistic regression: {100 * learned.accuracy:.1f} %." in text
    assert f"Always guessing ‘neg’: {100 * constant.accuracy:.1f} %." in text


def test_what_was_skipped_cut_or_seen_before_is_in_the_report():
    text = Page(render(CASES["complete"])).text
    for words in (
        "3 skipped: 3 missing label",
        "test.csv:17: the label is empty",
        "2 rows not scored",
        "7 texts also in the training data",
        "2.1 % of the tokens",
        "cut to 50 sentences per document",
        "1,234,567",
        "3.6 min",
    ):
        assert words in text


def test_few_classes_get_a_matrix_of_numbers():
    evaluation = evaluated(("neg", "pos"), 300)
    text = Page(render(evaluation)).text
    section = text[text.index("True class down the side") :]
    for row in evaluation.confusion:
        for number in row:
            assert str(number) in section


def test_many_classes_get_a_picture_with_a_cell_for_each_mix_up():
    evaluation = CASES["fifty-two classes"]
    written = render(evaluation)
    hits = sum(bool(row[place]) for place, row in enumerate(evaluation.confusion))
    assert written.count('<rect class="hit"') == hits
    assert written.count('<rect class="miss"') == len(evaluation.mix_ups())


def test_every_class_is_a_row_that_sorts_by_its_numbers():
    evaluation = CASES["fifty-two classes"]
    read = Page(class_table(evaluation))
    assert read.tags.count("tr") == 53
    sorted_by = [value for _, name, value in read.attributes if name == "data-number"]
    assert len(sorted_by) == 52 * 5
    assert {"button", "caption"} <= set(read.tags)


def test_what_was_not_measured_of_a_class_has_no_bar_and_sorts_last():
    found = evaluated(("neg", "pos"))
    nothing = replace(
        found.per_class[0], label="absent", precision=0.0, recall=0.0, f1=0.0, support=0,
        predicted=0, correct=0,
    )  # fmt: skip
    written = class_table(replace(found, per_class=(*found.per_class, nothing)))
    row = written[written.index(">absent<") :]
    assert row.count('<td data-number="-1">—</td>') == 3 and "--share" not in row


def test_what_the_scores_hide_stands_at_the_top():
    fresh = Fresh(160, 0.9, Interval(0.85, 0.95))
    found = replace(evaluated(), baselines=(), data=DataNotes(seen_in_training=40, fresh=fresh))
    text = Page(render(found)).text
    assert "Of the other 160, 90.0 % are right (85.0–95.0)." in text[: text.index("Calibration")]


def test_no_threshold_is_offered_for_luck_and_the_page_says_so():
    """The chart shows thresholds that leave a few answers, all right: they are not denied."""
    text = Page(render(CASES["several labels"])).text
    assert "No threshold that leaves 20 answers or more makes 98 % of them right." in text


def test_mistakes_show_where_the_model_looked_and_what_is_left_out():
    evaluation = evaluated()
    texts = {mistake.index: "word " * 900 for mistake in evaluation.mistakes}
    first = evaluation.mistakes[0]
    told = {first.index: explained(first, "word " * 900)}
    written = render(evaluation.with_texts(texts, told))
    text = Page(written).text
    assert written.count('<article class="regard"') == 1
    assert text.count("… 2,500 more characters") == len(evaluation.mistakes) - 1
    assert text.count("Document ") == len(evaluation.mistakes)


def test_a_text_too_long_to_draw_is_shown_by_its_beginning():
    evaluation = evaluated()
    long = "word " * 20_000
    texts = {mistake.index: long for mistake in evaluation.mistakes}
    told = {mistake.index: explained(mistake, long) for mistake in evaluation.mistakes}
    written = render(evaluation.with_texts(texts, told))
    assert "98,000 more characters" in written
    assert len(written) < 200_000


def test_a_temperature_is_shown_with_what_it_changed():
    text = Page(render(CASES["bare"])).text
    assert "A temperature of 1.40" in text and "As trained" in text
    plain = replace(CASES["bare"], temperature=1.0)
    assert "temperature of" not in Page(render(plain)).text


def test_learning_curves_mark_the_epoch_that_was_kept():
    written = render(CASES["complete"])
    assert "Loss by epoch. 5 epochs; the weights of epoch 5 were kept" in written
    assert "Epoch 3: training loss 0.3000" in written
    assert "Validation accuracy by epoch" in written
    assert 'id="training"' not in render(CASES["bare"])


def test_a_wide_matrix_says_so_on_a_phone_and_zeros_are_muted(open_html):
    many = complete(evaluated([f"class {n}" for n in range(9)], 300, noise=0.3))
    html = render(many)
    assert 'class="miss none"' in html and "<small>0 %</small>" not in html
    page = open_html(html, viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    matrix = "document.querySelector('.scroll:has(.confusion)')"
    hint = f"getComputedStyle({matrix}, '::before').maxHeight"
    assert page.evaluate(hint) == "32px"
    wide = open_html(render(complete(evaluated())), viewport={"width": 1200, "height": 800})
    assert wide.evaluate(hint) == "0px"
