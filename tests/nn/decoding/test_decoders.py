"""What every decoder must do, tried on each one in the table and each way to look."""

from dataclasses import replace

import pytest
import torch

from regard.nn.attention import SCORES
from regard.nn.decoding.decoders import DECODERS
from regard.nn.decoding.memory import LookConfig
from regard.nn.decoding.writing import DecoderConfig, EncodedSource
from regard.nn.dropout import drop
from regard.nn.rows import row_sum, take_rows
from regard.ragged import Ragged

VOCAB, MEMORY, HIDDEN = 7, 6, 6
SOURCES, TARGETS = [3, 0, 5, 1], [4, 2, 6, 1]

KINDS = {
    "sutskever": ("sutskever", {}),
    "cho": ("cho", {}),
    "bahdanau": ("bahdanau", {}),
    "xu": ("xu", {}),
    "xu informed": ("xu", {"informed": True}),
    "bahdanau informed lstm": ("bahdanau", {"informed": True, "cell": "lstm"}),
    "xu hard": ("xu", {"look": LookConfig(choice="hard")}),
    "xu mean": ("xu", {"look": LookConfig(choice="mean")}),
    "luong at once, hard": ("luong", {"feeding": False, "look": LookConfig(choice="hard")}),
    "luong": ("luong", {}),
    "luong without feeding": ("luong", {"feeding": False}),
    "luong local-m": ("luong", {"look": LookConfig(window="monotonic", reach=1)}),
    "luong local-p": ("luong", {"feeding": False, "look": LookConfig(window="predictive")}),
    "luong lstm": ("luong", {"cell": "lstm", "layers": 3}),
    "sutskever lstm": ("sutskever", {"cell": "lstm"}),
    "cho rnn": ("cho", {"cell": "rnn", "layers": 1}),
    "bahdanau tied": ("bahdanau", {"tied": True}),
    **{f"luong {score}": ("luong", {"look": LookConfig(score)}) for score in SCORES},
    **{
        f"luong {score} at once": ("luong", {"feeding": False, "look": LookConfig(score)})
        for score in SCORES
    },
}
LOOKING = ("luong", "bahdanau", "xu")
every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def config(**settings):
    plain = DecoderConfig(VOCAB, 5, HIDDEN, MEMORY, layers=2)
    return replace(plain, **settings)


def made(kind):
    torch.manual_seed(0)
    name, settings = kind
    return DECODERS[name](config(**settings)).double().eval()


def source(decoder, lengths=SOURCES):
    torch.manual_seed(1)
    cell, layers = decoder.config.cell, decoder.config.layers
    parts = 2 if cell == "lstm" else 1
    draw = lambda *shape: torch.randn(*shape, dtype=torch.float64)  # noqa: E731
    rows = len(lengths)
    return EncodedSource(
        memory=Ragged(draw(sum(lengths), MEMORY), torch.tensor(lengths, dtype=torch.int64)),
        summary=draw(rows, MEMORY),
        carries=tuple(tuple(draw(rows, HIDDEN) for _ in range(parts)) for _ in range(layers)),
    )


def targets(lengths=TARGETS):
    torch.manual_seed(2)
    ids = torch.randint(0, VOCAB, (sum(lengths),))
    return Ragged(ids, torch.tensor(lengths, dtype=torch.int64))


def alone(whole, row):
    """The source of one row."""
    chosen = torch.tensor([row])
    carries = tuple(tuple(part[chosen] for part in carry) for carry in whole.carries)
    return EncodedSource(take_rows(whole.memory, chosen), whole.summary[chosen], carries)


def by_steps(decoder, told, ids):
    """Write one row token by token; the logits and weights of every step."""
    state, logits, weights = decoder.start(told), [], []
    for token in ids:
        step = decoder.step(state, token[None])
        state = step.state
        logits.append(step.logits[0])
        if step.weights is not None:
            weights.append(step.weights[0, : told.memory.lengths[0]])
    return torch.stack(logits), weights


