"""A corpus on disk gives the same batches as its texts do in memory."""

import json
import tracemalloc

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.data.batch import Batch, collate
from regard.data.caps import Caps
from regard.data.check import percentile_caps, truncation_report
from regard.data.columns import Columns
from regard.data.corpus import Corpus, CorpusWriter, build_corpus
from regard.data.fingerprints import fingerprint
from regard.data.labels import LabelIndex
from regard.errors import DataError
from regard.text.document import Document
from regard.text.tokenize import TextConfig, tokenize
from regard.text.units import UnitsConfig, build_units
from regard.text.vocab import UNKNOWN, Vocab

EVERY_WORD = TextConfig(min_count=1)
TEXTS = [
    "The film is good. I like it a lot! Really.",
    "",
    "Bad. Bad. BAD film <br /> and long, with many words in this one sentence here.",
    "One",
    "A \ud800 lone surrogate, a NUL \0 and \U0001f600. 좋은 영화. 日本語。",
    "The film is good. I like it a lot! Really.",
]
LABELS = ["pos", "neg", "neg", "pos", "neg", "pos"]


def documents(texts=TEXTS, labels=LABELS):
    return [Document(text, label) for text, label in zip(texts, labels, strict=True)]


@pytest.fixture
def corpus(tmp_path):
    return build_corpus(documents(), tmp_path / "corpus", EVERY_WORD)


@pytest.fixture
def vocab(corpus):
    return Vocab.from_counts(corpus.word_counts(), EVERY_WORD)


def assert_same(found: Batch, wanted: Batch) -> None:
    assert torch.equal(found.ids.values, wanted.ids.values)
    assert torch.equal(found.ids.lengths, wanted.ids.lengths)
    assert torch.equal(found.sentences, wanted.sentences)


@pytest.mark.parametrize("indices", [[0, 1, 2, 3, 4, 5], [2], [1], [], [4, 0, 0, 1], [5, 3]])
def test_batches_are_those_of_the_texts_themselves(corpus, vocab, indices):
    found = corpus.remapped(vocab).batch(np.array(indices, dtype=np.int64))
    assert_same(found, collate([tokenize(TEXTS[index]) for index in indices], vocab))
    assert found.labels.dtype == torch.int64
    assert found.labels.tolist() == [["neg", "pos"].index(LABELS[index]) for index in indices]
    assert found.ids.values.dtype == torch.int64


texts = st.lists(st.text(st.sampled_from("ab AB.!?\n\ud800\0é좋日") | st.characters(), max_size=60))


@settings(max_examples=60, deadline=None)
@given(texts, st.randoms(use_true_random=False))
def test_any_texts_in_any_order_come_back(tmp_path_factory, texts, random):
    folder = tmp_path_factory.mktemp("corpus")
    corpus = build_corpus((Document(text) for text in texts), folder, EVERY_WORD)
    vocab = Vocab.from_counts(corpus.word_counts(), EVERY_WORD)
    order = random.sample(range(len(texts)), len(texts))
    found = corpus.remapped(vocab).batch(np.array(order, dtype=np.int64))
    assert_same(found, collate([tokenize(texts[place]) for place in order], vocab))
    assert found.labels is None or not texts
    assert corpus.lengths.tolist() == [len(tokenize(text)) for text in texts]
    assert UNKNOWN not in found.ids.values


def test_an_opened_corpus_is_the_one_that_was_built(corpus, vocab, tmp_path):
    opened = Corpus.open(tmp_path / "corpus")
    assert len(opened) == len(TEXTS) and opened.words == corpus.words
    assert opened.labels == corpus.labels == LabelIndex(("neg", "pos"))
    every = np.arange(len(TEXTS))
    assert_same(opened.remapped(vocab).batch(every), corpus.remapped(vocab).batch(every))


def test_the_arrays_are_mapped_and_not_loaded(corpus):
    assert isinstance(corpus.arrays.ids.base, np.memmap)
    assert not corpus.arrays.ids.flags.writeable


def test_words_are_counted_as_written_and_only_where_asked(corpus):
    """001-17: the vocabulary comes from the training documents alone."""
    counts = corpus.word_counts([2])
    assert counts["Bad"] == 2 and counts["BAD"] == 1 and "good" not in counts
    vocab = Vocab.from_counts(counts, EVERY_WORD)
    assert vocab.words[2:4] == [".", "bad"]  # four full stops, three times bad
    ids = corpus.remapped(vocab).batch([0]).ids.values.tolist()
    known = [vocab.words[id] for id in ids if id != UNKNOWN]
    assert known == ["film", ".", "."] and len(ids) == 13
    assert sum(corpus.word_counts().values()) == corpus.lengths.sum()


