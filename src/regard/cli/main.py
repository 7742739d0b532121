"""The command ``regard``: its table of commands, and what the shell sees when one fails."""

from __future__ import annotations

import io
import os
import sys
import warnings
from typing import Annotated

import typer

from .. import __version__
from ..errors import RegardError
from .audit import audit
from .demo import demo
from .diff import diff
from .evaluate import evaluate
from .experiment import experiment
from .explain import explain
from .info import info
from .look import look
from .predict import predict
from .train import train
from .translate import translate

__all__ = ["app", "main"]

INTERRUPTED = 130
"""The exit code of a command that was ended by Ctrl-C."""

app = typer.Typer(
    name="regard",
    help="Train attention models on your own documents and see, honestly, where they looked.",
    no_args_is_help=True,
    add_completion=False,
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
    explain,
    audit,
    look,
    diff,
    info,
    experiment,
):
    app.command()(command)


def main() -> None:
    """Run one command: exit code 0 is fine, 1 a user's error (one line), 2 wrong usage."""
    warnings.formatwarning = _warning_line
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A character that the terminal cannot show is no reason to fail.
            stream.reconfigure(errors="backslashreplace")
    try:
        app(prog_name="regard")  # also when started as python -m regard
    except RegardError as problem:
        _fail(f"error: {problem}", 1)
    except SystemExit as ended:
        if ended.code == INTERRUPTED:  # typer takes Ctrl-C for itself, and says nothing
            _fail("stopped", INTERRUPTED)
        raise
    except BrokenPipeError:
        # Whoever read our output has seen enough; the rest must not raise again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as problem:
        _fail(f"error: {problem.filename or 'the system'}: {problem.strerror or problem}", 1)


@app.callback(invoke_without_command=True)
def _options(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    if version:
        typer.echo(f"regard {__version__}")
        raise typer.Exit


def _warning_line(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    line: str | None = None,
) -> str:
    """One line for a person; where in our code it comes from is not their concern."""
    return " ".join(f"warning: {message}".split()) + "\n"


def _fail(message: str, code: int) -> None:
    print(" ".join(message.split()), file=sys.stderr)
    sys.exit(code)
