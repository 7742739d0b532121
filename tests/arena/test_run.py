"""The arena: everyone learns from the same documents, and what is done is done once."""

import json

import pytest

from regard.arena.contenders import CONTENDERS, Contender, Lesson
from regard.arena.run import Arena, sides
from regard.data.readers import read_texts
from regard.errors import ConfigError, DataError
from regard.models.wide import Wide
from regard.records.comparison import ALIKE, WORSE, Comparison
from support.reviews import reviews, tagged

PLAIN = ["majority", "tfidf", "ngrams"]


@pytest.fixture(scope="module")
def both():
    return sides(read_texts(*reviews(120)), None, seed=0)


@pytest.fixture(scope="module")
def kept(both, tmp_path_factory):
    folder = tmp_path_factory.mktemp("arena")
    return folder, Arena(both, PLAIN, [0, 1], folder=folder).run()


def test_all_are_asked_about_the_same_documents(both, kept):
    _, found = kept
    assert (found.training_documents, found.test_documents) == (96, 24)
    assert {one.name: one.accuracy for one in found.standings} == {
        "tfidf": 1.0,
        "ngrams": 1.0,
        "majority": 0.5,
    }
    assert not {one.text for one in both.training} & {one.text for one in both.test}


def test_what_draws_nothing_is_trained_once(kept):
    _, found = kept
    assert {one.name: one.seeds for one in found.standings} == {
        "majority": 1,
        "tfidf": 1,
        "ngrams": 2,
    }


def test_a_worse_model_is_told_apart_and_a_like_one_is_not(both, tmp_path):
    found = Arena(both, PLAIN, [0], folder=tmp_path, against="tfidf").run()
    assert {one.name: one.verdict for one in found.pairs} == {"majority": WORSE, "ngrams": ALIKE}
    assert all(one.corrected >= one.p_value for one in found.pairs)


def test_words_that_decide_are_found_and_nobody_else_is_asked(kept):
    _, found = kept
    leads = {one.name: one.faithfulness and one.faithfulness.lead for one in found.standings}
    assert leads["majority"] is None
    assert leads["tfidf"] > 0.2 and leads["ngrams"] > 0.3
    assert found.standing("tfidf").faithfulness.flips > 0.7


def test_time_and_memory_are_measured(kept):
    _, found = kept
    for one in found.standings:
        assert one.documents_per_second > 0 and one.milliseconds > 0 and one.disk_bytes > 0
        assert one.peak_bytes is None or one.peak_bytes >= 0


def test_answers_are_timed_where_they_will_be_given(both, tmp_path, monkeypatch):
    own, asked = CONTENDERS["tfidf"], []

    def load(folder, device):
        asked.append(device)
        return own.load(folder, "cpu")

    elsewhere = Contender("tfidf", own.title, own.train, load, draws=False)
    monkeypatch.setitem(CONTENDERS, "tfidf", elsewhere)
    arena = Arena(
        both, ["majority", "tfidf"], [0], folder=tmp_path, device="cpu", timed_on="cuda:1"
    )
    found = arena.run()
    assert asked == ["cuda:1"]
    kept = json.loads((tmp_path / "tfidf.json").read_text())
    assert kept["footprint"]["device"] == "cuda" and found.standing("tfidf").accuracy > 0.5


def test_a_comparison_survives_json(kept):
    _, found = kept
    assert Comparison.from_json(found.to_json()) == found


def test_what_is_done_is_not_done_again(both, kept, monkeypatch):
    folder, found = kept
    never = Contender("tfidf", "never", lambda lesson: 1 / 0, lambda folder, device: 1 / 0)
    for name in PLAIN:
        own = CONTENDERS[name]
        spoilt = Contender(name, own.title, never.train, never.load, draws=own.draws)
        monkeypatch.setitem(CONTENDERS, name, spoilt)
    told = []
    again = Arena(both, PLAIN, [0, 1], folder=folder, tell=told.append).run()
    assert again.standings == found.standings and again.pairs == found.pairs
    assert told == [f"4 of 4 trainings are kept in {folder}"]


def test_a_kill_loses_the_training_at_hand_alone(both, tmp_path, monkeypatch):
    own = CONTENDERS["tfidf"]

    def killed(lesson):
        raise SystemExit  # as good as a kill: nothing after it runs

    monkeypatch.setitem(CONTENDERS, "tfidf", Contender("tfidf", "", killed, own.load, draws=False))
    with pytest.raises(SystemExit):
        Arena(both, PLAIN, [0], folder=tmp_path).run()
    assert [path.name for path in tmp_path.iterdir()] == ["majority.json"]
    monkeypatch.setitem(CONTENDERS, "tfidf", own)
    assert len(Arena(both, PLAIN, [0], folder=tmp_path).run().standings) == 3


