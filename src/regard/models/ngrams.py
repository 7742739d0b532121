"""Word n-grams with weights: the linear part of a model, whose share of an answer is exact.

A document's features are the runs of up to three words that it holds, never across the end of a
sentence. A feature that occurs n times has the value (1 + ln n) * rarity, times what the sentences
in which it stands count on average, and the values of a document are divided by their length as a
vector. A logit is the weighted sum of the values.

How much a sentence counts may hang on where it stands, and on how it looks beside the passages that
people marked as reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..data.batches import row_sums
from ..kernels.ngrams import KeptTable, available
from ..text.vocab import PADDING, UNKNOWN

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "LONGEST",
    "SELDOM",
    "Counted",
    "Emphasis",
    "Marking",
    "NGramTable",
    "Occurrences",
    "Picks",
    "Rows",
    "Values",
    "count_ngrams",
    "find_ngrams",
    "weigh_tables",
]

LONGEST = 3
"""Words of an n-gram at most, so that their ids fit into one key."""
_BITS = 21  # of each id in a key; a word with a higher id, the two-millionth, is in no n-gram

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Documents as ids, laid end to end."""

    ids: Ids  # (tokens,)
    sentence_lengths: Ids  # (sentences,)
    sentences: Ids  # (documents,)

    @property
    def homes(self) -> Ids:
        """The document of each token, (tokens,)."""
        lengths = row_sums(self.sentence_lengths, self.sentences)
        return np.repeat(np.arange(len(self.sentences)), lengths)

    def having(self, chosen: NDArray[np.bool_]) -> Rows:
        """Some of the documents, (documents,)."""
        sentences = np.repeat(chosen, self.sentences)
        tokens = np.repeat(sentences, self.sentence_lengths)
        return Rows(self.ids[tokens], self.sentence_lengths[sentences], self.sentences[chosen])


@dataclass(frozen=True, slots=True)
class Emphasis:
    """How much more n-grams count in the first and in the last sentences of a text.

    A sentence at the place r, which goes from 0 to 1 along a text, counts
    1 + first * (1 - r)^2 + last * r^2. A text of one sentence has no ends.
    """

    first: float = 0.0
    last: float = 0.0

    def __bool__(self) -> bool:
        """Whether sentences count differently at all."""
        return bool(self.first or self.last)

    def heights(self, sentences: Ids) -> Floats:
        """How much each sentence counts, (sentences,), given how many each document has."""
        starts = np.cumsum(sentences) - sentences
        numbers = np.arange(int(sentences.sum())) - np.repeat(starts, sentences)
        places = (numbers + 0.5) / np.repeat(sentences, sentences)
        heights: Floats = 1 + self.first * (1 - places) ** 2 + self.last * places**2
        return heights


SELDOM = 2.0
"""In log-odds, how far a sentence like any other is from counting half of what one can at most."""


@dataclass(frozen=True, slots=True, eq=False)
class Marking:
    """How much more n-grams count in sentences like those that people marked as reasons.

    A sentence counts 1 / (1 + exp(2 - m)), where m is the mean over its words of how much likelier
    than usual people are to mark them, in log-odds. One without words counts like any other.
    """

    log_odds: NDArray[np.float32]  # by id; that of padding, and of ids beyond, is none

    def heights(self, ids: Ids, lengths: Ids) -> Floats:
        """How much each sentence counts, (sentences,), given the ids of all, laid end to end."""
        homes = np.repeat(np.arange(len(lengths)), lengths)
        known = np.where(ids < len(self.log_odds), ids, PADDING)
        sums = np.bincount(homes, self.log_odds[known], minlength=len(lengths))
        means = sums / np.maximum(lengths, 1)
        heights: Floats = 1 / (1 + np.exp(SELDOM - means))
        return heights


@dataclass(frozen=True, slots=True, eq=False)
class Picks:
    """Documents put together from sentences, many of them from the same ones."""

    ids: Ids  # (tokens,) of the sentences, laid end to end
    lengths: Ids  # (sentences,)
    numbers: Ids  # the sentences of all documents, one document after the other
    counts: Ids  # (documents,), how many each has

    @property
    def rows(self) -> Rows:
        """The same documents in full."""
        lengths = self.lengths[self.numbers]
        shifts = (np.cumsum(self.lengths) - self.lengths)[self.numbers]
        shifts -= np.cumsum(lengths) - lengths
        ids = self.ids[np.arange(lengths.sum()) + np.repeat(shifts, lengths)]
        return Rows(ids, lengths, self.counts)


