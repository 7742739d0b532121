"""What was found, written as JSON or as a page, by the thread that found it.

Writing an explanation takes as long as finding it, and on the thread that listens it would hold up
everybody.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from pydantic_core import PydanticSerializationError, to_json

from ..records.alignment import Alignment, AlignmentReceipt, WrittenReceipt
from ..records.caption import Caption
from ..records.explanation import Decision, Explanation
from ..views.alignment import page as alignment_page
from ..views.alignment import words as alignment_words
from ..views.caption import page as caption_page
from ..views.caption import words as caption_words
from ..views.explanation.page import render
from ..views.explanation.receipt import conclusion, tell_receipt, verdicts
from ..views.explanation.words import name_answer, notes, tell_finding

__all__ = [
    "add_fields",
    "write_caption",
    "write_explanation",
    "write_json",
    "write_translations",
]


def write_json(value: Mapping[str, object]) -> bytes:
    """Write what is plain as JSON."""
    try:
        return to_json(value, inf_nan_mode="null")
    except PydanticSerializationError:  # half of a surrogate pair: UTF-8 has none, JSON has
        return json.dumps(value).encode()


def add_fields(fields: Mapping[str, object], written: bytes) -> bytes:
    """Put fields before those of a JSON object that is written already."""
    return write_json(fields)[:-1] + b"," + written[1:]


def write_explanation(found: Explanation, page: str | None = None) -> bytes:
    """Write an explanation, with what it says in plain sentences, or as a page of that title."""
    if page is not None:
        return render([found], title=page).encode("utf-8", "replace")
    try:
        # The record itself, not ``to_json`` of it: that takes several times as long.
        written = to_json(found, inf_nan_mode="null")
    except PydanticSerializationError:
        written = found.to_json().encode()
    said, *others = [_say(found, decision) for decision in found.decisions]
    return add_fields({"said": said, "also_said": others}, written)


def write_translations(found: Sequence[Alignment], page: str | None = None) -> bytes:
    """Write the translations of a text, each with what can be said of where it looked."""
    if page is not None:
        return alignment_page.render([found], title=page).encode("utf-8", "replace")
    written = [
        add_fields(
            {
                "said": {
                    "looks": alignment_words.tell_looks(one),
                    "verdict": alignment_words.tell_verdict(one),
                    "remark": alignment_words.remark(one),
                    "losses": list(map(alignment_words.tell_loss, _written(one.receipt))),
                }
            },
            one.to_json().encode(),
        )
        for one in found
    ]
    return b'{"translations":[' + b",".join(written) + b"]}"


def write_caption(found: Caption, page: str | None = None) -> bytes:
    """Write a caption, with what can be said of where its words looked."""
    if page is not None:
        return caption_page.render([found], title=page).encode("utf-8", "replace")
    said = {
        "looks": caption_words.tell_looks(found),
        "verdict": caption_words.tell_verdict(found),
        "remark": caption_words.remark(found),
        "places": [caption_words.name_place(found, word) for word in range(len(found.spans))],
        "losses": list(map(caption_words.tell_loss, _written(found.receipt))),
    }
    return add_fields({"said": said}, found.to_json().encode())


def _written(receipt: AlignmentReceipt | None) -> tuple[WrittenReceipt, ...]:
    """What became of each written piece; nothing where it was not measured."""
    return () if receipt is None else receipt.written


def _say(found: Explanation, decision: Decision) -> dict[str, object]:
    """What the explanation says of one label, in plain sentences."""
    receipt, answer = decision.receipt, name_answer(found, decision)
    judged = [] if receipt is None else verdicts(receipt, answer)
    return {
        "finding": tell_finding(found, decision),
        "notes": notes(found, decision),
        "conclusion": "" if receipt is None else conclusion(receipt, answer),
        "verdicts": [_sentence(*one) for one in judged],
        "receipt": tell_receipt(decision),
    }


def _sentence(verdict: str, meant: str) -> str:
    return f"{verdict}. {meant[:1].upper()}{meant[1:]}"
