"""What caps on length took, as plain data."""

from regard.records.truncation import ClassCut, TruncationReport

REPORT = TruncationReport(
    total=ClassCut("", 10, 3, 50, 5, 1_000, 125),
    classes=(ClassCut("neg", 4, 0, 20, 0, 400, 0), ClassCut("pos", 6, 3, 30, 5, 600, 125)),
    max_sentences=10,
)


def test_a_report_goes_to_json_and_back():
    assert TruncationReport.from_json(REPORT.to_json()) == REPORT


def test_only_classes_that_lost_something_are_described():
    assert REPORT.describe() == [
        "cut to 10 sentences a document: 3 of 10 documents, 5 of 50 sentences, "
        "125 of 1,000 words (12.5 %)",
        "  pos: 3 of 6 documents, 5 of 30 sentences, 125 of 600 words (20.8 %)",
    ]


def test_nothing_cut_is_nothing_said():
    assert TruncationReport().describe() == []