@dataclass(frozen=True, slots=True, eq=False)
class Occurrences:
    """N-grams of one length as they occur: which, and at which token each begins."""

    keys: Ids  # (occurrences,)
    starts: Ids  # (occurrences,), rising
    size: int  # words of each


def find_ngrams(rows: Rows, longest: int = LONGEST) -> list[Occurrences]:
    """Find all n-grams of known words, a list for each length from 1.

    The key of an n-gram holds the ids of its words, so no two have the same.
    """
    ids, lengths = rows.ids, rows.sentence_lengths
    left = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(ids))  # in the sentence
    known = (ids > UNKNOWN) & (ids < 1 << _BITS)
    keys, holds = ids, known
    found = [Occurrences(keys[holds], np.flatnonzero(holds), 1)]
    for size in range(2, longest + 1):
        keys = (keys[:-1] << _BITS) | ids[size - 1 :]
        holds = holds[:-1] & known[size - 1 :] & (left[: len(keys)] >= size)
        found.append(Occurrences(keys[holds], np.flatnonzero(holds), size))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The features of documents and their values, laid end to end."""

    features: Ids  # (values,), rising within a document
    values: NDArray[np.float32]  # (values,)
    counts: Ids  # (documents,), how many features each has

    def matrix(self, feature_count: int) -> csr_matrix:
        """The same as a matrix, (documents, features)."""
        from scipy.sparse import csr_matrix

        ends = np.concatenate([[0], np.cumsum(self.counts)])
        return csr_matrix((self.values, self.features, ends), (len(self.counts), feature_count))

    def weighed_by(self, weights: NDArray[np.floating]) -> Floats:
        """Add up the weights of each document's features, (documents, classes)."""
        homes = np.repeat(np.arange(len(self.counts)), self.counts)
        sums = [
            np.bincount(homes, self.values * column[self.features], minlength=len(self.counts))
            for column in weights.T
        ]
        return np.stack(sums, axis=1)


