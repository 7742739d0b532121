"""Learn what n-grams weigh: which there are, how cautiously, and where in a text they count more.

Words are features by themselves, as runs of two and three, and by their letters. What a word's
letters say is a weight of the word once it is learnt, so nobody spells a text that is read.

How large weights may be is chosen by documents left out of a fit. Long reviews say at their end
what they mean: where documents left out say so, n-grams count more in the last sentences, or in the
first. Where people marked why a document has its label, they count more in sentences like those
that were marked, if documents left out say that too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..models.ngrams import Emphasis, Marking, NGramTable, Rows, count_ngrams
from ..models.wide import WideConfig, WidePart
from ..tasks.calibration import fit_temperature, log_losses
from ..tasks.linear import MAX_STEPS, Linear, bayes_ratios, fit_linear
from ..tasks.predictions import Floats, Integers
from ..text.spelling import are_spelt, letter_sizes, spell
from ..text.vocab import MANY_NEW, UNKNOWN

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "CLEARLY",
    "Caution",
    "LearningData",
    "Learnt",
    "MarkedReasons",
    "Report",
    "learn_ngrams",
]

PENALTIES = 16.0, 4.0, 1.0, 1 / 4, 1 / 16
"""What squared weights may cost. Which is best depends on the data: short texts, of which each
says little, want a high one, long reviews and like texts of an agency a low one."""
USUAL = 2  # the place of the one that is tried first
TRUSTS = 0.5, 0.75
"""To which power naive Bayes' ratios say how cheap weights are. The first is tried first; many long
reviews want the second."""
FEWER_TIMES = 4.0  # by which a penalty that few of the documents chose may be too low
FOLDS = 4  # into which documents are parted, to leave each out once; with many classes, one of them
MANY = 3_000  # documents of which every second fold will do
STEPS_OF_MANY = 40  # of a fit of several columns at most: each step takes as much longer
STEPS_TO_CHOOSE = 20  # of a fit: half way down it is clear which is better
MOST_TO_CHOOSE = 6_000, 3_000_000  # documents by which it is chosen, and values: either will do
MOST_WORK_TO_CHOOSE = 20_000_000  # values times columns of them
ENOUGH, LITTLE = 1000, 0.25
"""Documents from which naive Bayes knows what to trust, and how far it is trusted with fewer."""
EMPHASES = Emphasis(last=2.0), Emphasis(first=2.0)
"""What may be better than all sentences counting the same."""
CLEARLY = 2.0  # standard errors by which an emphasis must lower the loss: less is chance
FEWEST_FOR_PLACES = 300, 3.0  # documents, and sentences of each, that tell where it matters
FEWEST_MARKED = 100  # documents with reasons, from which on they tell what people mark
AS_USUAL = 10.0  # occurrences of a word, marked as often as usual, before any was counted
BY_LOOKS = 2.0  # how much more a sentence of words counts that are so much likelier to be marked
MAX_WORK = 200_000_000  # values times columns of weights: of more, some documents are learnt from
LETTERS_OF_TWO, LETTERS_OF_MORE, LETTERS_OF_NEW = 0.7, 1.0, 1.5
"""How long vectors of letters are, where those of n-grams have length one, with two classes, with
more, and with more where many words are new. More classes are mostly topics: "gas" and "gasoline"
are about the same, while "like" and "unlike" are not. Of new words there are only the letters."""
MOST_RUNS = 100_000  # of letters, those in most documents; more add nothing

Report = Callable[[int, int], None]
_Sides = tuple[NDArray[np.int64], NDArray[np.bool_]]
"""Which documents are left out, and of all documents whether they are learnt from."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkedReasons:
    """What people marked in documents, each learnt from wherever its document is."""

    rows: Rows
    labels: Integers  # as those of the documents
    owners: NDArray[np.int64]  # (reasons,), the place of its document among them; -1: of none
    counts: NDArray[np.floating] | None = None  # how much each counts, or each of its labels


