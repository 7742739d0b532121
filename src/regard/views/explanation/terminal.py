"""Draw an explanation as text for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from rich.cells import cell_len, set_cell_size

from ...records.explanation import Decision, Explanation
from ...records.weights import Weights
from ..drawing.colours import Scale
from ..drawing.terminal import Terminal, printable, printable_line
from ..drawing.words import percent, two_digits
from ..drawing.wrapping import Styled, break_lines
from .folding import Run, fold, is_long
from .passages import Stretch, passages
from .receipt import conclusion, tell_receipt, verdicts
from .words import (
    groups,
    heavy_words,
    is_right,
    method_name,
    name_answer,
    ngram_words,
    notes,
    opposing_words,
    question,
    tell_finding,
    tell_shares,
)

__all__ = ["Terminal", "render"]

Style = Callable[[str], str]
"""Writes a text with the codes of its style."""

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_BAR = 5
_NUMBER = 6  # cells of a weight such as "99.9 %"; a longer one widens the column for all
_SHOWN_LABELS = 8


def render(explanation: Explanation, terminal: Terminal, *, whole: bool = True) -> str:
    """Return the text with its weights, the probabilities, and the words that count most.

    Without ``whole``, quiet parts of a long text are a line each.
    """
    blocks: list[str] = []
    for decisions in groups(explanation):
        decision = decisions[0]
        blocks += _head(explanation, decisions, terminal)
        blocks += _probabilities(explanation, terminal)
        blocks += ["", *_text(explanation, decision, terminal, whole=whole), ""]
        blocks += [*_heaviest(explanation, decision, terminal), ""]
        blocks += [line for one in decisions for line in _shares(explanation, one, terminal)]
        blocks += _remarks(explanation, decision, terminal)
        blocks += [line for one in decisions for line in _receipt(explanation, one, terminal)]
    return "\n".join(blocks)


def _head(explanation: Explanation, decisions: list[Decision], terminal: Terminal) -> list[str]:
    answers = "   ".join(
        f"{terminal.bold(printable_line(decision.label))} {percent(decision.probability)}"
        for decision in decisions
    )
    truth = ""
    if explanation.true_labels is not None:
        sign = {True: "✓ ", False: "✗ ", None: ""}[is_right(explanation, decisions)]
        names = ", ".join(map(printable_line, explanation.true_labels)) or "none"
        truth = f"   {sign}true label {names}"
    method = terminal.dim("by " + printable_line(method_name(explanation)))
    found = tell_finding(explanation, decisions[0])
    said = _wrap([Styled(found, terminal.dim)], terminal.width)
    asked = question(decisions[0])
    rival = f" {printable_line(asked)}" if asked else ""
    return [f"{answers}{rival}{truth}   {method}", *said]


def _probabilities(explanation: Explanation, terminal: Terminal) -> list[str]:
    ranked = sorted(explanation.probabilities, key=lambda pair: -pair[1])
    shown = [(printable_line(label), share) for label, share in ranked[:_SHOWN_LABELS]]
    if not shown:
        return []
    name_width = min(24, max(cell_len(name) for name, _ in shown))
    bar_width = max(5, min(40, terminal.width - name_width - 10))
    lines = [
        f"{set_cell_size(name, name_width)} {_bar(share, bar_width)} {percent(share):>7}"
        for name, share in shown
    ]
    hidden = len(ranked) - len(shown)
    return lines + [terminal.dim(f"and {hidden} more labels")] * (hidden > 0)


def _text(
    explanation: Explanation, decision: Decision, terminal: Terminal, *, whole: bool
) -> list[str]:
    sentences = decision.level("sentence")
    ink = _Ink(decision, terminal)
    gutter = _Gutter(sentences, terminal) if sentences is not None else None
    room = gutter.width if gutter else 0
    width = max(10, terminal.width - room)
    all_of_it = passages(explanation, decision)
    folded = not whole and is_long(decision)
    found: list[str] = []
    for run in fold(all_of_it, decision) if folded else [Run(0, len(all_of_it), quiet=False)]:
        some = all_of_it[run.first : run.after]
        if run.quiet and sentences is not None:
            weight = two_digits(sum(sentences.values[one.sentence or 0] for one in some))
            told = f"… {len(some):,} quiet sentences, {weight} of the weight"
            found.append(" " * room + terminal.dim(told))
            continue
        for passage in some:
            lines = _wrap(map(ink.styled, passage.stretches), width)
            if gutter is not None:  # a line a sentence: empty lines between them say nothing
                lines = [line for line in lines if line.strip()]
            bar = gutter.bar(passage.sentence) if gutter else ""
            for line in lines or [""]:
                found.append((bar + line).rstrip(" "))
                bar = " " * room
    return found


class _Gutter:
    """The column beside the text: a number and a bar for each sentence, all equally wide."""

    def __init__(self, sentences: Weights, terminal: Terminal) -> None:
        self._terminal = terminal
        self._amounts = sentences.amounts
        self._scale = Scale.of_sentences(sentences)
        self._number = max([_NUMBER, *(len(self._scale.text(one)) for one in self._amounts)])

    @property
    def width(self) -> int:
        """How many cells it takes: the number, the bar, and a space behind each."""
        return self._number + 1 + _BAR + 1

    def bar(self, place: int | None) -> str:
        """What stands beside the first line of a sentence, or of a part that was not read."""
        if place is None:
            return self._terminal.dim("not read".rjust(self.width - 1)) + " "
        value = self._amounts[place]
        theme = self._terminal.theme
        hue = theme.against if value < 0 else theme.sentence
        bar = self._terminal.coloured(_bar(self._scale.length(value), _BAR), hue)
        return f"{self._scale.text(value):>{self._number}} {bar} "


class _Ink:
    """Decides how each stretch of the text is written."""

    def __init__(self, decision: Decision, terminal: Terminal) -> None:
        self._terminal = terminal
        self._weights = decision.words
        self._scale = Scale.of(self._weights)

    def styled(self, stretch: Stretch) -> Styled[Style]:
        text = printable(stretch.text)
        if stretch.kind in ("tag", "unread"):
            return Styled(text, self._terminal.dim)
        if stretch.kind == "between":
            return Styled(text, str)
        value = 0.0
        if self._weights is not None and stretch.word is not None:
            value = self._weights.amounts[stretch.word]
        level = self._scale.level(value)
        if not level and not stretch.unknown:
            return Styled(text, str)
        style = partial(
            self._terminal.word, level=level, against=value < 0, unknown=stretch.unknown
        )
        # Where there are no codes, the marks are letters themselves and take room.
        return Styled(style(text), str) if self._terminal.depth == "none" else Styled(text, style)


def _heaviest(explanation: Explanation, decision: Decision, terminal: Terminal) -> list[str]:
    """The words for the label and those against it, a list each."""
    weights = decision.words
    if weights is None or not len(weights):
        return []
    scale = Scale.of(weights)
    found: list[str] = []
    for name, words in (
        ("Heaviest words", heavy_words(explanation, decision)),
        ("Speaks against it", opposing_words(explanation, decision)),
    ):
        parts = [f"{printable_line(word.text)} {scale.text(word.weight)}" for word in words]
        parts = [part.replace(" ", "\u00a0") for part in parts]  # a word stays beside its weight
        if parts:
            found += _wrap([Styled(f"{name}: {', '.join(parts)}", str)], terminal.width)
    return found


def _shares(explanation: Explanation, decision: Decision, terminal: Terminal) -> list[str]:
    """What network and n-grams put into the answer, and the words whose n-grams say most."""
    told = tell_shares(decision)
    if not told or decision.shares is None:
        return []
    scale = Scale.of(decision.shares.ngrams)
    parts = [
        f"{printable_line(word.text)} {scale.text(word.weight)}".replace(" ", "\u00a0")
        for word in ngram_words(explanation, decision)
    ]
    lines = _wrap([Styled(printable_line(told), str)], terminal.width)
    if parts:
        lines += _wrap([Styled(f"N-grams, exactly: {', '.join(parts)}", str)], terminal.width)
    return [*lines, ""]


def _remarks(explanation: Explanation, decision: Decision, terminal: Terminal) -> list[str]:
    """How to read the picture, in so many words."""
    marks = {"truecolor": "shaded", "256": "shaded", "bold": "bold", "none": "*starred*"}
    opposed = {"bold": "in italics", "none": "~so~"}
    said = notes(explanation, decision)
    if decision.level("word") is not None:
        said.append(f"Words that count are {marks[terminal.depth]}.")
    if any(weights.opposing(1) for weights in decision.weights):
        sign = opposed.get(terminal.depth, "in violet")
        said.append(f"What speaks against {printable_line(decision.label)} is {sign}.")
    if decision.level("sentence") is not None:
        said.append("Bars are the weights of sentences.")
    if explanation.unknown:
        sign = "marked °" if terminal.depth == "none" else "underlined"
        said.append(f"Words not in the vocabulary are {sign}.")
    return _wrap([Styled(printable_line(" ".join(said)), terminal.dim)], terminal.width)


def _receipt(explanation: Explanation, decision: Decision, terminal: Terminal) -> list[str]:
    """How faithful the explanation is."""
    if decision.receipt is None:
        return []
    answer = printable_line(name_answer(explanation, decision))
    judged = [f"{verdict}: {meant}" for verdict, meant in verdicts(decision.receipt, answer)]
    lines = _wrap([Styled(conclusion(decision.receipt, answer), terminal.bold)], terminal.width)
    for said in (*judged, *tell_receipt(decision)):
        lines += _wrap([Styled(said, str)], terminal.width)
    return ["", *lines]


def _wrap(stretches: Iterable[Styled[Style]], width: int) -> list[str]:
    return [
        "".join(part.style(part.text) if part.text.strip() else part.text for part in line)
        for line in break_lines(stretches, width)
    ]


def _bar(length: float, width: int) -> str:
    """A bar of so many cells, exact to an eighth of one; what is there at all shows."""
    eighths = max(round(8 * width * min(1.0, length)), 1 if length > 0 else 0)
    full, rest = divmod(eighths, 8)
    return ("█" * full + (_EIGHTHS[rest] if rest else "")).ljust(width)
