"""Start a server and let it run until it is stopped; what it has accepted it finishes."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from ..errors import ConfigError, MissingExtra
from .settings import ServeSettings

__all__ = ["options", "require_packages", "run"]

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


def run(settings: ServeSettings, *, workers: int = 1) -> None:
    """Serve until SIGINT or SIGTERM; then take no more, and finish what was accepted."""
    import uvicorn

    from .app import SETTINGS_VARIABLE, build_app

    common = options(settings)
    _require_free(settings)
    if workers == 1:
        # Loaded here, so that a model that cannot be loaded is an error in one line.
        uvicorn.run(build_app(settings), **common)
        return
    with _shared_metrics():
        os.environ[SETTINGS_VARIABLE] = settings.to_json()
        uvicorn.run(f"{__package__}.app:worker", factory=True, workers=workers, **common)


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
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((settings.host, settings.port))
        except OSError as problem:
            raise ConfigError(
                f"cannot serve at {settings.host}:{settings.port}: {problem.strerror}; "
                "choose another --port or --host"
            ) from problem


@contextmanager
def _shared_metrics() -> Iterator[None]:
    """Give the workers a folder in which they leave what they count."""
    with tempfile.TemporaryDirectory(prefix="regard-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield
