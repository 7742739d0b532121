"""What people write today, to be measured against: HAN in plain PyTorch, TF-IDF, a transformer.

The HANs are written with care (masks right, no loop over sentences), at the paper's size: word
vectors of 200, GRUs of 50 in each direction, context vectors of 100. Documents are cut at the 99th
percentiles of IMDB, which is in their favour: one sentence of 800 words makes torch's packed GRU
ten times slower, and ours reads it whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence

Document = list[list[int]]  # ids, sentence by sentence
CAPS = (50, 70)  # sentences a document and words a sentence


class TextModel(Protocol):
    """Gives raw texts their labels."""

    def predict(self, texts: Sequence[str]) -> object: ...


def capped(documents: Sequence[Document]) -> list[Document]:
    sentences, words = CAPS
    return [[sentence[:words] for sentence in document[:sentences]] for document in documents]


class PaddedAttention(nn.Module):
    """Context-vector attention over padded rows."""

    def __init__(self, size: int, hidden_size: int) -> None:
        super().__init__()
        self.project = nn.Linear(size, hidden_size)
        self.context = nn.Linear(hidden_size, 1, bias=False)

    def forward(self, states: Tensor, mask: Tensor) -> Tensor:
        scores = self.context(torch.tanh(self.project(states))).squeeze(-1)
        weights = torch.softmax(scores.masked_fill(~mask, -1e9), dim=1)
        return (states * weights.unsqueeze(-1)).sum(1)


class PackedHAN(nn.Module):
    """Sentences packed for torch's GRU, as the better public implementations do."""

    def __init__(self, vocab_size: int, label_count: int, hidden_size: int = 50) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, 200, padding_idx=0)
        self.words = nn.GRU(200, hidden_size, batch_first=True, bidirectional=True)
        self.word_attention = PaddedAttention(2 * hidden_size, 100)
        self.sentences = nn.GRU(2 * hidden_size, hidden_size, batch_first=True, bidirectional=True)
        self.sentence_attention = PaddedAttention(2 * hidden_size, 100)
        self.dropout = nn.Dropout(0.5)
        self.classify = nn.Linear(2 * hidden_size, label_count)

    def forward(self, documents: Sequence[Document]) -> Tensor:
        cut = capped(documents)
        rows = [torch.tensor(sentence) for document in cut for sentence in document]
        packed = pack_sequence(rows, enforce_sorted=False)
        embedded = packed._replace(data=self.dropout(self.embedding(packed.data)))
        vectors = self._pool(self.words(embedded)[0], self.word_attention)
        counts = [len(document) for document in cut]
        by_document = pack_sequence(list(vectors.split(counts)), enforce_sorted=False)
        pooled = self._pool(self.sentences(by_document)[0], self.sentence_attention)
        return self.classify(self.dropout(pooled))

    @staticmethod
    def _pool(states: nn.utils.rnn.PackedSequence, attention: PaddedAttention) -> Tensor:
        padded, lengths = pad_packed_sequence(states, batch_first=True)
        mask = torch.arange(padded.shape[1]) < lengths[:, None]
        return attention(padded, mask)


class PaddedHAN(PackedHAN):
    """Everything padded to the size of the batch, as tutorials do."""

    def forward(self, documents: Sequence[Document]) -> Tensor:
        cut = capped(documents)
        most = max(map(len, cut))
        rows = [
            torch.tensor(row)
            for document in cut
            for row in document + [[0]] * (most - len(document))
        ]
        ids = pad_sequence(rows, batch_first=True)
        states, _ = self.words(self.dropout(self.embedding(ids)))
        vectors = self.word_attention(states, ids > 0).view(len(cut), most, -1)
        read, _ = self.sentences(vectors)
        mask = torch.arange(most) < torch.tensor([len(document) for document in cut])[:, None]
        return self.classify(self.dropout(self.sentence_attention(read, mask)))


def tfidf(texts: Sequence[str], labels: Sequence[int], *, ngrams: int, min_df: int) -> TextModel:
    """scikit-learn's TF-IDF of n-grams with logistic regression, fitted on all the texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    vectorizer = TfidfVectorizer(ngram_range=(1, ngrams), min_df=min_df)
    # The solver says how long the fit takes, which is not measured, and not what it costs to use.
    model = make_pipeline(vectorizer, LogisticRegression(solver="liblinear"))
    return model.fit(texts, labels)


class MiniLM:
    """A classifier of the size of MiniLM-L6 through transformers; what it says means nothing.

    Its weights are random and its pieces come from a small vocabulary made of the texts: neither
    changes how long it takes. Documents of like length go together, cut at 256 pieces.
    """

    PIECES = 256
    BATCH = 32

    def __init__(self, texts: Sequence[str]) -> None:
        from tokenizers import BertWordPieceTokenizer
        from transformers import BertConfig, BertForSequenceClassification

        self.tokenizer = BertWordPieceTokenizer(lowercase=True)
        self.tokenizer.train_from_iterator(texts, vocab_size=30_522, show_progress=False)
        self.tokenizer.enable_truncation(self.PIECES)
        self.tokenizer.enable_padding()
        config = BertConfig(
            vocab_size=30_522,
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
        )
        torch.manual_seed(0)
        self.model = BertForSequenceClassification(config).eval()

    @torch.inference_mode()
    def predict(self, texts: Sequence[str]) -> list[int]:
        ordered = sorted(texts, key=len)
        found: list[int] = []
        for first in range(0, len(ordered), self.BATCH):
            read = self.tokenizer.encode_batch(list(ordered[first : first + self.BATCH]))
            ids = torch.tensor([one.ids for one in read])
            mask = torch.tensor([one.attention_mask for one in read])
            found += self.model(ids, attention_mask=mask).logits.argmax(1).tolist()
        return found
