"""What was read, what was cut and the check before training, as plain data and as lines."""

import pytest

from regard.records.data import (
    BadRow,
    ClassCut,
    ClassSize,
    DataCheck,
    Lengths,
    ReadCounts,
    TruncationReport,
)


def check(**changes):
    found = {
        "documents": 30,
        "validation_documents": 0,
        "multilabel": False,
        "classes": tuple(ClassSize(f"c{number:02}", number) for number in range(2, 17)),
        "tokens": 100,
        "distinct_words": 50,
        "tokens_per_document": Lengths(1, 2, 3, 4, 5_000),
        "sentences_per_document": Lengths(),
        "words_per_sentence": Lengths(),
        "empty_documents": 0,
        "duplicates": 0,
        "contradictions": 0,
    }
    return DataCheck(**{**found, **changes})


def test_of_many_classes_the_largest_are_named():
    line = check().describe()[1]
    assert line.startswith("15 classes, one per document: c16 16, c15 15, ")
    assert line.endswith("c05 5, and 3 more")


def test_labels_that_differ_only_in_case_or_spaces_are_doubted():
    labels = ("Neg", "Very good", "neg", "pos", "very  good", "very\xa0good", "verygood")
    found = check(classes=tuple(ClassSize(label, 5) for label in labels))
    assert found.alike_classes == (("Neg", "neg"), ("Very good", "very  good", "very\xa0good"))
    line = found.describe()[-1]
    assert line == (
        "! labels that differ only in case or spaces are classes of their own: 'Neg' and 'neg', "
        "'Very good' and 'very  good' and 'very\\xa0good'; write them alike if they mean the same"
    )
    assert not any("differ only" in line for line in check().describe())


def test_lengths_are_one_line():
    assert str(Lengths(1, 2, 3, 4, 5_000)) == (
        "median 1, 80 % have up to 2, 95 % up to 3, 99 % up to 4, the longest 5,000"
    )


@pytest.mark.parametrize(
    ("seconds", "memory", "line"),
    [
        (0.2, None, "training takes about 1 s"),
        (89, 1 << 20, "training takes about 89 s and about 1 MB of memory"),
        (3_600, 5 << 30, "training takes about 60 min and about 5.0 GB of memory"),
        (9_000, None, "training takes about 2.5 h"),
        (None, 600 << 20, "training takes about 600 MB of memory"),
    ],
)
def test_estimates_are_rounded_to_what_a_person_wants(seconds, memory, line):
    assert check().with_estimates(seconds=seconds, memory_bytes=memory).describe()[-1] == line


def test_a_check_goes_to_json_and_back():
    assert DataCheck.from_json(check().to_json()) == check()


BAD = BadRow("reviews.csv", 17, "missing label", "the label is missing")


def test_a_bad_row_says_file_line_and_reason():
    assert str(BAD) == "reviews.csv:17: the label is missing"


def test_counts_go_to_json_and_back():
    skipped = (("missing label", 3), ("broken JSON", 1))
    counts = ReadCounts("a.csv", 5, skipped, ignored=2, empty_texts=1, examples=(BAD,))
    assert ReadCounts.from_json(counts.to_json()) == counts
    assert counts.skipped_rows == 4


def test_only_what_happened_is_described():
    assert ReadCounts("a.csv", rows=1_234).describe() == ["a.csv: 1,234 rows read"]
    counts = ReadCounts("a.csv", 1, (("missing label", 4),), 2, 1, examples=(BAD,) * 4)
    assert counts.describe() == [
        "a.csv: 1 row read",
        "  4 skipped: 4 missing label",
        *["    reviews.csv:17: the label is missing"] * 3,
        "  1 texts are empty",
        "  2 blank lines or other files passed over",
    ]


REPORT = TruncationReport(
    total=ClassCut("", 10, 3, 50, 5, 1_000, 125),
    classes=(ClassCut("neg", 4, 0, 20, 0, 400, 0), ClassCut("pos", 6, 3, 30, 5, 600, 125)),
    max_sentences=10,
)


def test_a_report_goes_to_json_and_back():
    assert TruncationReport.from_json(REPORT.to_json()) == REPORT


def test_only_classes_that_lost_something_are_described():
    assert REPORT.describe() == [
        "cut to 10 sentences per document: 3 of 10 documents, 5 of 50 sentences, "
        "125 of 1,000 words (12.5 %)",
        "  pos: 3 of 6 documents, 5 of 30 sentences, 125 of 600 words (20.8 %)",
    ]


def test_nothing_cut_is_nothing_said():
    assert TruncationReport().describe() == []
