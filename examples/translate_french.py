"""Translate small French sentences into English, and see how attention turns the words around.

    python examples/translate_french.py

The sentences are put together here by chance: French adjectives stand behind their nouns.
"""

import random

from regard import Translator
from regard.data.pairs import pair_texts
from regard.models.seq2seq import Seq2SeqConfig
from regard.text.units import UnitsConfig

NOUNS = {
    "le chat": "cat",
    "le chien": "dog",
    "le train": "train",
    "la voiture": "car",
    "la maison": "house",
    "la fleur": "flower",
}
ADJECTIVES = {"rouge": "red", "jaune": "yellow", "étrange": "strange", "calme": "quiet"}
VERBS = {"regarde": "watches", "cherche": "seeks", "aime": "loves", "montre": "shows"}


def pair(draw: random.Random) -> tuple[str, str]:
    """Make a sentence in both languages."""
    subject, thing = draw.choices(list(NOUNS), k=2)
    first, second = draw.choices(list(ADJECTIVES), k=2)
    verb = draw.choice(list(VERBS))
    return (
        f"{subject} {first} {verb} {thing} {second}.",
        f"the {ADJECTIVES[first]} {NOUNS[subject]} {VERBS[verb]} "
        f"the {ADJECTIVES[second]} {NOUNS[thing]}.",
    )


def main() -> None:
    """Train, score, translate, and show where it looked."""
    draw = random.Random(0)
    french, english = zip(*(pair(draw) for _ in range(500)), strict=True)
    # One direction and no bridge: all that is known of the source comes through attention.
    network = Seq2SeqConfig(
        embedding_size=32, hidden_size=32, layers=1, directions=1, decoder="bahdanau", bridge="none"
    )
    translator = Translator(network, units=UnitsConfig(kind="words", min_count=1))
    translator.set_params(training__epochs=15, training__learning_rate=0.01)
    translator.set_params(training__batch_size=32)
    translator.fit(french[:400], english[:400])
    scores = translator.evaluate(pair_texts(french[400:], english[400:]))
    print("\n".join(scores.describe()), end="\n\n")
    print(translator.explain("la fleur jaune aime le chat étrange.").to_text())


if __name__ == "__main__":
    main()
