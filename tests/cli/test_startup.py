"""How long a command takes to start, in processor time, and what it does not load."""

import resource
import subprocess
import sys

import pytest

REFERENCE = 1.1
"""Seconds of processor time that importing torch takes on the machine of the figures."""
NOT_NEEDED = ("sklearn", "scipy", "pandas", "pyarrow", "rich", "sympy", "torch._dynamo")


def seconds(*arguments):
    """Processor time of a fresh Python, the least of three."""
    return min(_once(*arguments) for _ in range(3))


def _once(*arguments):
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return ended.ru_utime + ended.ru_stime - began.ru_utime - began.ru_stime


@pytest.fixture(scope="module")
def slowness():
    """How much slower than the machine of the figures this one is just now."""
    return max(1.0, seconds("-c", "import torch") / REFERENCE)


@pytest.fixture
def question(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    (tmp_path / "one.csv").write_text("text\nA great evening.\n")
    return ["predict", str(tmp_path / "model"), str(tmp_path / "one.csv")]


def test_help_takes_a_third_of_a_second(slowness):
    assert seconds("-m", "regard", "--help") < 0.3 * slowness


def test_one_prediction_takes_a_second_and_a_half(question, slowness):
    assert seconds("-m", "regard", *question) < 1.5 * slowness


def test_a_prediction_loads_nothing_it_does_not_need(question):
    program = (
        "import sys\nfrom regard.cli.main import main\n"
        f"sys.argv = ['regard', *{question!r}]\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "great" in ran.stdout
    loaded = ran.stderr.split()
    assert [name for name in NOT_NEEDED if name in loaded] == []


def test_what_was_spared_can_still_be_had():
    program = (
        "from regard.cli.startup import import_torch, SPARED\nimport sys\nimport_torch()\n"
        "assert SPARED not in sys.modules\nimport torch, torch._meta_registrations\n"
        "assert torch._meta_registrations.meta_index_Tensor\n"
        "made = torch.nn.Linear(3, 2, device='meta')(torch.ones(4, 3, device='meta'))\n"
        "assert made.shape == (4, 2)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
