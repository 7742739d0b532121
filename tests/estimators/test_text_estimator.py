"""What scikit-learn asks of an estimator, by scikit-learn's own checks where they can be put."""

import warnings

import numpy as np
import pytest
import sklearn.exceptions
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks, get_tags
from sklearn.utils.validation import check_is_fitted

from regard import (
    ConfigError,
    DataError,
    DocumentClassifier,
    FlatConfig,
    HANConfig,
    NotFittedError,
    TrainingConfig,
)
from support.reviews import reviews, tagged, tiny

TEXTS, LABELS = reviews(40, seed=5)

# Checks that give the estimator no data at all, or none that it must understand.
WITHOUT_DATA = [
    "check_estimator_cloneable",
    "check_estimator_tags_renamed",
    "check_valid_tag_types",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_mixin_order",
    "check_estimators_unfitted",
    "check_get_params_invariance",
    "check_set_params",
]
# Checks that give rows of numbers: here each row becomes a text before our estimator sees it.
WITH_ROWS_AS_TEXTS = [
    "check_estimators_overwrite_params",
    "check_dont_overwrite_parameters",
    "check_estimators_fit_returns_self",
    "check_readonly_memmap_input",
    "check_pipeline_consistency",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_classifiers_classes",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_dict_unchanged",
    "check_fit_idempotent",
    "check_fit_check_is_fitted",
    "check_classifiers_train",
]


