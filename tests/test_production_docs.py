"""The pages on production and scale name what the code has."""

import inspect
import re
from pathlib import Path

import pytest

from regard.cli.serve import serve

ROOT = Path(__file__).resolve().parents[1]
PRODUCTION = (ROOT / "docs" / "production.md").read_text(encoding="utf-8")
SCALE = (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def part(name):
    return PRODUCTION.partition(f"<!-- {name} -->\n")[2].partition("<!-- end -->")[0]


def test_the_page_names_every_metric():
    pytest.importorskip("prometheus_client", reason="needs the extra serve")
    from regard.serve.metrics import Metrics

    metrics = Metrics()
    expected = set()
    for made in vars(metrics).values():
        if hasattr(made, "_labelnames"):
            (described,) = made.describe()
            total = "_total" if described.type == "counter" else ""
            labels = ", ".join(f"`{label}`" for label in made._labelnames)
            name = f"`{described.name}{total}`"
            expected.add((name, described.type, labels, described.documentation))
    rows = [line.strip("| ").split(" | ") for line in part("metrics").splitlines()[2:]]
    assert {tuple(row) for row in rows} == expected


def test_the_page_has_the_limits_of_the_command():
    usual = {name: one.default for name, one in inspect.signature(serve).parameters.items()}
    written = dict(re.findall(r"\| `--(max-\w+)` \| ([\d,]+) \|", part("limits")))
    assert {name: float(value.replace(",", "")) for name, value in written.items()} == {
        name.replace("_", "-"): value for name, value in usual.items() if name.startswith("max_")
    }


def test_the_lines_for_spark_are_those_of_the_example():
    shown = re.search(r"<!-- spark -->\n```python\n(.*?)```", SCALE, re.DOTALL).group(1)
    assert shown in (ROOT / "examples" / "label_with_spark.py").read_text(encoding="utf-8")


def test_the_tests_that_the_pages_name_exist():
    for page in ("production", "scale", "hundred-million", "searching"):
        text = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
        for file, name in re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", text):
            assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8") if name else True
            assert (ROOT / file).exists(), file
