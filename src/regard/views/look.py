"""What a look through a corpus found: as one page, and as lines for a terminal or a log."""

from __future__ import annotations

from ..records.look import ClassSentences, Evenness, Look, Suspect, WordContext, WordUse
from .drawing import charts
from .drawing.charts import Histogram, draw_histogram
from .drawing.page import TableCell, asset, escape, report, summarise, table
from .drawing.terminal import printable
from .drawing.words import percent, plural, two_digits
from .explanation.page import fragment, scripts_for, styles_for

__all__ = ["render", "summary"]

_MOST_CLASSES = 8  # histograms of one word
_FEWEST_USES = 10  # of a word under one answer; the mean of fewer says nothing
_UNFOLDED = 6  # classes whose sentences are shown at once
_LONG = 5_000  # characters; a longer text scrolls in its own box
_SENTENCES, _CLASSES, _SUSPECTS = 3, 12, 10  # shown on the terminal; sentences of each class
_WIDEST = 100  # characters of a sentence on the terminal


def render(look: Look) -> str:
    """Return the whole page, which makes no requests."""
    sections = {
        "Deciding sentences": _deciding(look),
        "Suspicious labels": _suspects(look),
        "Words in context": _words(look),
        "Evenness": _evenness(look),
    }
    explained = [suspect.explanation for suspect in look.suspects]
    styles = charts.STYLES + asset("report.css") + asset("look.css")
    styles += styles_for(explained) if explained else ""
    scripts = asset("report.js") + scripts_for(explained)
    title, head = look.title or "Where the model looks", summarise(_headline(look))
    return report(title, head, sections, styles=styles, scripts=scripts)


def _words(look: Look) -> str:
    if not look.words:
        return ""
    note = (
        "The weights that a word is given, by what the model answers about the document. A model "
        "that reads words in their context gives “good” more weight in a good review than in “not "
        f"good”. Answers with fewer than {_FEWEST_USES} uses are left out. Dashed: the mean."
    )
    words = [context for context in look.words if context.uses[0].count >= _FEWEST_USES]
    rare = f'<p class="note">{escape(_tell_rare(look))}</p>' if _tell_rare(look) else ""
    return (f'<p class="note">{note}</p>' + "".join(map(_word, words)) if words else "") + rare


def _tell_rare(look: Look) -> str:
    """Name the words that were asked for and are too rare to tell of."""
    rare = [
        f"{context.word} ({context.uses[0].count})"
        for context in look.words
        if context.uses[0].count < _FEWEST_USES
    ]
    return f"Too few uses to tell anything: {', '.join(rare)}." if rare else ""


def _word(context: WordContext) -> str:
    known = [use for use in context.uses[1:] if use.count >= _FEWEST_USES]
    by_use = sorted(known, key=lambda use: -use.count)[:_MOST_CLASSES]
    shown = [use for use in context.uses if use in (context.uses[0], *by_use)]
    highest = max(share for use in shown for share in _histogram(context, use).shares)
    drawn = "".join(_use(context, use, highest) for use in shown)
    left_out = len(context.uses) - len(shown)
    more = f'<p class="note">And {plural(left_out, "rarer answer")}.</p>' if left_out else ""
    return (
        f'<div class="word"><h3><bdi>{escape(context.word)}</bdi></h3>'
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
    label = "All" if use.label is None else f"<bdi>{escape(use.label)}</bdi>"
    return (
        f'<figure><figcaption><b dir="auto">{label}</b><br>{escape(_tell_use(use))}</figcaption>'
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
        f"{escape(_tell_evenness(spread))}</figcaption>{drawn}</figure>"
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
            TableCell(sentence.text),
            TableCell(f"{sentence.count:,}", sentence.count),
            TableCell(two_digits(sentence.drop), sentence.drop, min(1.0, sentence.drop)),
            TableCell(f"{sentence.flips:,}", sentence.flips),
            TableCell(", ".join(f"{index + 1:,}" for index in sentence.documents)),
        ]
        for sentence in entry.sentences
    ]
    heads = ("Sentence", "Documents", "Probability lost", "Flips", "Such as document")
    caption = f"{plural(entry.documents, 'document')} answered with this label"
    return (
        f'<details class="deciding"{" open" * unfolded}><summary><b><bdi>{escape(entry.label)}'
        f"</bdi></b></summary>{table(heads, rows, caption=caption)}</details>"
    )


def _suspects(look: Look) -> str:
    if not look.labelled:
        return ""
    drawn = "".join(_suspect(suspect, place < 3) for place, suspect in enumerate(look.suspects))
    return f'<p class="note">{escape(" ".join(_tell_doubts(look)))}</p>{drawn}'


