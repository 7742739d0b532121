"""A folder from which a classifier is run without us: its graph, its vocabulary, two examples.

    out/
      model.onnx    the classifier, n-grams and all
      vocab.txt     one word a line; the line's number, from 0, is its id
      config.json   the labels, and how texts are read
      reader/       from texts to ids, in Python, with NumPy alone
      reader.mjs    the same in JavaScript
      example.py    both examples run as they are
      example.mjs
      example.json  two texts, the numbers that go in, and those that come out
      README.md     the inputs and outputs

It is written whole or not at all, and only if ONNX Runtime gives what torch gives.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from .. import __version__
from ..data.batch import Batch, gather
from ..errors import ConfigError, MissingExtra, ModelError
from ..estimators.exchange import recover_folder, replace_folder, require_place
from ..estimators.folder import read_config
from ..estimators.footprint import SAMPLE
from ..explain.fitted import Fitted
from ..files import naming
from ..tasks.classify import probabilities
from ..text.vocab import cut_texts
from .equations import OPSET
from .graph import INPUTS, build_graph
from .reader import asset, reader_module
from .samples import imagine_documents

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

    from ..estimators.saved import Saved

__all__ = [
    "TOLERANCE",
    "Difference",
    "compare",
    "inputs_of",
    "is_export",
    "require_free",
    "require_packages",
    "start_session",
    "write_onnx",
]

TOLERANCE = 1e-4
"""How far any output may be from torch's."""
FORMAT = 1
MOST_LABELS = 50  # that the README names
CONFIG, MODEL = "config.json", "model.onnx"

_READER = (
    "errors.py",
    "config.py",
    "kernels/__init__.py",
    "kernels/native.py",
    "kernels/scan/__init__.py",
    "kernels/scan/scanner.py",
    "text/__init__.py",
    "text/characters.py",
    "text/document.py",
    "text/encode.py",
    "text/exported.py",
    "text/markup.py",
    "text/sentences.py",
    "text/spelling.py",
    "text/tokenize.py",
    "text/vocab.py",
    "text/words.py",
)
"""The files of this package that read texts, and need nothing else of it."""
_READER_ENTRANCE = '''"""The part of regard that reads texts, as it is; needs NumPy alone."""

from .text.exported import Read, Reader

__all__ = ["Read", "Reader"]
'''
_SHOWN = ("We loved it. The ending is superb!", "Two dull hours. No story at all.")
_ODD = ("", "Fine.", "🎬 <b>Größe</b>, 10:30!\n\nDon't... OK?", " ".join(["on and on"] * 400))
_IMAGINED = 24  # documents that are made up to be compared

Numbers = NDArray[np.int64]


def require_packages() -> None:
    """Raise ``MissingExtra`` unless what writes and runs graphs is installed."""
    for package in ("onnx", "onnxruntime"):
        if find_spec(package) is None:
            raise MissingExtra(package, "export", "regard export --to onnx")


def is_export(folder: Path) -> bool:
    """Whether a folder is one that was exported."""
    return (folder / MODEL).is_file() and "export" in (read_config(folder) or {})


def require_free(folder: Path) -> None:
    """Raise ``ConfigError`` unless there is nothing at ``folder``, or an export to replace."""
    recover_folder(folder)
    require_place(folder)
    place = folder.resolve()
    if not place.exists() or is_export(place):
        return
    if not place.is_dir() or any(place.iterdir()):
        raise ConfigError(f"{folder} exists and is no exported model; name another folder")