def test_one_corpus_serves_two_vocabularies(corpus, vocab):
    """Nothing is changed in place, so cross-validation tokenises once."""
    small = Vocab(["film"])
    before = corpus.remapped(vocab).batch([0]).ids.values.tolist()
    assert set(corpus.remapped(small).batch([0]).ids.values.tolist()) == {UNKNOWN, 2}
    assert corpus.remapped(vocab).batch([0]).ids.values.tolist() == before


def test_ids_need_a_vocabulary(corpus):
    with pytest.raises(DataError, match=r"call remapped\(vocab\) first"):
        corpus.batch([0])


def test_a_second_source_shares_the_words_and_is_a_part_of_its_own(tmp_path):
    """Words of the validation file only are out of the vocabulary (001-17)."""
    validation = documents(["unseen film"], ["pos"])
    corpus = build_corpus(documents(), tmp_path, EVERY_WORD, validation=validation)
    assert corpus.parts == (range(0, 6), range(6, 7))
    vocab = Vocab.from_counts(corpus.word_counts(corpus.parts[0]), EVERY_WORD)
    unseen, film = corpus.remapped(vocab).batch(corpus.parts[1]).ids.values.tolist()
    assert unseen == UNKNOWN and vocab.words[film] == "film"


def test_a_writer_says_where_each_source_lies(tmp_path):
    with CorpusWriter(tmp_path, EVERY_WORD) as writer:
        assert writer.extend(documents()[:2]) == range(0, 2)
        assert writer.extend([]) == range(2, 2)
        assert writer.extend(documents()[2:]) == range(2, 6)
        assert [len(part) for part in writer.finish().parts] == [2, 0, 4]


@pytest.mark.parametrize(
    ("labels", "classes"),
    [
        (["b", "a", "b"], ("a", "b")),
        ([10, 2, 2], (2, 10)),
        ([1, "a", 1], ("1", "a")),
    ],
)
def test_classes_are_sorted_and_labels_follow(tmp_path, labels, classes):
    """D15: labels are whatever they are, not 1 to K."""
    corpus = build_corpus(documents(["x", "y", "z"], labels), tmp_path, EVERY_WORD)
    assert corpus.labels.classes == classes
    found = corpus.remapped(Vocab([])).batch([0, 1, 2]).labels.tolist()
    assert [str(classes[number]) for number in found] == [str(label) for label in labels]
    assert corpus.targets.tolist() == found
    assert corpus.class_counts().tolist() == np.bincount(found).tolist()
    assert corpus.class_counts([0]).tolist() == np.bincount(found[:1], minlength=2).tolist()


def test_several_labels_are_ones_and_zeros(tmp_path):
    labels = [("b", "a"), (), ("c",), ("a",)]
    corpus = build_corpus(documents("wxyz", labels), tmp_path, EVERY_WORD).remapped(Vocab([]))
    assert corpus.labels == LabelIndex(("a", "b", "c"), multilabel=True)
    found = corpus.batch([3, 0, 1])
    assert found.labels.dtype == torch.float32
    assert found.labels.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert corpus.class_counts().tolist() == [2, 1, 1]
    with pytest.raises(DataError, match="do not have exactly one label each"):
        _ = corpus.targets


@pytest.mark.parametrize("labels", [["a", None], [("a",), "a"], [None, ("a",)]])
def test_documents_with_different_kinds_of_labels_are_an_error(tmp_path, labels):
    with pytest.raises(DataError, match=r"document 2 has .*, those before it "):
        build_corpus(documents("xy", labels), tmp_path)


def test_another_models_classes_can_be_taken(tmp_path, corpus, vocab):
    ours = corpus.relabelled(LabelIndex(("zero", "pos", "neg"))).remapped(vocab)
    assert ours.batch([0, 1]).labels.tolist() == [1, 2]
    with pytest.raises(DataError, match="the model does not know the label 'neg'; "):
        corpus.relabelled(LabelIndex(("pos",)))
    with pytest.raises(DataError, match="differ in having one label or several"):
        corpus.relabelled(LabelIndex(("neg", "pos"), multilabel=True))


def test_no_documents_are_a_corpus_too(tmp_path):
    corpus = build_corpus([], tmp_path, EVERY_WORD)
    assert len(corpus) == 0 and corpus.word_counts() == {} and len(corpus.lengths) == 0
    assert len(corpus.remapped(Vocab([])).batch([])) == 0
    assert corpus.labels == LabelIndex(())


def test_caps_while_writing_and_while_batching_cut_the_same(tmp_path, corpus, vocab):
    """000-13: what is cut is counted for each class, whichever way it is cut."""
    caps = Caps(max_sentences=2, max_words=3)
    config = TextConfig(min_count=1, max_sentences=2, max_words=3)
    written = build_corpus(documents(), tmp_path / "cut", config)
    capped = corpus.capped(caps)
    every = np.arange(len(TEXTS))
    truncated = [tokenize(text).truncated(sentences=2, tokens=3) for text in TEXTS]
    for found in (written.remapped(vocab).batch(every), capped.remapped(vocab).batch(every)):
        assert_same(found, collate(truncated, vocab))
    assert capped.lengths.tolist() == written.lengths.tolist() == [len(cut) for cut in truncated]
    assert written.truncation == truncation_report(corpus, caps)
    assert corpus.truncation.describe() == []


def test_what_was_cut_adds_up(corpus):
    report = truncation_report(corpus, Caps(max_sentences=1, max_words=4))
    whole = [tokenize(text) for text in TEXTS]
    left = [tokens.truncated(sentences=1, tokens=4) for tokens in whole]
    for label in ("neg", "pos"):
        (cut,) = [entry for entry in report.classes if entry.label == label]
        pairs = [
            (before, after)
            for before, after, name in zip(whole, left, LABELS, strict=True)
            if name == label
        ]
        assert cut.documents == len(pairs)
        assert cut.documents_cut == sum(len(after) < len(before) for before, after in pairs)
        assert cut.words == sum(len(before) for before, _ in pairs)
        assert cut.words_dropped == sum(len(before) - len(after) for before, after in pairs)
        assert cut.sentences_dropped == sum(
            len(before.per_sentence) - len(after.per_sentence) for before, after in pairs
        )
    assert report.total.words_dropped == sum(entry.words_dropped for entry in report.classes)
    assert report.describe()[0].startswith(
        "cut to 1 sentences per document and 4 words per sentence: "
    )


def test_automatic_caps_leave_the_asked_share_whole(tmp_path):
    """000-13: the 80th percentile of the training set."""
    texts = [" ".join(["word"] * size) + "." for size in range(1, 11)]
    texts += ["One. " * count for count in range(1, 11)]
    corpus = build_corpus([Document(text) for text in texts], tmp_path, EVERY_WORD)
    caps = percentile_caps(corpus, 0.8)
    sentences = corpus.sentence_counts
    assert np.mean(sentences <= caps.max_sentences) >= 0.8
    assert np.mean(sentences <= caps.max_sentences - 1) < 0.8
    lengths = corpus.arrays.sentence_lengths
    assert np.mean(lengths <= caps.max_words) >= 0.8
    assert np.mean(lengths <= caps.max_words - 1) < 0.8
    assert percentile_caps(corpus, 1.0) == Caps(10, 11)
    assert percentile_caps(corpus, 0.8, [0]) == Caps(1, 2)
    assert percentile_caps(corpus, 0.8, []) == Caps(1, 1)


def test_groups_times_and_fingerprints_are_kept(tmp_path):
    rows = [Document("a", "x", {"g": group, "t": time}) for group, time in (("p", 3), ("q", 1))]
    corpus = build_corpus(rows, tmp_path, columns=Columns(group="g", time="t"))
    assert corpus.arrays.groups.tolist() == [fingerprint("p"), fingerprint("q")]
    assert corpus.arrays.times.tolist() == [3, 1]
    assert corpus.arrays.fingerprints.tolist() == [fingerprint("a")] * 2


@pytest.mark.parametrize("config", [EVERY_WORD, TextConfig(max_sentences=2, max_words=3)])
def test_the_scanner_writes_the_same_files(tmp_path, monkeypatch, config):
    """Issue 3: also in blocks, and for texts that caps cut."""
    texts = [text for text in TEXTS for _ in range(400)]
    labels = [label for label in LABELS for _ in range(400)]
    build_corpus(documents(texts, labels), tmp_path / "scanned", config)
    monkeypatch.setenv("REGARD_KERNELS", "0")
    build_corpus(documents(texts, labels), tmp_path / "plain", config)
    for path in (tmp_path / "plain").iterdir():
        assert path.read_bytes() == (tmp_path / "scanned" / path.name).read_bytes(), path.name


