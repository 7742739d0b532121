"""The demo's texts: documentation that every machine already has."""

import re
import sys

import pytest

from regard.data import docstrings
from regard.data.docstrings import LIBRARIES, MASK, DocumentedLibrary, collect_docstrings


@pytest.fixture(scope="module")
def few():
    return collect_docstrings(per_library=12)


def test_every_installed_library_is_there_with_long_texts(few):
    labels = {document.label for document in few}
    assert {"python", "numpy", "scipy", "scikit-learn", "torch"} <= labels
    assert all(len(document.text.split()) >= 40 for document in few)
    assert max(sum(document.label == label for document in few) for label in labels) == 12
    assert len({document.text for document in few}) == len(few)


def test_no_name_gives_a_label_away(few):
    names = {name for library in LIBRARIES for name in library.names}
    packages = [library.package or library.label for library in LIBRARIES]
    for document in few:
        words = re.findall(r"[^\W_]+", document.text.lower())
        assert not names & set(words)
        assert not [word for word in words if any(package in word for package in packages)]
    assert any(MASK in document.text for document in few)


def test_masking_keeps_everything_else():
    text = "Use np.array (NumPy's) with NetworkXError,\n  torch_function and learning: np_x, snp."
    assert docstrings._mask(text) == (
        f"Use {MASK}.array ({MASK}'s) with {MASK},\n  {MASK}_function and learning: {MASK}_x, snp."
    )


def test_texts_of_one_file_can_be_kept_together(few):
    for document in few:
        label, _, file = document.fields["file"].partition("/")
        assert label == document.label and file.endswith(".py")


@pytest.fixture
def made_up(tmp_path, monkeypatch):
    """Libraries of our own: files that hurt, beside one that is fine."""
    root = tmp_path / "madeup"
    (root / "tests").mkdir(parents=True)
    long = "A documented thing that does what it says. " * 8
    (root / "__init__.py").write_text(f'"""{long}"""\nraise SystemExit("never imported")\n')
    (root / "broken.py").write_text("def (:\n")
    (root / "bytes.py").write_bytes(b"\xff\xfe" + b"a" * 10)
    (root / "deep.py").write_text("x = " + "(" * 5000 + ")" * 5000)
    (root / "escape.py").write_text(f'def f():\n    "{long} \\d"\n')
    (root / "short.py").write_text('"""Too short."""\n')
    (root / "tests" / "test_it.py").write_text(f'"""Of a test. {long}"""\n')
    (root / "twice.py").write_text(f'"""{long}"""\n')
    monkeypatch.syspath_prepend(tmp_path)
    libraries = (
        DocumentedLibrary("made up", "madeup", ("mu",)),
        DocumentedLibrary("absent", "no_such_thing", ()),
    )
    monkeypatch.setattr(docstrings, "LIBRARIES", libraries)


def test_the_seed_decides_which_and_in_what_order(made_up, tmp_path):
    for number in range(20):
        text = f"Number {number} of many. " * 12
        (tmp_path / "madeup" / f"file{number}.py").write_text(f'"""{text}"""\n')
    first = collect_docstrings(per_library=10)
    assert len(first) == 10 and collect_docstrings(per_library=10) == first
    assert collect_docstrings(per_library=10, seed=1) != first


def test_files_that_cannot_be_read_are_passed_over_and_none_is_run(made_up):
    found = collect_docstrings()
    assert sorted(document.fields["file"] for document in found) in (
        ["made up/__init__.py", "made up/escape.py"],
        ["made up/escape.py", "made up/twice.py"],
    )
    assert "madeup" not in sys.modules
