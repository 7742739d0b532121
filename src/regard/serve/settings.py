"""What a server is told when it starts: which models, where, and how much it takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from ..config import require
from ..errors import ConfigError

__all__ = ["LOOPBACK", "Limits", "ServeSettings", "name_models"]

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one request may ask, and how much may wait; more gets a clear refusal."""

    body_bytes: int = 4_000_000
    text_characters: int = 200_000
    batch_texts: int = 256
    waiting: int = 512  # requests that wait for each kind of answer
    seconds: float = 30.0  # until an answer is given up
    picture_pixels: int = 25_000_000  # a small file can hold a picture that fills all memory
    sending_seconds: float = 10.0  # until a request that does not arrive is given up

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            require(value > 0, f"{name} must be above 0, not {value}")


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """All that a worker of the server needs to know; goes to JSON and back."""

    models: Mapping[str, str]  # folders by the names that requests call them
    host: str = "127.0.0.1"
    port: int = 8000
    hosts: tuple[str, ...] = ()  # names that may stand in a Host header, besides loopback
    key: str | None = None  # what requests must bring, if anything
    marks: str | None = None  # the file in which marks of readers are kept, if they are
    limits: Limits = field(default_factory=Limits)
    threads: int = 1  # for the arithmetic of one worker
    device: str = "auto"
    log_texts: bool = False
    quiet: bool = False

    def to_json(self) -> str:
        """Return the settings as JSON, for the workers."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ServeSettings:
        """Read what ``to_json`` wrote."""
        values = json.loads(text)
        values["limits"] = Limits(**values["limits"])
        values["hosts"] = tuple(values["hosts"])
        return cls(**values)

    def accepts(self, host: str) -> bool:
        """Whether a request may come with this Host header.

        A page from elsewhere can point a name of its own at this machine; its requests then carry
        that name. Where no name was allowed, a server that is not on loopback takes any.
        """
        name = host.rsplit(":", 1)[0] if host.count(":") == 1 or "]" in host else host
        name = name.strip("[]").lower()
        if name in LOOPBACK or name in self.hosts or name == self.host:
            return True
        return not self.hosts and self.host not in LOOPBACK


def name_models(folders: list[Path]) -> dict[str, str]:
    """Name each folder by its last part; two that share it by more of their path."""
    named: dict[str, str] = {}
    for folder in folders:
        whole = folder.resolve()
        name = whole.name
        if name in named and named[name] != str(whole):
            name = f"{whole.parent.name}-{name}"
        if name in named and named[name] != str(whole):
            raise ConfigError(f"two models would be called {name!r}; rename one of the folders")
        named[name] = str(whole)
    return named
