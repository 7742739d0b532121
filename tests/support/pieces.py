"""Word pieces of a few texts, for tests of what reads them."""

from regard.text.pieces import PiecesConfig, WordPieces

__all__ = ["TEXTS", "learnt"]

TEXTS = [
    "The film was brilliant, brilliantly played and never boring.",
    "A boring film; the players played boringly, and it never ended.",
    "Never play a film that is boring: 映画 は 楽しい。",
] * 3


def learnt(size: int = 120) -> WordPieces:
    """Pieces of a few texts."""
    return WordPieces.from_texts(lambda: TEXTS, PiecesConfig(size=size))
