"""Fit n-grams beside a trained network, and how much each of the two has to say.

The n-grams are fitted on what a network was trained on, to compare the two on what was held out,
for each fold where there are several, and then on everything. How much each has to say is fitted on
the held-out documents too, and held near what it usually is, since a few of them decide nothing.

Words are features by themselves, as runs of two and three, and by their letters. What a word's
letters say is a weight of the word once it is learnt, so nobody spells a text that is read.

Long reviews say at their end what they mean: where documents left out say so, n-grams count more in
the last sentences, or in the first. Where people marked why a document has its label, they count
more in sentences like those that were marked, if documents left out say that too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..config import Plain
from ..data.corpus import Corpus
from ..models.base import Model
from ..models.ngrams import Emphasis, Marking, NGramTable, Rows, count_ngrams
from ..models.wide import Wide, WideConfig, WidePart
from ..tasks.calibration import fit_temperature, log_loss, log_losses
from ..tasks.linear import MAX_STEPS, Linear, bayes_ratios, fit_linear
from ..tasks.predictions import Floats, Integers
from ..text.spelling import are_spelt, letter_sizes, spell
from ..text.vocab import MANY_NEW, UNKNOWN
from ..training.seeds import derived_seed
from .training_documents import Prepared

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "HeldOut",
    "LearningData",
    "Learnt",
    "MarkedReasons",
    "fit_blend",
    "learn_ngrams",
    "learning_places",
    "ngram_facts",
    "ngram_seconds",
    "rows_at",
    "widen",
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
MAX_TOKENS = 30_000_000  # of the documents that are learnt from; more are drawn from
MAX_WORK = 200_000_000  # values times columns of weights: of more, some documents are learnt from
MOST = 4.0  # by which either may be scaled: where all documents are right, there is no end to it
PULL = 50.0  # how many documents the first say weighs as much as, about
FEW_AND_MANY = 2_000, 20_000  # documents between which the first say of the network rises ...
LEAST_SAY = 0.2  # ... from this to a half
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


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What a model says of documents held out from its training, and what they are."""

    logits: Floats  # (documents, classes)
    labels: Integers  # (documents,), or zeros and ones (documents, classes)
    batches: tuple[tuple[int, Rows], ...]  # the documents in their order, and which fold they are

    @classmethod
    def joined(cls, parts: Sequence[HeldOut]) -> HeldOut:
        """What is said of the documents of several folds."""
        return cls(
            np.concatenate([part.logits for part in parts]),
            np.concatenate([part.labels for part in parts]),
            tuple(batch for part in parts for batch in part.batches),
        )


def widen(
    network: Model,
    data: Prepared,
    held_out: HeldOut | None,
    config: WideConfig,
    *,
    class_weights: NDArray[np.floating] | None,
    seed: int,
    report: Report,
) -> tuple[Wide, HeldOut | None] | None:
    """Put n-grams beside a trained network, and say how both answer together.

    ``held_out`` is what the network says of the documents held out; nothing where none were. What
    both say of them is by n-grams that had not seen them. Nothing where n-grams cannot be learnt.
    """
    places = learning_places(data, seed)
    own = len(places)
    everything = data.with_reasons(places)
    tensor = data.corpus.label_tensor(everything)
    assert tensor is not None  # there were labels to train on
    labels = tensor.long().numpy()
    counts = _counts(labels, class_weights, data.weights, everything)
    learnt = learn_ngrams(
        LearningData(
            rows=rows_at(data.corpus, places),
            labels=labels[:own],
            class_count=len(data.labels),
            held_out_in=data.held_out_in(places),
            words=data.vocab.words if config.letters else (),
            word_count=len(data.vocab),
            counts=None if counts is None else counts[:own],
            groups=None if data.groups is None else data.groups[places],
            reasons=None
            if len(everything) == own
            else MarkedReasons(
                rows_at(data.corpus, everything[own:]),
                labels[own:],
                _owners(data, places, everything[own:]),
                None if counts is None else counts[own:],
            ),
        ),
        config,
        report=report,
    )
    if learnt is None:
        return None
    scale, say = prior = _first_say(len(places))
    if held_out is not None:
        before = [learnt.parts(model, 1.0) for model in learnt.before]
        guessed = [
            learnt.before[fold].intercepts
            + sum(part.table.weigh(rows, part.weights) for part in before[fold])
            for fold, rows in held_out.batches
        ]
        wide = np.concatenate(guessed)
        scale, say = fit_blend([held_out.logits, wide], held_out.labels, prior=prior)
        held_out = replace(held_out, logits=scale * held_out.logits + say * wide)
    together = Wide(
        network,
        learnt.parts(learnt.after, say),
        intercepts=(say * learnt.after.intercepts).astype(np.float32),
        scale=scale,
    )
    return together, held_out


