"""A trained classifier for those who run it without us: ``regard export model/ --to onnx out/``.

Each target is an entry of ``TARGETS`` and a file beside this one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..estimators.saved import Saved

__all__ = ["TARGETS", "Target"]


@dataclass(frozen=True)
class Target:
    """A form in which a classifier is handed on."""

    what: str  # is written, such as "a folder for ONNX Runtime"
    suffix: str  # how the name of the file ends; empty: a folder is written
    require: Callable[[], None]  # raises ``MissingExtra`` where a package is missing
    write: Callable[[Saved, Path], str]
    """Writes all of it or nothing, replacing what is there, and returns what to tell about it."""


def _require_onnx() -> None:
    from .onnx_folder import require_packages

    require_packages()


def _write_onnx(saved: Saved, out: Path) -> str:
    from .onnx_folder import write_onnx

    return write_onnx(saved, out)


def _write_html(saved: Saved, out: Path) -> str:
    from .html_page import write_page

    return write_page(saved, out)


TARGETS: dict[str, Target] = {
    "onnx": Target("a folder for ONNX Runtime", "", _require_onnx, _write_onnx),
    "html": Target("a page that answers in the browser", ".html", lambda: None, _write_html),
}
"""Everything that a classifier can be exported to, by its name on the command line."""
