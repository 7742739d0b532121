"""Texts and labels as numpy, pandas and scikit-learn hand them over, and labels given back."""

import numpy as np
import pyarrow
import pytest
import torch
from scipy.sparse import csr_matrix
from sklearn.base import is_classifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import KFold, cross_val_predict, cross_val_score

from regard import DataError, Document, DocumentClassifier, Translator
from regard.data.readers import one_column
from support.reviews import reviews, tagged, tiny

TEXTS, LABELS = reviews(40, seed=5)
TAGGED, TAGS = tagged(60)
MATRIX = np.array([["art" in tags, "music" in tags] for tags in TAGS], dtype=int)


class Frame:
    """A frame as pandas has it: iterated, it gives its column names."""

    def __init__(self, **columns):
        self._columns = columns
        self.columns = list(columns)
        self.shape = (len(next(iter(columns.values()))), len(columns))

    def __iter__(self):
        return iter(self.columns)

    def __len__(self):
        return self.shape[0]

    def __array__(self, dtype=None, copy=None):
        return np.array([list(column) for column in self._columns.values()], dtype=dtype).T


def test_a_frame_of_one_column_is_its_texts(fitted):
    """Issue 10.3: the column names were labelled."""
    expected = fitted.predict_proba(TEXTS)
    assert np.array_equal(fitted.predict_proba(Frame(review=TEXTS)), expected)
    assert np.array_equal(fitted.predict_proba(np.array(TEXTS).reshape(-1, 1)), expected)
    assert len(fitted.explain(Frame(review=TEXTS[:2]))) == 2
    assert fitted.score(Frame(review=TEXTS), Frame(stars=LABELS)) == fitted.score(TEXTS, LABELS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Frame(id=["1"], review=["a"]), r"shape \(1, 2\) with the columns id, review; give one"),
        (np.array([["a", "b"]]), r"shape \(1, 2\); give one column"),
        (np.array("a"), r"shape \(\)"),
        ({"review": ["a"]}, "mapping of review"),
        ("a", "put it in a list"),
        ({"a", "b"}, "a set, whose order is another in every run"),
    ],
)
def test_what_is_no_column_is_refused(fitted, given, message):
    for ask in (fitted.predict, lambda texts: tiny().fit(texts, ["a"])):
        with pytest.raises(DataError, match=message):
            ask(given)
    with pytest.raises(DataError, match=message):
        Translator().fit(given, ["a"])


def test_pandas_itself():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"review": TEXTS, "stars": LABELS}, index=range(5, 45))
    classifier = tiny(training__epochs=2).fit(frame["review"], frame["stars"])
    assert np.array_equal(classifier.predict(frame[["review"]]), classifier.predict(TEXTS))
    with pytest.raises(DataError, match="review, stars"):
        classifier.predict(frame)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "labels must be a list of labels, got None"),
        ("good", "put it in a list"),
        (dict.fromkeys(TEXTS, "good"), "a mapping of "),
        ({"good", "bad"}, "a set, whose order"),
    ],
)
def test_what_is_no_list_of_labels_is_refused(fitted, given, message):
    for ask in (fitted.score, tiny().fit):
        with pytest.raises(DataError, match=message):
            ask(TEXTS, given)


@pytest.mark.parametrize("wrap", [pyarrow.array, lambda given: pyarrow.chunked_array([given])])
def test_columns_of_arrow_are_texts_and_labels(fitted, wrap):
    assert np.array_equal(fitted.predict_proba(wrap(TEXTS)), fitted.predict_proba(TEXTS))
    assert fitted.score(wrap(TEXTS), wrap(LABELS)) == fitted.score(TEXTS, LABELS)
    classifier = tiny(training__epochs=1).fit(wrap(TEXTS), wrap(LABELS))
    assert classifier.classes_.tolist() == ["bad", "good"]


