"""The command in a process of its own, which is killed in the middle."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import regard


def kill_once_there(*arguments, there):
    """Start ``regard`` and kill -9 it once the file ``there`` exists."""
    environment = {**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])}
    command = [sys.executable, "-m", "regard", *map(str, arguments)]
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as child:
        while not there.exists():
            try:
                child.wait(0.01)
                pytest.fail("it ended before it was killed")
            except subprocess.TimeoutExpired:
                continue
        child.kill()
    assert child.returncode == -signal.SIGKILL
