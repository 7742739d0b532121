"""Labels by Ray Data are those of one process, and survive the death of a worker."""

import os
import signal
import threading
import time

import pyarrow
import pyarrow.parquet
import pytest

from regard.errors import ConfigError, DataError
from regard.scale.rays import Labeller, label_with_ray
from support.reviews import reviews


@pytest.fixture(scope="module")
def model(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ray") / "model"
    fitted.save(folder)
    return folder


@pytest.fixture
def data(tmp_path):
    """Four files of reviews, in a folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    for part in range(4):
        texts, _ = reviews(500, seed=part)
        table = pyarrow.table({"id": range(500 * part, 500 * part + 500), "text": texts})
        pyarrow.parquet.write_table(table, folder / f"{part}.parquet")
    return folder


def test_an_actor_adds_what_the_model_says(fitted, model):
    import numpy as np

    texts = np.array([*reviews(20)[0], None], dtype=object)
    found = Labeller(str(model), "text")({"text": texts, "id": np.arange(21)})
    expected = [text or "" for text in texts]
    assert found["predicted"].tolist() == fitted.predict(expected).tolist()
    likely = fitted.predict_proba(expected)
    assert found["probability"] == pytest.approx(likely.max(axis=1))
    assert list(found["probabilities"][0].values()) == pytest.approx(likely[0])
    assert found["id"].tolist() == list(range(21))
    with pytest.raises(DataError, match="--text-column"):
        Labeller(str(model), "body")({"text": texts})


def test_what_cannot_be_read_or_written_is_an_error_in_a_line(model, data, tmp_path):
    pytest.importorskip("ray", reason="needs the extra ray")
    with pytest.raises(DataError, match="there is no file"):
        label_with_ray(model, str(tmp_path / "no"), tmp_path / "out", text_column="text")
    (data / "more.csv").write_text("text\nx\n")
    with pytest.raises(DataError, match="all of one kind"):
        label_with_ray(model, str(data), tmp_path / "out", text_column="text")
    (data / "more.csv").unlink()
    with pytest.raises(ConfigError, match="not empty"):
        label_with_ray(model, str(data), data, text_column="text")


def labelled(folder):
    return pyarrow.parquet.read_table(folder).to_pylist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of ray
def test_ray_labels_as_one_process_does(fitted, model, data, tmp_path):
    pytest.importorskip("ray", reason="needs the extra ray")
    assert label_with_ray(model, str(data), tmp_path / "out", text_column="text") == 2000
    rows = labelled(tmp_path / "out")
    assert [row["id"] for row in rows] == list(range(2000))
    assert [row["predicted"] for row in rows] == fitted.predict(
        [row["text"] for row in rows]
    ).tolist()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of ray
def test_a_worker_that_dies_costs_no_row(model, data, tmp_path):
    ray = pytest.importorskip("ray", reason="needs the extra ray")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    killed = []

    def kill():
        until = time.monotonic() + 120
        while not killed and time.monotonic() < until:
            for name in os.listdir("/proc"):
                try:
                    with open(f"/proc/{name}/cmdline") as file:
                        if name.isdigit() and "MapWorker(MapBatches(Labeller))" in file.read():
                            os.kill(int(name), signal.SIGKILL)
                            killed.append(name)
                            break
                except OSError:
                    continue
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        label_with_ray(model, str(data), tmp_path / "out", text_column="text")
    finally:
        ray.shutdown()
        killer.join()
    assert killed
    assert [row["id"] for row in labelled(tmp_path / "out")] == list(range(2000))
