"""What each kind of estimator keeps in its folder, and makes itself of again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from torch import Tensor, nn

from ..config import Plain, require, to_dict
from ..data.labels import LabelIndex
from ..errors import ModelError, suggestion
from ..explain.fitted import Fitted
from ..explain.methods import DEFAULT_METHOD
from ..models import MODELS, PAIR_MODELS
from ..models.base import Model, ModelConfig, PairConfig
from ..models.bert import BertConfig
from ..models.bert_han import BertHANConfig
from ..models.ensemble import ensemble_of
from ..models.picture_reader import load_backbone
from ..models.reader import TextReader
from ..models.show_attend_tell import BACKBONES, ShowAttendTellConfig
from ..models.tuned_bert import TuningConfig
from ..models.wide import WideConfig
from ..nn.pictures import EfficientNetLite0
from ..records.history import History
from ..tasks.baselines import TfidfBaseline
from ..tasks.generate import ForcingConfig, GenerationConfig
from ..text.pieced import PiecedVocab, load_pieces, save_pieces
from ..text.pieces import WordPieces
from ..text.tokenize import TextConfig
from ..text.units import Units, UnitsConfig, load_units, save_units
from ..text.vocab import Vocab
from ..training.config import TrainingConfig
from ..training.devices import choose_device
from ..training.seeds import seeded
from .card import Card
from .folder import WEIGHTS, SavedFolder, open_folder, write_folder, write_weights
from .label_forms import LabelForm
from .pretrained import know_words
from .saved_wide import WIDE, SavedWide

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

__all__ = [
    "CAPTIONER_CARD",
    "CLASSIFIER_CARD",
    "TRANSLATOR_CARD",
    "TUNED_CARD",
    "CaptionerSettings",
    "Saved",
    "SavedCaptioner",
    "SavedTranslator",
    "SavedTuned",
    "SavedWide",
    "Settings",
    "TranslatorSettings",
    "TunedSettings",
    "WriterSettings",
    "require_seeds",
]

N = TypeVar("N")
W = TypeVar("W", bound=PairConfig | ShowAttendTellConfig)

PIECES = "pieces.json"
_SEEN = "seen.safetensors"
MOST_SEEDS = 100
"""Networks that may answer together."""
_COOLEST, _HOTTEST = 1e-3, 1e3  # far beyond what a temperature is ever fitted to


CLASSIFIER_CARD = Card(
    title="A {model} classifier of {count} {kind}",
    commands=(
        'regard explain FOLDER --text "..."',
        "regard predict FOLDER new.csv --out predictions.csv",
    ),
    python=(
        "from regard import DocumentClassifier",
        'classifier = DocumentClassifier.load("FOLDER")',
    ),
    sections=("network", "training", "text"),
    mind=(
        "The vocabulary of this folder, and every report and explanation made with it, contain "
        "words of the texts it was trained on or shown. Share them as you would share those "
        "texts. By `seen.safetensors` whoever has a text can tell whether it was trained on, "
        "as `regard evaluate` does; the rest works without that file.",
        "The scores above were measured on validation data that chose the best epoch; measure "
        "on data that the training never saw with `regard evaluate FOLDER test.csv`.",
    ),
)


@dataclass(frozen=True)
class Settings:
    """What a classifier was fitted with, whatever its parameters have become since."""

    network: ModelConfig
    training: TrainingConfig
    text: TextConfig
    validation: float = 0.1  # share of the training data
    wide: WideConfig | None = None  # None: the network stands alone
    seeds: int = 1  # how many networks, each trained with a seed of its own, answer together

    def build(self, vocab: Vocab, labels: LabelIndex) -> Model:
        """Make the network, or all that answer together, with fresh weights."""
        members = [
            self.network.build(vocab_size=len(vocab), label_count=len(labels))
            for _ in range(self.seeds)
        ]
        return ensemble_of(members, multilabel=labels.multilabel)

    def to_dict(self) -> dict[str, dict[str, Plain]]:
        """Return every part's settings as plain values, by the name of the part."""
        return _by_part(self)


