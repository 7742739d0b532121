"""Documents of every size: empty, one word, one very long sentence, very many words."""

import json
import os
import subprocess
import sys
from pathlib import Path

import regard

WORDS = ["the", "film", "long", "story", "we", "saw", "it", "was", "then", "great", "music"]

SCRIPT = """
import json, resource, sys
from regard import DocumentClassifier
classifier = DocumentClassifier.load(sys.argv[1])
found = {}
for name, text in json.load(sys.stdin).items():
    likely = classifier.predict_proba([text])[0]
    explanation = classifier.explain(text)
    decision = explanation.decisions[0]
    words, sentences = decision.level("word"), decision.level("sentence")
    found[name] = {
        "sum": likely.sum(),
        "words": len(words.values),
        "sentences": len(sentences.values),
        "weights": sum(sentences.values),
        "last": text[slice(*words.pieces[-1])] if len(words.values) else "",
    }
found["resident"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps(found))
"""


def long_text(words, sentence):
    """A text of so many words, so many of them a sentence, that ends with a word of its own."""
    drawn = [WORDS[place * 7 % 11] for place in range(words - 1)] + ["finis"]
    starts = range(0, words, sentence)
    return " ".join(
        " ".join(drawn[start : start + sentence]).capitalize() + "." for start in starts
    )


def test_no_document_is_too_short_or_too_long(tmp_path):
    """Default sizes, in a process of its own, within 1.5 GB of resident memory."""
    texts, labels = ["A great film.", "A dull story."] * 10, ["good", "bad"] * 10
    training = regard.TrainingConfig(epochs=1)
    regard.DocumentClassifier(training=training).fit(texts, labels).save(tmp_path / "model")
    asked = {
        "empty": "",
        "one word": "film",
        "long sentence": long_text(2_000, 2_000),
        "long document": long_text(200_000, 25),
    }
    ran = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "model")],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(regard.__file__).parents[1])},
    )
    found = json.loads(ran.stdout)
    kilobytes = found.pop("resident")
    assert {name: row["words"] for name, row in found.items()} == {
        "empty": 0,
        "one word": 1,
        "long sentence": 2_001,
        "long document": 208_000,
    }
    assert [row["sentences"] for row in found.values()] == [0, 1, 1, 8_000]
    assert all(abs(row["sum"] - 1) < 1e-6 for row in found.values())
    assert all(abs(row["weights"] - 1) < 1e-6 for row in found.values() if row["words"])
    assert kilobytes < 1.5 * 2**20
