"""A look through a corpus and a difference of models, made by hand, for tests of the views."""

from regard.records.look import (
    Answer,
    ChangedDocument,
    ClassSentences,
    Deciding,
    Difference,
    Evenness,
    Look,
    Suspect,
    WordContext,
    WordUse,
)

BINS = (5, 3, 0, 1)


def looked(explanation, *, label="positive", word="good", sentence="It was good."):
    """Return findings of every kind; the names may be hostile."""
    uses = [WordUse(None, 18, 0.21, 2.5, (10, 6, 0, 2)), WordUse(label, 12, 0.3, 3.0, BINS)]
    return Look(
        documents=40,
        words=(WordContext(word, "sentence", (0.0, 0.25, 0.5, 0.75, 1.0), tuple(uses)),),
        spreads=(
            Evenness("word", 90, 12.0, 4.5, 0.61, 0.02, (1, 2, 80, 7)),
            Evenness("sentence", 40, 6.0, 2.0, 0.4, 0.0, (10, 20, 10, 0)),
        ),
        classes=(ClassSentences(label, 25, (Deciding(sentence, 3, 0.42, 1, (0, 7, 11)),)),),
        labelled=40,
        disagreements=5,
        measured=2,
        suspects=(Suspect(6, ("negative",), label, 0.97, "faithful", 0.6, explanation),),
        title="m on d.csv",
    )


def differing(old, new, *, label="positive", start="It was good."):
    """Return a difference with a changed label, shown, and changed reasons, not shown."""
    changes = (
        ChangedDocument(
            4, start, Answer((label,), 0.8, old), Answer(("no",), 0.6, new), 0.2, True, ("no",)
        ),
        ChangedDocument(9, start, Answer((label,), 0.9), Answer((label,), 0.7), 0.4, False),
    )
    return Difference("m1", "m2", 30, changes, 1, 1, 1, 0, 0.83, (0, 2, 8, 20), method="erasure")
