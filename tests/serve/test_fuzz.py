"""Nothing that is sent ends the server, and nothing makes it fail: a sample here, all if slow."""

import json
import random
import socket

import pytest

PATHS = (
    "/predict", "/batch", "/explain", "/translate", "/caption", "/marks", "/models", "/",
    "/nothing",
)  # fmt: skip
PIXEL = (  # a whole picture, of which any part may be changed
    "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEklEQVR4nGP4z8DAAMIM/4EUABn4Av7JmnVDAAAA"
    "AElFTkSuQmCC"
)
GOOD = {
    "/predict": {"text": "the film was dull"},
    "/batch": {"texts": ["the film was dull", ""]},
    "/explain": {"text": "the film was dull", "receipt": False},
    "/translate": {"text": "x"},
    "/caption": {"picture": PIXEL},
    "/marks": {"text": "the film", "start": 0, "end": 3, "kind": "reason", "label": "bad"},
}
VALUES = [
    None, True, -1, 0, 2**70, 1e308, "", "\x00", "\ud800", "x" * 5000, "\u202e\u200d\U0001f468",
    [], {}, [[]], ["\ud800"], {"text": "x"}, float("nan"), "default", "bad", "../../etc/passwd",
]  # fmt: skip


def body(draw):
    """Return bytes that are no JSON, or JSON that is almost right, or anything between."""
    path = draw.choice(PATHS)
    good = dict(GOOD.get(path, {"text": "x"}))
    kind = draw.randrange(5)
    if kind == 0:
        return path, bytes(draw.randrange(256) for _ in range(draw.randrange(200)))
    if kind == 1:
        text = json.dumps(good).encode()
        cut = draw.randrange(len(text))
        return path, text[:cut] + bytes([draw.randrange(256)]) + text[cut + 1 :]
    if kind == 2:
        return path, b"[" * draw.randrange(1, 50_000)
    for _ in range(draw.randrange(1, 4)):
        field = draw.choice([*good, "model", "label", "method", "receipt", "format", "\ud800"])
        good[field] = draw.choice(VALUES)
    return path, json.dumps(good).encode()


def send_raw(port, draw):
    """Send what is no proper request, and leave whenever."""
    head = draw.choice([
        b"POST /predict HTTP/1.1\r\n", b"GET / HTTP/9.9\r\n", b"\x16\x03\x01", b"PUT /\r\n",
        b"POST /predict HTTP/1.1\r\nhost: localhost\r\ncontent-length: -1\r\n",
        b"POST /predict HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        b"POST /predict HTTP/1.1\r\nhost: localhost\r\n" + b"x: y\r\n" * 5000,
    ])  # fmt: skip
    with socket.create_connection(("127.0.0.1", port), timeout=5) as line:
        line.sendall(head + bytes(draw.randrange(256) for _ in range(draw.randrange(300))))
        if draw.random() < 0.3:
            line.shutdown(socket.SHUT_WR)


def attack(server, count, seed):
    draw = random.Random(seed)
    statuses = set()
    for number in range(count):
        if number % 10 == 9:
            try:
                send_raw(server.port, draw)
            except OSError:
                continue
        else:
            path, sent = body(draw)
            statuses.add(server.ask(path, sent, method="POST")[0])
    assert server.ask("/predict", GOOD["/predict"])[0] == 200
    return statuses


def test_a_sample_of_bad_requests_is_refused(writers):
    statuses = attack(writers, 200, seed=0)
    assert not {status for status in statuses if status >= 500}
    assert {200, 400, 422} <= statuses


@pytest.mark.slow
def test_ten_thousand_bad_requests_are_refused(writers):
    assert not {status for status in attack(writers, 10_000, seed=1) if status >= 500}


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_request_of_the_description_makes_it_fail(writers):
    schemathesis = pytest.importorskip("schemathesis", reason="needs the package schemathesis")
    import hypothesis

    described = schemathesis.openapi.from_dict(writers.ask("/openapi.json")[2])
    url = f"http://127.0.0.1:{writers.port}"
    asked = 0

    for found in described.get_all_operations():
        operation = found.ok()

        @hypothesis.settings(
            max_examples=150, deadline=None, suppress_health_check=list(hypothesis.HealthCheck)
        )
        @hypothesis.given(case=operation.as_strategy())
        def call(case):
            nonlocal asked
            asked += 1
            assert case.call(base_url=url, timeout=30).status_code < 500

        call()
    assert asked > 500
