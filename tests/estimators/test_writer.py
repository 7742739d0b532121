"""What is made of the pieces that a network wrote: texts, and where unknown pieces come from."""

import numpy as np
import torch

from regard.estimators.writer import TextWriter, Wrote
from regard.nn.decoding.search import Hypothesis
from regard.records.alignment import Alignment
from regard.text.units import END, ListedUnits, SubwordUnits, UnitsConfig
from regard.text.vocab import UNKNOWN, cut_texts

WORDS = UnitsConfig("words", min_count=1)
SOURCES = ListedUnits.from_texts(["I know the man"], WORDS)
TARGETS = ListedUnits.from_texts(["Ich kenne den Mann."], WORDS)


def wrote(source, pieces, looked, *, sources=SOURCES, targets=TARGETS):
    """What a network wrote: pieces, None for an unknown one, and which source piece each saw."""
    (read,) = cut_texts([source], sources)
    known = {piece: id for id, piece in enumerate(targets.pieces)} if pieces else {}
    ids = [UNKNOWN if piece is None else known[piece] for piece in pieces]
    weights = torch.full((len(ids) + 1, len(read.ids)), 0.1)
    for row, place in enumerate(looked):
        weights[row, place] = 0.7
    found = Hypothesis(torch.tensor([*ids, END]), -0.5, -1.0, ended=True, weights=weights)
    return Wrote(read, [found])


def writer(sources=SOURCES, targets=TARGETS):
    return TextWriter(sources, targets, torch.device("cpu"))


def test_an_unknown_word_is_copied_from_where_it_looked():
    """Issue 10.7: it was printed as the replacement character."""
    one = wrote("I know Zorblax", [" Ich", " kenne", None, "."], [0, 1, 2, 2])
    assert writer().candidate(one).text == "Ich kenne Zorblax."
    alignment = writer().alignment(one)
    assert alignment.target == "Ich kenne Zorblax."
    assert alignment.copied == (2,)
    assert alignment.target_pieces == ("Ich", "kenne", "Zorblax", ".")
    assert Alignment.from_json(alignment.to_json()).copied == (2,)
    assert alignment.by_words().copied == (2,)
    assert "Copied from the" in alignment.to_text()
    assert 'class="rg-copied"' in alignment.to_html()


def test_several_are_copied_each_from_its_own_place():
    one = wrote("Zorblax know Quux", [None, " kenne", None], [0, 1, 2])
    assert writer().candidate(one).text == "Zorblax kenne Quux"
    assert writer().alignment(one).copied == (0, 2)


def test_nothing_is_copied_where_all_is_known():
    one = wrote("I know the man", [" Ich", " kenne"], [0, 1])
    assert writer().alignment(one).copied == ()
    assert "opied" not in writer().alignment(one).to_text()


def test_without_attention_an_unknown_word_stays_unknown():
    one = wrote("I know Zorblax", [" Ich", None], [0, 2])
    (found,) = one.found
    blind = Hypothesis(found.ids, found.score, found.log_probability, ended=True, weights=None)
    text = writer().candidate(Wrote(one.source, [blind])).text
    assert text == "Ich \N{REPLACEMENT CHARACTER}"


def test_a_letter_that_no_vocabulary_knows_is_copied_among_parts_of_words():
    units = SubwordUnits.from_texts(["we saw it", "we saw"] * 3, UnitsConfig(size=20))
    (read,) = cut_texts(["we ☃"], units)
    (place,) = np.flatnonzero(read.ids == UNKNOWN)
    weights = torch.full((len(read.ids), len(read.ids)), 0.01)
    weights[torch.arange(len(read.ids)), torch.arange(len(read.ids))] = 0.9
    ids = torch.from_numpy(read.ids.astype(np.int64))
    found = Hypothesis(ids, -0.5, -1.0, ended=False, weights=weights)
    one = Wrote(read, [found])
    assert writer(units, units).candidate(one).text == "we ☃"
    assert writer(units, units).alignment(one).copied == (place,)


def test_a_copied_escape_sequence_does_not_reach_the_terminal():
    one = wrote("I know \x1b[31mred", [" Ich", None], [0, 2])
    assert "\x1b" not in writer().alignment(one).to_text()
