"""Whatever characters a text holds, a model reads it and its weights are shares."""

import random

import pytest
import torch

from regard import HANConfig, tokenize
from regard.data.batch import collate
from regard.nn.rows import row_sum
from regard.text.vocab import Vocab
from support.odd_texts import random_text


@pytest.mark.parametrize("seed", range(10))
def test_weights_of_random_unicode_documents_sum_to_one(seed):
    """Issue 2: 10,000 random documents, no crash, every row of attention sums to one."""
    generator = random.Random(100 + seed)
    documents = [tokenize(random_text(generator)) for _ in range(1000)]
    vocab = Vocab(sorted({word.lower() for tokens in documents[:200] for word in tokens.words()}))
    torch.manual_seed(seed)
    config = HANConfig(embedding_size=8, hidden_size=4, attention_size=4)
    model = config.build(vocab_size=len(vocab), label_count=3).eval()
    with torch.inference_mode():
        output = model(collate(documents, vocab))
    assert output.logits.shape == (1000, 3) and output.logits.isfinite().all()
    for layer in output.attention:
        sums = row_sum(layer.weights)
        torch.testing.assert_close(sums, (layer.weights.lengths > 0).to(sums))
