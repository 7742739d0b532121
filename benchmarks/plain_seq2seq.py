"""Sequence to sequence as tutorials write it in PyTorch: padded, one decoder step at a time.

It shares the parameters of a ``Seq2Seq`` and computes the same numbers, so that tests can compare
values and gradients, and a benchmark can compare times.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from regard.data.pairs import PairBatch
from regard.models.seq2seq import Seq2Seq

Hidden = Tensor | tuple[Tensor, Tensor]


class PlainSeq2Seq(nn.Module):
    """The network of a ``Seq2Seq`` with the decoder "sutskever", "cho", "luong" or "bahdanau"."""

    def __init__(self, model: Seq2Seq) -> None:
        super().__init__()
        self.model = model

    def loss(self, batch: PairBatch) -> Tensor:
        """The mean cross-entropy of a target token, padding left out."""
        logits, _ = self(batch)
        answers = pad_sequence(batch.target.rows(), padding_value=-100)
        return cross_entropy(logits.flatten(0, 1), answers.flatten(), ignore_index=-100)

    def forward(self, batch: PairBatch) -> tuple[Tensor, list[Tensor]]:
        """Logits, (steps, pairs, words), and the weights of each step, (pairs, source tokens)."""
        config, decoder = self.model.config, self.model.decoder
        outputs, hidden, lengths = self.encode(batch)
        summary = _top_ends(self.ends)
        mask = torch.arange(outputs.shape[1])[None] < lengths[:, None]
        previous = pad_sequence(batch.previous.rows(), batch_first=True)
        fed = outputs.new_zeros(len(batch), config.decoder_size)
        logits, weights = [], []
        for step in range(previous.shape[1]):
            token = dropout(decoder.embedding(previous[:, step]), config.dropout, self.training)
            seen: list[Tensor] = []
            if config.decoder == "bahdanau":
                found = self.attend(_top(hidden), outputs, mask)
                context, inputs = found[0], torch.cat([token, found[0]], 1)
                weights.append(found[1])
            elif config.decoder == "cho":
                context, inputs = summary, torch.cat([token, summary], 1)
            else:
                inputs = torch.cat([token, fed], 1) if config.feeding else token
                inputs = token if config.decoder == "sutskever" else inputs
            output, hidden = decoder.stack.layers(inputs[None], hidden)
            output = output[0]
            if config.decoder == "luong":
                found = self.attend(output, outputs, mask)
                weights.append(found[1])
                output = torch.tanh(decoder.combine(torch.cat([found[0], output], 1)))
                fed = output
            elif config.decoder in ("bahdanau", "cho"):
                seen = [output, context, token]
                output = torch.tanh(decoder.combine(torch.cat(seen, 1)))
            output = dropout(output, config.dropout, self.training)
            logits.append(decoder.output(output))
        return torch.stack(logits), weights

    def encode(self, batch: PairBatch) -> tuple[Tensor, Hidden, Tensor]:
        """Encoder outputs, (pairs, source tokens, size), the decoder's start, and the lengths."""
        model, source = self.model, batch.source.by_document
        padded = pad_sequence(source.rows(), batch_first=True)
        words = dropout(model.embedding(padded), model.config.dropout, self.training)
        packed = pack_padded_sequence(words, source.lengths, True, enforce_sorted=False)
        states, self.ends = model.encoder.layers(packed)
        outputs, lengths = pad_packed_sequence(states, batch_first=True)
        if model.narrow is not None:
            outputs = model.narrow(outputs)
        parts = self.ends if isinstance(self.ends, tuple) else (self.ends,)
        joined = [_sides_joined(part, model.encoder.directions) for part in parts]
        crossed = []
        for number, part in enumerate(joined):
            layers = model.bridge.layers[number :: len(joined)]
            made = [layer(end) for layer, end in zip(layers, part, strict=True)]
            crossed.append(torch.stack([torch.tanh(end) if number == 0 else end for end in made]))
        return outputs, crossed[0] if len(crossed) == 1 else tuple(crossed), lengths

    def attend(self, query: Tensor, outputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """The context of every pair, and the weights behind it."""
        score, name = self.model.decoder.look.score, self.model.config.score
        if name == "dot":
            scores = torch.bmm(outputs, query[:, :, None])[:, :, 0]
        elif name == "general":
            scores = torch.bmm(score.key(outputs), query[:, :, None])[:, :, 0]
        else:  # as in the tutorials on Bahdanau's attention: the query is repeated for every key
            repeated = query[:, None].expand(-1, outputs.shape[1], -1)
            if name == "concat":
                mixed = score.both(torch.cat([repeated, outputs], 2))
            else:
                mixed = score.query(repeated) + score.key(outputs)
            scores = score.out(torch.tanh(mixed))[:, :, 0]
        weights = torch.softmax(scores.masked_fill(~mask, -1e10), 1)
        return torch.bmm(weights[:, None], outputs)[:, 0], weights


def _sides_joined(ends: Tensor, directions: int) -> Tensor:
    """Torch's ends, (layers * directions, rows, hidden), as (layers, rows, directions * hidden)."""
    layers = [torch.cat(list(pair), 1) for pair in ends.split(directions)]
    return torch.stack(layers)


def _top(hidden: Hidden) -> Tensor:
    return hidden[0][-1] if isinstance(hidden, tuple) else hidden[-1]


def _top_ends(ends: Hidden) -> Tensor:
    last = ends[0] if isinstance(ends, tuple) else ends
    return torch.cat([last[-2], last[-1]], 1)
