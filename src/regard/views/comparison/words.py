"""A comparison in plain words: what the page, the picture and the terminal say alike."""

from __future__ import annotations

from collections.abc import Callable

from ...records.comparison import ALIKE, BETTER, WORSE, Comparison, Paired, Standing
from ..drawing.words import percent, plural, points, write_interval

__all__ = [
    "accuracy_of",
    "headline",
    "how_measured",
    "lead_of",
    "memory_of",
    "number",
    "paired_with",
    "weaknesses",
    "write_bytes",
]

NOTICED = 1.25  # how many times as slow or large a model is, from which on it is said
MOST_NAMED = 6  # of the trainings that were left out for one reason
LESS = 0.02  # how much less probability hangs on what explanations mark, from which on it is said


def number(value: float) -> str:
    """Write a number with three digits that matter: ``12,300`` or ``4.56``."""
    if value >= 100:
        digits = max(0, len(f"{value:.0f}") - 3)
        return f"{round(value / 10**digits) * 10**digits:,.0f}"
    return f"{value:.3g}"


def write_bytes(size: float | None) -> str:
    """Write how large something is: ``4.2 MB``; a dash where that is not known."""
    if size is None:
        return "–"
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}" if unit != "B" else f"{size:.0f} B"
        size /= 1000
    return f"{size:.3g} GB"


def accuracy_of(standing: Standing) -> str:
    """Write an accuracy with its deviation over the seeds."""
    spread = "" if standing.deviation is None else f" ± {100 * standing.deviation:.1f}"
    return f"{100 * standing.accuracy:.1f}{spread}"


def lead_of(standing: Standing) -> str:
    """Write how faithful a model's explanations are, in points of probability."""
    return "–" if standing.faithfulness is None else points(standing.faithfulness.lead, sign=True)


def memory_of(standing: Standing) -> str:
    """Write the memory that answering takes."""
    return write_bytes(standing.peak_bytes)


def paired_with(comparison: Comparison, name: str) -> Paired | None:
    """Return how a contender did beside the one that all are compared with."""
    return next((pair for pair in comparison.pairs if pair.name == name), None)


def headline(comparison: Comparison) -> list[str]:
    """Say in a few sentences who is best at what; the first is the one to keep."""
    best = comparison.standings[0]
    seeds = plural(len(comparison.seeds), "seed")
    said = [
        f"{best.title} is right most often: {percent(best.accuracy)} of "
        f"{plural(comparison.test_documents, 'test document')} "
        f"({write_interval(best.interval)}), after learning from "
        f"{comparison.training_documents:,} ({seeds}).",
        _tell_pairs(comparison),
        *weaknesses(comparison),
    ]
    return said + _tell_left_out(comparison)


def _tell_left_out(comparison: Comparison) -> list[str]:
    """Say what was not trained, in one sentence for each reason."""
    by_reason: dict[str, list[str]] = {}
    for one in comparison.left_out:
        by_reason.setdefault(one.reason, []).append(one.name)
    said = []
    for reason, names in by_reason.items():
        shown = "; ".join(names[:MOST_NAMED])
        more = len(names) - MOST_NAMED
        said.append(f"Left out: {shown}{f' and {more} more' if more > 0 else ''}, since {reason}.")
    return said


def _tell_pairs(comparison: Comparison) -> str:
    """Say which are better or worse than the one that all are compared with."""
    named: dict[str, list[str]] = {BETTER: [], WORSE: [], ALIKE: []}
    for pair in comparison.pairs:
        named[pair.verdict].append(_title(comparison, pair.name))
    told = [
        f"{', '.join(named[verdict])} {'is' if len(named[verdict]) == 1 else 'are'} {said}"
        for verdict, said in (
            (BETTER, "more accurate"),
            (WORSE, "less accurate"),
            (ALIKE, "not told apart by these documents and seeds"),
        )
        if named[verdict]
    ]
    return f"Beside {_title(comparison, comparison.against)}: {'; '.join(told)}."


