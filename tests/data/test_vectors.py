"""Pretrained vectors of every form; only the vocabulary's rows are kept."""

import gzip
import tracemalloc

import numpy as np
import pytest

from regard.data.vectors import read_vectors
from regard.errors import DataError
from regard.text.tokenize import TextConfig
from regard.text.vocab import Vocab

VECTORS = {"the": [0.5, -1.0, 2e-3], "film": [1, 2, 3], "good": [-4, 5.5, 6], "été": [7, 8, 9]}
VOCAB = Vocab(["film", "the", "unheard", "été"])


def text(vectors=VECTORS, *, header=False, end="\n"):
    rows = [f"{word} {' '.join(map(str, row))}" for word, row in vectors.items()]
    first = [f"{len(vectors)} {len(next(iter(vectors.values())))}"] if header else []
    return end.join([*first, *rows, ""]).encode()


def binary(vectors=VECTORS, *, newline=b""):
    rows = [
        word.encode() + b" " + np.array(row, "<f4").tobytes() + newline
        for word, row in vectors.items()
    ]
    return b"%d %d\n" % (len(vectors), len(next(iter(vectors.values())))) + b"".join(rows)


FORMS = {
    "glove.txt": text(),
    "glove.txt.gz": gzip.compress(text()),
    "word2vec.txt": text(header=True),
    "fasttext.vec": text(header=True, end=" \n"),
    "windows.txt": text(end="\r\n"),
    "tabs.txt": text().replace(b" ", b"\t"),
    "word2vec.bin": binary(),
    "gensim.bin": binary(newline=b"\n"),
    "word2vec.bin.gz": gzip.compress(binary()),
}


def write(tmp_path, data, name="vectors"):
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", FORMS)
def test_every_form_gives_the_rows_of_the_vocabulary(tmp_path, name):
    """000-12, 004-01: text and binary files, plain and compressed, with a header or without."""
    found = read_vectors(write(tmp_path, FORMS[name], name), VOCAB)
    assert found.matrix.dtype == np.float32 and found.matrix.shape == (len(VOCAB), 3)
    assert found.known.tolist() == [False, False, True, True, False, True]
    wanted = np.array([VECTORS["film"], VECTORS["the"], [0, 0, 0], VECTORS["été"]], np.float32)
    assert np.array_equal(found.matrix[2:], wanted)
    assert not found.matrix[:2].any()
    coverage = found.coverage
    assert (coverage.size, coverage.words, coverage.found, coverage.damaged) == (3, 4, 3, 0)
    assert coverage.word_share == 0.75


def test_random_binary_vectors_survive(tmp_path):
    """Whatever bytes they hold: spaces, line ends, figures."""
    random = np.random.default_rng(0)
    rows = random.integers(0, 2**32, (3_000, 50), dtype=np.uint32).view(np.float32)
    rows = np.where(np.isfinite(rows), rows, np.float32(0))
    vectors = {f"w{number}": row for number, row in enumerate(rows)}
    vocab = Vocab(list(vectors))
    found = read_vectors(write(tmp_path, binary(vectors)), vocab)
    assert found.coverage.damaged == 0 and found.known[2:].all()
    assert np.array_equal(found.matrix[2:], rows)


def test_words_may_hold_spaces(tmp_path):
    """As in GloVe's largest file; the numbers are counted from the right."""
    vectors = {
        "a": [1, 2],
        ". . .": [3, 4],
        "at name@domain.com": [5, 6],
        "b": [7, 8],
        "2000": [9, 0],
    }
    found = read_vectors(write(tmp_path, text(vectors)), Vocab([*vectors]))
    assert found.matrix[2:].tolist() == list(vectors.values())


def test_a_word_as_written_goes_before_its_lower_case(tmp_path):
    vectors = {"The": [1, 1], "the": [2, 2], "FILM": [3, 3], "Film": [4, 4], "Σ": [5, 5]}
    found = read_vectors(write(tmp_path, text(vectors)), Vocab(["the", "film", "σ"]))
    assert found.matrix[2:].tolist() == [[2, 2], [3, 3], [5, 5]]
    assert (found.coverage.found, found.coverage.found_in_lower_case) == (1, 2)
    cased = Vocab(["The", "the", "THE"], TextConfig(lowercase=False))
    assert read_vectors(write(tmp_path, text(vectors)), cased).matrix[2:].tolist() == [
        [1, 1],
        [2, 2],
        [1, 1],
    ]


