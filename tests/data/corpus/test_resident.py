"""Batches gathered where the ids lie are those that the corpus gives."""

from dataclasses import fields

import numpy as np
import pytest
import torch

from regard.data.caps import Caps
from regard.data.corpus import build_corpus
from regard.data.corpus.resident import Resident, place_on
from regard.errors import DataError
from regard.models import HANConfig
from regard.tasks.classify import ClassificationLoss
from regard.text.document import Document
from regard.text.tokenize import TextConfig
from regard.text.vocab import Vocab
from regard.training.batches import PlannedBatches
from regard.training.checkpoint import fingerprint
from regard.training.loop import train
from regard.training.state import TrainingState
from support.reviews import reviews, tagged
from support.toys import plain_config, toy_model

DEVICES = [
    "cpu",
    pytest.param(
        "cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
    ),
]
EVERY_WORD = TextConfig(min_count=1)
ODD = ["", "One. ", "And\n\nthen some more words, and a sentence. Here!"]


def corpus_of(texts, labels, folder):
    documents = [Document(*both) for both in zip(texts, labels, strict=True)]
    corpus = build_corpus(documents, folder, EVERY_WORD)
    return corpus.remapped(Vocab.from_counts(corpus.word_counts(), EVERY_WORD))


@pytest.fixture
def corpus(tmp_path):
    texts, labels = reviews(40)
    return corpus_of([*texts, *ODD], [*labels, "bad", "good", "bad"], tmp_path)


def assert_same(found, wanted, device):
    for one, other in zip(found.tensors, wanted.tensors, strict=True):
        assert one.dtype == other.dtype and one.device.type == torch.device(device).type
        assert torch.equal(one.cpu(), other)
    for part in fields(found.shape):
        known = getattr(found.shape, part.name)
        assert known.device.type == "cpu"
        assert torch.equal(known, getattr(wanted.shape, part.name))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    "caps", [Caps(), Caps(max_sentences=2), Caps(max_words=3), Caps(1, 1)], ids=str
)
def test_its_batches_are_those_of_the_corpus(corpus, caps, device):
    corpus = corpus.capped(caps)
    resident = Resident(corpus, torch.device(device))
    assert np.array_equal(resident.lengths, corpus.lengths)
    draw = np.random.default_rng(0)
    for indices in ([0], [40], [], [42, 40, 3, 3], draw.permutation(43), range(43)):
        chosen = np.array(indices, dtype=np.int64)
        assert_same(resident.batch(chosen), corpus.batch(chosen), device)


@pytest.mark.parametrize("device", DEVICES)
def test_several_labels_or_none_come_along(tmp_path, device):
    texts, labels = tagged(20)
    corpus = corpus_of(texts, map(tuple, labels), tmp_path / "several")
    found = Resident(corpus, torch.device(device)).batch([3, 1])
    assert_same(found, corpus.batch([3, 1]), device)
    assert found.labels.shape == (2, 2)
    unlabelled = corpus_of(texts, [None] * 20, tmp_path / "none")
    assert Resident(unlabelled, torch.device(device)).batch([3, 1]).labels is None


def test_no_documents_are_no_batches(tmp_path):
    nothing = Resident(corpus_of([], [], tmp_path), torch.device("cpu"))
    assert len(nothing.lengths) == 0
    assert len(nothing.batch([])) == 0


def test_ids_need_a_vocabulary(tmp_path):
    plain = build_corpus([Document("some words")], tmp_path, EVERY_WORD)
    with pytest.raises(DataError, match=r"call remapped\(vocab\) first"):
        Resident(plain, torch.device("cpu"))


def test_for_a_cpu_the_corpus_itself_is_placed(corpus):
    assert place_on(corpus, torch.device("cpu")) is corpus


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_what_fits_is_kept_on_the_gpu(corpus):
    assert isinstance(place_on(corpus, torch.device("cuda")), Resident)


def test_a_run_is_known_again_wherever_its_data_lie(corpus):
    config, model = plain_config(batch_size=8), toy_model(words=1000)
    sources = (corpus, Resident(corpus, torch.device("cpu")))
    first, second = (
        fingerprint(model, PlannedBatches(source, config), config) for source in sources
    )
    assert first == second


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("weighing", ["states", "sentences"])
def test_a_training_on_it_is_one_on_the_corpus(corpus, weighing, device):
    config = plain_config(epochs=2, batch_size=8)
    network = HANConfig(embedding_size=16, hidden_size=8, attention_size=8, weighing=weighing)
    ends = []
    for source in (corpus, Resident(corpus, torch.device(device))):
        torch.manual_seed(0)
        model = network.build(vocab_size=1000, label_count=2).to(device)
        batches = PlannedBatches(source, config)
        losses = [s.loss for s in train(model, batches, loss=ClassificationLoss(), config=config)]
        ends.append(losses)
    assert ends[0] == pytest.approx(ends[1], rel=0 if device == "cpu" else 1e-3)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_no_step_waits_for_the_gpu(corpus):
    """Torch itself raises where an operation would wait; the first steps compile kernels."""
    config, device = plain_config(epochs=4, batch_size=8), torch.device("cuda")
    model = HANConfig(embedding_size=16, hidden_size=8, attention_size=8).build(
        vocab_size=1000, label_count=2
    )
    model.to(device)
    batches = PlannedBatches(Resident(corpus, device), config)
    state = TrainingState(model, config, total_steps=24)
    steps = train(model, batches, loss=ClassificationLoss(), config=config, state=state)
    for _ in range(12):
        next(steps)
    torch.cuda.synchronize()
    torch.cuda.set_sync_debug_mode("error")
    try:
        for _ in range(6):
            next(steps)
    finally:
        torch.cuda.set_sync_debug_mode("default")
