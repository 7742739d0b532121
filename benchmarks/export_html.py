"""A model as one page, in Chromium with the network off: python benchmarks/export_html.py

Trains with the defaults on IMDB's training reviews, or takes ``--model FOLDER``, exports to one
page, opens it from file:// and asks it about test reviews. The probabilities are compared with
torch's. Every review is timed as if it were the first: what was kept of earlier ones is dropped.
Times are those of the page's own thread on the processor, so that other work counts little; those
on the wall stand beside them. Needs ../shared/data/imdb, playwright and chromium.
"""

from __future__ import annotations

import argparse
import gzip
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow.parquet
from measuring import IMDB, provenance, save
from playwright.sync_api import Page, sync_playwright

from regard import DocumentClassifier
from regard.estimators.saved import Saved
from regard.export.html_page import write_page
from regard.export.packing import spell
from regard.records.explanation import Explanation

SOME = 100  # texts of each column of each file
LONGEST = 8000  # characters of a text
ASK = """(text) => {
  for (const network of localModel.opened.model.networks) network.kept.clear();
  const begun = performance.now(), found = localModel.opened.predict(text);
  return [found.probabilities, performance.now() - begun];
}"""
READ = """(texts) => texts.map((text) => {
  const { rows, spans } = localModel.opened.reader.read(text);
  const ids = rows.flatMap((row) => [...row]), lengths = rows.map((row) => row.length);
  return { ids, lengths, spans: spans.flat() };
})"""
EXPLAIN = """async (text) => {
  const begun = performance.now();
  const found = await localModel.opened.explain({ text, method: "default", receipt: true });
  return [found, performance.now() - begun];
}"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--reviews", type=int, default=1000)
    parser.add_argument("--explained", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not IMDB.exists():
        sys.exit(f"{IMDB} is not here; this benchmark needs the IMDB reviews")
    with tempfile.TemporaryDirectory() as folder:
        model = options.model or trained(Path(folder) / "model", options.seed)
        out = Path(folder) / "model.html"
        print(write_page(Saved.read(model), out))
        found = {"page_megabytes": out.stat().st_size / 1e6, **compared(model, out, options)}
    save("export-html", {**provenance([options.seed]), **found, **alternative()})


def alternative() -> dict[str, object]:
    """How large ONNX Runtime's own code for browsers would be in a page, where npm has it."""
    asked = subprocess.run(["npm", "root", "-g"], capture_output=True, text=True)
    place = Path(asked.stdout.strip()) / "onnxruntime-web/dist/ort-wasm-simd-threaded.wasm"
    if asked.returncode or not place.exists():
        return {}
    return {"onnxruntime_web_megabytes": len(spell(gzip.compress(place.read_bytes()))) / 1e6}


def trained(folder: Path, seed: int) -> Path:
    from imdb import regard

    regard("train", str(IMDB / "train.parquet"), "--out", str(folder), "--seed", str(seed))
    return folder


