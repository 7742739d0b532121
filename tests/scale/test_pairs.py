"""Two processes train a translator together, and end where one does."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

import regard
from regard.data.pairs import Pair
from regard.estimators.fitting import FitOptions
from regard.scale.distributed import join_team, own_device
from regard.training.teams import Alone
from support.parrots import new_translator, parrots

CPU = torch.device("cpu")


def fitted(team):
    """Thirteen pairs in batches of four: the last batch has one, so one share of it is empty."""
    pairs = [Pair(*both) for both in zip(*parrots(13), strict=True)]
    held_out = [Pair(*both) for both in zip(*parrots(5, seed=1), strict=True)]
    # No dropout: each process draws its own. Forcing 1, for the same reason.
    changes = {"training__epochs": 3, "training__batch_size": 4, "network__dropout": 0.0}
    made = new_translator(**changes)
    return made.fit_pairs(pairs, held_out, options=FitOptions(team=team))


def told(made):
    return [[e.train_loss, e.validation_loss, e.validation_bleu] for e in made.history_.epochs]


@pytest.fixture(scope="module")
def together(tmp_path_factory):
    """What two processes made: their weights and histories, by rank."""
    folder = tmp_path_factory.mktemp("together")
    paths = [str(Path(regard.__file__).parents[1]), str(Path(__file__).parents[1])]
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    command += ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0"]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "GLOO_SOCKET_IFNAME": "lo",
    }
    command += [__file__, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[:6000]
    return folder


def test_two_processes_end_where_one_does(together):
    """The loss, BLEU of what is written freely, and every weight."""
    alone = fitted(Alone())
    weights = load_file(together / "0.safetensors")
    for name, expected in alone.model_.state_dict().items():
        torch.testing.assert_close(weights[name], expected, rtol=1e-3, atol=1e-4)
    seen = json.loads((together / "0.json").read_text())
    for row, expected in zip(seen, told(alone), strict=True):
        assert row == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_all_processes_hold_the_same_bits(together):
    first, second = (load_file(together / f"{rank}.safetensors") for rank in (0, 1))
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert (together / "0.json").read_text() == (together / "1.json").read_text()


if __name__ == "__main__":
    out = Path(sys.argv[1])
    with join_team(own_device(CPU)) as team:
        made = fitted(team)
        save_file(made.model_.state_dict(), out / f"{team.rank}.safetensors")
        (out / f"{team.rank}.json").write_text(json.dumps(told(made)))
