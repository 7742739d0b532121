"""Choose whether texts of few words are read by words or by letters.

Names of people, packages or substances are mostly new, and their letters tell what they are; in
other short texts, such as titles, words tell more. So where texts are short and many words new both
are tried: n-grams of words and of letters learn from one half of the texts, and are asked about the
other half.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from ..models.ngrams import Rows
from ..models.wide import WideConfig
from ..tasks.calibration import fit_temperature, log_losses
from ..tasks.predictions import Floats
from ..text.document import Document
from ..text.encode import encode
from ..text.tokenize import (
    MOST_UNSEEN,
    TextConfig,
    settle_hangul,
    share_of_new,
    tokenize_many,
)
from ..text.vocab import Vocab, settle_unknown
from ..training.ngrams import CLEARLY, LearningData, learn_ngrams

__all__ = ["FEW_WORDS", "settle_reading"]

SAMPLE = 200  # documents that tell whether texts are short
MOST_READ = 20_000  # short ones that are drawn from: files may be sorted by label
MOST_TRIED = 2_000
FEWEST_TRIED = 50
FEW_WORDS = 6.0
"""Words of a text on average, up to which its letters may tell more than its words."""
LEAST_SAVED = 0.1  # of the loss by words: of more texts than are tried words may know more


def settle_reading(
    documents: Iterable[Document], config: TextConfig
) -> tuple[TextConfig, Iterator[Document]]:
    """Choose what is a token where the settings leave it open; gives the documents back, too."""
    stream = iter(documents)
    first = list(islice(stream, SAMPLE))
    is_open = config.reading == config.hangul == "auto"
    if not is_open or not _are_names([one.text for one in first], config):
        return config, chain(first, stream)
    first += islice(stream, MOST_READ - SAMPLE)
    tried = [one for one in first if isinstance(one.label, str | int)]
    tried = tried[:: math.ceil(len(tried) / MOST_TRIED)] if tried else []
    letters = replace(config, reading="letters")
    if len(tried) >= FEWEST_TRIED:
        by_words = _losses(tried, config)
        saved = by_words - _losses(tried, letters)
        clear = saved.sum() > CLEARLY * saved.std() * math.sqrt(len(saved))
        if clear and saved.sum() > LEAST_SAVED * by_words.sum():
            config = letters
    return config, chain(first, stream)


def _are_names(texts: Sequence[str], config: TextConfig) -> bool:
    """Whether texts are of a few words, many of them new, which are not parted already."""
    if settle_hangul(texts, config).hangul == "syllables":
        return False
    words = [word for tokens in tokenize_many(texts, config) for word in tokens.words()]
    spelt = sum(len(word) > 1 for word in words) > len(words) / 2
    return spelt and len(words) <= FEW_WORDS * len(texts) and share_of_new(words) > MOST_UNSEEN


def _losses(documents: Sequence[Document], config: TextConfig) -> Floats:
    """The log loss of each document by n-grams of the other half, at the best temperature."""
    names = sorted({str(one.label) for one in documents})
    labels = np.array([names.index(str(one.label)) for one in documents])
    texts = [one.text for one in documents]
    # Every second of each class, whatever the order in the file.
    half = np.zeros(len(labels), np.int64)
    half[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % 2
    logits = np.zeros((len(labels), len(names)))
    for side in (0, 1):
        learnt, asked = np.flatnonzero(half != side), np.flatnonzero(half == side)
        logits[asked] = _answers(
            [texts[place] for place in learnt],
            labels[learnt],
            [texts[place] for place in asked],
            len(names),
            config,
        )
    return log_losses(logits, labels, fit_temperature(logits, labels))


def _answers(
    texts: Sequence[str],
    labels: NDArray[np.int64],
    asked: Sequence[str],
    class_count: int,
    config: TextConfig,
) -> Floats:
    """What n-grams that learnt from some texts say of others, (texts, classes)."""
    found = tokenize_many(texts, config)
    counts = Counter(word for tokens in found for word in tokens.words())
    vocab = Vocab.from_counts(counts, settle_unknown(config, counts))
    rows, others = (_rows(some, vocab, config) for some in (texts, asked))
    held_out = np.full(len(labels), -1)
    data = LearningData(rows, labels, class_count, held_out, words=vocab.words)
    learnt = learn_ngrams(data, WideConfig())
    usual = np.log(np.bincount(labels, minlength=class_count) + 1.0)
    if learnt is None:
        return np.tile(usual, (len(asked), 1))
    parts = learnt.parts(learnt.after, 1.0)
    weighed = [part.table.weigh(others, part.weights) for part in parts]
    answers: Floats = learnt.after.intercepts + sum(weighed)
    return answers


def _rows(texts: Sequence[str], vocab: Vocab, config: TextConfig) -> Rows:
    found = encode(texts, vocab, config)
    parts = (found.ids, found.sentence_lengths, found.sentences)
    return Rows(*(part.astype(np.int64) for part in parts))
