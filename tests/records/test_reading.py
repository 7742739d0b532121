"""What was read and what was not, as plain data."""

from regard.records.reading import BadRow, ReadCounts

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
