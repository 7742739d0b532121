"""Files, functions and lists of parameters stay small enough to be read at a glance."""

import ast
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = Path("src/regard")
FOLDERS = (PACKAGE, Path("benchmarks"), Path("examples"), Path("scripts"), Path("tests"))
MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
MOST_PARAMETERS = 5
# Whoever adds a file here gives the reason.
MAY_TAKE_MORE = {
    "estimators/classifier.py": "the settings of an estimator are the parameters of its making",
    "estimators/translator.py": "the settings of an estimator are the parameters of its making",
    "estimators/preparing.py": "documents to learn from and to judge by, and four settings",
    "nn/encoders.py": "the settings of a recurrent network",
    "nn/recurrent.py": "the tensors of a recurrence",
    "nn/steps.py": "the tensors of a recurrence",
    "kernels/cpu_recurrence.py": "the tensors of a recurrence",
    "kernels/cpu_attention.py": "what autograd hands over",
}
Function = ast.FunctionDef | ast.AsyncFunctionDef


def files(*folders: Path) -> list[Path]:
    """Every file of ours, as a path from the root of the repository."""
    return [
        path.relative_to(REPOSITORY)
        for folder in folders
        for path in sorted((REPOSITORY / folder).rglob("*.py"))
    ]


def functions(path: Path) -> Iterator[Function]:
    """Every function of a file, methods and inner ones too."""
    for node in ast.walk(ast.parse((REPOSITORY / path).read_text(encoding="utf-8"))):
        if isinstance(node, Function):
            yield node


def lines(function: Function) -> int:
    return (function.end_lineno or 0) - function.lineno + 1


def parameters(function: Function) -> int:
    """How many a caller may give."""
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def may_take_more(path: Path, function: Function) -> bool:
    """Commands, whose parameters are their options; GPU kernels, which get pointers and strides."""
    part = path.relative_to(PACKAGE)
    command = part.parent.name == "cli" and function.name == part.stem
    return command or part.name.startswith("triton") or part.as_posix() in MAY_TAKE_MORE


def test_files_are_short():
    long = {
        path.as_posix(): count
        for path in files(*FOLDERS)
        if (count := (REPOSITORY / path).read_text(encoding="utf-8").count("\n"))
        > MOST_LINES_OF_A_FILE
    }
    assert not long


def test_functions_fit_a_screen():
    long = {
        f"{path.as_posix()}: {function.name}": count
        for path in files(*FOLDERS)
        for function in functions(path)
        if (count := lines(function)) > MOST_LINES_OF_A_FUNCTION
    }
    assert not long


def test_functions_take_few_parameters():
    many = {
        f"{path.as_posix()}: {function.name}": count
        for path in files(PACKAGE)
        for function in functions(path)
        if (count := parameters(function)) > MOST_PARAMETERS and not may_take_more(path, function)
    }
    assert not many


def test_every_exception_is_still_needed():
    for name in MAY_TAKE_MORE:
        assert any(parameters(one) > MOST_PARAMETERS for one in functions(PACKAGE / name)), name
