"""``regard serve``: a trained model behind an address, with a page to talk to it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from ..errors import ConfigError
from .options import Device, Quiet
from .output import say

__all__ = ["serve"]

Models = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="[MODEL]...", help="Folders that train wrote; by default the model of regard demo."
    ),
]
Host = Annotated[
    str, typer.Option(help="The address to listen at; 0.0.0.0 lets other machines connect.")
]
Port = Annotated[int, typer.Option(min=1, max=65535, help="The port to listen at.")]
Workers = Annotated[
    int, typer.Option(min=1, help="Processes that answer; each holds every model in memory.")
]
Threads = Annotated[int, typer.Option(min=1, help="Threads for the arithmetic of one process.")]
Key = Annotated[
    Path | None,
    typer.Option(help="A file with the key that requests must bring; or set REGARD_API_KEY."),
]
AllowedHosts = Annotated[
    list[str] | None,
    typer.Option("--allow-host", help="A name under which the server is reached; may be repeated."),
]
Marks = Annotated[
    Path | None,
    typer.Option(help="Let readers mark passages, and keep the marks in this file (SQLite)."),
]
BodyBytes = Annotated[int, typer.Option(min=1000, help="The largest request, in bytes.")]
Characters = Annotated[int, typer.Option(min=1, help="The longest text, in characters.")]
BatchTexts = Annotated[int, typer.Option(min=1, help="The most texts in a batch.")]
Pixels = Annotated[int, typer.Option(min=1, help="The largest picture, in pixels.")]
Waiting = Annotated[int, typer.Option(min=1, help="The most requests that may wait.")]
Seconds = Annotated[float, typer.Option(min=0.1, help="The longest time for an answer.")]
LogTexts = Annotated[
    bool, typer.Option("--log-texts", help="Write requests into the log, texts and all.")
]


def serve(
    models: Models = None,
    host: Host = "127.0.0.1",
    port: Port = 8000,
    workers: Workers = 1,
    threads: Threads = 1,
    key: Key = None,
    allow_host: AllowedHosts = None,
    marks: Marks = None,
    max_bytes: BodyBytes = 4_000_000,
    max_characters: Characters = 200_000,
    max_texts: BatchTexts = 256,
    max_waiting: Waiting = 512,
    max_seconds: Seconds = 30.0,
    max_pixels: Pixels = 25_000_000,
    log_texts: LogTexts = False,
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Answer over HTTP, and show a page to talk to the model.

    Ctrl-C stops it; what it has accepted it finishes. A model that is trained again into its
    folder is taken up without a pause.
    """
    from ..serve.run import require_packages, run
    from ..serve.settings import LOOPBACK, Limits, ServeSettings, name_models

    require_packages()
    folders = models or [_demo_model(device=device, quiet=quiet)]
    settings = ServeSettings(
        models=name_models(folders),
        host=host,
        port=port,
        hosts=tuple(name.lower() for name in allow_host or ()),
        key=_read_key(key),
        marks=None if marks is None else str(marks.resolve()),
        limits=Limits(max_bytes, max_characters, max_texts, max_waiting, max_seconds, max_pixels),
        threads=threads,
        device=device,
        log_texts=log_texts,
        quiet=quiet,
    )
    if host not in LOOPBACK and settings.key is None:
        say(
            "warning: anyone who reaches this machine can use the model; set REGARD_API_KEY",
            quiet=quiet,
        )
    shown = f"[{host}]" if ":" in host else host
    told = f"serving {', '.join(settings.models)} at http://{shown}:{port}/"
    run(settings, workers=workers, ready=lambda: say(told, quiet=quiet))


def _read_key(file: Path | None) -> str | None:
    """The key from a file or the environment: on the command line all could see it."""
    key = os.environ.get("REGARD_API_KEY") if file is None else file.read_text(encoding="utf-8")
    if key is not None and len(key.strip()) < 8:
        raise ConfigError("the key must have at least 8 characters")
    return None if key is None else key.strip()


def _demo_model(*, device: str, quiet: bool) -> Path:
    """The model of ``regard demo``, which is trained if it is not there."""
    from .demo import demo

    out = Path("demo")
    if not (out / "model" / "config.json").is_file():
        say("no model was named: training that of regard demo, about a minute", quiet=quiet)
        demo(out, device=device, quiet=quiet)
    return out / "model"