def test_half_a_corpus_is_not_opened(tmp_path):
    with CorpusWriter(tmp_path, EVERY_WORD) as writer:
        writer.extend(documents())
    with pytest.raises(DataError, match="holds no finished corpus; build it again"):
        Corpus.open(tmp_path)


def test_building_anew_invalidates_the_old_corpus_at_once(tmp_path):
    build_corpus(documents(), tmp_path, EVERY_WORD)
    with CorpusWriter(tmp_path, EVERY_WORD), pytest.raises(DataError, match="no finished corpus"):
        Corpus.open(tmp_path)


def test_a_damaged_corpus_is_an_error(tmp_path):
    build_corpus(documents(), tmp_path, EVERY_WORD)
    ids = tmp_path / "ids.bin"
    ids.write_bytes(ids.read_bytes()[:-4])
    with pytest.raises(DataError, match="is damaged: its files are cut; build it again"):
        Corpus.open(tmp_path)
    ids.unlink()
    with pytest.raises(DataError, match=r"is damaged: ids\.bin"):
        Corpus.open(tmp_path)
    header = tmp_path / "corpus.json"
    header.write_text(json.dumps({**json.loads(header.read_text()), "format": 99}))
    with pytest.raises(DataError, match="format 99, we read 1"):
        Corpus.open(tmp_path)


def test_memory_does_not_grow_with_the_documents(tmp_path):
    """D15: neither writing a corpus nor going through it holds the documents."""

    def peak(count):
        stream = (Document("some words of a text " * 400, "x") for _ in range(count))
        tracemalloc.start()
        corpus = build_corpus(stream, tmp_path / str(count), EVERY_WORD).remapped(Vocab(["some"]))
        for block in corpus.blocks():
            for place in range(0, len(block), 8):
                corpus.batch(block[place : place + 8])
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    small, large = peak(40), peak(160)
    assert large < small + 300_000  # the ids of the other 120 alone take 960,000 bytes


def test_a_known_vocabulary_gives_the_ids_that_it_would_give_later(corpus, vocab, tmp_path):
    known = build_corpus(documents(), tmp_path / "known", EVERY_WORD, vocabulary=vocab)
    everything = np.arange(len(TEXTS))
    for found in (known, Corpus.open(tmp_path / "known")):
        assert_same(found.batch(everything), corpus.remapped(vocab).batch(everything))
        assert found.word_counts()["film"] == corpus.word_counts()["film"]


@pytest.mark.parametrize("kind", ["words", "characters", "subwords"])
def test_pieces_of_every_kind_stream_into_a_corpus(tmp_path, kind):
    """Issue 11: parts of words are written and gathered as words are."""
    pytest.importorskip("tokenizers")
    texts = [document.text for document in documents()]
    units = build_units(texts, UnitsConfig(kind, min_count=1))
    corpus = build_corpus(documents(), tmp_path, EVERY_WORD, vocabulary=units)
    encoded = units.encode(texts)
    assert corpus.lengths.tolist() == encoded.lengths.tolist()
    batch = corpus.batch(np.arange(len(texts)))
    assert batch.ids.values.tolist() == encoded.ids.tolist()
    assert batch.sentences.tolist() == encoded.sentences.tolist()
    assert sum(corpus.word_counts().values()) == len(encoded.ids)


def test_many_short_documents_are_gathered_quickly_and_rightly(tmp_path):
    count = 8_000
    with CorpusWriter(tmp_path, EVERY_WORD) as writer:
        writer.extend(Document(f"w{number % 7} x", number % 3) for number in range(count))
        corpus = writer.finish()
    corpus = corpus.remapped(Vocab(["x", *(f"w{number}" for number in range(7))]))
    order = np.random.default_rng(0).permutation(count)
    batch = corpus.batch(order)
    assert batch.ids.values[1::2].unique().tolist() == [2]
    assert batch.ids.values[::2].tolist() == (order % 7 + 3).tolist()
    assert batch.labels.tolist() == (order % 3).tolist()


def test_a_text_of_a_megabyte_is_one_document(tmp_path):
    text = "word " * 200_000
    corpus = build_corpus([Document(text)], tmp_path, EVERY_WORD)
    assert corpus.lengths.tolist() == [200_000]
    assert corpus.remapped(Vocab(["word"])).batch([0]).ids.values.unique().tolist() == [2]


def test_the_old_place_of_the_writer_still_gives_it_with_a_warning():
    from regard.data import corpus_writer

    with pytest.warns(DeprecationWarning, match="now regard.data.corpus.build_corpus"):
        assert corpus_writer.build_corpus is build_corpus
