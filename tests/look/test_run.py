import math
import re
from functools import partial

import pytest
import torch

from regard import ConfigError, DataError, Document
from regard.look import run
from regard.look.difference import compare
from regard.look.run import LISTED, DecidingTally, SpreadTally, entropies, find_deciding_sentences
from regard.models.base import Attention
from regard.models.reader import chunks
from regard.ragged import Ragged
from regard.records.look import Look
from support.reviews import reviews, tagged, tiny


def documents(count, *, seed=7, wrong=()):
    texts, labels = reviews(count, seed=seed)
    other = {"good": "bad", "bad": "good"}
    return [
        Document(text, other[label] if place in wrong else label)
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]


def test_wrong_labels_are_among_the_suspects(fitted):
    wrong = {3, 8, 21, 34}
    found = fitted.look(documents(40, wrong=wrong))
    assert found.documents == found.labelled == 40
    assert {suspect.index for suspect in found.suspects} <= wrong
    assert found.measured == found.disagreements == 4
    for suspect in found.suspects:
        assert suspect.answer != suspect.labels[0]
        assert suspect.probability >= found.sure
        assert suspect.explanation.receipt.verdict == suspect.verdict != "no better than chance"
        assert suspect.explanation.true_labels == suspect.labels
    assert Look.from_json(found.to_json()) == found


def test_only_the_surest_disagreements_are_measured(fitted, monkeypatch):
    monkeypatch.setattr(run, "MEASURED", 2)
    found = fitted.look(documents(40, wrong={3, 8, 21, 34}))
    assert (found.disagreements, found.measured) == (4, 2)
    assert len(found.suspects) <= 2


def test_labels_that_are_right_or_missing_are_not_suspected(fitted):
    assert fitted.look(documents(20)).suspects == ()
    found = fitted.look(Document(text) for text in reviews(20)[0])
    assert (found.labelled, found.disagreements, found.suspects) == (0, 0, ())


def test_it_is_the_same_in_one_go_and_in_small_parts(fitted, monkeypatch):
    whole = fitted.look(documents(50), words=["film", "great"])
    monkeypatch.setattr(run, "chunks", partial(chunks, size=7))
    parts = fitted.look(documents(50), words=["film", "great"])
    assert parts.words[0].uses[0].bins == whole.words[0].uses[0].bins
    assert [entry.documents for entry in parts.classes] == [
        entry.documents for entry in whole.classes
    ]
    assert parts.spreads[0].bins == whole.spreads[0].bins


def test_several_labels_a_document_are_doubted_one_by_one(fitted_tags):
    texts, labels = tagged(30, seed=3)
    given = [
        Document(text, () if place == 4 else tuple(label))
        for place, (text, label) in enumerate(zip(texts, labels, strict=True))
    ]
    given[4] = Document("We saw artword music. It was the film.", ("music",))
    found = fitted_tags.look(given)
    assert {entry.label for entry in found.classes} <= {"art", "music"}
    assert all(suspect.answer not in suspect.labels for suspect in found.suspects)


def test_documents_without_any_label_are_no_answers(fitted_tags):
    """Of several labels none may hold: then nothing decided for the likeliest of them."""
    texts = tagged(60, seed=5)[0]
    said = [{str(name) for name in labels} for labels in fitted_tags.predict(texts)]
    assert any(not labels for labels in said) and any(len(labels) > 1 for labels in said)
    found = fitted_tags.look([Document(text, None) for text in texts], words=["film"])
    answered = {str(entry.label): entry.documents for entry in found.classes}
    assert answered == {name: sum(name in one for one in said) for name in ("art", "music")}
    uses = {use.label: use.count for use in found.words[0].uses}
    assert uses[None] == len(re.findall(r"\bfilm\b", " ".join(texts).lower()))


def test_labels_that_are_only_written_otherwise_are_not_suspected():
    """The model learnt Python's True from CSV; the data to look through have JSON's true."""
    texts, labels = reviews(80)
    model = tiny().fit(texts, [str(label == "good") for label in labels])
    given = [
        Document(text, str(said).lower())
        for text, said in zip(texts, model.predict(texts), strict=True)
    ]
    assert model.look(given).disagreements == 0
    assert model.score(texts, [document.label for document in given]) == 1.0
    contrary = tiny().fit(texts, [str(label == "bad") for label in labels])
    found = compare(model, contrary, given[:20])
    assert found.broken == len(found.changes) == 20


def test_a_word_that_the_model_does_not_know_is_said(fitted):
    with pytest.raises(ConfigError, match="no word 'graet'; did you mean 'great'"):
        fitted.look(documents(4), words=["graet"])
    with pytest.raises(ConfigError, match="choose a word of the training texts"):
        fitted.look(documents(4), words=["zzzzqqq"])


def test_nothing_to_look_through_is_said(fitted):
    with pytest.raises(DataError, match="no documents"):
        fitted.look([])


