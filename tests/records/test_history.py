"""The history of a training: plain data that survives JSON."""

import dataclasses
import json

import pytest

from regard.errors import DataError
from regard.records.history import Epoch, History

FIRST = Epoch(1, train_loss=0.7, learning_rate=1e-3, documents=100, seconds=4.0)
SCORES = {"loss": 0.5, "accuracy": 0.75, "macro_f1": 2 / 3}
SECOND = Epoch(2, 0.1 + 0.2, 1 / 3, 100, 6.0, SCORES)


def test_a_history_survives_json_to_the_last_bit():
    history = History((FIRST, SECOND), best_epoch=2, monitor="accuracy", stopped="patience")
    assert History.from_json(history.to_json()) == history


def test_an_empty_history_survives_json():
    assert History.from_json(History(stopped="interrupted").to_json()).interrupted


def test_json_has_the_fields_by_name():
    written = json.loads(History((FIRST,), best_epoch=1).to_json())
    assert written["epochs"][0]["train_loss"] == 0.7
    assert written["epochs"][0]["validation"] == {}
    assert written["stopped"] == "finished"


def test_what_is_derived_follows_from_the_epochs():
    history = History((FIRST, SECOND), best_epoch=2)
    assert history.best is history.epochs[1]
    assert history.seconds == 10.0
    assert FIRST.documents_per_second == 25.0
    assert dataclasses.replace(FIRST, seconds=0.0).documents_per_second == 0.0
    assert History((FIRST,)).best is None
    assert not history.interrupted


def test_folds_are_scored_by_the_epochs_that_they_kept():
    other = dataclasses.replace(SECOND, validation={**SCORES, "accuracy": 0.25})
    folds = [History((FIRST, SECOND), best_epoch=2), History((FIRST, other, SECOND), best_epoch=2)]
    history = History((FIRST,), best_epoch=1).with_folds(folds)
    assert [fold.best for fold in history.folds] == [SECOND, other]
    assert history.fold_scores == {**SCORES, "accuracy": 0.5}
    assert History.from_json(history.to_json()) == history
    assert History().fold_scores == {}
    assert History().with_folds([History(stopped="interrupted")]).fold_scores == {}


def test_foreign_json_is_refused():
    with pytest.raises(DataError, match="not JSON"):
        History.from_json("{")


def test_what_the_version_before_wrote_is_read():
    """A field for each score, null where there was none."""
    old = {"epoch": 2, "train_loss": 0.3, "learning_rate": 0.1, "documents": 9, "seconds": 1.0}
    scores = {"validation_loss": 0.5, "validation_accuracy": 0.75, "validation_bleu": None}
    history = History.from_json(json.dumps({"epochs": [{**old, **scores}], "best_epoch": 2}))
    assert history.best.validation == {"loss": 0.5, "accuracy": 0.75}
    assert (history.best.validation_loss, history.best.validation_bleu) == (0.5, None)
    assert History.from_json(history.to_json()) == history
