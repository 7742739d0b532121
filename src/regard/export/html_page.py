"""A model in one page: it reads, answers and explains in a browser, with no server and no request.

The page is the one that ``regard serve`` shows, with the model in the place of the server.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from ..data.batch import Batch
from ..errors import ConfigError, ModelError
from ..estimators.saved import Saved, SavedWide
from ..explain.fitted import Fitted
from ..files import write_file
from ..models.han import HANConfig
from ..serve.page import page, script, style
from ..views.drawing.page import escape
from ..views.drawing.words import percent
from ..views.explanation.receipt import CONCLUSIONS, MEANINGS
from .contents import (
    SCORES,
    About,
    Arrays,
    network_arrays,
    networks_of,
    prefixes_of,
    wide_arrays,
)
from .packing import ALPHABET, pack, spell
from .reader import asset, scanner_rules
from .rounding import (
    RoundedVectors,
    RoundedWeights,
    round_vectors,
    round_weights,
    sensitivity,
    word_shifts,
)
from .samples import imagine_documents

__all__ = ["LARGEST", "NEAR", "SCRIPTS", "Rounded", "round_model", "write_page"]

METHODS = ("gradient_input", "attention_gradient", "erasure", "attention")
"""The ways to explain that the page knows."""
NEAR = 1e-4
"""By how much a probability of the page may differ from the model's."""
LARGEST = 15_000_000
"""Bytes that a page should not exceed."""
_DOCUMENTS = 48  # that sensitivity is read off, and as many others that the rounding is tried on
_STEP = 1.2e-5  # log-odds by which a direction of word vectors errs
_WIDE_STEP = 1e-4  # of the weights of n-grams
_FINEST = 1e-3  # share of either step from which on digits are lost elsewhere
SCRIPTS = (
    "scanner.js",
    "arithmetic.js",
    "recurrence.js",
    "encoders.js",
    "ngrams.js",
    "network.js",
    "model.js",
    "explain.js",
    "engine.js",
    "inside.js",
)
"""The scripts of the page, in their order."""


def write_page(saved: Saved, out: Path) -> str:
    """Write the page, and return what is to be said of it; the model is called as the file is."""
    require_plain(saved)
    fitted = saved.fitted("cpu")
    rounded = round_model(saved, fitted)
    about, arrays = _content(saved, fitted, rounded, out.stem)
    packed = pack(about, arrays)
    whole = _page(packed, title=out.stem, note=_note(saved)).encode("utf-8")
    write_file(out, whole)
    count = saved.settings.seeds
    told = [
        f"{len(whole) / 1e6:.1f} MB",
        f"probabilities differ from the model's by at most {rounded.difference:.1g} on "
        f"{_DOCUMENTS} made-up documents",
    ]
    if count > 1:
        own = {name: part for name, part in arrays.items() if name.startswith("network0.")}
        told[0] += f", {len(spell(pack({}, own))) / 1e6:.1f} of it for each of its {count} networks"
    if len(whole) > LARGEST:
        fewer = "fewer --seeds, or with " if count > 1 else ""
        told.append(f"above {LARGEST / 1e6:g} MB: train with {fewer}--set text.max_size=20000")
    if (method := _method(fitted)) != fitted.default_method:
        told.append(f"explains by {method}, since a page does not know {fitted.default_method}")
    return "; ".join(told)


def require_plain(saved: Saved) -> None:
    """Refuse what the page cannot compute; nothing is ever left out in silence."""
    network, text = saved.settings.network, saved.settings.text
    # What is found, what a page takes, and what ONNX takes beside.
    wanted: list[tuple[str, str, Iterable[str], Iterable[str]]] = [
        ("model", network.name, ("han",), ("flat",)),
        ("text.cjk", text.cjk, ("characters",), ("icu",)),
    ]
    if type(network) is HANConfig:
        others = ("structured", "max", "last")
        wanted += [
            ("network.encoder", network.encoder, ("recurrent", "none"), ()),
            ("network.pooling", network.pooling, ("attention", "mean"), others),
            ("network.score", network.score, SCORES, ()),
            ("network.reading", network.reading, ("isolated",), ("flow",)),
        ]
    for setting, found, able, elsewhere in wanted:
        if found not in able:
            hint = "; --to onnx takes it" if found in elsewhere else ""
            raise ConfigError(
                f"a page can hold models with {setting} {' or '.join(able)}, "
                f"this one has {found}{hint}"
            )


@dataclass(frozen=True, slots=True, eq=False)
class Rounded:
    """A model in few bits, and by how much its probabilities differ from the model's own."""

    vectors: tuple[RoundedVectors, ...]  # of each network
    weights: tuple[RoundedWeights, ...]
    difference: float


def round_model(saved: Saved, fitted: Fitted) -> Rounded:
    """Round a model as coarsely as its answers to made-up documents allow."""
    known, tried = (imagine_documents(saved, _DOCUMENTS, seed=seed) for seed in (0, 1))
    tables = [weights["embedding.weight"] for weights in networks_of(saved, fitted)]
    shifts = word_shifts(len(saved.vocab))
    matter = sensitivity(fitted, known, shifts)
    parts = () if saved.wide is None else saved.wide.parts
    share = 1.0
    while True:
        found = Rounded(
            tuple(
                round_vectors(table, own, shifts, step=share * _STEP)
                for table, own in zip(tables, matter, strict=True)
            ),
            tuple(
                round_weights(part, step=share * _WIDE_STEP, multilabel=saved.labels.multilabel)
                for part in parts
            ),
            0.0,
        )
        difference = _difference(saved, fitted, found, tried)
        if difference <= NEAR / 2:
            return replace(found, difference=difference)
        if share < _FINEST:
            raise ModelError(
                f"this model in a page would differ from itself by {difference:.2g}, more than "
                f"{NEAR / 2:g}; its answers hang on more digits than a page has, use --to onnx"
            )
        share /= 2


