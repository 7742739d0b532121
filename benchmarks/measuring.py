"""What the benchmarks share: the machine's name, clocks, medians, and where results go."""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch

RESULTS = Path(__file__).resolve().parent / "results"
IMDB = Path(__file__).resolve().parents[2] / "shared" / "data" / "imdb"


def clock() -> Callable[[], float]:
    """Processor time on one thread, so that other work counts little; else time on the wall."""
    return time.process_time if torch.get_num_threads() == 1 else time.perf_counter


def machine() -> dict[str, object]:
    """What the figures were measured on."""
    gpu = {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}
    return gpu | {
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "gemm_gflops": round(gemm_peak(), 0),
    }


def provenance(seeds: Sequence[int] = (0,)) -> dict[str, object]:
    """What every file of results says of itself: commit, machine, seeds and date."""
    return {
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
        "seeds": list(seeds),
        "machine": machine(),
    }


def commit() -> str:
    """The commit that is measured, or where there is no git what the environment says."""
    if "COMMIT" in os.environ:
        return os.environ["COMMIT"]
    asked = ["git", "-C", str(RESULTS.parent), "rev-parse", "--short", "HEAD"]
    told = subprocess.run(asked, capture_output=True, text=True)
    return told.stdout.strip() or "unknown"


def processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def peak_bytes() -> int:
    """The most memory that this process has had since its program began.

    Not ``ru_maxrss``: a process that another has started inherits that one's peak there.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])


def gemm_peak(size: int = 1024, rounds: int = 7) -> float:
    """GFLOP/s of torch's product of two square matrices: what this machine gives a library."""
    left, right = torch.randn(size, size), torch.randn(size, size)
    tick, seconds = clock(), []
    for _ in range(rounds):
        began = tick()
        left @ right
        seconds.append(tick() - began)
    return 2 * size**3 / statistics.median(seconds) / 1e9


def in_turns(entries: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Measure each entry once a round, one after the other, and return the medians."""
    found: dict[str, list[float]] = {name: [] for name in entries}
    for turn in range(rounds):
        for name, measure in entries.items():
            found[name].append(measure())
            print(f"round {turn + 1}, {name}: {found[name][-1]:,.1f}", flush=True)
    return {name: statistics.median(values) for name, values in found.items()}


def save(name: str, result: Mapping[str, object]) -> None:
    """Write a result beside the others."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(result, indent=2) + "\n")
    print(f"\nwritten to {path}")


def kept_runs(path: Path) -> list[dict]:
    """The runs that a file has, one a line; none where there is no file yet."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def add_run(path: Path, run: Mapping[str, object]) -> dict:
    """Write a run behind those of a file, with commit, date and machine, as soon as it ends.

    Several processes may do so at once. A benchmark that is ended early goes on from there.
    """
    about = {key: value for key, value in provenance().items() if key != "seeds"}
    whole = {**run, **about}
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(whole) + "\n")
    return whole


def keep_run(name: str, run: Mapping[str, object], same: Sequence[str]) -> None:
    """Add one run to a file of runs, in the place of an earlier one with the ``same`` fields.

    Several processes may do so at once; each run names its own commit, machine and date.
    """
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    with (RESULTS / f".{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        runs = json.loads(path.read_text())["runs"] if path.exists() else []
        runs = [one for one in runs if any(one[field] != run[field] for field in same)]
        about = {key: value for key, value in provenance().items() if key != "seeds"}
        runs.append({**run, **about})
        runs.sort(key=lambda one: [str(one[field]) for field in same])
        save(name, whole(runs))


def whole(runs: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """All runs, with what any file of results says of itself."""
    latest = max(runs, key=lambda one: str(one["date"]))
    return {
        "commit": ", ".join(sorted({str(one["commit"]) for one in runs})),
        "date": latest["date"],
        "seeds": sorted({int(str(one["seed"])) for one in runs}),
        "machine": latest["machine"],
        "runs": list(runs),
    }
