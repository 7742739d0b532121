"""The n-grams' share beside the network's: on the page, in a notebook and in a terminal."""

import math
import re

import pytest

TEXT = "We saw a great <b>film</b>. Then the music was dull and awful!"


@pytest.fixture(scope="module")
def explanation(fitted):
    return fitted.explain(TEXT, method="gradient_input")


def test_the_page_shades_words_by_each_part(explanation):
    page = explanation.to_html()
    for key, title in (("n", "n-grams"), ("m", "network")):
        assert f'value="{key}">{title}' in page
        assert re.search(rf'<mark class="[^"]*\b{key}\d+', page), "a word is shaded by it"
    assert "by n-grams, exactly" in page
    assert "<b>film" not in page


def test_page_and_notebook_have_bars_that_add_up(explanation):
    shares = explanation.decisions[0].shares
    for drawn in (explanation.to_html(), explanation._repr_html_()):
        for part in (shares.network, math.fsum(shares.ngrams.amounts), shares.start):
            assert f"{part:+.3f}" in drawn
        assert f"Log-odds of {explanation.label} against {shares.against}" in drawn


def test_the_terminal_says_the_parts_and_the_words_of_the_ngrams(explanation):
    told = " ".join(explanation.to_text().replace("\u00a0", " ").split())
    shares = explanation.decisions[0].shares
    assert f"{shares.network:+.3f} from the network" in told
    strongest = max(range(len(shares.ngrams)), key=lambda n: abs(shares.ngrams.amounts[n]))
    start, end = shares.ngrams.pieces[strongest]
    amount = shares.ngrams.amounts[strongest]
    assert f"N-grams, exactly: {TEXT[start:end]} {amount:+.3f}" in told


def test_without_ngrams_nothing_is_said_of_them(explanation):
    from dataclasses import replace

    bare = tuple(replace(decision, shares=None) for decision in explanation.decisions)
    alone = replace(explanation, decisions=bare)
    assert "n-grams" not in alone.to_html() and "n-grams" not in alone.to_text().lower()
