"""An LSTM with attention over the steps of a series: which step tells the answer?

    python examples/attention_lstm.py

The series are noise but for one step. Their lengths differ, and nothing is padded. All variants,
before the LSTM and after it: regard experiment planted
"""

import numpy as np
import torch

from regard.data.series import SeriesBatch
from regard.models.attention_lstm import AttentionLSTMConfig
from regard.tasks.loss import answer_loss

PLANTED = 5


def draw_series(draw: np.random.Generator, count: int) -> SeriesBatch:
    """Draw series of eight to twelve steps with two features; one step holds the answer."""
    answers = draw.integers(0, 2, count)
    rows = [draw.normal(size=(draw.integers(8, 13), 2)) for _ in range(count)]
    for row, answer in zip(rows, answers, strict=True):
        row[PLANTED] = answer
    return SeriesBatch.from_rows(rows, answers)


if __name__ == "__main__":
    torch.manual_seed(0)
    draw = np.random.default_rng(0)
    config = AttentionLSTMConfig(attend="before", shared_attention=True, hidden_size=16)
    model = config.build(feature_count=2, answer_count=2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        optimizer.zero_grad()
        answer_loss(model, draw_series(draw, 64)).backward()
        optimizer.step()
    series = draw_series(draw, 300)
    output = model(series)
    right = output.logits.argmax(1) == series.answers
    print(f"right on {right.float().mean():.0%} of 300 new series")
    rows = output.attention[0].weights.rows()
    weights = torch.stack([row[:8, 0] for row in rows]).mean(0)
    for step, weight in enumerate(weights.tolist()):
        print(f"step {step} {weight:.2f} {'#' * round(40 * weight)}")
