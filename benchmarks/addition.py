"""The addition example of Keras: how soon are 99 % of the signs right?

    python benchmarks/addition.py [--digits 3] [--seeds 0 1 2] [--kept FOLDER]

The example adds two numbers of up to three or five digits: one layer of LSTM with 128 units reads
the sum from its last digit, another writes the total. Its authors report 99 % after 100 epochs on
50,000 sums of three digits, and after 30 epochs on 550,000 of five, a tenth of them held out;
counted are single signs, the blanks behind a short total too. Ours has the same cells, units, sums,
batches and optimizer, and starts the second layer from nothing as theirs does. Each digit is
written with a look at the one before, which theirs does not have. A seed ends with the first epoch
over 99 %; FOLDER keeps how far each is, and one that was ended goes on from its last epoch there.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from measuring import keep_run

from regard.data.pairs import EncodedPairs
from regard.experiments.addition import SYSTEMS, Addition, draw_sums
from regard.experiments.running import training_of
from regard.experiments.teaching import build, right, written
from regard.models.seq2seq import Seq2Seq
from regard.tasks.generate import ForcedLoss, ForcingConfig, TokenLoss
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import Snapshot
from regard.training.loop import count_steps, train
from regard.training.seeds import derived_seed
from regard.training.state import TrainingState

NETWORK = replace(SYSTEMS["no state passed"], cell="lstm", directions=1, reverse_source=True)
TARGET = 0.99  # of the signs
SETTINGS = Addition(epochs=100, batch_size=32, learning_rate=1e-3, reverse_source=True)
EXAMPLES = {
    3: SETTINGS,
    5: replace(SETTINGS, digits=5, examples=550_000, held_out=55_000, epochs=30),
}
"""By the digits, as the example's authors have them."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--digits", type=int, choices=EXAMPLES, default=3)
    parser.add_argument("--kept", type=Path, help="a folder to go on from")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for seed in options.seeds:
        found = run(seed, EXAMPLES[options.digits], options.kept)
        keep_run("addition", found, same=["sums", "seed"])


def run(seed: int, settings: Addition, kept: Path | None = None) -> dict[str, object]:
    """Teach one network until 99 % of the signs of held-out totals are right."""
    lesson = draw_sums(settings, seed)
    model = build(replace(NETWORK, hidden_size=settings.hidden_size), lesson, seed)
    # The learning rate stays what it is, as in the example.
    config = replace(training_of(settings, derived_seed(seed, "training")), schedule="constant")
    batches = PlannedBatches(lesson.training, config)
    state = TrainingState(model, config, total_steps=count_steps(batches, config))
    place = kept and kept / f"addition-{settings.digits}-{seed}.safetensors"
    if place and place.exists():
        state.restore(Snapshot.from_bytes(place.read_bytes()))
    loss = ForcedLoss(TokenLoss(), ForcingConfig())
    began, share = time.process_time(), 0.0
    for step in train(model, batches, loss=loss, config=config, state=state):
        if not step.ends_epoch:
            continue
        share = signs_right(model, lesson.held_out, settings.digits + 1)
        took = time.process_time() - began
        print(f"seed {seed}, epoch {step.epoch}, signs {share:.4f}, {took:.0f} s", flush=True)
        if place:
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(state.snapshot().to_bytes())
        if share > TARGET:
            break
    return {
        "seed": seed,
        "sums": settings.examples,
        "epochs": state.epoch,
        "signs": share,
        "exact": float(right(model, lesson.held_out).mean()),
        "cpu_seconds": time.process_time() - began,
    }


def signs_right(model: Seq2Seq, pairs: EncodedPairs, places: int) -> float:
    """The share of signs that the model, on its own, writes right, of ``places`` a total."""
    targets = pairs.batch(np.arange(len(pairs))).target.rows()
    found = [one.ids.tolist() for one in written(model, pairs)]
    return share_of_signs(found, [target.tolist() for target in targets], places)


def share_of_signs(
    found: Sequence[Sequence[int]], wanted: Sequence[Sequence[int]], places: int
) -> float:
    """The share of signs that are as wanted; what is shorter than its places ends in blanks."""
    same = []
    for pair in zip(found, wanted, strict=True):
        ours, theirs = ([*row[:places], *[None] * (places - len(row))] for row in pair)
        same += [one == other for one, other in zip(ours, theirs, strict=True)]
    return sum(same) / len(same)


if __name__ == "__main__":
    main()