def _suspect(suspect: Suspect, unfolded: bool) -> str:
    kind = "mistake long" if len(suspect.explanation.source) > _LONG else "mistake"
    given = ", ".join(map(str, suspect.labels)) or "none"
    return (
        f'<details class="{kind}"{" open" * unfolded}><summary>'
        f"<span>Document {suspect.index + 1:,}</span> "
        f"<span>label <b><bdi>{escape(given)}</bdi></b></span> "
        f"<span>model <b><bdi>{escape(suspect.answer)}</bdi></b> "
        f"{escape(percent(suspect.probability))}</span></summary>"
        f"{fragment(suspect.explanation)}</details>"
    )


def summary(look: Look) -> list[str]:
    """Return the findings as lines for a terminal or a log."""
    lines = _headline(look)
    lines += _classes(look)
    if look.suspects:
        lines += ["", "Suspicious labels:"]
    for suspect in look.suspects[:_SUSPECTS]:
        given = ", ".join(map(str, suspect.labels)) or "none"
        lines.append(
            f"  document {suspect.index + 1:,}: label {given}, model {suspect.answer} "
            f"{percent(suspect.probability)}, {suspect.verdict}"
        )
    more = len(look.suspects) - _SUSPECTS
    lines += [f"  and {more:,} more"] if more > 0 else []
    for context in look.words:
        if context.uses[0].count < _FEWEST_USES:
            continue
        lines += ["", f"‘{context.word}’ by answer (weights within the {context.by})"]
        uses = [use for use in context.uses if use.count >= _FEWEST_USES]
        width = max(len(_name(use)) for use in uses)
        lines += [f"  {_name(use):<{width}}  {_tell_use(use)}" for use in uses]
    lines += ["", _tell_rare(look)] if _tell_rare(look) else []
    return [printable(line) for line in lines]


def _classes(look: Look) -> list[str]:
    lines: list[str] = []
    for entry in look.classes[:_CLASSES]:
        if entry.sentences:
            count = plural(entry.documents, "document")
            lines += ["", f"What decides for {entry.label} ({count}), and what is lost without it"]
        for sentence in entry.sentences[:_SENTENCES]:
            text = sentence.text
            text = text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"
            often = f" in {sentence.count:,} documents" if sentence.count > 1 else ""
            lines.append(f"  −{two_digits(sentence.drop)}{often}  {text}")
    left_out = len(look.classes) - _CLASSES
    return lines + ([f"and {plural(left_out, 'rarer answer')}"] if left_out > 0 else [])


def _name(use: WordUse) -> str:
    return "all" if use.label is None else str(use.label)


def _headline(look: Look) -> list[str]:
    """Say in a few sentences what was found."""
    said = [f"Looked through {plural(look.documents, 'document')}."]
    if look.labelled:
        count = len(look.suspects)
        said.append(
            f"{plural(count, 'label')} {'looks' if count == 1 else 'look'} suspicious."
            if count
            else "No label looks suspicious."
        )
    for spread in look.spreads:
        said.append(f"{spread.level.capitalize()}s: {_tell_evenness(spread)}")
    return said


def _tell_evenness(spread: Evenness) -> str:
    """Say how evenly a level of attention spreads its weight."""
    within = {"word": "sentence", "sentence": "document"}.get(spread.level, "row")
    return (
        f"the weight of a {within} is spread over about {spread.effective_items:.1f} of "
        f"{spread.mean_items:.1f} {spread.level}s (evenness {spread.evenness:.2f}); "
        f"in {two_digits(spread.uniform_rows)} of {within}s it is as good as even."
    )


def _tell_use(use: WordUse) -> str:
    """Say how a word was weighed under one answer."""
    times = f"{use.lift:.2f} × an even share"
    return f"{plural(use.count, 'use')}, mean weight {use.mean:.2g}, {times}"


def _tell_doubts(look: Look) -> list[str]:
    """Say how the suspicious labels were found."""
    said = [
        f"{plural(look.disagreements, 'answer')} of at least {two_digits(look.sure)} "
        f"{'contradicts' if look.disagreements == 1 else 'contradict'} the label given."
    ]
    if look.measured:
        which = "All" if look.measured == look.disagreements else f"The {look.measured:,} surest"
        count = len(look.suspects)
        said.append(
            f"{which} were explained, and the reasons measured by taking them away: in {count:,} "
            "the answer does rest on them. Those the model may know better than the label."
        )
    return said
