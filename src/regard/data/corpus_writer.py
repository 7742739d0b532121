"""Where ``build_corpus`` of ``regard.data.corpus`` was; kept for one version."""

from __future__ import annotations

from ..former import find_former_name

__all__: list[str] = []

_NOW = {
    "CorpusWriter": "regard.data.corpus.CorpusWriter",
    "build_corpus": "regard.data.corpus.build_corpus",
}


def __getattr__(name: str) -> object:
    return find_former_name(__name__, name, _NOW)
