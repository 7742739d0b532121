"""One document of 200,000 words, with a sentence of 2,000, through a training step."""

import os
import subprocess
import sys

import pytest

from regard.kernels.native import SWITCH

STEP = """
from pathlib import Path
import torch
from regard.data.batch import Batch
from regard.models import FlatConfig, HANConfig
from regard.ragged import Ragged

torch.set_num_threads(1)
torch.manual_seed(0)
model = {config}.build(vocab_size=30_000, label_count=2)
lengths = torch.full((9_901,), 20)
lengths[7] = 2_000
ids = torch.randint(0, 30_000, (int(lengths.sum()),))
output = model(Batch(Ragged(ids, lengths), torch.tensor([len(lengths)])))
torch.nn.functional.cross_entropy(output.logits, torch.tensor([1])).backward()
assert all(torch.isfinite(parameter.grad).all() for parameter in model.parameters())
# Not ru_maxrss: a process that another has started inherits that one's peak there.
lines = Path("/proc/self/status").read_text().splitlines()
peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
print(len(ids), 1024 * peak)
"""


def peak(config, *, kernels):
    """The words of the document, and the most memory that a step over them needed, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", STEP.format(config=config)],
        env=os.environ | ({} if kernels else {SWITCH: "0"}),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    words, memory = map(int, done.stdout.split())
    return words, memory


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
class TestALargeDocument:
    @pytest.mark.parametrize("kernels", [True, False], ids=["kernels", "plain"])
    def test_trains_within_a_gigabyte_and_a_half(self, kernels):
        words, memory = peak("HANConfig()", kernels=kernels)
        assert words == 200_000
        assert memory < 1.5e9

    @pytest.mark.slow
    @pytest.mark.parametrize("kernels", [True, False], ids=["kernels", "plain"])
    @pytest.mark.parametrize("config", ["HANConfig(reading='flow')", "FlatConfig(cell='lstm')"])
    def test_is_read_in_one_go_within_a_gigabyte_and_a_half(self, config, kernels):
        assert peak(config, kernels=kernels)[1] < 1.5e9
