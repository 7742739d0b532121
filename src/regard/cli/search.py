"""``regard search``: settings that suit the data, found by trying."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from ..errors import ConfigError
from ..files import write_file
from .options import Data, Device, Encoding, Json, LabelsSeparator, OnBadRow, Quiet
from .output import require_outside_models, say, show
from .reasons import read_reasons
from .settings_file import toml
from .tasks.classifier_training import open_files
from .train import (
    Changes,
    EvidenceColumn,
    GroupColumn,
    LabelColumn,
    Network,
    Seed,
    TextColumn,
    TimeColumn,
    Validation,
    Wide,
)

if TYPE_CHECKING:
    from ..records.search import Search
    from ..scale.search import Start

__all__ = ["search"]

Out = Annotated[
    Path, typer.Option(help="The folder for the trials, the table and the best settings.")
]
SpaceFile = Annotated[
    Path | None,
    typer.Option("--space", metavar="FILE", help="What to try, as TOML; else the usual settings."),
]
Trials = Annotated[int, typer.Option(min=1, help="How many settings to try, in all.")]
Minutes = Annotated[
    float | None, typer.Option(min=0, help="Stop after so long; start again to go on.")
]
By = Annotated[str, typer.Option(help="The score that decides: loss, accuracy or macro_f1.")]
Recipe = Annotated[
    str, typer.Option(help="What the settings start from: fast, balanced or accurate.")
]


def search(
    data: Data,
    out: Out,
    space: SpaceFile = None,
    trials: Trials = 20,
    minutes: Minutes = None,
    by: By = "loss",
    text_column: TextColumn = "text",
    label_column: LabelColumn = "label",
    labels_separator: LabelsSeparator = None,
    validation: Validation = "0.1",
    group_column: GroupColumn = None,
    time_column: TimeColumn = None,
    evidence_column: EvidenceColumn = None,
    recipe: Recipe = "balanced",
    model: Network = "han",
    seed: Seed = None,
    changes: Changes = None,
    wide: Wide = "on",
    json: Json = False,
    encoding: Encoding = None,
    on_bad_row: OnBadRow = "stop",
    device: Device = "auto",
    quiet: Quiet = False,
) -> None:
    """Try settings and keep the best, judged by documents held out.

    Writes them as a file for regard train --config. Started again, it goes on where it was.
    """
    from ..data.columns import Columns
    from ..data.fingerprints import state_of_data
    from ..estimators.fitting import FitOptions
    from ..scale.search import SPACE, SettingsSearch, Start, read_space
    from ..training.observers import TrainingProgress
    from ..views.search import trial_line

    _require_folder(out)
    tried = SPACE if space is None else read_space(space)
    columns = Columns(
        text=text_column,
        label=label_column,
        labels_separator=labels_separator,
        group=group_column,
        time=time_column,
        encoding=encoding,
        carry=False,
    )
    files = open_files(data, columns, validation=validation, test=None, on_bad_row=on_bad_row)
    if files.training.once:
        raise ConfigError("a search reads the data once a trial; give a file instead of a pipe")
    start = Start(
        model=model or "han",
        recipe=recipe,
        changes=[*(changes or ()), *([] if seed is None else [f"training.seed={seed}"])],
        wide=wide,
        validation=files.fraction,
        device=device,
    )
    reasons = read_reasons(files.training, data, evidence_column, on_bad_row, quiet=quiet)
    read = [data] if files.validation is None else [data, validation]
    with TrainingProgress(quiet=quiet, lines=False) as progress:
        found = SettingsSearch(
            files.training,
            files.validation,
            folder=out,
            space=tried,
            trials=trials,
            seconds=None if minutes is None else 60 * minutes,
            by=by,
            start=start,
            options=FitOptions(
                columns=columns,
                split="group" if group_column else "time" if time_column else "random",
                reasons=reasons,
                observers=(progress,),
            ),
            data="; ".join(state_of_data(Path(one)) for one in read),
            tell=lambda trial: say(trial_line(trial, trials), quiet=quiet),
        ).run()
    write_file(out / "search.json", found.to_json(indent=2) + "\n")
    options = {
        "text-column": text_column,
        "label-column": label_column,
        "labels-separator": labels_separator,
        "group-column": group_column,
        "time-column": time_column,
        "evidence-column": evidence_column,
        "encoding": encoding,
        "validation": validation if validation != "0.1" else None,
        "on-bad-row": on_bad_row if on_bad_row != "stop" else None,
    }
    best = _write_best(found, start, out / "best.toml", options)
    _tell(found, best, data, json=json, quiet=quiet)


def _tell(found: Search, best: Path | None, data: str, *, json: bool, quiet: bool) -> None:
    """Print what was found, and the command that trains with the best settings."""
    from ..views.search import search_lines

    if json:
        show(found.to_json())
    elif not quiet:
        show(*search_lines(found))
    if best is not None:
        say(f"the best settings are in {best}", quiet=quiet)
        say(f"  regard train {quote(data)} --config {quote(str(best))} --out model/", quiet=quiet)


def _require_folder(out: Path) -> None:
    """Raise ``ConfigError`` where trials cannot be kept."""
    require_outside_models(out)
    if out.exists() and not out.is_dir():
        raise ConfigError(f"{out} is a file; name a folder")


def _write_best(
    found: Search, start: Start, path: Path, options: dict[str, str | None]
) -> Path | None:
    """Write the best settings as ``regard train --config`` takes them."""
    best = found.best
    if best is None:
        return None
    parts: dict[str, dict[str, object]] = {}
    for name, value in {**found.fixed, **best.settings}.items():
        part, _, setting = name.partition(".")
        parts.setdefault(part, {})[setting] = value
    named = {name: value for name, value in options.items() if value is not None}
    named |= {"model": start.model, "recipe": start.recipe}
    if start.wide == "off":  # "on" is usual, and would stand in the way of a table of its settings
        named["wide"] = start.wide
    write_file(path, "\n".join(toml(named, parts)) + "\n")
    return path
