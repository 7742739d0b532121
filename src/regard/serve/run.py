"""Start a server and let it run until it is stopped; what it has accepted it finishes."""

from __future__ import annotations

import os
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import ConfigError, MissingExtra
from .settings import ServeSettings

__all__ = ["PROBLEM", "STARTED", "OwnSocket", "options", "require_packages", "run", "take_address"]

STARTED, PROBLEM = "started", "problem"
"""What workers leave in their folder: that one has begun, or else why none can."""
STOPPING = 30  # seconds for what was accepted before the server stops


def require_packages() -> None:
    """Raise ``MissingExtra`` unless all that a server needs is installed."""
    for module, package in {
        "fastapi": "fastapi",
        "uvicorn": "uvicorn",
        "prometheus_client": "prometheus-client",
    }.items():
        if find_spec(module) is None:
            raise MissingExtra(package, "serve", "regard serve")


def run(
    settings: ServeSettings, *, workers: int = 1, ready: Callable[[], None] = lambda: None
) -> None:
    """Serve until SIGINT or SIGTERM; then take no more, and finish what was accepted.

    ``ready`` is called when the models are loaded, or where workers begin to load them.
    """
    import uvicorn
    from uvicorn.supervisors import Multiprocess

    from .app import SETTINGS_VARIABLE, build_worker

    common = options(settings)
    _require_free(settings)
    if workers == 1:
        # Loaded here, so that a model that cannot be loaded is an error in one line.
        app = build_worker(settings)
        ready()
        uvicorn.run(app, **common)
        return
    with _shared_folder() as folder:
        os.environ[SETTINGS_VARIABLE] = settings.to_json()
        factory = f"{__package__}.app:worker"
        config = uvicorn.Config(factory, factory=True, workers=workers, **common)
        with take_address(settings.host, settings.port) as address:
            ready()
            Multiprocess(config, sockets=[address]).run()
        if (folder / PROBLEM).exists():
            raise ConfigError((folder / PROBLEM).read_text(encoding="utf-8"))


class OwnSocket(socket.socket):
    """A bound address; each process that it is sent to gets a socket of its own there.

    Where processes take connections from one socket, whoever is quicker takes most of them, and
    then has most of the work. The kernel deals connections out evenly to sockets of their own.
    """

    def __reduce__(self) -> tuple[object, ...]:
        """Bind again, instead of handing over the same socket."""
        host, port, *_ = self.getsockname()
        return take_address, (host, port)


def take_address(host: str, port: int) -> socket.socket:
    """Take an address, so that others of this server can take it too."""
    # Elsewhere than on Linux several sockets at an address do not share connections.
    kind = OwnSocket if sys.platform == "linux" else socket.socket
    made = kind(_family(host))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if sys.platform == "linux":
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((host, port))
    made.set_inheritable(True)
    return made


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def options(settings: ServeSettings) -> dict[str, Any]:
    """What uvicorn is told, whoever starts it."""
    return {
        "host": settings.host,
        "port": settings.port,
        "log_level": "warning",
        "access_log": False,  # the guard writes its own, without addresses and texts
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": STOPPING,
        "timeout_keep_alive": 30,
    }


def _require_free(settings: ServeSettings) -> None:
    """Raise ``ConfigError`` where the address cannot be taken."""
    with socket.socket(_family(settings.host)) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((settings.host, settings.port))
        except OSError as problem:
            raise ConfigError(
                f"cannot serve at {settings.host}:{settings.port}: {problem.strerror}; "
                "choose another --port or --host"
            ) from problem


@contextmanager
def _shared_folder() -> Iterator[Path]:
    """Give the workers a folder in which they leave what they count, and how they began."""
    with tempfile.TemporaryDirectory(prefix="regard-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield Path(folder)