@every_kind
class TestEveryDecoder:
    def test_writes_whole_rows_as_it_writes_token_by_token(self, kind):
        """002-17, 002-07: alone or in company, at once or step by step."""
        decoder = made(kind)
        told, previous = source(decoder), targets()
        written = decoder.write(decoder.start(told), previous)
        assert written.logits.shape == (sum(TARGETS), VOCAB)
        expected, weights = [], []
        for row, ids in enumerate(previous.rows()):
            found = by_steps(decoder, alone(told, row), ids)
            expected.append(found[0])
            weights += found[1]
        torch.testing.assert_close(written.logits, torch.cat(expected))
        if weights:
            torch.testing.assert_close(written.weights.values, torch.cat(weights))

    def test_gives_every_step_a_row_of_weights_that_sums_to_one(self, kind):
        """002-06: one row a step, one item a source token; none for an empty source."""
        decoder = made(kind)
        written = decoder.write(decoder.start(source(decoder)), targets())
        if kind[0] in ("sutskever", "cho"):
            assert written.weights is None
            return
        counts = torch.tensor(SOURCES).repeat_interleave(torch.tensor(TARGETS))
        assert torch.equal(written.weights.lengths, counts)
        assert (written.weights.values >= 0).all()
        torch.testing.assert_close(row_sum(written.weights), (counts > 0).double())

    def test_follows_several_hypotheses_about_a_source(self, kind):
        """What a beam does: rows of the same source side by side, cut and reordered."""
        decoder = made(kind)
        told = source(decoder)
        first = decoder.step(decoder.start(told), torch.tensor([1, 2, 3, 4]))
        rows = torch.tensor([2, 2, 0, 0])
        both = first.state.take(rows, torch.tensor([2, 0]))
        looks = kind[0] in LOOKING
        assert both.lengths.tolist() == ([SOURCES[2], SOURCES[0]] if looks else [0, 0])
        step = decoder.step(both, torch.tensor([5, 6, 5, 6]))
        for place, (row, token) in enumerate([(2, 5), (2, 6), (0, 5), (0, 6)]):
            ids = torch.tensor([[1, 2, 3, 4][row], token])
            expected, _ = by_steps(decoder, alone(told, row), ids)
            torch.testing.assert_close(step.logits[place], expected[-1])

    def test_keeps_nothing_between_calls(self, kind):
        decoder = made(kind)
        told, previous = source(decoder), targets()
        state = decoder.start(told)
        first = decoder.write(state, previous).logits
        decoder.step(state, torch.zeros(len(SOURCES), dtype=torch.int64))
        assert torch.equal(decoder.write(state, previous).logits, first)

    def test_gradient_reaches_every_parameter_and_all_it_was_told(self, kind):
        decoder = made(kind)
        told = source(decoder)
        leaves = [told.memory.values, told.summary, *[p for c in told.carries for p in c]]
        for leaf in leaves:
            leaf.requires_grad_()
        decoder.write(decoder.start(told), targets()).logits.square().sum().backward()
        alike = decoder.config.look.choice != "soft"  # then scores are not learnt from the words
        for name, parameter in decoder.named_parameters():
            if not (alike and name.startswith("look.score")):
                assert parameter.grad is not None and torch.isfinite(parameter.grad).all(), name
        for carry in told.carries:
            assert all(part.grad.any() for part in carry)
        assert (told.summary.grad is not None) == (kind[0] == "cho")
        assert (told.memory.values.grad is not None) == (kind[0] in LOOKING)

    def test_takes_no_rows(self, kind):
        decoder = made(kind)
        for forcing in (1.0, 0.0):
            state = decoder.start(source(decoder, []))
            written = decoder.write(state, targets([]), forcing)
            assert written.logits.shape == (0, VOCAB)

    def test_takes_sources_that_are_all_empty(self, kind):
        decoder = made(kind)
        written = decoder.write(decoder.start(source(decoder, [0, 0])), targets([2, 1]))
        assert torch.isfinite(written.logits).all()

    def test_told_nothing_it_never_reads_a_target(self, kind):
        """002-09, D9: forcing 0, every step reads what the decoder itself thought likeliest."""
        decoder = made(kind)
        told, previous = source(decoder), targets()
        other = previous.values.clone()
        later = torch.ones(len(other), dtype=torch.bool)
        later[previous.offsets[:-1]] = False  # the start of a row is no target
        other[later] = (other[later] + 3) % VOCAB
        state = decoder.start(told)
        free = decoder.write(state, previous, 0.0)
        assert torch.equal(free.logits, decoder.write(state, previous.with_values(other), 0).logits)
        guessed = previous.values.clone()
        guessed[later] = free.logits.argmax(1)[:-1][later[1:]]
        torch.testing.assert_close(
            decoder.write(state, previous.with_values(guessed)).logits, free.logits
        )

    def test_told_everything_it_never_reads_its_own(self, kind):
        """002-09, D9: forcing 1, another likeliest token changes no other number."""
        decoder = made(kind)
        state, previous = decoder.start(source(decoder)), targets()
        logits = decoder.write(state, previous, 1.0).logits
        bias = decoder.bias if decoder.config.tied else decoder.output.bias
        with torch.no_grad():
            bias[3] += 100
        moved = decoder.write(state, previous, 1.0).logits
        logits[:, 3] += 100
        torch.testing.assert_close(moved, logits)


