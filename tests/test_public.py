"""The public names: a promise, so they are listed here."""

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path

import pytest

import regard

NAMES = [
    "BertPairClassifier",
    "BertSpanFinder",
    "BertTagger",
    "BertTextClassifier",
    "CAHANConfig",
    "Caption",
    "Captioner",
    "ConfigError",
    "DataError",
    "Document",
    "DocumentClassifier",
    "Evaluation",
    "Explanation",
    "FlatConfig",
    "HANConfig",
    "MissingExtra",
    "ModelError",
    "NotFittedError",
    "Pretrainer",
    "RegardError",
    "TextConfig",
    "Tokens",
    "TrainingConfig",
    "TrainingError",
    "Translator",
    "WideConfig",
    "__version__",
    "tokenize",
]


def test_these_are_the_public_names():
    assert regard.__all__ == NAMES == dir(regard)
    assert len(NAMES) <= 30


def test_each_can_be_had_and_says_what_it_is():
    for name in NAMES:
        thing = getattr(regard, name)
        assert name == "__version__" or thing.__doc__.strip(), name


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'regard' has no attribute 'Classifier'"):
        _ = regard.Classifier


def test_the_version_is_written_once_in_each_place():
    root = Path(regard.__file__).parents[2]
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    assert project["version"] == regard.__version__
    assert re.fullmatch(r"\d+\.\d+\.\d+", regard.__version__)
    assert project["scripts"] == {"regard": "regard.cli.main:main"}


def test_every_module_lists_what_it_offers():
    wrong = []
    for found in pkgutil.walk_packages(regard.__path__, "regard."):
        # A compiled library is no module, and Triton's need Triton.
        if found.name.rpartition(".")[2].startswith(("_", "triton")):
            continue
        module = importlib.import_module(found.name)
        offered = getattr(module, "__all__", [] if found.ispkg else ["__all__"])
        wrong += [f"{found.name}.{name}" for name in offered if not hasattr(module, name)]
    assert not wrong


def test_python_dash_m_is_the_command():
    source = (Path(regard.__file__).parent / "__main__.py").read_text()
    assert "from .cli.main import main" in source
