import pytest

from regard.look.deciding import LISTED, DecidingTally, deciding_sentences
from support.reviews import reviews

TEXT = "The film was long. It was awful and broken! We saw music."


def only(fitted, text):
    ((_, answers),) = fitted.fitted_.answers([text])
    return list(deciding_sentences(answers))


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
