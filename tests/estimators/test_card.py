"""The model card."""

from regard.estimators.saved import CLASSIFIER_CARD

ABOUT = {
    "format": 1,
    "task": "classify",
    "version": "0.1.0",
    "model": "han",
    "classes": ["bad", "good"],
    "multilabel": False,
    "network": {"hidden_size": 50, "state_dropout": 0.3},
    "training": {"epochs": 8, "learning_rate": 0.0021234},
    "text": {"lowercase": True},
    "facts": {"date": "2025-01-31", "data": "reviews.csv", "validation_accuracy": 0.91239},
}


def test_it_tells_data_scores_settings_and_date():
    text = CLASSIFIER_CARD.write(ABOUT)
    assert text.startswith("# A han classifier of 2 classes\n")
    for line in (
        "| data | `reviews.csv` |",
        "| validation accuracy | `0.9124` |",
        "| hidden size | `50` |",
        "| learning rate | `0.002123` |",
        "`bad`, `good`",
    ):
        assert line in text.splitlines()
    assert "2025-01-31" in text and "0.1.0" in text


def test_it_warns_that_words_of_the_texts_are_inside():
    text = " ".join(CLASSIFIER_CARD.write(ABOUT).split())
    assert "contain words of the texts it was trained on" in text
    assert "regard evaluate FOLDER test.csv" in text


def test_any_label_is_shown_as_written_and_breaks_no_table():
    labels = ["a`b", "``", "x | y", "two\nlines", "", " ", "<script>", "*bold*"]
    text = CLASSIFIER_CARD.write({**ABOUT, "classes": labels, "facts": {"data": "a|b"}})
    shown = text.split("## Classes\n\n")[1].split("\n")[0]
    assert shown == (
        "`` a`b ``, ``` `` ```, `x \\| y`, `two lines`, (empty), (empty), `<script>`, `*bold*`"
    )
    assert "| data | `a\\|b` |" in text


def test_several_labels_are_called_labels():
    assert CLASSIFIER_CARD.write({**ABOUT, "multilabel": True}).startswith(
        "# A han classifier of 2 labels\n"
    )
