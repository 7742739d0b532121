"""Every package that we lean on is declared, and somebody has said what for."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import regard

PACKAGE = Path(regard.__file__).parent
PROJECT = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
NEEDED = {
    "icu4py": "words of scripts that are written without spaces",
    "numpy": "arrays of ids, spans and weights where there is no torch",
    "pyarrow": "Parquet files",
    "rich": "progress bars, and how wide a character is on a terminal",
    "safetensors": "weights on disk, without pickle",
    "scikit-learn": "the baseline to beat, and the manners of an estimator",
    "scipy": "sparse counts for the baseline, and the fitting of the temperature",
    "threadpoolctl": "one thread for BLAS where several get in each other's way",
    "torch": "tensors and gradients",
    "typer": "the command line",
}
EXTRAS = {
    "plots": {"matplotlib": "PNG and SVG pictures"},
    "logs": {"tensorboard": "logs of a training"},
    "translate": {"sacrebleu": "BLEU and chrF as others count them", "tokenizers": "byte pairs"},
    "serve": {
        "fastapi": "the endpoints of a server, and their description",
        "prometheus-client": "the numbers of a server, as Prometheus reads them",
        "pydantic": "what a request may hold",
        "uvicorn": "HTTP itself",
    },
    "export": {
        "onnx": "the graph that is written",
        "onnxruntime": "what runs it, to compare its answers before it is written",
    },
    "ray": {"ray": "reading, moving and writing rows on many machines"},
    "search": {"optuna": "proposing settings, and keeping what was tried"},
    "bert": {"tokenizers": "word pieces"},
    "images": {"pillow": "pictures from files", "sacrebleu": "BLEU of captions"},
}
# Where the name to import is another than that of the package.
IMPORTED_AS = {
    "scikit-learn": "sklearn",
    "pillow": "PIL",
    "prometheus-client": "prometheus_client",
}
# Comes with torch where there are GPUs; these files are loaded only there.
TRITON = "kernels/gpu/"
# Loaded by a running server alone, which has made sure that its packages are there.
SERVER = ("serve/answers.py", "serve/app.py", "serve/metrics.py", "serve/questions.py")
COMES_WITH = {"starlette": "fastapi", "pydantic_core": "pydantic", "sqlalchemy": "optuna"}


def names(requirements: list[str]) -> set[str]:
    """The packages of a list such as ``["numpy>=1.26"]``."""
    return {re.match(r"[\w-]+", requirement).group() for requirement in requirements}


def imports() -> Iterator[tuple[str, str, bool]]:
    """Every package from outside that ours imports: file, package, whether at the file's top."""
    for path in sorted(PACKAGE.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            found = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                found = [node.module or ""]
            for name in {one.split(".")[0] for one in found} - sys.stdlib_module_names:
                # Stubs for the type checker are no package.
                if name != "_typeshed":
                    yield path.relative_to(PACKAGE).as_posix(), name, node in tree.body


def test_every_package_has_its_reason():
    """003-15: who adds a package says here what it is for; no other slips in."""
    declared = PROJECT["project"]["optional-dependencies"]
    assert names(PROJECT["project"]["dependencies"]) == NEEDED.keys()
    assert {extra: names(declared[extra]) for extra in EXTRAS} == {
        extra: set(packages) for extra, packages in EXTRAS.items()
    }
    # The others are for those who work on the code or measure it.
    assert declared.keys() - EXTRAS.keys() == {"all", "bench", "dev", "docs"}


def test_nothing_is_imported_that_is_not_declared():
    """003-15: what a package of ours happens to bring along may go away with it."""
    known = {IMPORTED_AS.get(name, name) for name in NEEDED}
    known |= {IMPORTED_AS.get(name, name) for extra in EXTRAS.values() for name in extra}
    known |= COMES_WITH.keys()
    wrong = [
        f"{file} imports {name}"
        for file, name, _ in imports()
        if name not in known and not (name == "triton" and file.startswith(TRITON))
    ]
    assert not wrong


def test_nothing_declared_is_left_unused():
    used = {name for _, name, _ in imports()} | {"tensorboard"}  # torch imports that for us
    assert {IMPORTED_AS.get(name, name) for name in NEEDED} <= used
    assert {IMPORTED_AS.get(name, name) for extra in EXTRAS.values() for name in extra} <= used


def test_packages_of_extras_are_imported_where_they_are_used():
    optional = {IMPORTED_AS.get(name, name) for extra in EXTRAS.values() for name in extra}
    assert not [
        f"{file} imports {name}"
        for file, name, at_top in imports()
        if at_top and name in optional and file not in SERVER
    ]
