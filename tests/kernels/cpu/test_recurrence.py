import gc
import multiprocessing

import pytest
import torch

from regard.kernels import cpu, native
from regard.kernels.cpu import recurrence
from regard.ragged import Ragged
from support.native_cases import (
    INSTRUCTIONS,
    Case,
    distance,
    gradients,
    needs_native,
    recur_batched,
)

pytestmark = needs_native

CELLS = ("rnn", "gru", "lstm")
SIZES = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 50, 64, 100, 128, 256)
ROWS = {
    "no rows": [],
    "empty rows": [0, 0, 0],
    "one item": [1],
    "one row": [13],
    "eight rows": [4] * 8,
    "nine rows": [2, 9, 1, 4, 4, 4, 5, 6, 7],
    "many short": [1, 2, 0] * 40,
    "one long": [1, 1, 300, 2],
}


@pytest.fixture
def threads():
    """Sets the number of torch's threads, and puts it back."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("hidden_size", SIZES)
@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_every_instruction_set_agrees_with_torch(instructions, cell, hidden_size, monkeypatch):
    """Issue 3: gradients and states against nn.GRU within 1e-5 relative, at any hidden size."""
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    for directions in (1, 2):
        case = Case(cell, hidden_size, directions=directions)
        states = cpu.recur(cell, *case.inputs())
        wanted, wanted_leaves = case.by_torch()
        assert distance(states, wanted) < 1e-5
        for found, true in zip(
            gradients(states, case.leaves()), gradients(wanted, wanted_leaves), strict=True
        ):
            assert distance(found, true) < 1e-5


@pytest.mark.parametrize("lengths", ROWS.values(), ids=ROWS)
@pytest.mark.parametrize("cell", CELLS)
def test_rows_of_any_length_agree_with_the_plain_version(cell, lengths):
    case = Case(cell, 20, lengths=lengths)
    states = cpu.recur(cell, *case.inputs())
    wanted = recur_batched(cell, *case.inputs())
    assert states.shape == wanted.shape
    assert distance(states, wanted) < 1e-5
    for found, true in zip(
        gradients(states, case.leaves()), gradients(wanted, case.leaves()), strict=True
    ):
        assert distance(found, true) < 1e-5


@pytest.mark.parametrize("cell", CELLS)
def test_without_an_index_each_item_reads_its_own_row(cell):
    case = Case(cell, 10)
    projected = case.projected().detach()[case.index].requires_grad_()
    states = cpu.recur(cell, projected, None, case.rows, case.weights, case.biases)
    wanted = recur_batched(cell, projected, None, case.rows, case.weights, case.biases)
    assert distance(states, wanted) < 1e-5
    found, true = gradients(states, [projected])[0], gradients(wanted, [projected])[0]
    assert distance(found, true) < 1e-5


@pytest.mark.parametrize("dtype", [torch.int32, torch.int16, torch.uint8])
def test_an_index_may_have_any_whole_type(dtype):
    case = Case("gru", 8)
    projected, index, rows, weights, biases = case.inputs()
    wanted = cpu.recur("gru", projected, index, rows, weights, biases)
    found = cpu.recur("gru", projected, index.to(dtype), rows, weights, biases)
    assert torch.equal(found, wanted)


def test_tensors_need_not_be_contiguous():
    case = Case("lstm", 12)
    wanted = cpu.recur("lstm", *case.inputs())
    projected, index, rows, weights, biases = case.inputs()
    scattered = [
        projected.t().contiguous().t(),
        index.repeat_interleave(2)[::2],
        rows,
        weights.transpose(1, 2).contiguous().transpose(1, 2),
        biases.t().contiguous().t(),
    ]
    found = cpu.recur("lstm", *scattered)
    assert torch.equal(found, wanted)
    # A sum gives an expanded gradient, without memory of its own.
    expanded = torch.autograd.grad(found.sum(), case.leaves())
    for found, true in zip(expanded, torch.autograd.grad(wanted.sum(), case.leaves()), strict=True):
        assert torch.equal(found, true)


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("cell", CELLS)
def test_company_changes_not_a_bit(cell, instructions, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    case = Case(cell, 50)
    projected, index, rows, weights, biases = case.inputs()
    together = cpu.recur(cell, projected, index, rows, weights, biases).split(case.lengths)
    for row, states in zip(index.split(case.lengths), together, strict=True):
        alone = Ragged(row, torch.tensor([len(row)]))
        assert torch.equal(cpu.recur(cell, projected, row, alone, weights, biases), states)


@pytest.mark.parametrize("whose", ["torch's threads", "our own threads"])
@pytest.mark.parametrize("cell", CELLS)
def test_threads_change_not_a_bit(cell, whose, threads, monkeypatch):
    """The same input gives the same bits, run after run and for any number of threads."""
    if whose == "our own threads":
        monkeypatch.setattr(native, "_team", lambda: None)
    lengths = torch.randint(0, 40, (1000,), generator=torch.Generator().manual_seed(1)).tolist()
    case = Case(cell, 17, lengths=lengths, distinct=50)
    # Torch's own products are not looked at: their bits do depend on the threads.
    projected, weights, biases = (
        tensor.detach().requires_grad_() for tensor in (case.projected(), case.weights, case.biases)
    )
    results = []
    for count in (1, 2, 3, 3):
        threads(count)
        states = cpu.recur(cell, projected, case.index, case.rows, weights, biases)
        results.append([states, *gradients(states, [projected, weights, biases])])
    for other in results[1:]:
        assert all(torch.equal(one, two) for one, two in zip(results[0], other, strict=True))


def test_no_gates_are_saved_without_gradients():
    case = Case("gru", 50)
    with torch.no_grad():
        states = cpu.recur("gru", *case.inputs())
    assert not states.requires_grad
    assert torch.equal(states, cpu.recur("gru", *case.inputs()))


@pytest.mark.parametrize("cell", CELLS)
def test_going_back_twice_gives_the_same(cell):
    case = Case(cell, 9)
    states = cpu.recur(cell, *case.inputs())
    first = gradients(states, case.leaves(), retain_graph=True)
    for found, true in zip(gradients(states, case.leaves()), first, strict=True):
        assert distance(found, true) < 1e-6


@pytest.mark.parametrize("indexed", [True, False])
@pytest.mark.parametrize("cell", CELLS)
def test_gates_made_again_give_the_same_gradients(cell, indexed, monkeypatch):
    """Above a limit of memory the gates are not kept, and the rows go back part by part."""
    case = Case(cell, 9)
    projected, index, rows, weights, biases = case.inputs()
    if not indexed:
        projected, index = projected[index], None
    inputs = (projected, index, rows, weights, biases)
    wanted = gradients(cpu.recur(cell, *inputs), case.leaves(), retain_graph=True)
    monkeypatch.setattr(recurrence, "KEPT_BYTES", 100_000)
    found = gradients(cpu.recur(cell, *inputs), case.leaves())
    for one, two in zip(found, wanted, strict=True):
        assert distance(one, two) < 1e-6


def test_a_row_of_a_hundred_thousand_items_is_read():
    """Issue 3: rows of length 100,000; nothing of a row's length lies on the stack."""
    case = Case("gru", 5, lengths=[100_000, 0, 1])
    states = cpu.recur("gru", *case.inputs())
    found = gradients(states, case.leaves())
    assert bool(torch.isfinite(states).all()) and all(bool(g.isfinite().all()) for g in found)
    # What lies far back is forgotten: the end of the long row is that of a short one.
    tail = Ragged(case.index[99_000:100_000], torch.tensor([1000]))
    projected, _, _, weights, biases = case.inputs()
    short = cpu.recur("gru", projected, tail.values, tail, weights, biases)
    torch.testing.assert_close(states[99_999, :5], short[-1, :5], atol=1e-6, rtol=0)


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
@pytest.mark.parametrize("cell", CELLS)
def test_a_number_that_is_none_shows_in_its_row_alone(cell, instructions, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    case = Case(cell, 20, lengths=[3, 4, 2], distinct=9)
    index = torch.arange(9)
    projected = case.projected().detach()
    projected[4] = float("nan")
    states = cpu.recur(cell, projected, index, case.rows, case.weights, case.biases)
    spoiled = states.isnan().any(1)
    assert spoiled.tolist() == [False] * 3 + [True] * 4 + [False] * 2


@pytest.mark.parametrize("instructions", INSTRUCTIONS)
def test_huge_inputs_saturate_the_gates(instructions, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", instructions)
    for cell in CELLS:
        case = Case(cell, 20)
        projected = case.projected().detach() * 1e30
        arguments = (case.index, case.rows, case.weights, case.biases)
        states = cpu.recur(cell, projected, *arguments)
        torch.testing.assert_close(
            states, recur_batched(cell, projected, *arguments), atol=1e-5, rtol=0
        )


def test_wrong_arguments_are_errors_that_say_what_is_wrong():
    """Issue 3: a kernel given odd tensors never crashes the process."""
    case = Case("gru", 8)
    projected, index, rows, weights, biases = case.inputs()
    few = Ragged(index, rows.lengths[:-1])
    negative = Ragged(index, torch.tensor([-1, len(index) + 1]))
    wrong = {
        "projected as torch.float32": (projected.double(), index, rows, weights, biases),
        "got torch.float32 (20, 47)": (projected[:, 1:], index, rows, weights, biases),
        "weights as": (projected, index, rows, weights[:, 1:], biases),
        "biases as": (projected, index, rows, weights, biases[:, 1:]),
        "one or two directions": (projected, index, rows, weights[:0], biases[:0]),
        "have 74 items, but there are 78": (projected, index, few, weights, biases),
        "cannot have -1 items": (projected, index, negative, weights, biases),
        "whole numbers": (projected, index.float(), rows, weights, biases),
    }
    for message, arguments in wrong.items():
        with pytest.raises(ValueError) as caught:
            cpu.recur("gru", *arguments)
        assert message in str(caught.value)
    with pytest.raises(ValueError, match="there is no cell 'gru2'; did you mean 'gru'"):
        cpu.recur("gru2", projected, index, rows, weights, biases)
    for outside in (-1, len(projected)):
        with pytest.raises(IndexError, match="index must be from 0 to 19"):
            cpu.recur("gru", projected, torch.full_like(index, outside), rows, weights, biases)


def test_buffers_are_freed():
    case = Case("gru", 8)
    torch.autograd.grad(cpu.recur("gru", *case.inputs()).sum(), case.leaves())
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(5):
        torch.autograd.grad(cpu.recur("gru", *case.inputs()).sum(), case.leaves())
    gc.collect()
    assert len(gc.get_objects()) - before < 50


def _last_state(arguments, sending):
    with torch.no_grad():
        sending.send(cpu.recur("gru", *arguments)[-1].tolist())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_fork_after_use_computes_on(threads):
    """Threads do not live on in a child, which must neither wait for them nor crash."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("this system cannot fork")
    threads(2)
    arguments = [
        argument.detach() if isinstance(argument, torch.Tensor) else argument
        for argument in Case("gru", 50, lengths=[30] * 400).inputs()
    ]
    wanted = cpu.recur("gru", *arguments)[-1].tolist()
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    child = context.Process(target=_last_state, args=(arguments, sending), daemon=True)
    child.start()
    assert receiving.poll(60), "the child hangs"
    assert receiving.recv() == wanted
    child.join(60)
    assert child.exitcode == 0
