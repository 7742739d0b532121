"""BERT folders as everyone exchanges them: read into our network, and written for others.

    folder/
      config.json         sizes, by the names of ``transformers``
      model.safetensors   weights, by its names
      vocab.txt           word pieces; ``tokenizer.json`` is read as well
      tokenizer_config.json

Nothing is downloaded, and no pickle is read. ``transformers`` itself is not needed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple, cast

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from ..config import from_dict, to_dict
from ..errors import ConfigError, ModelError
from ..models.bert import Bert, BertConfig, BertPretraining
from ..text.pieces import WordPieces
from .exchange import recover_folder, replace_folder
from .folder import require_free

__all__ = ["LoadedBert", "describe_bert", "load_bert", "save_bert"]

_CONFIG, _WEIGHTS, _PICKLE = "config.json", "model.safetensors", "pytorch_model.bin"
_THEIR_NAMES = {
    "hidden_size": "hidden_size",
    "layers": "num_hidden_layers",
    "heads": "num_attention_heads",
    "feed_size": "intermediate_size",
    "longest": "max_position_embeddings",
    "segments": "type_vocab_size",
    "dropout": "hidden_dropout_prob",
    "activation": "hidden_act",
    "eps": "layer_norm_eps",
}
"""Our settings by the names that everyone else has for them."""
_THEIR_USUAL = {"type_vocab_size": 2, "hidden_dropout_prob": 0.1, "layer_norm_eps": 1e-12}
_POOLER = "pooler.dense."


class LoadedBert(NamedTuple):
    """A BERT and the pieces that it reads texts in."""

    bert: Bert
    pieces: WordPieces


def load_bert(folder: Path | str) -> LoadedBert:
    """Read a BERT from a local folder; one of another kind, or damaged, is an error."""
    place = Path(folder)
    recover_folder(place)
    if not place.is_dir():
        raise ModelError(f"there is no folder {place} to read a BERT from; nothing is downloaded")
    about = _read_config(place)
    weights = _read_weights(place)
    config = _settings(place, about, pooler=f"{_POOLER}weight" in weights)
    pieces = WordPieces.load(place)
    vocab_size = about.get("vocab_size")
    if not isinstance(vocab_size, int) or vocab_size < len(pieces):
        raise ModelError(
            f"{place}/{_CONFIG} says vocab_size {vocab_size}, but there are {len(pieces):,} pieces"
        )
    try:
        with torch.device("meta"):
            bert = config.build(vocab_size=vocab_size)
    except RuntimeError as problem:  # sizes that no memory could hold
        raise ModelError(f"{place}/{_CONFIG} asks for a network that cannot be made") from problem
    _take_weights(place, bert, weights)
    return LoadedBert(bert.eval(), pieces)


def describe_bert(
    folder: Path | str,
) -> tuple[Mapping[str, object], Mapping[str, Mapping[str, object]]]:
    """Say what a folder holds: facts of it, and its settings by their parts."""
    loaded = load_bert(folder)
    about = _read_config(Path(folder)).get("regard")
    told = about if isinstance(about, dict) else {}
    facts = told.get("facts")
    count = sum(part.numel() for part in loaded.bert.parameters())
    settings = {name: values for name, values in told.items() if name in ("masking", "training")}
    return (
        {**(facts if isinstance(facts, dict) else {}), "pieces": len(loaded.pieces)}
        | {"parameters": count, "lowercase": loaded.pieces.lowercase},
        {"network": to_dict(loaded.bert.config), **settings},
    )


def save_bert(
    folder: Path | str,
    model: Bert | BertPretraining,
    pieces: WordPieces,
    *,
    about: Mapping[str, object] | None = None,
) -> None:
    """Write a BERT so that ``transformers`` loads it, in one step; one that is there is replaced.

    What it was taught by is written too, where it is given; ``about`` is told in config.json.
    """
    place = Path(folder)
    require_free(place)
    bert = model.bert if isinstance(model, BertPretraining) else model
    names = _pretraining_names(bert) if isinstance(model, BertPretraining) else _names(bert)
    named = dict(model.named_parameters())
    weights: dict[str, Tensor] = {}
    for ours, theirs in names:
        parts = named[ours].detach().cpu().chunk(len(theirs))
        weights |= {name: part.clone() for name, part in zip(theirs, parts, strict=True)}

    def write(fresh: Path) -> None:
        said = _about(bert, pieces, pretraining=isinstance(model, BertPretraining))
        if about is not None:
            said["regard"] = about
        (fresh / _CONFIG).write_text(json.dumps(said, indent=2) + "\n", encoding="utf-8")
        save_file(weights, fresh / _WEIGHTS, {"format": "pt"})
        (fresh / _WEIGHTS).chmod((fresh / _CONFIG).stat().st_mode)
        pieces.save(fresh)

    replace_folder(place, write)


def _read_config(folder: Path) -> Mapping[str, object]:
    try:
        about = json.loads((folder / _CONFIG).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{folder} holds no BERT: it has no {_CONFIG}") from None
    except (OSError, ValueError, RecursionError) as problem:
        raise ModelError(f"{folder}/{_CONFIG} cannot be read ({problem})") from problem
    kind = about.get("model_type") if isinstance(about, dict) else None
    if kind != "bert":
        raise ModelError(f"{folder} holds a network of the kind {kind!r}; only 'bert' is read")
    if about.get("position_embedding_type", "absolute") != "absolute" or about.get("is_decoder"):
        raise ModelError(f"{folder} holds a BERT with other places or a decoder; it is not read")
    return cast(Mapping[str, object], about)


def _settings(folder: Path, about: Mapping[str, object], *, pooler: bool) -> BertConfig:
    given = {**_THEIR_USUAL, **about}
    missing = [theirs for theirs in _THEIR_NAMES.values() if theirs not in given]
    if missing:
        raise ModelError(f"{folder}/{_CONFIG} does not say {', '.join(missing)}")
    values = {ours: given[theirs] for ours, theirs in _THEIR_NAMES.items()}
    try:
        return from_dict(BertConfig, {**values, "pooler": pooler})  # type: ignore[dict-item]
    except ConfigError as problem:
        raise ModelError(f"{folder}/{_CONFIG}: {problem}") from problem


def _read_weights(folder: Path) -> dict[str, Tensor]:
    """The weights of the network itself, by names that are the same in old and new files."""
    path = folder / _WEIGHTS
    if not path.is_file():
        hint = ""
        if (folder / _PICKLE).exists():
            hint = f"; {_PICKLE} is a pickle, which can do harm: save it again as safetensors"
        raise ModelError(f"{folder} holds no BERT: it has no {_WEIGHTS}{hint}")
    try:
        read = load_file(path)
    except (SafetensorError, OSError, ValueError) as problem:
        raise ModelError(f"{path} is damaged ({problem})") from problem
    found = {}
    for name, weight in read.items():
        name = name.removeprefix("bert.")
        if name.endswith(("LayerNorm.gamma", "LayerNorm.beta")):
            name = name.replace("gamma", "weight").replace("beta", "bias")
        found[name] = weight
    return found


def _take_weights(folder: Path, bert: Bert, weights: Mapping[str, Tensor]) -> None:
    """Give a network without memory its weights, each checked."""
    shapes = {name: part.shape for name, part in bert.named_parameters()}
    made: dict[str, Tensor] = {}
    for ours, theirs in _names(bert):
        missing = [name for name in theirs if name not in weights]
        if missing:
            raise ModelError(f"{folder}/{_WEIGHTS} has no {missing[0]}")
        whole = torch.cat([weights[name].float() for name in theirs])
        if whole.shape != shapes[ours]:
            raise ModelError(
                f"{folder}/{_WEIGHTS}: {theirs[0]} has the shape {tuple(whole.shape)}, "
                f"{_CONFIG} asks for {tuple(shapes[ours])}"
            )
        if not bool(whole.isfinite().all()):
            raise ModelError(f"{folder}/{_WEIGHTS}: {theirs[0]} holds what is no number")
        made[ours] = whole
    bert.load_state_dict(made, assign=True)
    for part in bert.parameters():
        part.requires_grad_(True)


def _names(bert: Bert) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The name of each weight of ours, and theirs: one or, laid end to end, several."""
    yield "embedding.weight", ("embeddings.word_embeddings.weight",)
    yield "places.weight", ("embeddings.position_embeddings.weight",)
    yield "segments.weight", ("embeddings.token_type_embeddings.weight",)
    pairs: list[tuple[str, tuple[str, ...]]] = [("norm", ("embeddings.LayerNorm",))]
    for number in range(bert.config.layers):
        ours, theirs = f"blocks.{number}", f"encoder.layer.{number}"
        looks = f"{theirs}.attention.self"
        pairs += [
            (f"{ours}.attention.enter", (f"{looks}.query", f"{looks}.key", f"{looks}.value")),
            (f"{ours}.attention.leave", (f"{theirs}.attention.output.dense",)),
            (f"{ours}.attended.norm", (f"{theirs}.attention.output.LayerNorm",)),
            (f"{ours}.feed.widen", (f"{theirs}.intermediate.dense",)),
            (f"{ours}.feed.narrow", (f"{theirs}.output.dense",)),
            (f"{ours}.fed.norm", (f"{theirs}.output.LayerNorm",)),
        ]
    if bert.pooler is not None:
        pairs.append(("pooler", ("pooler.dense",)))
    for ours, several in pairs:
        for part in ("weight", "bias"):
            yield f"{ours}.{part}", tuple(f"{name}.{part}" for name in several)


def _pretraining_names(bert: Bert) -> Iterator[tuple[str, tuple[str, ...]]]:
    for ours, theirs in _names(bert):
        yield f"bert.{ours}", tuple(f"bert.{name}" for name in theirs)
    yield "bias", ("cls.predictions.bias",)
    for ours, one in (
        ("transform", "cls.predictions.transform.dense"),
        ("norm", "cls.predictions.transform.LayerNorm"),
        ("follows", "cls.seq_relationship"),
    ):
        for part in ("weight", "bias"):
            yield f"{ours}.{part}", (f"{one}.{part}",)


def _about(bert: Bert, pieces: WordPieces, *, pretraining: bool) -> dict[str, object]:
    config = bert.config
    return {
        "architectures": ["BertForPreTraining" if pretraining else "BertModel"],
        "model_type": "bert",
        "vocab_size": bert.vocab_size,
        **{theirs: getattr(config, ours) for ours, theirs in _THEIR_NAMES.items()},
        "attention_probs_dropout_prob": 0.0,
        "initializer_range": 0.02,
        "pad_token_id": pieces.padding,
    }
