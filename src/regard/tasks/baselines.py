"""Plain methods to be measured against: the most frequent class, and TF-IDF with a linear model."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelError
from ..records.evaluation import MAJORITY
from .predictions import BaselineAnswers, Floats, Integers, soften

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

__all__ = [
    "BASELINE_FILES",
    "BAYES",
    "MAJORITY",
    "MAX_DOCUMENTS",
    "TFIDF",
    "TfidfBaseline",
    "baseline_seconds",
]

TFIDF = "TF-IDF + logistic regression"
BAYES = "TF-IDF + naive Bayes"

MAX_DOCUMENTS = 50_000
MAX_TERMS = 100_000
MIN_TERMS = 10_000
MAX_COEFFICIENTS = 1_000_000  # terms x classes: with many classes fewer terms score no worse
MAX_STORED = 20_000_000  # terms x classes, whatever the classes: 80 MB on disk
INVERSE_PENALTY = 10.0

# Classes x documents, and classes x terms. Above, regression takes minutes and gigabytes, and
# with thousands of classes its gradient lies below scikit-learn's tolerance from the beginning.
MAX_REGRESSION = 10_000_000
MAX_REGRESSIONS = 2_000_000  # the same for labels, each of which is learned on its own
SMOOTHING = 0.03  # what naive Bayes adds to the weight of every term in every class

# Scripts without spaces, and Korean: single characters, so that pairs of them are the bigrams.
_SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD = rf"[{_SINGLE}]|[^\W{_SINGLE}]+"
_WEIGHTS_FILE, _TERMS_FILE = BASELINE_FILES = "baseline.safetensors", "baseline.txt"


def baseline_seconds(*, documents: int, words: int, class_count: int) -> float:
    """Estimate how long ``TfidfBaseline.fit`` takes on one core, from a few runs of it."""
    drawn = words * min(1.0, MAX_DOCUMENTS / max(documents, 1))
    naive = class_count * min(documents, MAX_DOCUMENTS) > MAX_REGRESSION
    return 1.0 + 2.5e-6 * drawn * (1 if naive else 1 + class_count / 50)


@dataclass(frozen=True, slots=True, eq=False)
class TfidfBaseline:
    """A linear model over TF-IDF of words and word pairs, with the class frequencies.

    It learns from the raw texts and shares nothing with our models but the data: by logistic
    regression, or by naive Bayes where there are too many classes for that.
    """

    terms: tuple[str, ...]
    idf: NDArray[np.float32]  # (terms,)
    coefficients: NDArray[np.float32]  # (classes, terms)
    intercepts: NDArray[np.float32]  # (classes,)
    frequencies: NDArray[np.float32]  # (classes,), share of the training documents
    multilabel: bool
    trained_on: int  # documents
    drawn_from: int  # documents
    name: str = TFIDF  # or BAYES

    @classmethod
    def fit(
        cls,
        texts: Sequence[str],
        labels: Integers,
        *,
        class_count: int,
        seed: int = 0,
        max_documents: int = MAX_DOCUMENTS,
    ) -> TfidfBaseline:
        """Learn from training texts, or from ``max_documents`` drawn from them.

        ``labels`` are class numbers, or for multi-label data zeros and ones (texts, classes).
        """
        labels = np.asarray(labels).astype(np.int64)
        counts = labels.sum(0) if labels.ndim == 2 else np.bincount(labels, minlength=class_count)
        chosen = np.arange(len(texts))
        if len(texts) > max_documents:
            drawn = np.random.default_rng(seed).choice(len(texts), max_documents, replace=False)
            chosen = np.sort(drawn)
        vectorizer, vectors = _vectorize([texts[index] for index in chosen.tolist()], class_count)
        naive = _too_many(class_count, vectors.shape, several=labels.ndim == 2)
        learn = _learn_labels if labels.ndim == 2 else _learn_classes
        coefficients, intercepts = (_count_terms if naive else learn)(
            vectors, labels[chosen], class_count
        )
        return cls(
            terms=tuple(vectorizer.get_feature_names_out()) if vectorizer else (),
            idf=np.asarray(vectorizer.idf_ if vectorizer else [], np.float32),
            coefficients=coefficients.astype(np.float32),
            intercepts=intercepts.astype(np.float32),
            frequencies=(counts / max(len(texts), 1)).astype(np.float32),
            multilabel=labels.ndim == 2,
            trained_on=len(chosen),
            drawn_from=len(texts),
            name=BAYES if naive else TFIDF,
        )

    def predict_proba(self, texts: Sequence[str]) -> Floats:
        """Return the probability of each class, (texts, classes)."""
        logits = np.tile(self.intercepts.astype(np.float64), (len(texts), 1))
        if self.terms and len(texts):
            vectorizer = _vectorizer(vocabulary=self.terms)
            vectorizer.idf_ = self.idf
            logits += vectorizer.transform(texts) @ self.coefficients.T
        return soften(logits, multilabel=self.multilabel)

    def word_weights(self, words: Sequence[str], number: int) -> Floats:
        """What each word of a text, and the pairs it stands in, add to one class, (words,).

        Half of a pair belongs to either word.
        """
        known = {term: place for place, term in enumerate(self.terms)}
        row = self.coefficients[number].astype(np.float64)
        lower, found = [word.lower() for word in words], np.zeros(len(words))
        for place, word in enumerate(lower):
            if (term := known.get(word)) is not None:
                found[place] += row[term] * self.idf[term]
            pair = known.get(f"{word} {lower[place + 1]}") if place + 1 < len(lower) else None
            if pair is not None:
                found[place : place + 2] += row[pair] * self.idf[pair] / 2
        return found

    def answers(self, texts: Sequence[str]) -> tuple[BaselineAnswers, BaselineAnswers]:
        """Return what to put beside a model: these answers, and always the most frequent class."""
        constant = np.tile(self.frequencies.astype(np.float64), (len(texts), 1))
        note = f"learned from {self.trained_on:,} training documents"
        if self.trained_on < self.drawn_from:
            note += f", drawn from {self.drawn_from:,}"
        return BaselineAnswers(self.name, self.predict_proba(texts), note), BaselineAnswers(
            MAJORITY, constant
        )

    def save(self, folder: Path) -> None:
        """Write the two files of the baseline into a model's folder."""
        from safetensors.numpy import save_file

        arrays = {
            "idf": self.idf,
            "coefficients": self.coefficients,
            "intercepts": self.intercepts,
            "frequencies": self.frequencies,
        }
        facts = {
            "multilabel": self.multilabel,
            "trained_on": self.trained_on,
            "drawn_from": self.drawn_from,
            "name": self.name,
        }
        (folder / _TERMS_FILE).write_bytes("\n".join(self.terms).encode())
        # Under one name, because safetensors writes several in an order that is never the same.
        save_file(arrays, folder / _WEIGHTS_FILE, metadata={"facts": json.dumps(facts)})

    @classmethod
    def load(cls, folder: Path, *, class_count: int | None = None) -> TfidfBaseline | None:
        """Read what ``save`` wrote; None where the folder holds no baseline."""
        from safetensors import SafetensorError, safe_open

        if not (folder / _WEIGHTS_FILE).exists():
            return None
        try:
            with safe_open(folder / _WEIGHTS_FILE, "numpy") as file:
                facts = file.metadata()
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            facts = json.loads(facts["facts"]) if "facts" in facts else facts
            text = (folder / _TERMS_FILE).read_bytes().decode()
            terms = tuple(text.split("\n")) if text else ()
            found = cls(
                terms=terms,
                idf=arrays["idf"],
                coefficients=arrays["coefficients"],
                intercepts=arrays["intercepts"],
                frequencies=arrays["frequencies"],
                multilabel=bool(int(facts["multilabel"])),
                trained_on=int(facts["trained_on"]),
                drawn_from=int(facts["drawn_from"]),
                name=str(facts.get("name", TFIDF)),
            )
            found._require_shapes(len(found.intercepts) if class_count is None else class_count)
            return found
        except (
            *(SafetensorError, OSError, ValueError, KeyError, TypeError, AttributeError),
        ) as problem:
            raise ModelError(
                f"the TF-IDF baseline in {folder} cannot be read ({problem}); "
                f"delete {_WEIGHTS_FILE} to go without it, or train again"
            ) from problem

    def _require_shapes(self, class_count: int) -> None:
        """Raise ``ValueError`` unless there is a finite number for each term and class."""
        shapes = {
            "idf": (len(self.terms),),
            "coefficients": (class_count, len(self.terms)),
            "intercepts": (class_count,),
            "frequencies": (class_count,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float32 or not np.isfinite(array).all():
                raise ValueError(f"{name} should be {shape} numbers, and is {array.shape}")
        if len(set(self.terms)) < len(self.terms):
            raise ValueError("a term stands there twice")


def _vectorizer(
    *, vocabulary: Sequence[str] | None = None, max_terms: int | None = None
) -> TfidfVectorizer:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(
        ngram_range=(1, 2),
        sublinear_tf=True,
        min_df=2 if vocabulary is None else 1,
        max_features=max_terms,
        token_pattern=_WORD,
        vocabulary=vocabulary,
        dtype=np.float32,
    )


def _vectorize(texts: Sequence[str], class_count: int) -> tuple[TfidfVectorizer | None, csr_matrix]:
    """Fit the TF-IDF; without words that occur twice there is none, and the vectors are empty."""
    from scipy.sparse import csr_matrix

    most = min(MAX_TERMS, max(1, MAX_STORED // class_count))
    max_terms = min(most, max(MIN_TERMS, MAX_COEFFICIENTS // class_count))
    vectorizer = _vectorizer(max_terms=max_terms)
    try:
        return vectorizer, vectorizer.fit_transform(texts)
    except ValueError:  # scikit-learn's word for a vocabulary that came out empty
        return None, csr_matrix((len(texts), 0), dtype=np.float32)


def _too_many(class_count: int, shape: tuple[int, int], *, several: bool) -> bool:
    """Say whether regression over vectors of this shape would take too long."""
    return class_count * max(shape) > (MAX_REGRESSIONS if several else MAX_REGRESSION)


def _learn_classes(
    vectors: csr_matrix, labels: Integers, class_count: int
) -> tuple[Floats, Floats]:
    """Learn one class of several; coefficients (classes, terms) and intercepts (classes,)."""
    counts = np.bincount(labels, minlength=class_count)
    present = np.flatnonzero(counts)
    coefficients = np.zeros((class_count, vectors.shape[1]))
    intercepts = np.log(np.maximum(counts, 1e-6))
    if len(present) > 1 and vectors.shape[1]:
        model = _regression(vectors, labels)
        weights, biases = model.coef_, model.intercept_
        if len(present) == 2:  # one row decides between two; the softmax of halves is its sigmoid
            weights, biases = (
                np.vstack([-weights, weights]) / 2,
                np.append(-biases, biases) / 2,
            )
        coefficients[present], intercepts[present] = weights, biases
        intercepts[counts == 0] = biases.min() - 20  # never seen, so never answered
    return coefficients, intercepts


def _learn_labels(vectors: csr_matrix, truth: Integers, class_count: int) -> tuple[Floats, Floats]:
    """Learn each label on its own; coefficients (classes, terms) and intercepts (classes,)."""
    counts = truth.sum(axis=0)
    coefficients = np.zeros((class_count, vectors.shape[1]))
    intercepts = _log_odds(counts, len(truth))
    for label in np.flatnonzero((counts > 0) & (counts < len(truth))):
        if vectors.shape[1]:
            model = _regression(vectors, truth[:, label])
            coefficients[label], intercepts[label] = model.coef_[0], model.intercept_[0]
    return coefficients, intercepts


def _count_terms(vectors: csr_matrix, labels: Integers, class_count: int) -> tuple[Floats, Floats]:
    """Do as the two above by naive Bayes: how much of each term is in the texts of a class."""
    from scipy.sparse import csr_matrix

    if labels.ndim == 2:
        truth = csr_matrix(labels, dtype=np.float32)
    else:
        places = (np.arange(len(labels)), labels)
        truth = csr_matrix((np.ones(len(labels), np.float32), places), (len(labels), class_count))
    counts = np.asarray(truth.sum(axis=0)).ravel()
    inside = (truth.T @ vectors).toarray()
    coefficients = _log_shares(inside)
    if labels.ndim == 2:
        coefficients -= _log_shares(np.asarray(vectors.sum(axis=0)) - inside)
        return coefficients, _log_odds(counts, len(labels))
    return coefficients, np.log(np.maximum(counts, 1e-6))


def _log_shares(weights: Floats) -> Floats:
    """The logarithm of each term's share of a class, none of them nothing."""
    smoothed = np.maximum(weights, 0) + SMOOTHING
    return np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))


def _log_odds(counts: Integers | Floats, total: int) -> Floats:
    return np.log(counts + 0.5) - np.log(total - counts + 0.5)


def _regression(vectors: csr_matrix, labels: Integers) -> LogisticRegression:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    with warnings.catch_warnings():
        # Stopped a little early it is still a fair opponent, and not the user's concern.
        warnings.simplefilter("ignore", ConvergenceWarning)
        # Labels that most documents have alone are told of when the data are checked.
        warnings.filterwarnings("ignore", "The number of unique classes", UserWarning)
        model = LogisticRegression(C=INVERSE_PENALTY, max_iter=300)
        return model.fit(vectors, labels)
