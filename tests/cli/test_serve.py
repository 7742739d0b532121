"""``regard serve`` as a process: it starts, stops in good order, and says what is wrong."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

from support.cli_files import COLUMNS
from support.reviews import reviews, tiny

pytest.importorskip("fastapi", reason="needs the extra serve")


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("serve") / "reviews"
    tiny(training__epochs=2).fit(*reviews(40)).save(folder)
    return folder


def free_port():
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        return trial.getsockname()[1]


@pytest.fixture
def serve(model, tmp_path):
    """Return a function that starts ``regard serve`` and waits until it answers."""
    started, log = [], tmp_path / "log"

    def starting(*options):
        port = free_port()
        command = [sys.executable, "-m", "regard", "serve", str(model), "--port", str(port)]
        with log.open("ab") as errors:
            process = subprocess.Popen([*command, *options], stderr=errors, start_new_session=True)
        started.append(process)
        until = time.monotonic() + 120
        while time.monotonic() < until and process.poll() is None:
            try:
                ask(port, "/health")
                break
            except OSError:
                time.sleep(0.05)
        assert process.poll() is None, log.read_text(encoding="utf-8")
        return process, port

    yield starting
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its workers too
        process.wait()


def ask(port, path, body=None):
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    method = "GET" if body is None else "POST"
    headers = {"connection": "close", "content-type": "application/json"}
    line.request(method, path, None if body is None else json.dumps(body), headers)
    answer = line.getresponse()
    found = answer.status, answer.read()
    line.close()
    return found


def test_it_finishes_what_it_has_accepted(serve):
    process, port = serve()
    # Takes a while: many words, each of them taken away.
    text = " ".join(f"the film {number} was dull." for number in range(600))
    found = []
    asking = threading.Thread(
        target=lambda: found.append(ask(port, "/explain", {"text": text, "method": "erasure"}))
    )
    asking.start()
    time.sleep(0.3)
    process.send_signal(signal.SIGTERM)
    asking.join(60)
    assert [status for status, _ in found] == [200]
    assert process.wait(60) in (0, -signal.SIGTERM)


def _answered(port):
    """How many texts all workers have labelled, by their metrics."""
    numbers = ask(port, "/metrics")[1].decode()
    (count,) = [
        line.rsplit(" ", 1)[1]
        for line in numbers.splitlines()
        if line.startswith('regard_requests_total{path="/predict",status="200"}')
    ]
    return float(count)


def test_several_workers_count_together(serve):
    process, port = serve("--workers", "2", "--quiet")
    for _ in range(12):
        assert ask(port, "/predict", {"text": "the film was dull"})[0] == 200
    # A worker counts an answer after it has sent it, so the last may be counted a moment later.
    until = time.monotonic() + 20
    while (count := _answered(port)) < 12 and time.monotonic() < until:
        pass
    assert count == 12
    process.send_signal(signal.SIGINT)
    assert process.wait(60) in (0, -signal.SIGINT, 130)


def test_a_port_that_is_taken_is_an_error_in_a_line(shell, model):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        ended = shell("serve", model, "--port", str(taken.getsockname()[1]))
    assert ended.code == 1
    assert "choose another --port" in ended.err.splitlines()[-1]


def test_a_folder_without_a_model_is_an_error_in_a_line(shell, tmp_path):
    ended = shell("serve", tmp_path, "--port", str(free_port()))
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith("error:")
    assert "serving" not in ended.err


@pytest.mark.parametrize("wrong", ["nowhere", "marks.sqlite"])
def test_workers_that_cannot_start_end_the_server_with_an_error_in_a_line(model, tmp_path, wrong):
    """They were started again for ever, each with a trace of our code."""
    (tmp_path / "marks.sqlite").write_text("no database", encoding="utf-8")
    option = [] if wrong == "nowhere" else ["--marks"]
    command = [sys.executable, "-m", "regard", "serve", model, *option, tmp_path / wrong]
    process = subprocess.Popen(
        [*map(str, command), "--workers", "2", "--port", str(free_port())],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        said = process.communicate(timeout=120)[1]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # its workers too
    assert process.returncode == 1
    assert "Traceback" not in said
    last = said.splitlines()[-1]
    assert last.startswith("error: ")
    assert wrong in last


def test_a_short_key_is_refused(shell, model, tmp_path):
    (tmp_path / "key").write_text("abc\n", encoding="utf-8")
    ended = shell("serve", model, "--key", tmp_path / "key")
    assert ended.code == 1
    assert "at least 8 characters" in ended.err


def test_without_the_extra_it_is_named(monkeypatch, model):
    from regard.errors import MissingExtra
    from regard.serve import run

    monkeypatch.setattr(run, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'regard\[serve\]'"):
        run.require_packages()


def test_marks_are_learnt_from_and_what_they_changed_is_said(shell, project, tmp_path):
    from regard.data.marks import MarkStore
    from regard.records.marks import Mark

    store = MarkStore(tmp_path / "marks.sqlite")
    store.add(Mark("the film was dull. we saw it.", 0, 18, "reason", "bad"))
    store.add(Mark("the film was dull. we saw it.", 19, 29, "irrelevant", "bad"))
    flags = (*COLUMNS, "--epochs", "2", "--marks", tmp_path / "marks.sqlite", "--no-baseline")
    for more in ((), ("--overwrite",)):
        ended = shell("train", project.training, "--out", tmp_path / "model", *flags, *more)
        assert ended.code == 0, ended.err
    assert "2 marks" in ended.err
    assert "without the passages marked irrelevant, answers move by" in ended.err + ended.out
    assert "(before: " in ended.err + ended.out
    wrong = (*COLUMNS, "--out", tmp_path / "x", "--marks", tmp_path / "no")
    missing = shell("train", project.training, *wrong)
    assert "there is no file" in missing.error
