"""N-grams beside a network: learnt, blended, saved, and switched off."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file, save_file

from regard import DocumentClassifier, ModelError
from regard.estimators.folder import seal
from regard.estimators.wide import _first_say, fit_blend
from regard.models.ngrams import Emphasis, Rows
from regard.models.wide import Wide, WideConfig
from regard.training.ngrams import (
    EMPHASES,
    LETTERS_OF_MORE,
    LETTERS_OF_NEW,
    PENALTIES,
    TRUSTS,
    USUAL,
    LearningData,
    MarkedReasons,
    learn_ngrams,
)
from support.reviews import reviews, tagged, tiny

TEXTS, LABELS = reviews(60, seed=5)


@pytest.fixture(scope="module")
def wide():
    return tiny(wide=WideConfig(), training__epochs=2).fit(TEXTS, LABELS)


def test_ngrams_stand_beside_the_network(wide):
    assert isinstance(wide.model_, Wide)
    assert wide.facts_["ngrams"] == len(wide.model_.tables[0]) > 0
    assert wide.score(TEXTS, LABELS) > 0.9
    assert len(wide.seen_) == len(set(TEXTS)), "what was held out is learnt from too"


def test_without_them_the_network_is_the_same(wide):
    alone = tiny(wide=None, training__epochs=2).fit(TEXTS, LABELS)
    assert not isinstance(alone.model_, Wide)
    assert "ngrams" not in alone.facts_
    weights = alone.model_.state_dict()
    for name, tensor in wide.model_.network.state_dict().items():
        assert torch.equal(tensor, weights[name])


def test_the_same_seed_gives_the_same_bits(wide):
    again = tiny(wide=WideConfig(), training__epochs=2).fit(TEXTS, LABELS)
    assert np.array_equal(again.predict_proba(TEXTS), wide.predict_proba(TEXTS))
    assert again.temperature_ == wide.temperature_


def test_what_is_saved_answers_the_same(wide, tmp_path):
    wide.save(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model", device="cpu")
    assert loaded.wide == WideConfig()
    assert np.array_equal(loaded.predict_proba(TEXTS), wide.predict_proba(TEXTS))


def _break(arrays, name, value):
    arrays[name] = value(arrays[name])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda arrays: arrays.pop("words.weights"), r"holds no words\.weights"),
        (
            lambda arrays: _break(arrays, "words.keys", lambda keys: keys[::-1].copy()),
            "out of order",
        ),
        (
            lambda arrays: _break(arrays, "letters.rarity", lambda worth: worth * np.nan),
            "no number",
        ),
        (lambda arrays: _break(arrays, "scale", lambda scale: scale[:0]), "holds no scale"),
        (
            lambda arrays: arrays.update(emphasis=np.array([0.0, -2.0])),
            "count less than nothing",
        ),
        (
            lambda arrays: arrays.update(marking=np.zeros(5, np.float32)),
            "holds no marking of",
        ),
        (
            lambda arrays: arrays.update(bias=np.array([0.0, -2.0])),
            "made by a newer regard .*: wide.safetensors holds 'bias', which this one",
        ),
    ],
)
def test_a_damaged_part_is_an_error(wide, tmp_path, change, problem):
    wide.save(tmp_path / "model")
    arrays = load_file(tmp_path / "model" / "wide.safetensors")
    change(arrays)
    save_file(arrays, tmp_path / "model" / "wide.safetensors")
    seal(tmp_path / "model")
    with pytest.raises(ModelError, match=problem):
        DocumentClassifier.load(tmp_path / "model")


def test_a_missing_part_is_an_error(wide, tmp_path):
    wide.save(tmp_path / "model")
    (tmp_path / "model" / "wide.safetensors").unlink()
    with pytest.raises(ModelError, match=r"has no wide\.safetensors"):
        DocumentClassifier.load(tmp_path / "model")


def test_several_labels_and_weights_and_balance_are_heeded():
    texts, labels = tagged(40)
    config = {"wide": WideConfig(), "training__epochs": 1, "training__class_weights": "balanced"}
    classifier = tiny(**config).fit(texts, labels, sample_weight=np.linspace(0.5, 2, len(texts)))
    assert isinstance(classifier.model_, Wide)
    assert classifier.predict_proba(texts).shape == (40, len(classifier.classes_))


def test_documents_to_validate_on_are_not_learnt_from():
    given = tiny(wide=WideConfig(), training__epochs=1)
    given.fit(TEXTS[:40], LABELS[:40], validation=(TEXTS[40:], LABELS[40:]))
    assert isinstance(given.model_, Wide)
    assert len(given.seen_) == len(set(TEXTS[:40]))


def learning(seed=0, count=60):
    """Documents of ten words, of which one says what the label is."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 2, count)
    ids = draw.integers(4, 30, (count, 10))
    ids[np.arange(count), draw.integers(0, 10, count)] = 2 + labels
    rows = Rows(ids.ravel(), np.full(count, 10), np.ones(count, np.int64))
    return LearningData(rows, labels, 2, held_out_in=np.where(np.arange(count) < 50, -1, 0))


