import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from regard.errors import ModelError
from regard.tasks import baselines
from regard.tasks.baselines import BAYES, MAJORITY, TFIDF, TfidfBaseline

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"
TOPICS = ["goal match team score", "court law judge trial", "cell gene protein virus"]


def documents(count=150, topics=3, seed=0):
    draw = np.random.default_rng(seed)
    labels = draw.integers(topics, size=count)
    common = ["the", "a", "of", "and", "to", "in", "is", "it"]
    texts = []
    for label in labels:
        words = [*draw.choice(TOPICS[label].split(), 3), *draw.choice(common, 8)]
        texts.append(" ".join(draw.permutation(words)))
    return texts, labels


@pytest.mark.parametrize("topics", [2, 3])
def test_answers_are_those_of_the_pipeline_it_stands_for(topics):
    texts, labels = documents(topics=topics)
    test_texts, _ = documents(60, topics, seed=1)
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, min_df=2, token_pattern=r"\w+"
    )
    model = LogisticRegression(C=10, max_iter=300).fit(vectorizer.fit_transform(texts), labels)
    expected = model.predict_proba(vectorizer.transform(test_texts))
    found = TfidfBaseline.fit(texts, labels, class_count=topics).predict_proba(test_texts)
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_it_learns_each_label_on_its_own_where_there_are_several():
    first, first_labels = documents(300)
    second, second_labels = documents(300, seed=1)
    texts = [f"{one} {two}" for one, two in zip(first, second, strict=True)]
    labels = np.maximum(np.eye(3)[first_labels], np.eye(3)[second_labels])
    baseline = TfidfBaseline.fit(texts[:200], labels[:200], class_count=3)
    answers = baseline.predict_proba(texts[200:]) > 0.5
    assert (answers == labels[200:]).mean() > 0.95


def test_a_saved_baseline_gives_the_same_numbers(tmp_path):
    texts, labels = documents()
    baseline = TfidfBaseline.fit(texts, labels, class_count=3, max_documents=100)
    baseline.save(tmp_path)
    loaded = TfidfBaseline.load(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "baseline.safetensors",
        "baseline.txt",
    ]
    assert (loaded.trained_on, loaded.drawn_from, loaded.multilabel) == (100, 150, False)
    assert np.array_equal(loaded.predict_proba(texts), baseline.predict_proba(texts))


def test_the_same_data_and_seed_give_the_same_bytes(tmp_path):
    """Issue 18: several names in a header of safetensors come in an order of chance."""
    texts, labels = documents()
    written = set()
    for _ in range(8):
        TfidfBaseline.fit(texts, labels, class_count=3, seed=1, max_documents=100).save(tmp_path)
        written.add((tmp_path / "baseline.safetensors").read_bytes())
    assert len(written) == 1


def classes(count):
    """Two texts of every class, and what they are."""
    draw = np.random.default_rng(0)
    labels = np.tile(np.arange(count), 2)
    common = draw.integers(2000, size=(2 * count, 6))
    texts = [
        " ".join([f"topic{label % 70} field{label // 70}", *(f"w{word}" for word in words)])
        for label, words in zip(labels.tolist(), common, strict=True)
    ]
    return texts, labels


def test_thousands_of_classes_are_learned_in_seconds(tmp_path):
    """Issue 10: regression over 5,000 classes took minutes, or stopped before it began."""
    texts, labels = classes(5000)
    before = time.process_time()
    baseline = TfidfBaseline.fit(texts, labels, class_count=5000)
    found = baseline.predict_proba(texts[:500])
    assert time.process_time() - before < 10
    assert baseline.answers(texts[:1])[0].name == BAYES
    assert (found.argmax(axis=1) == labels[:500]).mean() > 0.9
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-6)
    baseline.save(tmp_path)
    assert TfidfBaseline.load(tmp_path).name == BAYES


def test_hundreds_of_labels_are_learned_in_seconds():
    texts, labels = classes(1200)
    truth = np.zeros((2400, 1200), int)
    truth[np.arange(2400), labels] = 1
    truth[np.arange(2400), labels % 7] = 1
    before = time.process_time()
    baseline = TfidfBaseline.fit(texts, truth, class_count=1200)
    found = baseline.predict_proba(texts[:200])
    assert time.process_time() - before < 10
    assert baseline.name == BAYES and baseline.multilabel
    assert (found.argmax(axis=1)[:, None] == np.stack([labels, labels % 7], 1)[:200]).any(1).all()


def test_naive_bayes_is_that_of_scikit_learn():
    texts, labels = documents()
    vectorizer = TfidfVectorizer(
        ngram_range=(1, 2), sublinear_tf=True, min_df=2, token_pattern=r"\w+"
    )
    model = MultinomialNB(alpha=baselines.SMOOTHING)
    expected = model.fit(vectorizer.fit_transform(texts), labels).predict_proba(
        vectorizer.transform(texts)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baselines, "MAX_REGRESSION", 0)
        found = TfidfBaseline.fit(texts, labels, class_count=3).predict_proba(texts)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_folder_without_a_baseline_gives_none(tmp_path):
    assert TfidfBaseline.load(tmp_path) is None


