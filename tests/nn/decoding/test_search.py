import itertools
import math
from dataclasses import dataclass

import pytest
import torch

from regard.nn.decoding.decoders import DECODERS
from regard.nn.decoding.search import Ends, beam_search, greedy_search, sample
from regard.nn.decoding.writing import DecoderConfig, EncodedSource
from regard.nn.rows import take_rows
from regard.ragged import Ragged

START, END, VOCAB = 0, 1, 5


@dataclass(frozen=True)
class TableState:
    """The number of a table for each hypothesis."""

    tables: torch.Tensor
    lengths: torch.Tensor

    def take(self, rows, sources=None):
        lengths = self.lengths if sources is None else self.lengths[sources]
        return TableState(self.tables[rows], lengths)


@dataclass(frozen=True)
class TableStep:
    state: TableState
    logits: torch.Tensor
    weights: torch.Tensor


class TableDecoder:
    """Writes by a table of how likely each token is after each other; counts its rows."""

    def __init__(self, count=4, seed=0, sharpness=1.0):
        draw = torch.Generator().manual_seed(seed)
        self.tables = sharpness * torch.randn(count, VOCAB, VOCAB, generator=draw)
        self.tables[:, :, START] = -math.inf
        self.rows = []

    def start(self, sources=(0, 1, 2, 3)):
        return TableState(torch.tensor(sources), torch.tensor(sources) + 1)

    def step(self, state, previous):
        self.rows.append(len(previous))
        # Where it looks is what it read, so that the weights of a hypothesis are known.
        weights = torch.nn.functional.one_hot(previous, VOCAB).float()
        return TableStep(state, self.tables[state.tables, previous], weights)

    def total(self, source, ids):
        """How likely a row of ids is, by the tables alone."""
        logs = torch.log_softmax(self.tables[source], 1)
        pairs = zip([START, *ids[:-1]], ids, strict=True)
        return sum(logs[before, after].item() for before, after in pairs)


def ends(limits=(6, 6, 6, 6)):
    return Ends(START, END, torch.tensor(limits))


def everything(decoder, source, limit):
    """Every row of ids that could be written within the limit, with how likely it is."""
    inner = [token for token in range(VOCAB) if token not in (START, END)]
    for length in range(limit):
        for words in itertools.product(inner, repeat=length):
            ids = [*words, END]
            yield ids, decoder.total(source, ids)


def test_greedy_search_takes_the_likeliest_token_each_time():
    decoder = TableDecoder()
    for source, found in enumerate(greedy_search(decoder, decoder.start(), ends())):
        ids, token = [], START
        while token != END and len(ids) < 6:
            token = decoder.tables[source, token].argmax().item()
            ids.append(token)
        assert found.ids.tolist() == ids
        assert found.ended == (ids[-1] == END)
        assert found.log_probability == pytest.approx(decoder.total(source, ids), abs=1e-5)


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_a_beam_that_holds_everything_finds_the_best_of_all(power):
    """002-03, 002-07: against every row that could be written."""
    decoder, limit = TableDecoder(sharpness=2.0), 4
    found = beam_search(
        decoder, decoder.start(), ends([limit] * 4), width=4**limit, length_power=power
    )
    for source, hypotheses in enumerate(found):
        ranked = sorted(
            ((total / len(ids) ** power, ids) for ids, total in everything(decoder, source, limit)),
            reverse=True,
        )
        ended = [hypothesis for hypothesis in hypotheses if hypothesis.ended]
        assert len(ended) == len(ranked)
        for hypothesis, (score, ids) in zip(ended[:20], ranked, strict=False):
            assert hypothesis.score == pytest.approx(score, abs=1e-5)
            assert hypothesis.ids.tolist() == ids


def plain_beam(decoder, source, *, limit, width, power):
    """A beam search about one source that sorts lists: ids and scores, and whether they ended."""
    going, ended = [([], 0.0)], []
    for length in range(1, limit + 1):
        ways = [
            ([*ids, token], decoder.total(source, [*ids, token]))
            for ids, _ in going
            for token in range(VOCAB)
            if token != START
        ]
        ways = sorted(ways, key=lambda way: -way[1])[: 2 * width]
        ended += [(ids, total / length**power) for ids, total in ways[:width] if ids[-1] == END]
        going = [way for way in ways if way[0][-1] != END][:width]
        best = max((score for _, score in ended), default=-math.inf)
        if not going or (len(ended) >= width and best > going[0][1] / length**power):
            break
    found = [(ids, score, True) for ids, score in ended]
    if going and len(going[0][0]) == limit:
        found += [(ids, total / limit**power, False) for ids, total in going]
    return sorted(found, key=lambda one: (not one[2], -one[1]))[:width]