def test_reasons_teach_in_the_folds_of_their_documents():
    """The same two words are in every document of a label; people mark one of them."""
    labels = np.arange(60) % 2
    ids = np.stack([2 + labels, 4 + labels], axis=1)
    rows = Rows(ids.ravel(), np.ones(120, np.int64), np.full(60, 2))
    held_out = np.where(np.arange(60) < 30, 0, -1)
    plain = LearningData(rows, labels, 2, held_out)
    inside = np.flatnonzero(held_out == 0)
    reasons = MarkedReasons(
        Rows(2 + labels[inside], np.ones(30, np.int64), np.ones(30, np.int64)),
        labels[inside],
        inside,
    )

    def more_for_what_is_marked(given):
        """How much more marked words weigh: where their fold is held out, and at the end."""
        learnt = learn_ngrams(replace(plain, reasons=given), WideConfig(longest=1))
        assert learnt.tables[0].keys.tolist() == [2, 3, 4, 5]
        found = [np.abs(one.weights[:, 1]) for one in (learnt.before[0], learnt.after)]
        return [one[:2].min() / one[2:].max() for one in found]

    assert more_for_what_is_marked(None) == pytest.approx([1, 1], abs=1e-3)
    held, end = more_for_what_is_marked(reasons)
    assert held == pytest.approx(1, abs=1e-3) and end > 1.2
    assert min(more_for_what_is_marked(replace(reasons, owners=np.full(30, -1)))) > 1.2


def test_ngrams_that_decide_are_found():
    data = learning()
    learnt = learn_ngrams(data, WideConfig())
    weights = learnt.after.weights[:, 1] - learnt.after.weights[:, 0]
    assert learnt.tables[0].keys[weights.argmax()] == 3
    assert learnt.tables[0].keys[weights.argmin()] == 2


def test_nothing_is_learnt_where_no_ngram_is_in_two_documents():
    rows = Rows(np.arange(2, 12), np.ones(10, np.int64), np.ones(10, np.int64))
    data = LearningData(rows, np.arange(10) % 2, 2, held_out_in=np.full(10, -1))
    assert learn_ngrams(data, WideConfig()) is None


def test_a_model_that_guesses_gets_little_say():
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 2, 2000)
    knows = np.eye(2)[labels] * 3 + draw.normal(size=(2000, 2))
    guesses = draw.normal(size=(2000, 2))
    good, bad = fit_blend([knows, guesses], labels, prior=(0.5, 0.5))
    assert good > 0.5 and 0 <= bad < good / 10


def test_few_documents_leave_the_say_almost_as_it_was():
    logits = np.array([[2.0, 0], [0, 2.0], [2.0, 0]])
    say = fit_blend([logits, -logits], np.array([0, 1, 0]), prior=(0.25, 0.75))
    # The first is sure and right, the second wrong: by three documents alone it would be silent.
    assert say[1] > 0.1


def test_from_few_documents_ngrams_have_more_to_say():
    says = [_first_say(count)[0] for count in (1, 2_000, 6_000, 20_000, 1_000_000)]
    assert says == sorted(says)
    assert says[0] == says[1] == 0.2 and says[-2] == says[-1] == 0.5
    assert sum(_first_say(6_000)) == 1


