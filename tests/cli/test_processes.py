"""Real processes: killed, interrupted, several at once."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import regard
from regard import DocumentClassifier, Translator
from support.cli_files import COLUMNS
from support.parrots import FLAGS as PARROT_FLAGS
from support.parrots import parrots
from support.reviews import FLAGS, reviews

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])}
LONG = [*FLAGS, "--set", "network.state_dropout=0.3", "--no-baseline"]


def started(*arguments, module=("regard",)):
    """Start the command; its standard error is a pipe."""
    return subprocess.Popen(
        [sys.executable, "-m", *module, *map(str, arguments)],
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        # A shell in the background ignores Ctrl-C, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def until(child, beginning):
    """Read what a process says up to the line that begins so; return its lines."""
    lines = []
    for line in child.stderr:
        lines.append(line)
        if line.startswith(beginning):
            return lines
    pytest.fail("".join(lines))


def test_a_killed_training_resumes_to_the_same_bits(shell, project, tmp_path):
    """kill -9 after the second epoch; --resume; the weights of a run that was never killed."""
    train = ["train", project.training, *COLUMNS, *LONG, "--epochs", "20"]
    with started(*train, "--out", tmp_path / "killed") as child:
        until(child, "epoch  2")
        child.kill()
    assert child.returncode == -signal.SIGKILL
    assert not (tmp_path / "killed").exists()
    assert "continue it with --resume" in shell(*train, "--out", tmp_path / "killed").error
    changed = shell(*train, "--out", tmp_path / "killed", "--resume", "--seed", "5")
    assert changed.code == 1 and "begun with training.seed = 0, now it is 5" in changed.err
    resumed = shell(*train, "--out", tmp_path / "killed", "--resume")
    whole = shell(*train, "--out", tmp_path / "whole")
    assert resumed.code == whole.code == 0
    assert "epoch  1 " not in resumed.err and "epoch  1 " in whole.err
    first, second = (tmp_path / name / "weights.safetensors" for name in ("killed", "whole"))
    assert first.read_bytes() == second.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed", "whole"]


def test_ctrl_c_keeps_and_saves_the_best_so_far(project, tmp_path):
    train = ["train", project.training, *COLUMNS, *LONG, "--epochs", "500"]
    with started(*train, "--out", tmp_path / "model") as child:
        until(child, "epoch  3")
        child.send_signal(signal.SIGINT)
        rest = child.stderr.read()
    assert child.returncode == 0, rest
    assert "stopped by hand; the best epoch so far was kept" in rest
    classifier = DocumentClassifier.load(tmp_path / "model")
    assert classifier.history_.interrupted
    assert 3 <= len(classifier.history_.epochs) < 500
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_ctrl_c_elsewhere_ends_with_130_and_leaves_nothing(project, tmp_path):
    os.mkfifo(tmp_path / "slow.csv")
    predict = ["predict", project.model, tmp_path / "slow.csv", "--out", tmp_path / "never.csv"]
    # Opening our end waits until the command reads the other, where we keep it waiting.
    with started(*predict) as child, (tmp_path / "slow.csv").open("w"):
        child.send_signal(signal.SIGINT)
        rest = child.stderr.read()
    assert child.returncode == 130 and "Traceback" not in rest, rest
    assert [path.name for path in tmp_path.iterdir()] == ["slow.csv"]


def trained_by_two(*arguments):
    """Run a training under ``torchrun``: the first process alone speaks and saves."""
    launch = ("torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "regard")
    with started("train", *arguments, module=launch) as child:
        _, printed = child.communicate(timeout=100)
    assert child.returncode == 0, printed
    assert printed.count("saved to") == 1 and printed.count("epoch  1 ") == 1


def test_two_processes_save_one_model(project, tmp_path):
    trained_by_two(project.training, *COLUMNS, *FLAGS, "--out", tmp_path / "model")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    both = DocumentClassifier.load(tmp_path / "model")
    texts, labels = reviews(30, seed=1)
    assert both.score(texts, labels) > 0.9
    # Without dropout it is the model of one process, up to rounding that training lets grow.
    alone = DocumentClassifier.load(project.model)
    np.testing.assert_allclose(both.predict_proba(texts), alone.predict_proba(texts), atol=0.02)


def test_two_machines_save_one_model(project, tmp_path):
    """Two launchers that know each other by an address alone, each with a disk of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    children = []
    for rank in (0, 1):
        launch = f"torch.distributed.run --nnodes 2 --node-rank {rank} --nproc-per-node 1"
        launch += f" --master-addr 127.0.0.1 --master-port {port} -m regard"
        disk = tmp_path / f"machine-{rank}"
        disk.mkdir()
        given = [project.training, *COLUMNS, *FLAGS, "--out", disk / "model"]
        children.append(started("train", *given, module=launch.split()))
    for child in children:
        _, printed = child.communicate(timeout=100)
        assert child.returncode == 0, printed
    assert [path.name for path in (tmp_path / "machine-0").iterdir()] == ["model"]
    assert not any((tmp_path / "machine-1").iterdir())
    both = load_file(tmp_path / "machine-0" / "model" / "weights.safetensors")
    alone = load_file(project.model / "weights.safetensors")
    assert both.keys() == alone.keys()
    for name, weight in alone.items():
        np.testing.assert_allclose(both[name], weight, atol=0.02, err_msg=name)


def test_two_processes_save_one_translator(tmp_path):
    pairs = zip(*parrots(600), strict=True)
    lines = ["small\tlarge", *("\t".join(pair) for pair in pairs)]
    (tmp_path / "pairs.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    names = ["--source-column", "small", "--target-column", "large"]
    given = [tmp_path / "pairs.tsv", "--task", "translate", *names, *PARROT_FLAGS]
    trained_by_two(*given, "--out", tmp_path / "model")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "pairs.tsv"]
    assert Translator.load(tmp_path / "model").predict(["a b c"]) == ["A B C"]