def write_onnx(saved: Saved, out: Path) -> str:
    """Write the folder in one step, and return what to tell about it."""
    fitted = saved.fitted("cpu")
    raw = build_graph(fitted.model, fitted.labels, fitted.temperature).SerializeToString()
    session = start_session(raw)
    difference = compare(session, fitted, check_batches(saved, fitted))
    require_equal(difference)

    def write(fresh: Path) -> None:
        (fresh / MODEL).write_bytes(raw)
        saved.vocab.save(fresh / "vocab.txt")
        _write_json(fresh / CONFIG, _about(saved, difference))
        _write_json(fresh / "example.json", _example(session, fitted))
        _copy_reader(fresh / "reader")
        (fresh / "example.py").write_text(asset("example.py.txt"), encoding="utf-8")
        if _has_javascript(saved):
            (fresh / "example.mjs").write_text(asset("example.mjs"), encoding="utf-8")
            (fresh / "reader.mjs").write_text(reader_module(), encoding="utf-8")
        (fresh / "README.md").write_text(_readme(saved, session, difference), encoding="utf-8")
        if out.exists():
            _keep_others(out, fresh)

    with naming(out):
        replace_folder(out, write)
    return (
        f"model.onnx, {len(raw) / 1e6:.1f} MB; all outputs are within {difference.largest:.0e} of "
        f"torch's on {difference.documents} documents"
    )


@dataclass(frozen=True)
class Difference:
    """How far outputs of ONNX Runtime are from torch's."""

    by_output: Mapping[str, float]
    documents: int

    @property
    def largest(self) -> float:
        """The largest difference of any number."""
        return max(self.by_output.values())


def require_equal(difference: Difference) -> None:
    """Raise ``ModelError`` where the outputs differ by more than ``TOLERANCE``."""
    for name, found in difference.by_output.items():
        if not found <= TOLERANCE:
            raise ModelError(
                f"ONNX Runtime gives {name} that differ from torch's by {found:.1e}, more than "
                f"{TOLERANCE:g}; nothing was written: this is a mistake of regard"
            )


def start_session(model: bytes | str, *, threads: int = 0) -> InferenceSession:
    """Let ONNX Runtime load a graph, from its bytes or from a file; 0 threads: as it likes."""
    from onnxruntime import InferenceSession, SessionOptions

    options = SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])


def inputs_of(batch: Batch) -> dict[str, Numbers]:
    """A batch as the graph takes it."""
    arrays = (batch.ids.values, batch.ids.lengths, batch.sentences)
    return {name: part.cpu().numpy() for name, part in zip(INPUTS, arrays, strict=True)}


def compare(session: InferenceSession, fitted: Fitted, batches: Iterator[Batch]) -> Difference:
    """Let torch and ONNX Runtime read the same batches."""
    largest = dict.fromkeys((output.name for output in session.get_outputs()), 0.0)
    documents = 0
    for batch in batches:
        documents += len(batch)
        found = session.run(list(largest), inputs_of(batch))
        for name, given, wanted in zip(largest, found, _by_torch(fitted, batch), strict=True):
            if given.shape != wanted.shape:
                raise ModelError(f"ONNX Runtime gives {name} of {given.shape}, not {wanted.shape}")
            apart = np.abs(given - wanted).max(initial=0.0)
            largest[name] = float(max(largest[name], apart)) if apart == apart else float("nan")
    return Difference(largest, documents)


def _by_torch(fitted: Fitted, batch: Batch) -> list[NDArray[Any]]:
    with torch.no_grad():
        output = fitted.model(batch)
    multilabel, temperature = fitted.labels.multilabel, fitted.temperature
    likely = probabilities(output.logits.double(), multilabel, temperature=temperature)
    weights = [layer.weights.values for layer in output.attention]
    shares = fitted.model.word_shares(batch)
    given = (output.logits, likely, *weights, *(() if shares is None else (shares,)))
    return [part.numpy() for part in given]


def check_batches(saved: Saved, fitted: Fitted) -> Iterator[Batch]:
    """The documents that are compared: a review, odd texts, none, and some made up of n-grams."""
    texts = [SAMPLE, *_SHOWN, *_ODD]
    encoded = fitted.reader.vocab.encode(texts)
    yield gather(encoded, np.arange(len(texts)))
    yield gather(encoded, np.array([0]))
    yield gather(encoded, np.array([texts.index("")]))
    yield imagine_documents(saved, _IMAGINED)


