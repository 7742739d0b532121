"""The exported folder: it runs without us, reads texts as we do, and is whole or not there."""

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from regard import DocumentClassifier
from regard.errors import ModelError
from regard.estimators.saved import Saved
from support.full_disk import full_disk
from support.odd_texts import dense_text, random_text
from support.reviews import reviews, tagged, tiny

pytest.importorskip("onnx", reason="needs the extra export")
onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra export")

from regard.export.onnx_folder import (  # noqa: E402
    Difference,
    is_export,
    require_equal,
    write_onnx,
)

ROOT = Path(__file__).resolve().parents[2]
TEXTS = ["The film was great. We saw it!", "A dull evening.", "", "Größe 🎬 und <b>Musik</b>?"]
RUN = """
import runpy, sys
sys.modules["torch"] = sys.modules["regard"] = None  # whoever imports them fails
sys.path.insert(0, sys.argv[1])
sys.argv = ["example.py", *sys.argv[2:]]
runpy.run_path(sys.path[0] + "/example.py", run_name="__main__")
"""
READ = """
import json, sys
sys.modules["torch"] = sys.modules["regard"] = None
sys.path.insert(0, sys.argv[1])
from reader import Reader
read = Reader(sys.argv[1]).read(json.load(sys.stdin))
json.dump({name: part.tolist() for name, part in read.inputs.items()}, sys.stdout)
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "model"
    tiny(training__epochs=2).fit(*reviews(60)).save(folder)
    return folder


@pytest.fixture(scope="module")
def exported(model):
    out = model.with_name("onnx")
    write_onnx(Saved.read(model), out)
    return out


def python(code, *arguments, **options):
    environment = {**os.environ, "PYTHONPATH": "", **options.pop("env", {})}
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    ended = subprocess.run(command, capture_output=True, text=True, env=environment, **options)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_the_example_in_python_runs_without_torch_and_without_us(exported, model):
    """Issue 16.4: a 30-line example in Python, run as it is."""
    lines = python(RUN, exported, *TEXTS).splitlines()[::2]
    classifier = DocumentClassifier.load(model)
    likely = classifier.predict_proba(TEXTS)
    for line, text, row in zip(lines, TEXTS, likely, strict=True):
        label = classifier.classes_[row.argmax()]
        assert line == f"{label} {row.max():.3f}  {text}"
    code = (exported / "example.py").read_text(encoding="utf-8").splitlines()
    assert len(code) <= 35


@pytest.mark.parametrize("kernels", ["1", "0"], ids=["in C", "in Python"])
def test_its_reader_finds_what_we_find(exported, model, kernels):
    draw = random.Random(0)
    texts = [
        *TEXTS,
        *(random_text(draw) for _ in range(40)),
        *(dense_text(draw) for _ in range(40)),
    ]
    told = python(READ, exported, input=json.dumps(texts), env={"REGARD_KERNELS": kernels})
    wanted = Saved.read(model).vocab.encode(texts)
    found = json.loads(told)
    assert found["word_ids"] == wanted.ids.tolist()
    assert found["sentence_lengths"] == wanted.sentence_lengths.tolist()
    assert found["document_lengths"] == wanted.sentences.tolist()


def test_caps_are_kept_by_its_reader(tmp_path):
    capped = tiny(training__epochs=1, text__max_sentences=2, text__max_words=3)
    capped.fit(*reviews(30)).save(tmp_path / "model")
    write_onnx(Saved.read(tmp_path / "model"), tmp_path / "onnx")
    text = "It was a great film. We saw it then. And the music was dull."
    found = json.loads(python(READ, tmp_path / "onnx", input=json.dumps([text])))
    assert found["sentence_lengths"] == [3, 3] and found["document_lengths"] == [2]
    session = onnxruntime.InferenceSession(tmp_path / "onnx" / "model.onnx")
    inputs = {name: np.array(part, np.int64) for name, part in found.items()}
    (likely,) = session.run(["probabilities"], inputs)
    wanted = DocumentClassifier.load(tmp_path / "model").predict_proba([text])
    np.testing.assert_allclose(likely, wanted, atol=1e-5)


def test_words_from_dictionaries_are_read_in_python_alone(tmp_path):
    pytest.importorskip("icu4py")
    tiny(training__epochs=1, text__cjk="icu").fit(*reviews(30)).save(tmp_path / "model")
    write_onnx(Saved.read(tmp_path / "model"), tmp_path / "onnx")
    assert not list((tmp_path / "onnx").glob("*.mjs"))
    assert ".mjs" not in (tmp_path / "onnx" / "README.md").read_text(encoding="utf-8")
    text = "我喜欢这部电影。The film was great."
    found = json.loads(python(READ, tmp_path / "onnx", input=json.dumps([text])))
    wanted = Saved.read(tmp_path / "model").vocab.encode([text])
    assert found["word_ids"] == wanted.ids.tolist() and len(wanted.ids) < 13


def packages_with(name):
    """The folder of packages of JavaScript that holds this one, if any does."""
    places = [Path(one) for one in os.environ.get("NODE_PATH", "").split(os.pathsep) if one]
    if shutil.which("npm"):
        asked = subprocess.run(["npm", "root", "--global"], capture_output=True, text=True)
        places.append(Path(asked.stdout.strip()))
    return next((one for one in places if (one / name).is_dir()), None)


@pytest.mark.parametrize("runtime", ["onnxruntime-node", "onnxruntime-web"])
def test_the_example_in_javascript_runs(exported, tmp_path, runtime):
    """Issue 16.4: the same in JavaScript, compiled for the machine or for browsers."""
    packages = packages_with(runtime)
    if shutil.which("node") is None or packages is None:
        pytest.skip(f"needs node, and: npm install --global {runtime}")
    folder = shutil.copytree(exported, tmp_path / "onnx")
    (folder / "node_modules").symlink_to(packages)
    example = folder / "example.mjs"
    code = example.read_text(encoding="utf-8")
    assert len(code.splitlines()) <= 40
    example.write_text(code.replace("onnxruntime-node", runtime), encoding="utf-8")
    command = ["node", "example.mjs", *TEXTS]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=folder)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == python(RUN, exported, *TEXTS)


def test_the_numbers_of_the_example_are_those_of_the_model(exported, model):
    example = json.loads((exported / "example.json").read_text(encoding="utf-8"))
    likely = DocumentClassifier.load(model).predict_proba(example["texts"])
    np.testing.assert_allclose(example["outputs"]["probabilities"], likely, atol=1e-5)
    assert [len(words) for words in example["words"]] == [9, 9]
    assert sum(map(len, example["words"])) == len(example["inputs"]["word_ids"])


def test_the_folder_says_what_goes_in_and_what_comes_out(exported):
    page = (exported / "README.md").read_text(encoding="utf-8")
    for name in ("word_ids", "sentence_lengths", "document_lengths", "logits", "probabilities"):
        assert f"| `{name}` |" in page
    config = json.loads((exported / "config.json").read_text(encoding="utf-8"))
    assert config["labels"] == ["bad", "good"] and config["compared_on"] > 30
    assert max(config["differs_by"].values()) < 1e-4


@pytest.mark.parametrize("found", [2e-4, float("nan")])
def test_what_differs_is_refused(found):
    """Issue 16.4: checked against torch before it is written."""
    with pytest.raises(ModelError, match="nothing was written"):
        require_equal(Difference({"logits": 1e-6, "word_weights": found}, 3))


def test_a_full_disk_leaves_what_was_there(exported, model, tmp_path):
    kept = tmp_path / "kept"
    shutil.copytree(exported, kept, symlinks=True)
    saved = Saved.read(model)
    for out in (kept, tmp_path / "fresh"):
        with full_disk(20_000), pytest.raises(OSError, match=str(out)):
            write_onnx(saved, out)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == ["kept"]
    assert is_export(kept)
    assert (kept / "model.onnx").read_bytes() == (exported / "model.onnx").read_bytes()


def test_the_python_of_the_page_runs(exported):
    """docs/exporting.md: the lines in which the folder is used."""
    page = (ROOT / "docs" / "exporting.md").read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    ended = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=exported,
        env={**os.environ, "PYTHONPATH": ""},
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("['bad', 'good'] [[") and "'superb'" in ended.stdout


def test_several_hops_and_several_labels_are_shown_alike(tmp_path):
    """Weights of several columns, and a text that may have no label."""
    texts, labels = tagged(40)
    several = tiny(training__epochs=1, network__pooling="structured", network__hops=2)
    several.fit(texts, labels).save(tmp_path / "model")
    write_onnx(Saved.read(tmp_path / "model"), tmp_path / "onnx")
    told = python(RUN, tmp_path / "onnx", *texts[:4])
    likely = DocumentClassifier.load(tmp_path / "model").predict_proba(texts[:4])
    names = ("art", "music")
    for line, row in zip(told.splitlines()[::2], likely, strict=True):
        said = [f"{name} {one:.3f}" for name, one in zip(names, row, strict=True) if one > 0.5]
        assert line.startswith(f"{', '.join(said) or 'no label'}  ")
    if shutil.which("node") and (packages := packages_with("onnxruntime-node")):
        (tmp_path / "onnx" / "node_modules").symlink_to(packages)
        command = ["node", "example.mjs", *texts[:4]]
        ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path / "onnx")
        assert ended.stdout == told, ended.stderr
