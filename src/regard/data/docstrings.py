"""Labelled documents that every machine already has: the documentation of its Python libraries.

A documentation string is a real, long, multi-sentence English text; its label is the library it
documents. The source files are parsed, never imported. Words that would give the label away
(the libraries' own names and nicknames) are masked.
"""

from __future__ import annotations

import ast
import importlib.util
import random
import re
import sysconfig
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..text.document import Document

__all__ = ["LIBRARIES", "DocumentedLibrary", "collect_docstrings"]

MASK = "library"


@dataclass(frozen=True, slots=True)
class DocumentedLibrary:
    """A library whose documentation is read: its label, and the names that give it away."""

    label: str
    package: str | None  # None stands for Python's own library
    names: tuple[str, ...]


LIBRARIES = (
    DocumentedLibrary(
        "python", None, ("python", "cpython", "stdlib", "pep", "tcl", "tk", "tkinter", "idle")
    ),
    DocumentedLibrary(
        "numpy",
        "numpy",
        ("numpy", "np", "ndarray", "ndarrays", "npy", "npz", "f2py", "ufunc", "ufuncs"),
    ),
    DocumentedLibrary("scipy", "scipy", ("scipy", "sp", "fitpack", "odrpack")),
    DocumentedLibrary("scikit-learn", "sklearn", ("sklearn", "scikit", "learn", "scikits")),
    DocumentedLibrary(
        "torch", "torch", ("torch", "pytorch", "aten", "torchscript", "dynamo", "inductor")
    ),
    DocumentedLibrary("sympy", "sympy", ("sympy", "sympify", "isympy")),
    DocumentedLibrary("networkx", "networkx", ("networkx", "nx", "nxgraph")),
)

_NAMES = frozenset(name for library in LIBRARIES for name in library.names)
_PACKAGES = re.compile("|".join(library.package or library.label for library in LIBRARIES))
_WORD = re.compile(r"[^\W_]+")  # an underscore ends a word: `np_array` holds a name
_SKIPPED_FOLDERS = {
    "tests",
    "test",
    "testing",
    "site-packages",
    "dist-packages",
    "__pycache__",
    "idlelib",
    "lib2to3",
}
_LARGEST_FILE = 2_000_000


def collect_docstrings(
    per_library: int = 800, *, shortest: int = 40, seed: int = 0
) -> list[Document]:
    """Read up to ``per_library`` documents of at least ``shortest`` words from each library here.

    Each document carries in ``fields["file"]`` the file it stands in, so that a split can keep
    the texts of one file together.
    """
    documents: list[Document] = []
    seen: set[str] = set()
    for library in LIBRARIES:
        found = 0
        for name, text in _texts(library, random.Random(seed)):
            if len(text.split()) < shortest or (masked := _mask(text)) in seen:
                continue
            seen.add(masked)
            file = f"{library.label}/{name}"
            documents.append(Document(masked, library.label, {"file": file}))
            found += 1
            if found == per_library:
                break
    random.Random(seed).shuffle(documents)
    return documents


def _texts(library: DocumentedLibrary, rng: random.Random) -> Iterator[tuple[str, str]]:
    """The documentation strings of a library with the files they stand in, file by file."""
    root = _root(library)
    if root is None:
        return
    files = [
        path
        for path in sorted(root.rglob("*.py"))
        if not _SKIPPED_FOLDERS & set(path.relative_to(root).parts)
    ]
    # Shuffled, so that the first few hundred texts come from all over the library.
    rng.shuffle(files)
    for path in files:
        for text in _docstrings(path):
            yield path.relative_to(root).as_posix(), text


def _root(library: DocumentedLibrary) -> Path | None:
    if library.package is None:
        return Path(sysconfig.get_path("stdlib"))
    found = importlib.util.find_spec(library.package)
    return Path(found.origin).parent if found and found.origin else None


def _docstrings(path: Path) -> list[str]:
    try:
        if path.stat().st_size > _LARGEST_FILE:
            return []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # other people's invalid escapes are not our news
            tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(tree) if isinstance(node, documented)]
    return [text for node in nodes if (text := ast.get_docstring(node))]


def _mask(text: str) -> str:
    """The text without the words that would give its library away."""
    return _WORD.sub(lambda word: MASK if _gives_away(word[0].lower()) else word[0], text)


def _gives_away(word: str) -> bool:
    # A nickname only where it is a whole word; the name of a package in any: `NetworkXError`.
    return word in _NAMES or _PACKAGES.search(word) is not None
