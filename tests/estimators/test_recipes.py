"""Recipes a person can name, and the line that says what was picked."""

from dataclasses import replace

import pytest

from regard.errors import ConfigError
from regard.estimators.recipes import BALANCED, RECIPES, STEPS, find_recipe
from regard.records.data import DataCheck, Lengths


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
    korean = BALANCED.describe(check(few), syllables=True)
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
    recipe = replace(BALANCED, least_steps=STEPS)
    assert recipe.batch_size(730, 64) == 18 and recipe.batch_size(40, 64) == 8
    assert recipe.batch_size(100_000, 64) == 64 == BALANCED.batch_size(40, 64)
