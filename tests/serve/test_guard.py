"""Who may ask, how much, and how slowly."""

import contextlib
import http.client
import json
import socket
import time

import pytest

from regard.serve.settings import Limits, ServeSettings

BODY = {"text": "the film was dull"}


def raw(port, data, *, wait=5.0):
    """Send bytes as they are; return all that comes back until the other side closes."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as line:
        line.sendall(data)
        found = b""
        with contextlib.suppress(TimeoutError, ConnectionError):
            while part := line.recv(65536):
                found += part
        return found


def test_a_name_that_is_not_ours_is_refused(server):
    status, _, found = server.ask("/predict", BODY, headers={"host": "evil.example"})
    assert (status, "Host" in found["error"]) == (400, True)
    assert server.ask("/predict", BODY, headers={"host": "localhost"})[0] == 200


def test_pages_of_other_sites_are_refused(server):
    status, _, _ = server.ask("/predict", BODY, headers={"origin": "http://evil.example"})
    assert status == 403
    own = {"origin": f"http://127.0.0.1:{server.port}"}
    assert server.ask("/predict", BODY, headers=own)[0] == 200


def test_every_answer_has_its_headers(server):
    for path, body in (("/", None), ("/health", None), ("/predict", BODY), ("/nothing", None)):
        _, headers, _ = server.ask(path, body)
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "server" not in headers


def test_a_key_is_asked_for(start, model_folder):
    server = start(models={"reviews": str(model_folder)}, key="open sesame")
    assert server.ask("/health")[0] == 200
    assert server.ask("/")[0] == 200
    assert server.ask("/models")[0] == 401
    assert server.ask("/predict", BODY, headers={"authorization": "Bearer close"})[0] == 401
    assert server.ask("/predict", BODY, headers={"authorization": "Bearer open sesame"})[0] == 200
    assert server.ask("/predict", BODY, headers={"x-api-key": "open sesame"})[0] == 200
    assert server.ask("/predict", BODY, headers={"x-api-key": "öffne"})[0] == 401


@pytest.fixture(scope="module")
def strict(start, model_folder):
    """Return a server that takes little, and gives up soon."""
    limits = Limits(body_bytes=2000, sending_seconds=0.3)
    return start(models={"reviews": str(model_folder)}, limits=limits)


def test_a_body_that_is_too_large_is_refused_before_it_is_read(strict):
    head = b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: 50000000\r\n\r\n"
    assert b" 413 " in raw(strict.port, head)


def test_a_body_that_does_not_say_its_size_is_refused_when_it_has_become_too_large(strict):
    chunk = b"3e8\r\n" + b"x" * 1000 + b"\r\n"
    head = b"POST /predict HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n"
    assert b" 413 " in raw(strict.port, head + 3 * chunk)


@pytest.mark.parametrize("listed", [True, False])
def test_who_sends_far_too_much_can_read_why(server, listed):
    """The connection was closed while they sent, and all they saw was that it broke."""
    body = b"x" * 20_000_000
    line = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    kind = {"content-type": "application/json"}
    line.request("POST", "/predict", body if listed else iter([body]), kind)
    answer = line.getresponse()
    assert answer.status == 413
    assert "at most 4,000,000 bytes" in json.loads(answer.read())["error"]
    line.close()


def test_who_asks_for_the_head_alone_gets_it(server):
    """As those do who watch whether a server lives."""
    for path in ("/health", "/", "/models", "/nothing"):
        got, asked = (server.ask(path, method=method) for method in ("GET", "HEAD"))
        assert asked[0] == got[0]
        assert asked[1]["content-length"] == got[1]["content-length"]
        assert asked[2] == b""
    assert server.ask("/predict", method="HEAD")[0] == 405


def test_who_sends_too_slowly_is_told_so(strict):
    head = b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"
    assert b" 408 " in raw(strict.port, head)


def test_who_leaves_in_the_middle_harms_nobody(strict):
    head = b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: 100\r\n\r\n{"
    for _ in range(20):
        with socket.create_connection(("127.0.0.1", strict.port)) as line:
            line.sendall(head)
    assert strict.ask("/predict", BODY)[0] == 200


def test_what_is_no_http_harms_nobody(strict):
    raw(strict.port, b"\x00\xff\r\n\r\n", wait=1.0)
    assert strict.ask("/predict", BODY)[0] == 200


def logged(capfd):
    """Return the first line of the log, which is written once the answer was sent."""
    until, found = time.monotonic() + 10, ""
    while "\n" not in found and time.monotonic() < until:
        found += capfd.readouterr().err
    return json.loads(found)


def test_the_log_has_no_text_unless_asked(start, model_folder, capfd):
    models = {"reviews": str(model_folder)}
    start(models=models, quiet=False).ask("/predict", {"text": "my secret"})
    line = logged(capfd)
    assert (line["path"], line["status"]) == ("/predict", 200)
    assert "secret" not in str(line)
    start(models=models, quiet=False, log_texts=True).ask("/predict", {"text": "my secret"})
    assert "my secret" in logged(capfd)["body"]


@pytest.mark.parametrize(
    ("settings", "host", "accepted"),
    [
        ({}, "localhost:8000", True),
        ({}, "[::1]:8000", True),
        ({}, "evil.example", False),
        ({}, "", False),
        ({"host": "0.0.0.0"}, "anything", True),
        ({"host": "0.0.0.0", "hosts": ("labels.example",)}, "labels.example:80", True),
        ({"host": "0.0.0.0", "hosts": ("labels.example",)}, "evil.example", False),
    ],
)
def test_names_that_are_accepted(settings, host, accepted):
    given = ServeSettings(models={}, **settings)
    assert given.accepts(host) is accepted
    assert ServeSettings.from_json(given.to_json()) == given
