"""Where ``build_corpus`` of ``regard.data.corpus`` was; kept for one version."""

from __future__ import annotations

import warnings

__all__: list[str] = []


def __getattr__(name: str) -> object:
    from . import corpus

    if name not in ("CorpusWriter", "build_corpus"):
        raise AttributeError(f"module 'regard.data.corpus_writer' has no attribute {name!r}")
    said = f"regard.data.corpus_writer.{name} is now regard.data.corpus.{name}"
    warnings.warn(said, DeprecationWarning, stacklevel=2)
    return getattr(corpus, name)
