"""Word vectors moved row by row against all at every step: python benchmarks/row_updates.py

The same steps on the same batches of IMDB in turns, one thread, processor time: the whole step,
and what of it goes to clearing, clipping and moving. Needs ../shared/data/imdb.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

import torch
from measuring import IMDB, provenance, save

from regard.data.columns import Columns
from regard.data.corpus import Corpus, build_corpus
from regard.data.readers import read_documents
from regard.models import HANConfig
from regard.tasks.classify import ClassificationLoss
from regard.text.tokenize import TextConfig
from regard.text.vocab import Vocab
from regard.training.batches import PlannedBatches
from regard.training.config import TrainingConfig
from regard.training.optimizers import build_optimizer, build_schedule, clip_gradients
from regard.training.state import TrainingState

STEPS, WARM = 140, 80  # rows wait for their moves only after the first 64 steps
CONFIG = TrainingConfig()


def new_state(corpus: Corpus, words: int, *, rows: bool) -> TrainingState:
    """A training whose tables are moved row by row, or by torch's Adam."""
    torch.manual_seed(0)
    network = HANConfig(weighing="states", sentence_dropout=0.0)  # the network of the paper
    model = network.build(vocab_size=words, label_count=2)
    state = TrainingState(model, CONFIG, total_steps=3000)
    if not rows:
        state.row_optimizers = ()
        state.optimizer = build_optimizer(model, CONFIG)
        state.schedule = build_schedule(state.optimizer, CONFIG, 3000)
    return state


def taken(state: TrainingState, batch) -> tuple[float, float]:
    """Take a step; return its seconds, and those of clearing, clipping and moving."""
    began = time.process_time()
    state.model.train().zero_grad()
    cleared = time.process_time()
    with state.reading():
        cost = ClassificationLoss()(state.model, batch)
    cost.backward()
    learnt = time.process_time()
    clip_gradients(state.model.parameters(), CONFIG.clip)
    state.move()
    ended = time.process_time()
    return ended - began, ended - learnt + cleared - began


def main() -> None:
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        documents = read_documents(IMDB / "train.parquet", Columns(carry=False))
        corpus = build_corpus(documents, Path(folder) / "corpus")
        vocab = Vocab.from_counts(corpus.word_counts(), TextConfig())
        corpus = corpus.remapped(vocab)
        states = {
            "all": new_state(corpus, len(vocab), rows=False),
            "rows": new_state(corpus, len(vocab), rows=True),
        }
        spent: dict[str, list[tuple[float, float]]] = {name: [] for name in states}
        for step, batch in zip(range(STEPS), PlannedBatches(corpus, CONFIG).read(0), strict=False):
            for name, state in states.items():
                torch.manual_seed(step)  # the same dropout for both
                spent[name].append(taken(state, batch))
        for state in states.values():
            state.settle()
    first, second = (state.model.embedding.weight.detach() for state in states.values())
    apart = float((first - second).abs().mean())
    result = {
        name: [statistics.median(part[n] for part in parts[WARM:]) * 1e3 for n in (0, 1)]
        for name, parts in spent.items()
    }
    print(f"{len(vocab):,} words; word vectors {apart:.0e} apart after {STEPS} steps, in the mean")
    print("| moved | step, ms | clearing, clipping, moving, ms |\n|---|---|---|")
    for name, (step, moving) in result.items():
        print(f"| {name} | {step:.1f} | {moving:.1f} |")
    ratio = result["all"][0] / result["rows"][0]
    print(f"all / rows: {ratio:.2f}")
    save("row-updates", {**provenance(), "milliseconds": result, "ratio": ratio})


if __name__ == "__main__":
    main()