def test_a_boolean_label_can_be_explained():
    """What predict gives was no label that explain knew."""
    classifier = tiny(training__epochs=2).fit(TEXTS, [label == "good" for label in LABELS])
    for label in (True, np.False_):
        explanation = classifier.explain(TEXTS[0], label=label, receipt=False)
        assert explanation.decisions[0].label == str(bool(label)).lower()
    contrast = classifier.explain(TEXTS[0], method="contrast", label=True, against=False)
    assert contrast.decisions[0].label == "true"


def test_booleans_are_not_validated_by_names():
    """They became four classes, of which three were called False."""
    truths = [label == "good" for label in LABELS]
    with pytest.raises(DataError, match="are booleans, and among those to validate on is 'bad'"):
        tiny().fit(TEXTS, truths, validation=(TEXTS, LABELS))
    written = [str(truth).lower() for truth in truths]
    judged = tiny(training__epochs=1).fit(TEXTS, truths, validation=(TEXTS, written))
    assert judged.classes_.tolist() == [False, True]


def test_tables_of_arrow_are_read_as_other_frames_are(fitted):
    alone = pyarrow.table({"text": TEXTS})
    assert np.array_equal(fitted.predict_proba(alone), fitted.predict_proba(TEXTS))
    assert fitted.score(TEXTS, pyarrow.table({"label": LABELS})) == fitted.score(TEXTS, LABELS)
    with pytest.raises(DataError, match=r"shape \(40, 2\) with the columns text, title; give one"):
        fitted.predict(pyarrow.table({"text": TEXTS, "title": TEXTS}))


def test_one_column_leaves_what_is_one():
    stream = iter(["a", "b"])
    assert one_column(stream, "texts") is stream


