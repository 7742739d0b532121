"""Look inside a network whose words look at each other: head by head, and through all layers.

A head is only a claim, as any attention: the words that it points at are ranked and taken away, as
those of every explanation, and the receipt says what the answer lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from ..errors import ConfigError, DataError
from ..models.base import SelfAttending
from ..models.importance import importance
from ..records.explanation import Explanation
from ..records.heads import AttentionHeads, Head
from ..records.weights import Weights, sum_by
from .answers import Answers, explanations
from .fitted import Fitted
from .receipts import measure, open_inquiries

__all__ = ["FEW", "MOST_WORDS", "choose_heads", "look_inside", "roll_out"]

FEW = 24
"""How many of the words that a word looks at are kept, the heaviest."""
MOST_WORDS = 4000
"""Words of a text that is looked into at most: every word has a weight for every other."""
MOST_RECEIPTS = 300
"""In a longer text the rollout alone has a receipt."""

HeadName = tuple[int, int]
"""A layer and a head, both from 1."""


def look_inside(
    fitted: Fitted, text: str, *, heads: str = "last", receipt: bool = True
) -> AttentionHeads:
    """Return where the words of a text looked, by the heads that ``choose_heads`` understands."""
    network = fitted.model.network
    if not isinstance(network, SelfAttending):
        raise ConfigError("this network has no heads to show; explain it without them")
    _, answers = next(fitted.answers([text]))
    count = answers.batch.token_count
    if not count:
        raise DataError("there are no words in the text to look at")
    if count > MOST_WORDS:
        raise ConfigError(
            f"the text has {count:,} words; heads are shown of up to {MOST_WORDS:,}, "
            "explain it without them"
        )
    with torch.no_grad():
        looks = [(part.words, part.weights.cpu()) for part in network.self_attention(answers.batch)]
    layer_count, head_count = looks[0][1].shape[:2]
    chosen = choose_heads(heads, layer_count, head_count)
    rows = [(words, roll_out(weights)) for words, weights in looks]
    found = [_head(answers, (0, 0), rows)]
    for layer, head in chosen:
        rows = [(words, weights[layer - 1, head - 1]) for words, weights in looks]
        found.append(_head(answers, (layer, head), rows))
    if receipt:
        found = _with_receipts(answers, found, all_of_them=count <= MOST_RECEIPTS)
    spans = tuple((start, end) for start, end in answers.batch.texts[0].spans.tolist())
    return AttentionHeads(text, spans, tuple(found), layer_count, head_count)


def choose_heads(asked: str, layer_count: int, head_count: int) -> list[HeadName]:
    """Read which heads are meant: ``last``, ``all``, layers ``5,6`` or ``4-6``, heads ``6.3``."""
    if asked == "all":
        layers: list[int] = list(range(1, layer_count + 1))
    elif asked == "last":
        layers = [layer_count]
    else:
        return _listed(asked, layer_count, head_count)
    return [(layer, head) for layer in layers for head in range(1, head_count + 1)]


def _listed(asked: str, layer_count: int, head_count: int) -> list[HeadName]:
    found: list[HeadName] = []
    for part in asked.split(","):
        named = re.fullmatch(r"\s*(\d{1,4})(?:-(\d{1,4})|\.(\d{1,4}))?\s*", part)
        if named is None:
            raise ConfigError(
                f"--heads cannot be {asked!r}; give last, all, layers as 5,6 or 4-6, "
                "or heads as 6.3 (layer 6, head 3)"
            )
        first, last, head = (None if one is None else int(one) for one in named.groups())
        assert first is not None
        layers = range(first, (first if last is None else last) + 1)
        heads = range(1, head_count + 1) if head is None else [head]
        found += [(layer, number) for layer in layers for number in heads]
    for layer, head in found:
        if not (1 <= layer <= layer_count and 1 <= head <= head_count):
            raise ConfigError(
                f"there is no head {layer}.{head}; the network has {layer_count} layers of "
                f"{head_count} heads"
            )
    return list(dict.fromkeys(found))


def roll_out(weights: Tensor) -> Tensor:
    """Follow attention, (layers, heads, words, words), through all layers, (words, words).

    The mean of the heads, and half of each step stays where it is. What went to marks is shared
    out among the words, so that rows sum to one.
    """
    size = weights.shape[-1]
    staying = torch.eye(size, dtype=weights.dtype)
    found = staying
    for layer in weights.mean(1):
        totals = layer.sum(1, keepdim=True)
        shared = torch.where(totals > 0, layer / totals.clamp(min=1e-12), staying)
        found = (shared + staying) / 2 @ found
    return found


Rows = Sequence[tuple[Tensor, Tensor]]
"""Places of words that are read together, and where they look among themselves."""


def _head(answers: Answers, name: HeadName, rows: Rows) -> Head:
    """What each word looked at most, and the words by how much the answer looked at them so."""
    count = answers.batch.token_count
    few = min(FEW, max(weights.shape[1] for _, weights in rows))
    targets, shares = torch.zeros(count, few).long(), torch.zeros(count, few).long()
    values = torch.zeros(count, dtype=torch.float64)
    asking = _importance(answers)
    for words, weights in rows:
        places = words.cpu()
        top = weights.topk(min(few, weights.shape[1]), dim=1)
        width = top.values.shape[1]
        targets[places, :width] = places[top.indices]
        shares[places, :width] = (1000 * top.values).round().long()
        values[places] += asking[places] @ weights.double()
    explanation = _explained(answers, name, values)
    return Head(
        *name, tuple(targets.flatten().tolist()), tuple(shares.flatten().tolist()), explanation
    )


def _importance(answers: Answers) -> Tensor:
    """How much the answer looked at each word on top of the layers, (words,)."""
    names = {layer.name for layer in answers.output.attention}
    if "word" in names:
        return importance(answers.output, answers.batch).values.cpu()
    count = answers.batch.token_count
    return torch.full((count,), 1 / count, dtype=torch.float64)


def _explained(answers: Answers, name: HeadName, values: Tensor) -> Explanation:
    text = answers.batch.texts[0]
    total = float(values.sum())
    shares = values / total if total else torch.full_like(values, 1 / len(values))
    by_word = text.sum_by_word(shares.numpy()).tolist()
    words = Weights("word", tuple(text.word_spans()), tuple(by_word))
    weights = (words, sum_by(words, text.sentence_spans()))
    decision = answers.decision(0, answers.chosen[0][0], weights)
    called = "rollout" if not name[0] else f"layer {name[0]}, head {name[1]}"
    return explanations(answers, called, [[decision]])[0]


def _with_receipts(answers: Answers, heads: Sequence[Head], *, all_of_them: bool) -> list[Head]:
    inquiries = open_inquiries(answers)
    found: list[Head] = []
    for place, head in enumerate(heads):
        if head.explanation is not None and (all_of_them or not place):
            head = replace(head, explanation=measure(inquiries, [head.explanation])[0])
        found.append(head)
    return found