@dataclass(frozen=True)
class Saved:
    """Everything that makes a fitted classifier again."""

    settings: Settings
    labels: LabelIndex
    temperature: float
    vocab: Vocab
    weights: Mapping[str, Tensor]
    history: History | None = None
    facts: Mapping[str, Plain] = field(default_factory=dict)
    baseline: TfidfBaseline | None = None
    wide: SavedWide | None = None
    seen: NDArray[np.uint64] | None = None  # fingerprints of the training texts
    label_form: LabelForm = field(default_factory=LabelForm)  # kept among the facts

    def write(self, folder: Path) -> None:
        """Write the folder in one step; a model that is already there is replaced."""
        answers = {
            "classes": list(self.labels.classes),
            "multilabel": self.labels.multilabel,
            "temperature": self.temperature,
            "seeds": self.settings.seeds,
        }
        parts: dict[str, Callable[[Path], None]] = {"vocab.txt": self.vocab.save}
        if isinstance(self.vocab, PiecedVocab):
            parts[PIECES] = partial(save_pieces, self.vocab.pieces)
        if self.baseline is not None:
            baseline = self.baseline
            parts["baseline.safetensors"] = lambda path: baseline.save(path.parent)
        if self.wide is not None:
            parts[WIDE] = self.wide.write
        if self.seen is not None:
            parts[_SEEN] = partial(save_arrays, {"fingerprints": self.seen})
        _write(folder, "classify", self, about=answers, parts=parts, card=CLASSIFIER_CARD)

    def fitted(self, device: str = "auto") -> Fitted:
        """Make what answers and explains; nothing else of an estimator is needed for that."""
        place = choose_device(device)
        with seeded(0):  # whatever is drawn is replaced, and the caller's random state stays
            network = self.settings.build(self.vocab, self.labels)
        network.load_state_dict(dict(self.weights))
        network.to(place)
        know_words(network, self.vocab)
        model = network if self.wide is None else self.wide.beside(network)
        return Fitted(
            model=model.eval(),
            reader=TextReader(self.vocab, self.settings.text, place),
            labels=self.labels,
            temperature=self.temperature,
            default_method=str(self.facts.get("explain_method") or DEFAULT_METHOD),
            network=self.settings.network.name,
        )

    @classmethod
    def read(cls, folder: Path, models: Mapping[str, type[ModelConfig]] | None = None) -> Saved:
        """Read a saved folder; ``models`` adds networks from outside the package, by name."""
        opened = open_folder(
            folder,
            "classify",
            says=("classes", "multilabel", "temperature", *_names(Settings)),
            parts=("vocab.txt", PIECES, "baseline.safetensors", "baseline.txt", WIDE, _SEEN),
        )
        kind = _network(opened, {**MODELS, **(models or {})})
        with opened.reading():
            return cls._parts(opened, kind)

    @classmethod
    def _parts(cls, opened: SavedFolder, kind: type[ModelConfig]) -> Saved:
        network = opened.settings("network", kind)
        text = opened.settings("text", TextConfig)
        labels = _labels(opened)
        facts = opened.section("facts")
        wide = opened.settings("wide", WideConfig) if "wide" in opened.about else None
        vocab = _vocab(opened, network, text)
        settings = Settings(
            network=network,
            text=text,
            training=opened.settings("training", TrainingConfig),
            validation=_validation(opened),
            wide=wide,
            seeds=_seeds(opened),
        )
        return cls(
            settings=settings,
            labels=labels,
            label_form=LabelForm.from_facts(facts, labels),
            temperature=opened.number("temperature", least=_COOLEST, most=_HOTTEST),
            vocab=vocab,
            weights=opened.weights(lambda: settings.build(vocab, labels)),
            history=opened.history(),
            facts=facts,
            baseline=TfidfBaseline.load(opened.path, class_count=len(labels)),
            wide=_wide(opened, wide, class_count=len(labels), word_count=len(vocab)),
            seen=_seen(opened),
        )


def _vocab(opened: SavedFolder, network: ModelConfig, text: TextConfig) -> Vocab:
    """The words of a classifier, and where it reads through BERT their pieces."""
    vocab = Vocab.load(opened.part("vocab.txt"), text)
    if not isinstance(network, BertHANConfig) or network.bert_pieces is None:
        return vocab
    pieces = load_pieces(opened.part(PIECES))
    return PiecedVocab(vocab.words[2:], pieces=pieces, cjk=text.cjk)


