"""Train, use, judge and explain a classifier of documents, the scikit-learn way."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Self, overload

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from ..config import Plain, require_one_of, to_dict
from ..data.batch import Batch
from ..data.check import estimate_memory
from ..data.corpus.resident import place_on
from ..data.labels import LabelIndex
from ..data.readers import read_strings, read_texts
from ..data.vectors import Coverage, WordVectors, read_vectors
from ..errors import ConfigError, DataError, NotFittedError
from ..explain.fitted import Fitted, Question
from ..explain.methods import DEFAULT_METHOD
from ..look.run import look
from ..models.base import Model, ModelConfig
from ..models.han import HANConfig
from ..models.reader import TextReader
from ..models.wide import Wide, WideConfig, rows_of
from ..nn.dropout import in_evaluation
from ..records.data import DataCheck
from ..records.evaluation import Evaluation
from ..records.explanation import ClassName, Explanation
from ..records.history import History
from ..records.look import Look
from ..records.weights import Span
from ..tasks.baselines import TfidfBaseline, baseline_seconds
from ..tasks.calibration import fit_temperature
from ..tasks.classify import ClassificationLoss
from ..text.document import Document, Label, documents_of
from ..text.tokenize import TextConfig
from ..text.vocab import Vocab
from ..training.batches import Examples, PlannedBatches
from ..training.config import TrainingConfig
from ..training.devices import choose_device, device_of
from ..training.observers import TrainingProgress
from .baseline import BaselineFit
from .default_method import COST, affordable_words, best_method, best_method_held_out, words_to_try
from .evaluation import evaluate
from .fitting import Fit, FitOptions, Holdout, Pace, Reason, begin_fit
from .label_forms import LabelForm
from .marked import reasons_in
from .members import Member, TrainedMembers, train_members
from .own_vectors import learn_own_vectors
from .pretrained import Pretrained, read_pretrained
from .reading import settle_reading
from .saved import Saved, SavedWide, Settings, require_seeds
from .text_estimator import TextEstimator, draw_network
from .trainer import FitData, Run, Watched, classification_loss
from .training_documents import (
    LabelJudge,
    Prepared,
    Weighted,
    checked_weights,
    prepare,
    score_answers,
)
from .wide import HeldOut, learning_places, ngram_facts, ngram_seconds, widen

__all__ = ["DocumentClassifier"]


class DocumentClassifier(ClassifierMixin, TextEstimator):  # type: ignore[misc]
    """Gives each document a label, says how sure it is, and shows which words decided.

    After ``fit``: ``classes_``, ``vocab_``, ``model_``, ``history_`` (epoch by epoch),
    ``temperature_`` (fitted on the validation data, so that probabilities mean what they say).
    Labels may be strings, whole numbers or booleans; for several labels a document, lists of
    strings or a matrix of zeros and ones. With ``seeds`` above one, that many networks are trained,
    each with its own seed. They answer together: their probabilities are averaged.
    """

    baseline_: TfidfBaseline | None
    history_: History | None
    reader_: TextReader
    settings_: Settings
    seen_: NDArray[np.uint64] | None  # fingerprints of the training texts
    vector_coverage_: Coverage | None

    def __init__(
        self,
        network: ModelConfig = HANConfig(),  # noqa: B008  (frozen)
        *,
        training: TrainingConfig = TrainingConfig(),  # noqa: B008
        text: TextConfig = TextConfig(),  # noqa: B008
        wide: WideConfig | None = WideConfig(),  # noqa: B008
        seeds: int = 1,
        validation: float = 0.1,
        device: str = "auto",
        progress: bool = True,
    ) -> None:
        self.network = network
        self.training = training
        self.text = text
        self.wide = wide
        self.seeds = seeds
        self.validation = validation
        self.device = device
        self.progress = progress

    def fit(
        self,
        texts: Iterable[str],
        labels: Iterable[object],
        sample_weight: Iterable[float] | None = None,
        *,
        validation: tuple[Iterable[str], Iterable[object]] | None = None,
        unlabelled: Iterable[str] | None = None,
        reasons: Iterable[Sequence[Span]] | None = None,
    ) -> Self:
        """Train on texts and their labels.

        Labels are strings, whole numbers, booleans, lists of strings, or a matrix of zeros and ones
        with a column for each label; ``predict`` gives back what was given. ``sample_weight`` says
        how much each text counts. ``validation`` holds texts and labels that say when to stop;
        without it a share of the training data is held out, or, of 200 to 2,500 texts, each one
        once, in four folds. ``unlabelled`` holds more texts of the kind, from which the network
        learns beforehand which words are alike. ``reasons`` holds for each text the spans that
        people marked as the reason for its label; a text may have none. They are learnt from as
        well. On a terminal and in a notebook a bar shows how it goes, unless ``progress`` is false.
        """
        form, named = LabelForm.of(labels)
        held_out = None
        if validation is not None:
            self._require_pair(validation, "texts and their labels")
            held_out = form.read_pair(validation)
        documents: Iterable[Document] = read_texts(texts, named)
        marked = list[Reason]()
        if reasons is not None:
            documents = list(documents)
            marked = reasons_in(documents, list(reasons))
        with TrainingProgress(quiet=not self.progress, lines=False) as bar:
            options = FitOptions(
                weights=sample_weight,
                reasons=marked,
                label_form=form,
                observers=(bar,),
                unlabelled=None if unlabelled is None else read_texts(unlabelled),
            )
            return self.fit_documents(documents, held_out, options=options)

    def fit_documents(
        self,
        documents: Iterable[Document],
        validation: Iterable[Document] | None = None,
        *,
        options: FitOptions = FitOptions(),  # noqa: B008
    ) -> Self:
        """Train on a stream of documents, which may be larger than memory.

        Ctrl-C ends what is being done: the training, which keeps its best epoch, or what comes
        after it. Before the first step there is nothing to keep, and KeyboardInterrupt is raised.
        """
        self._require_settings()
        holdout = Holdout(self.validation, self.training.seed)
        require_one_of("monitor", self.training.monitor, LabelJudge.names)
        require_seeds(self.seeds)
        device = choose_device(self.device)
        pretrained = read_pretrained(self.network)
        with begin_fit(options) as fit:
            data = self._prepare(documents, validation, fit, holdout, device, pretrained)
            loss = classification_loss(
                self.settings_.training,
                data.corpus.class_counts(data.training),
                document_count=len(data.training),
                multilabel=data.labels.multilabel,
            )
            trained = self._train(data, loss, fit, device=device, pretrained=pretrained)
            # Of several the first says how it went, unless one was ended by hand.
            histories, held_out = trained.histories, trained.held_out
            history = histories[-1] if histories[-1].interrupted else histories[0]
            self.history_ = history
            self.model_ = trained.model
            self.settings_ = replace(self.settings_, seeds=len(histories))
            if self.wide is not None:
                held_out = self._widen(self.wide, data, held_out, loss, fit.run)
            self.temperature_ = 1.0
            if held_out is not None:
                self.temperature_ = fit_temperature(held_out.logits, held_out.labels)
            self.facts_: Mapping[str, Plain] = {
                **fit.facts(
                    self.model_,
                    history,
                    scores=LabelJudge.names,
                    data=self._data_facts(data, held_out),
                ),
                **self._final_scores(held_out),
                "recipe": options.recipe.name,
                "training_seconds": trained.seconds,
            }
            fit.announce()
            interrupted = history.interrupted or fit.run.interrupts.heeded
            if options.choose_method and not interrupted:
                self._choose_method(data, fit.run)
        return self

    def predict_proba(self, texts: Iterable[str]) -> NDArray[np.float64]:
        """Return the probability of each class of ``classes_``, (texts, classes)."""
        return self.fitted_.likely(texts)

    def stream_proba(self, texts: Iterable[str]) -> Iterator[NDArray[np.float64]]:
        """Yield the probabilities of each text as it is answered, (classes,).

        For streams that are larger than memory, or have no end: about a thousand texts are read
        before the first is answered, and never more are held.
        """
        for likely in self.fitted_.stream(texts):
            yield from likely

    def predict(self, texts: Iterable[str]) -> NDArray[np.generic]:
        """Return the label of each text, in the form in which labels were given to ``fit``.

        For several labels a text that is the tuple of all that hold, or a row of zeros and ones.
        """
        answers = self.labels_from(self.predict_proba(texts))
        return self.label_form_.write(answers)

    def labels_from(self, likely: NDArray[np.float64]) -> NDArray[np.generic]:
        """Return the labels, by name, that these probabilities, (texts, classes), stand for."""
        return self.fitted_.labels_from(likely)

    def score(
        self,
        texts: Iterable[str],
        labels: Iterable[object],
        sample_weight: Iterable[float] | None = None,
    ) -> float:
        """Return the share of texts whose label is right, or all labels where there are several."""
        self._require_fitted()
        documents = list(read_texts(texts, self.label_form_.read(labels)))
        if not documents:
            raise DataError("there are no texts to score")
        weights = None
        if sample_weight is not None:
            weights = checked_weights(sample_weight, len(documents))
        likely = self.predict_proba([document.text for document in documents])
        answers = self.labels_from(likely).tolist()

        def named(label: Label) -> set[str]:
            return set(map(str, self.labels_.named(label)))

        right = [
            document.label is not None and named(document.label) == named(answer)
            for document, answer in zip(documents, answers, strict=True)
        ]
        return float(np.average(right, weights=weights))

    @overload
    def evaluate(self, documents: Iterable[Document], *, title: str = "") -> Evaluation: ...

    @overload
    def evaluate(
        self, documents: Iterable[str], labels: Iterable[object], *, title: str = ""
    ) -> Evaluation: ...

    def evaluate(
        self,
        documents: Iterable[Document] | Iterable[str],
        labels: Iterable[object] | None = None,
        *,
        title: str = "",
    ) -> Evaluation:
        """Score the classifier on what its training never saw: documents, or texts and labels."""
        self._require_fitted()
        if labels is not None:
            documents = read_texts(documents, self.label_form_.read(labels))
        return evaluate(self, documents_of(documents), title=title)

    @overload
    def explain(  # type: ignore[overload-overlap]
        self,
        texts: str,
        *,
        method: str = "default",
        label: ClassName | None = None,
        against: ClassName | None = None,
        receipt: bool = True,
    ) -> Explanation: ...

    @overload
    def explain(
        self,
        texts: Iterable[str],
        *,
        method: str = "default",
        label: ClassName | None = None,
        against: ClassName | None = None,
        receipt: bool = True,
    ) -> list[Explanation]: ...

    def explain(
        self,
        texts: str | Iterable[str],
        *,
        method: str = "default",
        label: ClassName | None = None,
        against: ClassName | None = None,
        receipt: bool = True,
    ) -> Explanation | list[Explanation]:
        """Return what decided: for one text its explanation, for several a list of them.

        ``label`` asks about another label than the answer, ``against`` names the rival of a
        contrast. Each explanation says how faithful it was measured to be; ``receipt=False`` leaves
        that out, which is several times as quick.
        """
        fitted, name = self.fitted_, self.label_form_.name
        question = Question(method, name(label), name(against), receipt)
        if isinstance(texts, str):
            return fitted.explain([texts], question)[0]
        return fitted.explain(texts, question)

    def look(self, documents: Iterable[Document], *, words: Sequence[str] = ()) -> Look:
        """Look through a corpus: words in context, evenness, deciding sentences, doubtful labels.

        ``words`` are those to see in context; without any, those are shown whose weight depends
        most on the answer.
        """
        return look(self, documents_of(documents), words=words)

    def choose_method(self, texts: Iterable[str]) -> Self:
        """Make the method that is most faithful on these texts the one called "default"."""
        chosen = best_method(self.fitted_, list(read_strings(texts)))
        self.facts_ = {**self.facts_, "explain_method": chosen}
        return self

    def fit_baseline(
        self, documents: Iterable[Document], validation: Iterable[Document] = ()
    ) -> Self:
        """Fit TF-IDF with logistic regression on what this was trained on, to be shown beside it.

        ``documents`` and ``validation`` are those given to ``fit_documents``, read again. What was
        held out is left out here too, and says how good the baseline is, which ``facts_`` keeps as
        ``baseline_accuracy``. Where there were folds, a baseline is fitted for each to say that.
        """
        self._require_fitted()
        if not hasattr(self, "training_places_"):
            raise NotFittedError(
                "a loaded classifier does not know which documents it was trained on; call fit"
            )
        fit = BaselineFit(
            labels=self.labels_,
            training=self.training_places_,
            held_out=self.held_out_places_,
            folds=self.folds_,
            fold_count=self.fold_count_,
            seed=self.training.seed,
        )
        self.baseline_, accuracy = fit.fit(itertools.chain(documents, validation))
        if accuracy is not None:
            self.facts_ = {**self.facts_, "baseline_accuracy": accuracy}
        return self

    def save(self, folder: Path | str) -> None:
        """Write config.json, vocab.txt, weights.safetensors and card.md into ``folder``.

        A model that is already there is replaced; anything else there is an error.
        """
        self._require_fitted()
        saved = Saved(
            settings=self.settings_,
            labels=self.labels_,
            temperature=self.temperature_,
            vocab=self.vocab_,
            weights=self.model_.network.state_dict(),
            wide=SavedWide.of(self.model_) if isinstance(self.model_, Wide) else None,
            history=self.history_,
            facts=self.facts_,
            baseline=self.baseline_,
            seen=self.seen_,
        )
        saved.write(Path(folder))

    @classmethod
    def load(
        cls,
        folder: Path | str,
        *,
        device: str = "auto",
        models: Mapping[str, type[ModelConfig]] | None = None,
    ) -> Self:
        """Read a saved folder; ``models`` names networks from outside the package."""
        saved = Saved.read(Path(folder), models)
        self = cls._with(saved.settings, device)
        self._adopt(saved.labels, saved.vocab, saved.label_form, self.text, self.training)
        fitted = saved.fitted(device)
        self.model_, self.reader_ = fitted.model, fitted.reader
        self.temperature_ = saved.temperature
        self.baseline_, self.seen_ = saved.baseline, saved.seen
        self.history_, self.facts_ = saved.history, saved.facts
        return self

    @property
    def fitted_(self) -> Fitted:
        """What was fitted, for those who ask it and need nothing else of an estimator."""
        self._require_fitted()
        facts: Mapping[str, Plain] = getattr(self, "facts_", {})  # none before the end of ``fit``
        return Fitted(
            model=self.model_,
            reader=self.reader_,
            labels=self.labels_,
            temperature=self.temperature_,
            default_method=str(facts.get("explain_method") or DEFAULT_METHOD),
            network=self.settings_.network.name,
        )

    def _adopt(
        self,
        labels: LabelIndex,
        vocab: Vocab,
        form: LabelForm,
        text: TextConfig,
        training: TrainingConfig,
        pretrained: Pretrained | None = None,
    ) -> None:
        """Take over classes, words and settings that suit them; the network for them comes next."""
        self._unfit()
        network = self.network
        if pretrained is not None:
            network, text = pretrained.network, replace(text, lowercase=vocab.lowercase)
        self.settings_ = Settings(network, training, text, self.validation, self.wide, self.seeds)
        self.labels_ = labels
        self.label_form_ = form
        self.classes_ = form.classes(labels)
        self.vocab_ = vocab
        self.baseline_ = self.vector_coverage_ = None

    def _train(
        self,
        data: Prepared,
        loss: ClassificationLoss,
        fit: Fit,
        *,
        device: torch.device,
        pretrained: Pretrained | None,
    ) -> TrainedMembers:
        """Train the networks of the model, all from the same start; Ctrl-C keeps what there is."""
        number = itertools.count()
        start: _Start | None = None
        # Where n-grams learn from reasons, which make more of them, the network does not.
        taught = data.with_reasons if self.wide is None else np.asarray

        def learn(
            training: TrainingConfig, places: NDArray[np.int64], judged: NDArray[np.int64]
        ) -> Member:
            nonlocal start
            network: Model = draw_network(
                lambda: self.settings_.network.build(
                    vocab_size=len(data.vocab), label_count=len(data.labels)
                ),
                training,
                device,
            )
            self.model_ = network  # who watches the training may look at it
            if start is None:
                start = self._find_start(network, data, fit, pretrained)
            start(network)
            history = fit.train(
                network,
                FitData(
                    PlannedBatches[Batch](data.source, training, indices=taught(places)),
                    PlannedBatches[Batch](data.source, training, indices=judged)
                    if len(judged)
                    else None,
                    LabelJudge(loss, len(data.labels)),
                ),
                loss=loss,
                config=training,
                settings={"network": to_dict(self.network), "text": to_dict(data.text)},
                check=lambda pace: self._estimate(network, data, pace, fit.options),
                member=next(number),
            )
            return Member(network, history)

        def answer(network: Model, places: NDArray[np.int64], fold: int) -> HeldOut | None:
            batches = PlannedBatches[Batch](data.source, self.settings_.training, indices=places)
            return _answer_held_out(network, batches, fit.run, fold=fold)

        return train_members(
            data,
            self.settings_.training,
            seeds=self.seeds,
            learn=learn,
            answer=answer,
            begin=fit.run.begin,
        )

    def _prepare(
        self,
        documents: Iterable[Document],
        validation: Iterable[Document] | None,
        fit: Fit,
        holdout: Holdout,
        device: torch.device,
        pretrained: Pretrained | None,
    ) -> Prepared:
        """Read the documents, and settle what follows from them: words, classes and settings."""
        options, heeding = fit.options, fit.run.interrupts.heeding
        text, documents = self._settle_text(heeding(documents_of(documents)), pretrained, options)
        data = prepare(
            documents,
            None if validation is None else heeding(documents_of(validation)),
            folder=fit.folder / _corpus_name(options),
            text=text,
            holdout=holdout,
            options=options,
            build_vocab=Vocab.from_counts if pretrained is None else pretrained.build_vocab,
        )
        training = options.recipe.suit(
            self.training,
            documents=len(data.training),
            words=data.check.tokens,
            many_classes=pretrained is None and len(data.labels) > 2,
        )
        self._adopt(data.labels, data.vocab, options.label_form, data.text, training, pretrained)
        self.reader_ = TextReader(data.vocab, self.settings_.text, device)
        self.training_places_, self.held_out_places_ = data.training, data.held_out_as_read
        self.folds_, self.fold_count_ = data.folds, data.fold_count
        self.seen_ = np.unique(data.corpus.arrays.fingerprints[data.training])
        source: Examples[Batch] = place_on(data.corpus, device)
        if data.weights is not None:
            source = Weighted(source, data.weights)
        return replace(data, source=source)

    def _settle_text(
        self, documents: Iterable[Document], pretrained: Pretrained | None, options: FitOptions
    ) -> tuple[TextConfig, Iterable[Document]]:
        """How the texts are read; vectors that somebody else learnt are of words."""
        if pretrained is not None:
            return _in_pieces(self.text), documents
        if options.vectors is not None:
            return self.text, documents
        return settle_reading(documents, self.text)

    def _find_start(
        self, network: Model, data: Prepared, fit: Fit, pretrained: Pretrained | None
    ) -> _Start:
        """Find what networks such as this one start from: a BERT, word vectors, or their draws."""
        options = fit.options
        if pretrained is not None:
            if options.vectors is not None or options.unlabelled is not None:
                raise ConfigError("bert-han starts from network.folder, not from word vectors")
            return lambda model: pretrained.start(model, data.vocab)
        vectors = self._find_vectors(network.embedding.embedding_dim, data, options, fit.run)
        if vectors is None:
            return lambda model: None
        self.vector_coverage_ = vectors.coverage
        matrix, known = torch.from_numpy(vectors.matrix), torch.from_numpy(vectors.known)
        return lambda model: model.set_vectors(matrix, known)

    def _find_vectors(
        self, size: int, data: Prepared, options: FitOptions, run: Run
    ) -> WordVectors | None:
        if options.vectors is not None:
            if options.unlabelled is not None:
                raise ConfigError(
                    "word vectors are read from a file or learnt from unlabelled texts; give one"
                )
            return read_vectors(options.vectors, data.vocab, size=size, counts=data.counts)
        if options.unlabelled is not None or options.recipe.learns_vectors:
            return learn_own_vectors(
                data,
                options.unlabelled,
                text=data.text,
                size=size,
                seed=self.training.seed,
                report=partial(run.reach, "learning word vectors"),
            )
        return None

    def _estimate(
        self, network: Model, data: Prepared, pace: Pace, options: FitOptions
    ) -> DataCheck:
        """Add to the findings how long all that is to come takes at most, and how much memory."""
        training = self.settings_.training
        tokens, epochs = data.check.tokens, training.epochs
        # Each validates once an epoch, and all of them once more, to calibrate. All folds together
        # train on every document once less than there are folds.
        trainings = self.seeds + max(data.fold_count - 1, 0)
        seconds = trainings * (pace.seconds(tokens, epochs) + pace.judge_seconds)
        if options.choose_method:
            words = words_to_try(data, training.seed, affordable_words(tokens * epochs))
            seconds += COST * words * pace.token_seconds
        if self.wide is not None:
            fits = 1 + max(data.fold_count, 1)
            seconds += ngram_seconds(words=tokens, class_count=len(data.labels), fits=fits)
        if options.baseline:
            seconds += baseline_seconds(
                documents=len(data.training), words=tokens, class_count=len(data.labels)
            )
        return data.check.with_estimates(
            seconds=seconds,
            memory_bytes=estimate_memory(
                parameter_count=sum(weight.numel() for weight in network.parameters()),
                batch_tokens=min(tokens, training.batch_tokens),
                token_size=10 * network.embedding.embedding_dim,
            ),
        )

    def _widen(
        self,
        config: WideConfig,
        data: Prepared,
        held_out: HeldOut | None,
        loss: ClassificationLoss,
        run: Run,
    ) -> HeldOut | None:
        """Put n-grams beside the network, unless that is ended by hand; say how both answer."""
        weights = loss.class_weights
        try:
            widened = widen(
                self.model_,
                data,
                held_out,
                config,
                class_weights=None if weights is None else weights.cpu().numpy(),
                seed=self.training.seed,
                report=partial(run.reach, "weighing n-grams"),
            )
        except KeyboardInterrupt:
            return held_out
        if widened is None:
            return held_out
        self.model_, held_out = widened
        places = learning_places(data, self.training.seed)
        learnt_from = np.union1d(places, data.training)
        self.seen_ = np.unique(data.corpus.arrays.fingerprints[learnt_from])
        return held_out

    def _final_scores(self, held_out: HeldOut | None) -> dict[str, Plain]:
        """How good the model is on what was held out, where it is more than one trained network.

        The n-grams that answer there had not seen these documents, nor had the networks of folds.
        """
        if self.settings_.seeds == 1 and not isinstance(self.model_, Wide) and self.folds_ is None:
            return {}
        names = [f"validation_{name}" for name in LabelJudge.names]
        if held_out is None:
            return dict.fromkeys(names)
        scores = score_answers(held_out.logits, held_out.labels, temperature=self.temperature_)
        return {f"validation_{name}": score for name, score in scores.items()}

    def _choose_method(self, data: Prepared, run: Run) -> None:
        """Measure which explanations suit the model best, unless that is ended by hand."""
        assert self.history_ is not None  # it was just fitted
        words = affordable_words(data.check.tokens * len(self.history_.epochs))
        report = partial(run.reach, "choosing how to explain")
        with suppress(KeyboardInterrupt):
            method = best_method_held_out(
                self.fitted_,
                data,
                seed=self.training.seed,
                most_words=words,
                report=report,
            )
            self.facts_ = {**self.facts_, "explain_method": method}

    def _data_facts(self, data: Prepared, held_out: HeldOut | None) -> dict[str, Plain]:
        skipped = {"rows_skipped": data.check.skipped_rows} if data.check.readings else {}
        folds = () if self.history_ is None else self.history_.folds
        # Ended in a fold, the model is the network of the first one.
        training = data.sides(0)[0] if data.fold_count and not folds else data.training
        return {
            **skipped,
            "training_documents": len(training),
            "validation_documents": len(data.validation if held_out is None else held_out.labels),
            **({"folds": len(folds)} if folds else {}),
            "words_in_vocabulary": len(data.vocab),
            **({"seeds": self.settings_.seeds} if self.settings_.seeds > 1 else {}),
            **(ngram_facts(self.model_) if isinstance(self.model_, Wide) else {}),
            **self.label_form_.facts(),
        }


_Start = Callable[[Model], None]
"""Gives a fresh network what it starts from."""


def _in_pieces(text: TextConfig) -> TextConfig:
    """Settings for a network that knows words out of the vocabulary by their pieces."""
    return replace(text, unknown="one") if text.unknown == "auto" else text


def _answer_held_out(
    network: Model, batches: PlannedBatches[Batch], run: Run, *, fold: int
) -> HeldOut | None:
    """Answer what was held out, to make probabilities mean what they say by it.

    Nothing where there is nothing, or where that is ended by hand.
    """
    if not batches.count(0):
        return None
    logits, labels, rows = [], [], []
    device = device_of(network)
    try:
        with in_evaluation(network), torch.inference_mode():
            for batch in Watched(batches, "calibrating", run).read(0):
                logits.append(network(batch.to(device)).logits.double().cpu().numpy())
                labels.append(batch.labels.long().cpu().numpy())  # type: ignore[union-attr]
                rows.append((fold, rows_of(batch)))
    except KeyboardInterrupt:
        return None
    return HeldOut(np.concatenate(logits), np.concatenate(labels), tuple(rows))


def _corpus_name(options: FitOptions) -> str:
    """Each of several processes reads and writes a corpus of its own."""
    return f"corpus-{options.team.rank}" if options.team.rank else "corpus"
