"""The ten-minute tutorial is a notebook that runs from its first cell to its last."""

import resource
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
MOST_SECONDS = 180  # of processor time, on two cores


@pytest.mark.slow
def test_the_tutorial_runs_in_three_minutes(tmp_path):
    """Each cell gives what the next needs; no cell warns, and records draw themselves."""
    nbformat = pytest.importorskip("nbformat", reason="needs the extra docs")
    nbclient = pytest.importorskip("nbclient", reason="needs the extra docs")
    notebook = nbformat.read(ROOT / "docs" / "tutorial.ipynb", as_version=4)
    began = resource.getrusage(resource.RUSAGE_CHILDREN)
    client = nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3")
    client.execute(cwd=str(tmp_path))
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    drawn = [output for output in outputs if "text/html" in output.get("data", {})]
    assert len(drawn) == 4, "history, evaluation, explanation, look"
    said = [output.text for output in outputs if output.output_type == "stream"]
    assert not [text for text in said if "arning" in text]
    seconds = ended.ru_utime - began.ru_utime + ended.ru_stime - began.ru_stime
    assert seconds < MOST_SECONDS, f"{seconds:.0f} s"
