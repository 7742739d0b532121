"""Draw what a look through a corpus found as one page."""

from __future__ import annotations

from ...records.look import ClassSentences, Evenness, Look, Suspect, WordContext, WordUse
from ..drawing import charts
from ..drawing.charts import Histogram, draw_histogram
from ..drawing.page import asset, contents, escaped, page, section
from ..drawing.tables import Cell, table
from ..drawing.words import percent, plural, two_digits
from ..explanation.page import fragment, scripts_for, styles_for
from .words import doubts, evenness, headline, use_line

__all__ = ["render"]

_MOST_CLASSES = 8  # histograms of one word
_UNFOLDED = 6  # classes whose sentences are shown at once
_LONG = 5_000  # characters; a longer text scrolls in its own box


def render(look: Look) -> str:
    """Return the whole page, which makes no requests."""
    sections = {
        "Words in context": _words(look),
        "Evenness": _evenness(look),
        "Deciding sentences": _deciding(look),
        "Suspicious labels": _suspects(look),
    }
    drawn = {name: body for name, body in sections.items() if body}
    title = look.title or "Where the model looks"
    summary = "".join(f"<p>{escaped(line)}</p>" for line in headline(look)[1:])
    body = [
        f'<header><h1>{escaped(title)}</h1><div class="summary"><p class="lead">'
        f"{escaped(headline(look)[0])}</p>{summary}</div>{contents(list(drawn))}</header>",
        *(section(name, body) for name, body in drawn.items()),
    ]
    explained = [suspect.explanation for suspect in look.suspects]
    styles = charts.STYLES + asset("report.css") + asset("look.css")
    styles += styles_for(explained) if explained else ""
    scripts = asset("report.js") + scripts_for(explained)
    return page(title, "\n".join(body), styles=styles, scripts=scripts)


def _words(look: Look) -> str:
    if not look.words:
        return ""
    note = (
        "The weights that a word is given, by what the model answers about the document. A model "
        "that minds context weighs “good” more where it answers well of a thing, and less in “not "
        "good”. Dashed: the mean."
    )
    return f'<p class="note">{note}</p>' + "".join(map(_word, look.words))


def _word(context: WordContext) -> str:
    by_use = sorted(context.uses[1:], key=lambda use: -use.count)[:_MOST_CLASSES]
    shown = [use for use in context.uses if use in (context.uses[0], *by_use)]
    highest = max(share for use in shown for share in _histogram(context, use).shares)
    drawn = "".join(_use(context, use, highest) for use in shown)
    left_out = len(context.uses) - len(shown)
    more = f'<p class="note">And {plural(left_out, "rarer answer")}.</p>' if left_out else ""
    return (
        f'<div class="word"><h3><bdi>{escaped(context.word)}</bdi></h3>'
        f'<div class="panels">{drawn}</div>{more}</div>'
    )


def _use(context: WordContext, use: WordUse, highest: float) -> str:
    name = "whatever the answer" if use.label is None else f"answer {use.label}"
    drawn = draw_histogram(
        _histogram(context, use),
        title=f"Weights of {context.word}, {name}",
        highest=highest,
        x_title=f"weight in its {context.by}",
    )
    label = "All" if use.label is None else f"<bdi>{escaped(use.label)}</bdi>"
    return (
        f'<figure><figcaption><b dir="auto">{label}</b><br>{escaped(use_line(use))}</figcaption>'
        f"{drawn}</figure>"
    )


def _histogram(context: WordContext, use: WordUse) -> Histogram:
    colour = "grey" if use.label is None else "orange"
    return Histogram(context.edges, use.bins, "weight", "use", colour, use.mean)


def _evenness(look: Look) -> str:
    if not look.spreads:
        return ""
    note = (
        "Entropy of the weights over that of uniform ones: at 1 the attention says nothing, "
        "at 0 one item has all of the weight."
    )
    drawn = "".join(map(_spread, look.spreads))
    return f'<p class="note">{note}</p><div class="pair">{drawn}</div>'


def _spread(spread: Evenness) -> str:
    steps = len(spread.bins)
    edges = tuple(place / steps for place in range(steps + 1))
    colour, noun = {"word": ("orange", "sentence")}.get(spread.level, ("blue", "document"))
    histogram = Histogram(edges, spread.bins, "evenness", noun, colour, spread.evenness)
    title = f"Evenness of the weights of {spread.level}s"
    drawn = draw_histogram(histogram, title=title, x_title="evenness")
    return (
        f"<figure><figcaption><b>{spread.level.capitalize()}s</b><br>"
        f"{escaped(evenness(spread))}</figcaption>{drawn}</figure>"
    )


def _deciding(look: Look) -> str:
    classes = [entry for entry in look.classes if entry.sentences]
    if not classes:
        return ""
    note = (
        "Of each document the one sentence without which its answer loses most probability, found "
        "by leaving out each in turn; sentences written alike are counted together, and those "
        "that carry most over all documents come first."
    )
    drawn = "".join(_class(entry, place < _UNFOLDED) for place, entry in enumerate(classes))
    return f'<p class="note">{note}</p>{drawn}'


def _class(entry: ClassSentences, unfolded: bool) -> str:
    rows = [
        [
            Cell(sentence.text),
            Cell(f"{sentence.count:,}", sentence.count),
            Cell(two_digits(sentence.drop), sentence.drop, min(1.0, sentence.drop)),
            Cell(f"{sentence.flips:,}", sentence.flips),
            Cell(", ".join(f"{index + 1:,}" for index in sentence.documents)),
        ]
        for sentence in entry.sentences
    ]
    heads = ("Sentence", "Documents", "Probability lost", "Flips", "Such as document")
    caption = f"{plural(entry.documents, 'document')} answered with this label"
    return (
        f'<details class="deciding"{" open" * unfolded}><summary><b><bdi>{escaped(entry.label)}'
        f"</bdi></b></summary>{table(heads, rows, caption=caption)}</details>"
    )


def _suspects(look: Look) -> str:
    if not look.labelled:
        return ""
    drawn = "".join(_suspect(suspect, place < 3) for place, suspect in enumerate(look.suspects))
    return f'<p class="note">{escaped(" ".join(doubts(look)))}</p>{drawn}'


def _suspect(suspect: Suspect, unfolded: bool) -> str:
    kind = "mistake long" if len(suspect.explanation.source) > _LONG else "mistake"
    given = ", ".join(map(str, suspect.labels)) or "none"
    return (
        f'<details class="{kind}"{" open" * unfolded}><summary>'
        f"<span>Document {suspect.index + 1:,}</span> "
        f"<span>label <b><bdi>{escaped(given)}</bdi></b></span> "
        f"<span>model <b><bdi>{escaped(suspect.answer)}</bdi></b> "
        f"{escaped(percent(suspect.probability))}</span></summary>"
        f"{fragment(suspect.explanation)}</details>"
    )