@dataclass(frozen=True, eq=False)
class NGramTable:
    """The n-grams that are features, and how rare each is."""

    keys: Ids  # (features,), rising
    rarity: NDArray[np.float32]  # (features,), what a single occurrence is worth
    longest: int = LONGEST
    emphasis: Emphasis = Emphasis()
    marking: Marking | None = None

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def uneven(self) -> bool:
        """Whether sentences count differently at all."""
        return bool(self.emphasis) or self.marking is not None

    def counts_like(self, other: NGramTable) -> bool:
        """Whether every sentence counts as much by the one as by the other."""
        return self.emphasis == other.emphasis and self.marking is other.marking

    def values(self, rows: Rows) -> Values:
        """Find the features of documents and their values."""
        return self._valued(self._hits(rows), len(rows.sentences))[0]

    def weigh(self, rows: Rows, weights: NDArray[np.float32], *, threads: int = 1) -> Floats:
        """Add up the weights of each document's features, (documents, classes).

        The same as ``values(rows).weighed_by(weights)``, in C where there is a compiled kernel.
        """
        return weigh_tables([self], [weights], rows, threads=threads)[0]

    def weigh_picks(
        self, picks: Picks, weights: NDArray[np.float32], *, threads: int = 1
    ) -> Floats:
        """Do as ``weigh`` for documents put together from sentences, (documents, classes).

        The same as ``weigh(picks.rows, weights)``. N-grams end with their sentence, so those of a
        sentence are found once, in however many documents it is.
        """
        if not available() or not len(self):
            return self.weigh(picks.rows, weights)
        found = picks.ids, picks.lengths, picks.numbers, picks.counts
        heights = self.emphasis.heights(picks.counts) if self.uneven else None
        if heights is not None and self.marking is not None:
            heights *= self.marking.heights(picks.ids, picks.lengths)[picks.numbers]
        return self._kept.weigh_picks(*found, weights, heights=heights, threads=threads)

    @cached_property
    def _kept(self) -> KeptTable:
        return KeptTable(self.keys, self.rarity, self.longest)

    def word_shares(self, rows: Rows, weights: NDArray[np.float32], *, threads: int = 1) -> Floats:
        """Return what each token adds to the logits of its document, (tokens, classes).

        ``weights``, (features, classes), are those of the features. The share of an n-gram is split
        evenly over its words, and that of one that occurs several times over its occurrences, each
        of which gets as much as its sentence counts. So all tokens of a document together add what
        its features do.
        """
        if not available() or not len(self):
            return self.plain_word_shares(rows, weights)
        found = rows.ids, rows.sentence_lengths, rows.sentences
        heights = self._heights(rows)
        return self._kept.share(*found, weights, heights=heights, threads=threads)

    def _heights(self, rows: Rows) -> Floats | None:
        """How much n-grams count at each token, (tokens,); None: all the same."""
        if not self.uneven:
            return None
        heights = self.emphasis.heights(rows.sentences)
        if self.marking is not None:
            heights *= self.marking.heights(rows.ids, rows.sentence_lengths)
        return np.repeat(heights, rows.sentence_lengths)

    def plain_word_shares(self, rows: Rows, weights: NDArray[np.floating]) -> Floats:
        """Do as ``word_shares``, which is the same in C, without a compiled kernel."""
        hits = self._hits(rows)
        values, places = self._valued(hits, len(rows.sentences))
        heights = np.bincount(places, hits.heights, minlength=len(values.values))
        worth = (values.values / heights)[places] * hits.heights / hits.sizes
        shares = np.zeros((len(rows.ids), weights.shape[1]))
        for offset in range(self.longest):
            inside = hits.sizes > offset
            words, features = hits.starts[inside] + offset, hits.features[inside]
            for number, column in enumerate(weights.T):
                added = worth[inside] * column[features]
                shares[:, number] += np.bincount(words, added, minlength=len(shares))
        return shares

    def _hits(self, rows: Rows) -> _Hits:
        """Find where features occur."""
        found = find_ngrams(rows, self.longest)
        keys = np.concatenate([part.keys for part in found])
        starts = np.concatenate([part.starts for part in found])
        sizes = np.concatenate([np.full(len(part.keys), part.size) for part in found])
        places = np.searchsorted(self.keys, keys)
        there = np.flatnonzero(places < len(self.keys))
        there = there[self.keys[places[there]] == keys[there]]
        features, starts = places[there], starts[there]
        pairs = rows.homes[starts] * len(self) + features
        by_token = self._heights(rows)
        heights = np.ones(len(there)) if by_token is None else by_token[starts]
        return _Hits(features, starts, sizes[there], heights, pairs)

    def _valued(self, hits: _Hits, document_count: int) -> tuple[Values, Ids]:
        """The values of features where they occur, and which of them each hit is of, (hits,)."""
        pairs, places, counts = np.unique(hits.pairs, return_inverse=True, return_counts=True)
        homes, features = pairs // max(len(self), 1), pairs % max(len(self), 1)
        rarity = self.rarity[features].astype(np.float64)
        if self.uneven:
            rarity *= np.bincount(places, hits.heights, minlength=len(pairs)) / counts
        values = _valued(counts, rarity, homes, document_count)
        return Values(features, values, np.bincount(homes, minlength=document_count)), places


