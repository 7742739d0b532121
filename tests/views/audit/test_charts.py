import re

import pytest

from regard.records.audit import Audit, MethodAudit, Metric
from regard.records.evaluation import Interval
from regard.views.audit.charts import overview
from support.pages import Page

MAIN = ("comprehensiveness", "sufficiency", "tau_loo", "flip_fraction", "auprc")


def metric(name, value, *, spread=0.05, baseline=0.3):
    better = "low" if name in ("sufficiency", "flip_fraction") else "high"
    interval = Interval(value - spread, value + spread)
    return Metric(name, value, interval, baseline, 40, "by hand", better=better)


def audit(values, *, names=MAIN, default="attention"):
    rankings = tuple(
        MethodAudit(method, tuple(metric(name, value) for name in names))
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
    written = overview(audit(BOTH))
    assert written.count("<circle") == 2 * 5
    assert written.count('class="orange"') == 2 * 5
    assert "gradient x input" in written and "gradient_input" not in written


def test_a_column_is_drawn_only_where_it_was_measured():
    without = overview(audit(BOTH, names=MAIN[:4]))
    assert "Evidence" not in without and "Evidence" in overview(audit(BOTH))
    assert overview(audit(BOTH, names=("token_f1",))) == ""
    assert overview(Audit(1, "attention", ())) == ""


def test_a_method_without_a_measure_leaves_its_place_empty():
    one = MethodAudit("attention", (metric("tau_loo", 0.5),))
    other = MethodAudit("lime", (metric("auprc", 0.5),))
    written = overview(Audit(40, "attention", (one, other)))
    assert written.count("<circle") == 2
    assert "lime: Evidence (AUPRC) 0.500" in Page(written).text + written


def test_all_methods_of_a_column_share_one_scale():
    written = overview(audit({"attention": 0.2, "erasure": 0.4, "lime": 0.6}, names=MAIN[:1]))
    first, second, third = drawn(written, "circle", "cx")
    assert second - first == pytest.approx(third - second, abs=0.05)
    (baseline,) = {x for x in re.findall(r'class="orange"[^>]* x1="([^"]+)"', written)}
    assert float(baseline) == pytest.approx((first + second) / 2, abs=0.05)


def test_a_dot_is_filled_only_where_its_whole_interval_beats_the_baseline():
    """Told by shape, not by colour alone; for a low measure, lower beats."""
    clear = overview(audit({"erasure": 0.9}, names=("comprehensiveness", "sufficiency")))
    dots = re.findall(r'<circle class="([^"]+)"', clear)
    assert dots == ["grey-fill", "hollow grey"]
    assert "hollow" in overview(audit({"erasure": 0.32}, names=MAIN[:1]))


def test_the_better_direction_stands_over_each_column():
    text = Page(overview(audit(BOTH))).text
    assert text.count("higher is better →") == 3 and text.count("← lower is better") == 2


def test_the_row_of_the_default_is_emphasised_once():
    written = overview(audit(BOTH))
    assert written.count('class="band-default"') == 1 and ">default</text>" in written
    other = overview(audit(BOTH, default="lime"))
    assert "band-default" not in other and ">default</text>" not in other


def test_the_picture_is_told_in_words():
    written = overview(audit(BOTH))
    (label,) = re.findall(r'<svg[^>]* aria-label="([^"]+)"', written)
    assert "attention: Comprehensiveness 0.500 (0.450 to 0.550), random ranking 0.300" in label
    assert "<title>Comprehensiveness: 0.500 (0.450 to 0.550), random ranking 0.300, n=40" in written


@pytest.mark.parametrize("value", [0.0, 1.0, -0.001, 1e-9, 1e6])
def test_odd_values_stay_inside_the_picture(value):
    one = MethodAudit("attention", (metric("tau_loo", value, spread=0.0, baseline=value),))
    two = MethodAudit("<b>", (metric("tau_loo", value, spread=abs(value)),))
    for rankings in ((one,), (one, two)):
        written = overview(Audit(1, "attention", rankings))
        Page(written)
        assert all(176 <= x <= 976 for x in drawn(written, "circle", "cx"))
        assert "−0.00<" not in written and "<b>" not in written
