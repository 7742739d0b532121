"""The command ``regard``: its table of commands, and what the shell sees when one fails."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from typing import Annotated, Protocol, runtime_checkable

import typer

from .. import __version__
from ..errors import RegardError
from ..files import standard_output
from ..views.drawing.terminal import printable
from .audit import audit
from .caption import caption
from .compare import compare
from .demo import demo
from .diff import diff
from .evaluate import evaluate
from .experiment import experiment
from .explain import explain
from .export import export
from .help import Command
from .info import info
from .look import look
from .output import say, show
from .predict import predict
from .search import search
from .serve import serve
from .startup import collect_seldom
from .train import train
from .translate import translate

__all__ = ["app", "main"]

INTERRUPTED = 130
"""The exit code of a command that was ended by Ctrl-C."""
LONGEST_LINE = 1000
"""Letters of an error or a warning; of a longer one both ends are said."""

app = typer.Typer(
    name="regard",
    help="Train attention models on your own documents and see, honestly, where they looked.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    demo,
    train,
    evaluate,
    predict,
    translate,
    caption,
    explain,
    audit,
    look,
    diff,
    compare,
    search,
    info,
    serve,
    export,
    experiment,
):
    app.command(cls=Command)(command)


def main() -> None:
    """Run one command: exit code 0 is fine, 1 a user's error (one line), 2 wrong usage."""
    warnings.formatwarning = _warning_line
    collect_seldom()
    _prepare_streams()
    try:
        # The name also when started as python -m regard.
        code = app(prog_name="regard", standalone_mode=False) or 0
        if sys.stdout is not None:
            with standard_output() as out:
                out.flush()  # now, while its failure can still be told
        if code == INTERRUPTED:  # typer takes Ctrl-C for itself, and says nothing
            say("stopped")
    except RegardError as problem:
        code = _tell(str(problem))
    except KeyboardInterrupt:
        say("stopped")
        code = INTERRUPTED
    except BrokenPipeError:
        code = 1  # whoever read our output has seen enough
    except OSError as problem:
        code = _tell(f"{problem.filename or 'the system'}: {problem.strerror or problem}")
    except Exception as problem:
        if not isinstance(problem, _WrongUsage):
            raise
        code = _tell_usage(problem)
    if code:
        _drop_output()
    sys.exit(code)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        show(f"regard {__version__}")
        raise typer.Exit


def _prepare_streams() -> None:
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # Closed: the next file to be opened would get its number, and what anyone prints
            # would be written into that file.
            os.open(os.devnull, os.O_RDWR)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal cannot show is no reason to fail.
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Let go of what could not be printed: Python would complain of it at its end."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _warning_line(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """One line for a person; where in our code it comes from is not their concern."""
    return printable(_one_line(f"warning: {message}")) + "\n"


def _tell(error: str) -> int:
    say(_one_line(f"error: {error}"))
    return 1


def _one_line(text: str) -> str:
    """The text on one line; of a very long one, such as a file given as a name, both ends."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[:600]} ... {line[-300:]}"


@runtime_checkable
class _WrongUsage(Protocol):
    """The errors of usage that typer raises; their class is its own affair."""

    exit_code: int

    def show(self, file: io.StringIO) -> None: ...


def _tell_usage(problem: _WrongUsage) -> int:
    told = io.StringIO()
    problem.show(told)
    for line in told.getvalue().splitlines():
        say(line)
    return problem.exit_code
