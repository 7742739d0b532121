"""The arrays of a model in a page, by the names that its script has."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from ..estimators.saved import Saved, SavedWide
from ..explain.fitted import Fitted
from ..models.han import HANConfig
from ..models.ngrams import SELDOM, NGramTable
from .packing import fold_signs, narrowest, ngram_tree
from .rounding import RoundedVectors, RoundedWeights

__all__ = [
    "SCORES",
    "About",
    "Arrays",
    "network_arrays",
    "networks_of",
    "prefixes_of",
    "wide_arrays",
]

About = dict[str, object]
Arrays = dict[str, NDArray[np.generic]]
Floats = NDArray[np.float64]
Weights = Mapping[str, Floats]


def prefixes_of(saved: Saved) -> list[str]:
    """How the names of the weights of each network begin."""
    count = saved.settings.seeds
    return [""] if count == 1 else [f"members.{number}." for number in range(count)]


def networks_of(saved: Saved, fitted: Fitted) -> list[Weights]:
    """The weights of each network that answers, by their names in it alone."""
    weights = {
        name: tensor.detach().double().numpy()
        for name, tensor in fitted.model.network.state_dict().items()
    }
    return [_within(weights, prefix) for prefix in prefixes_of(saved)]


def _within(weights: Weights, prefix: str) -> Weights:
    """Those weights whose names begin so, by the rest of their names."""
    return {
        name.removeprefix(prefix): one for name, one in weights.items() if name.startswith(prefix)
    }


def network_arrays(
    number: int, weights: Weights, config: HANConfig, vectors: RoundedVectors
) -> Arrays:
    """The arrays of one of the networks, whose word vectors are rounded."""
    parts = {name: weights[name] for name in ("classify.weight", "classify.bias")}
    for level in ("words", "sentences"):
        for name, part in _level_arrays(_within(weights, f"{level}."), config).items():
            parts[f"{level}.{name}"] = part
    parts["words.layer0.inputWeight"] = parts["words.layer0.inputWeight"] @ vectors.basis
    rounded = {name: part.astype(np.float32) for name, part in parts.items()}
    arrays: Arrays = {"vectors": narrowest(fold_signs(vectors.numbers.T)), **rounded}
    return {f"network{number}.{name}": part for name, part in arrays.items()}


def _level_arrays(weights: Weights, config: HANConfig) -> dict[str, Floats]:
    parts: dict[str, Floats] = {}
    if config.encoder == "none":  # words as they are, and sentences as sums of words
        parts["layer0.inputWeight"] = np.eye(config.embedding_size)
        parts["layer0.inputBias"] = np.zeros(config.embedding_size)
    for layer in range(config.layers if config.encoder == "recurrent" else 0):
        recurrent = f"encoder.layers.{{}}_l{layer}".format
        for name, part in _layer_arrays(weights, recurrent, config.directions).items():
            parts[f"layer{layer}.{name}"] = part
    if config.pooling == "attention":
        pooling = _within(weights, "pooling.")
        parts |= SCORES[config.score](pooling["query"][0], pooling)
    return parts


def _layer_arrays(
    weights: Weights, saved_as: Callable[[str], str], directions: int
) -> dict[str, Floats]:
    """The parts of a recurrent layer: both directions read the items, each by its own weights."""
    ends = ("", "_reverse")[:directions]

    def of(name: str) -> list[Floats]:
        return [weights[saved_as(name) + end] for end in ends]

    return {
        "inputWeight": np.concatenate(of("weight_ih")),
        "inputBias": np.concatenate(of("bias_ih")),
        **{f"hiddenWeight{place}": part for place, part in enumerate(of("weight_hh"))},
        **{f"hiddenBias{place}": part for place, part in enumerate(of("bias_hh"))},
    }


def _context(query: Floats, weights: Weights) -> Weights:
    key, bias = weights["score.key.weight"], weights["score.key.bias"]
    return {"keyWeight": key, "keyBias": bias, "query": query}


def _additive(query: Floats, weights: Weights) -> Weights:
    # The query is the same for every text, and so is what it adds to each key.
    bias = weights["score.query.weight"] @ query
    out = weights["score.out.weight"]
    return {"keyWeight": weights["score.key.weight"], "keyBias": bias, "query": out}


def _concat(query: Floats, weights: Weights) -> Weights:
    of_query, of_key = np.split(weights["score.both.weight"], [len(query)], axis=1)
    return {"keyWeight": of_key, "keyBias": of_query @ query, "query": weights["score.out.weight"]}


SCORES: dict[str, Callable[[Floats, Weights], Weights]] = {
    "context": _context,
    "additive": _additive,
    "concat": _concat,
    "dot": lambda query, weights: {"query": query},
    "general": lambda query, weights: {"query": query @ weights["score.key.weight"]},
    "general_diag": lambda query, weights: {"query": query * weights["score.diagonal"]},
}
"""Each score as v · tanh(U h + b), with v as query, U and b as key; without a key as v · h."""


def wide_arrays(
    wide: SavedWide, rounded: Sequence[RoundedWeights], word_count: int
) -> tuple[About, Arrays]:
    """What the page knows of the n-grams, whose weights are rounded, and their arrays."""
    arrays: Arrays = {}
    parts = []
    for place, (part, weights) in enumerate(zip(wide.parts, rounded, strict=True)):
        prefix = f"ngrams{place}"
        emphasis = asdict(part.table.emphasis)
        parts.append({"name": prefix, "step": weights.step, "emphasis": emphasis})
        for key, array in _ngram_arrays(part.table, weights, word_count).items():
            arrays[f"{prefix}.{key}"] = array
    intercepts = wide.intercepts.tolist()
    about: About = {"scale": wide.scale, "intercepts": intercepts, "parts": parts}
    if (marking := wide.parts[0].table.marking) is not None:
        arrays["marking"] = marking.log_odds
        about["seldom"] = SELDOM
    return about, arrays


def _ngram_arrays(table: NGramTable, weights: RoundedWeights, word_count: int) -> Arrays:
    # The rarest first: they are most, and so the smallest numbers stand for them.
    negative, places = np.unique(-table.rarity, return_inverse=True)
    return {
        **ngram_tree(table.keys, word_count),
        "palette": -negative,
        "rarity": narrowest(places.astype(np.int64)),
        "weights": narrowest(fold_signs(weights.numbers)),
    }