def compared(model: Path, out: Path, options: argparse.Namespace) -> dict[str, object]:
    """Ask the page and torch about the same reviews."""
    reviews = pyarrow.parquet.read_table(IMDB / "test.parquet")["text"].to_pylist()
    texts = random.Random(options.seed).sample(reviews, options.reviews)
    classifier = DocumentClassifier.load(model)
    wanted = classifier.predict_proba(texts)
    names = [str(label) for label in classifier.classes_]
    with sync_playwright() as tools:
        place = shutil.which("chromium") or shutil.which("google-chrome")
        browser = tools.chromium.launch(executable_path=place, args=["--no-sandbox"])
        context = browser.new_context(offline=True)
        page = context.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto(out.as_uri())
        page.wait_for_selector("#model option", state="attached", timeout=60_000)
        opened = page.evaluate("performance.now()")
        page.evaluate("localModel.engine.then((engine) => { localModel.opened = engine; })")
        watch = Stopwatch(page)
        answered = [watch.timed(page, ASK, text) for text in texts]
        explained = [watch.timed(page, EXPLAIN, text) for text in texts[: options.explained]]
        reading = read_alike(page, classifier, texts_of_all_scripts())
        browser_name = browser.version
        browser.close()
    likely = np.array([[shares[name] for name in names] for shares, _, _ in answered])
    times, walls = sorted(one[1] for one in answered), sorted(one[2] for one in answered)
    words = fitted_lengths(classifier, texts)
    differences = np.abs(likely - wanted).max(axis=1)
    verdicts = classifier.explain(texts[: options.explained], method=explained[0][0]["method"])
    return {
        "chromium": browser_name,
        "vocabulary": len(classifier.fitted_.reader.vocab),
        "ngrams": classifier.facts_["ngrams"],
        "reviews": len(texts),
        "words_median": int(np.median(words)),
        "words_p95": int(np.quantile(words, 0.95)),
        "largest_difference": float(differences.max()),
        "mean_difference": float(differences.mean()),
        "labels_that_differ": int((likely.argmax(1) != wanted.argmax(1)).sum()),
        "predict_ms_median": statistics.median(times),
        "predict_ms_p95": times[int(0.95 * len(times))],
        "predict_ms_most": times[-1],
        "predict_under_50_ms": float(np.mean(np.array(times) < 50)),
        "predict_wall_ms_median": statistics.median(walls),
        "predict_wall_ms_p95": walls[int(0.95 * len(walls))],
        "explain_ms_median": statistics.median(one[1] for one in explained),
        "explain_ms_most": max(one[1] for one in explained),
        "opened_ms": opened,
        "requests": len([url for url in requests if url != out.as_uri()]),
        **reading,
        **agreement(explained, verdicts),
    }


def texts_of_all_scripts() -> list[str]:
    """Some texts of every file beside IMDB: Chinese, Korean, German, mail, science."""
    found: list[str] = []
    for path in sorted(IMDB.parent.rglob("*.parquet")):
        first = next(pyarrow.parquet.ParquetFile(path).iter_batches(SOME)).to_pydict()
        for column in first.values():
            found += [value[:LONGEST] for value in column if isinstance(value, str)]
    return found


def read_alike(page: Page, classifier: DocumentClassifier, texts: list[str]) -> dict[str, object]:
    """How many texts the page cuts into the words and sentences that regard finds."""
    alike = 0
    for start in range(0, len(texts), SOME):
        some = texts[start : start + SOME]
        encoded = classifier.fitted_.reader.vocab.encode(some)
        words, sentences = np.cumsum(encoded.lengths)[:-1], np.cumsum(encoded.sentences)[:-1]
        wanted = zip(
            np.split(encoded.ids, words),
            np.split(encoded.sentence_lengths, sentences),
            np.split(encoded.spans, words),
            strict=True,
        )
        for found, (ids, lengths, spans) in zip(page.evaluate(READ, some), wanted, strict=True):
            same = found["ids"] == ids.tolist() and found["lengths"] == lengths.tolist()
            alike += same and found["spans"] == spans.ravel().tolist()
    return {"texts_read": len(texts), "texts_read_alike": int(alike)}


class Stopwatch:
    """Seconds that the main thread of a page, which runs its scripts, had the processor."""

    def __init__(self, page: Page) -> None:
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def read(self) -> float:
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "ThreadTime")

    def timed(self, page: Page, script: str, text: str) -> tuple[dict, float, float]:
        """What a script makes of a text, and how long that took by either clock, milliseconds."""
        begun = self.read()
        found, wall = page.evaluate(script, text)
        return found, 1000 * (self.read() - begun), wall


def fitted_lengths(classifier: DocumentClassifier, texts: list[str]) -> list[int]:
    """How many words each text has."""
    return classifier.fitted_.reader.vocab.encode(texts).lengths.tolist()


def agreement(explained: list, verdicts: list[Explanation]) -> dict[str, object]:
    """How far the scores of words lie apart, and how often the verdict is the same word."""
    apart, same = 0.0, 0
    for (found, *_), own in zip(explained, verdicts, strict=True):
        decision = found["decisions"][0]
        ours = own.decisions[0].weights[0].amounts
        theirs = decision["weights"][0]["scores"] or decision["weights"][0]["values"]
        apart = max(apart, float(np.abs(np.array(ours) - np.array(theirs)).max()))
        same += own.receipt is not None and own.receipt.verdict == decision["receipt"]["verdict"]
    return {
        "explained": len(explained),
        "method": explained[0][0]["method"],
        "largest_difference_of_scores": apart,
        "same_verdict": same,
    }


if __name__ == "__main__":
    main()
