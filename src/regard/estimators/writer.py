"""What a fitted network writes about texts, and where it looks: in bounded batches, in order.

It writes on its own, or is told what to write and says where it looks meanwhile.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from ..data.batches import cut_runs
from ..data.pairs import EncodedPairs, Pair, PairBatch, collate_sources
from ..models.base import PairModel
from ..nn.decoding.search import Hypothesis
from ..nn.dropout import in_evaluation
from ..records.alignment import Alignment
from ..records.translation import Candidate
from ..tasks.generate import GenerationConfig, generate, written_ids
from ..text.units import START, Units, spell
from ..text.vocab import PADDING, UNKNOWN, CutText, cut_texts
from ..training.seeds import derived_seed

__all__ = ["TextWriter", "Wrote", "align_pairs", "of_chunk"]

BATCH_TEXTS = 128
"""How many texts are written about together."""
ALIGNED_PAIRS = 64
"""How many pairs are aligned together."""
BATCH_PIECES = 8192
"""How many pieces either may have together; bounds the memory of one batch."""


_NOTHING = Hypothesis(
    torch.zeros(0, dtype=torch.int64), 0.0, 0.0, ended=True, weights=torch.zeros(0, 0)
)


def of_chunk(config: GenerationConfig, number: int) -> GenerationConfig:
    """Return how to write about a chunk of many sources: its draws are no other chunk's."""
    return replace(config, seed=derived_seed(config.seed, "chunk", number)) if number else config


@dataclass(frozen=True, slots=True, eq=False)
class Wrote:
    """One text in pieces, and what the network wrote about it, best first."""

    source: CutText
    found: list[Hypothesis]


@dataclass(frozen=True, eq=False)
class TextWriter:
    """Cuts texts as the training data were cut, and makes texts of what is written."""

    source_units: Units
    target_units: Units
    device: torch.device

    def write(
        self, model: PairModel, texts: Sequence[str], config: GenerationConfig
    ) -> list[Wrote]:
        """Write about each text, in batches of similar lengths; about an empty one nothing."""
        pieces = cut_texts(texts, self.source_units)
        lengths = np.array([len(piece.ids) for piece in pieces], dtype=np.int64)
        order = np.argsort(lengths, kind="stable")[np.count_nonzero(lengths == 0) :]
        wrote = [Wrote(piece, [_NOTHING]) for piece in pieces]
        runs = cut_runs(lengths[order], most_items=BATCH_TEXTS, most_total=BATCH_PIECES)
        for number, run in enumerate(runs):
            places = order[run].tolist()
            batch = collate_sources([pieces[place] for place in places]).to(self.device)
            # The draws of a batch are its own, or texts at the same place would share theirs.
            drawn = replace(config, seed=derived_seed(config.seed, "sample", number))
            for place, found in zip(places, generate(model, batch, drawn), strict=True):
                wrote[place] = Wrote(pieces[place], found)
        return wrote

    def candidate(self, wrote: Wrote, rank: int = 0) -> Candidate:
        """Make a text of what was written, by default of the best."""
        found = wrote.found[rank]
        ids, copies = written_ids(found), _copies(wrote, rank)
        units = self.target_units
        text = spell(units, ids, copies).text if copies else units.decode(ids)
        return Candidate(text, found.score, found.log_probability, found.ended)

    def alignment(self, wrote: Wrote, rank: int = 0) -> Alignment:
        """Say of what was written, by default of the best, where each of its pieces looked."""
        best, source = wrote.found[rank], wrote.source.tokens
        assert best.weights is not None  # whoever asks has made sure that there is attention
        ids, copies = written_ids(best), _copies(wrote, rank)
        target = spell(self.target_units, ids, copies)
        return Alignment(
            source=source.text,
            target=target.text,
            source_spans=tuple(map(tuple, source.spans.tolist())),
            target_spans=tuple(map(tuple, target.spans.tolist())),
            weights=best.weights[: len(ids)].float().numpy().reshape(len(ids), len(source.spans)),
            score=best.score,
            ended=best.ended,
            copied=tuple(copies),
        )


def _copies(wrote: Wrote, rank: int) -> dict[int, str]:
    """What stands in the place of each unknown piece: what it looked at most in the source.

    As in Luong et al., "Addressing the rare word problem in neural machine translation" (2015).
    Without attention nothing is copied.
    """
    found, source = wrote.found[rank], wrote.source.tokens
    places = [place for place, id in enumerate(written_ids(found)) if id == UNKNOWN]
    # A piece of white space alone has nothing to copy.
    readable = np.flatnonzero(source.spans[:, 1] > source.spans[:, 0])
    if found.weights is None or not len(readable):
        return {}
    spans = source.spans[[readable[int(found.weights[p][readable].argmax())] for p in places]]
    return {
        place: source.text[start:end]
        for place, (start, end) in zip(places, spans.tolist(), strict=True)
    }


@torch.no_grad()
def align_pairs(model: PairModel, writer: TextWriter, pairs: Sequence[Pair]) -> list[Alignment]:
    """Say for each pair where each piece of its target looks, told every piece before it.

    The score is the mean log-probability of the target's pieces and its end.
    """
    sources = cut_texts([pair.source for pair in pairs], writer.source_units)
    targets = cut_texts([pair.target for pair in pairs], writer.target_units)
    found = [_blind(*both) for both in zip(sources, targets, strict=True)]
    encoded = EncodedPairs([one.ids for one in sources], [one.ids for one in targets])
    # Nothing is looked at where the source has no pieces.
    readable = np.array(
        [place for place, one in enumerate(sources) if len(one.ids)], dtype=np.int64
    )
    order = readable[np.argsort(encoded.lengths[readable], kind="stable")]
    limits = {"most_items": ALIGNED_PAIRS, "most_total": BATCH_PIECES}
    with in_evaluation(model):
        for run in cut_runs(encoded.lengths[order], **limits):
            places = order[run].tolist()
            looked = _looked(model, encoded.batch(places).to(writer.device))
            for place, (weights, score) in zip(places, looked, strict=True):
                found[place] = _alignment(sources[place], targets[place], weights, score)
    return found


def _looked(model: PairModel, batch: PairBatch) -> list[tuple[torch.Tensor, float]]:
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
