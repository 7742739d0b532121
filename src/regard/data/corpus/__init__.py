"""Documents written once as numbers into mapped files, from which batches are gathered."""

from __future__ import annotations

from .mapped import Corpus
from .writer import CorpusWriter, build_corpus

__all__ = ["Corpus", "CorpusWriter", "build_corpus"]
