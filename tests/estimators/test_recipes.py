"""Recipes a person can name, and the line that says what was picked."""

from dataclasses import replace

import pytest

from regard.errors import ConfigError
from regard.estimators.recipes import (
    BALANCED,
    FEWEST_EPOCHS,
    RECIPES,
    STEPS,
    find_recipe,
    recipe_for,
)
from regard.records.data import DataCheck, Lengths
from regard.training.config import TrainingConfig
from support.reviews import reviews, tiny


def check(documents):
    lengths = Lengths(median=120)
    return DataCheck(
        documents=documents,
        validation_documents=0,
        multilabel=False,
        classes=(),
        tokens=documents * 120,
        distinct_words=9,
        tokens_per_document=lengths,
        sentences_per_document=lengths,
        words_per_sentence=lengths,
        empty_documents=0,
        duplicates=0,
        contradictions=0,
    )


def test_a_line_says_what_was_picked_and_why():
    """13.3: documents, lengths, script, unlabelled texts, device and time, in one line."""
    few = 500
    line = BALANCED.describe(check(few))
    assert line.startswith("recipe balanced, the default; word vectors learnt beforehand from")
    assert line.endswith(f"({few:,} documents of 120 words at the median, on cpu)")
    timed = check(few).with_estimates(seconds=120)
    assert BALANCED.describe(timed).endswith("on cpu, about 2 min)")
    korean = BALANCED.describe(replace(check(few), token="syllable"))
    assert "Korean by syllables, since its words are mostly new (" in korean
    assert "of 120 syllables at the median" in korean
    assert BALANCED.describe(check(few), device="cuda").endswith("on cuda)")
    assert "those without labels too" in BALANCED.describe(check(few), given="unlabelled")
    assert "from the file" in BALANCED.describe(check(few), given="vectors")
    assert "from the labels alone" in RECIPES["fast"].describe(check(few))
    assert "; every document held out once, in 4 folds (" in BALANCED.describe(check(few), folds=4)
    assert all("\n" not in recipe.describe(check(few)) for recipe in RECIPES.values())


def test_another_recipe_is_an_error_that_names_them():
    with pytest.raises(ConfigError, match="balanced"):
        find_recipe("balance")


def test_few_documents_are_cut_into_steps_enough():
    assert BALANCED.batch_size(730, 64) == 18 and BALANCED.batch_size(40, 64) == 8
    left = replace(BALANCED, least_steps=0)
    assert BALANCED.batch_size(100_000, 64) == 64 == left.batch_size(40, 64)


def test_many_long_documents_are_read_less_often():
    """As often as 25,000 reviews want; short ones, papers and few documents are read as ever."""

    def epochs(documents, words, recipe=BALANCED):
        return recipe.epochs(documents, documents * words, batch_size=64, usual=8)

    assert epochs(22_500, 270) == 4 and epochs(14_400, 270) == 6
    assert epochs(50_000, 20) == 8 and epochs(2_160, 6_400) == 8 and epochs(0, 0) == 8
    assert epochs(10**8, 500) == FEWEST_EPOCHS
    assert all(epochs(10**8, 500, RECIPES[name]) == 8 for name in ("fast", "accurate"))
    assert BALANCED.epochs(22_500, 22_500 * 270, batch_size=64, usual=3) == 3


def test_few_or_short_documents_of_many_classes_are_read_more_often():
    """As often as makes steps and words enough, and twice as often as others at most."""

    def epochs(documents, words, recipe=BALANCED, usual=8):
        return recipe.epochs(
            documents, documents * words, batch_size=64, usual=usual, many_classes=True
        )

    assert epochs(2_700, 80) == 16 and epochs(5_900, 130) == 15 and epochs(0, 0) == 16
    assert epochs(2_160, 6_400) == 8 and epochs(10_200, 300) == 8 and epochs(54_000, 20) == 8
    assert epochs(22_500, 270) == 4
    assert all(epochs(2_700, 80, RECIPES[name]) == 8 for name in ("fast", "accurate"))


def test_what_is_asked_for_by_name_is_left_alone():
    asked = recipe_for("balanced", ["training.epochs=8", "training.batch_size=64"])
    assert asked.enough is None and asked.least_steps == 0
    usual = recipe_for("balanced", ["training.seed=1"])
    assert usual.enough == BALANCED.enough and usual.least_steps == STEPS


def test_few_documents_get_smaller_batches_from_python_as_from_the_shell():
    """The shell took steps of 8 documents where fit took steps of 64, from the same settings."""
    usual = TrainingConfig.batch_size
    for given, used in ((usual, 8), (32, 32)):
        classifier = tiny(training__batch_size=given, training__epochs=1, progress=False)
        classifier.fit(*reviews(60))
        assert classifier.settings_.training.batch_size == used
