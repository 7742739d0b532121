"""Scoring that is killed and started again: python benchmarks/killed.py

100,000 texts, beginnings of IMDB reviews with a number in each, are labelled by ``regard predict
--shard``, once undisturbed and once killed with SIGKILL again and again and started again, and the
rows are compared. Then by Ray, undisturbed and with workers killed. Needs ../shared/data/imdb and
for the second part the extra ray. Takes some minutes; the machine need not be quiet.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet
from measuring import IMDB, provenance, save

SHARES = 4
KILLS = 2  # of each share; each time it has got a little further
WORKERS = 2  # of Ray that are killed
WORKER = "MapWorker(MapBatches(Labeller))"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--no-ray", action="store_true")
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit("this benchmark needs ../shared/data/imdb")
    result: dict[str, object] = {**provenance(), "documents": options.documents}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        model = train(place / "model")
        data = place / "data"
        data.mkdir()
        write(data / "all.parquet", options.documents)
        result["shares"] = by_shares(model, data / "all.parquet", place)
        if not options.no_ray:
            result["ray"] = by_ray(model, data, place)
    save("killed", result)


def train(folder: Path) -> Path:
    """A small network: what is looked at is the rows, not the labels."""
    from regard import DocumentClassifier, HANConfig, TrainingConfig

    table = pyarrow.parquet.read_table(IMDB / "train.parquet").to_pydict()
    texts, labels = table["text"][::12][:2000], table["label"][::12][:2000]
    network = HANConfig(embedding_size=32, hidden_size=16, attention_size=16)
    training = TrainingConfig(epochs=2)
    DocumentClassifier(network, training=training).fit([t[:400] for t in texts], labels).save(
        folder
    )
    return folder


def write(path: Path, count: int) -> None:
    texts = pyarrow.parquet.read_table(IMDB / "test.parquet")["text"].to_pylist()
    made = [f"Review {n}. {texts[n % len(texts)][n % 50 :][:400]}" for n in range(count)]
    pyarrow.parquet.write_table(
        pyarrow.table({"id": range(count), "text": made}), path, row_group_size=4096
    )


def by_shares(model: Path, data: Path, place: Path) -> dict[str, object]:
    """All shares one after the other, twice; the second time killed now and then."""
    out = {name: place / f"{name}.jsonl" for name in ("undisturbed", "disturbed")}
    for share in range(1, SHARES + 1):
        subprocess.run(predict(model, data, out["undisturbed"], share), check=True)
    draw, kills = random.Random(0), 0
    for share in range(1, SHARES + 1):
        while True:
            part = place / f"disturbed.part-{share}-of-{SHARES}.jsonl"
            progress = part.with_name(part.name + ".progress")
            before = progress.read_text() if progress.exists() else ""
            with subprocess.Popen(predict(model, data, out["disturbed"], share)) as child:
                while child.poll() is None and kills < KILLS * share:
                    now = progress.read_text() if progress.exists() else ""
                    if now != before:  # it has written more than it had
                        time.sleep(draw.uniform(0, 0.3))
                        child.send_signal(signal.SIGKILL)
                        break
                    time.sleep(0.005)
            if child.returncode == 0:
                break
            assert child.returncode == -signal.SIGKILL, child.returncode
            kills += 1
            done = json.loads(progress.read_text())["rows"]
            print(f"killed share {share} after {done:,} rows", flush=True)
    parts = {
        name: [path.with_name(f"{path.stem}.part-{n}-of-{SHARES}.jsonl") for n in range(1, 5)]
        for name, path in out.items()
    }
    lines = {name: sum(map(len, map(rows, paths))) for name, paths in parts.items()}
    pairs = zip(parts["undisturbed"], parts["disturbed"], strict=True)
    differ = sum(
        mine != theirs for a, b in pairs for mine, theirs in zip(rows(a), rows(b), strict=True)
    )
    return {"shares": SHARES, "kills": kills, "rows": lines, "rows_that_differ": differ}


def rows(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def predict(model: Path, data: Path, out: Path, share: int) -> list[str]:
    asked = [sys.executable, "-m", "regard", "predict", model, data, "--out", out, "-q"]
    return [*map(str, asked), "--shard", f"{share}/{SHARES}"]


def by_ray(model: Path, data: Path, place: Path) -> dict[str, object]:
    """The same by Ray, the second time with workers killed while they label."""
    tables, killed = {}, 0
    for name in ("undisturbed", "disturbed"):
        out = place / f"ray-{name}"
        command = [sys.executable, "-m", "regard", "predict", model, data, "--out", out, "-q"]
        with subprocess.Popen([*map(str, command), "--ray"]) as child:
            if name == "disturbed":
                killed = kill_workers(child)
        assert child.returncode == 0, child.returncode
        tables[name] = pyarrow.parquet.read_table(out).to_pylist()
    pairs = list(zip(tables["undisturbed"], tables["disturbed"], strict=True))
    return {
        "kills": killed,
        "rows": {name: len(table) for name, table in tables.items()},
        "rows_that_differ": sum(
            any(a[key] != b[key] for key in ("id", "text", "predicted")) for a, b in pairs
        ),
        "probabilities_differ_by": max(abs(a["probability"] - b["probability"]) for a, b in pairs),
    }


def kill_workers(child: subprocess.Popen[bytes]) -> int:
    """Kill one worker after the other, each once it has worked for a while."""
    seen: dict[int, float] = {}
    gone: set[int] = set()
    while child.poll() is None:
        for pid in workers() - gone:
            spent = processor_seconds(pid)
            seen.setdefault(pid, spent)
            # The first seconds are for loading the model.
            if len(gone) < WORKERS and spent > seen[pid] + 2:
                os.kill(pid, signal.SIGKILL)
                gone.add(pid)
                print("killed worker", pid, flush=True)
        threading.Event().wait(0.05)
    return len(gone)


def workers() -> set[int]:
    found = set()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            if WORKER in Path(f"/proc/{name}/cmdline").read_text():
                found.add(int(name))
        except OSError:
            continue
    return found


def processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
