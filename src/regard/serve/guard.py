"""What stands before every endpoint: who may ask, how much, how slowly, and what is written down.

Plain ASGI, so that a request is turned away before any of it is read into memory. No answer holds
a path, a text or a trace of our code.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, NoReturn

from .metrics import Metrics
from .settings import ServeSettings

__all__ = ["Guard", "refusal"]

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
NOTHING = "default-src 'none'; frame-ancestors 'none'"
WRITTEN = [
    (name.encode(), value.encode())
    for name, value in {**HEADERS, "content-security-policy": NOTHING}.items()
]
"""The headers that all answers have, unless they have their own."""
OPEN = frozenset({"/", "/page.css", "/page.js", "/health"})
"""What can be asked without the key: the page itself says nothing of any text."""


UNANSWERED = 499
"""How logs call a request whose sender left before the answer."""


class _Refused(Exception):
    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status, self.error = status, error


def refusal(error: str) -> bytes:
    """The body of every answer that is a refusal."""
    return json.dumps({"error": error}).encode()


class Guard:
    """Checks each request, bounds what it may send, and writes down how it ended."""

    def __init__(self, app: App, settings: ServeSettings, metrics: Metrics) -> None:
        self._app, self._settings, self._metrics = app, settings, metrics

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = _Request(self._settings, scope, receive, send)
        began = time.perf_counter()
        try:
            request.check()
            await self._app(request.scope, request.receive, request.send)
            if request.refused is not None:
                # While it was read; the app took that for its own error.
                raise request.refused
        except _Refused as refused:
            await request.refuse(refused.status, refused.error)
        except Exception as problem:
            # Ours: the kind of it is enough to search for, and may be told to whoever runs this.
            await request.refuse(500, "the server failed at this request; its log says more")
            print(f"error: {type(problem).__name__}: {problem}", file=sys.stderr, flush=True)
        finally:
            self._note(request, time.perf_counter() - began)

    def _note(self, request: _Request, seconds: float) -> None:
        route = request.scope.get("route")
        path = getattr(route, "path", "other")  # never what a stranger wrote: names are few
        self._metrics.note(path, request.status, seconds)
        if self._settings.quiet:
            return
        line: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "method": request.method,
            "path": path,
            "status": request.status,
            "milliseconds": round(1000 * seconds, 1),
            "bytes": request.received,
        }
        if self._settings.log_texts:
            line["body"] = bytes(request.body).decode("utf-8", "backslashreplace")
        print(json.dumps(line), file=sys.stderr, flush=True)


class _Request:
    """One request, and how it is going."""

    def __init__(
        self,
        settings: ServeSettings,
        scope: MutableMapping[str, Any],
        receive: Receive,
        send: Send,
    ) -> None:
        self._settings = settings
        self.method = scope["method"]
        # The head of an answer is that of the whole one, whose body is left out when it is sent.
        self.scope = {**scope, "method": "GET"} if self.method == "HEAD" else scope
        self._receive, self._send = receive, send
        self._headers: dict[bytes, bytes] = dict(scope["headers"])
        self.status, self.received = UNANSWERED, 0
        self.body = bytearray()
        self.refused: _Refused | None = None
        self._arrived = False
        self._due = asyncio.get_running_loop().time() + settings.limits.sending_seconds

    def check(self) -> None:
        """Refuse who may not ask, and what says itself that it is too much."""
        if not self._settings.accepts(self._header("host")):
            raise _Refused(400, "this server is not known by the name in the Host header")
        origin = self._header("origin")
        if origin and origin.partition("://")[2] != self._header("host"):
            raise _Refused(403, "requests from other sites are not answered")
        if self._settings.key is not None and self.scope["path"] not in OPEN:
            self._check_key(self._settings.key)
        length = self._header("content-length")
        if length and (not length.isdigit() or int(length) > self._settings.limits.body_bytes):
            raise _Refused(413, self._too_large)

    async def receive(self) -> Message:
        """Receive the next part of the body, unless it is too much or takes too long."""
        try:
            async with asyncio.timeout_at(None if self._arrived else self._due):
                message = await self._receive()
        except TimeoutError:
            self._refuse_later(408, "the request took too long to arrive")
        if message["type"] == "http.request":
            part = message.get("body", b"")
            self.received += len(part)
            if self.received > self._settings.limits.body_bytes:
                self._refuse_later(413, self._too_large)
            if self._settings.log_texts:
                self.body += part
            self._arrived = not message.get("more_body", False)
        return message

    async def send(self, message: Message) -> None:
        """Send a part of the answer, with the headers that all answers have."""
        if self.refused is not None and self.status == UNANSWERED:
            return  # what the app says of a request that it could not read
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = {name.lower() for name, _ in message["headers"]}
            wanted = [header for header in WRITTEN if header[0] not in given]
            message["headers"] = [*message["headers"], *wanted]
        elif self.method == "HEAD":
            message = {**message, "body": b""}
        await self._send(message)

    async def refuse(self, status: int, error: str) -> None:
        """Answer with a refusal, unless an answer has begun; then the connection ends."""
        self.refused = None
        if self.status != UNANSWERED:
            return
        body = refusal(error)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            # What is left of the body will not be answered.
            (b"connection", b"close"),
        ]
        if status == 401:
            headers.append((b"www-authenticate", b"Bearer"))
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": body, "more_body": True})
        await self._throw_away_the_rest()
        await self.send({"type": "http.response.body"})

    async def _throw_away_the_rest(self) -> None:
        """Take what is still sent until its time is over, and keep none of it.

        Were the connection closed before, its sender would fail to send, and never read why.
        """
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout_at(self._due):
                while not self._arrived:
                    message = await self._receive()
                    self.received += len(message.get("body", b""))
                    self._arrived = not message.get("more_body", False)

    def _check_key(self, key: str) -> None:
        given = self._header("x-api-key") or self._header("authorization").removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), key.encode()):
            raise _Refused(401, "this server wants its key: Authorization: Bearer KEY")

    def _refuse_later(self, status: int, error: str) -> NoReturn:
        """Stop the reading; what is to be said of it is kept, whatever becomes of the error."""
        self.refused = _Refused(status, error)
        raise self.refused

    @property
    def _too_large(self) -> str:
        return f"a request may have at most {self._settings.limits.body_bytes:,} bytes"

    def _header(self, name: str) -> str:
        return self._headers.get(name.encode(), b"").decode("latin-1")