@pytest.mark.parametrize("wrap", [list, np.array, lambda given: np.array(given, dtype=object)])
def test_booleans_come_back_as_booleans(tmp_path, wrap):
    """Issue 10.3."""
    truths = wrap([label == "good" for label in LABELS])
    classifier = tiny().fit(TEXTS, truths)
    answers = classifier.predict(TEXTS)
    assert answers.dtype == bool and classifier.classes_.tolist() == [False, True]
    assert classifier.score(TEXTS, truths) == np.mean(answers == np.array(truths, bool)) > 0.9
    classifier.save(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model")
    assert again.classes_.dtype == bool and np.array_equal(again.predict(TEXTS), answers)
    assert classifier.evaluate(TEXTS, truths).accuracy == classifier.score(TEXTS, truths)


@pytest.mark.parametrize(
    "wrap", [np.array, csr_matrix, lambda m: Frame(art=m[:, 0], music=m[:, 1])]
)
def test_a_matrix_of_zeros_and_ones_comes_back_as_one(tmp_path, wrap):
    """Issue 10.3: as scikit-learn gives several labels a text."""
    classifier = tiny(training__epochs=20).fit(TAGGED, wrap(MATRIX))
    answers = classifier.predict(TAGGED)
    assert answers.shape == MATRIX.shape and answers.dtype.kind == "i"
    assert classifier.score(TAGGED, wrap(MATRIX)) == np.mean((answers == MATRIX).all(1)) > 0.9
    classifier.save(tmp_path / "model")
    again = DocumentClassifier.load(tmp_path / "model")
    assert np.array_equal(again.predict(TAGGED), answers)
    assert again.evaluate(TAGGED, wrap(MATRIX)).document_count == 60


def test_columns_that_never_hold_and_more_than_ten_stay_in_their_places():
    wide = np.zeros((60, 12), dtype=int)
    wide[:, 2], wide[:, 11] = MATRIX.T
    classifier = tiny(training__epochs=20).fit(TAGGED, wide)
    assert classifier.classes_.tolist() == [2, 11]
    assert classifier.predict(TAGGED).shape == (60, 12)
    assert classifier.score(TAGGED, wide) > 0.9
    with pytest.raises(DataError, match="2 columns; the classifier was fitted on one of 12"):
        classifier.score(TAGGED, MATRIX)


def test_a_matrix_of_other_numbers_is_refused():
    with pytest.raises(DataError, match="must be zeros and ones"):
        tiny().fit(TAGGED, 2 * MATRIX)


def test_several_labels_are_cross_validated_as_a_matrix():
    classifier = tiny(training__epochs=8)
    assert is_classifier(classifier)
    scores = cross_val_score(classifier, TAGGED, MATRIX, cv=KFold(2))
    assert scores.shape == (2,) and np.isfinite(scores).all()
    micro = make_scorer(f1_score, average="micro")
    assert np.isfinite(cross_val_score(classifier, TAGGED, MATRIX, cv=2, scoring=micro)).all()
    assert cross_val_predict(classifier, TAGGED, MATRIX, cv=2).shape == MATRIX.shape


def test_texts_and_labels_are_evaluated_as_documents_are(fitted):
    """Issue 10.3."""
    documents = [Document(*both) for both in zip(TEXTS, LABELS, strict=True)]
    assert fitted.evaluate(TEXTS, LABELS).macro_f1 == fitted.evaluate(documents).macro_f1


def weights_of(classifier):
    return torch.cat([part.flatten() for part in classifier.model_.state_dict().values()])


def test_a_text_of_no_weight_teaches_nothing():
    """Issue 10.3: as if it were not there; the order of the others is the seed's."""
    draw = np.random.default_rng(0)
    wrong = np.array(LABELS)
    noise = draw.choice(40, 20, replace=False)
    wrong[noise] = np.where(wrong[noise] == "good", "bad", "good")
    heeded = np.ones(40)
    heeded[noise] = 0
    usual = tiny(validation=0.0, training__epochs=12)
    assert usual.fit(TEXTS, wrong, sample_weight=heeded).score(TEXTS, LABELS) > 0.7
    assert usual.score(TEXTS, wrong, sample_weight=heeded) == 1.0
    assert usual.score(TEXTS, wrong, sample_weight=1 - heeded) < 0.5
    assert usual.facts_["training_documents"] == 20


@pytest.mark.parametrize(("texts", "labels"), [(TEXTS, LABELS), (TAGGED, TAGS)])
def test_weights_that_are_all_alike_change_nothing_and_others_do(texts, labels):
    fits = [
        weights_of(tiny(training__epochs=2).fit(texts, labels, sample_weight=weights))
        for weights in (None, np.full(len(texts), 2.0), np.linspace(0.1, 3, len(texts)))
    ]
    torch.testing.assert_close(fits[0], fits[1], rtol=1e-3, atol=1e-4)
    assert not torch.allclose(fits[0], fits[2], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"40 documents, but weights of shape \(1,\)"),
        ([-1.0] * 40, "at least 0"),
        ([float("nan")] * 40, "at least 0"),
        ([0.0] * 40, "the weights of all documents are zero"),
        # In single precision their sums are no numbers, and no learning rate helps.
        ([1e-45] * 40, "weights must be 0 or from 1e-30 to 1e.30, got 1e-45"),
        ([1.0] * 39 + [1e300], "got 1e.300; multiply all by one number"),
        ("balanced", "weights must be numbers, one for each document, got 'balanced'"),
        (2.0, "one for each document, got 2.0"),
    ],
)
def test_bad_weights_are_refused(weights, message):
    with pytest.raises(DataError, match=message):
        tiny().fit(TEXTS, LABELS, sample_weight=weights)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], r"40 documents, but weights of shape \(1,\)"),
        ([-1.0] * 40, "at least 0"),
        ([float("nan")] * 40, "at least 0"),
        ([0.0] * 40, "the weights of all documents are zero"),
    ],
)
def test_bad_weights_of_a_score_are_refused(fitted, weights, message):
    """They gave a score of nan, or an error of numpy."""
    with pytest.raises(DataError, match=message):
        fitted.score(TEXTS, LABELS, sample_weight=weights)
    stream = (float(number < 10) for number in range(40))
    right = fitted.score(TEXTS[:10], LABELS[:10])
    assert fitted.score(TEXTS, LABELS, sample_weight=stream) == right


def test_weights_are_split_as_scikit_learn_splits():
    classifier = tiny(training__epochs=2)
    given = {"sample_weight": np.linspace(0.5, 1, 40)}
    assert len(cross_val_score(classifier, TEXTS, LABELS, cv=2, params=given)) == 2
