"""Trains attention models on your own documents and shows, honestly, where they looked.

>>> from regard import DocumentClassifier
>>> classifier = DocumentClassifier().fit(texts, labels)  # doctest: +SKIP
>>> classifier.explain(texts[0])  # doctest: +SKIP

Names are loaded when they are first used, so that ``import regard`` takes no time.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if "torch" not in sys.modules and "OMP_WAIT_POLICY" not in os.environ:
    # How long a thread of torch waits awake for the others, about as long as waking it takes. By
    # default that is some milliseconds, in which it keeps a core from whoever needs it: on a busy
    # machine two threads were several times slower than one.
    os.environ.setdefault("GOMP_SPINCOUNT", "2000")

_HOMES = {
    "BertPairClassifier": "estimators.bert_usages",
    "BertSpanFinder": "estimators.bert_usages",
    "BertTagger": "estimators.bert_usages",
    "BertTextClassifier": "estimators.bert_usages",
    "CAHANConfig": "models",
    "Caption": "records.caption",
    "Captioner": "estimators.captioner",
    "ConfigError": "errors",
    "DataError": "errors",
    "Document": "text.document",
    "DocumentClassifier": "estimators.classifier",
    "Evaluation": "records.evaluation",
    "Explanation": "records.explanation",
    "FlatConfig": "models",
    "HANConfig": "models",
    "MissingExtra": "errors",
    "ModelError": "errors",
    "NotFittedError": "errors",
    "Pretrainer": "estimators.pretraining",
    "RegardError": "errors",
    "TextConfig": "text.tokenize",
    "Tokens": "text.document",
    "TrainingConfig": "training.config",
    "TrainingError": "errors",
    "Translator": "estimators.translator",
    "WideConfig": "models.wide",
    "tokenize": "text.tokenize",
}

__all__ = [
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

if TYPE_CHECKING:
    from .errors import (
        ConfigError,
        DataError,
        MissingExtra,
        ModelError,
        NotFittedError,
        RegardError,
        TrainingError,
    )
    from .estimators.bert_usages import (
        BertPairClassifier,
        BertSpanFinder,
        BertTagger,
        BertTextClassifier,
    )
    from .estimators.captioner import Captioner
    from .estimators.classifier import DocumentClassifier
    from .estimators.pretraining import Pretrainer
    from .estimators.translator import Translator
    from .models import CAHANConfig, FlatConfig, HANConfig
    from .models.wide import WideConfig
    from .records.caption import Caption
    from .records.evaluation import Evaluation
    from .records.explanation import Explanation
    from .text.document import Document, Tokens
    from .text.tokenize import TextConfig, tokenize
    from .training.config import TrainingConfig


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'regard' has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
