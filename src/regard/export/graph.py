"""A classifier as an ONNX graph of plain operators, n-grams and all.

    word_ids          (words,)      the ids of all words, one document after the other
    sentence_lengths  (sentences,)  words in each sentence
    document_lengths  (documents,)  sentences in each document

Nothing is padded by whoever calls, and little inside. A recurrent operator of ONNX reads columns of
equal length, so rows are laid end to end into columns some times as long as the longest row, with a
mark behind each row that closes every gate: after it the state is zero, as at the start of a row.
So little is read that is no word, however uneven the rows are.

N-grams are looked up by halving: their keys are sorted, so a search of twenty steps finds any.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from ..data.labels import LabelIndex
from ..errors import ConfigError
from ..models.base import Model
from ..models.ensemble import Ensemble, HierarchicalEnsemble
from ..models.flat import Flat
from ..models.han import HAN
from ..models.ngrams import SELDOM, Emphasis, Marking, NGramTable
from ..models.wide import Wide, WidePart
from ..nn.attention import (
    AdditiveScore,
    ConcatScore,
    ContextScore,
    DotScore,
    GeneralDiagonalScore,
    GeneralScore,
    Score,
)
from ..nn.encoders import NoEncoder, RecurrentEncoder
from ..nn.levels import Level
from ..nn.pooling import (
    AttentionPooling,
    LastPooling,
    MaxPooling,
    MeanPooling,
    Pooling,
    StructuredPooling,
)
from ..text.vocab import UNKNOWN
from .equations import Graph, Value

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["INPUTS", "build_graph", "require_exportable"]

INPUTS = {
    "word_ids": ("words", "the id of each word, one document after the other"),
    "sentence_lengths": ("sentences", "how many words each sentence has"),
    "document_lengths": ("documents", "how many sentences each document has"),
}
"""The inputs, all int64: what their size is called, and what they hold."""

_BITS = 21  # of each word's id in the key of an n-gram
_CLOSED = -1e4  # what closes a gate
_DEPTH = 3  # of a column, in rows as long as the longest: fewer leave more of it empty
_GATES = {"gru": (1, 0, 2), "lstm": (0, 3, 1, 2), "rnn": (0,)}  # torch's, in the order of ONNX
_OPERATORS = {"gru": "GRU", "lstm": "LSTM", "rnn": "RNN"}

Floats = NDArray[np.float32]


def build_graph(model: Model, labels: LabelIndex, temperature: float) -> ModelProto:
    """Write a classifier down as a graph; one that cannot be is a ``ConfigError``."""
    require_exportable(model)
    graph = Graph()
    given = [graph.input(name, np.int64, *about) for name, about in INPUTS.items()]
    batch = _Batch(graph, *given)
    found = _read(model, batch)
    scaled = found.logits / float(temperature)
    likely = scaled.apply("Sigmoid") if labels.multilabel else scaled.apply("Softmax", axis=-1)
    count = len(labels)
    graph.output("logits", found.logits, ("documents", count), "what each class scores")
    graph.output("probabilities", likely, ("documents", count), "how likely each class is")
    for name, (weights, sizes) in found.attention.items():
        about = f"how much each {name} weighs in its row; a row sums to one"
        graph.output(f"{name}_weights", weights, sizes, about)
    if found.ngram_shares is not None:
        about = "what the n-grams at each word add to the logits"
        graph.output("ngram_shares", found.ngram_shares, ("words", count), about)
    facts = {"labels": json.dumps(labels.classes), "multilabel": json.dumps(labels.multilabel)}
    return graph.model("regard", __doc__ or "", facts)


def require_exportable(model: Model) -> None:
    """Raise ``ConfigError`` where a model has a part that no graph is known for."""
    known = (HAN, Flat)
    for network in _networks(model):
        if type(network) not in known:
            raise ConfigError(
                f"a network of the kind {type(network).__name__} cannot be written as ONNX; "
                "those trained with --model han or flat can"
            )
        for level in network.children():
            if isinstance(level, Level):
                _require_level(level)


def _networks(model: Model) -> list[Model]:
    """The networks that a model is made of."""
    if type(model) is Wide:
        return _networks(model.network)
    if type(model) in (Ensemble, HierarchicalEnsemble):
        return [one for member in model.members for one in _networks(member)]  # type: ignore[union-attr]
    return [model]


def _require_level(level: Level) -> None:
    encoder, pooling = level.encoder, level.pooling
    if type(encoder) not in (RecurrentEncoder, NoEncoder):
        raise ConfigError(
            "a network with encoder=transformer cannot be written as ONNX; "
            "those with encoder=recurrent or encoder=none can"
        )
    score = getattr(pooling, "score", None)
    if type(pooling) not in _POOLINGS or (score is not None and type(score) not in _SCORES):
        what = type(pooling if score is None else score).__name__
        raise ConfigError(
            f"a network with {what} cannot be written as ONNX; poolings attention, structured, "
            "mean, max and last can, with any score but location"
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Rows of items that lie end to end."""

    lengths: Value  # (rows,)
    ends: Value  # (rows,), where each ends
    homes: Value  # (items,), the row of each item
    count: Value  # of the rows
    items: Value  # how many there are

    @classmethod
    def of(cls, lengths: Value, items: Value) -> _Rows:
        """Rows of these lengths, which have so many items together."""
        ends, zero = lengths.running(), _zero(lengths.graph, np.int64)
        ones = _number(lengths.graph, 1).filling(lengths.size())
        # A row begins where those before it end; of several in one place all but one are empty.
        begun = zero.filling(items + 1).put(ends - lengths, ones, "add")
        homes = begun.running().first(items) - 1
        return cls(lengths, ends, homes, lengths.size(), items)

    @property
    def starts(self) -> Value:
        """Where each row begins, (rows,)."""
        return self.ends - self.lengths

    def spread(self, by_row: Value) -> Value:
        """Give each item what its row has."""
        return by_row.take(self.homes)

    def total(self, values: Value) -> Value:
        """Add up the items of each row, (items, columns) to (rows, columns).

        The difference of two running sums, which double precision makes exact enough.
        """
        running = values.as_kind(np.float64).running()
        nothing = _zero(values.graph, np.float64).filling(_number(values.graph, 1), _width(values))
        running = values.graph.joined(nothing, running)
        return (running.take(self.ends) - running.take(self.starts)).as_kind(np.float32)

    def largest(self, values: Value) -> Value:
        """The largest item of each row in each column, (rows, columns); zero of an empty one."""
        graph, wide = values.graph, _width(values)
        index = graph.op("Expand", self.homes.columns(), values.apply("Shape"))
        floor = graph.constant(np.array(-np.inf, np.float32)).filling(self.count, wide)
        peaks = floor.put(index, values, "max")
        return graph.either(self.lengths.columns().above(0), peaks, 0.0)

    def softened(self, scores: Value) -> Value:
        """Make the items of each row positive and sum to one, in each column."""
        grown = (scores - self.spread(self.largest(scores))).apply("Exp")
        return grown / self.spread(self.total(grown))


