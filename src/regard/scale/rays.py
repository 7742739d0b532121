"""Labels for more documents than one machine should read, by Ray Data.

Ray reads and writes the files and moves the rows; each of its actors holds the model once. A worker
that dies is started again by Ray, and what it had not finished is done again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from ..data.columns import Columns
from ..errors import ConfigError, DataError, MissingExtra, suggestion
from .labelling import Labeller, Labelling, require_new

__all__ = ["label_with_ray"]

BATCH = 1024  # rows that an actor labels at once
BLOCK = 8 * 2**20  # bytes of rows that are moved together: small enough that all actors have some
READERS = {
    ".parquet": "read_parquet",
    ".jsonl": "read_json",
    ".json": "read_json",
    ".csv": "read_csv",
}


def label_with_ray(
    folder: Path,
    data: str,
    out: Path,
    *,
    text_column: str,
    labelling: Labelling = Labelling(),  # noqa: B008
    gpus: bool = False,
    progress: bool = False,
) -> int:
    """Label the rows of a file or folder of files into a folder of Parquet files.

    Returns how many rows were written.
    """
    try:
        import ray
    except ImportError as problem:
        raise MissingExtra("ray", "ray", "--ray") from problem
    reader = _reader(data)
    if out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is not empty; name another folder")
    started = not ray.is_initialized()
    if started:
        ray.init(include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    try:
        context = ray.data.DataContext.get_current()
        # Only now: this part of Ray sets its own level when it is first used.
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        context.execution_options.preserve_order = True
        context.target_max_block_size = BLOCK
        context.enable_progress_bars = progress
        cores, cards = _cores(ray), int(ray.cluster_resources().get("GPU", 0))
        if gpus and not cards:
            raise ConfigError("Ray finds no GPU; use --device cpu")
        rows, names = _read(ray, reader, Path(data).resolve())
        _require_columns(names, text_column, labelling)
        labelled = rows.map_batches(
            Labeller,
            fn_constructor_args=(str(folder.resolve()), text_column),
            fn_constructor_kwargs={"device": "cuda" if gpus else "cpu", "labelling": labelling},
            batch_size=BATCH,
            batch_format="pyarrow",
            compute=ray.data.ActorPoolStrategy(size=cards if gpus else sum(cores)),
            # An actor for each core; but so that one core of each machine counts as free, for
            # a pool that holds all of them starves its own readers.
            num_cpus=0 if gpus else (min(cores) - 1) / min(cores),
            num_gpus=1 if gpus else 0,
        )
        out.mkdir(parents=True, exist_ok=True)
        labelled.write_datasink(_in_order(out.resolve()))
        return int(ray.data.read_parquet(str(out.resolve())).count())
    finally:
        if started:
            ray.shutdown()


def _read(ray: ModuleType, reader: str, place: Path) -> tuple[Any, list[str]]:
    """The rows, as Ray will read them, and the names of their columns.

    Row groups of Parquet files are named to Ray one by one: its own reader cuts a large file in two
    and may begin with the second half, whatever order it was asked for.
    """
    if reader != "read_parquet":
        rows = getattr(ray.data, reader)(str(place))
        return rows, rows.columns() or []
    from pyarrow.parquet import ParquetFile

    files = (
        [place] if place.is_file() else sorted(path for path in place.iterdir() if path.is_file())
    )
    opened = [(str(path), ParquetFile(path)) for path in files]
    groups = [
        {"path": path, "group": number}
        for path, file in opened
        for number in range(file.num_row_groups)
    ]
    named = ray.data.from_items(groups, override_num_blocks=max(len(groups), 1))
    rows = named.map_batches(_read_groups, batch_size=None, batch_format="pyarrow")
    return rows, opened[0][1].schema_arrow.names


def _read_groups(named: Any) -> Iterator[Any]:
    """Read row groups, a batch at a time."""
    from pyarrow import Table
    from pyarrow.parquet import ParquetFile

    for one in named.to_pylist():
        file = ParquetFile(one["path"])
        for batch in file.iter_batches(BATCH, row_groups=[one["group"]]):
            yield Table.from_batches([batch])


def _in_order(out: Path) -> object:
    """Where Ray writes to: its own writer of Parquet lets threads mix the rows of a block."""
    from ray.data.datasource import BlockBasedFileDatasink

    # Made here, since its base can only be named where there is Ray.
    kind = type("InOrder", (BlockBasedFileDatasink,), {"write_block_to_file": _write_block})
    return kind(str(out), file_format="parquet")


def _write_block(sink: object, block: Any, file: object) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(block.to_arrow(), file)


def _cores(ray: ModuleType) -> list[int]:
    """How many cores each machine of the cluster has."""
    machines = [one["Resources"] for one in ray.nodes() if one["Alive"]]
    return [int(one["CPU"]) for one in machines if one.get("CPU", 0) >= 1] or [1]


def _require_columns(names: Iterable[str], text_column: str, labelling: Labelling) -> None:
    """Say here what an actor would say from far away, in many lines."""
    known = set(names)
    for name in Columns(text_column, label=None).found_among(known).texts:
        if name not in known:
            raise DataError(
                f"there is no column {name!r}; use --text-column, {suggestion(name, known)}"
            )
    require_new(labelling.columns, known)


def _reader(data: str) -> str:
    """The name of Ray's reader of such files."""
    place = Path(data)
    if not place.exists():
        raise DataError(f"there is no file or folder {data}")
    names = [place] if place.is_file() else sorted(place.iterdir())
    kinds = {path.suffix.lower() for path in names if path.is_file()}
    if len(kinds) != 1 or not kinds <= READERS.keys():
        found = ", ".join(sorted(kinds)) or "nothing"
        raise DataError(f"--ray reads {', '.join(READERS)}, all of one kind; {data} has {found}")
    return READERS[kinds.pop()]
