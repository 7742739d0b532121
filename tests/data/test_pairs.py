import tracemalloc

import numpy as np
import pytest
import torch

from regard.data.columns import Columns
from regard.data.pairs import (
    EncodedPairs,
    Pair,
    collate_sources,
    encode_pairs,
    pair_texts,
    parse_links,
    read_links,
    read_pairs,
    store_pairs,
)
from regard.data.readers import read_documents
from regard.errors import ConfigError, DataError
from regard.text.units import END, START, ListedUnits, UnitsConfig
from regard.text.vocab import cut_texts

SOURCES = [[5, 6, 7], [], [8]]
TARGETS = [[9], [5, 6], []]


def test_a_batch_holds_the_chosen_pairs_in_their_order():
    batch = EncodedPairs(SOURCES, TARGETS).batch([2, 0, 1])
    assert len(batch) == 3
    assert [row.tolist() for row in batch.source.by_document.rows()] == [[8], [5, 6, 7], []]
    assert [row.tolist() for row in batch.target.rows()] == [[END], [9, END], [5, 6, END]]
    assert batch.target.values.dtype == torch.int64


def test_a_source_is_a_document_of_one_sentence_and_an_empty_one_of_none():
    batch = EncodedPairs(SOURCES, TARGETS).batch([0, 1, 2])
    assert batch.source.sentences.tolist() == [1, 0, 1]
    assert batch.source.ids.lengths.tolist() == [3, 1]


def test_before_each_id_stands_the_one_written_last():
    """002-03: the start first, and the end never."""
    batch = EncodedPairs(SOURCES, TARGETS).batch([0, 1, 2])
    rows = [row.tolist() for row in batch.previous.rows()]
    assert rows == [[START, 9], [START, 5, 6], [START]]
    assert torch.equal(batch.previous.lengths, batch.target.lengths)


def test_lengths_count_both_sides_and_the_end():
    pairs = EncodedPairs(SOURCES, TARGETS)
    assert len(pairs) == 3
    assert pairs.lengths.tolist() == [3 + 2, 0 + 3, 1 + 1]


@pytest.mark.parametrize("pairs", [EncodedPairs([], []), EncodedPairs(SOURCES, TARGETS)])
def test_an_empty_batch_has_nothing(pairs):
    batch = pairs.batch([])
    assert len(batch) == 0
    assert batch.target.values.shape == batch.previous.values.shape == (0,)


def test_unequal_numbers_are_refused():
    with pytest.raises(DataError, match="2 sources cannot be paired with 1 targets"):
        EncodedPairs([[4], [5]], [[6]])


def test_texts_to_write_about_keep_their_pieces():
    units = ListedUnits.from_texts(["a b"], UnitsConfig("words", min_count=1))
    sources = cut_texts(["b a", "", "a"], units)
    batch = collate_sources(sources)
    assert [row.tolist() for row in batch.by_document.rows()] == [
        pieces.ids.tolist() for pieces in sources
    ]
    assert [tokens.text for tokens in batch.texts] == ["b a", "", "a"]
    assert len(collate_sources([])) == 0


def test_a_batch_is_moved_whole():
    batch = EncodedPairs([np.array([4])], [np.array([5])]).batch([0]).to("cpu")
    assert batch.source.ids.values.device.type == batch.target.values.device.type == "cpu"


def test_a_batch_tells_its_tokens_and_its_numbers():
    batch = EncodedPairs(SOURCES, TARGETS).batch([0, 1])
    assert batch.token_count == 3 + 2 + 0 + 3
    other = EncodedPairs(SOURCES, [[9], [5, 7], []]).batch([0, 1])
    assert len(batch.tensors) == len(other.tensors)
    same = [torch.equal(a, b) for a, b in zip(batch.tensors, other.tensors, strict=True)]
    assert not all(same)


def test_pairs_are_read_from_two_columns(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("de,id,en\n Ja ,1,Yes\n,2,\nNein,3,No\n")
    columns = Columns(text="de", label=None, target="en", carry=False)
    found = list(read_pairs(read_documents(path, columns)))
    assert found == [Pair(" Ja ", "Yes"), Pair("", ""), Pair("Nein", "No")]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"text": "de", "target": "fr"}, "no column 'fr'; it has de, en; use --target-column"),
        ({"text": "fr", "target": "en"}, "no column 'fr'; it has de, en; use --source-column"),
    ],
)
def test_a_missing_column_is_told_with_those_there_are(tmp_path, columns, message):
    (tmp_path / "pairs.csv").write_text("de,en\nJa,Yes\n")
    with pytest.raises(DataError, match=message):
        list(read_pairs(read_documents(tmp_path / "pairs.csv", Columns(label=None, **columns))))


