"""Explanations made by hand, for tests of the views: no model, weights drawn from a seed.

And a real browser to look at pages with; tests are skipped where there is none.
"""

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from regard.records.explanation import Decision, Explanation
from regard.records.weights import Weights, sum_by

_SENTENCE = re.compile(r"[^.!?。\n]+[.!?。]*[\"”]*")
_WORD = re.compile(r"\w+|[^\w\s]")
_TAG = re.compile(r"<[/!]?[A-Za-z][^<>]*>")

Explain = Callable[..., Explanation]


def _shares(draw: random.Random, count: int) -> list[float]:
    grown = [math.exp(draw.gauss(0, 1.5)) for _ in range(count)]
    return [value / sum(grown) for value in grown]


def _sentences(text: str, stop: int) -> list[list[tuple[int, int]]]:
    masked = _TAG.sub(lambda tag: "\n" * len(tag.group()), text[:stop])
    found = [
        [
            (word.start() + sentence.start(), word.end() + sentence.start())
            for word in _WORD.finditer(sentence.group())
        ]
        for sentence in _SENTENCE.finditer(masked)
    ]
    return [spans for spans in found if spans]


@pytest.fixture(scope="session")
def explain() -> Explain:
    """Explain a text by weights drawn from a seed, hierarchical or flat."""

    def made(
        text: str,
        *,
        seed: int = 0,
        flat: bool = False,
        unknown: Sequence[str] = (),
        unread_from: int | None = None,
        labels: Sequence[str] = ("positive", "negative"),
    ) -> Explanation:
        draw = random.Random(seed)
        stop = len(text) if unread_from is None else unread_from
        found = _sentences(text, stop)
        spans = tuple(span for sentence in found for span in sentence)
        sentence_spans = tuple((sentence[0][0], sentence[-1][1]) for sentence in found)
        if flat:
            words = Weights("word", spans, tuple(_shares(draw, len(spans))))
            sentences = sum_by(words, sentence_spans)
        else:
            drawn = [value for sentence in found for value in _shares(draw, len(sentence))]
            words = Weights("word", spans, tuple(drawn), by="sentence")
            sentences = Weights("sentence", sentence_spans, tuple(_shares(draw, len(found))))
        shares = sorted(_shares(draw, len(labels)), reverse=True)
        return Explanation(
            text,
            "attention",
            (Decision(labels[0], shares[0], (words, sentences)),),
            tuple(zip(labels, shares, strict=True)),
            unknown=tuple(span for span in spans if text[span[0] : span[1]] in unknown),
            unread=((stop, len(text)),) if stop < len(text) else (),
        )

    return made


@pytest.fixture(scope="session")
def scored(explain: Explain) -> Explain:
    """Explain a text by scores with a sign, the very strongest of which speaks against it."""

    def made(text: str, *, seed: int = 0, **options: object) -> Explanation:
        shares = explain(text, seed=seed, flat=True, **options)
        words, sentences = shares.decisions[0].weights
        draw = random.Random(seed)
        scores = [draw.uniform(-0.1, 0.1) for _ in words.pieces]
        for place, score in zip(range(len(scores)), (-0.9, 0.3), strict=False):
            scores[place] = score
        signed = Weights.from_scores("word", words.pieces, scores, unit="probability")
        spans = [(start, end) for start, end in sentences.pieces]
        weights = (signed, sum_by(signed, spans))
        return replace(shares, decisions=(replace(shares.decisions[0], weights=weights),))

    return made


@pytest.fixture
def open_html(browser, tmp_path):
    """Open a page in the browser; its ``requested`` and ``said`` list requests and complaints."""
    opened = []

    def opening(html, **options):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        page = browser.new_page(**options)
        page.requested, page.said = [], []
        page.on("request", lambda request: page.requested.append(request.url))
        page.on("console", lambda message: page.said.append(message.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        opened.append(page)
        page.goto(file.as_uri())
        return page

    yield opening
    for page in opened:
        page.close()
