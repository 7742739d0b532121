"""What every classifier takes, gives, and lets an explanation do with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import Field, dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Literal, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from ..data.batch import Batch
from ..data.targets import S, TargetBatch
from ..errors import ConfigError, suggestion
from ..nn.decoding.writing import NextPiece, State
from ..nn.transformer import TransformerEncoder
from ..ragged import Ragged
from .words import WordEmbedding

__all__ = [
    "Attention",
    "Hierarchical",
    "Impose",
    "Model",
    "ModelConfig",
    "Output",
    "PairConfig",
    "PairModel",
    "SelfAttending",
    "SelfLooks",
    "Unit",
    "WritingModel",
    "check_imposed",
    "looks_of",
    "mean_penalty",
]

Unit = Literal["token", "sentence", "document", "region", "step", "feature"]
Impose = Mapping[str, Tensor]
"""Attention weights to use instead of the model's own, by the name of the layer."""


@dataclass(frozen=True, slots=True, eq=False)
class Attention:
    """The weights one layer gave a batch: each row sums to one over its items."""

    name: str  # "word", "sentence", "cross", "layer 3"
    by: Unit  # what asked
    over: Unit  # what it looked at
    weights: Ragged  # values (items,) or (items, heads)


@dataclass(frozen=True, slots=True, eq=False)
class Output:
    """What a model made of a batch."""

    logits: Tensor  # (documents, labels)
    attention: tuple[Attention, ...] = ()
    penalty: Tensor | None = None  # what the model adds to its loss, if anything


