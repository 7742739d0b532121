"""Where a network looks while it is told to write given texts: in bounded batches, in order."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from ..data.pairs import EncodedPairs, Pair, PairBatch
from ..data.runs import cut_runs
from ..models.seq2seq import Seq2Seq
from ..nn.modes import in_evaluation
from ..records.alignment import Alignment
from ..text.units import START, CutText
from ..text.vocab import PADDING
from .writer import TextWriter

__all__ = ["align_pairs"]

BATCH_PAIRS = 64
"""How many pairs are aligned together."""
BATCH_PIECES = 8192
"""How many pieces they may have together; bounds the memory of one batch."""


@torch.no_grad()
def align_pairs(model: Seq2Seq, writer: TextWriter, pairs: Sequence[Pair]) -> list[Alignment]:
    """Say for each pair where each piece of its target looks, told every piece before it.

    The score is the mean log-probability of the target's pieces and its end.
    """
    sources = writer.source_units.encode([pair.source for pair in pairs])
    targets = writer.target_units.encode([pair.target for pair in pairs])
    found = [_blind(*both) for both in zip(sources, targets, strict=True)]
    encoded = EncodedPairs([one.ids for one in sources], [one.ids for one in targets])
    # Nothing is looked at where the source has no pieces.
    readable = np.array(
        [place for place, one in enumerate(sources) if len(one.ids)], dtype=np.int64
    )
    order = readable[np.argsort(encoded.lengths[readable], kind="stable")]
    limits = {"most_items": BATCH_PAIRS, "most_total": BATCH_PIECES}
    with in_evaluation(model):
        for run in cut_runs(encoded.lengths[order], **limits):
            places = order[run].tolist()
            looked = _looked(model, encoded.batch(places).to(writer.device))
            for place, (weights, score) in zip(places, looked, strict=True):
                found[place] = _alignment(sources[place], targets[place], weights, score)
    return found


def _looked(model: Seq2Seq, batch: PairBatch) -> list[tuple[torch.Tensor, float]]:
    """The weights of every pair, (pieces and end, pieces), and its score."""
    output = model(batch)
    ids, logits = batch.target, output.logits.float()
    # As where the network writes on its own: what stands for nothing in a text is never written.
    logits[:, [PADDING, START]] = -math.inf
    logs = torch.log_softmax(logits, 1).gather(1, ids.values[:, None])[:, 0]
    scores = [float(row.mean()) for row in ids.with_values(logs.cpu()).rows()]
    widths = batch.source.by_document.lengths.tolist()
    sizes = [steps * width for steps, width in zip(ids.host_lengths, widths, strict=True)]
    (cross,) = output.attention
    weights = cross.weights.values.float().cpu().split(sizes)
    shaped = [part.reshape(-1, width) for part, width in zip(weights, widths, strict=True)]
    return list(zip(shaped, scores, strict=True))


def _blind(source: CutText, target: CutText) -> Alignment:
    return _alignment(source, target, torch.zeros(len(target.ids) + 1, len(source.ids)), 0.0)


def _alignment(source: CutText, target: CutText, weights: torch.Tensor, score: float) -> Alignment:
    return Alignment(
        source=source.tokens.text,
        target=target.tokens.text,
        source_spans=tuple(map(tuple, source.tokens.spans.tolist())),
        target_spans=tuple(map(tuple, target.tokens.spans.tolist())),
        weights=weights[:-1].numpy(),  # the last is the end's, which is no piece of the text
        score=score,
    )
