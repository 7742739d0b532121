"""Requests a second that ``regard serve`` answers: python benchmarks/serving.py [MODEL]

wrk on the same machine sends reviews of IMDB's test set to one endpoint after the other; beside our
server stands the same model behind a plain FastAPI handler that answers each request by itself.
Without MODEL a classifier with the default settings is trained on 4,000 reviews first. Needs wrk,
the extra serve, ../shared/data/imdb, and a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import pyarrow.parquet
from measuring import IMDB, provenance, save

REVIEWS = 400  # that are sent, over and over; no answer is kept by the server
CONNECTIONS = 64
SCRIPT = """
local bodies = {{}}
for line in io.lines("{bodies}") do bodies[#bodies + 1] = line end
local place = 0
wrk.method, wrk.path = "POST", "{path}"
wrk.headers["content-type"] = "application/json"
function request()
  place = place % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[place])
end
{delay}
function done(summary, latency, requests)
  io.write(string.format("FOUND %d %d %d %d %d\\n", summary.requests, summary.duration,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
"""
PLAIN = """
import sys
import torch, uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from regard import DocumentClassifier
torch.set_num_threads(1)
model = DocumentClassifier.load(sys.argv[1])
app = FastAPI()
class Asked(BaseModel):
    text: str
@app.get("/health")
def health(): return {}
@app.post("/predict")
def predict(asked: Asked):
    return {"probabilities": model.predict_proba([asked.text])[0].tolist()}
@app.post("/explain")
def explain(asked: Asked):
    return {"found": model.explain(asked.text, receipt=False).to_json()}
uvicorn.run(app, port=int(sys.argv[2]), log_level="warning", access_log=False)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--port", type=int, default=8765)
    options = parser.parse_args()
    if not IMDB.exists() or shutil.which("wrk") is None:
        sys.exit("this benchmark needs ../shared/data/imdb and wrk")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        model = options.model or train(place / "model")
        found = measure(model, place, options)
    save("serving", {**provenance(), **found})
    print(json.dumps(found, indent=1))


def train(folder: Path) -> Path:
    from regard import DocumentClassifier

    table = pyarrow.parquet.read_table(IMDB / "train.parquet").to_pydict()
    texts, labels = table["text"][::6][:4000], table["label"][::6][:4000]
    DocumentClassifier().fit(texts, labels).save(folder)
    return folder


def measure(model: Path, place: Path, options: argparse.Namespace) -> dict[str, object]:
    texts = pyarrow.parquet.read_table(IMDB / "test.parquet")["text"].to_pylist()[::60][:REVIEWS]
    words = sum(len(text.split()) for text in texts) / len(texts)
    asked = {
        "predict": ("/predict", {}),
        "explain": ("/explain", {"receipt": False}),
        "explain with receipt": ("/explain", {"receipt": True}),
    }
    found: dict[str, object] = {"words": round(words), "seconds": options.seconds}
    memory: list[int] = []
    server = [sys.executable, "-m", "regard", "serve", str(model), "--quiet"]
    server += ["--port", str(options.port), "--workers", str(options.workers)]
    with Running(server, options.port) as running:
        write(place, texts, {})
        warm_up(place, options)
        for name, (path, more) in asked.items():
            write(place, texts, more)
            found[name] = load(place, path, options)
            memory.append(running.memory())
        half = found["predict"]["requests_per_second"] / 2  # type: ignore[index]
        write(place, texts, {})
        found["predict at half load"] = load_at(half, place, "/predict", options)
        found["memory_mb_after_each"] = [*memory, running.memory()]
    plain = [sys.executable, "-c", PLAIN, str(model), str(options.port)]
    with Running(plain, options.port):
        for name, path in (("plain predict", "/predict"), ("plain explain", "/explain")):
            write(place, texts, {})
            found[name] = load(place, path, options)
    return found


def write(place: Path, texts: list[str], more: dict[str, object]) -> None:
    lines = [json.dumps({"text": text, **more}) + "\n" for text in texts]
    (place / "bodies").write_text("".join(lines))


def warm_up(place: Path, options: argparse.Namespace) -> None:
    """Wait until the other workers have loaded the model too: whoever is first has all the work."""
    time.sleep(5)
    load(place, "/predict", argparse.Namespace(**{**vars(options), "seconds": 3}))


def load_at(rate: float, place: Path, path: str, options: argparse.Namespace) -> dict[str, float]:
    """Send about so many requests a second: each connection waits after each answer."""
    cycle = CONNECTIONS / rate  # seconds from one request of a connection to its next
    pause = cycle
    for seconds in (3, 5):  # what the answer takes of the cycle is found by trying
        trial = argparse.Namespace(**{**vars(options), "seconds": seconds})
        reached = load(place, path, trial, pause=pause)["requests_per_second"]
        pause = max(0.0, pause + cycle - CONNECTIONS / reached)
    return load(place, path, options, pause=pause)


def load(
    place: Path, path: str, options: argparse.Namespace, pause: float | None = None
) -> dict[str, float]:
    delay = ""
    if pause is not None:
        # As long as between requests of people who know nothing of each other.
        delay = (
            f"function delay() return math.floor(-{1000 * pause:.1f} * math.log(1 - math.random()))"
            " end"
        )
    script = place / "script.lua"
    script.write_text(SCRIPT.format(bodies=place / "bodies", path=path, delay=delay))
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{options.seconds}s", "--timeout", "30s"]
    url = f"http://127.0.0.1:{options.port}"
    told = subprocess.run([*command, "-s", str(script), url], capture_output=True, text=True)
    numbers = re.search(r"FOUND (\d+) (\d+) (\d+) (\d+) (\d+)", told.stdout)
    assert numbers is not None, told.stdout + told.stderr
    requests, micros, errors, middle, late = map(int, numbers.groups())
    measured = {
        "requests_per_second": round(requests / micros * 1e6, 1),
        "errors": errors,
        "p50_ms": round(middle / 1000, 1),
        "p99_ms": round(late / 1000, 1),
    }
    print(path, measured, flush=True)
    return measured


class Running:
    """A server that lives as long as the block."""

    def __init__(self, command: list[str], port: int) -> None:
        self._command, self._port = command, port

    def __enter__(self) -> Running:
        self._process = subprocess.Popen(self._command, start_new_session=True)
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self._port}/health").read()
                return self
            except OSError:
                assert self._process.poll() is None
                time.sleep(0.1)
        raise TimeoutError("the server did not start")

    def __exit__(self, *problem: object) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(60)

    def memory(self) -> int:
        """Resident megabytes of the server and its workers."""
        asked = ["ps", "-o", "rss=", "-g", str(self._process.pid)]
        told = subprocess.run(asked, capture_output=True, text=True).stdout
        return round(sum(map(int, told.split())) / 1024)


if __name__ == "__main__":
    main()