TRANSLATOR_CARD = Card(
    title="A sequence-to-sequence translator",
    commands=(
        'regard translate FOLDER "..."',
        "regard translate FOLDER new.txt --out translations.txt",
    ),
    python=("from regard import Translator", 'translator = Translator.load("FOLDER")'),
    sections=("network", "units", "training", "forcing", "generation"),
    mind=(
        "The vocabularies of this folder contain words of the texts it was trained on. Share "
        "them as you would share those texts.",
        "The scores above were measured, by greedy writing, on validation data that chose the "
        "best epoch; measure on data that the training never saw with "
        "`regard evaluate FOLDER test.tsv`.",
    ),
)


@dataclass(frozen=True)
class WriterSettings(Generic[W]):
    """What a network that writes was fitted with, whatever has become of the parameters since."""

    network: W
    training: TrainingConfig
    units: UnitsConfig
    forcing: ForcingConfig
    generation: GenerationConfig
    validation: float = 0.1  # share of the training data

    def to_dict(self) -> dict[str, dict[str, Plain]]:
        """Return every part's settings as plain values, by the name of the part."""
        return _by_part(self)

    @classmethod
    def read(cls, opened: SavedFolder, network: type[W]) -> WriterSettings[W]:
        """Read what a folder says."""
        return cls(
            network=opened.settings("network", network),
            training=opened.settings("training", TrainingConfig),
            units=opened.settings("units", UnitsConfig),
            forcing=opened.settings("forcing", ForcingConfig),
            generation=opened.settings("generation", GenerationConfig),
            validation=_validation(opened),
        )


TranslatorSettings = WriterSettings[PairConfig]
CaptionerSettings = WriterSettings[ShowAttendTellConfig]


@dataclass(frozen=True)
class SavedTranslator:
    """Everything that makes a fitted translator again."""

    settings: TranslatorSettings
    source_units: Units
    target_units: Units
    weights: Mapping[str, Tensor]
    history: History | None = None
    facts: Mapping[str, Plain] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the folder in one step; a model that is already there is replaced."""
        parts: dict[str, Callable[[Path], None]] = {
            "source_units.json": partial(save_units, self.source_units),
            "target_units.json": partial(save_units, self.target_units),
        }
        _write(folder, "translate", self, about={}, parts=parts, card=TRANSLATOR_CARD)

    @classmethod
    def read(cls, folder: Path) -> SavedTranslator:
        """Read a saved folder; one that is damaged, or no translator's, is an error."""
        parts = ("source_units.json", "target_units.json")
        opened = open_folder(folder, "translate", says=_names(WriterSettings), parts=parts)
        kind = _network(opened, PAIR_MODELS)
        with opened.reading():
            return cls._parts(opened, kind)

    @classmethod
    def _parts(cls, opened: SavedFolder, kind: type[PairConfig]) -> SavedTranslator:
        settings = TranslatorSettings.read(opened, kind)
        sources = _units(opened, "source_units.json", settings.units)
        targets = _units(opened, "target_units.json", settings.units)
        sizes = {"source_size": len(sources), "target_size": len(targets)}
        return cls(
            settings=settings,
            source_units=sources,
            target_units=targets,
            weights=opened.weights(lambda: settings.network.build(**sizes)),
            history=opened.history(),
            facts=opened.section("facts"),
        )


TUNED_CARD = Card(
    title="A tuned {model}",
    commands=("regard predict FOLDER new.csv --out predictions.csv",),
    python=("from regard.estimators.bert_usages import USAGES", 'USAGES["TASK"].load("FOLDER")'),
    sections=("network", "tuning", "training"),
    mind=(
        "The word pieces of this folder come from the texts that its BERT was taught on.",
        "The scores above were measured on validation data that chose the best epoch; measure "
        "on data that the training never saw with `regard evaluate FOLDER test.csv`.",
    ),
)


@dataclass(frozen=True)
class TunedSettings:
    """What a BERT was tuned with, whatever the parameters of its estimator have become since."""

    network: BertConfig
    tuning: TuningConfig
    training: TrainingConfig
    validation: float = 0.1  # share of the training data

    def to_dict(self) -> dict[str, dict[str, Plain]]:
        """Return every part's settings as plain values, by the name of the part."""
        return _by_part(self)


