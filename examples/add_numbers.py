"""Teach a network with attention to add: it reads "12+7" and writes "19", a digit at a time.

    python examples/add_numbers.py

No sum that it is asked about was among those it learnt from, in either order. The experiment
with more digits, and with networks that have no attention: regard experiment addition
"""

import random

from regard import Translator
from regard.models.seq2seq import PRESETS
from regard.text.units import UnitsConfig
from regard.training.config import TrainingConfig


def draw_sums(count: int) -> list[tuple[str, str]]:
    """Draw different pairs of numbers below fifty, with their sums."""
    pairs = [(left, right) for left in range(50) for right in range(left, 50)]
    drawn = random.Random(0).sample(pairs, count)
    return [(f"{left}+{right}", str(left + right)) for left, right in drawn]


if __name__ == "__main__":
    sums = draw_sums(1200)
    training, asked = sums[:1100], sums[1100:]
    translator = Translator(
        PRESETS["addition"],
        training=TrainingConfig(epochs=15, batch_size=32, learning_rate=8e-3),
        units=UnitsConfig("characters", min_count=1),
        validation=0.0,
        device="cpu",
    )
    translator.fit([source for source, _ in training], [target for _, target in training])
    answers = translator.predict([source for source, _ in asked])
    right = [answer == target for answer, (_, target) in zip(answers, asked, strict=True)]
    for (source, _), answer in list(zip(asked, answers, strict=True))[:3]:
        print(f"{source}={answer}")
    print(f"right: {sum(right)} of {len(right)}")
