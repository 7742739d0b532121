"""Real texts of several languages, scanned in C and by the plain definition."""

from pathlib import Path

import numpy as np
import pyarrow.parquet
import pytest

from regard.text.encode import encode
from regard.text.tokenize import TextConfig, tokenize, tokenize_many
from regard.text.vocab import Numbering
from support.native_cases import needs_native

DATA = Path(__file__).resolve().parents[2] / ".." / "shared" / "data"

# file: how many of its rows to take, spread over all of it
FILES = {
    "imdb/train.parquet": 400,
    "imdb/unsup.parquet": 200,
    "20newsgroups/train.parquet": 200,
    "gnad10_de/official_test_only.parquet": 100,
    "nsmc_ko/train.parquet": 2000,
    "chnsenticorp_zh/train.parquet": 500,
    "sentence_boundaries/golden_rules.parquet": 1000,
    "sentence_boundaries/ud_de_gsd.parquet": 1000,
    "sentence_boundaries/ud_en_ewt.parquet": 2000,
    "sentence_boundaries/ud_en_gum.parquet": 1000,
    "sentence_boundaries/ud_ko_gsd.parquet": 1000,
    "sentence_boundaries/ud_ko_kaist.parquet": 1000,
}


@needs_native
@pytest.mark.skipif(not DATA.is_dir(), reason=f"needs the texts in {DATA.name}")
@pytest.mark.parametrize("file", FILES)
def test_real_texts_are_scanned_as_defined(file):
    """Issue 3: spans, sentences and words are those of the plain definition."""
    column = pyarrow.parquet.read_table(DATA / file, columns=["text"])["text"].to_pylist()
    texts = column[:: max(1, len(column) // FILES[file])]
    texts += [" ".join(column[place : place + 10]) for place in range(0, min(len(column), 500), 10)]
    numbering = Numbering()
    encoded = encode(texts, numbering, TextConfig())
    words = np.array(numbering.words, dtype=object)[encoded.ids].tolist()
    for text, found in zip(texts, tokenize_many(texts), strict=True):
        wanted = tokenize(text)
        np.testing.assert_array_equal(found.spans, wanted.spans)
        np.testing.assert_array_equal(found.per_sentence, wanted.per_sentence)
        assert words[: len(wanted)] == wanted.words()
        del words[: len(wanted)]
    assert not words
