"""Writes the saved folder that later versions must still load: python tests/saved_model.py FOLDER.

For a new format give it a new name, saved_2, and keep those before.
"""

import json
import sys
from pathlib import Path

from regard import Document
from reviews import reviews, tiny


def write(folder):
    """Write a small model of each part that a folder can have, and beside it what it answers."""
    texts, labels = reviews(60, seed=1)
    documents = [Document(text, label) for text, label in zip(texts, labels, strict=True)]
    classifier = tiny(network__reading="flow").fit_documents(documents).fit_baseline(documents)
    classifier.save(folder)
    asked = [*texts[:6], "", "Größe 🎬 und\nMusik. A great evening!"]
    expected = {
        "texts": asked,
        "classes": classifier.classes_.tolist(),
        "probabilities": classifier.predict_proba(asked).tolist(),
        "baseline": classifier.baseline_.predict_proba(asked).tolist(),
        "heaviest_word": classifier.explain(asked[0]).words(1)[0].text,
    }
    folder.with_suffix(".json").write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