@dataclass(frozen=True, slots=True, eq=False)
class LearningData:
    """Documents to learn from, and which of them networks have not learnt from."""

    rows: Rows
    labels: Integers  # (documents,), or zeros and ones (documents, classes)
    class_count: int
    held_out_in: NDArray[np.int64]  # (documents,), the fold that leaves it out; -1: none does
    words: Sequence[str] = ()  # by id, to know them by their letters too
    word_count: int = 0  # ids that documents to come may have, where there are reasons
    counts: NDArray[np.floating] | None = None  # how much each counts, or each of its labels
    groups: NDArray[np.int64] | None = None  # (documents,), those of one are left out together
    reasons: MarkedReasons | None = None  # short texts to learn from beside the documents

    def having(self, chosen: NDArray[np.bool_]) -> LearningData:
        """Some of the documents, without reasons."""
        return replace(
            self,
            reasons=None,
            rows=self.rows.having(chosen),
            labels=self.labels[chosen],
            held_out_in=self.held_out_in[chosen],
            counts=None if self.counts is None else self.counts[chosen],
            groups=None if self.groups is None else self.groups[chosen],
        )


@dataclass(frozen=True, slots=True)
class Caution:
    """How reluctant a fit is to make weights large."""

    penalty: float  # what squared weights cost
    trust: float = 0.0  # to which power naive Bayes' ratios make them cheap; 0: all cost the same


@dataclass(frozen=True, slots=True, eq=False)
class Learnt:
    """Weights of n-grams: of what the network of each fold learnt from, and of everything."""

    tables: tuple[NGramTable, ...]
    letters: float  # how long the vectors of the second table are
    before: tuple[Linear, ...]  # one for each fold
    after: Linear
    caution: Caution

    def parts(self, model: Linear, say: float) -> list[WidePart]:
        """The features of each table with their weights, times how much they have to say."""
        ends = np.cumsum([len(table) for table in self.tables])
        weights = np.split((say * model.weights).astype(np.float32), ends[:-1])
        if len(weights) > 1:
            weights[1] *= np.float32(self.letters)
        return list(map(WidePart, self.tables, weights))


