"""Starting takes no time: what is imported when, measured in processes of their own."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import regard

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])}


def run(*arguments):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=True, env=ENVIRONMENT
    ).stdout


def best_seconds(*arguments):
    """The least processor time of three runs: others on the machine do not count."""
    times = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run(*arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def test_the_package_is_imported_in_a_moment():
    assert best_seconds("-c", "import regard") < 0.3


def test_help_is_shown_in_a_moment():
    assert best_seconds("-m", "regard", "--help") < 0.5
    assert "Usage: regard [OPTIONS] COMMAND" in run("-m", "regard", "--help")


@pytest.mark.parametrize(
    "imported", ["regard", "regard.cli.main", "regard.errors", "regard.config"]
)
def test_nothing_heavy_is_imported_before_it_is_used(imported):
    heavy = "{'torch', 'numpy', 'sklearn', 'scipy', 'pyarrow', 'matplotlib', 'rich'}"
    assert run("-c", f"import {imported}, sys; print({heavy} & sys.modules.keys())") == "set()\n"


@pytest.mark.parametrize("imported", ["text.tokenize", "records.evaluation", "views.evaluation"])
def test_texts_records_and_views_work_without_torch(imported):
    code = f"import regard.{imported}, sys; print('torch' in sys.modules)"
    assert run("-c", code) == "False\n"


def test_importing_does_nothing_else():
    """No filter set, no environment changed, nothing printed."""
    code = (
        "import os, sys, warnings; before = dict(os.environ), list(warnings.filters), sys.stdout; "
        "import regard.cli.main; "
        "print(before == (dict(os.environ), list(warnings.filters), sys.stdout))"
    )
    assert run("-W", "error", "-c", code) == "True\n"
