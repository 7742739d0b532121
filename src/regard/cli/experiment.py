"""``regard experiment``: small experiments that show why attention is needed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..config import require, require_one_of, require_seed
from ..errors import ConfigError
from ..files import write_file
from .options import Quiet
from .output import require_outside_models, say, show

if TYPE_CHECKING:
    from ..experiments.running import ExperimentConfig, Tell

__all__ = ["experiment"]


def experiment(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="Which one: {experiments}; or list to see what they show."
        ),
    ],
    more_seeds: Annotated[list[str] | None, typer.Argument(hidden=True)] = None,
    seed: Annotated[int, typer.Option(help="Same seed, same numbers.")] = 0,
    seeds: Annotated[
        list[str] | None,
        typer.Option(help="Run once a seed, such as --seeds 0 1 2; the table gives the spread."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The folder to write plot and numbers to.")] = Path(
        "experiments"
    ),
    plot: Annotated[str, typer.Option(help="How to write the plot: svg or png.")] = "svg",
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Run for seconds only: to see that it works, not what it shows."
        ),
    ] = False,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Change a setting: --set epochs=5."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Show in a small experiment what attention does.

    Prints a table; writes a plot and all numbers as NAME.svg and NAME.json.
    """
    from ..experiments import EXPERIMENTS, run_experiment
    from ..views.experiment import PLOT_FORMATS, experiment_lines, require_plots, write_plot

    if name == "list":
        width = max(map(len, EXPERIMENTS)) + 1
        for known, kind in EXPERIMENTS.items():
            show(f"{known:<{width}} {kind.title}")
        return
    require_one_of("the experiment", name, [*EXPERIMENTS, "list"])
    require_one_of("--plot", plot, PLOT_FORMATS)
    require_plots()
    require_outside_models(out)
    config = _changed(EXPERIMENTS[name], changes or [], quick=quick)
    chosen = _seeds(seed, seeds, more_seeds or [])
    for one in chosen:
        require_seed(one)
    out.mkdir(parents=True, exist_ok=True)
    with _telling(quiet) as tell:
        found = run_experiment(config, chosen, tell)
    write_file(out / f"{name}.json", found.to_json() + "\n")
    write_plot(found, out / f"{name}.{plot}")
    if not quiet:
        show(found.title, "", *experiment_lines(found))
    say(f"written to {out / name}.{plot} and {out / name}.json", quiet=quiet)


def _changed(
    kind: type[ExperimentConfig], changes: Sequence[str], *, quick: bool
) -> ExperimentConfig:
    from ..config import with_text_values

    values: dict[str, str] = {}
    for change in changes:
        key, sign, value = change.partition("=")
        require(bool(sign and key), f"--set must be NAME=VALUE, got {change!r}")
        values[key] = value
    return with_text_values(kind.quick() if quick else kind(), values)


def _seeds(seed: int, seeds: Sequence[str] | None, more: Sequence[str]) -> list[int]:
    """The seeds that were given: one, or several behind ``--seeds`` in whatever way."""
    if seeds is None:
        require(not more, f"{' '.join(more)} was not understood; several seeds need --seeds")
        return [seed]
    given = " ".join([*seeds, *more]).replace(",", " ").split()
    try:
        found = [int(text) for text in given]
    except ValueError:
        raise ConfigError(f"--seeds must be whole numbers, got {' '.join(given)!r}") from None
    require(bool(found), "--seeds needs at least one number")
    require(len(set(found)) == len(found), f"a seed was given twice: {' '.join(given)}")
    return found


@contextmanager
def _telling(quiet: bool) -> Iterator[Tell]:
    """Show the latest line on a terminal; write all of them elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda line: say(line, quiet=quiet)
        return
    from ..training.observers import Progress, Stage

    with Progress() as progress:
        yield lambda line: progress.on_stage(Stage("running", detail=line))