def test_letters_tell_words_that_are_spelt_alike():
    """A word that no document of its class holds is known by others that are spelt like it."""
    words = ["<pad>", "<oov>", "joyful", "joyous", "enjoy", "boring", "bored", "boredom", "the"]
    documents = [[2, 8], [3, 8], [4, 8], [5, 8], [6, 8], [8, 8]] * 4
    labels = np.array([1, 1, 1, 0, 0, 0] * 4)
    rows = Rows(np.ravel(documents), np.full(24, 2), np.ones(24, np.int64))
    data = LearningData(rows, labels, 2, held_out_in=np.full(24, -1), words=words)
    learnt = learn_ngrams(data, WideConfig())
    words, letters = learnt.parts(learnt.after, 1.0)
    assert 7 not in words.table.keys
    said = letters.weights[letters.table.keys.tolist().index(7)]
    assert said[0] > said[1], "boredom is like boring and bored"


def test_letters_count_more_where_there_are_many_classes():
    """Topics have words that are spelt alike; what one likes and dislikes may be as well."""
    words = ["<pad>", "<oov>", "gas", "gasoline", "wheat", "wheaten", "copper", "coppers"]
    labels = np.arange(60) % 3
    ids = np.stack(
        [2 + 2 * labels + draw for draw in np.random.default_rng(0).integers(0, 2, (4, 60))]
    )
    rows = Rows(ids.T.ravel(), np.full(60, 4), np.ones(60, np.int64))
    data = LearningData(rows, labels, 3, held_out_in=np.full(60, -1), words=words)
    two = replace(data, labels=np.minimum(labels, 1), class_count=2)
    assert learn_ngrams(data, WideConfig()).letters > learn_ngrams(two, WideConfig()).letters
    for some in (data, two):
        learnt = learn_ngrams(some, WideConfig())
        summed = sum(
            part.table.weigh(some.rows, part.weights) for part in learnt.parts(learnt.after, 1.0)
        )
        logits = learnt.after.intercepts + summed
        assert (logits.argmax(1) == some.labels).all()


def test_letters_count_still_more_where_many_words_are_new():
    """About as many words of a new text are new as occur once, and only their letters are known."""
    words = ["<pad>", "<oov>", "gas", "wheat", "copper", *(f"own{'x' * n}" for n in range(60))]
    labels = np.arange(60) % 3
    lengths = np.full(60, 9), np.ones(60, np.int64)

    def length(own):
        ids = np.repeat(2 + labels[:, None], 9, axis=1)
        ids[:, 0] = np.where(np.arange(60) < own, 5 + np.arange(60), ids[:, 0])
        data = LearningData(Rows(ids.ravel(), *lengths), labels, 3, np.full(60, -1), words)
        return learn_ngrams(data, WideConfig(fewest_documents=1)).letters

    assert length(54) == LETTERS_OF_MORE, "one word in ten"
    assert length(55) == LETTERS_OF_NEW > LETTERS_OF_MORE


def test_single_characters_count_by_themselves_where_there_are_many_classes():
    """They tell topics; what is liked and what is not is told by runs of them."""
    words = ["<pad>", "<oov>", *"电影书手机店"]
    labels = np.arange(60) % 3
    ids = np.stack([2 + 2 * labels, 3 + 2 * labels], axis=1)
    rows = Rows(ids.ravel(), np.full(60, 2), np.ones(60, np.int64))
    data = LearningData(rows, labels, 3, held_out_in=np.full(60, -1), words=words)
    two = replace(data, labels=np.minimum(labels, 1), class_count=2)
    assert len(learn_ngrams(data, WideConfig()).tables) == 2
    assert len(learn_ngrams(two, WideConfig()).tables) == 1


def korean(count):
    """Reviews whose verbs stem from one of two words, each with an ending of its own."""
    draw = np.random.default_rng(0)
    endings = ["".join(map(chr, draw.integers(0xAC00, 0xB000, 2))) for _ in range(count)]
    return [f"영화 {('재밌', '지루')[n % 2]}{end}" for n, end in enumerate(endings)]


