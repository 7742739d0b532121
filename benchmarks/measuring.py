"""What the benchmarks share: the machine's name, clocks, medians, and where results go."""

from __future__ import annotations

import datetime
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
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 1),
        "torch": torch.__version__,
        "threads": torch.get_num_threads(),
        "gemm_gflops": round(gemm_peak(), 0),
    }


def provenance(seeds: Sequence[int] = (0,)) -> dict[str, object]:
    """What every file of results says of itself: commit, machine, seeds and date."""
    asked = ["git", "-C", str(RESULTS.parent), "rev-parse", "--short", "HEAD"]
    told = subprocess.run(asked, capture_output=True, text=True)
    return {
        "commit": os.environ.get("COMMIT") or told.stdout.strip(),
        "date": datetime.date.today().isoformat(),
        "seeds": list(seeds),
        "machine": machine(),
    }


def processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


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