class _Batch:
    """Documents as ids, and the rows that they make."""

    def __init__(self, graph: Graph, ids: Value, sentence_lengths: Value, sentences: Value) -> None:
        self.graph = graph
        with graph.within("rows"):
            sentence_lengths = _filling(sentence_lengths, sentences)
            self.ids = ids = _filling(ids, sentence_lengths)
            self.sentences = _Rows.of(sentence_lengths, ids.size())
            self.documents = _Rows.of(sentences, sentence_lengths.size())
            ends = graph.joined(np.array([0]), self.sentences.ends)
            lengths = ends.take(self.documents.ends) - ends.take(self.documents.starts)
            self.texts = _Rows.of(lengths, ids.size())  # the words of a document, as one row


def _filling(items: Value, lengths: Value) -> Value:
    """The items, if rows of these lengths have as many; else whoever runs the graph is told.

    There is no operator that asks; but a shape that does not fit is an error everywhere.
    """
    total = lengths.apply("ReduceSum", keepdims=1)
    return items.graph.op("Reshape", items, total, allowzero=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What a model makes of a batch."""

    logits: Value
    attention: Mapping[str, tuple[Value, tuple[str | int, ...]]]  # weights, and their sizes
    ngram_shares: Value | None = None  # (words, classes), where n-grams stand beside the network


def _read(model: Model, batch: _Batch) -> _Found:
    if type(model) is Wide:
        return _read_wide(model, batch)
    if isinstance(model, Ensemble):
        return _read_ensemble(model, batch)
    return _read_han(model, batch) if isinstance(model, HAN) else _read_flat(model, batch)


def _read_han(model: HAN, batch: _Batch) -> _Found:
    graph = batch.graph
    reading = batch.texts if model.config.reading == "flow" else batch.sentences
    with graph.within("words"):
        items = _Picked(_array(model.embedding.weight), batch.ids)
        sentences = _pool(model.words, items, reading, batch.sentences)
    with graph.within("sentences"):
        given = _Given(sentences.vectors)
        documents = _pool(model.sentences, given, batch.documents, batch.documents)
    with graph.within("classify"):
        logits = _linear(model.classify, documents.vectors)
    attention = {"word": sentences.sized("words"), "sentence": documents.sized("sentences")}
    return _Found(logits, attention)


def _read_flat(model: Model, batch: _Batch) -> _Found:
    assert isinstance(model, Flat)
    graph = batch.graph
    with graph.within("words"):
        items = _Picked(_array(model.embedding.weight), batch.ids)
        documents = _pool(model.words, items, batch.texts, batch.texts)
    with graph.within("classify"):
        logits = _linear(model.classify, documents.vectors)
    return _Found(logits, {"word": documents.sized("words")})


def _read_ensemble(model: Ensemble, batch: _Batch) -> _Found:
    """The mean of what the members think likely, and of their attention."""
    graph, found = batch.graph, []
    for number, member in enumerate(model.members):
        with graph.within(f"member_{number}"):
            found.append(_read(member, batch))  # type: ignore[arg-type]
    with graph.within("together"):
        logits = _log_mean([one.logits for one in found], multilabel=model.multilabel)
        attention = {
            name: (graph.op("Mean", *(one.attention[name][0] for one in found)), sizes)
            for name, (_, sizes) in found[0].attention.items()
        }
    return _Found(logits, attention)


def _log_mean(logits: Sequence[Value], *, multilabel: bool) -> Value:
    """The logits of the mean of probabilities."""
    graph, first = logits[0].graph, np.array([0])
    every = graph.joined(*(graph.op("Unsqueeze", one, first) for one in logits))

    def summed(values: Value) -> Value:
        return graph.op("ReduceLogSumExp", values, first, keepdims=0)

    if not multilabel:
        return summed(every.apply("LogSoftmax", axis=-1)) - math.log(len(logits))
    likely = every.apply("Neg").apply("Softplus").apply("Neg")
    return summed(likely) - summed(every.apply("Softplus").apply("Neg"))


@dataclass(frozen=True, slots=True, eq=False)
class _Pooled:
    vectors: Value  # (rows, size)
    weights: Value  # (items, columns)
    columns: int | None = None  # None: there is one, and it is given out as a row

    def sized(self, items: str) -> tuple[Value, tuple[str | int, ...]]:
        """The weights as they are given out, and their sizes."""
        if self.columns is None:
            return self.weights.shaped(-1), (items,)
        return self.weights, (items, self.columns)


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    """Items that are vectors, (items, size)."""

    vectors: Value

    def laid(self, slots: _Slots) -> Value:
        """The vectors in their slots, with a column that says where a row is over."""
        graph, count = self.vectors.graph, self.vectors.size()
        size = _number(graph, 1)
        unmarked = graph.joined(self.vectors, _zero(graph, np.float32).filling(count, size), axis=1)
        rest = _zero(graph, np.float32).filling(size, _width(self.vectors))
        mark = graph.joined(rest, np.ones((1, 1), np.float32), axis=1)
        table = graph.joined(unmarked, mark)
        return table.take(slots.filled(graph.counting(count), count))


@dataclass(frozen=True, slots=True, eq=False)
class _Picked:
    """Items that are picked from a table by their number."""

    table: Floats
    numbers: Value

    @property
    def vectors(self) -> Value:
        """The vectors of the items, (items, size)."""
        return self.numbers.graph.constant(self.table, "table").take(self.numbers)

    def laid(self, slots: _Slots) -> Value:
        """The vectors in their slots, with a column that says where a row is over."""
        graph, count = self.numbers.graph, len(self.table)
        marked = np.zeros((count + 1, self.table.shape[1] + 1), np.float32)
        marked[:count, :-1] = self.table
        marked[count, -1] = 1
        numbers = slots.filled(self.numbers, _number(graph, count))
        return graph.constant(marked, "table").take(numbers)


@dataclass(frozen=True, slots=True, eq=False)
class _Slots:
    """Where items stand when rows are laid into columns, one below the other."""

    places: Value  # (items,)
    steps: Value  # slots of a column
    columns: Value  # how many

    @classmethod
    def of(cls, rows: _Rows, *, alone: bool) -> _Slots:
        """Lay rows into columns with a mark behind each; ``alone``: one row a column."""
        graph, sizes = rows.lengths.graph, rows.lengths + 1
        begins = sizes.running(exclusive=True)
        # A row goes into the column in which it would begin if all were cut to equal lengths.
        column = graph.counting(rows.count) if alone else begins / (sizes.largest(1) * _DEPTH)
        columns = column.largest(0) + 1
        last = graph.constant(np.array(np.iinfo(np.int64).max))
        heads = last.filling(columns).put(column, begins, "min")
        depth = begins - heads.take(column)
        inside = graph.counting(rows.items) - rows.spread(rows.starts)
        places = (rows.spread(depth) + inside) * columns + rows.spread(column)
        return cls(places, (depth + sizes).largest(1), columns)

    def filled(self, numbers: Value, mark: Value) -> Value:
        """The number of the item in each slot, (steps, columns), or the mark."""
        flat = mark.filling(self.steps * self.columns).put(self.places, numbers)
        shape = numbers.graph.joined(self.steps.shaped(1), self.columns.shaped(1))
        return numbers.graph.op("Reshape", flat, shape)


def _pool(level: Level, items: _Given | _Picked, reading: _Rows, rows: _Rows) -> _Pooled:
    """Read the items along the rows for reading, and pool each row into a vector."""
    states = _encode(level.encoder, items, reading)
    pooling = level.pooling
    pooled = _POOLINGS[type(pooling)](pooling, states, rows)
    if not level.own:
        return pooled
    return replace(pooled, vectors=_weighted(items.vectors, pooled, rows))


def _encode(encoder: object, items: _Given | _Picked, rows: _Rows) -> Value:
    """The state of each item, (items, size)."""
    if not isinstance(encoder, RecurrentEncoder):
        return items.vectors
    # The state of an RNN has no gate that could be closed, so a column begins with each row.
    slots = _Slots.of(rows, alone=encoder.cell == "rnn")
    graph = rows.lengths.graph
    for layer in range(encoder.layers.num_layers):
        with graph.within(f"layer_{layer}"):
            read = _recur(encoder, layer, items.laid(slots))  # (steps, directions, columns, hidden)
            lined = read.apply("Transpose", perm=[0, 2, 1, 3]).shaped(-1, encoder.output_size)
            items = _Given(lined.take(slots.places))
    return items.vectors


def _recur(encoder: RecurrentEncoder, layer: int, laid: Value) -> Value:
    """Read columns of marked vectors, (steps, columns, size + 1), in every direction."""
    weights = [_recurrent(encoder, layer, end) for end in ("", "_reverse")[: encoder.directions]]
    arrays = [np.stack(parts) for parts in zip(*weights, strict=True)]
    graph = laid.graph
    constants = [
        graph.constant(array, name) for array, name in zip(arrays, ("W", "R", "B"), strict=True)
    ]
    attributes: dict[str, str | int] = {"hidden_size": encoder.layers.hidden_size}
    attributes["direction"] = "bidirectional" if encoder.directions == 2 else "forward"
    if encoder.cell == "gru":
        attributes["linear_before_reset"] = 1  # as torch does
    return graph.op(_OPERATORS[encoder.cell], laid, *constants, **attributes)


def _recurrent(encoder: RecurrentEncoder, layer: int, end: str) -> tuple[Floats, Floats, Floats]:
    """The weights of one direction as ONNX has them, with what the mark behind a row does."""

    def gates(name: str) -> Floats:
        whole = _array(encoder.layers.get_parameter(f"{name}_l{layer}{end}"))
        parts = np.split(whole, len(_GATES[encoder.cell]))
        return np.concatenate([parts[gate] for gate in _GATES[encoder.cell]])

    biases, others = gates("bias_ih"), gates("bias_hh")
    mark = np.full_like(biases, _CLOSED)
    if encoder.cell == "gru":
        hidden = encoder.layers.hidden_size
        mark[-hidden:] = -biases[-hidden:]  # the new state is zero
    elif encoder.cell == "rnn":
        mark = -(biases + others)  # a state that is zero stays so
    inputs = np.concatenate([gates("weight_ih"), mark[:, None]], 1)
    return inputs, gates("weight_hh"), np.concatenate([biases, others])


def _weighted(items: Value, pooled: _Pooled, rows: _Rows) -> Value:
    """The sum of each row, weighted by every column of weights, side by side."""
    if pooled.columns is None:
        return rows.total(items * pooled.weights)
    graph, count = items.graph, pooled.columns
    columns = graph.ops("Split", count, pooled.weights, axis=1, num_outputs=count)
    return graph.joined(*(rows.total(items * column) for column in columns), axis=1)


def _attend(pooling: Pooling, states: Value, rows: _Rows) -> _Pooled:
    assert isinstance(pooling, AttentionPooling | StructuredPooling)
    made = _SCORES[type(pooling.score)](pooling.score, pooling.query)
    graph, keys = states.graph, states
    if made.matrix is not None:
        keys = states @ graph.constant(made.matrix, "keys")
    scores = []
    for vector, bias in zip(made.vectors, made.biases, strict=True):
        asked = keys if bias is None else (keys + graph.constant(bias, "bias")).apply("Tanh")
        scores.append(asked @ graph.constant(vector[:, None], "query"))
    weights = rows.softened(graph.joined(*scores, axis=1))
    columns = len(scores) if isinstance(pooling, StructuredPooling) else None
    pooled = _Pooled(states, weights, columns)
    return replace(pooled, vectors=_weighted(states, pooled, rows))


@dataclass(frozen=True, slots=True, eq=False)
class _Scoring:
    """Scores of keys: v · tanh(M key + b), or without bias v · M key, for each query."""

    matrix: Floats | None  # (size, hidden)
    vectors: list[Floats]  # (hidden,) for each query
    biases: list[Floats | None]  # (hidden,) for each query


def _context(score: Score, query: Tensor) -> _Scoring:
    assert isinstance(score, ContextScore)
    bias = _array(score.key.bias)
    queries = list(_array(query))
    return _Scoring(_array(score.key.weight.T), queries, [bias] * len(queries))


def _product(score: Score, query: Tensor) -> _Scoring:
    """All that is linear is one vector for each query."""
    asked = score.ask(query)
    if isinstance(score, GeneralScore):
        asked = asked @ score.key.weight
    vectors = list(_array(asked))
    return _Scoring(None, vectors, [None] * len(vectors))


def _sum(score: Score, query: Tensor) -> _Scoring:
    assert isinstance(score, AdditiveScore | ConcatScore)
    if isinstance(score, AdditiveScore):
        matrix = score.key.weight
    else:
        matrix = score.both.weight[:, score.query_size :]
    asked: list[Floats | None] = list(_array(score.ask(query)))
    return _Scoring(_array(matrix.T), [_array(score.out.weight[0])] * len(asked), asked)


_SCORES: dict[type[Score], Callable[[Score, Tensor], _Scoring]] = {
    ContextScore: _context,
    DotScore: _product,
    GeneralScore: _product,
    GeneralDiagonalScore: _product,
    AdditiveScore: _sum,
    ConcatScore: _sum,
}


def _mean(pooling: Pooling, states: Value, rows: _Rows) -> _Pooled:
    graph = states.graph
    counts = graph.op("Max", rows.lengths, 1).as_kind(np.float32)
    shares = rows.spread(counts.apply("Reciprocal")).columns()
    return _Pooled(rows.total(states) / counts.columns(), shares)


def _max(pooling: Pooling, states: Value, rows: _Rows) -> _Pooled:
    peaks = rows.largest(states)
    taken = states.equals(rows.spread(peaks)).as_kind(np.float32)
    shares = taken / rows.spread(rows.total(taken))
    return _Pooled(peaks, states.graph.op("ReduceMean", shares, np.array([1]), keepdims=1))


def _last(pooling: Pooling, states: Value, rows: _Rows) -> _Pooled:
    assert isinstance(pooling, LastPooling)
    graph, place = states.graph, states.graph.counting(rows.items)
    last = place.equals(rows.spread(rows.ends) - 1).as_kind(np.float32).columns()
    if pooling.directions == 1:
        return _Pooled(rows.total(states * last), last)
    first = place.equals(rows.spread(rows.starts)).as_kind(np.float32).columns()
    halves = graph.ops("Split", 2, states, axis=1, num_outputs=2)
    ends = [rows.total(half * column) for half, column in zip(halves, (last, first), strict=True)]
    return _Pooled(graph.joined(*ends, axis=1), graph.joined(last, first, axis=1), 2)


_POOLINGS: dict[type[Pooling], Callable[[Pooling, Value, _Rows], _Pooled]] = {
    AttentionPooling: _attend,
    StructuredPooling: _attend,
    MeanPooling: _mean,
    MaxPooling: _max,
    LastPooling: _last,
}


def _read_wide(model: Wide, batch: _Batch) -> _Found:
    """The network's logits, what the n-grams add, and which word adds how much of that."""
    found = _read(model.network, batch)
    graph, vocab_size = batch.graph, model.embedding.weight.shape[0]
    logits = found.logits * float(model.scale)
    with graph.within("ngrams"):
        logits = logits + graph.constant(_array(model.intercepts), "intercepts")
        classes = _number(graph, len(model.intercepts))
        words = _zero(graph, np.float64).filling(batch.ids.size(), classes)
        for part in model.parts:
            if len(part.table):
                shares = _weigh(part, batch, vocab_size)
                logits = logits + shares.documents.as_kind(np.float32)
                words = words + shares.words
    return _Found(logits, found.attention, words.as_kind(np.float32))


@dataclass(frozen=True, slots=True, eq=False)
class _Shares:
    """What features add to logits, in double precision."""

    documents: Value  # (documents, classes)
    words: Value  # (words, classes), the same by word


def _weigh(part: WidePart, batch: _Batch, vocab_size: int) -> _Shares:
    """What the features of each document add.

    As ``models.ngrams`` has it: a feature that occurs n times has the value (1 + ln n) * rarity,
    times what its sentences count on average, and the values of a document are divided by their
    length as a vector.
    """
    graph, count, documents = batch.graph, len(part.table), batch.documents.count
    features = _features(part, batch, vocab_size)  # count where there is none
    home = batch.documents.homes.take(batch.sentences.homes)
    homes, there = graph.joined(*[home] * part.table.longest), _below(features, count)
    hits = graph.op("Compress", homes * count + features, there)
    # One hit more, in a document that is not there, so that there is always one.
    hits = graph.joined(hits, (documents * count).shaped(1))
    ordered, order = graph.ops("TopK", 2, hits, hits.size().shaped(1), largest=0)
    same = ordered.part(1).equals(ordered.part(0, -1))
    is_new = graph.joined(np.array([True]), graph.op("Not", same))
    first = is_new.apply("NonZero").shaped(-1)
    times = graph.joined(first.part(1), ordered.size().shaped(1)) - first
    pairs = ordered.take(first)
    homes, features = pairs / count, graph.op("Mod", pairs, count)
    # The share of an n-gram is split over its occurrences, each as much as its sentence counts.
    numbers = is_new.as_kind(np.int64).running() - 1
    heights = _heights(part.table, batch)
    parts = (_one(graph) / times.as_kind(np.float64)).take(numbers)
    counted = None
    if heights is not None:
        by_hit = graph.joined(*[batch.sentences.spread(heights)] * part.table.longest)
        by_hit = graph.joined(graph.op("Compress", by_hit, there), np.ones(1)).take(order)
        sums = _zero(graph, np.float64).filling(first.size()).put(numbers, by_hit, "add")
        counted, parts = sums / times.as_kind(np.float64), by_hit / sums.take(numbers)
    values = _values(part, features, homes, times, documents, counted)
    # From here on a class is a row: operators are quick along rows and slow across them.
    weights = graph.constant(part.weights, "weights").take(features).apply("Transpose")
    added = weights.as_kind(np.float64) * values  # (classes, distinct features of documents)
    nothing = _zero(graph, np.float64).filling(added.size(), documents + 1)
    sums = nothing.put(_for_each_class(homes, added), added, "add", axis=1)
    each = added.take(numbers.part(0, -1), axis=1) * parts.part(0, -1)
    starts = graph.op("Compress", graph.counting(there.size()), there).take(order.part(0, -1))
    return _Shares(
        sums.first(documents, axis=1).apply("Transpose"),
        _by_word(each, starts, batch.ids.size(), part.table.longest).apply("Transpose"),
    )


def _heights(table: NGramTable, batch: _Batch) -> Value | None:
    """How much each sentence counts, by its place and by its words; None: all the same."""
    if not table.uneven:
        return None
    found = _by_place(table.emphasis, batch)
    return found if table.marking is None else found * _by_looks(table.marking, batch)


def _by_looks(marking: Marking, batch: _Batch) -> Value:
    """How much each sentence counts, by how likely its words are to be marked."""
    graph, lengths = batch.graph, batch.sentences.lengths
    given = graph.constant(marking.log_odds, "marking").take(batch.ids).as_kind(np.float64)
    nothing = _zero(graph, np.float64).filling(lengths.size())
    sums = nothing.put(batch.sentences.homes, given, "add")
    least = graph.op("Max", lengths, np.array(1)).as_kind(np.float64)
    seldom = graph.constant(np.array(SELDOM, np.float64))
    return _one(graph) / (_one(graph) + (seldom - sums / least).apply("Exp"))


def _by_place(emphasis: Emphasis, batch: _Batch) -> Value:
    """How much each sentence counts, by its place in its document."""
    graph, documents = batch.graph, batch.documents
    given = (0.5, *astuple(emphasis))
    half, first, last = (graph.constant(np.array(one, np.float64)) for one in given)
    numbers = graph.counting(batch.sentences.count) - documents.spread(documents.starts)
    lengths = documents.spread(documents.lengths).as_kind(np.float64)
    place = (numbers.as_kind(np.float64) + half) / lengths
    left = _one(graph) - place
    return _one(graph) + first * left * left + last * place * place


def _values(
    part: WidePart,
    features: Value,
    homes: Value,
    times: Value,
    documents: Value,
    counted: Value | None,
) -> Value:
    """The values of features, of the documents at ``homes``, that occur so often.

    ``counted`` is what their sentences count on average; None: one.
    """
    graph = features.graph
    rarity = graph.constant(part.table.rarity, "rarity").take(features).as_kind(np.float64)
    values = (times.as_kind(np.float64).apply("Log") + _one(graph)) * rarity
    if counted is not None:
        values = values * counted
    squares = _zero(graph, np.float64).filling(documents + 1).put(homes, values * values, "add")
    return values / squares.apply("Sqrt").take(homes)


def _by_word(each: Value, starts: Value, words: Value, longest: int) -> Value:
    """Split what occurrences add, (classes, hits), evenly over their words, (classes, words).

    ``starts`` says where each stands in an array that has all words once for each length.
    """
    graph, classes, nothing = each.graph, each.size(), _zero(each.graph, np.float64)
    whole = nothing.filling(classes, words * longest)
    whole = whole.put(_for_each_class(starts, each), each, axis=1)
    sizes = (classes, _number(graph, longest), words)
    shape = graph.joined(*(size.shaped(1) for size in sizes))
    by_length = graph.op("Reshape", whole, shape, allowzero=1)
    found = nothing.filling(classes, words)
    for length in range(1, longest + 1):
        share = by_length.take(length - 1, axis=1) * graph.constant(np.array(1 / length))
        found = found + share
        for place in range(1, length):
            moved = nothing.filling(classes, _number(graph, place))
            found = found + graph.joined(moved, share, axis=1).first(words, axis=1)
    return found


def _for_each_class(index: Value, values: Value) -> Value:
    """The same places in every row of values, (classes, items)."""
    return index.graph.op("Expand", index, values.apply("Shape"))


def _features(part: WidePart, batch: _Batch, vocab_size: int) -> Value:
    """The feature of each word, then of each pair, then of each three, (longest * words,).

    Each n-gram stands where its first word does; where there is none it is one above the last.
    """
    graph, table, ids = batch.graph, part.table, batch.ids
    single_count = int(np.searchsorted(table.keys, 1 << _BITS))
    singles = np.full(vocab_size, len(table), np.int64)
    known = table.keys[:single_count]
    inside = (known > UNKNOWN) & (known < vocab_size)
    singles[known[inside]] = np.flatnonzero(inside)
    found = graph.constant(singles, "singles").take(ids)
    longer = table.keys[single_count:]
    if table.longest == 1:
        return found
    keys = graph.joined(*_keys(batch, table.longest))
    if not len(longer):
        return graph.joined(found, _number(graph, len(table)).filling(keys.size()))
    sought = graph.constant(longer, "keys")
    place = _search(sought, keys, len(longer))
    missing = graph.either(sought.take(place).equals(keys), place + single_count, len(table))
    return graph.joined(found, missing)


def _keys(batch: _Batch, longest: int) -> list[Value]:
    """The keys of the pairs, and of the threes, that begin at each word; -1 where none does."""
    graph, ids = batch.graph, batch.ids
    padded = graph.joined(ids, np.zeros(longest - 1, np.int64))
    left = batch.sentences.spread(batch.sentences.ends) - graph.counting(ids.size())
    keys, found = ids, []
    holds = _known(ids)
    for size in range(2, longest + 1):
        following = padded.part(size - 1, size - longest if size < longest else None)
        keys = keys * (1 << _BITS) + following
        holds = holds & _known(following) & left.above(size - 1)
        found.append(graph.either(holds, keys, -1))
    return found


def _known(ids: Value) -> Value:
    return ids.above(UNKNOWN) & _below(ids, 1 << _BITS)


def _search(keys: Value, sought: Value, count: int) -> Value:
    """The place of the last key that is not above what is sought, or 0, by halving."""
    graph = keys.graph
    place = _number(graph, 0).filling(sought.size())
    with graph.within("search"):
        for step in reversed(range(max(1, math.ceil(math.log2(count))))):
            ahead = graph.op("Min", place + (1 << step), count - 1)
            fits = graph.op("LessOrEqual", keys.take(ahead), sought)
            place = graph.either(fits, ahead, place)
    return place


def _linear(layer: nn.Linear, values: Value) -> Value:
    graph = values.graph
    product = values @ graph.constant(_array(layer.weight.T), "weight")
    return product + graph.constant(_array(layer.bias), "bias")


def _below(value: Value, limit: int) -> Value:
    return value.graph.op("Less", value, limit)


def _width(values: Value) -> Value:
    return values.graph.op("Squeeze", values.graph.op("Shape", values, start=1, end=2))


def _number(graph: Graph, number: int) -> Value:
    return graph.constant(np.array(number, np.int64))


def _one(graph: Graph) -> Value:
    return graph.constant(np.array(1.0))


def _zero(graph: Graph, kind: type[np.generic]) -> Value:
    return graph.constant(np.array(0, kind))


def _array(tensor: Tensor) -> Floats:
    found: Floats = tensor.detach().to("cpu", torch.float32).contiguous().numpy()
    return found
