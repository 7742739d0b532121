"""Letting a fitted network write about texts: in bounded batches, answers in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from ..data.pairs import collate_sources
from ..data.runs import cut_runs
from ..models.seq2seq import Seq2Seq
from ..nn.decoding.search import Hypothesis
from ..records.alignment import Alignment
from ..records.translation import Candidate
from ..tasks.generate import GenerationConfig, generate
from ..text.units import END, CutText, Units, spelled
from ..text.vocab import UNKNOWN
from ..training.seeds import derived_seed

__all__ = ["TextWriter", "Wrote"]

BATCH_TEXTS = 128
"""How many texts are written about together."""
BATCH_PIECES = 8192
"""How many pieces they may have together; bounds the memory of one batch."""


_NOTHING = Hypothesis(
    torch.zeros(0, dtype=torch.int64), 0.0, 0.0, ended=True, weights=torch.zeros(0, 0)
)


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

    def write(self, model: Seq2Seq, texts: Sequence[str], config: GenerationConfig) -> list[Wrote]:
        """Write about each text, in batches of similar lengths; about an empty one nothing."""
        pieces = self.source_units.encode(texts)
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
        ids, copies = _written_ids(found), _copies(wrote, rank)
        units = self.target_units
        text = spelled(units, ids, copies).text if copies else units.decode(ids)
        return Candidate(text, found.score, found.log_probability, found.ended)

    def alignment(self, wrote: Wrote, rank: int = 0) -> Alignment:
        """Say of what was written, by default of the best, where each of its pieces looked."""
        best, source = wrote.found[rank], wrote.source.tokens
        assert best.weights is not None  # whoever asks has made sure that there is attention
        ids, copies = _written_ids(best), _copies(wrote, rank)
        target = spelled(self.target_units, ids, copies)
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


def _written_ids(found: Hypothesis) -> list[int]:
    """What was written, without the end: it is the last, if it is there."""
    return [id for id in found.ids.tolist() if id != END]


def _copies(wrote: Wrote, rank: int) -> dict[int, str]:
    """What stands in the place of each unknown piece: what it looked at most in the source.

    As in Luong et al., "Addressing the rare word problem in neural machine translation" (2015).
    Without attention nothing is copied.
    """
    found, source = wrote.found[rank], wrote.source.tokens
    places = [place for place, id in enumerate(_written_ids(found)) if id == UNKNOWN]
    # A piece of white space alone has nothing to copy.
    readable = np.flatnonzero(source.spans[:, 1] > source.spans[:, 0])
    if found.weights is None or not len(readable):
        return {}
    spans = source.spans[[readable[int(found.weights[p][readable].argmax())] for p in places]]
    return {
        place: source.text[start:end]
        for place, (start, end) in zip(places, spans.tolist(), strict=True)
    }
