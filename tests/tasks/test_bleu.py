"""BLEU and chrF as sacrebleu counts them, whole and added up from shares."""

import builtins

import numpy as np
import pytest

from regard.errors import DataError, MissingExtra
from regard.tasks.bleu import (
    BLEU_COUNTS,
    bleu_counts,
    bleu_of_counts,
    doubt_translations,
    score_translations,
)

sacrebleu = pytest.importorskip("sacrebleu", reason="the extra translate is not installed")

WRITTEN = ["The cat sat on the mat.", "A dog barks at the red house", "Hello", ""]
REFERENCES = ["The cat sat on the mat.", "The dog barks at a red house.", "Hello there", "Yes"]


def test_scores_are_sacrebleus_own():
    """002-18: cased and not tokenised beforehand, with the default signature."""
    found = score_translations(WRITTEN, REFERENCES)
    assert found.bleu == sacrebleu.corpus_bleu(WRITTEN, [REFERENCES]).score
    assert found.chrf == sacrebleu.corpus_chrf(WRITTEN, [REFERENCES]).score
    assert found.bleu_signature.startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    assert found.chrf_signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:")
    assert (found.pairs, found.exact) == (4, 0.25)


@pytest.mark.parametrize("cut", range(5))
def test_counts_of_shares_add_up_to_the_whole(cut):
    shares = [slice(None, cut), slice(cut, None)]
    total = sum(bleu_counts(WRITTEN[share], REFERENCES[share]) for share in shares)
    assert bleu_of_counts(total) == pytest.approx(score_translations(WRITTEN, REFERENCES).bleu)


def test_nothing_at_all_counts_nothing():
    assert np.array_equal(bleu_counts([], []), np.zeros(BLEU_COUNTS))
    assert bleu_of_counts(np.zeros(BLEU_COUNTS)) == 0


@pytest.mark.parametrize("written", [[], ["a", "b"]])
def test_texts_and_references_must_fit(written):
    with pytest.raises(DataError, match=r"no pairs to score|do not fit"):
        score_translations(written, ["a"] if written else [])


def test_without_sacrebleu_it_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest):
        if name.startswith("sacrebleu"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtra, match=r"needs sacrebleu.*pip install 'regard\[translate\]'"):
        score_translations(["a"], ["a"])


SENTENCES = [f"a man number {number} sees the dog of {number + 3} women" for number in range(60)]


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (["Ein"] * 60, "'Ein' is written about 60 of 60"),
        ([*SENTENCES[:20], *["Ein Mann"] * 40], "'Ein Mann' is written about 40 of 60"),
        ([f"Ein {number % 5}" for number in range(60)], "only 5 different texts"),
        ([chr(0x3400 + number) * 9 for number in range(60)], "hardly a letter"),
        (["y" * 200] * 60, "yyy...'"),
    ],
)
def test_what_can_be_no_translation_is_doubted(written, said):
    """Issue 10.7: a translator wrote "Ein" for everything without a word of warning."""
    assert said in doubt_translations(written, SENTENCES)


def test_what_may_be_a_translation_is_not_doubted():
    assert doubt_translations(SENTENCES, SENTENCES) is None
    assert doubt_translations(SENTENCES[::-1], SENTENCES) is None, "bad, but no nonsense"
    answers = ["yes", "no"] * 30
    assert doubt_translations(answers, answers) is None, "where the references are few too"
    assert doubt_translations(["Ein"] * 9, SENTENCES[:9]) is None, "of few pairs nothing is said"