def test_a_target_must_be_a_text(tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"de": "Ja", "en": 3}\n')
    columns = Columns(text="de", label=None, target="en")
    with pytest.raises(DataError, match="the text in column 'en' is int 3, not a string"):
        list(read_pairs(read_documents(tmp_path / "pairs.jsonl", columns)))
    with pytest.raises(ConfigError, match="source and target are both in column 'de'"):
        Columns(text="de", label=None, target="de")


def test_python_strings_are_paired():
    assert pair_texts(iter(["a"]), np.array(["b"])) == [Pair("a", "b")]


def test_sure_and_possible_links_are_told_apart():
    """002-15: the format of gold alignments."""
    found = parse_links("0-0  1?2\t12-3\n")
    assert found.sure == {(0, 0), (12, 3)}
    assert found.possible == {(0, 0), (12, 3), (1, 2)}
    assert parse_links(" \n").possible == set()


@pytest.mark.parametrize("line", ["0-0 1", "1-", "a-b", "1:2", "-1-2", "٣-٢", "1-2-3"])
def test_what_is_no_link_is_an_error(line):
    with pytest.raises(DataError, match="is no link; write 3-2 for a sure one"):
        parse_links(line)


def test_a_file_has_a_line_for_each_pair(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("0-0\n\n1?1 0-1\n")
    assert [len(links.possible) for links in read_links(path)] == [1, 0, 2]
    path.write_text("0-0\n1=1\n")
    with pytest.raises(DataError, match=r"gold\.txt:2: '1=1' is no link"):
        list(read_links(path))
    path.write_bytes(b"0-0\n\xff\xfe\xff\xff\xff\n")
    with pytest.raises(DataError, match=r"gold\.txt:2: not valid utf-8"):
        list(read_links(path))


PAIRS = [
    Pair("ein Hund", "a dog"),
    Pair("", "nothing"),
    Pair("\ud800 하나\n", "one \x00"),
    Pair("nichts", ""),
    Pair("ein Hund läuft " * 9, "too long"),
    Pair("läuft", "runs"),
]


def every_word(texts):
    return ListedUnits.from_texts(texts, UnitsConfig("words", min_count=1))


def test_pairs_in_files_are_read_as_often_as_wanted(tmp_path):
    stored = store_pairs(iter(PAIRS), tmp_path)
    assert len(stored) == 6
    assert list(stored) == list(stored) == PAIRS
    chosen = stored.choose(np.array([5, 0, 1]))
    assert list(chosen) == [PAIRS[5], PAIRS[0], PAIRS[1]]
    assert list(chosen.choose(np.array([2]))) == [PAIRS[1]]
    assert list(store_pairs([], tmp_path)) == []


def test_pairs_in_files_give_the_batches_of_pairs_in_memory(tmp_path):
    """Issue 11: the same numbers, but for pairs with an empty or a long side."""
    sources = every_word(pair.source for pair in PAIRS)
    targets = every_word(pair.target for pair in PAIRS)
    mapped = encode_pairs(iter(PAIRS), sources, targets, tmp_path, longest=20)
    kept = [PAIRS[0], PAIRS[2], PAIRS[5]]
    in_memory = EncodedPairs(
        [sources.encode([pair.source]).ids for pair in kept],
        [targets.encode([pair.target]).ids for pair in kept],
    )
    assert len(mapped) == len(in_memory) == 3
    assert mapped.lengths.tolist() == in_memory.lengths.tolist()
    for chosen in ([0, 1, 2], [2, 0], [1, 1], []):
        both = zip(mapped.batch(chosen).tensors, in_memory.batch(chosen).tensors, strict=True)
        assert all(torch.equal(one, other) for one, other in both)
    assert len(encode_pairs([], sources, targets, tmp_path, longest=20).batch([])) == 0


def test_a_folder_that_cannot_be_written_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataError, match="cannot write a corpus to"):
        store_pairs(PAIRS, tmp_path / "file")


def test_memory_does_not_grow_with_the_pairs(tmp_path):
    """Issue 11: neither storing, counting, encoding nor going through pairs holds them."""

    text = "twentyletterslongword " * 400

    def peak(count):
        tracemalloc.start()
        stored = store_pairs((Pair(text, text) for _ in range(count)), tmp_path / "texts")
        units = every_word(text for pair in stored for text in (pair.source, pair.target))
        pairs = encode_pairs(stored, units, units, tmp_path / "ids", longest=400)
        assert len(pairs) == count
        for place in range(0, count, 8):
            pairs.batch(np.arange(place, min(place + 8, count)))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(1)  # what is made once and kept
    small, large = peak(16), peak(96)
    assert large < small + 100_000  # the texts of the other 80 alone take 1,400,000 bytes
