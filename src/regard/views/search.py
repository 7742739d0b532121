"""A search for settings as lines for a terminal or a log."""

from __future__ import annotations

from ..records.search import Search, Trial
from .drawing.terminal import printable_line, table_lines
from .drawing.words import plural

__all__ = ["search_lines", "trial_line"]


def trial_line(trial: Trial, total: int) -> str:
    """Say in a line how a trial went."""
    settings = ", ".join(f"{_short(name)} {_value(v)}" for name, v in trial.settings.items())
    line = f"trial {trial.number} of {total}: {_outcome(trial)} ({settings})"
    return printable_line(line)


def search_lines(found: Search) -> list[str]:
    """Return the table of all trials, the best first, and what there is to say about it."""
    names = list(found.trials[0].settings) if found.trials else []
    scores = list(dict.fromkeys(name for trial in found.trials for name in trial.scores))
    heads = ["trial", *map(_short, names), *map(_title, scores), "passes", "seconds"]
    rows = []
    for trial in found.ranked:
        mark = "" if trial.end == "done" else f" ({trial.end})"
        rows.append(
            [
                f"{trial.number}{mark}",
                *(_value(trial.settings.get(name)) for name in names),
                *(_value(trial.scores.get(name), digits=4) for name in scores),
                str(trial.epochs),
                f"{trial.seconds:.0f}",
            ]
        )
    return [*table_lines(heads, rows), "", *(f"- {line}" for line in _said(found))]


def _said(found: Search) -> list[str]:
    best = found.best
    lines = []
    if best is None:
        lines.append("no trial was trained to its end; give it more time and start it again")
    else:
        held_out = f"{plural(found.held_out_documents, 'document')} held out"
        if found.folds:
            held_out += f", each in one of {found.folds} folds"
        lines.append(
            f"trial {best.number} has the best {_title(found.by)} on {held_out}. They chose it "
            f"among {plural(len(found.trials), 'trial')}, so its scores flatter: measure on others"
        )
    given_up = sum(trial.end == "given up" for trial in found.trials)
    if given_up:
        they = "trial was" if given_up == 1 else "trials were"
        lines.append(f"{given_up} {they} given up: at the same epoch most others were better")
    lines += [
        f"trial {trial.number} failed: {printable_line(trial.reason)}"
        for trial in found.trials
        if trial.end == "failed"
    ]
    return lines


def _outcome(trial: Trial) -> str:
    scores = ", ".join(f"{_title(name)} {score:.4f}" for name, score in trial.scores.items())
    if trial.end == "failed":
        return f"failed, {trial.reason}"
    after = f" after {plural(trial.epochs, 'epoch')}"
    return scores if trial.end == "done" else f"given up{after}, {scores}"


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _title(score: str) -> str:
    return {"macro_f1": "macro-F1"}.get(score, score)


def _value(value: object, digits: int = 3) -> str:
    if value is None:
        return "none"
    return f"{value:.{digits}g}" if isinstance(value, float) else printable_line(value)