@pytest.mark.parametrize("spoil", ["{", "[]", '{"contender": "tfidf"}', "settings"])
def test_a_kept_training_of_other_data_or_damaged_is_trained_again(both, kept, tmp_path, spoil):
    folder, found = kept
    text = (folder / "tfidf.json").read_text()
    if spoil == "settings":
        spoil = json.dumps(json.loads(text) | {"key": "another", "accuracy": 0.0})
    (tmp_path / "tfidf.json").write_text(spoil)
    again = Arena(both, ["majority", "tfidf"], [0], folder=tmp_path).run()
    assert again.standing("tfidf").accuracy == found.standing("tfidf").accuracy


def test_no_training_is_begun_once_the_budget_is_spent(both, tmp_path):
    with pytest.raises(DataError, match=r"so nothing to compare: the budget of 0 s was spent$"):
        Arena(both, PLAIN, [0], folder=tmp_path, budget=0).run()
    Arena(both, ["majority", "tfidf"], [0], folder=tmp_path).run()
    found = Arena(both, PLAIN, [0], folder=tmp_path, budget=0).run()
    assert {one.name for one in found.standings} == {"majority", "tfidf"}
    assert [one.name for one in found.left_out] == ["ngrams, seed 0"]
    assert "budget of 0 s" in found.left_out[0].reason


def test_what_cannot_be_trained_here_is_left_out_and_said(both, tmp_path, monkeypatch):
    own = CONTENDERS["tfidf"]
    absent = Contender("absent", "", own.train, own.load, missing=lambda: "no weights here")

    def refuse(lesson):
        raise ConfigError("not for these data")

    monkeypatch.setitem(CONTENDERS, "absent", absent)
    monkeypatch.setitem(CONTENDERS, "ngrams", Contender("ngrams", "", refuse, own.load))
    found = Arena(both, [*PLAIN, "absent"], [0], folder=tmp_path).run()
    assert {one.name: one.reason for one in found.left_out} == {
        "absent": "no weights here",
        "ngrams, seed 0": "not for these data",
    }


def test_several_labels_a_document_are_compared_too(tmp_path):
    several = sides(read_texts(*tagged(100)), None, seed=0)
    found = Arena(several, ["majority", "tfidf"], [0], folder=tmp_path).run()
    assert found.standing("tfidf").accuracy > found.standing("majority").accuracy


def test_test_documents_of_unknown_labels_are_left_out():
    texts, labels = reviews(40)
    test = read_texts([*texts[:10], "what"], [*labels[:10], "ugly"])
    both = sides(read_texts(texts, labels), test, seed=0)
    assert (len(both.test), both.unanswerable) == (10, 1)


@pytest.mark.parametrize("held_out", [True, False])
def test_labels_that_few_documents_leave_out_are_asked_of_nobody(tmp_path, held_out):
    """Of four documents to learn from none may have the rarest label."""
    texts, labels = reviews(60, classes=tuple("abcdef"))
    test = None if held_out else read_texts(texts, labels)
    few = sides(read_texts(texts, labels), test, seed=0, limit=4)
    learnt = {document.label for document in few.training}
    assert {document.label for document in few.test} <= learnt and few.unanswerable
    found = Arena(few, PLAIN, [0], folder=tmp_path).run()
    assert set(found.classes) == learnt


def test_errors_say_what_is_missing(both, tmp_path):
    with pytest.raises(DataError, match="4 documents with a label; comparing needs 20"):
        sides(read_texts(*reviews(4)), None, seed=0)
    with pytest.raises(ConfigError, match="tfidf"):
        Arena(both, ["tfdif", "han"], [0], folder=tmp_path)
    with pytest.raises(ConfigError, match="at least two models"):
        Arena(both, ["han"], [0], folder=tmp_path)


def test_every_contender_has_a_name_of_its_own_and_says_what_it_depends_on():
    assert {"majority", "tfidf", "ngrams", "glass-box", "flat", "han-mean"} < set(CONTENDERS)
    assert {name for name, one in CONTENDERS.items() if one.ours} == {
        "fast",
        "balanced",
        "accurate",
    }
    told = [(one.train, one.settings) for one in CONTENDERS.values()]
    assert len(set(map(str, told))) == len(CONTENDERS)


def test_what_was_timed_elsewhere_is_timed_again(both, tmp_path):
    said = []
    Arena(both, PLAIN[:2], [0], folder=tmp_path, timed_on="cpu", tell=said.append).run()
    assert not any("are kept" in line for line in said)
    Arena(both, PLAIN[:2], [0], folder=tmp_path, timed_on="cpu:0", tell=said.append).run()
    assert not any("are kept" in line for line in said)
    Arena(both, PLAIN[:2], [0], folder=tmp_path, timed_on="cpu:0", tell=said.append).run()
    assert any("2 of 2 trainings are kept" in line for line in said)


@pytest.mark.parametrize(("name", "has_ngrams"), [("glass-box", False), ("fast", True)])
def test_networks_stand_without_ngrams_and_recipes_with_them(both, name, has_ngrams):
    trained = CONTENDERS[name].train(Lesson(both.training, seed=0))
    assert isinstance(trained.model_, Wide) is has_ngrams
