"""Starting takes no time: what is imported when, measured in processes of their own."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import regard

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])}
ENVIRONMENT.pop("GOMP_SPINCOUNT", None)  # what ``import regard`` has set here


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
    """No filter set, no environment changed but for how threads wait, nothing printed."""
    code = (
        "import os, sys, warnings; os.environ['GOMP_SPINCOUNT'] = '2000'; "
        "before = dict(os.environ), list(warnings.filters), sys.stdout; "
        "import regard.cli.main; "
        "print(before == (dict(os.environ), list(warnings.filters), sys.stdout))"
    )
    assert run("-W", "error", "-c", code) == "True\n"


def test_threads_do_not_wait_awake_for_long_unless_somebody_says_so():
    told = "import regard, os; print(os.environ.get('GOMP_SPINCOUNT'))"
    assert run("-c", told).strip() == "2000"
    assert run("-c", f"import torch; {told}").strip() == "None"
    wants = f"import os; os.environ['OMP_WAIT_POLICY'] = 'active'; {told}"
    assert run("-c", wants).strip() == "None"


SMALL_FIT = """
import sys, time
from regard import DocumentClassifier, TrainingConfig
import torch
torch.set_num_threads(int(sys.argv[1]))
texts = ["The food was good. " * 8, "The food was bad. " * 8] * 64
model = DocumentClassifier(training=TrainingConfig(epochs=2, batch_size=8), wide=None)
began = time.process_time()
model.set_params(progress=False).fit(texts, ["good", "bad"] * 64)
print(time.process_time() - began)
"""


@pytest.mark.slow
def test_a_small_fit_on_two_threads_wastes_no_time_where_others_compute():
    """Processor time, since waiting awake is what made it several times slower."""
    burners = [
        subprocess.Popen([sys.executable, "-c", "while True: pass"])
        for _ in range(os.cpu_count() or 1)
    ]
    try:
        one, two = (float(run("-c", SMALL_FIT, threads)) for threads in ("1", "2"))
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()
    assert two < 2 * one + 0.5
