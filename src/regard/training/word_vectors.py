"""Word vectors learnt from texts alone: words that stand in the same company become alike.

How often two words stand near each other is counted, compared with chance, and put into few
numbers by a singular value decomposition (Levy, Goldberg and Dagan, 2015): what skip-gram learns by
many small steps, in seconds and without a learning rate. No label is needed, so it helps most where
labels are few and texts are many.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.sparse import csr_matrix

__all__ = ["TokenRows", "learn_vectors"]

_WINDOW = 5  # words on each side
_CONTEXTS = 6_000  # the most frequent words; the company of all words is described by them
_SMOOTHING = 0.75  # a rare companion is made less of a surprise
_ROUNDS = 2  # of the power method; more change the vectors little
_SPARE = 16  # columns that are dropped again, so that those kept are exact
_SPECIAL = 2  # padding and out-of-vocabulary have no company
_SPREAD = 0.3  # of the numbers, over all words
_OWN = 0.9  # the share of the spread that is each word's own; with less, rare evidence is lost


@dataclass(frozen=True, slots=True, eq=False)
class TokenRows:
    """The ids of many words, sentence after sentence."""

    ids: NDArray[np.int64]  # (tokens,)
    sentence_lengths: NDArray[np.int64]  # (sentences,)


def learn_vectors(
    texts: Iterable[TokenRows], *, word_count: int, size: int, seed: int
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Return a vector for each of ``word_count`` words, (words, size), and which words have one.

    Those without company in the texts have none. A part of each vector is drawn for that word
    alone: from company alone, words that are used alike, such as "granted" and "denied", would be
    one word to a network, and it would hardly find that they mean opposite things.
    """
    together = _count_pairs(texts, word_count)
    known = np.diff(together.indptr) > 0
    vectors = np.zeros((word_count, size), np.float32)
    rank = min(size, int(known.sum()) - 1, together.shape[1] - 1)
    if rank < 1:
        return vectors, np.zeros(word_count, bool)
    found = _decompose(_surprise(together), rank, seed)
    spread = float(np.sqrt(np.square(found[known]).sum() / (known.sum() * size)))
    if not spread > 0:
        return vectors, np.zeros(word_count, bool)
    vectors[:, :rank] = found * np.float32(np.sqrt(1 - _OWN**2) / spread)
    own = np.random.default_rng(seed).standard_normal((word_count, size), np.float32)
    vectors[known] = _SPREAD * (vectors[known] + _OWN * own[known])
    return vectors, known


def _count_pairs(texts: Iterable[TokenRows], word_count: int) -> csr_matrix:
    """Count how often words stand near the most frequent ones, (words, contexts).

    A pair counts the less, the further apart its words stand, and never across a sentence end.
    """
    lots = list(texts)
    times = np.zeros(word_count, np.int64)
    for lot in lots:
        times += np.bincount(lot.ids, minlength=word_count)
    times[:_SPECIAL] = 0
    order = np.argsort(-times, kind="stable")
    order = order[times[order] > 0][:_CONTEXTS]
    place = np.full(word_count, -1, np.int64)  # of a word among the contexts
    place[order] = np.arange(len(order))
    total = csr_matrix((word_count, max(len(order), 1)), dtype=np.float32)
    for lot in lots:
        total = total + _pairs_of(lot, place, total.shape)
    return total


def _pairs_of(lot: TokenRows, place: NDArray[np.int64], shape: tuple[int, int]) -> csr_matrix:
    homes = np.repeat(np.arange(len(lot.sentence_lengths)), lot.sentence_lengths)
    words, contexts, shares = [], [], []
    for distance in range(1, _WINDOW + 1):
        near = homes[distance:] == homes[:-distance]
        left, right = lot.ids[:-distance][near], lot.ids[distance:][near]
        for word, other in ((left, right), (right, left)):
            keep = (word >= _SPECIAL) & (place[other] >= 0)
            words.append(word[keep].astype(np.int32))
            contexts.append(place[other[keep]].astype(np.int32))
            shares.append(np.full(int(keep.sum()), 1 / distance, np.float32))
    at = (np.concatenate(words), np.concatenate(contexts))
    return csr_matrix((np.concatenate(shares), at), shape=shape)


def _surprise(together: csr_matrix) -> csr_matrix:
    """Compare counts with chance: the logarithm of the ratio, where it is above zero."""
    pairs = together.tocoo()
    rows = np.asarray(together.sum(axis=1), np.float64).ravel()
    columns = np.asarray(together.sum(axis=0), np.float64).ravel() ** _SMOOTHING
    columns /= columns.sum()
    with np.errstate(divide="ignore"):
        ratio = np.log(pairs.data / (rows[pairs.row] * columns[pairs.col]))
    more = ratio > 0
    return csr_matrix(
        (ratio[more].astype(np.float32), (pairs.row[more], pairs.col[more])), shape=together.shape
    )


def _decompose(matrix: csr_matrix, rank: int, seed: int) -> NDArray[np.float32]:
    """The rows of a matrix in few numbers: left singular vectors times the roots of the values.

    By random projection and the power method (Halko, Martinsson and Tropp, 2011).
    """
    width = min(rank + _SPARE, *matrix.shape)
    back = matrix.T.tocsr()
    drawn = np.random.default_rng(seed).standard_normal((matrix.shape[1], width))
    basis = matrix @ drawn.astype(np.float32)
    for _ in range(_ROUNDS):
        basis = linalg.qr(basis, mode="economic", check_finite=False)[0]
        basis = matrix @ (back @ basis)
    basis = linalg.qr(basis, mode="economic", check_finite=False)[0]
    left, values, _ = linalg.svd((back @ basis).T, full_matrices=False, check_finite=False)
    kept: NDArray[np.float32] = (basis @ left[:, :rank]) * np.sqrt(values[:rank])
    return kept.astype(np.float32)
