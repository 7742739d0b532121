"""Train on a few hundred reviews, judge the model on others, and see what decided.

    python examples/classify_reviews.py [FOLDER]

The reviews are put together here by chance; with your own, read texts and labels from a file.
"""

import random
import sys
from pathlib import Path

from regard import Document, DocumentClassifier, HANConfig, TrainingConfig

OPINIONS = {
    "good": ["a joy from start to end", "the actors shine", "i would see it again"],
    "bad": ["a waste of an evening", "nobody in it can act", "i nearly fell asleep"],
}
REMARKS = [
    "We went on a Tuesday.",
    "The cinema was full.",
    "It runs for two hours.",
    "My sister had chosen it.",
    "The music is by someone new.",
]


def review(draw: random.Random, label: str) -> str:
    """Make a review: three remarks that mean nothing, and one opinion among them."""
    sentences = draw.sample(REMARKS, 3)
    sentences.insert(draw.randrange(4), draw.choice(OPINIONS[label]).capitalize() + ".")
    return " ".join(sentences)


def main(folder: Path) -> None:
    """Train, evaluate, explain, save and load."""
    draw = random.Random(0)
    labels = [draw.choice(["good", "bad"]) for _ in range(300)]
    texts = [review(draw, label) for label in labels]

    network = HANConfig(embedding_size=32, hidden_size=16)
    training = TrainingConfig(epochs=8, batch_size=16, learning_rate=0.01)
    classifier = DocumentClassifier(network, training=training).fit(texts[:200], labels[:200])
    print(f"right on {classifier.score(texts[200:], labels[200:]):.0%} of 100 new reviews")

    held_back = [Document(text, label) for text, label in zip(texts, labels, strict=True)][200:]
    print(f"macro F1 {classifier.evaluate(held_back).macro_f1:.3f}")

    explanation = classifier.explain(texts[200])
    explanation.show()
    (folder / "explanation.html").write_text(explanation.to_html(), encoding="utf-8")

    classifier.save(folder / "model")
    print(DocumentClassifier.load(folder / "model").predict(texts[200:203]))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
