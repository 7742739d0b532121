"""ONNX Runtime gives what torch gives: every network that can be exported, on ragged batches."""

import numpy as np
import pytest
import torch

from regard.data.batch import Batch
from regard.data.labels import LabelIndex
from regard.errors import ConfigError
from regard.explain.fitted import Fitted
from regard.models import CAHANConfig, FlatConfig, HANConfig
from regard.models.ensemble import ensemble_of
from regard.models.ngrams import Emphasis, Marking, NGramTable
from regard.models.reader import TextReader
from regard.models.wide import Wide, WidePart, rows_of
from regard.ragged import Ragged
from regard.text.tokenize import TextConfig
from regard.text.vocab import Vocab

pytest.importorskip("onnx", reason="needs the extra export")
pytest.importorskip("onnxruntime", reason="needs the extra export")

from regard.export.graph import build_graph
from regard.export.onnx_folder import compare, inputs_of, start_session

WORDS = 40
SMALL = {"embedding_size": 6, "hidden_size": 5, "attention_size": 4}
NETWORKS = {
    "the default": HANConfig(**SMALL),
    "lstm": HANConfig(**SMALL, cell="lstm"),
    "rnn": HANConfig(**SMALL, cell="rnn"),
    "no encoder": HANConfig(**SMALL, encoder="none"),
    "one direction": HANConfig(**SMALL, directions=1),
    "two layers": HANConfig(**SMALL, layers=2),
    "flow": HANConfig(**SMALL, reading="flow"),
    "states": HANConfig(**SMALL, weighing="states", sentence_hidden_size=3),
    "mean": HANConfig(**SMALL, pooling="mean"),
    "max": HANConfig(**SMALL, pooling="max"),
    "last": HANConfig(**SMALL, pooling="last"),
    "last, one direction": HANConfig(**SMALL, pooling="last", directions=1),
    "structured": HANConfig(**SMALL, pooling="structured", hops=3),
    "structured, one hop": HANConfig(**SMALL, pooling="structured", hops=1),
    "structured, sums": HANConfig(**SMALL, pooling="structured", hops=2, score="concat"),
    "flat": FlatConfig(**SMALL),
    "flat, lstm, max": FlatConfig(**SMALL, cell="lstm", pooling="max"),
    **{
        score: HANConfig(**SMALL, score=score)
        for score in ("dot", "general", "general_diag", "concat", "additive")
    },
}


