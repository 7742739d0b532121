"""Rankings that an opponent would bring: they look at the text alone, or at a network untaught.

Whoever claims that an explanation finds what people marked, or what an answer rests on, must do
better than these: words by where they stand, short sentences, rare words, TF-IDF, the weights of
a linear model over words and word pairs, and the network's own vectors under shuffled weights.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ..explain.answers import Answers, explanations, levels
from ..explain.fitted import Fitted
from ..explain.methods import METHODS
from ..models.base import Model
from ..records.audit import FEWEST_DOCUMENTS, Rival
from ..records.explanation import Explanation
from ..records.measures import MEASURES
from ..tasks.baselines import TfidfBaseline
from ..tasks.bootstrap import percentiles
from .tally import DRAWS, Tally

__all__ = ["OPPONENTS", "Opponents", "best_rivals"]

Floats = NDArray[np.float64]

CLAIMED = (
    "comprehensiveness",
    "sufficiency",
    "comprehensiveness_sentence",
    "sufficiency_sentence",
    "auprc",
    "auprc_word",
    "auprc_sentence",
    "token_f1",
    "iou_f1",
)
"""The measures by which a method is claimed to be good."""


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One text as a ranking without a model sees it, word by word."""

    ids: NDArray[np.int64]  # rising from frequent to rare words
    homes: NDArray[np.int64]  # the sentence of each word
    rarity: Floats  # the logarithm of one over the share of texts that have the word

    @property
    def place(self) -> Floats:
        """Where each word stands, from 0 to 1."""
        return np.arange(len(self.ids)) / max(len(self.ids), 1)


def _tf_idf(seen: Seen) -> Floats:
    return np.bincount(seen.ids)[seen.ids] * seen.rarity if len(seen.ids) else np.zeros(0)


OPPONENTS: dict[str, Callable[[Seen], Floats]] = {
    "first words": lambda seen: 1 - seen.place,
    "last words": lambda seen: 1 / max(len(seen.ids), 1) + seen.place,
    "short sentences": lambda seen: 1 / np.bincount(seen.homes).astype(np.float64)[seen.homes],
    "rare words": lambda seen: 1 + seen.ids.astype(np.float64),
    "TF-IDF": _tf_idf,
}
"""What ranks the words of a text without any model, by its name: a score for each word."""


class Opponents:
    """Ranks the words of documents as opponents would, for what a model has answered about them."""

    def __init__(
        self,
        fitted: Fitted,
        texts: Sequence[str],
        *,
        linear: TfidfBaseline | None = None,
        seed: int = 0,
    ) -> None:
        """Count in how many ``texts`` each word stands; ``linear`` is known for some models."""
        self._method = METHODS[fitted.default_method]
        self._untaught = _shuffle_all_but_vectors(fitted.model, seed)
        self._linear = linear
        counts = np.zeros(len(fitted.reader.vocab), dtype=np.int64)
        for read in fitted.reader.batches(texts):
            ids = read.batch.ids.values.split(read.batch.by_document.host_lengths)
            for words in ids:
                counts[np.unique(words.cpu().numpy())] += 1
        self._rarity = np.log((1 + len(texts)) / (1 + counts))

    def explain(self, answers: Answers) -> dict[str, list[Explanation]]:
        """Rank the words and sentences of every document, by each opponent."""
        seen = [self._see(answers, place) for place in range(len(answers.batch))]
        found = {
            name: _explanations(answers, name, [rank(one) for one in seen])
            for name, rank in OPPONENTS.items()
        }
        if self._linear is not None:
            scores = [
                self._linear.word_weights(text.words(), answers.chosen[place][0])
                for place, text in enumerate(answers.batch.texts)
            ]
            found["linear n-grams"] = _explanations(answers, "linear n-grams", scores)
        with torch.no_grad():
            asked = replace(answers, model=self._untaught, output=self._untaught(answers.batch))
        found["shuffled weights"] = self._method.explain(asked)
        return found

    def _see(self, answers: Answers, place: int) -> Seen:
        text = answers.batch.texts[place]
        first = sum(len(one) for one in answers.batch.texts[:place])
        ids = answers.batch.ids.values[first : first + len(text)].cpu().numpy()
        homes = np.repeat(np.arange(len(text.per_sentence)), text.per_sentence)
        return Seen(ids, homes, self._rarity[ids])


def best_rivals(own: Tally, others: Mapping[str, Tally], seed: int = 0) -> tuple[Rival, ...]:
    """Hold the measures of one method against the best opponent each, document by document."""
    found = []
    for name in CLAIMED:
        if name not in MEASURES or not own.values(name):
            continue
        sign = -1.0 if MEASURES[name].better == "low" else 1.0
        values = {one: np.array(tally.values(name)) for one, tally in others.items()}
        values = {one: rows for one, rows in values.items() if len(rows) == len(own.values(name))}
        if not values:
            continue
        best = max(values, key=lambda one: sign * float(values[one].mean()))
        lead = sign * (np.array(own.values(name)) - values[best])
        interval = None
        if len(lead) >= FEWEST_DOCUMENTS:
            draws = np.random.default_rng(seed).integers(len(lead), size=(DRAWS, len(lead)))
            interval = percentiles(lead[draws].mean(1))
        mean = float(values[best].mean())
        found.append(Rival(name, best, mean, float(lead.mean()), interval, len(lead)))
    return tuple(found)


def _explanations(answers: Answers, name: str, scores: Sequence[Floats]) -> list[Explanation]:
    """Weigh words and sentences by the mean of their tokens' scores."""
    decisions = []
    for place, tokens in enumerate(scores):
        text = answers.batch.texts[place]
        sizes = np.maximum(text.per_sentence, 1)
        homes = np.repeat(np.arange(len(text.per_sentence)), text.per_sentence)
        sums = np.bincount(homes, weights=tokens, minlength=len(sizes))
        words = text.sum_by_word(tokens) / text.sum_by_word(np.ones(len(tokens)))
        weights = levels(text, words.tolist(), (sums / sizes).tolist(), unit="score")
        decisions.append([answers.decision(place, answers.chosen[place][0], weights)])
    return explanations(answers, name, decisions)


def _shuffle_all_but_vectors(model: Model, seed: int) -> Model:
    """A copy whose parameters hold their numbers in another order; word vectors stay."""
    copied = copy.deepcopy(model).eval()
    draw = torch.Generator().manual_seed(seed)
    kept = {id(parameter) for parameter in copied.embedding.parameters()}
    with torch.no_grad():
        for parameter in copied.parameters():
            if id(parameter) not in kept:
                order = torch.randperm(parameter.numel(), generator=draw).to(parameter.device)
                parameter.copy_(parameter.flatten()[order].view_as(parameter))
    return copied