def _about(saved: Saved, difference: Difference) -> dict[str, object]:
    text = saved.settings.text
    return {
        "export": "onnx",
        "format": FORMAT,
        "regard": __version__,
        "network": saved.settings.network.name,
        "labels": list(saved.labels.classes),
        "multilabel": saved.labels.multilabel,
        "lowercase": text.lowercase,
        "cjk": text.cjk,
        "hangul": text.hangul,
        "reading": text.reading,
        "parted": text.parted.decode(),
        "unknown": text.unknown,
        "max_sentences": text.max_sentences,
        "max_words": text.max_words,
        "differs_by": dict(difference.by_output),
        "compared_on": difference.documents,
    }


def _example(session: InferenceSession, fitted: Fitted) -> dict[str, object]:
    """Two texts with all numbers, for whoever reads texts in another language."""
    read = cut_texts(_SHOWN, fitted.reader.vocab)
    batch = gather(fitted.reader.vocab.encode(_SHOWN), np.arange(len(_SHOWN)))
    inputs = inputs_of(batch)
    names = [output.name for output in session.get_outputs()]
    return {
        "texts": list(_SHOWN),
        "words": [one.tokens.words() for one in read],
        "inputs": {name: numbers.tolist() for name, numbers in inputs.items()},
        "outputs": {
            name: found.tolist()
            for name, found in zip(names, session.run(names, inputs), strict=True)
        },
    }


def _copy_reader(folder: Path) -> None:
    package = Path(__file__).parents[1]
    for name in _READER:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(package / name, folder / name)
    # The scanner in C for this system; on another one it is passed over, and Python reads.
    for library in (package / "kernels").glob("_native*.so"):
        shutil.copyfile(library, folder / "kernels" / library.name)
    (folder / "__init__.py").write_text(_READER_ENTRANCE, encoding="utf-8")


def _has_javascript(saved: Saved) -> bool:
    """Whether texts can be read in JavaScript, which knows no dictionaries of ICU."""
    return saved.settings.text.cjk != "icu"


def _keep_others(folder: Path, fresh: Path) -> None:
    """Give the new folder what else lies in the old one, such as a server of the user's."""
    for path in folder.iterdir():
        if (fresh / path.name).exists():
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, fresh / path.name, symlinks=True)
        else:
            shutil.copy2(path, fresh / path.name, follow_symlinks=False)


def _write_json(path: Path, content: Mapping[str, object]) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _readme(saved: Saved, session: InferenceSession, difference: Difference) -> str:
    table = [_row("in", one, INPUTS[one.name][1]) for one in session.get_inputs()]
    table += [_row("out", one, _OUTPUTS[one.name]) for one in session.get_outputs()]
    names = [f"`{' '.join(str(name).split())}`" for name in saved.labels.classes[:MOST_LABELS]]
    more = len(saved.labels) - len(names)
    page = asset("README.md.txt")
    if not _has_javascript(saved):
        page = "\n".join(line for line in page.split("\n") if ".mjs" not in line)
    return page.format(
        version=__version__,
        labels=", ".join(names) + (f" and {more} more in `config.json`" if more else ""),
        table="\n".join(table),
        opset=OPSET,
        documents=difference.documents,
        largest=f"{difference.largest:.0e}",
    )


_OUTPUTS = {
    "logits": "what each class scores, n-grams included",
    "probabilities": "how likely each class is",
    "word_weights": "how much each word weighs in its sentence",
    "sentence_weights": "how much each sentence weighs in its document",
    "ngram_shares": "what the n-grams at each word add to the logits of its document",
}


def _row(way: str, one: Any, about: str) -> str:
    kind, sizes = one.type.removeprefix("tensor(").rstrip(")"), " x ".join(map(str, one.shape))
    return f"| {way} | `{one.name}` | {kind} | {sizes} | {about} |"