def weigh_tables(
    tables: Sequence[NGramTable],
    weights: Sequence[NDArray[np.float32]],
    rows: Rows,
    *,
    threads: int = 1,
) -> list[Floats]:
    """Do as ``weigh`` for several tables, those of words alone together with the first."""
    pairs = list(zip(tables, weights, strict=True))
    if not available() or not all(map(len, tables)):
        return [table.values(rows).weighed_by(own) for table, own in pairs]
    first, own = pairs[0]
    if any(one.longest > 1 or not one.counts_like(first) for one in tables[1:]):
        return [table.weigh(rows, own, threads=threads) for table, own in pairs]
    return first._kept.weigh(
        rows.ids,
        rows.sentence_lengths,
        rows.sentences,
        own,
        others=[(table._kept, theirs) for table, theirs in pairs[1:]],
        heights=first._heights(rows),
        threads=threads,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Hits:
    """Features where they occur."""

    features: Ids  # (hits,)
    starts: Ids  # (hits,), the first token of each
    sizes: Ids  # (hits,), words of each
    heights: Floats  # (hits,), how much the sentence of each counts
    pairs: Ids  # (hits,), one number for the document and the feature


def _valued(
    counts: NDArray[np.number],
    rarity: NDArray[np.floating],
    homes: NDArray[np.integer],
    document_count: int,
) -> NDArray[np.float32]:
    """The values of features that occur so often in the documents at ``homes``."""
    values = (1 + np.log(counts)) * rarity.astype(np.float64)
    squares = np.bincount(homes, values**2, minlength=document_count)
    return (values / np.sqrt(squares)[homes]).astype(np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """The n-grams of some documents that are worth weighing, and the values they have in each."""

    keys: Ids  # (features,), rising
    values: csr_matrix  # (documents, features), float32
    rarity: NDArray[np.float32]  # (features,)


def count_ngrams(
    rows: Rows, *, longest: int = LONGEST, fewest: int = 2, most: int = 1 << 24
) -> Counted:
    """Count the n-grams that at least ``fewest`` documents have; more, if they are above ``most``.

    An n-gram is never in more documents than the shorter ones inside it, so a longer one is looked
    for only where those were kept.
    """
    from scipy.sparse import csc_matrix

    homes = rows.homes
    parts: list[_Counts] = []
    kept = np.ones(len(rows.ids), bool)  # whether the n-gram that begins here was kept
    for found in find_ngrams(rows, longest):
        inside = kept[found.starts] & kept[np.minimum(found.starts + 1, len(kept) - 1)]
        if found.size == 1:
            inside = kept[found.starts]
        starts = found.starts[inside]
        part = _count(found.keys[inside], homes[starts])
        parts.append(part)
        kept = np.zeros(len(rows.ids), bool)
        kept[starts[part.document_counts[part.places] >= fewest]] = True
    least = _least(np.concatenate([part.document_counts for part in parts]), fewest, most)
    parts = [part.having(least) for part in parts]
    document_counts = np.concatenate([part.document_counts for part in parts])
    rarity = (np.log((1 + len(rows.sentences)) / (1 + document_counts)) + 1).astype(np.float32)
    counts = np.concatenate([part.counts for part in parts])
    documents = np.concatenate([part.documents for part in parts])
    rare = np.repeat(rarity, document_counts)
    values = csc_matrix(
        (
            _valued(counts, rare, documents, len(rows.sentences)),
            documents,
            np.concatenate([[0], np.cumsum(document_counts)]),
        ),
        (len(rows.sentences), len(document_counts)),
    )
    keys = np.concatenate([part.keys for part in parts])
    return Counted(keys, values.tocsr(), rarity)


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Different n-grams of one length, and the documents of each, one n-gram after the other."""

    keys: Ids  # (features,), rising
    document_counts: Ids  # (features,)
    documents: Ids  # (pairs,)
    counts: Ids  # (pairs,)
    places: Ids  # (occurrences,), which n-gram each is

    def having(self, least: int) -> _Counts:
        """Those that so many documents have."""
        enough = self.document_counts >= least
        pairs = np.repeat(enough, self.document_counts)
        return _Counts(
            self.keys[enough],
            self.document_counts[enough],
            self.documents[pairs],
            self.counts[pairs],
            self.places[:0],
        )


def _count(keys: Ids, homes: Ids) -> _Counts:
    """Count how often each document has each n-gram; the documents of occurrences are rising."""
    order = np.argsort(keys, kind="stable")
    keys, homes = keys[order], homes[order]
    is_new = np.ones(len(keys), bool)
    is_new[1:] = keys[1:] != keys[:-1]
    is_pair = is_new.copy()
    is_pair[1:] |= homes[1:] != homes[:-1]
    firsts = np.flatnonzero(is_pair)
    numbers = np.cumsum(is_new) - 1
    places = np.empty_like(numbers)
    places[order] = numbers
    return _Counts(
        keys[is_new],
        np.bincount(numbers[firsts], minlength=int(is_new.sum())),
        homes[firsts],
        np.diff(firsts, append=len(keys)),
        places,
    )


def _least(document_counts: Ids, fewest: int, most: int) -> int:
    """The number of documents that an n-gram must be in so that at most ``most`` are left."""
    left = np.cumsum(np.bincount(document_counts, minlength=fewest + 1)[::-1])[::-1]
    enough = np.flatnonzero(left[fewest:] <= most)
    return fewest + (int(enough[0]) if len(enough) else len(left) - fewest)
