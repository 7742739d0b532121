import importlib
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

import regard
from regard.errors import ConfigError
from regard.kernels import cpu, describe, native
from support.native_cases import INSTRUCTIONS, Case, needs_native

KERNELS = Path(regard.__file__).parent / "kernels"


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """The loader, looking for the library in an empty folder, with nothing switched off."""
    monkeypatch.delenv("REGARD_KERNELS", raising=False)
    monkeypatch.setattr(native, "__file__", str(tmp_path / "native.py"))
    native._load.cache_clear()
    yield tmp_path
    native._load.cache_clear()


def test_the_switch_turns_the_kernels_off(monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", "0")
    assert native.library() is None
    assert not cpu.can_recur("gru", torch.zeros(1, 3))
    assert cpu.describe() == (
        "native: not used, switched off by REGARD_KERNELS=0; PyTorch runs instead"
    )


@needs_native
def test_an_unknown_value_of_the_switch_is_an_error(monkeypatch):
    """Issue 18: ``REGARD_KERNELS=avx`` was ignored, and whoever set it measured something else."""
    monkeypatch.setenv("REGARD_KERNELS", "avx")
    wanted = f"REGARD_KERNELS cannot be 'avx'; .* {', '.join(INSTRUCTIONS)}$"
    with pytest.raises(ConfigError, match=wanted):
        cpu.can_recur("gru", torch.zeros(1, 3))
    with pytest.raises(ConfigError, match=wanted):
        describe()
    for value in ("", "1", *INSTRUCTIONS):
        monkeypatch.setenv("REGARD_KERNELS", value)
        assert native.library() is not None


def test_instructions_that_are_not_there_cannot_be_asked_for(elsewhere, monkeypatch):
    monkeypatch.setenv("REGARD_KERNELS", "avx2")
    with pytest.raises(ConfigError, match=r"REGARD_KERNELS=avx2 .* not compiled: .* no C compiler"):
        cpu.can_recur("gru", torch.zeros(1, 3))


def test_a_missing_library_is_no_error(elsewhere):
    """Issue 3: never an error where there is no compiler, and the description says why."""
    assert not cpu.can_recur("gru", torch.zeros(1, 3))
    assert "no C compiler" in cpu.describe()
    with pytest.raises(RuntimeError, match="no native kernels: not compiled"):
        cpu.recur("gru", *Case("gru", 4).inputs())


def test_a_broken_library_is_no_error(elsewhere):
    suffix = importlib.machinery.EXTENSION_SUFFIXES[0]
    (elsewhere / f"_native{suffix}").write_bytes(b"not a library")
    assert not cpu.can_recur("gru", torch.zeros(1, 3))
    assert "not loaded" in cpu.describe()


@needs_native
def test_a_library_of_another_version_is_not_used(elsewhere, monkeypatch):
    """A stale build would misread its jobs."""
    built = next(KERNELS.glob("_native*"))
    (elsewhere / built.name).symlink_to(built)
    monkeypatch.setattr(native, "_INTERFACE", -1)
    assert native.library() is None
    assert "this package needs -1" in cpu.describe()


@needs_native
def test_the_description_names_the_instructions(monkeypatch):
    for instructions in INSTRUCTIONS:
        monkeypatch.setenv("REGARD_KERNELS", instructions)
        assert cpu.describe().startswith(f"native: {instructions} on ")


@needs_native
def test_vectors_are_never_wider_than_the_hidden_size():
    library = native.library()
    widths = [library._widths[library.instructions_for(size)] for size in range(1, 40)]
    assert all(width <= size for size, width in enumerate(widths, start=1))
    assert widths == sorted(widths)


@needs_native
def test_only_what_a_kernel_can_read_is_available(monkeypatch):
    assert cpu.can_recur("gru", torch.zeros(1, 3))
    assert not cpu.can_recur("gru", torch.zeros(1, 3, dtype=torch.float64))
    assert not cpu.can_recur("gru", torch.zeros(1, 3, device="meta"))
    assert not cpu.can_recur("tree", torch.zeros(1, 3))
    assert not cpu.can_recur("gru", torch.zeros(1, 3 * 2048))


@needs_native
def test_a_recorded_graph_is_left_to_torch():
    seen = []

    def watched(tensor):
        seen.append(cpu.can_recur("gru", tensor))
        return tensor + 1

    class Watched(torch.nn.Module):
        def forward(self, tensor):
            return watched(tensor)

    torch.export.export(Watched(), (torch.zeros(1, 3),), strict=False)
    assert seen == [False]


@needs_native
def test_callers_in_many_threads_do_not_disturb_each_other():
    case = Case("gru", 20, lengths=[20] * 300)
    arguments = [
        argument.detach() if isinstance(argument, torch.Tensor) else argument
        for argument in case.inputs()
    ]
    wanted = cpu.recur("gru", *arguments)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: cpu.recur("gru", *arguments), range(20)):
            assert torch.equal(found, wanted)


@needs_native
def test_loading_does_not_change_how_the_process_rounds():
    """A library linked with -ffast-math makes numbers near zero vanish everywhere."""
    assert float(torch.tensor(1e-40) * 0.5) > 0
    program = (
        "import numpy as np; from regard.kernels import native; native.library();"
        "print(np.float32(1e-40) * np.float32(0.5) > 0)"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert shown.stdout.strip() == "True", shown.stderr


def test_the_loader_needs_no_torch():
    """The scanner of texts shares the library, and texts never import torch."""
    program = (
        "import sys; from regard.kernels import native; native.library();"
        "assert 'torch' not in sys.modules"
    )
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert shown.returncode == 0, shown.stderr


FORK = """
import os, signal, sys, warnings
import torch
from regard.kernels import native
from regard.nn.recurrence import recur
from regard.ragged import Ragged

warnings.simplefilter("ignore")
os.environ["REGARD_KERNELS"], crowded = sys.argv[1], sys.argv[2] == "crowded"
native._crowded = lambda second: crowded
torch.set_num_threads(3)
rows = Ragged(torch.zeros(20_000), torch.full((1000,), 20))
weights = 0.1 * torch.randn(2, 150, 50)
inputs = torch.randn(20_000, 2 * 3 * 50), None, rows, weights, torch.randn(2, 150)
wanted = recur("gru", *inputs)
child = os.fork()
if not child:
    signal.alarm(60)  # ends a child that hangs
    torch.testing.assert_close(recur("gru", *inputs), wanted)
    os._exit((torch.randn(500, 500) @ torch.randn(500, 500)).isnan().any())
print(os.waitpid(child, 0)[1], torch.get_num_threads())
"""


@pytest.mark.parametrize("kernels", ["0", pytest.param("scalar", marks=needs_native)])
@pytest.mark.parametrize("machine", ["free", "crowded"])
def test_a_child_answers_after_its_parent_used_threads(kernels, machine):
    """Issue 18: threads do not survive a fork, and whoever waits for them waits for ever."""
    command = [sys.executable, "-c", FORK, kernels, machine]
    shown = subprocess.run(command, capture_output=True, text=True)
    assert shown.stdout.split() == ["0", "3"], shown.stderr