@pytest.mark.parametrize("power", [0.0, 0.6, 1.0, 2.0])
@pytest.mark.parametrize("width", [1, 2, 3, 8])
def test_a_beam_finds_what_a_plain_one_finds(width, power):
    """It stops where that does, and what the limit cut off stands behind what ended."""
    limits = [1, 2, 5, 9] * 15
    decoder = TableDecoder(count=len(limits), seed=width, sharpness=1.0)
    decoder.tables[::2, :, END] -= 3  # where ends are rare, the limit comes first
    state = decoder.start(range(len(limits)))
    found = beam_search(decoder, state, ends(limits), width=width, length_power=power)
    for source, (limit, hypotheses) in enumerate(zip(limits, found, strict=True)):
        expected = plain_beam(decoder, source, limit=limit, width=width, power=power)
        # The same pairs of tokens in another order are as likely: which comes first is not said.
        assert [(len(one.ids), one.ended) for one in hypotheses] == [
            (len(ids), ended) for ids, _, ended in expected
        ]
        scores = [score for _, score, _ in expected]
        assert [one.score for one in hypotheses] == pytest.approx(scores, abs=1e-5)


@pytest.mark.parametrize("width", [1, 2, 5])
def test_hypotheses_are_what_their_scores_say(width):
    decoder = TableDecoder(seed=3)
    found = beam_search(decoder, decoder.start(), ends(), width=width, length_power=0.7)
    for source, hypotheses in enumerate(found):
        assert 1 <= len(hypotheses) <= width
        seen = [hypothesis.ids.tolist() for hypothesis in hypotheses]
        assert len({tuple(ids) for ids in seen}) == len(seen)
        for hypothesis, ids in zip(hypotheses, seen, strict=True):
            total = decoder.total(source, ids)
            assert hypothesis.log_probability == pytest.approx(total, abs=1e-5)
            assert hypothesis.score == pytest.approx(total / len(ids) ** 0.7, abs=1e-5)
            assert hypothesis.ended == (ids[-1] == END) and END not in ids[:-1]
        ranks = [(not hypothesis.ended, -hypothesis.score) for hypothesis in hypotheses]
        assert ranks == sorted(ranks)


def test_ends_that_are_hardly_likely_do_not_stop_what_is_far_likelier():
    """At each step one end in a hundred: with a beam of two the second ended the search."""
    decoder = TableDecoder(count=1)
    likely = torch.full((VOCAB, VOCAB), 1e-9)
    for before, after in ((START, 2), (2, 3), (3, 4), (4, END)):
        likely[before, after], likely[before, END] = 0.99, max(0.01, likely[before, END])
    decoder.tables = likely.log()[None]
    (hypotheses,) = beam_search(decoder, decoder.start((0,)), ends([6]), width=2)
    assert hypotheses[0].ids.tolist() == [2, 3, 4, END]
    assert hypotheses[0].log_probability == pytest.approx(4 * math.log(0.99), abs=0.05)


def test_a_beam_of_one_is_greedy():
    decoder = TableDecoder(seed=2)
    greedy = greedy_search(decoder, decoder.start(), ends())
    beam = beam_search(decoder, decoder.start(), ends(), width=1)
    for one, [other] in zip(greedy, beam, strict=True):
        assert torch.equal(one.ids, other.ids)
        assert one.log_probability == pytest.approx(other.log_probability)


def test_every_hypothesis_keeps_where_it_looked():
    """002-07: its own weights, not those of the row it shared on the way."""
    decoder = TableDecoder(seed=1)
    state = decoder.start()
    for source, hypotheses in enumerate(beam_search(decoder, state, ends(), width=4)):
        for hypothesis in hypotheses:
            read = torch.tensor([START, *hypothesis.ids[:-1].tolist()])
            expected = torch.nn.functional.one_hot(read, VOCAB).float()
            assert torch.equal(hypothesis.weights, expected[:, : source + 1])


def test_nothing_is_written_beyond_the_limit():
    decoder = TableDecoder()
    decoder.tables[:, :, END] = -30.0
    limits = [1, 3, 0, 7]
    greedy = greedy_search(decoder, decoder.start(), ends(limits))
    assert [len(one.ids) for one in greedy] == limits
    assert not any(one.ended for one in greedy)
    beam = beam_search(decoder, decoder.start(), ends(limits), width=3)
    assert [{len(one.ids) for one in found} for found in beam] == [{1}, {3}, set(), {7}]


def test_a_source_leaves_the_batch_when_it_is_done():
    """002-03: the end of one shortens the work on the others."""
    decoder = TableDecoder()
    decoder.tables[:, :, END] = -30.0
    greedy_search(decoder, decoder.start(), ends([1, 2, 2, 5]))
    assert decoder.rows == [4, 3, 1, 1, 1]
    decoder.rows.clear()
    beam_search(decoder, decoder.start(), ends([1, 2, 2, 4]), width=3)
    assert decoder.rows == [4, 9, 3, 3]


