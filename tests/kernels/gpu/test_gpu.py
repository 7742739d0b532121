"""The GPU kernels: when they are used, and that they agree with the plain definition.

Where there is no GPU, Triton's interpreter runs the kernels on the CPU, on small shapes.
"""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.kernels.gpu import can_recur, describe

CASES = Path(__file__).with_name("gpu_cases.py")


def test_kernels_agree_with_the_layers():
    if importlib.util.find_spec("triton") is None:
        pytest.skip("triton is not installed, so there is nothing to run the kernels with")
    environment = dict(os.environ)
    if not torch.cuda.is_available():
        if _interpreter_is_broken():
            pytest.skip("this triton's interpreter does not know numpy 2.4; it needs triton 3.8")
        # Must be set before Triton is imported: hence the process.
        environment["TRITON_INTERPRET"] = "1"
    command = [sys.executable, "-m", "pytest", "-x", str(CASES)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=280)
    assert result.returncode == 0, result.stdout + result.stderr
    assert " passed" in result.stdout


def test_importing_the_kernels_does_not_import_triton():
    code = "import sys, regard.kernels.gpu; sys.exit('triton' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=120).returncode == 0


def test_kernels_are_not_for_cpus():
    assert not can_recur("gru", torch.zeros(3, 30))
    if not torch.cuda.is_available():
        assert describe() == "triton: not used, no GPU"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_kernels_are_used_where_they_can_be():
    table = torch.zeros(3, 300, device="cuda")
    assert can_recur("gru", table)
    assert can_recur("lstm", table.bfloat16())
    assert not can_recur("gru", table.double())
    assert not can_recur("transformer", table)
    assert not can_recur("gru", torch.zeros(3, 3 * 600, device="cuda"))
    assert "three tf32 products" in describe()


def _interpreter_is_broken() -> bool:
    import triton

    new_numpy = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 4)
    return new_numpy and tuple(map(int, triton.__version__.split(".")[:2])) < (3, 8)