@dataclass(frozen=True)
class SavedTuned:
    """Everything that makes a tuned BERT again."""

    settings: TunedSettings
    pieces: WordPieces
    labels: LabelIndex  # of texts, or of spans; there may be none
    vocab_size: int  # of the network, which may know more pieces than there are
    weights: Mapping[str, Tensor]
    history: History | None = None
    facts: Mapping[str, Plain] = field(default_factory=dict)

    def write(self, folder: Path, task: str) -> None:
        """Write the folder in one step; a model that is already there is replaced."""
        about = {"classes": list(self.labels.classes), "vocab_size": self.vocab_size}
        card = replace(
            TUNED_CARD, python=tuple(line.replace("TASK", task) for line in TUNED_CARD.python)
        )
        parts = {"vocab.txt": lambda path: self.pieces.save(path.parent)}
        _write(folder, task, self, about=about, parts=parts, card=card)

    @classmethod
    def read(
        cls, folder: Path, task: str, build: Callable[[TunedSettings, int, LabelIndex], nn.Module]
    ) -> SavedTuned:
        """Read a saved folder of a task; ``build`` makes its network, to compare shapes with."""
        says = ("classes", "vocab_size", *_names(TunedSettings))
        parts = ("vocab.txt", "tokenizer_config.json")
        opened = open_folder(folder, task, says=says, parts=parts)
        with opened.reading():
            settings = TunedSettings(
                network=opened.settings("network", BertConfig),
                tuning=opened.settings("tuning", TuningConfig),
                training=opened.settings("training", TrainingConfig),
                validation=_validation(opened),
            )
            pieces = WordPieces.load(opened.part("vocab.txt").parent)
            size = int(opened.number("vocab_size", least=len(pieces), most=1e7))
            labels = _labels(opened, empty=True)
            return cls(
                settings=settings,
                pieces=pieces,
                labels=labels,
                vocab_size=size,
                weights=opened.weights(lambda: build(settings, size, labels)),
                history=opened.history(),
                facts=opened.section("facts"),
            )


CAPTIONER_CARD = Card(
    title="A network that writes about pictures",
    commands=(
        "regard caption FOLDER photo.jpg --out page.html",
        "regard evaluate FOLDER test.parquet --out errors.html",
    ),
    python=("from regard import Captioner", 'captioner = Captioner.load("FOLDER")'),
    sections=("network", "units", "training", "forcing", "generation"),
    mind=(
        "The vocabulary of this folder contains words of the captions it was trained on, and "
        "pages made with it show pictures. Share them as you would share those.",
        "It writes what people wrote about pictures like these, with their habits and mistakes; "
        "do not let it say who somebody is, or what follows from how somebody looks.",
        "The scores above were measured, by greedy writing, on pictures that chose the best "
        "epoch; measure on others with `regard evaluate FOLDER test.parquet`.",
    ),
)
_BACKBONE = "backbone.safetensors"


@dataclass(frozen=True)
class SavedCaptioner:
    """Everything that makes a fitted captioner again."""

    settings: CaptionerSettings
    units: Units
    weights: Mapping[str, Tensor]
    backbone: EfficientNetLite0 | None = None  # the network whose features it starts from
    history: History | None = None
    facts: Mapping[str, Plain] = field(default_factory=dict)

    def write(self, folder: Path) -> None:
        """Write the folder in one step; a model that is already there is replaced."""
        parts: dict[str, Callable[[Path], None]] = {"units.json": partial(save_units, self.units)}
        if self.backbone is not None:
            parts[_BACKBONE] = write_weights(self.backbone.state_dict())
        _write(folder, "caption", self, about={}, parts=parts, card=CAPTIONER_CARD)

    @classmethod
    def read(cls, folder: Path) -> SavedCaptioner:
        """Read a saved folder; one that is damaged, or no captioner's, is an error."""
        parts = ("units.json", _BACKBONE)
        opened = open_folder(folder, "caption", says=_names(WriterSettings), parts=parts)
        _network(opened, {ShowAttendTellConfig.name: ShowAttendTellConfig})
        with opened.reading():
            settings = CaptionerSettings.read(opened, ShowAttendTellConfig)
            network = settings.network
            pieces = _units(opened, "units.json", settings.units)
            backbone = None
            if network.encoder in BACKBONES:
                backbone = load_backbone(network.encoder, opened.part(_BACKBONE))
            return cls(
                settings=settings,
                units=pieces,
                weights=opened.weights(lambda: network.build(target_size=len(pieces))),
                backbone=backbone,
                history=opened.history(),
                facts=opened.section("facts"),
            )


