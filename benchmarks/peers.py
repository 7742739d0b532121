"""What people write today: HAN in plain PyTorch, packed and padded, to be measured against.

Both are written with care (masks right, no loop over sentences), at the paper's size: word vectors
of 200, GRUs of 50 in each direction, context vectors of 100.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_sequence, pad_packed_sequence, pad_sequence

Document = list[list[int]]  # ids, sentence by sentence
CAPS = (50, 70)  # sentences a document and words a sentence: the 99th percentiles of IMDB


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
        rows = [torch.tensor(sentence) for document in documents for sentence in document]
        packed = pack_sequence(rows, enforce_sorted=False)
        embedded = packed._replace(data=self.dropout(self.embedding(packed.data)))
        vectors = self._pool(self.words(embedded)[0], self.word_attention)
        counts = [len(document) for document in documents]
        by_document = pack_sequence(list(vectors.split(counts)), enforce_sorted=False)
        pooled = self._pool(self.sentences(by_document)[0], self.sentence_attention)
        return self.classify(self.dropout(pooled))

    @staticmethod
    def _pool(states: nn.utils.rnn.PackedSequence, attention: PaddedAttention) -> Tensor:
        padded, lengths = pad_packed_sequence(states, batch_first=True)
        mask = torch.arange(padded.shape[1]) < lengths[:, None]
        return attention(padded, mask)


class PaddedHAN(PackedHAN):
    """Everything padded to the caps' size of the batch, as tutorials do; long documents are cut."""

    def forward(self, documents: Sequence[Document]) -> Tensor:
        sentences, words = CAPS
        cut = [[sentence[:words] for sentence in document[:sentences]] for document in documents]
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