def learn_ngrams(
    data: LearningData, config: WideConfig, *, report: Report = lambda done, total: None
) -> Learnt | None:
    """Weigh the n-grams of documents; nothing where there are none.

    ``report`` is told how far it is. Where all documents would take too long to learn from, every
    second is, or every third and so on.
    """
    columns = _columns(data)
    folds = range(int(data.held_out_in.max(initial=-1)) + 1)
    report(0, 3 + len(folds))
    counted = count_ngrams(
        data.rows,
        longest=config.longest,
        fewest=config.fewest_documents,
        most=config.most_weights // columns,
    )
    if not len(counted.keys):
        return None
    step = max(1, math.ceil(counted.values.nnz * columns / MAX_WORK))
    learnt_from = np.arange(len(data.labels)) % step == 0
    tables = [NGramTable(counted.keys, counted.rarity, config.longest)]
    values, mixing = counted.values, None
    most = min(MOST_RUNS, config.most_weights // (2 * columns))
    letters = _letters(data, fewest=config.fewest_documents, most=most)
    if letters is not None:
        from scipy.sparse import block_diag, identity

        tables.append(letters.table)
        values = _side_by_side(
            values, letters.table.values(data.rows).matrix(len(letters.table)), _letters_scale(data)
        )
        own = identity(len(counted.keys), np.float32)
        mixing = block_diag([own, letters.runs], format="csr", dtype=np.float32)
    tables = list(_choose_heights(tables, values, mixing, data, emphasis=config.emphasis))
    if tables[0].uneven:
        values = _values(tables, data.rows, _letters_scale(data))
    if data.reasons is not None:
        values = _one_below_the_other(
            values, _values(tables, data.reasons.rows, _letters_scale(data))
        )
    report(1, 3 + len(folds))
    caution = _choose_caution(values, mixing, data)
    before: list[Linear] = []
    for fold in folds:
        report(2 + fold, 3 + len(folds))
        # From nothing: where another fold ended, it knew the documents that this one leaves out.
        others = learnt_from & (data.held_out_in != fold)
        if fold == 0:
            caution, fitted = _fit_first(values, mixing, data, others, caution)
        else:
            fitted = _fit(values, mixing, data, others, caution)
        before.append(fitted)
    report(2 + len(folds), 3 + len(folds))
    # From nothing too: many fits end before the bottom, and as far as this was the caution chosen.
    after = _fit(values, mixing, data, learnt_from, caution)
    # Documents that are given to validate on are left out of all fits.
    return Learnt(tuple(tables), _letters_scale(data), tuple(before) or (after,), after, caution)


@dataclass(frozen=True, slots=True, eq=False)
class _Letters:
    """Words as vectors of their runs of letters, each of length one."""

    table: NGramTable  # the words; how rare one is, is how long its vector was
    runs: csr_matrix  # (words, runs)


def _letters(data: LearningData, *, fewest: int, most: int) -> _Letters | None:
    """Find the letters of the words of documents; nothing where they do not help."""
    from scipy.sparse import csr_matrix, diags

    words = list(data.words)
    if not words:
        return None
    document_count = len(data.labels)
    known = (data.rows.ids > UNKNOWN) & (data.rows.ids < len(words))
    occurring = np.bincount(data.rows.ids[known], minlength=len(words))
    # With many classes single characters count twice, which tells topics apart: as parts of runs,
    # and by themselves. With two they should not.
    if _columns(data) == 1 and not are_spelt(words, occurring):
        return None
    words[: UNKNOWN + 1] = [""] * (UNKNOWN + 1)
    spelled = spell(words, letter_sizes(words, occurring))
    shape = (len(words), spelled.run_count)
    runs = csr_matrix((np.ones(len(spelled.runs)), (spelled.words, spelled.runs)), shape)
    pairs = np.unique(data.rows.homes[known] * len(words) + data.rows.ids[known])
    held_by = np.bincount(pairs % len(words), minlength=len(words))
    # Of words in which it stands; several of them in one document are counted several times.
    documents = np.minimum(runs.T @ held_by, document_count)
    kept = np.flatnonzero(documents >= fewest)
    kept = np.sort(kept[np.argsort(-documents[kept], kind="stable")[:most]])
    rarity = np.log((1 + document_count) / (1 + documents[kept])) + 1
    runs = (runs[:, kept] @ diags(rarity)).tocsr()
    lengths = np.sqrt(np.asarray(runs.multiply(runs).sum(axis=1)).ravel())
    ids = np.flatnonzero((lengths > 0) & (np.arange(len(words)) > UNKNOWN))
    table = NGramTable(ids, lengths[ids].astype(np.float32), 1)
    return _Letters(table, (diags(1 / lengths[ids]) @ runs[ids]).tocsr()) if len(ids) else None


def _letters_scale(data: LearningData) -> float:
    """How long vectors of letters are."""
    if _columns(data) == 1:
        return LETTERS_OF_TWO
    counts = np.bincount(data.rows.ids[data.rows.ids > UNKNOWN])
    once = (counts == 1).sum() / max(counts.sum(), 1)
    return LETTERS_OF_NEW if once > MANY_NEW else LETTERS_OF_MORE


def _values(tables: Sequence[NGramTable], rows: Rows, letters_scale: float) -> csr_matrix:
    """The features of documents by all tables."""
    ngrams, *letters = (table.values(rows).matrix(len(table)) for table in tables)
    return _side_by_side(ngrams, letters[0], letters_scale) if letters else ngrams


def _side_by_side(ngrams: csr_matrix, letters: csr_matrix, scale: float) -> csr_matrix:
    """The n-grams of documents, and what they are by their letters."""
    from scipy.sparse import hstack

    return hstack([ngrams, np.float32(scale) * letters], format="csr")


def _one_below_the_other(documents: csr_matrix, reasons: csr_matrix) -> csr_matrix:
    """The features of documents, and behind all of them those of reasons."""
    from scipy.sparse import vstack

    return vstack([documents, reasons], format="csr", dtype=np.float32)


def _choose_heights(
    tables: Sequence[NGramTable],
    values: csr_matrix,
    mixing: csr_matrix | None,
    data: LearningData,
    *,
    emphasis: bool,
) -> Sequence[NGramTable]:
    """Find whether sentences should count by their place, and by their looks where reasons tell.

    As ``_choose_caution`` does. ``values`` are those of an even count, which is kept unless another
    is clearly better.
    """
    documents, sentences = FEWEST_FOR_PLACES
    if len(data.labels) < documents or data.rows.sentences.mean() < sentences:
        return tables
    places = _places_to_choose(values, data)
    places = places[:: math.ceil(len(places) / MANY)]
    chosen = np.isin(np.arange(len(data.labels)), places)
    sample = data.having(chosen)
    sides = _sides_to_choose(np.arange(len(places)), sample)[: FOLDS // 2]
    caution = _usual_caution(len(data.labels))

    def losses(found: csr_matrix) -> Floats:
        fits = [
            _fit(found, mixing, sample, rest, caution, steps=STEPS_TO_CHOOSE) for _, rest in sides
        ]
        logits = [fit.logits(found[out]) for fit, (out, _) in zip(fits, sides, strict=True)]
        return _losses_left_out(logits, [sample.labels[out] for out, _ in sides])

    before = losses(values[chosen])

    def better(tried: Sequence[NGramTable]) -> Floats | None:
        """What is lost with these, where that is clearly less than before."""
        found = losses(_values(tried, sample.rows, _letters_scale(data)))
        saved = before - found
        clear = len(saved) and saved.sum() > CLEARLY * saved.std() * math.sqrt(len(saved))
        return found if clear else None

    for one in EMPHASES if emphasis else ():
        tried = [replace(table, emphasis=one) for table in tables]
        if (found := better(tried)) is not None:
            tables, before = tried, found
            break  # where one end decides, the other does not
    marking = _learn_marking(data)
    if marking is not None:
        tried = [replace(table, marking=marking) for table in tables]
        if better(tried) is not None:
            return tried
    return tables


def _learn_marking(data: LearningData) -> Marking | None:
    """Find how much likelier than usual people are to mark each word; nothing where few did.

    Documents that are held out for good say nothing of it; where each is held out once all do.
    """
    reasons = data.reasons
    if reasons is None:
        return None
    known = data.held_out_in < 0
    known |= not known.any()
    own = (reasons.owners >= 0) & known[reasons.owners]
    read = np.isin(np.arange(len(data.labels)), reasons.owners[own])
    words, marked = data.rows.having(read).ids, reasons.rows.having(own).ids
    size = max(data.word_count, int(data.rows.ids.max(initial=0)) + 1)
    occurring = np.bincount(words, minlength=size)
    counts = np.minimum(np.bincount(marked, minlength=size), occurring)
    if read.sum() < FEWEST_MARKED or not 0 < counts.sum() < occurring.sum():
        return None
    usual = counts.sum() / occurring.sum()
    likely = (counts + AS_USUAL * usual) / (occurring + AS_USUAL)
    log_odds = np.log(likely / (1 - likely)) - np.log(usual / (1 - usual))
    log_odds[: UNKNOWN + 1] = 0
    return Marking((BY_LOOKS * log_odds).astype(np.float32))


def _usual_caution(count: int) -> Caution:
    """What is tried first with so many documents: few tell naive Bayes little to trust."""
    return Caution(PENALTIES[USUAL], TRUSTS[0] if count >= ENOUGH else LITTLE)


def _places_to_choose(values: csr_matrix, data: LearningData) -> NDArray[np.int64]:
    """Which documents settings are chosen by: all of them, or every second and so on."""
    count, (documents, most_values) = len(data.labels), MOST_TO_CHOOSE
    # Of short texts many more cost no more, and each of them says little.
    step = min(count / documents, values.nnz / most_values)
    step = max(step, values.nnz * _columns(data) / MOST_WORK_TO_CHOOSE, 1)
    return np.arange(0, count, math.ceil(step))


def _sides_to_choose(places: NDArray[np.int64], data: LearningData) -> list[_Sides]:
    """Which of these documents are left out of which fit."""
    turns = np.arange(len(places)) if data.groups is None else data.groups[places]
    used = 1 if _columns(data) > 1 else FOLDS if len(places) <= MANY else FOLDS // 2
    parts = [places[turns % FOLDS == turn] for turn in range(used)]
    return [_sides(part, places, data.labels) for part in parts if 0 < len(part) < len(places)]


def _columns(data: LearningData) -> int:
    """How many columns of weights are learnt."""
    return 1 if data.class_count == 2 and data.labels.ndim == 1 else data.class_count


def _choose_caution(values: csr_matrix, mixing: csr_matrix | None, data: LearningData) -> Caution:
    """Find what squared weights should cost, by documents that the fits did not see.

    How far to trust naive Bayes is for later: what is best for some documents is not for all.
    Nothing is drawn: which documents are left out follows from their places.
    """
    sides = _sides_to_choose(_places_to_choose(values, data), data)
    models: list[Linear] = []
    usual = _usual_caution(len(data.labels))

    def loss(penalty: float) -> float:
        caution = replace(usual, penalty=penalty)
        models[:] = [
            _fit(values, mixing, data, rest, caution, start=start, steps=STEPS_TO_CHOOSE)
            for (_, rest), start in zip_longest(sides, models)
        ]
        logits = [model.logits(values[out]) for (out, _), model in zip(sides, models, strict=True)]
        return _loss_left_out(logits, [data.labels[out] for out, _ in sides])

    best, lowest = USUAL, loss(PENALTIES[USUAL])
    for way in (range(USUAL + 1, len(PENALTIES)), range(USUAL - 1, -1, -1)):
        if best != USUAL:
            break  # it fell that way, so it rises this way
        for place in way:
            found = loss(PENALTIES[place])
            if not found < lowest:
                break
            best, lowest = place, found
    return replace(usual, penalty=PENALTIES[best])


def _fit_first(
    values: csr_matrix,
    mixing: csr_matrix | None,
    data: LearningData,
    others: NDArray[np.bool_],
    caution: Caution,
) -> tuple[Caution, Linear]:
    """Learn from ``others``, and find what else is better on what the first fold leaves out.

    Many documents may want to trust naive Bayes further than the few by which the penalty was
    chosen, and what is chosen by few of them is often too low for all.
    """
    out = np.flatnonzero(data.held_out_in == 0)
    if data.labels.ndim == 1:
        out = out[np.isin(data.labels[out], data.labels[others])]

    def loss(fitted: Linear) -> float:
        return _loss_left_out([fitted.logits(values[out])], [data.labels[out]])

    fitted = _fit(values, mixing, data, others, caution)
    lowest = loss(fitted)
    changes: list[dict[str, float]] = []
    if caution.trust in TRUSTS:
        changes += [{"trust": trust} for trust in TRUSTS if trust != caution.trust]
    if len(_places_to_choose(values, data)) < len(data.labels) / 2:
        changes.append({"penalty": FEWER_TIMES * caution.penalty})
    for change in changes:
        tried = replace(caution, **change)
        found = _fit(values, mixing, data, others, tried)
        if (cost := loss(found)) < lowest:
            caution, fitted, lowest = tried, found, cost
    return caution, fitted


def _sides(out: NDArray[np.int64], places: NDArray[np.int64], labels: Integers) -> _Sides:
    """Which documents are left out, and which are learnt from; classes of the first are known."""
    rest = np.zeros(len(labels), bool)
    rest[places] = True
    rest[out] = False
    return (out[np.isin(labels[out], labels[rest])] if labels.ndim == 1 else out), rest


def _loss_left_out(logits: Sequence[Floats], labels: Sequence[Integers]) -> float:
    """The log loss, at its best temperature, of what was left out; none where nothing was."""
    losses = _losses_left_out(logits, labels)
    return float(losses.mean()) if len(losses) else float("nan")


def _losses_left_out(logits: Sequence[Floats], labels: Sequence[Integers]) -> Floats:
    """The same of each document, (documents,)."""
    if not sum(map(len, labels)):
        return np.zeros(0)
    found, truth = np.concatenate(logits), np.concatenate(labels)
    return log_losses(found, truth, fit_temperature(found, truth))


def _fit(
    values: csr_matrix,
    mixing: csr_matrix | None,
    data: LearningData,
    chosen: NDArray[np.bool_],
    caution: Caution,
    *,
    start: Linear | None = None,
    steps: int = MAX_STEPS,
) -> Linear:
    """Learn from some of the documents, and from the reasons in them: rows behind all documents."""
    learnt_from, labels = values[: len(chosen)][chosen], data.labels[chosen]
    counts = None if data.counts is None else data.counts[chosen]
    scales = None
    if caution.trust:
        ratios = bayes_ratios(learnt_from, labels, data.class_count, mixing)
        scales = np.abs(ratios) ** caution.trust
    reasons = data.reasons
    if reasons is not None:
        own = np.flatnonzero((reasons.owners < 0) | chosen[reasons.owners])
        learnt_from = _one_below_the_other(learnt_from, values[len(chosen) + own])
        labels = np.concatenate([labels, reasons.labels[own]])
        if counts is not None and reasons.counts is not None:
            counts = np.concatenate([counts, reasons.counts[own]])
    if _columns(data) > 1:
        steps = min(steps, STEPS_OF_MANY)
    return fit_linear(
        learnt_from,
        labels,
        class_count=data.class_count,
        penalty=caution.penalty,
        mixing=mixing,
        scales=scales,
        counts=counts,
        start=start,
        steps=steps,
    )