def test_a_word_that_comes_twice_keeps_its_first_vector(tmp_path):
    found = read_vectors(write(tmp_path, b"a 1 2\na 3 4\nb 5 6\n"), Vocab(["a"]))
    assert found.matrix[2].tolist() == [1, 2]


def test_damaged_rows_are_counted_and_left_out(tmp_path):
    data = b"a 1 2\nb 1\nc x y\nd nan 1\n\ne 3 4\nunasked x y\nf 1 \xff\n"
    found = read_vectors(write(tmp_path, data), Vocab(list("abcdef")))
    assert found.coverage.damaged == 4  # b, c, d and f; what nobody asks for is not parsed
    assert found.known[2:].tolist() == [True, False, False, False, True, False]
    assert found.coverage.describe()[-1] == "  ! 4 damaged rows were left out"


def test_a_binary_file_that_ends_too_early_is_counted(tmp_path):
    found = read_vectors(write(tmp_path, binary()[:-20]), VOCAB)
    assert found.coverage.damaged == 2 and found.coverage.found == 2


def test_another_size_is_an_error_that_says_which(tmp_path):
    with pytest.raises(DataError, match=r"size 3, the network wants 200; use --set network\.emb"):
        read_vectors(write(tmp_path, text()), VOCAB, size=200)
    assert read_vectors(write(tmp_path, text()), VOCAB, size=3).coverage.size == 3


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "holds no vectors"),
        (b"4 3\n", "holds no vectors"),
        (b"text,label\ngood,pos\n", "is no file of word vectors"),
        (b"the film is good\nso is this one\n", "is no file of word vectors"),
        (b"\xba\x16\x4f\x2f\x0c\0\0\0", r"is a whole fastText model; use the \.vec file"),
        (gzip.compress(text() * 1000)[:-30], "is damaged"),
    ],
)
def test_other_files_are_an_error(tmp_path, data, message):
    with pytest.raises(DataError, match=message):
        read_vectors(write(tmp_path, data), VOCAB)
    with pytest.raises(DataError, match="cannot read"):
        read_vectors(tmp_path / "nothing", VOCAB)


def test_the_share_of_the_running_text_is_known_where_counts_are(tmp_path):
    """000-12: the rate of words without a vector is printed."""
    counts = {"film": 6, "The": 2, "unheard": 1, "never in the vocabulary": 1}
    coverage = read_vectors(write(tmp_path, text()), VOCAB, counts=counts).coverage
    assert coverage.token_share == 0.8
    assert coverage.describe()[0].endswith("vectors of size 3 for 3 of 4 words (75.0 %)")
    assert (
        coverage.describe()[1]
        == "  these words are 80.0 % of the text; 20.0 % of it has no vectors"
    )


def test_memory_is_bounded_by_the_vocabulary(tmp_path):
    """000-12: twenty thousand rows of fifty numbers pass, ten are kept."""
    row = " ".join(["0.123456"] * 50)
    data = "".join(f"w{number} {row}\n" for number in range(20_000)).encode()
    path = write(tmp_path, data)
    vocab = Vocab([f"w{number}" for number in range(0, 20_000, 2_000)])
    tracemalloc.start()
    found = read_vectors(path, vocab)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.known[2:].all()
    assert peak < 4_000_000 < len(data) / 2


@pytest.mark.parametrize("digits", [b"9" * 5000 + b" 3\n", b"3 " + b"9" * 5000 + b"\n"])
@pytest.mark.parametrize("rest", [text(), binary()])
def test_a_header_of_thousands_of_digits_is_an_error(tmp_path, digits, rest):
    with pytest.raises(DataError, match="begins with a number of more than 18 digits"):
        read_vectors(write(tmp_path, digits + rest), VOCAB)


@pytest.mark.parametrize("first", [b"", text(), text(header=True)])
def test_a_packed_line_without_end_takes_little_memory(tmp_path, first):
    """A megabyte of gzip once filled gigabytes."""
    path = write(tmp_path, gzip.compress(first + b"word " * (20 << 20), 1))
    tracemalloc.start()
    with pytest.raises(DataError, match=r"vectors:\d: the line is longer than 2 MiB"):
        read_vectors(path, VOCAB)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 << 20


def test_a_size_that_nobody_has_is_an_error(tmp_path):
    with pytest.raises(DataError, match="says that its vectors have size 70000"):
        read_vectors(write(tmp_path, b"word" + b" 1" * 70_000 + b"\n"), VOCAB)
