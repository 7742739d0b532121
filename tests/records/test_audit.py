import json
from dataclasses import replace

from regard.records.audit import (
    DOUBTS,
    Audit,
    Doubt,
    FlipTable,
    MethodAudit,
    Metric,
    NeedleCell,
    NeedleMap,
    Rival,
)
from regard.records.evaluation import Interval


def metric(name, value=0.5, low=0.4, high=0.6, **others):
    return Metric(name, value, Interval(low, high), 0.3, 20, "protocol", **others)


def audit(**others):
    return Audit(20, "attention", (MethodAudit("attention", (metric("auprc"),)),), **others)


def test_json_has_one_object_a_method_with_bare_numbers():
    found = json.loads(audit(about_model=(metric("adversarial_jsd"),)).to_json())
    assert found["methods"] == {"attention": {"auprc": 0.5}, "random": {"auprc": 0.3}}
    assert found["measures"] == {"adversarial_jsd": 0.5}
    (one,) = found["rankings"][0]["metrics"]
    assert one["interval"] == {"low": 0.4, "high": 0.6} and one["documents"] == 20


def test_what_was_written_is_read_back():
    cells = (NeedleCell(5, 0, 4, 2, 0, 3), NeedleCell(5, 4, 4, 0, 4, 0))
    whole = audit(
        flips=FlipTable("sentence", 1, 2, 3, 4),
        needle=NeedleMap("attention", cells),
        data="<b>.csv",
    )
    assert Audit.from_json(whole.to_json()) == whole
    assert Audit.from_json(whole.to_json(indent=2)) == whole
    assert json.loads(whole.to_json())["warnings"] == list(whole.warnings) != []
    assert whole.flips.documents == 10


def test_a_metric_beats_its_baseline_only_with_its_whole_interval():
    assert metric("a").beats_baseline
    assert not metric("a", low=0.2).beats_baseline
    assert not metric("a", better="low").beats_baseline
    assert metric("a", 0.1, 0.0, 0.2, better="low").beats_baseline


def test_doubts_are_data_and_warnings_their_words():
    same, shared = metric("tau_shuffled_weights", 0.7), metric("stability_overlap", 0.41)
    lost, needless = metric("comprehensiveness", low=0.2), metric("source_decides", 0.0)
    gap = metric("uniform_gap_forced", 0.1, 0.0)
    cells = (NeedleCell(2000, 0, 4, 2, 0, 3), NeedleCell(2000, 1200, 4, 0, 4, 0))
    few = replace(lost, documents=5)
    found = Audit(
        20,
        "attention",
        (MethodAudit("attention", (few, needless)), MethodAudit("gradient_input", (same,))),
        about_model=(gap, shared),
        needle=NeedleMap("attention", cells),
        rivals=(Rival("auprc_word", "last words", 0.5, -0.1, Interval(-0.2, 0.1), 20),),
    )
    rival = "last words, by the measure ‘Evidence by words, as drawn (AUPRC)’"
    assert found.doubts == (
        Doubt("too few documents", figure=5),
        Doubt("no better than random", "attention"),
        Doubt("needs no source"),
        Doubt("no better than an opponent", "attention", rival=rival),
        Doubt("explains the text", "gradient_input"),
        Doubt("even attention"),
        Doubt("another seed", figure=41),
        Doubt("never read", figure=1201),
    )
    assert [doubt.kind for doubt in found.doubts] == list(DOUBTS)
    few_measured, first, _, beaten, second, _, fourth, last = found.warnings
    assert few_measured.startswith("too few documents were measured, 5: below 6 nothing can be")
    assert beaten.endswith(rival) and "auprc_word" not in beaten
    assert "the default method, attention, points" in first
    assert second.startswith("gradient_input hardly changes")
    assert "share only 41 %" in fourth and "from number 1,201 on" in last


def test_too_few_documents_are_doubted_and_nothing_that_needs_an_interval():
    lost, gap = metric("comprehensiveness"), metric("uniform_gap_forced", 0.1, 0.0)
    few = [replace(one, interval=None, documents=1) for one in (lost, gap)]
    found = Audit(
        1,
        "attention",
        (MethodAudit("attention", (few[0],)),),
        about_model=(few[1],),
        rivals=(Rival("comprehensiveness", "last words", 0.5, -0.1, None, 1),),
    )
    assert found.doubts == (Doubt("too few documents", figure=1),)
    assert Audit.from_json(found.to_json()) == found and "NaN" not in found.to_json()


def test_what_is_measured_well_is_not_doubted():
    trained = metric("uniform_gap_trained", low=0.1)
    forced = metric("uniform_gap_forced", low=-0.1)
    assert audit(about_model=(trained, forced, metric("stability_overlap"))).doubts == ()


def test_a_blind_zone_begins_behind_the_last_sentence_that_is_read():
    def blind(*unread):
        cells = [NeedleCell(9, place, 2, 0, gone, 0) for place, gone in enumerate(unread)]
        return NeedleMap("attention", tuple(cells)).blind_from

    assert blind(0, 0, 2, 2) == 2
    assert blind(0, 1, 0, 0) is None
    assert blind(2, 2) == 0
    assert blind(2, 0, 2) == 2, "what is unread before something read is no zone"
    assert blind() is None