class Model(nn.Module):
    """A classifier of documents with the entrances that explanations need.

    ``model(batch)`` is ``model.from_vectors(model.embed(batch), batch)``, possibly computed
    another way; ``impose`` replaces the weights of the named attention layers.
    """

    embedding: WordEmbedding

    former_names: ClassVar[Mapping[str, str]] = {}
    """How names of weights began in folders that were saved by earlier versions."""

    def __init__(self) -> None:
        super().__init__()
        self.register_load_state_dict_pre_hook(_rename_weights)

    @property
    def network(self) -> Model:
        """The network of it: the model itself, unless something stands beside its network."""
        return self

    def forward(self, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify every document of the batch."""
        return self.from_vectors(self.embed(batch), batch, impose)

    def embed(self, batch: Batch) -> Ragged:
        """Return the word vectors, (tokens, size), one row a sentence."""
        return batch.ids.with_values(self.embedding(batch.ids.values))

    def from_vectors(self, words: Ragged, batch: Batch, impose: Impose | None = None) -> Output:
        """Classify from given word vectors, one row a sentence: the entrance for gradients."""
        raise NotImplementedError

    def completed(self, logits: Tensor, batch: Batch) -> Tensor:
        """Make the model's logits of those that its network gave the documents of a batch."""
        return logits

    def completed_kept(self, logits: Tensor, sentences: Ragged, numbers: Ragged) -> Tensor:
        """Do as ``completed`` for documents put together from sentences, whose ids are given.

        ``numbers`` picks the sentences of each document, one row a document, as in ``from_kept``.
        """
        return logits

    def word_shares(self, batch: Batch) -> Tensor | None:
        """Return what each token adds to the logits beside the network, (tokens, classes)."""
        return None

    def set_vectors(self, vectors: Tensor, known: Tensor) -> None:
        """Start the word vectors from pretrained ones where ``known``, (words,), is true."""
        with torch.no_grad():
            self.embedding.weight[known] = vectors[known].to(self.embedding.weight)

    if TYPE_CHECKING:

        def __call__(self, batch: Batch, impose: Impose | None = None) -> Output:
            """Classify every document of the batch."""
            ...


def _rename_weights(model: Model, weights: dict[str, Tensor], *_: object) -> None:
    """Give weights that were saved under their former names the names they have now."""
    for name in list(weights):
        for former, now in model.former_names.items():
            if name.startswith(former):
                weights[now + name.removeprefix(former)] = weights.pop(name)


def check_imposed(impose: Impose, items: Mapping[str, int]) -> None:
    """Refuse imposed weights of unknown layers, or of another number of items than given."""
    for name, weights in impose.items():
        if name not in items:
            raise ConfigError(
                f"there is no attention {name!r} to impose weights on; {suggestion(name, items)}"
            )
        if weights.shape[0] != items[name]:
            raise ConfigError(
                f"the attention {name!r} of this batch has {items[name]} items, "
                f"but {weights.shape[0]} weights were given to impose"
            )


def mean_penalty(price: float, *overlaps: Tensor | None) -> Tensor | None:
    """Charge for how much hops overlap, given for every document, (documents,); nothing if none."""
    given = [overlap for overlap in overlaps if overlap is not None]
    if not given:
        return None
    return price * torch.stack(given).sum() / max(len(given[0]), 1)


@runtime_checkable
class Hierarchical(Protocol):
    """A model that makes sentence vectors on its way: the entrance for exact erasure."""

    isolated: bool
    """Whether a sentence's vector depends on that sentence alone, so that it may be kept."""

    def sentence_vectors(self, batch: Batch, impose: Impose | None = None) -> Ragged:
        """Return one vector a sentence, one row a document."""
        ...

    def from_sentences(self, sentences: Ragged, impose: Impose | None = None) -> Output:
        """Classify from given sentence vectors, one row a document."""
        ...

    def from_kept(self, vectors: Tensor, numbers: Ragged) -> Output:
        """Classify documents put together from kept sentence vectors, (kept, size).

        ``numbers`` picks the sentences of each document, one row a document. The same as looking
        the vectors up first, but what each of them gives the encoder is computed once.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class SelfLooks:
    """Where words that are read together look at each other."""

    words: Tensor  # (words,), their places in the batch
    weights: Tensor  # (layers, heads, words, words); a row sums to one less what marks got


@runtime_checkable
class SelfAttending(Protocol):
    """A model whose words look at each other."""

    def self_attention(self, batch: Batch) -> Iterator[SelfLooks]:
        """Yield where the words look, one run of words that are read together at a time."""
        ...


def looks_of(encoder: object, rows: Ragged) -> Iterator[SelfLooks]:
    """Yield where the items of each row look, (items, size), in a transformer."""
    if not isinstance(encoder, TransformerEncoder):
        raise ConfigError(
            "the words of this network do not look at each other, so it has no heads to show; "
            "train it with network.encoder=transformer, or over a BERT with --model bert-han"
        )
    places = torch.arange(len(rows.values), device=rows.values.device)
    for words, items in zip(rows.with_values(places).rows(), rows.rows(), strict=True):
        if not len(words):
            continue
        alone = Ragged(items, torch.tensor([len(items)], device=items.device))
        found = [layer.values for layer in encoder.weights(alone)]
        shape = (len(words), len(words), -1)
        yield SelfLooks(words, torch.stack([one.view(shape).permute(2, 0, 1) for one in found]))


class ModelConfig(Protocol):
    """Settings that build a model: a frozen, flat dataclass, checked in ``__post_init__``."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]  # what makes it a dataclass

    def build(self, *, vocab_size: int, label_count: int) -> Model:
        """Make the network, with fresh weights drawn from torch's seed."""
        ...


class WritingModel(nn.Module, Generic[S]):
    """A network that writes about sources, told what to write or a token at a time."""

    def forward(self, batch: TargetBatch[S], forcing: float = 1.0) -> Output:
        """Score every token of the targets, (target ids, words).

        ``forcing`` is the probability that a step is told the true token before it; at 0 the
        network writes on its own, for as many steps as the target has.
        """
        raise NotImplementedError

    def start(self, source: S) -> State:
        """Read the sources; return where writing about them starts."""
        raise NotImplementedError

    def step(self, state: State, previous: Tensor) -> NextPiece:
        """Read the token before, (rows,), and write the next."""
        raise NotImplementedError

    if TYPE_CHECKING:

        def __call__(self, batch: TargetBatch[S], forcing: float = 1.0) -> Output:
            """Score every token of the targets."""
            ...


PairModel = WritingModel[Batch]
"""A network that writes about texts."""


class PairConfig(Protocol):
    """Settings that build a network that writes: a frozen, flat dataclass, as those of models."""

    name: ClassVar[str]
    __dataclass_fields__: ClassVar[dict[str, Field[object]]]

    @property
    def attends(self) -> bool:
        """Whether the network says where in the source it looks."""
        ...

    @property
    def tied(self) -> str:
        """Which tables of vectors are one: "all" needs one vocabulary for both sides."""
        ...

    def build(self, *, source_size: int, target_size: int) -> PairModel:
        """Make the network for two vocabularies, with fresh weights drawn from torch's seed."""
        ...
