"""Lines of letters with the same in capitals, made by a seed, and a translator that learns them."""

import random

from regard import Translator
from regard.models.seq2seq import Seq2SeqConfig
from regard.text.units import UnitsConfig

SETTINGS = {
    "network.embedding_size": 24,
    "network.hidden_size": 48,
    "network.layers": 1,
    "network.dropout": 0.1,
    "training.learning_rate": 0.01,
    "training.batch_size": 32,
    "training.schedule": "linear",
    "training.epochs": 16,
    "units.kind": "words",
    "units.min_count": 1,
}
FLAGS = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]


def parrots(count, *, seed=0):
    """Return lines of two to five letters, and the same lines in capitals."""
    draw = random.Random(seed)
    lines = [" ".join(draw.choices("abcdefgh", k=draw.randint(2, 5))) for _ in range(count)]
    return lines, [line.upper() for line in lines]


def new_translator(**changes):
    """A small translator with settings changed, such as ``training__epochs=3``."""
    made = Translator(
        Seq2SeqConfig(embedding_size=24, hidden_size=48, layers=1),
        units=UnitsConfig("words", min_count=1),
        device="cpu",
    )
    usual = {name.replace(".", "__"): value for name, value in SETTINGS.items()}
    return made.set_params(**{**usual, **changes})
