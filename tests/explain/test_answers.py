"""What every method of explanation starts from."""

import pytest
import torch

from regard.explain.answers import holding, likeliest, unread_spans
from regard.text.tokenize import tokenize

TEXT = "One two three four. Five six.\n\nSeven eight nine. Ten."


def test_the_likeliest_class_is_chosen():
    assert likeliest(torch.tensor([[0.1, 0.9], [0.7, 0.3]])) == ((1,), (0,))
    assert likeliest(torch.zeros(0, 3)) == ()


def test_all_classes_that_hold_are_chosen_likeliest_first():
    found = holding(torch.tensor([[0.6, 0.1, 0.9], [0.2, 0.4, 0.1], [0.5, 0.5, 0.5]]))
    assert found == ((2, 0), (1,), (0,))
    assert holding(torch.tensor([[0.6, 0.1]]), threshold=0.05) == ((0, 1),)


@pytest.mark.parametrize(
    ("sentences", "tokens", "unread"),
    [
        (None, None, []),
        (2, None, ["Seven eight nine. Ten."]),
        (None, 2, ["three four.", ".", "nine."]),
        (1, 3, ["four. Five six.\n\nSeven eight nine. Ten."]),
    ],
)
def test_what_a_cap_cut_off_is_found_again(sentences, tokens, unread):
    complete = tokenize(TEXT)
    read = complete.truncated(sentences=sentences, tokens=tokens)
    assert [TEXT[start:end] for start, end in unread_spans(read, complete)] == unread


def test_of_an_empty_text_nothing_is_unread():
    assert unread_spans(tokenize(""), tokenize("")) == ()
