"""Labels by Ray Data are those of one process, and survive the death of a worker."""

import os
import signal
import threading
import time

import pyarrow
import pyarrow.parquet
import pytest

from regard.errors import ConfigError, DataError
from regard.scale import rays
from regard.scale.labelling import Labelling
from regard.scale.rays import label_with_ray
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


def test_row_groups_are_read_one_after_the_other(tmp_path):
    """Ray reads what this gives in the order that it was named in."""
    for part in range(2):
        ids = range(3000 * part, 3000 * part + 3000)
        table = pyarrow.table({"id": ids, "text": [f"text {number}" for number in ids]})
        pyarrow.parquet.write_table(table, tmp_path / f"{part}.parquet", row_group_size=1100)
    asked = []

    class Ray:
        class data:
            @staticmethod
            def from_items(groups, override_num_blocks):
                asked.append(override_num_blocks)
                return Ray.Named(groups)

        class Named(list):
            def map_batches(self, read, **options):
                given = [pyarrow.Table.from_pylist([one]) for one in self]
                return [table for one in given for table in read(one)]

    read, names = rays._read(Ray, "read_parquet", tmp_path)
    assert asked == [6] and names == ["id", "text"]
    assert pyarrow.concat_tables(read)["id"].to_pylist() == list(range(6000))
    assert max(map(len, read)) <= rays.BATCH


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
def test_many_batches_of_one_file_stay_in_order(model, tmp_path):
    """Found by benchmarks/killed.py: threads of Ray's writer mixed them."""
    pytest.importorskip("ray", reason="needs the extra ray")
    count = 60_000
    table = pyarrow.table({"id": range(count), "text": ["A great evening."] * count})
    pyarrow.parquet.write_table(table, tmp_path / "all.parquet")
    label_with_ray(model, str(tmp_path / "all.parquet"), tmp_path / "out", text_column="text")
    found = pyarrow.parquet.read_table(tmp_path / "out")["id"]
    assert found.to_pylist() == list(range(count))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of ray
def test_ray_explains_and_abstains_as_asked(model, data, tmp_path):
    pytest.importorskip("ray", reason="needs the extra ray")
    asked = Labelling(abstain_below=0.9, explain=True, receipt=False)
    file = str(data / "0.parquet")
    assert label_with_ray(model, file, tmp_path / "out", text_column="text", labelling=asked) == 500
    for row in labelled(tmp_path / "out"):
        assert (row["predicted"] is None) == (row["probability"] < 0.9)
        for piece in row["heaviest_words"]:
            assert row["text"][piece["start"] : piece["end"]] == piece["text"]
    odd = tmp_path / "odd.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"text": ["a"], "predicted": ["b"]}), odd)
    for name, said in {"texts": "did you mean 'text'", "text": "rename it"}.items():
        with pytest.raises(DataError, match=said):
            label_with_ray(model, str(odd), tmp_path / "no", text_column=name)


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
