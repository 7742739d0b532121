"""What is said of a comparison: who is best, and where our own models are weak."""

from dataclasses import replace

import pytest

from regard.records.comparison import LeftOut
from regard.records.evaluation import Interval
from regard.views.comparison.words import headline, number, weaknesses, write_bytes
from support.comparisons import compared, standing, usual


def test_the_headline_names_the_best_and_who_is_not_told_apart():
    first, second, *_ = headline(usual())
    assert "regard <b> is right most often: 92.0 % of 1,000 test documents" in first
    assert "flat, constant are less accurate" in second
    assert "TF-IDF & linear is not told apart" in second


def test_our_own_weaknesses_are_said():
    (said,) = weaknesses(usual())
    assert "answers 10 times as slowly as TF-IDF & linear" in said
    assert "takes 2 times the memory of TF-IDF & linear" in said
    assert "trains 15 times as long as TF-IDF & linear" in said
    assert "15.0 points less of the probability hang than those of flat" in said


def test_a_model_that_is_plainly_less_accurate_is_no_rival_in_speed():
    found = compared(
        standing("ours", 0.92, ours=True), standing("quick", 0.6, documents_per_second=60_000.0)
    )
    assert "slowly" not in weaknesses(found)[0]


def test_how_many_times_as_slow_a_model_is_follows_from_the_documents_a_second_that_are_shown():
    """535 beside 10,500 is not 4.4 times as slow, however long one that comes alone takes."""
    quick = standing("quick", 0.92, documents_per_second=12_000.0, milliseconds=0.5)
    (said,) = weaknesses(compared(standing("ours", 0.92, ours=True), quick))
    assert "answers 20 times as slowly as quick" in said


def test_being_less_accurate_is_said_first():
    found = compared(standing("ours", 0.9, ours=True), standing("other", 0.93))
    assert weaknesses(found)[0].startswith(
        "Where ours is weak: it is 3.0 points less accurate than other"
    )
    near = compared(standing("ours", 0.9, ours=True), standing("other", 0.902))
    assert "which may be chance" in weaknesses(near)[0]


def test_without_a_weakness_that_is_said_and_without_ours_nothing():
    alone = standing("ours", 0.99, ours=True, interval=Interval(0.98, 1.0))
    assert weaknesses(compared(alone, standing("other", 0.5)))[0].startswith("No weakness")
    assert weaknesses(compared(standing("a", 0.9), standing("b", 0.8), against="a")) == []


def test_what_was_left_out_is_one_sentence_for_each_reason():
    spent = [LeftOut(f"han, seed {seed}", "the budget was spent") for seed in range(8)]
    found = replace(usual(), left_out=(*spent, LeftOut("minilm", "REGARD_BERT names no folder")))
    *_, budget, missing = headline(found)
    assert budget.startswith("Left out: han, seed 0; han, seed 1;")
    assert budget.endswith("and 2 more, since the budget was spent.")
    assert missing == "Left out: minilm, since REGARD_BERT names no folder."


@pytest.mark.parametrize(
    ("size", "said"),
    [(None, "–"), (0, "0 B"), (999, "999 B"), (4200, "4.2 kB"), (5e7, "50 MB"), (2e9, "2 GB")],
)
def test_sizes_are_written_for_people(size, said):
    assert write_bytes(size) == said


def test_numbers_have_three_digits_that_matter():
    assert [number(one) for one in (12345, 999.6, 4.567, 0.01234)] == [
        "12,300",
        "1,000",
        "4.57",
        "0.0123",
    ]
