"""Contenders of their own kind: pieces that vote, and what reads through a BERT."""

import random

import numpy as np

from regard.arena.contenders import BERT_VARIABLE, CONTENDERS, Lesson
from regard.arena.run import Arena, sides
from regard.data.readers import read_texts
from regard.records.comparison import WORSE
from regard.text.document import Document
from support.reviews import CUES, FILLER, reviews
from support.small_bert import small_bert


def planted(count, *, sentences=20, seed=0):
    """Texts in which one sentence of many gives the label away."""
    draw = random.Random(seed)
    texts, labels = [], []
    for number in range(count):
        label = ("bad", "good")[number % 2]
        body = [" ".join(draw.choices(FILLER, k=4)).capitalize() + "." for _ in range(sentences)]
        cue = draw.choice(CUES[label])
        body[draw.randrange(sentences)] = f"{cue.capitalize()} {draw.choice(FILLER)}."
        texts.append(" ".join(body))
        labels.append(label)
    return texts, labels


def test_a_loss_on_documents_and_votes_are_compared_in_pairs(tmp_path):
    """000-02, 000-03: the same split, a paired test; votes drown the one sentence that tells."""
    both = sides(read_texts(*planted(200, sentences=16)), None, seed=0)
    found = Arena(both, ["tfidf", "vote"], [0], folder=tmp_path, against="tfidf").run()
    assert found.standing("tfidf").accuracy >= 0.9
    assert found.standing("vote").accuracy < 0.75
    assert [one.verdict for one in found.pairs if one.name == "vote"] == [WORSE]


def test_a_bert_is_named_by_the_environment_or_left_out(monkeypatch, tmp_path):
    """000-09: it is a contender like any other."""
    contender = CONTENDERS["minilm"]
    monkeypatch.delenv(BERT_VARIABLE, raising=False)
    assert contender.missing() == f"{BERT_VARIABLE} names no folder of a BERT, such as MiniLM's"
    monkeypatch.setenv("REGARD_CACHE", str(tmp_path / "cache"))
    texts, labels = reviews(24)
    monkeypatch.setenv(BERT_VARIABLE, str(small_bert(tmp_path / "bert", texts)))
    assert contender.missing() == ""
    documents = [Document(*both) for both in zip(texts, labels, strict=True)]
    made = contender.train(Lesson(documents, seed=0))
    (tmp_path / "saved").mkdir()
    made.save(tmp_path / "saved")
    again = contender.load(tmp_path / "saved", "cpu")
    assert (again.predict_proba(texts) == made.predict_proba(texts)).all()


def test_fasttext_learns_is_saved_and_answers_alike(tmp_path):
    """004-01: the averaged baseline is a contender like any other."""
    contender = CONTENDERS["fasttext"]
    texts, labels = reviews(120)
    documents = [Document(*both) for both in zip(texts, labels, strict=True)]
    made = contender.train(Lesson(documents[:96], seed=0))
    likely = made.predict_proba(texts[96:])
    answers = [list(made.classes_)[place] for place in likely.argmax(1)]
    assert np.mean([one == other for one, other in zip(answers, labels[96:], strict=True)]) >= 0.9
    (tmp_path / "saved").mkdir()
    made.save(tmp_path / "saved")
    again = contender.load(tmp_path / "saved", "cpu")
    assert (again.predict_proba(texts) == made.predict_proba(texts)).all()