class RowClassifier(DocumentClassifier):
    """Reads a row of numbers as a text: a word for each column and rounded value."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array, tags.input_tags.two_d_array = False, True
        tags.no_validation = True  # a text may have any number of words
        return tags

    def fit(self, texts, labels, *, validation=None):
        return super().fit(rows_as_texts(texts), labels, validation=validation)

    def predict_proba(self, texts):
        return super().predict_proba(rows_as_texts(texts))

    def score(self, texts, labels, sample_weight=None):
        return super().score(rows_as_texts(texts), labels, sample_weight)


def rows_as_texts(rows):
    if isinstance(rows, list) and isinstance(rows[0], str):
        return rows  # score has turned them already
    return [
        " ".join(f"c{column}v{round(2 * value)}" for column, value in enumerate(row))
        for row in np.asarray(rows).tolist()
    ]


@pytest.mark.parametrize("name", WITHOUT_DATA)
def test_checks_without_data(name):
    getattr(estimator_checks, name)("DocumentClassifier", tiny())


@pytest.mark.parametrize("name", WITH_ROWS_AS_TEXTS)
def test_checks_with_rows_as_texts(name):
    network = HANConfig(
        embedding_size=8, hidden_size=4, attention_size=4, vector_dropout=0.0, state_dropout=0.0
    )
    training = TrainingConfig(epochs=6, learning_rate=0.05, batch_size=16)
    classifier = RowClassifier(network, training=training, validation=0.0)
    with warnings.catch_warnings():
        # Those about pandas or array libraries that are not here are no news.
        warnings.simplefilter("ignore", sklearn.exceptions.SkipTestWarning)
        getattr(estimator_checks, name)("RowClassifier", classifier)


def test_all_checks_that_scikit_learn_deems_fit_for_texts_pass():
    """It knows by the tags that rows of numbers are not for us, and says so."""
    with pytest.warns(sklearn.exceptions.SkipTestWarning, match="string=True"):
        results = estimator_checks.check_estimator(tiny())
    assert {result["status"] for result in results} <= {"passed"}


def test_the_tags_tell_what_it_is():
    tags = get_tags(DocumentClassifier())
    assert is_classifier(DocumentClassifier())
    assert tags.input_tags.string and not tags.input_tags.two_d_array
    assert tags.target_tags.required


def test_not_fitted_is_scikit_learns_error_and_ours(fitted):
    for kind in (NotFittedError, sklearn.exceptions.NotFittedError, ValueError, AttributeError):
        with pytest.raises(kind):
            DocumentClassifier().predict(["a"])
    with pytest.raises(sklearn.exceptions.NotFittedError):
        check_is_fitted(DocumentClassifier())
    check_is_fitted(fitted)


def test_a_grid_over_nested_settings_finds_the_one_that_learns():
    grid = {"network__hidden_size": [4], "training__learning_rate": [1e-9, 0.05]}
    search = GridSearchCV(tiny(training__epochs=15, wide=None), grid, cv=2).fit(TEXTS, LABELS)
    assert search.best_params_["training__learning_rate"] == 0.05
    assert search.best_estimator_.network.hidden_size == 4
    assert search.score(TEXTS, LABELS) > 0.9
    assert search.predict(TEXTS[:3]).shape == (3,)


def test_several_labels_can_be_cross_validated():
    texts, labels = tagged(40)
    scores = cross_val_score(tiny(), texts, labels, cv=KFold(2))
    assert scores.shape == (2,) and np.isfinite(scores).all()


def test_it_stands_at_the_end_of_a_pipeline():
    shout = FunctionTransformer(lambda texts: [text.upper() for text in texts])
    pipeline = Pipeline([("shout", shout), ("classify", tiny(training__epochs=15))])
    pipeline.set_params(classify__network__hidden_size=4).fit(TEXTS, LABELS)
    assert pipeline.named_steps["classify"].network.hidden_size == 4
    assert pipeline.predict(TEXTS).shape == (40,)
    assert pipeline.predict_proba(TEXTS).shape == (40, 2)
    assert pipeline.score(TEXTS, LABELS) > 0.9
    assert pipeline.classes_.tolist() == ["bad", "good"]


def test_every_setting_is_a_parameter():
    params = DocumentClassifier(HANConfig(hidden_size=7)).get_params()
    assert params["network__hidden_size"] == 7
    assert params["training__epochs"] == TrainingConfig().epochs
    assert params["text__lowercase"] is True
    assert params["validation"] == 0.1
    assert set(DocumentClassifier().get_params(deep=False)) == {
        "network",
        "training",
        "text",
        "wide",
        "validation",
        "seeds",
        "device",
        "progress",
    }


def test_what_was_given_is_stored_untouched():
    network, training = FlatConfig(), TrainingConfig(epochs=3)
    classifier = DocumentClassifier(network, training=training)
    assert classifier.network is network and classifier.training is training


def test_one_setting_changes_without_the_others():
    classifier = DocumentClassifier(HANConfig(cell="lstm"))
    assert classifier.set_params(network__hidden_size=9, training__seed=4) is classifier
    assert classifier.network == HANConfig(cell="lstm", hidden_size=9)
    assert classifier.training.seed == 4


def test_new_settings_come_before_their_fields():
    classifier = DocumentClassifier()
    classifier.set_params(network__hidden_size=9, network=FlatConfig(cell="rnn"))
    assert classifier.network == FlatConfig(cell="rnn", hidden_size=9)


def test_a_clone_is_equal_and_apart():
    classifier = DocumentClassifier(FlatConfig(hidden_size=3), validation=0.3, device="cpu")
    copied = clone(classifier)
    assert copied is not classifier
    assert copied.get_params() == classifier.get_params()
    copied.set_params(network__hidden_size=4)
    assert classifier.network.hidden_size == 3


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"netwrok": 1}, "no parameter 'netwrok'; did you mean 'network'"),
        ({"network__hiden_size": 1}, "HANConfig has no setting 'hiden_size'; did you mean 'hidden"),
        ({"validation__x": 1}, "float has no setting 'x'"),
        ({"network__hidden_size": 0}, "hidden_size must be at least 1, got 0"),
    ],
)
def test_a_wrong_parameter_is_named(params, message):
    with pytest.raises(ConfigError, match=message):
        DocumentClassifier().set_params(**params)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"network": "han"}, r"network must be settings, as HANConfig\(\) makes them; got 'han'"),
        ({"network": HANConfig}, "got <class 'regard.models.han.HANConfig'>"),
        (
            {"training": {"epochs": 3}},
            r"training must be .* TrainingConfig\(\) .* got {'epochs': 3}",
        ),
        ({"text": None}, r"text must be .* TextConfig\(\) makes them; got None"),
        ({"wide": False}, r"wide must be .* WideConfig\(\) makes them, or None; got False"),
        ({"seeds": 1.5}, "seeds must be from 1 to 100, got 1.5"),
        ({"seeds": "2"}, "seeds must be from 1 to 100, got '2'"),
        ({"validation": "0.1"}, "validation must be from 0 to below 1, got '0.1'"),
    ],
)
def test_a_parameter_of_another_kind_is_named(given, message):
    """It was an error about an attribute that no user had written."""
    with pytest.raises(ConfigError, match=message):
        tiny(**given).fit(TEXTS, LABELS)


def test_what_is_held_out_is_a_pair():
    with pytest.raises(ConfigError, match=r"got 0.2; a share is named as DocumentClassifier\(val"):
        tiny().fit(TEXTS, LABELS, validation=0.2)


def test_texts_are_no_documents(fitted):
    with pytest.raises(DataError, match="number 1 of the documents is a str, not a Document"):
        fitted.evaluate(TEXTS)
    with pytest.raises(DataError, match="number 1 of the documents is a tuple"):
        tiny().fit_documents(zip(TEXTS, LABELS, strict=True))