def test_writing_stops_at_the_end():
    decoder = TableDecoder()
    decoder.tables[:, :, END] = 30.0
    greedy = greedy_search(decoder, decoder.start(), ends())
    assert [one.ids.tolist() for one in greedy] == [[END]] * 4
    assert decoder.rows == [4]
    assert all(one.ended for one in greedy)


def test_no_sources_give_nothing():
    decoder = TableDecoder()
    state = TableState(torch.zeros(0, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
    nothing = Ends(START, END, torch.zeros(0, dtype=torch.int64))
    assert greedy_search(decoder, state, nothing) == []
    assert sample(decoder, state, nothing, seed=0) == []
    assert beam_search(decoder, state, nothing, width=3) == []


def test_a_beam_wider_than_the_vocabulary_works():
    decoder = TableDecoder()
    found = beam_search(decoder, decoder.start(), ends([2] * 4), width=50)
    for source, hypotheses in enumerate(found):
        ended = [one.ids.tolist() for one in hypotheses if one.ended]
        expected = [ids for ids, _ in everything(decoder, source, 2)]
        assert sorted(ended) == sorted(expected)


class TestSampling:
    def test_tokens_come_as_often_as_they_are_likely(self):
        decoder, count = TableDecoder(count=1), 4000
        found = sample(decoder, decoder.start([0] * count), ends([1] * count), seed=1)
        firsts = torch.bincount(torch.cat([one.ids for one in found]), minlength=VOCAB) / count
        torch.testing.assert_close(
            firsts, torch.softmax(decoder.tables[0, START], 0), atol=0.03, rtol=0
        )

    def test_the_seed_decides(self):
        decoder = TableDecoder()
        draw = lambda seed: [  # noqa: E731
            one.ids.tolist() for one in sample(decoder, decoder.start(), ends(), seed=seed)
        ]
        assert draw(3) == draw(3)
        assert any(draw(3) != draw(seed) for seed in range(3))

    def test_a_source_is_not_disturbed_by_the_end_of_others(self):
        decoder = TableDecoder()
        found = sample(decoder, decoder.start(), ends((9, 9, 9, 9)), seed=4)
        shorter = sample(decoder, decoder.start(), ends((1, 9, 2, 9)), seed=4)
        for place in (1, 3):
            assert torch.equal(found[place].ids, shorter[place].ids)

    def test_without_heat_it_is_greedy(self):
        decoder = TableDecoder()
        cold = sample(decoder, decoder.start(), ends(), seed=0, temperature=1e-4)
        greedy = greedy_search(decoder, decoder.start(), ends())
        assert [one.ids.tolist() for one in cold] == [one.ids.tolist() for one in greedy]

    def test_what_cannot_be_is_never_drawn(self):
        decoder = TableDecoder()
        found = sample(decoder, decoder.start([0] * 500), ends([8] * 500), seed=2)
        assert all(START not in one.ids for one in found)


@pytest.mark.parametrize("name", DECODERS)
def test_company_changes_nothing(name):
    """002-03: batches with mixed lengths, an empty source among them, equal one by one."""
    torch.manual_seed(0)
    decoder = DECODERS[name](DecoderConfig(9, 6, 8, 8, layers=2)).double().eval()
    lengths = torch.tensor([3, 7, 0, 1, 5, 2])
    told = EncodedSource(
        Ragged(torch.randn(18, 8).double(), lengths),
        torch.randn(6, 8).double(),
        tuple((3 * torch.randn(6, 8).double(),) for _ in range(2)),
    )

    def alone(row):
        chosen = torch.tensor([row])
        carries = tuple(tuple(part[chosen] for part in carry) for carry in told.carries)
        return EncodedSource(take_rows(told.memory, chosen), told.summary[chosen], carries)

    limits = lengths + 4
    together = decoder.start(told)
    greedy = greedy_search(decoder, together, Ends(START, END, limits))
    beams = beam_search(decoder, together, Ends(START, END, limits), width=4)
    for row in range(6):
        state, end = decoder.start(alone(row)), Ends(START, END, limits[row : row + 1])
        pairs = [(greedy[row], greedy_search(decoder, state, end)[0])]
        pairs += zip(beams[row], beam_search(decoder, state, end, width=4)[0], strict=True)
        for one, other in pairs:
            assert torch.equal(one.ids, other.ids)
            assert one.score == pytest.approx(other.score)
            assert (one.weights is None) == (name in ("sutskever", "cho"))
            if one.weights is not None:
                assert one.weights.shape == (len(one.ids), lengths[row])
                torch.testing.assert_close(one.weights, other.weights)
                if lengths[row]:
                    torch.testing.assert_close(
                        one.weights.sum(1), torch.ones(len(one.ids)).double()
                    )
