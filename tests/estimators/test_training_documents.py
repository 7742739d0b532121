"""Documents to a corpus, its two sides, a vocabulary and classes."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from sklearn.metrics import accuracy_score, f1_score

from regard import DataError, Document, TextConfig
from regard.data.columns import Columns
from regard.data.readers import read_rows
from regard.estimators.fitting import FEWEST_TO_SPLIT, FitOptions, Holdout, Reason
from regard.estimators.recipes import FEWEST_TO_FOLD
from regard.estimators.training_documents import TEMPERATURES, LabelJudge, prepare
from regard.tasks.classify import ClassificationLoss
from regard.training.batches import PlannedBatches
from regard.training.teams import Alone
from support.reviews import reviews
from support.toys import ToySource, plain_config, toy_model


def documents(count, seed=0, **fields):
    texts, labels = reviews(count, seed=seed)
    return [
        Document(text, label, {name: make(place) for name, make in fields.items()})
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def prepared(tmp_path, given, validation=None, *, fraction=0.1, **options):
    return prepare(
        given,
        validation,
        folder=tmp_path,
        text=TextConfig(min_count=1),
        holdout=Holdout(fraction, 0),
        options=FitOptions(**options),
    )


def test_words_that_only_held_out_texts_have_are_unknown(tmp_path):
    """001-17: the vocabulary comes from the training side alone."""
    given = documents(30)
    data = prepared(tmp_path, given, [Document("zebra crossing", "bad")])
    assert "zebra" not in data.vocab and "film" in data.vocab
    split = prepared(tmp_path / "b", [Document(f"word{n}", n % 2) for n in range(40)])
    known = {f"word{n}" in split.vocab for n in split.validation.tolist()}
    assert known == {False}
    assert all(f"word{n}" in split.vocab for n in split.training.tolist())


def test_a_share_is_held_out_by_the_seed(tmp_path):
    data = prepared(tmp_path, documents(50), fraction=0.2)
    assert (len(data.training), len(data.validation)) == (40, 10)
    assert sorted([*data.training, *data.validation]) == list(range(50))
    again = prepared(tmp_path / "b", documents(50), fraction=0.2)
    assert np.array_equal(again.validation, data.validation)


def marked(given):
    """A reason in every document, and one in none of them."""
    reasons = [Reason(Document("zebra", one.label), place) for place, one in enumerate(given)]
    return [Reason(Document("zebra crossing", "bad")), *reasons]


def test_reasons_are_learnt_from_where_their_documents_are_and_never_held_out(tmp_path):
    given = documents(50)
    plain = prepared(tmp_path / "a", given, fraction=0.2)
    data = prepared(tmp_path / "b", given, fraction=0.2, reasons=marked(given))
    assert data.reasons.tolist() == list(range(50, 101))
    for name in ("training", "validation"):
        assert np.array_equal(getattr(data, name), getattr(plain, name))
    learnt = data.with_reasons(data.training)
    assert np.array_equal(learnt, [*data.training, 50, *(51 + data.training)])
    assert data.with_reasons(data.validation[:1]).tolist() == [
        data.validation[0],
        50,
        51 + data.validation[0],
    ]
    assert data.counts == plain.counts and "zebra" not in data.vocab
    assert data.check.documents == 40 and data.check.tokens == plain.check.tokens
    assert np.array_equal(plain.with_reasons(plain.training), plain.training)


def test_reasons_are_in_the_folds_of_their_documents(tmp_path):
    given = documents(FEWEST_TO_FOLD)
    count = len(given)
    data = prepared(tmp_path, given, reasons=marked(given))
    assert data.fold_count > 1 and len(data.training) == count
    for fold in range(data.fold_count):
        training, held_out = data.sides(fold)
        assert sorted([*training, *held_out]) == list(range(count))
        learnt = set(data.with_reasons(training).tolist())
        assert learnt == {*training.tolist(), count, *(count + 1 + training).tolist()}


def test_reasons_go_by_the_group_the_time_and_the_weight_of_their_documents(tmp_path):
    given = documents(60, author=lambda place: f"{place // 6}", day=lambda place: place)
    reasons = marked(given)
    for by, column in (("group", "author"), ("time", "day")):
        options = {"split": by, "columns": Columns(**{by: column}), "reasons": reasons}
        data = prepared(tmp_path / by, given, **options)
        assert data.validation.max() < 60 and data.training.max() < 60
    weights = np.arange(60) % 3
    data = prepared(tmp_path, given, weights=weights, reasons=reasons)
    assert data.weights[60] == 1 and np.array_equal(data.weights[61:], weights)
    learnt = data.with_reasons(data.training)
    assert not set(61 + np.flatnonzero(weights == 0)) & set(learnt)


def test_documents_held_out_by_another_file_stand_where_they_were_read(tmp_path):
    given = documents(30)
    data = prepared(tmp_path, given, documents(7, seed=1), reasons=marked(given))
    assert data.validation.tolist() == list(range(61, 68))
    assert data.held_out_as_read.tolist() == list(range(30, 37))


def test_with_very_few_documents_all_are_trained_on(tmp_path):
    data = prepared(tmp_path, documents(FEWEST_TO_SPLIT - 1))
    assert len(data.validation) == 0 and len(data.training) == FEWEST_TO_SPLIT - 1


def test_whole_groups_are_held_out(tmp_path):
    given = documents(60, author=lambda place: f"author {place // 6}")
    data = prepared(tmp_path, given, split="group", columns=Columns(group="author"))
    held_out = {place // 6 for place in data.validation.tolist()}
    assert held_out and not held_out & {place // 6 for place in data.training.tolist()}
    assert data.groups is not None  # for whoever leaves out some of the others
    assert [len(set(data.groups[place : place + 6])) for place in range(0, 60, 6)] == [1] * 10
    assert len(set(data.groups)) == 10


def test_the_latest_are_held_out(tmp_path):
    given = documents(30, day=lambda place: f"2024-01-{30 - place:02}")
    data = prepared(tmp_path, given, split="time", columns=Columns(time="day"))
    assert data.validation.tolist() == [0, 1, 2]


def test_given_validation_documents_are_the_other_side(tmp_path):
    data = prepared(tmp_path, documents(30), documents(7, seed=1), fraction=0.5)
    assert data.training.tolist() == list(range(30))
    assert data.validation.tolist() == list(range(30, 37))
    assert (data.check.documents, data.check.validation_documents) == (30, 7)


def test_rows_that_were_not_read_are_in_the_check(tmp_path):
    rows = [{"text": "a b", "label": "x"}, {"text": "c", "label": "y"}, {"text": 3, "label": "x"}]
    reader = read_rows(rows, name="rows", on_bad_row="skip")
    data = prepared(tmp_path, reader, readers=(reader,))
    assert data.check.skipped_rows == 1
    assert "  1 skipped: 1 wrong type" in data.check.describe()


@pytest.mark.parametrize(
    ("given", "validation", "message"),
    [
        ([], None, "no documents to train on"),
        ([], [Document("a", "x"), Document("b", "y")], "no documents to train on"),
        ([Document("a", "x"), Document("b", "y")], [], "no documents to validate on"),
        ([Document("a"), Document("b")], None, "have no labels"),
        ([Document("a", "x")] * 3, None, "all 3 documents have the label 'x'"),
        ([Document("a", "x")], None, "the only document has the label 'x'"),
        ([Document("a", ())] * 3, None, "none of the 3 documents has a label"),
    ],
)
def test_what_cannot_be_learned_from_is_named(tmp_path, given, validation, message):
    with pytest.raises(DataError, match=message):
        prepared(tmp_path, given, validation)


def scored(source, model, *, batch_size, loss=None, labels=3):
    batches = PlannedBatches(source, plain_config(batch_size=batch_size))
    loss = loss or ClassificationLoss()
    return LabelJudge(loss, labels)(model, batches, Alone())


@pytest.mark.parametrize("batch_size", [1, 7, 100])
@pytest.mark.parametrize("several", [False, True])
def test_scores_are_those_of_scikit_learn_at_any_batch_size(batch_size, several):
    """D5, 000-06: a smaller last batch counts by its documents; batch size changes nothing."""
    source, model = ToySource(40, several=several), toy_model(dropout=0.9)
    logits = model.eval()(source.batch(np.arange(40))).logits.detach()
    scores = scored(source, model, batch_size=batch_size)
    guess = (logits > 0).numpy() if several else logits.argmax(1).numpy()
    loss = F.binary_cross_entropy_with_logits if several else F.cross_entropy
    truth = torch.from_numpy(source.labels)
    expected = min(loss(logits / temperature, truth) for temperature in TEMPERATURES)
    assert scores["accuracy"] == pytest.approx(accuracy_score(source.labels, guess))
    f1 = f1_score(source.labels, guess, average="macro", zero_division=0)
    assert scores["macro_f1"] == pytest.approx(f1)
    assert scores["loss"] == pytest.approx(expected.item(), rel=1e-5)


def test_class_weights_and_penalty_are_part_of_the_loss():
    source, model = ToySource(40), toy_model(penalty=0.5)
    weights = torch.tensor([1.0, 2.0, 0.5])
    output = model.eval()(source.batch(np.arange(40)))
    truth = torch.from_numpy(source.labels)
    expected = min(F.cross_entropy(output.logits / one, truth, weights) for one in TEMPERATURES)
    scores = scored(source, model, batch_size=7, loss=ClassificationLoss(weights))
    assert scores["loss"] == pytest.approx((expected + output.penalty).item(), rel=1e-5)


@pytest.mark.parametrize("several", [False, True])
def test_being_too_sure_costs_nothing(several):
    """A temperature is fitted after the training, so an epoch is not judged without one."""
    source, model = ToySource(40, several=several), toy_model()
    usual = scored(source, model, batch_size=7)
    with torch.no_grad():
        model.classify.weight *= 2
        model.classify.bias *= 2
    surer = scored(source, model, batch_size=7)
    assert surer["accuracy"] == usual["accuracy"]
    assert surer["loss"] == pytest.approx(usual["loss"], rel=0.01)


def test_no_label_at_all_scores_nothing_and_breaks_nothing():
    source, model = ToySource(5, several=True), toy_model()
    source.labels[:] = 0
    with torch.no_grad():
        model.classify.bias.fill_(-100)
    scores = scored(source, model, batch_size=2)
    assert (scores["accuracy"], scores["macro_f1"]) == (1.0, 0.0)
