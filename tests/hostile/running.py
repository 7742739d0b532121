"""Running cases: all, a sample drawn by a seed, or those of a name."""

import contextlib
import tempfile
import time
import zlib
from collections import Counter
from pathlib import Path

from . import disasters, folders, inputs, outputs, shells
from .bench import Bench, build_faults

FAMILIES = {
    **inputs.FAMILIES,
    **folders.FAMILIES,
    **outputs.FAMILIES,
    **shells.FAMILIES,
    **disasters.FAMILIES,
}
"""What generates cases, by the name of the family."""


QUICK = {
    "bytes": 700,
    "encodings": 120,
    "arrow": 200,
    "json": 200,
    "labels": 8,
    "names": 150,
    "special": 60,
    "texts": 80,
    "damage": 150,
    "flips": 200,
    "settings": 250,
    "folders": 80,
    "notes": 10,
    "outputs": 120,
    "descriptors": 30,
    "full outputs": 6,
    "strange texts": 60,
    "options": 200,
    "full disks": 12,
    "failing calls": 8,
    "signals": 14,
    "saves": 20,
    "writers": 6,
}
"""How many of each are drawn where a minute is all there is."""


def cases_of(family, bench):
    """Return the cases of a family; their names are distinct."""
    found = list(FAMILIES[family](bench))
    twice = [name for name, count in Counter(case.name for case in found).items() if count > 1]
    assert not twice, twice
    return found


def sampled(cases, count, seed=0):
    """Return as many cases as asked for, drawn by the seed, in their order."""
    if count >= len(cases):
        return cases
    ranks = sorted(
        range(len(cases)), key=lambda place: zlib.crc32(f"{seed} {cases[place].name}".encode())
    )
    return [cases[place] for place in sorted(ranks[:count])]


def failures(bench, family, cases, told=lambda name, problem: None):
    """Run cases; return what those that gave way said, by name, and tell it at once."""
    found = {}
    for case in cases:
        try:
            with bench.fresh():
                case.run(bench)
        except AssertionError as problem:
            found[f"{family}/{case.name}"] = str(problem)
            told(f"{family}/{case.name}", problem)
    return found


@contextlib.contextmanager
def opened_bench(root, *, brief=False):
    """Give a bench with models trained for it, and end the process under test."""
    bench = Bench(build_faults(root), root, brief)
    try:
        yield bench
    finally:
        bench.end()


def _tell(name, problem):
    print(f"--- {name}\n{problem}", flush=True)


def main(names):
    """Run the cases of these names, of these families or all; with ``--quick`` a sample."""
    brief = "--quick" in names
    asked = [name for name in names if name != "--quick"]
    total = Counter()
    with tempfile.TemporaryDirectory() as folder, opened_bench(Path(folder), brief=brief) as bench:
        for family in FAMILIES:
            wanted = [name for name in asked if name.split("/")[0] == family]
            if asked and not wanted:
                continue
            cases = cases_of(family, bench)
            if wanted and family not in wanted:
                cases = [case for case in cases if f"{family}/{case.name}" in wanted]
            if brief:
                cases = sampled(cases, QUICK[family])
            began = time.monotonic()
            found = failures(bench, family, cases, _tell)
            took = time.monotonic() - began
            print(f"{family}: {len(cases)} cases, {len(found)} gave way, {took:.1f} s", flush=True)
            total.update(cases=len(cases), gave_way=len(found))
    print(dict(total))
