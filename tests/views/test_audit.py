import re

import pytest

from pages import Page
from regard.records.audit import Audit, FlipTable, MethodAudit, Metric, NeedleCell, NeedleMap
from regard.records.evaluation import Interval
from regard.views.audit import NAMES, render, summary

NASTY = "<script>alert(1)</script>\"'>&amp;"


def metric(name, value=0.5, baseline_name="random ranking"):
    interval = Interval(value - 0.1, value + 0.1)
    return Metric(name, value, interval, 0.31, 40, "by hand", baseline_name=baseline_name)


def whole(text="reviews.csv"):
    methods = ("attention", "erasure")
    names = [name for name in NAMES if name not in ("needle_recall", "adversarial_jsd")]
    cells = tuple(
        NeedleCell(length, place, 10, 10 - place, 10 * (place > 2), 5)
        for length in (5, 10)
        for place in range(0, length, 2)
    )
    return Audit(
        40,
        "erasure",
        tuple(MethodAudit(name, tuple(metric(one) for one in names[:16])) for name in methods),
        about_model=(metric("adversarial_jsd", 0.69, text), metric("needle_recall")),
        flips=FlipTable("sentence", 1, 2, 3, 34),
        needle=NeedleMap(text, cells),
        warnings=(f"look out for {text}",),
        model=text,
        data=text,
    )


CASES = {"whole": whole(), "nasty": whole(NASTY), "bare": Audit(1, "attention", ())}


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
    assert f"look out for {NASTY}" in Page(render(CASES["nasty"])).text


def test_each_measure_has_a_table_with_baseline_and_interval():
    text = Page(render(CASES["whole"])).text
    assert "0.400 to 0.600" in text and "0.310" in text and "Random ranking" in text
    assert text.count("by hand") >= 16
    assert NAMES["auprc"] in text and "only the heaviest 5.0 %" in text


def test_the_map_draws_each_cell_and_crosses_out_what_is_unread():
    read = Page(render(CASES["whole"]))
    assert read.tags.count("rect") == 8
    assert sum(tag == "line" for tag in read.tags) == 4
    assert "From sentence 5 on nothing is read" in read.text
    assert "sentence 3 of 5: found in 8 of 10" in read.text


def test_the_terminal_gets_every_number_with_its_baseline():
    lines = summary(CASES["whole"])
    assert "warning: look out for reviews.csv" in lines
    numbers = [line for line in lines if "n=40" in line and "flips without" not in line]
    assert len(numbers) == 34
    assert all(re.search(r"\(-?\d\.\d+ to \d\.\d+\)", line) for line in numbers)
    assert summary(CASES["bare"]) == ["1 documents; default explanation: attention"]
