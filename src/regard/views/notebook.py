"""Records as a notebook shows them: what was found in a few lines, and the whole page behind it."""

from __future__ import annotations

from collections.abc import Sequence

from ..records.history import Epoch, History
from .drawing.colours import DARK, LIGHT, Theme, hexadecimal
from .drawing.page import escape, themed
from .drawing.words import plural

__all__ = ["card", "draw_history"]

_FRAME = 640  # pixels that the whole page is high; it scrolls


def _variables(theme: Theme) -> str:
    names = ("paper", "ink", "muted", "line")
    return ";".join(f"--rg-{name}:{hexadecimal(getattr(theme, name))}" for name in names)


_STYLES = (
    themed(".rg-card", _variables(LIGHT), _variables(DARK))
    + """
.rg-card{background:var(--rg-paper);color:var(--rg-ink);border:1px solid var(--rg-line);
border-radius:6px;padding:.75rem 1rem;max-width:60rem;font:15px/1.5 system-ui,sans-serif}
.rg-card p{margin:0 0 .25rem}.rg-card p:first-child{font-weight:600}
.rg-card pre{margin:.5rem 0 0;overflow-x:auto;font-size:.85em;line-height:1.4;
background:none;color:inherit}
.rg-card table{border-collapse:collapse;color:var(--rg-ink);
margin-top:.5rem;font-variant-numeric:tabular-nums}
.rg-card th,.rg-card td{padding:.1rem .8rem .1rem 0;text-align:right;background:none;
border-bottom:1px solid var(--rg-line);color:inherit}
.rg-card tr.rg-kept td{font-weight:600}.rg-card summary{cursor:pointer;color:var(--rg-muted)}
.rg-card iframe{width:100%;border:1px solid var(--rg-line);border-radius:4px;margin-top:.5rem}
"""
)


def card(lines: Sequence[str], *, body: str = "", whole: str = "") -> str:
    """Return lines that tell of a record, and its ``whole`` page, folded away.

    Lines up to the first empty one are sentences, the rest columns. ``body`` is HTML already.
    """
    end = lines.index("") if "" in lines else len(lines)
    told = "".join(f"<p>{escape(line)}</p>" for line in lines[:end])
    rest = "\n".join(lines[end + 1 :])
    columns = f"<pre>{escape(rest)}</pre>" if rest else ""
    return f'<style>{_STYLES}</style><div class="rg-card">{told}{columns}{body}{_fold(whole)}</div>'


def _fold(page: str) -> str:
    """The page in a frame of its own, in which it may run its own script and reach nothing."""
    if not page:
        return ""
    return (
        "<details><summary>The whole report</summary>"
        f'<iframe sandbox="allow-scripts" height="{_FRAME}" title="The whole report" '
        f'srcdoc="{escape(page)}"></iframe></details>'
    )


def draw_history(history: History) -> str:
    """Return a training epoch by epoch; the one that was kept stands out."""
    ends = {
        "finished": "The training went through all its epochs",
        "patience": "The training stopped early, since nothing got better",
        "interrupted": "The training was stopped by hand",
    }
    best = history.best
    kept = f"; the weights of epoch {best.epoch} were kept" if best else ""
    told = f"{ends[history.stopped]}{kept}. It took {history.seconds:,.0f} seconds."
    scores = [f"{_in_words(name)} {score:.4f}" for name, score in history.fold_scores.items()]
    lines = [told]
    if scores:
        count = plural(len(history.folds), "network")
        lines.append(
            f"Before, {count} each left out a fold; held out, on average: {', '.join(scores)}."
        )
    names = list(dict.fromkeys(name for epoch in history.epochs for name in epoch.validation))
    heads = ["epoch", "training loss", *(f"held-out {_in_words(name)}" for name in names)]
    head = "".join(f'<th scope="col">{escape(text)}</th>' for text in heads)
    rows = "".join(_row(epoch, names, kept=epoch is best) for epoch in history.epochs)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return card(lines, body=table if history.epochs else "")


def _row(epoch: Epoch, names: Sequence[str], *, kept: bool) -> str:
    scores = (epoch.train_loss, *(epoch.validation.get(name) for name in names))
    cells = [str(epoch.epoch), *("" if score is None else f"{score:.4f}" for score in scores)]
    drawn = "".join(f"<td>{cell}</td>" for cell in cells)
    return f'<tr class="rg-kept">{drawn}</tr>' if kept else f"<tr>{drawn}</tr>"


def _in_words(name: str) -> str:
    return {"macro_f1": "macro-F1", "bleu": "BLEU"}.get(name, name.replace("_", " "))