def _difference(saved: Saved, fitted: Fitted, rounded: Rounded, batch: Batch) -> float:
    """The most by which probabilities differ between a model and what is left of it."""
    weights = dict(saved.weights)
    for prefix, vectors in zip(prefixes_of(saved), rounded.vectors, strict=True):
        weights[f"{prefix}embedding.weight"] = _tensor(vectors.vectors)
    wide = saved.wide
    if wide is not None:
        kept = tuple(
            new.beside(part) for new, part in zip(rounded.weights, wide.parts, strict=True)
        )
        wide = SavedWide(kept, wide.intercepts, wide.scale)
    other = replace(saved, weights=weights, wide=wide).fitted("cpu")
    both = [one.answer(batch).probabilities for one in (fitted, other)]
    return float((both[0] - both[1]).abs().max())


def _content(saved: Saved, fitted: Fitted, rounded: Rounded, name: str) -> tuple[About, Arrays]:
    """What the page knows: what it is about, and arrays by the names that its script has."""
    text, network = saved.settings.text, saved.settings.network
    assert isinstance(network, HANConfig)
    arrays: Arrays = {"shifts": rounded.vectors[0].shifts}
    networks = networks_of(saved, fitted)
    for number, (weights, vectors) in enumerate(zip(networks, rounded.vectors, strict=True)):
        arrays |= network_arrays(number, weights, network, vectors)
    wide = None
    if saved.wide is not None:
        wide, beside = wide_arrays(saved.wide, rounded.weights, len(saved.vocab))
        arrays |= beside
    about: About = {
        "name": name,
        "labels": list(saved.labels.classes),
        "several": saved.labels.multilabel,
        "temperature": saved.temperature,
        "text": {
            "lowercase": text.lowercase,
            "parted": text.parted.decode(),
            "unknown": text.unknown,
            "max_sentences": text.max_sentences,
            "max_words": text.max_words,
        },
        "words": saved.vocab.words,
        "rules": scanner_rules(),
        "network": {
            "count": saved.settings.seeds,
            "encoder": network.encoder,
            "cell": network.cell,
            "layers": network.layers,
            "own": network.weighing == "sentences" and network.pooling != "mean",
        },
        "wide": wide,
        "methods": METHODS,
        "method": _method(fitted),
        "sayings": {"conclusions": CONCLUSIONS, "meanings": MEANINGS},
    }
    return about, arrays


def _method(fitted: Fitted) -> str:
    """How the page explains where nobody asks for a method: as the model does, if it can."""
    return fitted.default_method if fitted.default_method in METHODS else METHODS[0]


def _tensor(vectors: NDArray[np.float64]) -> Tensor:
    return torch.from_numpy(vectors.astype(np.float32))


def _note(saved: Saved) -> str:
    """What a reader should know of the page and of the model in it."""
    told = (
        "This file holds the model itself. It works without a network, and nothing that you type "
        "or drop here leaves it."
    )
    seen, held_out = (saved.facts.get(f"{name}_documents") for name in ("training", "validation"))
    accuracy = saved.facts.get("validation_accuracy")
    if not seen or not held_out or not isinstance(accuracy, float):
        return told
    if "folds" in saved.facts:
        told += (
            f" The model learnt from {seen:,} documents. Each was also answered once by a network "
            f"that had not read it, and {percent(accuracy)} of those answers are what people said."
        )
    else:
        told += (
            f" The model learnt from {seen:,} documents and labels {percent(accuracy)} of "
            f"{held_out:,} others as people did."
        )
    return told


def _page(packed: bytes, *, title: str, note: str) -> str:
    """Put the model and all that it needs into the page of a server."""
    alphabet = f"const ALPHABET = {json.dumps(ALPHABET)};"
    inside = "\n".join([*map(asset, SCRIPTS), alphabet])
    scripts = (
        f"globalThis.localModel = (() => {{\n{inside}\nreturn insideModel;\n}})();\n{script()}"
    )
    assert "</script" not in scripts and "<!--" not in scripts, "a script would end too early"
    forbidding = (
        f"default-src 'none'; script-src '{_digest(scripts)}'; style-src '{_digest(style())}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{forbidding}">'
    model = (
        f'<script id="packed" type="text/plain" data-size="{len(packed)}">{spell(packed)}</script>'
    )
    whole = page(marks=False)
    for old, new in (
        ('<meta charset="utf-8">', f'<meta charset="utf-8">\n{policy}'),
        ('<link rel="stylesheet" href="page.css">', f"<style>{style()}</style>"),
        ('<script src="page.js" defer></script>\n', ""),
        ("<title>regard</title>", f"<title>{escape(title)} · regard</title>"),
        ("</header>", f'<p class="muted">{escape(note)}</p>\n</header>'),
        ("</body>", f"{model}\n<script>{scripts}</script>\n</body>"),
    ):
        assert whole.count(old) == 1, f"the page of the server has no single {old}"
        whole = whole.replace(old, new)
    return whole


def _digest(content: str) -> str:
    """How a policy names an inline style or script that may stand in the page."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