def test_korean_is_read_by_syllables(tmp_path):
    """Words that were never met are known by what is inside them, and shown so."""
    texts, labels = korean(80), ["good", "bad"] * 40
    classifier = tiny(training__epochs=2).fit(texts[:60], labels[:60])
    assert classifier.settings_.text.hangul == "syllables" and classifier.text.hangul == "auto"
    assert classifier.score(texts[60:], labels[60:]) == 1
    classifier.save(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model", device="cpu")
    assert np.array_equal(loaded.predict_proba(texts), classifier.predict_proba(texts))
    explanation = loaded.explain(texts[61])
    assert any(word.text.startswith("지루") for word in explanation.words(2))
    in_words = tiny(training__epochs=2, text__hangul="words").fit(texts[:60], labels[:60])
    assert in_words.score(texts[60:], labels[60:]) < 0.8


def noisy(wrong, count=400, seed=0):
    """Documents of which one word in ten says what the label is, and some labels are wrong."""
    draw = np.random.default_rng(seed)
    labels = draw.integers(0, 2, count)
    ids = draw.integers(4, 2000, (count, 10))
    ids[:, 0] = 2 + labels
    labels = np.where(draw.random(count) < wrong, 1 - labels, labels)
    rows = Rows(ids.ravel(), np.full(count, 10), np.ones(count, np.int64))
    return LearningData(rows, labels, 2, held_out_in=np.full(count, -1))


def test_what_weights_cost_is_chosen_from_the_data():
    """Where labels can be trusted weights may grow; where they cannot, they must not."""
    fits = [learn_ngrams(noisy(share), WideConfig()) for share in (0, 0.4)]
    clean, wrong = (learnt.caution.penalty for learnt in fits)
    assert clean <= PENALTIES[-2] < PENALTIES[1] <= wrong


@pytest.mark.parametrize("count", [1, 2, 5])
def test_few_documents_choose_no_penalty_at_random(count):
    data = noisy(0, count)
    ids = np.tile(np.arange(2, 12), count)
    rows = Rows(ids, data.rows.sentence_lengths, data.rows.sentences)
    labels = np.arange(count) % 2
    learnt = learn_ngrams(LearningData(rows, labels, 2, np.full(count, -1)), WideConfig())
    assert learnt is None or learnt.caution.penalty in PENALTIES


def test_of_too_many_documents_some_are_learnt_from(monkeypatch):
    """A network alone is no answer to many documents and classes."""
    data = learning(count=400)
    nnz = sum(len(set(row)) for row in data.rows.ids.reshape(-1, 10).tolist())
    monkeypatch.setattr("regard.training.ngrams.MAX_WORK", nnz // 2)
    learnt = learn_ngrams(data, WideConfig(longest=1))
    weights = learnt.after.weights[:, 1] - learnt.after.weights[:, 0]
    assert learnt.tables[0].keys[weights.argmax()] == 3
    monkeypatch.undo()
    whole = learn_ngrams(data, WideConfig(longest=1))
    assert not np.array_equal(whole.after.weights, learnt.after.weights)


def placed(decides, count=400):
    """Documents of nine sentences with two words that say what the label is; one lies."""
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 2, count)
    ids = draw.integers(4, 40, (count, 9, 4))
    said = draw.integers(0, 2, count)
    for place, label in ((0, labels), (8, said)) if decides == 0 else ((8, labels), (0, said)):
        ids[:, place, 0] = 2 + label
    rows = Rows(ids.ravel(), np.full(9 * count, 4), np.full(count, 9))
    return LearningData(rows, labels, 2, held_out_in=np.full(count, -1))


def test_where_the_ends_of_texts_decide_they_count_more():
    for place, emphasis in ((8, EMPHASES[0]), (0, EMPHASES[1])):
        learnt = learn_ngrams(placed(place), WideConfig())
        assert {table.emphasis for table in learnt.tables} == {emphasis}
    even = learn_ngrams(placed(8), WideConfig(emphasis=False))
    assert {table.emphasis for table in even.tables} == {Emphasis()}
    assert learnt.after.intercepts.shape == even.after.intercepts.shape


def test_where_place_tells_nothing_all_sentences_count_the_same():
    data = placed(8)
    draw = np.random.default_rng(1)
    ids = data.rows.ids.reshape(-1, 9, 4)
    for document in ids:
        draw.shuffle(document)
    rows = Rows(ids.ravel(), data.rows.sentence_lengths, data.rows.sentences)
    assert not learn_ngrams(replace(data, rows=rows), WideConfig()).tables[0].emphasis
    few = replace(
        data,
        rows=data.rows.having(np.arange(400) < 200),
        labels=data.labels[:200],
        held_out_in=data.held_out_in[:200],
    )
    assert not learn_ngrams(few, WideConfig()).tables[0].emphasis


def marked(count=400, *, tells=True):
    """Documents of nine sentences, each with a word that says a label; people marked the true one.

    Beside the true one stands a word that tells nothing by itself: this is the one that counts.
    """
    draw = np.random.default_rng(0)
    labels = draw.integers(0, 2, count)
    ids = draw.integers(5, 40, (count, 9, 4))
    ids[:, :, 0] = 2 + draw.integers(0, 2, (count, 9))
    places = draw.integers(0, 9, count)
    ids[np.arange(count), places, 0] = 2 + labels
    ids[np.arange(count), places if tells else draw.integers(0, 9, count), 1] = 4
    rows = Rows(ids.ravel(), np.full(9 * count, 4), np.full(count, 9))
    data = LearningData(rows, labels, 2, held_out_in=np.full(count, -1), word_count=41)
    passages = Rows(
        ids[np.arange(count), places].ravel(), np.full(count, 4), np.ones(count, np.int64)
    )
    return replace(data, reasons=MarkedReasons(passages, labels, np.arange(count)))


def test_sentences_count_more_that_are_like_those_that_were_marked():
    learnt = learn_ngrams(marked(), WideConfig(longest=1))
    first, *others = learnt.tables
    assert len(first.marking.log_odds) == 41 and first.marking.log_odds[:2].tolist() == [0, 0]
    assert first.marking.log_odds.argmax() == 4
    assert all(table.marking is first.marking for table in others)
    for data in (
        replace(marked(), reasons=None),
        marked(tells=False),  # the answers are no better by it
        marked(99),
    ):
        assert learn_ngrams(data, WideConfig(longest=1)).tables[0].marking is None


def test_what_was_marked_in_documents_held_out_for_good_is_not_known():
    """Held out once each, as in folds, all are heeded."""
    data = marked()
    held = np.where(np.arange(400) < 200, 0, -1)
    own = data.reasons.owners
    free = MarkedReasons(data.reasons.rows.having(own >= 200), data.labels[200:], own[200:])
    configured = WideConfig(longest=1)
    known = learn_ngrams(replace(data, held_out_in=held), configured).tables[0].marking
    alone = learn_ngrams(replace(data, held_out_in=held, reasons=free), configured)
    assert np.array_equal(known.log_odds, alone.tables[0].marking.log_odds)
    folded = learn_ngrams(replace(data, held_out_in=np.arange(400) % 2), configured)
    whole = learn_ngrams(data, configured)
    assert np.array_equal(folded.tables[0].marking.log_odds, whole.tables[0].marking.log_odds)
    assert not np.array_equal(known.log_odds, whole.tables[0].marking.log_odds)


def test_what_chance_saves_is_no_reason_to_count_by_place():
    """Label words stand anywhere: one end seems to decide in one of many such sets at most."""
    found = []
    for seed in range(24):
        draw = np.random.default_rng(seed)
        labels = draw.integers(0, 2, 400)
        ids = draw.integers(4, 40, (400, 9, 4))
        ids[np.arange(400), draw.integers(0, 9, 400), 0] = 2 + (labels ^ (draw.random(400) < 0.3))
        rows = Rows(ids.ravel(), np.full(9 * 400, 4), np.full(400, 9))
        data = LearningData(rows, labels, 2, held_out_in=np.full(400, -1))
        learnt = learn_ngrams(data, WideConfig(longest=1))
        found.append(bool(learnt.tables[0].emphasis))
    assert sum(found) <= 1, found


def test_what_sentences_like_those_marked_count_is_saved(tmp_path):
    data = marked()
    texts = [
        " ".join(f"Word{'abcdefghij'[id // 10]}{'abcdefghij'[id % 10]}" for id in sentence) + "."
        for sentence in data.rows.ids.reshape(-1, 4).tolist()
    ]
    texts = [" ".join(texts[9 * place : 9 * place + 9]) for place in range(400)]
    passages = data.reasons.rows.ids.reshape(-1, 4)
    spans = []
    for text, ids in zip(texts, passages.tolist(), strict=True):
        passage = " ".join(f"Word{'abcdefghij'[id // 10]}{'abcdefghij'[id % 10]}" for id in ids)
        spans.append([(text.index(passage), text.index(passage) + len(passage))])
    classifier = tiny(wide=WideConfig(longest=1), training__epochs=1, progress=False)
    classifier.fit(texts, data.labels.tolist(), reasons=spans)
    assert classifier.facts_["ngrams_count_like_marked"]
    classifier.save(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model", device="cpu")
    marking = loaded.model_.tables[0].marking
    assert marking is loaded.model_.tables[1].marking
    assert np.array_equal(marking.log_odds, classifier.model_.tables[0].marking.log_odds)
    assert np.array_equal(loaded.predict_proba(texts), classifier.predict_proba(texts))


def test_what_sentences_count_is_saved(tmp_path):
    texts = [
        f"It {a}. Filler one. Filler two. It {b}."
        for a in ("rose", "fell")
        for b in ("rose", "fell")
    ]
    classifier = tiny(wide=WideConfig(letters=False), training__epochs=1)
    classifier.fit(texts * 80, ["rose", "fell"] * 160)
    assert classifier.model_.tables[0].emphasis == EMPHASES[0]
    assert classifier.facts_["ngrams_count_more_in"] == "the last sentences"
    classifier.save(tmp_path / "model")
    loaded = DocumentClassifier.load(tmp_path / "model", device="cpu")
    assert loaded.model_.tables[0].emphasis == EMPHASES[0]
    assert np.array_equal(loaded.predict_proba(texts), classifier.predict_proba(texts))


def test_how_far_naive_bayes_is_trusted_is_chosen_from_the_data(monkeypatch):
    """From few documents it is trusted little, from many by half where labels are wrong."""
    assert learn_ngrams(learning(count=200), WideConfig()).caution.trust == 0.25
    monkeypatch.setattr("regard.training.ngrams.ENOUGH", 100)
    held_out = np.where(np.arange(400) < 100, 0, -1)
    chosen = []
    for wrong in (0.1, 0.4):
        data = replace(noisy(wrong, 400), held_out_in=held_out)
        chosen.append(learn_ngrams(data, WideConfig()).caution.trust)
    assert chosen == list(reversed(TRUSTS))


def named(count=100, size=4):
    """Groups of documents that share a name and a label; a word in each tells most labels."""
    draw = np.random.default_rng(1)
    groups = np.repeat(np.arange(count), size)
    labels = draw.integers(0, 2, count)[groups]
    ids = draw.integers(4, 200, (count * size, 10))
    ids[:, 0] = 200 + groups
    ids[:, 1] = 2 + np.where(draw.random(count * size) < 0.25, 1 - labels, labels)
    rows = Rows(ids.ravel(), np.full(count * size, 10), np.ones(count * size, np.int64))
    return LearningData(rows, labels, 2, np.full(count * size, -1)), groups


def test_what_weights_cost_is_chosen_by_whole_groups_where_there_are_any():
    """A name says nothing of groups that are not known yet, so weights of names must cost more."""
    data, groups = named()
    alone = learn_ngrams(data, WideConfig()).caution
    together = learn_ngrams(replace(data, groups=groups), WideConfig()).caution
    assert together.penalty > alone.penalty


def test_one_group_leaves_no_choice():
    data, groups = named()
    learnt = learn_ngrams(replace(data, groups=np.zeros_like(groups)), WideConfig())
    assert learnt.caution.penalty == PENALTIES[USUAL]


def test_what_few_documents_chose_is_asked_of_all(monkeypatch):
    """Documents held out say whether the weights of all documents should cost more."""
    data = replace(noisy(0.3, 2000), held_out_in=np.where(np.arange(2000) % 10, -1, 0))
    monkeypatch.setattr("regard.training.ngrams.PENALTIES", (1.0,))
    monkeypatch.setattr("regard.training.ngrams.USUAL", 0)
    assert learn_ngrams(data, WideConfig()).caution.penalty == 1.0
    monkeypatch.setattr("regard.training.ngrams.MOST_TO_CHOOSE", (100, 1))
    assert learn_ngrams(data, WideConfig()).caution.penalty == 4.0