def test_entropy_is_that_of_the_formula_and_none_for_nothing():
    rows = [[0.5, 0.25, 0.25], [1.0], [], [0.0, 1.0]]
    weights = Ragged(
        torch.tensor([value for row in rows for value in row], dtype=torch.float64),
        torch.tensor([len(row) for row in rows]),
    )
    plain = [-sum(p * math.log(p) for p in row if p) for row in rows]
    assert entropies(weights).tolist() == pytest.approx(plain)


def counted(fitted, weights, lengths):
    """Count one batch whose word attention is replaced by given weights."""
    ((_, answers),) = fitted.fitted_.answers(["One film."])
    layer = Attention(
        "word", "sentence", "token", Ragged(torch.tensor(weights), torch.tensor(lengths))
    )
    output = type(answers.output)(answers.output.logits, (layer,))
    tally = SpreadTally()
    tally.add(
        type(answers)(
            **{
                **{name: getattr(answers, name) for name in answers.__dataclass_fields__},
                "output": output,
            }
        )
    )
    return tally.spreads()


def test_uniform_weights_are_even_and_a_single_peak_is_not(fitted):
    """004-06: effective_n is exp(entropy); a copying attention has one item."""
    (even,) = counted(fitted, [0.25] * 4 + [0.5] * 2, [4, 2])
    assert even.evenness == pytest.approx(1) and even.uniform_rows == 1
    assert even.effective_items == pytest.approx(3) == even.mean_items
    assert even.bins == (0,) * 19 + (2,)
    (peak,) = counted(fitted, [1.0, 0.0, 0.0, 1.0], [3, 1])
    assert (peak.rows, peak.evenness, peak.effective_items) == (1, 0.0, 1.0)
    assert peak.bins == (1, *(0,) * 19)


def test_a_row_that_leaves_no_choice_does_not_count(fitted):
    assert counted(fitted, [1.0, 1.0], [1, 1]) == ()


def test_both_levels_of_a_corpus_are_counted(fitted):
    texts = reviews(30)[0]
    tally = SpreadTally()
    for _, answers in fitted.fitted_.answers(texts):
        tally.add(answers)
    words, sentences = tally.spreads()
    assert (words.level, sentences.level) == ("word", "sentence")
    for spread in (words, sentences):
        assert sum(spread.bins) == spread.rows
        assert 0 <= spread.evenness <= 1
        assert 1 <= spread.effective_items <= spread.mean_items


TEXT = "The film was long. It was awful and broken! We saw music."


def only(fitted, text):
    ((_, answers),) = fitted.fitted_.answers([text])
    return list(find_deciding_sentences(answers))


def test_the_sentence_whose_loss_moves_the_answer_most_decides(fitted):
    (found,) = only(fitted, TEXT)
    sentences = [TEXT[:18], TEXT[19:43], TEXT[44:]]
    whole = fitted.predict_proba([TEXT])[0, found.answer]
    without = [" ".join(other for other in sentences if other != one) for one in sentences]
    drops = whole - fitted.predict_proba(without)[:, found.answer]
    assert found.text == sentences[drops.argmax()] == "It was awful and broken!"
    assert found.drop == pytest.approx(drops.max(), abs=1e-5)
    flips = fitted.predict(without)[drops.argmax()] != fitted.predict([TEXT])[0]
    assert found.flips == flips


def test_a_text_without_words_decides_nothing(fitted):
    assert only(fitted, "") == []


def test_the_index_counts_sentences_that_are_written_alike_together(fitted):
    texts = ["Awful   music! We saw it.", "It was the film. awful music!", "A great film."]
    tally = DecidingTally()
    for places, answers in fitted.fitted_.answers(texts):
        tally.add(answers, [100 + place for place in places])
    bad, good = tally.classes(fitted.labels_.classes)
    assert (good.label, good.documents, bad.label, bad.documents) == ("good", 1, "bad", 2)
    assert bad.sentences[0].text.lower() == "awful music!"
    assert bad.sentences[0].count == 2
    assert sorted(bad.sentences[0].documents) == [100, 101]


def test_each_class_lists_its_heaviest_sentences_first(fitted):
    tally = DecidingTally()
    for places, answers in fitted.fitted_.answers(reviews(60, seed=5)[0]):
        tally.add(answers, places)
    for entry in tally.classes(fitted.labels_.classes):
        carried = [sentence.drop * sentence.count for sentence in entry.sentences]
        assert carried == sorted(carried, reverse=True)
        assert 0 < len(carried) <= LISTED


def test_of_several_labels_each_has_its_sentence(fitted_tags):
    text = "We saw artword music. It was musicword then."
    found = only(fitted_tags, text)
    names = {fitted_tags.labels_.classes[one.answer]: one.text for one in found}
    assert names == {"art": "We saw artword music.", "music": "It was musicword then."}
