"""How spans are scored: answers as SQuAD scores them, tags as CoNLL does."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

from ..data.spans import Marked

__all__ = ["answer_f1", "exact_match", "score_answers", "score_segments", "tag_tokens"]

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_TOKENS = re.compile(r"\w+|[^\w\s]")
_PUNCTUATION = str.maketrans("", "", string.punctuation)
OUTSIDE = "O"


def score_answers(found: Sequence[str], right: Sequence[Sequence[str]]) -> dict[str, float]:
    """Exact match and token F1, each with the best of the right answers, on average.

    Rajpurkar et al. (2016): small letters, without punctuation and English articles. Where
    nothing is right, saying nothing is.
    """
    exact = shared = 0.0
    for one, several in zip(found, right, strict=True):
        exact += max(exact_match(one, each) for each in several or [""])
        shared += max(answer_f1(one, each) for each in several or [""])
    count = max(len(found), 1)
    return {"exact_match": exact / count, "token_f1": shared / count}


def exact_match(found: str, right: str) -> float:
    """Whether both say the same, but for letters' size, punctuation and articles."""
    return float(_words(found) == _words(right))


def answer_f1(found: str, right: str) -> float:
    """The F1 of the words that both have."""
    ours, theirs = _words(found), _words(right)
    if not ours or not theirs:
        return float(ours == theirs)
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * shared / (len(ours) + len(theirs))


def _words(text: str) -> list[str]:
    return _ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split()


def score_segments(
    texts: Sequence[str], found: Sequence[Sequence[Marked]], right: Sequence[Sequence[Marked]]
) -> dict[str, float]:
    """The F1 of whole segments with their labels, and the accuracy of every token's tag.

    Tjong Kim Sang and De Meulder (2003): a segment counts where both ends and its label are right.
    A token is a word or a mark of punctuation; its tag says whether it begins a segment, goes on
    with one, or stands outside.
    """
    hits = guesses = truths = same = tokens = 0
    for text, ours, theirs in zip(texts, found, right, strict=True):
        hits += len(set(ours) & set(theirs))
        guesses, truths = guesses + len(set(ours)), truths + len(set(theirs))
        tags = list(zip(tag_tokens(text, ours), tag_tokens(text, theirs), strict=True))
        same, tokens = same + sum(one == other for one, other in tags), tokens + len(tags)
    return {
        "segment_f1": 2 * hits / (guesses + truths) if guesses + truths else 1.0,
        "precision": hits / guesses if guesses else float(not truths),
        "recall": hits / truths if truths else float(not guesses),
        "token_accuracy": same / tokens if tokens else 1.0,
    }


def tag_tokens(text: str, marked: Sequence[Marked]) -> list[str]:
    """The tag of every token of a text: B-label, I-label or O."""
    tags, ordered, place = [], sorted(marked), 0
    begun: Marked | None = None
    for token in _TOKENS.finditer(text):
        while place < len(ordered) and ordered[place].end <= token.start():
            place += 1
        inside = place < len(ordered) and ordered[place].start < token.end()
        if not inside:
            tags.append(OUTSIDE)
            continue
        tags.append(f"{'I' if ordered[place] is begun else 'B'}-{ordered[place].label}")
        begun = ordered[place]
    return tags
