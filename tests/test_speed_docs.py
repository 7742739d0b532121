"""The page on speed: its code runs, and what it names is there."""

import json
import math
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs():
    for code in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        exec(compile(code, "speed.md", "exec"), {})


def test_the_scripts_it_names_are_there():
    named = re.findall(r"`((?:benchmarks|scripts)/[\w./]+)`", PAGE)
    assert len(named) >= 6
    for name in named:
        assert (ROOT / name).exists() or name.startswith("benchmarks/results/"), name


def _result(name):
    return json.loads((ROOT / "benchmarks" / "results" / f"{name}.json").read_text())


def _figures():
    """What the results say, as the page writes it, by where it comes from."""
    for one in _result("speed-1-threads")["ratios"]:
        yield one["peer"], f"{one['ratio']:.{0 if one['ratio'] > 100 else 1}f}"
    erasure = _result("erasure")
    taken = erasure["kept_seconds"]
    yield "erasure", f"{erasure['prediction_seconds'] / taken:.1f} times as fast"
    yield "lime", f"{erasure['lime_seconds'] / taken:.0f} times as fast"
    yield "memory", f"{_result('memory')['peak_mb']} MB"
    yield "rows", f"{_result('row-updates')['ratio']:.2f} times as fast"
    rates = _result("threads")["documents_per_second"]
    for what in ("predict", "train paper", "train default"):
        ratio = f"{rates[f'{what} 2'] / rates[f'{what} 1']:.2f}"
        yield what, f"| {rates[f'{what} 1']:,.0f} | {rates[f'{what} 2']:,.0f} | "
        yield f"{what} ratio", ratio
    for what in ("prediction", "training"):
        yield f"{what} slope", f"**{_result('scaling')[f'{what}_slope']:.3f}**"
    for name, one in _result("seq2seq")["results"].items():
        yield name, f"| {one['training_ratio']:.2f} | {one['decoding_ratio']:.1f} |"
    for precision in ("float32", "bfloat16"):
        for run in _result(f"gpu-training-{precision}")["runs"]:
            rate = f"{round(run['documents_per_second'], -2):,.0f}"
            yield f"{precision} {run['batch_size']}", rate
    explaining = _result("explaining")
    for method in ("erasure", "gradient_input", "attention"):
        points = explaining[method]["by_length"]
        slopes = ", ".join(f"{_slope(points, kind):.2f}" for kind in ("wall", "seconds"))
        last = f"{points[-1]['wall']:.2f} s"
        yield f"explaining by {method}", f"| {last} | {slopes} |"


def _slope(points, kind):
    """Of the line through the logarithms of seconds over words."""
    across = [math.log(point["words"]) for point in points]
    up = [math.log(point[kind]) for point in points]
    middle = sum(across) / len(across)
    parts = [(x - middle, y) for x, y in zip(across, up, strict=True)]
    return sum(x * y for x, y in parts) / sum(x * x for x, _ in parts)


@pytest.mark.parametrize(("name", "figure"), list(_figures()))
def test_its_figures_are_those_of_the_results(name, figure):
    """Issue 18: what the page promises was measured by what is kept."""
    assert figure in PAGE, f"{name}: the results say {figure}"
