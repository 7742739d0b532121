"""Use the attention layers in a torch module of your own, without texts or files.

    python examples/stand_alone_attention.py

Here they find the largest of several numbers: rows of different lengths go in as one ``Ragged``,
nothing is padded, and the weights that come out say where the layer looked.
"""

import torch
from torch import Tensor, nn

from regard.nn.encoders import RecurrentEncoder
from regard.nn.pooling import AttentionPooling, Pooled, PoolingConfig
from regard.ragged import Ragged


class Largest(nn.Module):
    """Read a row of numbers and say the largest."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = RecurrentEncoder(1, 16, cell="gru", layers=1, directions=2)
        self.pooling = AttentionPooling(32, PoolingConfig(attention_size=32, score="context"))
        self.answer = nn.Linear(32, 1)

    def forward(self, numbers: Ragged) -> tuple[Tensor, Pooled]:
        """Return an answer for each row, (rows,), and what it was pooled from."""
        pooled = self.pooling(self.encoder(numbers))
        return self.answer(pooled.vectors)[:, 0], pooled


def draw_rows(count: int) -> Ragged:
    """Draw rows of two to eight numbers between zero and one."""
    lengths = torch.randint(2, 9, (count,))
    return Ragged(torch.rand(int(lengths.sum()), 1), lengths)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Largest()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for step in range(301):
        numbers = draw_rows(64)
        largest = torch.stack([row.max() for row in numbers.rows()])
        answers, _ = model(numbers)
        loss = nn.functional.mse_loss(answers, largest)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step}: off by {loss.sqrt().item():.3f}")
    answers, pooled = model(draw_rows(1))
    print(f"answer {answers.item():.3f}; weights {pooled.weights.values.tolist()}")
