"""Whether the memory of ``regard serve`` stays flat under load: python benchmarks/server_memory.py

A server with two workers is asked for minutes: labels, batches, explanations with and without
receipt, and requests that it must refuse, with texts of all lengths. Every half minute the memory
of each worker is noted. Before that, what a second model adds to a worker. Without MODEL a
classifier with the default settings is trained on 4,000 reviews first.
"""

from __future__ import annotations

import argparse
import http.client
import json
import random
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet
from measuring import IMDB, provenance, save
from serving import Running, train

CLIENTS = 4
FLAT = 0.05  # how much more the last quarter of the time may hold than the second one
KINDS = ("predict", "batch", "explain", "receipt", "wrong")
WEIGHTS = (60, 5, 15, 10, 10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--every", type=float, default=30, help="seconds between two looks")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--port", type=int, default=8766)
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit("this benchmark needs ../shared/data/imdb")
    texts = pyarrow.parquet.read_table(IMDB / "test.parquet")["text"].to_pylist()[::25]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        model = options.model or train(place / "model")
        idle = {}
        for count in (1, 2):
            models = [shutil.copytree(model, place / f"copy-{count}-{n}") for n in range(count)]
            with Running(command(models, options), options.port):
                ask(options.port, "predict", texts, random.Random(0))
                time.sleep(1)
                idle[count] = min(worker_megabytes(options.port))
        with Running(command([model], options), options.port):
            noted, answers = load(texts, options)
        disk = sum(path.stat().st_size for path in model.iterdir()) / 2**20
    totals = [sum(one["workers_mb"]) for one in noted]
    quarter = max(1, len(totals) // 4)
    early, late = (statistics.fmean(p) for p in (totals[quarter : 2 * quarter], totals[-quarter:]))
    result = {
        **provenance(),
        "minutes": options.minutes,
        "workers": options.workers,
        "clients": CLIENTS,
        "answers": answers,
        "noted": noted,
        "early_mb": round(early, 1),
        "late_mb": round(late, 1),
        "growth": round(late / early - 1, 4),
        "flat_up_to": FLAT,
        "model_on_disk_mb": round(disk, 1),
        "worker_with_one_model_mb": idle[1],
        "worker_with_two_models_mb": idle[2],
    }
    save("server-memory", result)
    print(json.dumps(result, indent=1))


def command(models: list[Path], options: argparse.Namespace) -> list[str]:
    given = [*map(str, models), "--port", str(options.port), "--workers", str(options.workers)]
    return [sys.executable, "-m", "regard", "serve", "--quiet", *given]


def load(
    texts: list[str], options: argparse.Namespace
) -> tuple[list[dict[str, object]], dict[str, int]]:
    """Ask from several threads until the time is up; return what was noted, and all answers."""
    ends, answers = time.monotonic() + 60 * options.minutes, Counter[str]()

    def client(seed: int) -> None:
        draw = random.Random(seed)
        while time.monotonic() < ends:
            (kind,) = draw.choices(KINDS, WEIGHTS)
            answers[f"{kind} {ask(options.port, kind, texts, draw)}"] += 1

    threads = [threading.Thread(target=client, args=(seed,)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    noted, began = [], time.monotonic()
    while time.monotonic() < ends:
        time.sleep(min(options.every, max(0.1, ends - time.monotonic())))
        seconds = round(time.monotonic() - began)
        noted.append({"seconds": seconds, "workers_mb": worker_megabytes(options.port)})
        print(noted[-1], flush=True)
    for thread in threads:
        thread.join()
    return noted, dict(sorted(answers.items()))


def ask(port: int, kind: str, texts: list[str], draw: random.Random) -> int:
    """Send one request and return the status of its answer."""
    text = draw.choice(texts)[draw.randrange(200) :]
    if draw.random() < 0.02:
        text = " ".join(draw.choices(texts, k=20))  # now and then a long one
    path, body = {
        "predict": ("/predict", {"text": text}),
        "batch": ("/batch", {"texts": draw.choices(texts, k=draw.randrange(1, 33))}),
        "explain": ("/explain", {"text": text, "receipt": False}),
        "receipt": ("/explain", {"text": text, "receipt": True}),
        "wrong": ("/predict", draw.choice([{"txt": text}, {"text": 3}, {"text": "a" * 300_000}])),
    }[kind]
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        line.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = line.getresponse()
        answer.read()
        return answer.status
    finally:
        line.close()


def worker_megabytes(port: int) -> list[float]:
    """Resident megabytes of each process that has the model: those that map our kernels."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            told = (place / "cmdline").read_text() if place.name.isdigit() else ""
            group = f"--port\0{port}\0" in told or _parent_serves(place, port)
            if group and "_native" in (place / "maps").read_text():
                rss = (place / "status").read_text().partition("VmRSS:")[2].split()[0]
                found.append(round(int(rss) / 1024, 1))
        except (OSError, IndexError):
            continue
    return sorted(found)


def _parent_serves(place: Path, port: int) -> bool:
    if not place.name.isdigit():
        return False
    parent = (place / "status").read_text().partition("PPid:")[2].split()[0]
    return f"--port\0{port}\0" in (Path("/proc") / parent / "cmdline").read_text()


if __name__ == "__main__":
    main()
