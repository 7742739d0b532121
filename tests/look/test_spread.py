import math

import pytest
import torch

from regard.look.spread import SpreadTally, entropies
from regard.models.base import Attention
from regard.ragged import Ragged
from support.reviews import reviews


def test_entropy_is_that_of_the_formula_and_none_for_nothing():
    rows = [[0.5, 0.25, 0.25], [1.0], [], [0.0, 1.0]]
    weights = Ragged(
        torch.tensor([value for row in rows for value in row], dtype=torch.float64),
        torch.tensor([len(row) for row in rows]),
    )
    plain = [-sum(p * math.log(p) for p in row if p) for row in rows]
    assert entropies(weights).tolist() == pytest.approx(plain)


def counted(fitted, weights, lengths):
    """Count one batch whose word attention is replaced by given weights."""
    ((_, answers),) = fitted.fitted_.answers(["One film."])
    layer = Attention(
        "word", "sentence", "token", Ragged(torch.tensor(weights), torch.tensor(lengths))
    )
    output = type(answers.output)(answers.output.logits, (layer,))
    tally = SpreadTally()
    tally.add(
        type(answers)(
            **{
                **{name: getattr(answers, name) for name in answers.__dataclass_fields__},
                "output": output,
            }
        )
    )
    return tally.spreads()


def test_uniform_weights_are_even_and_a_single_peak_is_not(fitted):
    """004-06: effective_n is exp(entropy); a copying attention has one item."""
    (even,) = counted(fitted, [0.25] * 4 + [0.5] * 2, [4, 2])
    assert even.evenness == pytest.approx(1) and even.uniform_rows == 1
    assert even.effective_items == pytest.approx(3) == even.mean_items
    assert even.bins == (0,) * 19 + (2,)
    (peak,) = counted(fitted, [1.0, 0.0, 0.0, 1.0], [3, 1])
    assert (peak.rows, peak.evenness, peak.effective_items) == (1, 0.0, 1.0)
    assert peak.bins == (1, *(0,) * 19)


def test_a_row_that_leaves_no_choice_does_not_count(fitted):
    assert counted(fitted, [1.0, 1.0], [1, 1]) == ()


def test_both_levels_of_a_corpus_are_counted(fitted):
    texts = reviews(30)[0]
    tally = SpreadTally()
    for _, answers in fitted.fitted_.answers(texts):
        tally.add(answers)
    words, sentences = tally.spreads()
    assert (words.level, sentences.level) == ("word", "sentence")
    for spread in (words, sentences):
        assert sum(spread.bins) == spread.rows
        assert 0 <= spread.evenness <= 1
        assert 1 <= spread.effective_items <= spread.mean_items