def read_tokens(decoder, state, previous, forcing):
    """The ids that the decoder's embedding was asked for, step after step."""
    read = []
    hook = decoder.embedding.register_forward_pre_hook(lambda _, given: read.append(given[0]))
    torch.manual_seed(5)
    decoder.write(state, previous, forcing)
    hook.remove()
    return read


def test_forcing_is_the_probability_of_the_true_token():
    """002-09, D9: not of the decoder's own."""
    decoder = made(KINDS["luong"])
    rows, steps = 50, 40
    told = source(decoder, [3] * rows)
    with torch.no_grad():
        decoder.output.bias[0] += 1e6  # its own is always 0; the true one never is
    previous = targets([steps] * rows)
    previous = previous.with_values(previous.values.clamp(min=1))
    for forcing in (0.0, 0.25, 0.75, 1.0):
        read = torch.cat(read_tokens(decoder, decoder.start(told), previous, forcing))
        share = (read[rows:] != 0).double().mean().item() if forcing < 1 else 1.0
        assert share == pytest.approx(forcing, abs=0.05 if 0 < forcing < 1 else 0)


def test_forcing_draws_from_the_seed():
    decoder = made(KINDS["bahdanau"])
    state, previous = decoder.start(source(decoder)), targets()
    first, second = (read_tokens(decoder, state, previous, 0.5) for _ in range(2))
    assert all(map(torch.equal, first, second))


def test_luong_looks_with_the_new_state_and_bahdanau_with_the_one_before():
    """004-04: the token read at a step moves Luong's weights of that step, but not Bahdanau's.

    A look that is informed is moved by it too.
    """
    ways = {"luong": True, "bahdanau": False, "bahdanau informed lstm": True, "xu informed": True}
    for name, moved in ways.items():
        decoder = made(KINDS[name])
        state = decoder.start(source(decoder))
        weights = [
            decoder.step(state, torch.full((len(SOURCES),), token)).weights for token in (1, 2)
        ]
        assert torch.allclose(*weights) != moved


def test_bahdanau_is_its_equations():
    """004-04: e = v tanh(W s_{i-1} + U h_j), a = softmax(e), c = sum a h, s = f(y, c, s)."""
    torch.manual_seed(0)
    decoder = DECODERS["bahdanau"](config(layers=1, look=LookConfig("additive", 4))).double()
    decoder.eval()
    told = source(decoder, [3])
    step = decoder.step(decoder.start(told), torch.tensor([2]))
    score, state, keys = decoder.look.score, told.carries[0][0], told.memory.values
    energies = [
        score.out.weight[0] @ torch.tanh(score.query.weight @ state[0] + score.key.weight @ key)
        for key in keys
    ]
    weights = torch.softmax(torch.stack(energies), 0)
    context = sum(weight * key for weight, key in zip(weights, keys, strict=True))
    torch.testing.assert_close(step.weights[0], weights)
    token = decoder.embedding.weight[2]
    moved = decoder.stack.layers(torch.cat([token, context])[None], state)[0][0]
    readout = torch.tanh(decoder.combine(torch.cat([moved, context, token])))
    torch.testing.assert_close(step.logits[0], decoder.output(readout))


def test_xu_takes_in_as_much_as_its_gate_says():
    """A closed gate makes the source unseen; an open one makes the decoder Bahdanau's."""
    decoder = made(KINDS["xu"])
    state, previous = decoder.start(source(decoder, [3])), torch.tensor([2])
    logits = {}
    for bias in (-1e4, 1e4):
        torch.nn.init.constant_(decoder.gate.bias, bias)
        logits[bias] = decoder.step(state, previous).logits
    other = decoder.start(replace(source(decoder, [3]), memory=source(decoder, [5]).memory))
    torch.nn.init.constant_(decoder.gate.bias, -1e4)
    torch.testing.assert_close(decoder.step(other, previous).logits, logits[-1e4])
    plain = made(KINDS["bahdanau"])
    plain.load_state_dict({k: v for k, v in decoder.state_dict().items() if "gate" not in k})
    torch.testing.assert_close(plain.step(state, previous).logits, logits[1e4])


