"""Train, use, judge and explain a translator, or any writer about texts, the scikit-learn way."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self, overload

import numpy as np
import torch

from ..audit.tally import audit_alignments
from ..config import Plain, require_one_of
from ..data.columns import Columns
from ..data.pairs import EncodedPairs, Pair, PairBatch, pair_texts, read_pairs, store_pairs
from ..data.readers import read_documents, read_strings
from ..errors import ConfigError, ModelError
from ..explain.alignment_receipts import with_alignment_receipts
from ..models.base import PairConfig, PairModel
from ..models.reader import chunks
from ..models.seq2seq import Seq2SeqConfig
from ..records.alignment import Alignment
from ..records.audit import Audit, MethodAudit
from ..records.data import PairCheck
from ..records.history import History
from ..records.translation import Candidate, TranslationScores
from ..tasks.generate import ForcingConfig, GenerationConfig, generate
from ..tasks.translations import (
    character_error_rate,
    doubt_translations,
    mean_effective_count,
    rank_pairs,
    require_sacrebleu,
    score_translations,
)
from ..text.units import Units, UnitsConfig
from ..training.batches import PlannedBatches
from ..training.config import TrainingConfig
from ..training.devices import choose_device
from ..training.observers import TrainingProgress
from .fitting import FitOptions, Holdout, Pace, begin_fit
from .saved import SavedTranslator, TranslatorSettings
from .text_estimator import draw_network
from .trainer import FitData, Run
from .training_pairs import Fixed, PairJudge, PreparedPairs, prepare_pairs, suit_pairs
from .writer import TextWriter, Wrote, align_pairs, of_chunk
from .writing_estimator import WritingEstimator, train_writer

__all__ = ["TRANSLATION_TRAINING", "Translator"]

TRANSLATION_TRAINING = TrainingConfig(
    epochs=30,
    batch_tokens=8192,  # the scores of every word of the vocabulary, for each target token
    learning_rate=1e-3,
    schedule="linear",
    warmup=0.05,
    patience=10,  # BLEU stays at nothing for a while before it rises
    cooling=False,
    monitor="bleu",
    label_smoothing=0.1,
)
"""How a translator is trained unless told otherwise."""
DOUBTED_PAIRS = 100
"""How many pairs held out are written about after a training, to see whether it can translate."""


class Translator(WritingEstimator[PairConfig]):
    """Writes about texts, such as their translations, and shows where it looked for each piece.

    Settings of training and units that are left as they are by default are chosen by the number of
    pairs, and so is a network of which nothing was changed; ``fixed`` names those that are not,
    such as ``("training.epochs",)``, or "all". After ``fit``: ``settings_`` (what was used),
    ``model_``, ``source_units_`` and ``target_units_`` (the pieces that texts are read and written
    in), ``history_`` (epoch by epoch) and ``facts_``.
    """

    history_: History | None

    def __init__(
        self,
        network: PairConfig = Seq2SeqConfig(dropout=0.3),  # noqa: B008  (frozen)
        *,
        training: TrainingConfig = TRANSLATION_TRAINING,
        units: UnitsConfig = UnitsConfig(),  # noqa: B008
        forcing: ForcingConfig = ForcingConfig(),  # noqa: B008
        generation: GenerationConfig = GenerationConfig(),  # noqa: B008
        validation: float = 0.1,
        fixed: Fixed = (),
        device: str = "auto",
        progress: bool = True,
    ) -> None:
        self.network = network
        self.training = training
        self.units = units
        self.forcing = forcing
        self.generation = generation
        self.validation = validation
        self.fixed = fixed
        self.device = device
        self.progress = progress

    def fit(
        self,
        sources: Iterable[str],
        targets: Iterable[str],
        *,
        validation: tuple[Iterable[str], Iterable[str]] | None = None,
    ) -> Self:
        """Train on texts and what is to be written about each.

        ``validation`` gives sources and targets to stop early by; without them a share of the
        training pairs is held out. On a terminal and in a notebook a bar shows how it goes,
        unless ``progress`` is false.
        """
        held_out = None
        if validation is not None:
            self._require_pair(validation, "sources and targets")
            held_out = pair_texts(*validation)
        with TrainingProgress(quiet=not self.progress, lines=False) as bar:
            options = FitOptions(observers=(bar,))
            return self.fit_pairs(pair_texts(sources, targets), held_out, options=options)

    def fit_file(
        self, path: Path | str, *, source: str, target: str, validation: Path | str | None = None
    ) -> Self:
        """Train on two columns of a file: CSV, TSV, JSON lines or Parquet."""
        columns = Columns(text=source, label=None, target=target, carry=False)
        reader = read_documents(path, columns)
        judged = None if validation is None else read_documents(validation, columns)
        readers = (reader,) if judged is None else (reader, judged)
        return self.fit_pairs(
            read_pairs(reader),
            None if judged is None else read_pairs(judged),
            options=FitOptions(columns=columns, readers=readers),
        )

    def fit_pairs(
        self,
        pairs: Iterable[Pair],
        validation: Iterable[Pair] | None = None,
        *,
        options: FitOptions = FitOptions(),  # noqa: B008
    ) -> Self:
        """Train on pairs, which are written to files first: they need not fit into memory."""
        self._require_settings()
        require_one_of("monitor", self.training.monitor, PairJudge.names)
        self._require_vocabularies()
        holdout = Holdout(self.validation, self.training.seed)
        device = choose_device(self.device)
        with begin_fit(options) as fit:
            heeding = fit.run.interrupts.heeding
            # Each of several processes reads and writes pairs of its own.
            folder = fit.folder / f"pairs-{options.team.rank}"
            given = store_pairs(heeding(pairs), folder / "training-texts")
            judged = None
            if validation is not None:
                judged = store_pairs(heeding(validation), folder / "validation-texts")
            settings, chosen = suit_pairs(
                self._asked(), Translator()._asked(), pairs=len(given), fixed=self.fixed
            )
            data = prepare_pairs(
                given, judged, units=settings.units, holdout=holdout, folder=folder
            )
            self._adopt(data.source_units, data.target_units, device, settings)
            held_out = None if data.validation is None else self._batches(data.validation)
            judge = PairJudge(
                data.target_units,
                replace(settings.generation, method="greedy"),
                bleu=settings.training.monitor == "bleu",
            )
            self.history_ = train_writer(
                fit,
                self.model_,
                FitData(self._batches(data.training), held_out, judge),
                settings,
                check=lambda pace: self._estimate(data, pace, chosen),
            )
            self.facts_: Mapping[str, Plain] = fit.facts(
                self.model_, self.history_, scores=PairJudge.names, data=_data_facts(data)
            )
            fit.announce()
            if data.validation is not None and options.team.rank == 0:
                self._doubt(data.validation, fit.run)
        return self

    def predict(
        self, sources: Iterable[str], *, generation: GenerationConfig | None = None
    ) -> list[str]:
        """Write about each source, on its own, as ``generation`` says; the translator's, if none.

        All that write take a ``generation``: many may ask one translator, each in its own way.
        """
        return [found[0].text for found in self.candidates(sources, generation=generation)]

    def candidates(
        self,
        sources: Iterable[str],
        count: int = 1,
        *,
        generation: GenerationConfig | None = None,
    ) -> list[list[Candidate]]:
        """Return the best things to write about each source, best first, ``count`` at most."""
        self._require_fitted()
        return [
            [self.writer_.candidate(wrote, rank) for rank in range(min(count, len(wrote.found)))]
            for wrote in self._written(sources, (generation or self.generation).giving(count))
        ]

    @overload
    def explain(  # type: ignore[overload-overlap]
        self, sources: str, *, receipt: bool = True, generation: GenerationConfig | None = None
    ) -> Alignment: ...

    @overload
    def explain(
        self,
        sources: Iterable[str],
        *,
        receipt: bool = True,
        generation: GenerationConfig | None = None,
    ) -> list[Alignment]: ...

    def explain(
        self,
        sources: str | Iterable[str],
        *,
        receipt: bool = True,
        generation: GenerationConfig | None = None,
    ) -> Alignment | list[Alignment]:
        """Return what is written, and where each piece looked: one for a text, or a list.

        Each says whether what was looked at matters; ``receipt=False`` leaves that out.
        """
        self._require_fitted()
        self._require_attention()
        if isinstance(sources, str):
            return self.explain([sources], receipt=receipt, generation=generation)[0]
        wrote = self._written(sources, generation or self.generation)
        found = [self.writer_.alignment(one) for one in wrote]
        return self.with_receipts(found) if receipt else found

    def explain_candidates(
        self,
        sources: Iterable[str],
        count: int,
        *,
        generation: GenerationConfig | None = None,
    ) -> list[list[Alignment]]:
        """Return the best things to write about each source, and where each piece of them looked.

        Best first, ``count`` at most, as ``candidates`` gives them.
        """
        self._require_fitted()
        self._require_attention()
        return [
            [self.writer_.alignment(wrote, rank) for rank in range(min(count, len(wrote.found)))]
            for wrote in self._written(sources, (generation or self.generation).giving(count))
        ]

    def align(
        self, sources: Iterable[str], targets: Iterable[str], *, receipt: bool = True
    ) -> list[Alignment]:
        """Return where each piece of given targets looks, the network told all before it.

        Each says whether what was looked at matters; ``receipt=False`` leaves that out.
        """
        self._require_fitted()
        self._require_attention()
        found = align_pairs(self.model_, self.writer_, pair_texts(sources, targets))
        return self.with_receipts(found) if receipt else found

    def with_receipts(self, alignments: Sequence[Alignment]) -> list[Alignment]:
        """Return alignments with a receipt each: does a written piece need what it looked at?

        Pieces or whole words, as the alignments have them; asked of the network without them.
        """
        self._require_fitted()
        units = (self.source_units_, self.target_units_)
        return with_alignment_receipts(self.model_, units, alignments, seed=self.training.seed)

    def audit(self, sources: Iterable[str], *, seed: int = 0) -> Audit:
        """Measure over many texts whether what was written rests on what was looked at."""
        found = self.explain(sources)
        ranking = MethodAudit("attention", audit_alignments(found, seed))
        name = self.settings_.network.name
        return Audit(len(found), ranking.method, (ranking,), model=name, seed=seed)

    def score(self, sources: Iterable[str], targets: Iterable[str]) -> float:
        """Return BLEU, 0 to 100, of what is written freely, against one reference each."""
        return self.evaluate(pair_texts(sources, targets)).bleu

    def evaluate(self, pairs: Iterable[Pair], *, title: str = "") -> TranslationScores:
        """Score on pairs that the training never saw: BLEU, chrF, and how it looked.

        Where single letters are written the character error rate is given too.
        """
        self._require_fitted()
        require_sacrebleu()
        given = list(pairs)
        wrote = self._written([pair.source for pair in given], self.generation)
        texts = [self.writer_.candidate(one).text for one in wrote]
        references = [pair.target for pair in given]
        scores = score_translations(texts, references, title=title)
        by_letters = self.settings_.units.kind == "characters"
        worst, best = rank_pairs([pair.source for pair in given], texts, references)
        return replace(
            scores,
            worst=worst,
            best=best,
            character_error_rate=character_error_rate(texts, references) if by_letters else None,
            unended=sum(not one.found[0].ended for one in wrote),
            effective_count=self._effective_count(wrote),
        )

    def save(self, folder: Path | str) -> None:
        """Write config.json, both vocabularies, weights.safetensors and card.md.

        A model that is already there is replaced; anything else there is an error.
        """
        self._require_fitted()
        saved = SavedTranslator(
            settings=self.settings_,
            source_units=self.source_units_,
            target_units=self.target_units_,
            weights=self.model_.state_dict(),
            history=self.history_,
            facts=self.facts_,
        )
        saved.write(Path(folder))

    @classmethod
    def load(cls, folder: Path | str, *, device: str = "auto") -> Self:
        """Read a saved folder."""
        saved = SavedTranslator.read(Path(folder))
        self = cls._with(saved.settings, device)
        units = (saved.source_units, saved.target_units)
        self._adopt(*units, choose_device(device), saved.settings)
        return self._take_over(saved)

    def _require_vocabularies(self) -> None:
        """Raise ``ConfigError`` where one table is to read and write what has two vocabularies."""
        if self.network.tied == "all" and not self.units.shared:
            raise ConfigError("network.tied='all' needs one vocabulary; set units.shared=true")

    def _require_attention(self) -> None:
        network = self.settings_.network
        if isinstance(network, Seq2SeqConfig) and not network.attends:
            raise ModelError(
                f"the decoder {network.decoder!r} has no attention, so it cannot say where it "
                "looked; train with network.decoder luong or bahdanau"
            )

    def _adopt(
        self, sources: Units, targets: Units, device: torch.device, settings: TranslatorSettings
    ) -> None:
        """Take over both vocabularies, and build a fresh network for them."""
        self._unfit()
        self.settings_ = settings
        self.source_units_, self.target_units_ = sources, targets
        sizes = {"source_size": len(sources), "target_size": len(targets)}
        self.model_: PairModel = draw_network(
            lambda: settings.network.build(**sizes), settings.training, device
        )
        self.writer_ = TextWriter(sources, targets, device)

    def _batches(self, pairs: EncodedPairs) -> PlannedBatches[PairBatch]:
        return PlannedBatches(pairs, self.settings_.training)

    def _estimate(self, data: PreparedPairs, pace: Pace, chosen: Mapping[str, Plain]) -> PairCheck:
        """Say what was found in the pairs, and how long all that is to come takes at most."""
        training = self.settings_.training
        return PairCheck(
            pairs=len(data.training),
            validation_pairs=0 if data.validation is None else len(data.validation),
            left_out=data.left_out,
            source_pieces=len(data.source_units),
            target_pieces=len(data.target_units),
            chosen=tuple(f"{name} {value}" for name, value in chosen.items()),
            seconds=pace.seconds(int(data.training.lengths.sum()), training.epochs),
        )

    def _doubt(self, held_out: EncodedPairs, run: Run) -> None:
        """Look at what is written about some pairs held out, and warn where it is no translation.

        Ctrl-C ends it.
        """
        pairs = held_out.batch(np.arange(min(DOUBTED_PAIRS, len(held_out))))
        sources = pairs.to(self.writer_.device).source
        try:
            run.reach("looking at what it writes")
            found = generate(self.model_, sources, replace(self.generation, method="greedy"))
            run.interrupts.heed()
        except KeyboardInterrupt:
            return
        decode = self.target_units_.decode
        written = [decode(candidates[0].ids.tolist()) for candidates in found]
        doubt = doubt_translations(written, [decode(row.tolist()) for row in pairs.target.rows()])
        if doubt is not None:
            self.facts_ = {**self.facts_, "doubt": doubt}
            warnings.warn(
                f"what it writes about pairs held out is no translation yet: {doubt}; train for "
                "more epochs, with a smaller training.batch_size, or on more pairs",
                stacklevel=3,
            )

    def _written(self, sources: Iterable[str], config: GenerationConfig) -> list[Wrote]:
        wrote: list[Wrote] = []
        for number, chunk in enumerate(chunks(read_strings(sources))):
            wrote += self.writer_.write(self.model_, chunk, of_chunk(config, number))
        return wrote

    def _effective_count(self, wrote: Sequence[Wrote]) -> float | None:
        """How many pieces of the source a written piece looked at, on average."""
        if not self.settings_.network.attends:
            return None
        return mean_effective_count(map(self.writer_.alignment, wrote))


def _data_facts(data: PreparedPairs) -> dict[str, Plain]:
    return {
        "training_pairs": len(data.training),
        "validation_pairs": 0 if data.validation is None else len(data.validation),
        "pairs_left_out": data.left_out,
        "source_pieces": len(data.source_units),
        "target_pieces": len(data.target_units),
    }
