"""Use a network of your own; training, explanations and the saved folder work unchanged.

python examples/own_network.py
"""

import tempfile
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from regard import DocumentClassifier, TrainingConfig
from regard.data.batch import Batch
from regard.models.base import Attention, Impose, Model, Output
from regard.nn.pooling import AttentionPooling, PoolingConfig
from regard.ragged import Ragged


@dataclass(frozen=True)
class BagConfig:
    """A bag of words in which attention says which of them count."""

    name: ClassVar[str] = "bag"
    size: int = 32

    def build(self, *, vocab_size: int, label_count: int) -> "Bag":
        """Make the network."""
        return Bag(self.size, vocab_size, label_count)


class Bag(Model):
    """Weigh the words of a document, add them up, and decide."""

    def __init__(self, size: int, vocab_size: int, label_count: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, size, padding_idx=0)
        self.pooling = AttentionPooling(size, PoolingConfig(attention_size=size))
        self.classify = nn.Linear(size, label_count)

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from word vectors; ``impose`` replaces the attention by another."""
        pooled = self.pooling(
            batch.by_document.with_values(words.values), (impose or {}).get("word")
        )
        weights = Attention("word", by="document", over="token", weights=pooled.weights)
        return Output(self.classify(pooled.vectors), (weights,))


if __name__ == "__main__":
    texts = ["Such a lovely day at the sea.", "A grey day. Rain and more rain."] * 40
    training = TrainingConfig(batch_size=8, learning_rate=0.02)
    classifier = DocumentClassifier(BagConfig(16), training=training).fit(
        texts, ["sun", "rain"] * 40
    )
    classifier.explain("Rain on a lovely sea.").show()
    with tempfile.TemporaryDirectory() as folder:
        classifier.save(f"{folder}/model")
        again = DocumentClassifier.load(f"{folder}/model", models={"bag": BagConfig})
    print(again.predict(["Nothing but rain.", "The sea!"]))
