"""The check before training, as plain data and as lines."""

import pytest

from regard.records.check import ClassSize, DataCheck, Lengths


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
    assert line.startswith("15 classes, one a document: c16 16, c15 15, ")
    assert line.endswith("c05 5, and 3 more")


def test_lengths_are_one_line():
    assert str(Lengths(1, 2, 3, 4, 5_000)) == (
        "half up to 1, 80 % up to 2, 95 % up to 3, 99 % up to 4, longest 5,000"
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
