"""The example of Spark labels as one process does."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from support.reviews import reviews

ROOT = Path(__file__).resolve().parents[2]
TEXTS = reviews(2000, seed=5)[0]


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="needs pyspark")
@pytest.mark.skipif(shutil.which("java") is None, reason="needs Java")
def test_spark_labels_as_one_process_does(fitted, tmp_path):
    fitted.save(tmp_path / "model")
    table = pyarrow.table({"id": range(len(TEXTS)), "text": TEXTS})
    (tmp_path / "data").mkdir()
    for part in range(4):
        rows = table.slice(500 * part, 500)
        pyarrow.parquet.write_table(rows, tmp_path / "data" / f"{part}.parquet")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), *filter(None, sys.path)]),
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_SUBMIT_ARGS": "--master local[2] --conf spark.ui.enabled=false pyspark-shell",
    }
    command = [sys.executable, ROOT / "examples" / "label_with_spark.py"]
    done = subprocess.run(
        [*command, *(tmp_path / name for name in ("model", "data", "out"))],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert "2,000 rows labelled" in done.stdout
    found = pyarrow.parquet.read_table(tmp_path / "out").sort_by("id").to_pydict()
    assert found["id"] == list(range(2000)) and found["text"] == TEXTS
    assert found["predicted"] == fitted.predict(TEXTS).tolist()
    assert found["probability"] == pytest.approx(fitted.predict_proba(TEXTS).max(axis=1))