def weaknesses(comparison: Comparison) -> list[str]:
    """Say in a sentence where the best of our own models is behind, and behind whom.

    That is the one that all are compared with, where it is ours.
    """
    ours = [one for one in comparison.standings if one.ours]
    own = next((one for one in ours if one.name == comparison.against), ours[0] if ours else None)
    if own is None:
        return []
    others = [one for one in comparison.standings if one.name != own.name]
    found = [
        *_less_accurate(comparison, own),
        *_times(own, others, "answers", "as slowly as", _seconds_each),
        *_times(own, others, "takes", "the memory of", lambda one: one.peak_bytes),
        *_times(own, others, "trains", "as long as", lambda one: one.training_seconds),
        *_less_faithful(own, others),
    ]
    if not found:
        return [f"No weakness of {own.title} was found here: nobody is ahead of it in anything."]
    return [f"Where {own.title} is weak: {'; '.join(found)}."]


def _seconds_each(one: Standing) -> float | None:
    return 1 / one.documents_per_second if one.documents_per_second else None


def _less_accurate(comparison: Comparison, own: Standing) -> list[str]:
    ahead = [one for one in comparison.standings if one.accuracy > own.accuracy]
    if not ahead:
        return []
    gap = points(ahead[0].accuracy - own.accuracy)
    pair = paired_with(comparison, ahead[0].name)
    sure = ", which may be chance" if pair is not None and pair.verdict == ALIKE else ""
    return [f"it is {gap} points less accurate than {ahead[0].title}{sure}"]


def _times(
    own: Standing,
    others: list[Standing],
    verb: str,
    said: str,
    amount: Callable[[Standing], float | None],
) -> list[str]:
    """Say how many times as much it needs as the best that is not plainly less accurate."""
    mine = amount(own)
    rivals = [
        (value, one)
        for one in others
        if one.accuracy >= own.interval.low and (value := amount(one)) is not None and value > 0
    ]
    if mine is None or not rivals:
        return []
    least, best = min(rivals, key=lambda pair: pair[0])
    if mine < NOTICED * least:
        return []
    return [f"it {verb} {number(mine / least)} times {said} {best.title}"]


def _less_faithful(own: Standing, others: list[Standing]) -> list[str]:
    if own.faithfulness is None:
        return []
    measured = [(one.faithfulness.lead, one) for one in others if one.faithfulness is not None]
    lead, best = max(measured, key=lambda pair: pair[0], default=(0.0, own))
    behind = lead - own.faithfulness.lead
    if behind < LESS:
        return []
    return [
        f"its explanations point at words on which {points(behind)} points less of the "
        f"probability hang than those of {best.title}"
    ]


def how_measured(comparison: Comparison) -> list[str]:
    """Say what each number is."""
    one = comparison.standings[0]
    faithful = next((one.faithfulness for one in comparison.standings if one.faithfulness), None)
    said = [
        "Accuracy: the share of test documents answered rightly, the mean over seeds ± their "
        "standard deviation. The interval is the middle 95 % over documents and seeds drawn again.",
        "A difference is called better or worse where chance is below 5 % after Holm's correction "
        f"for {plural(len(comparison.pairs), 'comparison')}, by flipping signs document by "
        "document (McNemar's test, for several seeds), and where the 95 % interval of the "
        "difference, over documents and seeds, does not hold zero.",
    ]
    if faithful is not None:
        said.append(
            f"Faithfulness: on {plural(faithful.documents, 'test document')}, the words that the "
            "model's own explanation puts first are cut out of the text and the model is asked "
            "again; by how many points more its probability falls than without as many random "
            "words, the mean over 1, 5, 10, 20 and 50 % of the words."
        )
    said.append(
        "Documents a second: many test texts answered together from raw text; memory: what "
        "loading the model and answering them adds to the process at its peak; both on this "
        f"machine, measured on a saved model that was loaded again. {one.title} was measured like "
        "all others."
    )
    return said


def _title(comparison: Comparison, name: str) -> str:
    found = comparison.standing(name)
    return name if found is None else found.title
