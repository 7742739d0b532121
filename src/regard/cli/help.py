"""The help of a command: whatever can be named in it is read from the tables of the code.

An option writes ``{methods}`` where the names belong. They are looked up only once a command's own
help is asked for, since most of the tables come with torch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import TYPE_CHECKING

from typer.core import TyperCommand

from .output import DRAWINGS, REPORTS

if TYPE_CHECKING:
    from typer import _click as click  # the copy of click that typer is made of

__all__ = ["NAMES", "Command"]


def _tasks() -> Iterable[str]:
    from .tasks import TASKS

    return TASKS


def _methods() -> Iterable[str]:
    from ..explain.methods import METHODS

    return METHODS


def _written() -> Iterable[str]:
    from ..data.formats.table import written_suffixes

    return written_suffixes()


def _experiments() -> Iterable[str]:
    from ..experiments import EXPERIMENTS

    return EXPERIMENTS


def _contenders() -> Iterable[str]:
    from ..arena.contenders import CONTENDERS

    return CONTENDERS


def _targets() -> Iterable[str]:
    from ..export import TARGETS

    return TARGETS


NAMES: dict[str, Callable[[], Iterable[str]]] = {
    "tasks": _tasks,
    "methods": _methods,
    "written": _written,
    "experiments": _experiments,
    "contenders": _contenders,
    "targets": _targets,
    "reports": lambda: REPORTS,
    "drawings": lambda: DRAWINGS,
}
"""What an option may name in braces, and where the names are listed."""


class Command(TyperCommand):
    """A command whose help names what there is: tasks, networks, methods, formats."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a line for each option, with the names that belong there."""
        named = copy(self)
        named.params = [_with_names(parameter) for parameter in self.params]
        super(Command, named).format_options(ctx, formatter)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each task lets one choose, and a line for each format of data."""
        super().format_epilog(ctx, formatter)
        if any(one.name == "task" for one in self.params):
            from .tasks import TASKS

            for name, task in TASKS.items():
                with formatter.section(f"Names for --task {name}"):
                    formatter.write_dl(
                        [(what, ", ".join(names)) for what, names in task.choices().items()]
                    )
        if any(one.metavar == "DATA" for one in self.params):
            from ..data.formats.table import FORMATS

            with formatter.section("Data"):
                formatter.write_dl(
                    [
                        (" ".join(one.suffixes) or name, one.title.replace("`", ""))
                        for name, one in FORMATS.items()
                    ]
                )


def _with_names(parameter: click.Parameter) -> click.Parameter:
    """The parameter with the names of its help filled in; the one that was given stays as it is."""
    text = getattr(parameter, "help", None) or ""
    asked = [mark for mark in NAMES if f"{{{mark}}}" in text]
    if not asked:
        return parameter
    filled = copy(parameter)
    filled.help = text.format_map({mark: _one_of(NAMES[mark]()) for mark in asked})  # type: ignore[attr-defined]
    return filled


def _one_of(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} or {last}" if others else last
