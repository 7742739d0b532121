"""What tests of explanations share: questions to small models, and one model with known answers."""

from dataclasses import replace

import torch
from torch import nn

from regard.data.batch import collate
from regard.explain.answers import Answers, holding, likeliest
from regard.models import MODELS
from regard.models.base import Model, Output
from regard.models.han import HANConfig
from regard.nn.rows import row_sum
from regard.ragged import Ragged
from regard.tasks.classify import probabilities
from regard.text.tokenize import tokenize
from regard.text.vocab import Vocab

TEXTS = (
    "It was brilliant! I laughed, and laughed. The end was dull. I slept, woke and left.",
    "",
    "One",
    "The end. The film was dull, dull, dull. Nobody laughed!",
)
WORDS = sorted({word.lower() for text in TEXTS for word in tokenize(text).words()} - {"slept"})
VOCAB = Vocab(WORDS)
SMALL = {"embedding_size": 6, "hidden_size": 4, "attention_size": 5}
HEADS = {"hierarchical-transformer": {"heads": 2}}  # which share 8 columns
CONFIGS = {
    **{name: config(**SMALL, **HEADS.get(name, {})) for name, config in MODELS.items()},
    "flow": HANConfig(**SMALL, reading="flow"),
    "glass box": HANConfig(**SMALL, encoder="none"),
    "structured": HANConfig(**SMALL, pooling="structured", hops=2),
    "last": HANConfig(**SMALL, pooling="last", cell="lstm", layers=2),
}
"""Every classifier of the package, and settings that change how sentences depend on each other."""


def built(config, label_count=2, seed=0):
    """A network whose fresh weights are made larger, so that its answers are far from even."""
    torch.manual_seed(seed)
    model = config.build(vocab_size=len(VOCAB), label_count=label_count).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(3)
    return model


def asked(model, texts=TEXTS, *, multilabel=False, temperature=1.0, chosen=None, vocab=VOCAB):
    """Put texts to a model and choose what it answers, or the given classes."""
    batch = collate([tokenize(text) for text in texts], vocab)
    with torch.no_grad():
        output = model(batch)
    likely = probabilities(output.logits.double(), multilabel, temperature=temperature)
    answers = Answers(
        model=model,
        batch=batch,
        output=output,
        probabilities=likely,
        classes=tuple(f"class {number}" for number in range(likely.shape[1])),
        chosen=holding(likely) if multilabel else likeliest(likely),
        multilabel=multilabel,
        temperature=temperature,
    )
    return answers if chosen is None else replace(answers, chosen=(chosen,) * len(texts))


class LinearBag(Model):
    """Every word adds its own numbers to the logits: what each is worth is known exactly."""

    def __init__(self, values, bias=0.0):
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(torch.as_tensor(values).float())
        self.bias = bias

    def from_vectors(self, words, batch, impose=None):
        rows = Ragged(words.values, batch.by_document.lengths)
        return Output(row_sum(rows) + self.bias)


def bag(values, *, classes=2):
    """A linear bag in which the words named are worth so much for the second class."""
    table = torch.zeros(len(VOCAB), classes)
    for word, value in values.items():
        table[VOCAB.ids([word])[0], 1] = value
    return LinearBag(table).eval()
