"""The check before training: what it finds, counted again the plain way."""

from collections import Counter

import numpy as np
import pytest

from regard.data.check import check_corpus, estimate_memory
from regard.data.columns import Columns
from regard.data.corpus import build_corpus
from regard.data.fingerprints import fingerprint, repeated, shared
from regard.data.readers import read_rows
from regard.records.data import ClassSize, DataCheck, Overlap
from regard.text.document import Document
from regard.text.tokenize import TextConfig, tokenize

TRAINING = [
    ("A good film. I like it.", "pos"),
    ("A bad film.", "neg"),
    ("A good film. I like it. ", "neg"),  # the first again, but for a space and the label
    ("", "neg"),
    ("So bad. " * 30, "neg"),
    ("A bad film.", "neg"),
    ("Odd", "rare"),
]
VALIDATION = [("A bad film.", "neg"), ("New.", "pos")]


def documents(rows):
    return [Document(text, label) for text, label in rows]


@pytest.fixture
def corpus(tmp_path):
    return build_corpus(documents(TRAINING), tmp_path, validation=documents(VALIDATION))


def test_the_check_counts_what_is_there(corpus):
    found = check_corpus(corpus)
    lengths = [len(tokenize(text)) for text, _ in TRAINING]
    assert (found.documents, found.validation_documents) == (7, 2)
    assert found.tokens == sum(lengths)
    assert found.tokens_per_document.longest == max(lengths)
    assert found.tokens_per_document.median == sorted(lengths)[3]
    assert found.sentences_per_document.longest == 30
    assert found.words_per_sentence.longest == 4
    assert found.classes == (ClassSize("neg", 5, 1), ClassSize("pos", 1, 1), ClassSize("rare", 1))
    assert found.empty_documents == 1
    assert found.duplicates == 2
    assert found.contradictions == 1
    assert found.rare_classes == ("pos", "rare")
    assert found.overlaps == (Overlap("validation", 2, 1),)
    assert found.distinct_words == len(corpus.words)


def test_texts_of_a_test_file_are_looked_for(corpus):
    others = {"test": np.array([fingerprint("Odd"), fingerprint("Even")], dtype=np.uint64)}
    found = check_corpus(corpus, training=[0, 1, 6], validation=[], others=others)
    assert found.overlaps == (Overlap("test", 2, 1),)
    assert found.duplicates == found.contradictions == 0
    assert any(
        "1 of 2 test documents is a training document too" in line for line in found.describe()
    )


def test_every_doubt_is_a_line_with_a_mark(corpus):
    marked = [line for line in check_corpus(corpus).describe() if line.startswith("! ")]
    assert marked == [
        "! 1 training document has no words",
        "! 2 training documents repeat an earlier text",
        "! 1 text occurs with different labels",
        "! 1 of 2 validation documents is a training document too: scores on it flatter",
        "! classes of fewer than two training documents: pos, rare",
    ]


def test_good_data_raise_no_doubt(tmp_path):
    rows = [Document(f"text {number}", number % 2) for number in range(10)]
    found = check_corpus(build_corpus(rows, tmp_path))
    assert not [line for line in found.describe() if line.startswith("!")]
    assert found.describe()[1] == "2 classes, one per document: 0 5, 1 5"


def test_of_many_rare_classes_the_rest_are_counted(tmp_path):
    rows = [Document(f"text {number}", f"class {number:04}") for number in range(1013)]
    lines = check_corpus(build_corpus(rows, tmp_path)).describe()
    assert any(
        line.startswith("! classes of fewer than two training documents: class 0000, ")
        and line.endswith("class 0011, and 1,001 more")
        for line in lines
    ), lines


def test_labels_that_nearly_every_document_has_alone_are_doubted(tmp_path):
    """Titles in place of labels: rare classes were named, twelve titles long, and no more."""
    texts = [f"text {number}" for number in range(40)]
    titles = build_corpus([Document(text, f"title of {text}") for text in texts], tmp_path / "a")
    told = "! 40 of 40 training documents have a label that no other has: is it the right column?"
    assert told in check_corpus(titles).describe()
    topics = [f"topic {max(0, number - 24)}" for number in range(40)]
    made = [Document(text, topic) for text, topic in zip(texts, topics, strict=True)]
    fewer = check_corpus(build_corpus(made, tmp_path / "b")).describe()
    assert not any("no other" in line for line in fewer), "15 of 40 are rare, which may well be"


def test_skipped_rows_and_cuts_are_in_the_check(tmp_path):
    """Nothing is dropped without being counted."""
    rows = [{"text": "One two three.", "label": "a"}, {"text": "x", "label": ""}] * 2
    reader = read_rows(rows, on_bad_row="skip")
    corpus = build_corpus(reader, tmp_path, TextConfig(max_words=2))
    found = check_corpus(corpus, readings=[reader.counts])
    assert found.skipped_rows == 2
    assert found.truncation.total.words_dropped == 4
    lines = "\n".join(found.describe())
    assert "2 skipped: 2 missing label" in lines and "rows:2: the label is missing" in lines
    assert "cut to 2 words per sentence: 2 of 2 documents" in lines
    assert "there is one class only, a" in lines


def test_several_labels_and_none_are_checked(tmp_path):
    several = [Document("a", ("x", "y")), Document("a", ("y", "x")), Document("a", ("z",))]
    found = check_corpus(build_corpus(several, tmp_path / "several"))
    assert found.multilabel and found.contradictions == 1
    assert [entry.training for entry in found.classes] == [2, 2, 1]
    none = check_corpus(build_corpus([Document("a"), Document("b")], tmp_path / "none"))
    assert none.classes == () and none.contradictions == 0


def test_no_documents_can_be_checked(tmp_path):
    found = check_corpus(build_corpus([], tmp_path))
    assert found.documents == 0 and found.tokens_per_document.longest == 0
    assert found.describe()


def test_a_check_goes_to_json_and_back(corpus):
    found = check_corpus(corpus, readings=[read_rows([]).counts])
    complete = found.with_estimates(memory_bytes=3 << 29, seconds=125.0)
    assert DataCheck.from_json(complete.to_json()) == complete
    assert complete.describe()[-1] == "training takes about 2 min and about 1.5 GB of memory"


def test_memory_grows_with_the_network_and_the_batch():
    small = estimate_memory(parameter_count=10**6, batch_tokens=10_000, token_size=1_000)
    assert small == estimate_memory(parameter_count=0, batch_tokens=0, token_size=0) + 96 * 10**6


def test_fingerprints_are_the_same_in_every_run():
    assert fingerprint("text") == 2024992729630503895
    assert fingerprint(" text\n") == fingerprint("text") != fingerprint("Text")
    assert fingerprint("\ud800") != fingerprint("?")


def test_repeated_and_shared_texts_are_counted_as_by_hand():
    numbers = np.random.default_rng(0).integers(0, 50, 200).astype(np.uint64)
    others = np.arange(25, dtype=np.uint64)
    assert repeated(numbers) == sum(count - 1 for count in Counter(numbers.tolist()).values())
    assert shared(numbers, others) == sum(number < 25 for number in numbers.tolist())


def test_a_group_column_does_not_disturb(tmp_path):
    rows = [Document("a", "x", {"g": 1}), Document("b", "y", {"g": 2})]
    found = check_corpus(build_corpus(rows, tmp_path, columns=Columns(group="g")))
    assert found.documents == 2 and found.corpus_bytes > 0