def _names(settings: type[DataclassInstance]) -> tuple[str, ...]:
    return tuple(part.name for part in fields(settings))


def _by_part(
    settings: Settings | WriterSettings[W] | TunedSettings,
) -> dict[str, dict[str, Plain]]:
    """The settings of each part that there is."""
    parts = {part.name: getattr(settings, part.name) for part in fields(settings)}
    plain = ("validation", "seeds")
    return {
        name: to_dict(part)
        for name, part in parts.items()
        if name not in plain and part is not None
    }


def _write(
    folder: Path,
    task: str,
    saved: Saved | SavedTranslator | SavedTuned | SavedCaptioner,
    *,
    about: Mapping[str, object],
    parts: Mapping[str, Callable[[Path], None]],
    card: Card,
) -> None:
    """Write what every kind of estimator keeps, with what this one says of itself and its parts."""
    history = None if saved.history is None else json.loads(saved.history.to_json())
    said = {
        "task": task,
        "model": saved.settings.network.name,
        **about,
        **saved.settings.to_dict(),
        "validation": saved.settings.validation,
        "facts": dict(saved.facts),
        "history": history,
    }
    write_folder(folder, said, {**parts, WEIGHTS: write_weights(saved.weights)}, card)


def _network(opened: SavedFolder, known: Mapping[str, type[N]]) -> type[N]:
    """The settings class of the network that the folder names."""
    name = str(opened.value("model"))
    if name not in known:
        raise ModelError(
            f"{opened.path} holds a network called {name!r}; {suggestion(name, known)}"
        )
    return known[name]


def _wide(
    opened: SavedFolder, config: WideConfig | None, *, class_count: int, word_count: int
) -> SavedWide | None:
    """The n-grams beside the network; none where they were not asked for, or not learnt."""
    if config is None:
        return None
    ngrams = SavedWide.read(
        opened, longest=config.longest, class_count=class_count, word_count=word_count
    )
    if ngrams is None and "ngrams" in opened.section("facts"):
        raise ModelError(f"{opened.path} has no {WIDE}; copy or train it again")
    return ngrams


def _labels(opened: SavedFolder, *, empty: bool = False) -> LabelIndex:
    """The classes of a folder; ``empty`` says that there may be none, and never several a text."""
    classes = opened.value("classes")
    if not isinstance(classes, list) or not (classes or empty):
        raise opened.wrong("classes", "a list of classes")
    for label in classes:
        if isinstance(label, bool) or not isinstance(label, str | int):
            raise opened.wrong("classes", "a list of texts or of whole numbers")
    names = tuple(label for label in classes if isinstance(label, str | int))
    return LabelIndex(names, False if empty else opened.flag("multilabel"))


def _units(opened: SavedFolder, name: str, config: UnitsConfig) -> Units:
    units = load_units(opened.part(name))
    if units.config != config:
        raise ModelError(
            f"{opened.path}/{name} holds pieces made with other settings than config.json says; "
            "copy or train it again"
        )
    return units


def _validation(opened: SavedFolder) -> float:
    # The first folders did not say how much was held out.
    return opened.number("validation", least=0, most=1) if "validation" in opened.about else 0.1


def _seeds(opened: SavedFolder) -> int:
    if "seeds" not in opened.about:
        return 1
    found = opened.number("seeds", least=1, most=MOST_SEEDS)
    if found != int(found):
        raise opened.wrong("seeds", "a whole number")
    return int(found)


def require_seeds(count: int) -> None:
    """Raise ``ConfigError`` unless so many networks may answer together."""
    whole = isinstance(count, Integral) and 1 <= count <= MOST_SEEDS
    require(whole, f"seeds must be from 1 to {MOST_SEEDS}, got {count!r}")


def _seen(opened: SavedFolder) -> NDArray[np.uint64] | None:
    path = opened.path / _SEEN
    if not path.exists():
        return None
    seen = load_arrays(path)["fingerprints"]
    if seen.dtype != np.uint64 or seen.ndim != 1:
        raise ModelError(f"{path} holds no fingerprints of texts; delete it to go without them")
    return seen
