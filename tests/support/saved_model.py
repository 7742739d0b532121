"""Writes the saved folders that later versions must still load.

    PYTHONPATH=tests python -m support.saved_model FOLDER

Run it with the version whose folders are to be kept: ``saved_1`` is older than the others, which
are those of version 0.1.0 before folders had checksums. For a new format give them a new name, and
keep those before.
"""

import json
import sys
from pathlib import Path

from regard import Document
from support.parrots import new_translator
from support.reviews import reviews, tiny

ENGLISH = ["the house", "the garden", "the old house", "a garden", "the old garden", "a small tree"]
GERMAN = [
    "das Haus",
    "der Garten",
    "das alte Haus",
    "ein Garten",
    "der alte Garten",
    "ein Bäumchen",
]


def write_classifier(folder):
    """Write a small model of each part that a folder can have, and beside it what it answers."""
    texts, labels = reviews(60, seed=1, classes=(-1, 2, 10))
    documents = [Document(text, label) for text, label in zip(texts, labels, strict=True)]
    classifier = tiny(training__epochs=12).fit_documents(documents).fit_baseline(documents)
    classifier.save(folder)
    asked = [*texts[:6], "", "Größe 🎬 und\nMusik. A great evening!"]
    _write_answers(
        folder,
        {
            "texts": asked,
            "classes": classifier.classes_.tolist(),
            "labels": classifier.predict(asked).tolist(),
            "probabilities": classifier.predict_proba(asked).tolist(),
            "baseline": classifier.baseline_.predict_proba(asked).tolist(),
            "seen": classifier.seen_.tolist(),
            "heaviest_word": classifier.explain(asked[0]).words(1)[0].text,
        },
    )


def write_translator(folder):
    """Write a small translator, and beside it what it writes and how likely it finds that."""
    translator = new_translator(
        network__embedding_size=8,
        network__hidden_size=8,
        training__epochs=60,
        training__batch_size=6,
        training__learning_rate=0.03,
        training__monitor="loss",
        units__kind="subwords",
        units__size=60,
        validation=0.0,
    )
    translator.fit(ENGLISH * 4, GERMAN * 4).save(folder)
    asked = [*ENGLISH, "an unknown house", ""]
    found = translator.candidates(asked, 2)
    _write_answers(
        folder,
        {
            "texts": asked,
            "translations": [[one.text for one in several] for several in found],
            "scores": [[one.score for one in several] for several in found],
            "looked": translator.explain(asked[0]).weights.tolist(),
        },
    )


def _write_answers(folder, answers):
    text = json.dumps(answers, indent=1, ensure_ascii=False) + "\n"
    folder.with_name(f"{folder.name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write_classifier(Path(sys.argv[1], "saved_classifier"))
    write_translator(Path(sys.argv[1], "saved_translator"))