@pytest.mark.parametrize("name", ["baseline.safetensors", "baseline.txt"])
def test_a_damaged_baseline_is_said_in_one_line(tmp_path, name):
    texts, labels = documents()
    TfidfBaseline.fit(texts, labels, class_count=3).save(tmp_path)
    (tmp_path / name).write_bytes((tmp_path / name).read_bytes()[:20])
    with pytest.raises(ModelError, match=r"cannot be read .* delete") as error:
        TfidfBaseline.load(tmp_path)
    assert "\n" not in str(error.value)


def test_the_draw_of_documents_depends_on_the_seed_alone():
    texts, labels = documents(300)
    first, again, other = (
        TfidfBaseline.fit(texts, labels, class_count=3, seed=seed, max_documents=60)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(first.predict_proba(texts), again.predict_proba(texts))
    assert not np.array_equal(first.predict_proba(texts), other.predict_proba(texts))


def test_the_two_opponents_say_what_they_are():
    texts, labels = documents()
    baseline = TfidfBaseline.fit(texts, labels, class_count=3, max_documents=100)
    learned, constant = baseline.answers(texts[:5])
    assert (learned.name, constant.name) == (TFIDF, MAJORITY)
    assert learned.note == "learned from 100 training documents, drawn from 150"
    # All training labels count for the most frequent class, not only those drawn.
    expected = np.bincount(labels, minlength=3) / 150
    np.testing.assert_allclose(constant.probabilities, [expected] * 5, atol=1e-6)


@pytest.mark.parametrize(
    "texts",
    [["", "", "", ""], ["alpha", "beta", "gamma", "delta"], ["!?", "\ud800", "\x00", "🙂"]],
    ids=["empty", "all different", "no words"],
)
@pytest.mark.parametrize("several", [False, True])
def test_texts_without_repeated_words_leave_the_frequencies(texts, several, tmp_path):
    labels = np.array([0, 0, 0, 1])
    given = np.eye(2)[labels] if several else labels
    baseline = TfidfBaseline.fit(texts, given, class_count=2)
    assert baseline.terms == ()
    assert baseline.predict_proba(["anything", ""]).argmax(axis=1).tolist() == [0, 0]
    baseline.save(tmp_path)
    assert TfidfBaseline.load(tmp_path).terms == ()


def test_labels_that_nearly_every_document_has_alone_are_no_warning_of_scikit_learn():
    """It advises a regression in their place, which nobody here can follow."""
    texts = [f"text of number {number} here" for number in range(20)]
    fitted = TfidfBaseline.fit(texts, np.arange(20), class_count=20)
    assert fitted.predict_proba(texts).shape == (20, 20)


def test_classes_without_documents_are_never_answered():
    texts, labels = documents()
    for given in (labels, np.eye(3)[labels].astype(int)):
        wider = np.pad(given, ((0, 0), (0, 2))) if given.ndim == 2 else given
        found = TfidfBaseline.fit(texts, wider, class_count=5).predict_proba(texts)
        assert found.shape == (150, 5)
        assert (found[:, 3:] < 0.05).all()
    alone = TfidfBaseline.fit(texts, np.zeros(150, int), class_count=2).predict_proba(texts)
    assert (alone.argmax(axis=1) == 0).all()


def test_scripts_without_spaces_are_read_by_the_character():
    texts = ["这家酒店很好", "房间很好很干净", "服务太差了", "太差不会再来"] * 5
    baseline = TfidfBaseline.fit(texts, np.array([1, 1, 0, 0] * 5), class_count=2)
    assert {"好", "很 好", "太 差"} <= set(baseline.terms)
    assert baseline.predict_proba(["早餐很好", "位置太差"]).argmax(axis=1).tolist() == [1, 0]


def test_nothing_to_answer_gives_no_rows():
    texts, labels = documents()
    baseline = TfidfBaseline.fit(texts, labels, class_count=3)
    assert baseline.predict_proba([]).shape == (0, 3)


def test_it_is_a_strong_opponent_on_real_reviews():
    parquet = pytest.importorskip("pyarrow.parquet")
    if not (DATA / "mr" / "train.parquet").exists():
        pytest.skip("the data set mr is not beside this checkout")
    columns = [
        parquet.read_table(DATA / "mr" / f"{part}.parquet", columns=["text", "label"])
        for part in ("train", "test")
    ]
    (texts, labels), (test_texts, test_labels) = (
        (table["text"].to_pylist(), table["label"].to_numpy()) for table in columns
    )
    baseline = TfidfBaseline.fit(texts, labels, class_count=2)
    right = baseline.predict_proba(test_texts).argmax(axis=1) == test_labels
    assert right.mean() > 0.765  # a linear support vector machine reaches 0.775