def make(config, *, labels=3, seed=0):
    """A network whose weights are large enough to tell right from wrong."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = config.build(vocab_size=WORDS, label_count=labels).eval()
        with torch.no_grad():
            for weight in model.parameters():
                weight.normal_(0, 0.7)
    return model


def documents(*, seed=0, count=12):
    """Documents of any shape: none, one word, no sentence, long and short ones."""
    draw = np.random.default_rng(seed)
    sentences = np.concatenate([[0, 1, 0], draw.integers(0, 9, count), [0]])
    lengths = draw.integers(1, 25, sentences.sum())
    lengths[0] = 1
    return batch_of(draw.integers(1, WORDS, lengths.sum()), lengths, sentences)


def batch_of(ids, lengths, sentences):
    ids, lengths, sentences = (
        torch.as_tensor(np.asarray(part, np.int64)) for part in (ids, lengths, sentences)
    )
    return Batch(Ragged(ids, lengths), sentences)


def fitted_of(model, *, labels=3, multilabel=False, temperature=1.3):
    vocab = Vocab([f"w{number}" for number in range(WORDS - 2)])
    index = LabelIndex(tuple(f"label {n}" for n in range(labels)), multilabel)
    reader = TextReader(vocab, TextConfig(), torch.device("cpu"))
    return Fitted(model, reader, index, temperature)


def session_of(fitted):
    graph = build_graph(fitted.model, fitted.labels, fitted.temperature)
    return start_session(graph.SerializeToString(), threads=1)


def difference(fitted, *batches):
    return compare(session_of(fitted), fitted, iter(batches)).largest


UNEVEN = Emphasis(first=1, last=2)


LOOKS = Marking(np.random.default_rng(5).normal(0, 2, WORDS).astype(np.float32))


def with_ngrams(network, *, longest=3, labels=3, seed=0, emphasis=UNEVEN, marking=LOOKS):
    """The network with n-grams beside it, many of which random documents have."""
    draw = np.random.default_rng(seed)
    singles = draw.permutation(np.arange(2, WORDS))[:25]
    pairs = draw.integers(2, WORDS, (400, 2)) @ (1 << 21, 1)
    threes = draw.integers(2, WORDS, (3000, 3)) @ (1 << 42, 1 << 21, 1)
    keys = np.unique(np.concatenate([singles, pairs, threes][:longest]))
    parts = []
    for kept, size in ((keys, longest), (np.sort(singles[:9]), 1)):
        rarity = draw.uniform(1, 5, len(kept)).astype(np.float32)
        table = NGramTable(kept, rarity, size, emphasis, marking)
        parts.append(WidePart(table, draw.normal(0, 3, (len(kept), labels)).astype(np.float32)))
    intercepts = draw.normal(0, 1, labels).astype(np.float32)
    return Wide(network, parts, intercepts=intercepts, scale=0.8).eval()


@pytest.mark.parametrize("config", NETWORKS.values(), ids=NETWORKS)
def test_every_network_gives_what_torch_gives(config):
    """Issue 16.4: logits, probabilities and both attentions."""
    assert difference(fitted_of(make(config)), documents(), documents(seed=1)) < 1e-5


def test_the_outputs_are_named_and_sized():
    session = session_of(fitted_of(make(NETWORKS["the default"])))
    found = {one.name: one.shape for one in session.get_outputs()}
    assert found == {
        "logits": ["documents", 3],
        "probabilities": ["documents", 3],
        "word_weights": ["words"],
        "sentence_weights": ["sentences"],
    }


@pytest.mark.parametrize("marking", [None, LOOKS])
@pytest.mark.parametrize("emphasis", [Emphasis(), Emphasis(last=2)])
@pytest.mark.parametrize("longest", [1, 2, 3])
def test_ngrams_are_found_inside_the_graph(longest, emphasis, marking):
    """Issue 16.4: the wide branch included; a document has each feature once, however often."""
    heights = {"emphasis": emphasis, "marking": marking}
    model = with_ngrams(make(NETWORKS["the default"]), longest=longest, **heights)
    batches = [documents(), documents(seed=1), batch_of([5] * 300, [100, 200], [1, 1])]
    hits = model.parts[0].table.values(rows_of(batches[0])).counts
    assert hits.max() > 10 and hits.min() == 0
    assert difference(fitted_of(model), *batches) < 2e-5


@pytest.mark.parametrize("multilabel", [False, True])
def test_several_seeds_are_one_graph(multilabel):
    members = [make(NETWORKS["the default"], seed=seed) for seed in range(3)]
    model = with_ngrams(ensemble_of(members, multilabel=multilabel))
    assert difference(fitted_of(model, multilabel=multilabel), documents()) < 2e-5


def test_documents_get_the_same_alone_as_together():
    fitted = fitted_of(with_ngrams(make(NETWORKS["the default"])))
    session, together = session_of(fitted), documents()
    names = [output.name for output in session.get_outputs()]
    words, sizes, counts = inputs_of(together).values()
    whole = dict(zip(names, session.run(names, inputs_of(together)), strict=True))
    lengths = np.split(sizes, np.cumsum(counts)[:-1])
    ids = np.split(words, np.cumsum([part.sum() for part in lengths])[:-1])
    alone = [
        session.run(names, inputs_of(batch_of(some, parts, [len(parts)])))
        for some, parts in zip(ids, lengths, strict=True)
    ]
    for place, name in enumerate(names):
        joined = np.concatenate([found[place] for found in alone])
        np.testing.assert_allclose(joined, whole[name], atol=2e-6)


@pytest.mark.parametrize(
    ("lengths", "sentences"),
    [([], []), ([], [0]), ([], [0, 0]), ([1], [1]), ([10_000], [1]), ([5000, 1, 1, 1, 4997], [5])],
    ids=["nothing", "no word", "no words", "a word", "a long sentence", "long and short"],
)
def test_odd_documents_are_read(lengths, sentences):
    """Ten thousand words in a sentence, one word, no word, no document."""
    ids = np.random.default_rng(0).integers(1, WORDS, sum(lengths))
    fitted = fitted_of(with_ngrams(make(NETWORKS["the default"])))
    assert difference(fitted, batch_of(ids, lengths, sentences)) < 2e-5


@pytest.mark.parametrize(
    ("lengths", "sentences"),
    [([3, 3], [2]), ([3, 5], [2]), ([], []), ([3, 4], [1]), ([3, 4], [1, 2])],
)
def test_lengths_that_do_not_add_up_are_an_error(lengths, sentences):
    """Seven words: a caller that counts wrongly is told, and gets no answer."""
    session = session_of(fitted_of(make(NETWORKS["the default"])))
    given = (np.arange(2, 9), np.array(lengths, np.int64), np.array(sentences, np.int64))
    names = ("word_ids", "sentence_lengths", "document_lengths")
    with pytest.raises(Exception, match="Reshape"):
        session.run(None, dict(zip(names, given, strict=True)))


def test_what_cannot_be_written_down_is_named():
    for config, said in (
        (CAHANConfig(**SMALL), "kind CAHAN"),
        (HANConfig(**SMALL, encoder="transformer", heads=5), "encoder=transformer"),
        (HANConfig(**SMALL, score="location"), "LocationScore"),
    ):
        with pytest.raises(ConfigError, match=said):
            build_graph(make(config), LabelIndex(("a", "b", "c")), 1.0)
