"""Which method of explanation suits a fitted classifier best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from ..data.batch import Batch
from ..data.batches import cut_runs
from ..errors import ConfigError, DataError
from ..explain.answers import Answers
from ..explain.fitted import Fitted
from ..explain.methods import METHODS, methods_for
from ..explain.receipts import comprehensiveness
from ..ragged import Ragged
from ..text.document import Tokens
from ..text.vocab import Vocab
from ..training.devices import device_of
from .training_documents import Prepared

__all__ = [
    "COST",
    "affordable_words",
    "best_method",
    "best_method_held_out",
    "spelled",
    "words_to_try",
]

DOCUMENTS = 50
"""How many held-out documents the methods are tried on, at most."""
DOCUMENT_WORDS = 300
"""How much is read of each of them: its first words, so that long documents cost no more."""
FEWEST_WORDS = 3000
"""What all of them may have together after any training: a second or two, ten long documents."""
COST = 35
"""Trying all methods on a word takes about as long as training on it so many times."""
AS_GOOD = 0.01
"""Mean probability by which a quicker method may be behind the best and still be chosen.

On reviews quick methods are hardly behind at all. Where two sentences decide together and none does
alone, they are behind by little more than this, and miss some of the words that decide."""
QUICK = 30
"""Readings of a text that nobody notices: the receipt of an explanation takes more."""
SHARE = 0.15
"""The share of a training's time that the choice may take."""
BATCH_WORDS = 2000
"""How many words are tried together; after each method on them the choice can be ended."""


def affordable_words(trained_words: int) -> int:
    """Return how many words the methods may be tried on after a training on so many.

    Counted in words, not in seconds: the same seed chooses the same method on every machine.
    """
    return max(FEWEST_WORDS, int(SHARE * trained_words / COST))


def best_method(fitted: Fitted, texts: Sequence[str]) -> str:
    """Return the method whose heaviest words and sentences the answers miss most.

    Compared by the mean comprehensiveness over the texts, which training must not have seen. Of
    methods that are as good, up to noise or 0.01, the quickest: it will be asked for every text.
    """
    if not texts:
        raise DataError("choosing a method of explanation needs some texts to try it on")
    return _best(answers for _, answers in fitted.answers(texts))


def best_method_held_out(
    fitted: Fitted,
    data: Prepared,
    *,
    seed: int = 0,
    most_words: int = FEWEST_WORDS,
    report: Callable[[int, int], None] = lambda done, total: None,
) -> str:
    """Return the best method on documents held out from training; where none were, on others.

    ``report`` is told how much of the work is done, and of how much.
    """
    chosen = _drawn(data, seed, most_words)
    lengths = np.minimum(data.corpus.lengths[chosen], DOCUMENT_WORDS)
    runs = list(cut_runs(lengths, most_items=len(chosen), most_total=BATCH_WORDS))
    device = device_of(fitted.model)
    total = len(runs) * len(methods_for(fitted.model))

    def answered() -> Iterator[Answers]:
        for run in runs:
            batch = _beginnings(data.corpus.batch(chosen[run]))
            yield fitted.answer(spelled(batch, data.vocab).to(device))

    return _best(answered(), lambda done: report(done, total))


def spelled(batch: Batch, vocab: Vocab) -> Batch:
    """Give a batch that came without its texts some: the words of its ids, a space between."""
    ids = batch.ids.values.split(batch.by_document.host_lengths)
    lengths = batch.ids.lengths.split(batch.sentences.tolist())
    texts = []
    for words, per_sentence in zip(ids, lengths, strict=True):
        written = [vocab.words[number] for number in words.tolist()]
        sizes = np.array([len(word) for word in written], dtype=np.int32)
        starts = np.cumsum(sizes + 1) - sizes - 1
        spans = np.stack([starts, starts + sizes], axis=1).astype(np.int32)
        texts.append(Tokens(" ".join(written), spans, per_sentence.numpy().astype(np.int32)))
    return replace(batch, texts=tuple(texts))


def words_to_try(data: Prepared, seed: int, most_words: int) -> int:
    """Return how many words of held-out documents the methods will be tried on."""
    chosen = _drawn(data, seed, most_words)
    return int(np.minimum(data.corpus.lengths[chosen], DOCUMENT_WORDS).sum())


def _drawn(data: Prepared, seed: int, most_words: int) -> NDArray[np.int64]:
    """Draw held-out documents until they have so many words together; one is always drawn."""
    # Whether an answer rests on some words can be asked of any text: training texts will do.
    known = data.validation if len(data.validation) else data.training
    drawn = np.random.default_rng(seed).permutation(known)[:DOCUMENTS]
    words = np.cumsum(np.minimum(data.corpus.lengths[drawn], DOCUMENT_WORDS))
    return drawn[: max(1, int((words <= most_words).sum()))]


def _beginnings(batch: Batch) -> Batch:
    """Keep the first words of each document; a sentence of which none is left goes too."""
    documents = batch.by_document
    places = torch.arange(len(documents.row_ids)) - documents.offsets[documents.row_ids]
    kept = places < DOCUMENT_WORDS
    lengths = torch.zeros_like(batch.ids.lengths).index_add(0, batch.ids.row_ids, kept.long())
    owners = torch.repeat_interleave(torch.arange(len(batch)), batch.sentences)[lengths > 0]
    return replace(
        batch,
        ids=Ragged(batch.ids.values[kept], lengths[lengths > 0]),
        sentences=torch.bincount(owners, minlength=len(batch)),
    )


def _best(batches: Iterable[Answers], report: Callable[[int], None] = lambda done: None) -> str:
    losses: dict[str, list[float]] = {}
    unfit: set[str] = set()
    done = 0
    for answers in batches:
        for name in methods_for(answers.model):
            report(done)
            done += 1
            try:
                explained = METHODS[name].explain(answers)
            except ConfigError:  # such as attention of a network that has none
                unfit.add(name)
                continue
            losses.setdefault(name, []).extend(comprehensiveness(answers, explained).tolist())
    return _quickest_of_the_best({name: losses[name] for name in losses if name not in unfit})


def _quickest_of_the_best(losses: dict[str, list[float]]) -> str:
    """The quickest method whose losses, document by document, are as good as the best one's.

    Of those that take less than the receipt does, the best.
    """
    best = np.array(max(losses.values(), key=np.mean))
    as_good = []
    for name, found in losses.items():
        behind = best - np.array(found)
        noise = float(behind.std()) / len(behind) ** 0.5
        if behind.mean() <= max(AS_GOOD, noise):
            as_good.append(name)

    def cost(name: str) -> tuple[int, float]:
        return max(METHODS[name].readings, QUICK), -float(np.mean(losses[name]))

    return min(as_good, key=cost)
