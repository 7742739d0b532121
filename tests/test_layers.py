"""Imports go one way only: from a part of the package to those listed before it."""

import ast
from pathlib import Path

import regard

ORDER = [
    "errors",
    "config",
    "ragged",
    "files",
    "former",
    "records",
    "kernels",
    "text",
    "data",
    "nn",
    "models",
    "tasks",
    "training",
    "explain",
    "audit",
    "look",
    "views",
    "estimators",
    "scale",
    "arena",
    "experiments",
    "serve",
    "export",
    "cli",
]
NEVER = {("nn", "data"), ("nn", "text"), ("estimators", "views")}
VIEWS_MAY = {"errors", "files", "former", "records"}
WITHOUT_TORCH = ("text", "records", "views", "errors.py", "config.py")
# A record may hand itself to a view, by an import inside the method.
LATE = {("records", "views")}
ROOT = Path(regard.__file__).parent


def imports(path: Path) -> set[tuple[str, bool]]:
    """The parts of the package that a file imports, and whether it does so at its top."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level != len(parts):
            continue
        names = [node.module.split(".")[0]] if node.module else [name.name for name in node.names]
        found |= {(name, node in tree.body) for name in names}
    return {(name, top) for name, top in found if name != parts[0]}


def modules(*parts: str) -> list[Path]:
    """Every file of the package, or of some of its parts."""
    places = [ROOT / part for part in parts] or [ROOT]
    return [
        path
        for place in places
        for path in ([place] if place.suffix == ".py" else sorted(place.rglob("*.py")))
    ]


def test_imports_go_one_way():
    wrong = []
    for path in modules():
        here = path.relative_to(ROOT).with_suffix("").parts[0]
        if here in ("__init__", "__main__"):
            continue
        for there, top in imports(path):
            if not top and (here, there) in LATE:
                continue
            backwards = there in ORDER and ORDER.index(there) > ORDER.index(here)
            banned = (here, there) in NEVER or (here == "views" and there not in VIEWS_MAY)
            if backwards or banned:
                wrong.append(f"{path.relative_to(ROOT)} imports {there}")
    assert not wrong, "\n".join(wrong)


def test_texts_records_and_views_do_without_torch():
    wrong = []
    for path in modules(*WITHOUT_TORCH):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [name.name for name in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            if any(name.split(".")[0] == "torch" for name in names):
                wrong.append(str(path.relative_to(ROOT)))
    assert not wrong


def test_every_module_says_what_it_is_for():
    missing = [
        str(path.relative_to(ROOT))
        for path in modules()
        if not ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert not missing
