"""Extremes alone: a file or function this long holds more than one idea.

No number decides where a file is cut. One idea a file, and the whole idea in it; what is far
beyond what anybody reads in one go is looked at again.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDERS = ("src/regard", "benchmarks", "examples", "scripts", "tests")
MOST_LINES_OF_A_FILE = 800
MOST_LINES_OF_A_FUNCTION = 100
Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources() -> Iterator[tuple[str, str]]:
    """Every file of ours with its text, by its path from the root of the repository."""
    for folder in FOLDERS:
        for path in sorted((REPOSITORY / folder).rglob("*.py")):
            yield path.relative_to(REPOSITORY).as_posix(), path.read_text(encoding="utf-8")


def lengths(text: str) -> Iterator[tuple[str, int]]:
    """The name and the number of lines of every function, methods and inner ones too."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, Function):
            yield node.name, (node.end_lineno or 0) - node.lineno + 1


def test_no_file_is_enormous():
    counts = {name: text.count("\n") for name, text in sources()}
    assert not {name: count for name, count in counts.items() if count > MOST_LINES_OF_A_FILE}


def test_no_function_is_enormous():
    long = {
        f"{name}: {function}": count
        for name, text in sources()
        for function, count in lengths(text)
        if count > MOST_LINES_OF_A_FUNCTION
    }
    assert not long