def _first_say(document_count: int) -> tuple[float, float]:
    """How much network and n-grams have to say before anything was held out to ask.

    From few documents a network learns less than n-grams do; from many it learns as much.
    """
    few, many = (np.log(count) for count in FEW_AND_MANY)
    rise = float(np.clip((np.log(max(document_count, 1)) - few) / (many - few), 0, 1))
    network = LEAST_SAY + rise * (0.5 - LEAST_SAY)
    return network, 1 - network


def learning_places(data: Prepared, seed: int) -> NDArray[np.int64]:
    """Which documents n-grams are learnt from: those of the training, and those held out of it.

    Documents that were given to validate on are never learnt from. Of very many some are drawn.
    """
    own = len(data.corpus.parts) == 1
    places = np.concatenate([data.training, data.validation]) if own else data.training
    lengths = data.corpus.lengths[places]
    if lengths.sum() <= MAX_TOKENS:
        return np.sort(places)
    order = np.random.default_rng(derived_seed(seed, "ngrams")).permutation(len(places))
    return np.sort(places[order[np.cumsum(lengths[order]) <= MAX_TOKENS]])


def _owners(
    data: Prepared, places: NDArray[np.int64], reasons: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Which of the documents at these rising places each reason is of; -1: none."""
    owners = data.owners[reasons - len(data.corpus.parts[0]) + len(data.reasons)]
    return np.where(owners < 0, -1, np.searchsorted(places, owners))


def _counts(
    labels: Integers,
    class_weights: NDArray[np.floating] | None,
    weights: NDArray[np.float32] | None,
    places: NDArray[np.int64],
) -> NDArray[np.floating] | None:
    """How much each document counts, or each of its labels, as in the loss of the network."""
    if class_weights is None and weights is None:
        return None
    counts: NDArray[np.floating] = np.ones(labels.shape)
    if class_weights is not None:
        counts = (
            np.where(labels > 0, class_weights, 1) if labels.ndim == 2 else class_weights[labels]
        )
    if weights is not None:
        own = weights[places] / weights[places].mean()  # a weight that all have changes nothing
        counts = counts * (own[:, None] if labels.ndim == 2 else own)
    return counts


def rows_at(corpus: Corpus, places: NDArray[np.int64]) -> Rows:
    """The ids of some documents of a corpus."""
    parts = [corpus.batch(block) for block in corpus.blocks(places)]
    none = [np.zeros(0, np.int64)]
    return Rows(
        np.concatenate(none + [part.ids.values.numpy() for part in parts]),
        np.concatenate(none + [part.ids.lengths.numpy() for part in parts]),
        np.concatenate(none + [part.sentences.numpy() for part in parts]),
    )


def ngram_facts(model: Wide) -> dict[str, Plain]:
    """Say of n-grams how many there are and where they count more, for a model to remember."""
    table = model.tables[0]
    found: dict[str, Plain] = {"ngrams": len(table)}
    if table.emphasis:
        side = "last" if table.emphasis.last > table.emphasis.first else "first"
        found["ngrams_count_more_in"] = f"the {side} sentences"
    if table.marking is not None:
        found["ngrams_count_like_marked"] = True
    return found


def ngram_seconds(*, words: int, class_count: int, fits: int = 2) -> float:
    """Estimate how long it takes to learn from so many words on one core, from a few runs."""
    columns = 1 if class_count == 2 else class_count
    return 0.1 + min(words, MAX_TOKENS) * (1e-6 + 2.5e-6 * fits * min(columns, 20))


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


def fit_blend(logits: Sequence[Floats], labels: Integers, *, prior: Sequence[float]) -> list[float]:
    """Return by what to multiply the logits of several models, (documents, classes), to add them.

    Each is brought to its own best temperature first. Then their say is fitted, none below zero,
    and held near that of ``prior``, which counts as much as some documents.
    """
    from scipy.optimize import minimize

    first = np.asarray(prior, np.float64)
    scales = [1 / min(max(fit_temperature(one, labels), 1 / MOST), MOST) for one in logits]
    cooled = [scale * one for scale, one in zip(scales, logits, strict=True)]

    def cost(say: Floats) -> float:
        together = np.tensordot(say, cooled, 1)
        return len(labels) * log_loss(together, labels) + PULL * float(((say - first) ** 2).sum())

    found = minimize(cost, first, method="L-BFGS-B", bounds=[(0, None)] * len(first))
    return [float(say * scale) for say, scale in zip(found.x, scales, strict=True)]