@pytest.mark.parametrize("informed", [False, True])
def test_xu_is_its_equations(informed):
    """c = b sum a h, with a gate b = sigmoid(w s_{i-1}) that the state before opens alone.

    Where a look is informed of the token, the question is, and the gate is not.
    """
    torch.manual_seed(0)
    look = LookConfig("additive", 4)
    decoder = DECODERS["xu"](config(layers=1, cell="lstm", informed=informed, look=look)).double()
    decoder.eval()
    told = source(decoder, [3])
    step = decoder.step(decoder.start(told), torch.tensor([2]))
    (state, memory), token, keys = told.carries[0], decoder.embedding.weight[2], told.memory.values
    asked = state[0] + decoder.inform.weight @ token if informed else state[0]
    weights = torch.softmax(decoder.look.score(asked[None], told.memory), 0)
    gate = torch.sigmoid(decoder.gate.weight[0] @ state[0] + decoder.gate.bias)
    context = gate * (weights @ keys)
    given = torch.cat([token, context])[None]
    moved = decoder.stack.layers(given, (state, memory))[0][0]
    readout = torch.tanh(decoder.combine(torch.cat([moved, context, token])))
    torch.testing.assert_close(step.weights[0], weights)
    torch.testing.assert_close(step.logits[0], decoder.output(readout))


@pytest.mark.parametrize("name", DECODERS)
def test_dropout_stands_over_tokens_and_over_what_words_are_written_from(name):
    """A token that is dropped is so for the state and for the words alike."""
    torch.manual_seed(0)
    decoder = DECODERS[name](config(layers=1, dropout=0.5)).double().train()
    state, previous = decoder.start(source(decoder, [3, 2])), torch.tensor([2, 5])
    torch.manual_seed(7)
    tokens = drop(decoder.embedding(previous), 0.5, training=True)
    size = decoder.config.embedding_size
    _, seen = decoder.advance(state, decoder.stack.project(tokens, slice(size)))
    readout = drop(decoder.read_out(seen.values, tokens), 0.5, training=True)
    torch.manual_seed(7)
    torch.testing.assert_close(decoder.step(state, previous).logits, decoder.output(readout))


def test_hard_attention_sees_one_item_and_draws_it_by_the_weights_in_training():
    decoder = made(KINDS["xu hard"])
    state, previous = decoder.start(source(decoder)), targets()
    told = decoder.write(state, previous)
    assert set(told.weights.values.tolist()) == {0.0, 1.0}
    decoder.train()
    torch.manual_seed(3)
    drawn = decoder.write(state, previous)
    shares = set(drawn.weights.values.tolist()) - {0.0, 1.0}
    assert len(shares) > 20, "in training the weights are those to draw by"
    lengths = torch.tensor(SOURCES).repeat_interleave(torch.tensor(TARGETS))
    assert (drawn.chosen[lengths > 0] < lengths[lengths > 0]).all()
    torch.manual_seed(3)
    assert torch.equal(decoder.write(state, previous).chosen, drawn.chosen)


def test_sutskever_hears_of_the_source_once_and_cho_at_every_step():
    """004-03: after the start, another summary changes nothing for the one, all for the other."""
    for name, changes in (("sutskever", False), ("cho", True)):
        decoder = made(KINDS[name])
        told = source(decoder)
        other = replace(told, summary=told.summary + 1)
        logits = [decoder.write(decoder.start(one), targets()).logits for one in (told, other)]
        assert torch.allclose(*logits) != changes


def test_tied_logits_are_written_by_the_vectors_that_are_read():
    torch.manual_seed(0)
    decoder = DECODERS["luong"](config(tied=True)).double().eval()
    readout = torch.randn(2, HIDDEN, dtype=torch.float64)
    expected = decoder.narrow(readout) @ decoder.embedding.weight.T + decoder.bias
    torch.testing.assert_close(decoder.logits(readout), expected)
    assert "output.weight" not in decoder.state_dict()


def test_dropout_is_drawn_from_the_seed_and_only_in_training():
    """D7."""
    torch.manual_seed(0)
    decoder = DECODERS["luong"](config(dropout=0.5)).double()
    state, previous = decoder.start(source(decoder)), targets()
    drawn = []
    for _ in range(2):
        torch.manual_seed(4)
        drawn.append(decoder.train().write(state, previous).logits)
    assert torch.equal(*drawn)
    assert not torch.equal(drawn[0], decoder.write(state, previous).logits)
    kept = [decoder.eval().write(state, previous).logits for _ in range(2)]
    assert torch.equal(*kept)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@every_kind
def test_a_gpu_writes_what_the_cpu_writes(kind):
    decoder = made(kind)
    told, previous = source(decoder), targets()
    expected = decoder.write(decoder.start(told), previous).logits
    decoder.to("cuda")
    moved = EncodedSource(
        told.memory.to("cuda"),
        told.summary.cuda(),
        tuple(tuple(part.cuda() for part in carry) for carry in told.carries),
    )
    found = decoder.write(decoder.start(moved), previous.to("cuda")).logits.cpu()
    torch.testing.assert_close(found, expected)
