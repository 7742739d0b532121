"""Short reviews made by a seed, one word of which gives the label away, and what learns them."""

import random

from regard import DocumentClassifier, HANConfig, TrainingConfig

CUES = {"bad": ("awful", "dull", "broken"), "good": ("great", "lovely", "bright")}
FILLER = ["the", "film", "a", "story", "we", "saw", "it", "was", "then", "music", "and", "evening"]
SETTINGS = {
    "network.embedding_size": 16,
    "network.hidden_size": 8,
    "network.attention_size": 8,
    "network.word_dropout": 0.0,
    "network.vector_dropout": 0.0,
    "network.state_dropout": 0.0,
    "network.sentence_dropout": 0.0,
    "training.learning_rate": 0.05,
    "training.batch_size": 16,
    "training.schedule": "constant",
    "training.patience": None,
    "training.epochs": 8,
}
FLAGS = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]


def reviews(count, *, seed=0, classes=("bad", "good")):
    """Return texts of one to three sentences, and their labels in turn."""
    draw = random.Random(seed)
    texts, labels = [], []
    for number in range(count):
        label = number % len(classes)
        cues = list(CUES.values())[label % 2] if len(classes) == 2 else [f"cue{label}"]
        sentences = [_sentence(draw) for _ in range(draw.randint(0, 2))]
        sentences.insert(draw.randint(0, len(sentences)), _sentence(draw, draw.choice(cues)))
        texts.append(" ".join(sentences))
        labels.append(classes[label])
    return texts, labels


def tagged(count, *, seed=0):
    """Return texts and lists of labels, none to two each; each label has its word."""
    draw = random.Random(seed)
    texts, labels = [], []
    for _ in range(count):
        chosen = [name for name in ("art", "music") if draw.random() < 0.5]
        texts.append(" ".join(_sentence(draw, f"{name}word") for name in chosen or [""]))
        labels.append(chosen)
    return texts, labels


def tiny(**params):
    """Return a classifier that learns the reviews in a moment; ``params`` as for set_params."""
    network = {name[8:]: value for name, value in SETTINGS.items() if name.startswith("network")}
    training = {name[9:]: value for name, value in SETTINGS.items() if name.startswith("training")}
    classifier = DocumentClassifier(HANConfig(**network), training=TrainingConfig(**training))
    return classifier.set_params(**params)


def _sentence(draw, cue=""):
    words = draw.choices(FILLER, k=draw.randint(2, 8))
    words.insert(draw.randint(0, len(words)), cue)
    return " ".join(filter(None, words)).capitalize() + draw.choice(".!?")
