"""Hidden pieces: as many as asked, special ones never, and what was there is told."""

import numpy as np
import pytest

from regard.data.masking import UNASKED, MaskingConfig, RowsToMask, encode_texts
from regard.data.rows import Rows
from regard.errors import ConfigError
from support.pieces import TEXTS, learnt

PIECES = learnt(90)
CORPUS = Rows.of(PIECES.ids([" ".join(TEXTS * 2), *TEXTS * 30, "", "a"]))


def batch(config: MaskingConfig, seed: int = 0):
    """All rows, with pieces hidden."""
    rows = RowsToMask(CORPUS, PIECES, config)
    return rows, rows.batch(np.arange(len(rows.lengths)), np.random.default_rng(seed))


def test_rows_are_the_texts_again():
    """Without the special pieces, and with what was hidden, the corpus comes back."""
    config = MaskingConfig(longest=20, next_sentence=False)
    _, made = batch(config)
    ids = made.ids.values.numpy().copy()
    ids[made.asked.numpy()] = made.wanted.numpy()
    assert ids[~np.isin(ids, [PIECES.start, PIECES.end])].tolist() == CORPUS.items.tolist()
    assert max(made.ids.host_lengths) <= 20
    assert (made.follows == UNASKED).all()


def test_shares_are_those_of_the_paper():
    """15 in 100 are asked for; of those eight in ten are hidden and one in ten is another piece."""
    counts = np.zeros(4)
    for seed in range(20):
        _, made = batch(MaskingConfig(longest=40), seed)
        shown = made.ids.values[made.asked]
        same, hidden = shown == made.wanted, shown == PIECES.mask
        special = [PIECES.start, PIECES.end]
        marks = [*special, PIECES.padding, PIECES.unknown]
        assert not np.isin(shown[~same], marks).any()
        assert not np.isin(made.wanted.numpy(), special).any()
        texts = made.token_count - int(np.isin(made.ids.values.numpy(), special).sum())
        counts += [texts, len(made.asked), int(hidden.sum()), int(same.sum())]
    assert counts[1] / counts[0] == pytest.approx(0.15, abs=0.01)
    assert counts[2] / counts[1] == pytest.approx(0.8, abs=0.02)
    assert counts[3] / counts[1] == pytest.approx(0.1, abs=0.02)


def test_whole_words_are_hidden_together():
    """No word is asked for in part."""
    _, made = batch(MaskingConfig(longest=40, whole_words=True, share=0.3))
    asked = np.zeros(made.token_count, dtype=bool)
    asked[made.asked.numpy()] = True
    ids = made.ids.values.numpy().copy()
    ids[asked] = made.wanted.numpy()
    going_on = np.flatnonzero(PIECES.continues[ids])
    assert len(going_on) > 20
    assert (asked[going_on] == asked[going_on - 1]).all()


def test_half_of_the_rows_go_on_with_another_text():
    """Each begins with [CLS], has two texts and two ends, and words are not cut in two."""
    _, made = batch(MaskingConfig(longest=30), seed=3)
    follows = made.follows[made.follows != UNASKED]
    assert 0.3 < follows.float().mean() < 0.7
    ids = made.ids.values.clone()
    ids[made.asked] = made.wanted
    rows = made.ids.with_values(ids).rows()
    segments = made.ids.with_values(made.segments).rows()
    for row, which, asked in zip(rows, segments, made.follows.tolist(), strict=True):
        assert row[0] == PIECES.start and row[-1] == PIECES.end
        assert int((row == PIECES.end).sum()) == (1 if asked == UNASKED else 2)
        assert not PIECES.continues[row[which == 1]][:1].any()
        assert len(row) <= 30


def test_what_does_not_follow_is_of_another_text():
    """Each text repeats a word of its own, so that it is known whose a second half is."""
    words = np.flatnonzero(~PIECES.continues)[-3:]
    texts = Rows.of([np.full(40, word, dtype=np.int32) for word in words])
    rows = RowsToMask(texts, PIECES, MaskingConfig(longest=20))
    draw = np.random.default_rng(0)
    asked = []
    for _ in range(20):
        made = rows.batch(np.arange(len(rows.lengths)), draw)
        ids = made.ids.values.clone()
        ids[made.asked] = made.wanted
        segments = made.ids.with_values(made.segments).rows()
        for row, which, follows in zip(
            made.ids.with_values(ids).rows(), segments, made.follows.tolist(), strict=True
        ):
            if follows != UNASKED:
                assert (row[1] == row[which == 1][0]) == (follows == 0)
                asked.append(follows)
    assert 0.2 < np.mean(asked) < 0.5  # a draw of the same text is left as it is


def test_the_same_generator_hides_the_same(tmp_path):
    """Draws come from the generator alone, and a file gives what memory gives."""
    config = MaskingConfig(longest=30)
    texts = [*TEXTS, ""]
    stored = encode_texts(texts, PIECES, tmp_path)
    given = [RowsToMask(rows, PIECES, config) for rows in (stored, Rows.of(PIECES.ids(texts)))]
    one, two = (rows.batch(np.arange(5), np.random.default_rng(1)) for rows in given)
    assert all((a == b).all() for a, b in zip(one.tensors, two.tensors, strict=True))


def test_settings_are_checked():
    """What cannot be is named."""
    with pytest.raises(ConfigError, match="together"):
        MaskingConfig(hidden=0.9, random=0.2)
    with pytest.raises(ConfigError, match="longest"):
        MaskingConfig(longest=4)


@pytest.mark.parametrize("longest", [8, 16, 40])
@pytest.mark.parametrize("next_sentence", [False, True])
def test_words_longer_than_a_row_are_cut_and_nothing_of_them_is_lost(longest, next_sentence):
    """Every row has a piece to ask for, and all rows together every piece."""
    word = int(np.flatnonzero(~PIECES.continues)[-1])
    rest = np.flatnonzero(PIECES.continues)
    draw = np.random.default_rng(0)
    texts = [
        np.concatenate([[word, *draw.choice(rest, size)] for size in draw.integers(0, 60, 4)])
        for _ in range(50)
    ]
    rows = RowsToMask(
        Rows.of([text.astype(np.int32) for text in texts]),
        PIECES,
        MaskingConfig(longest=longest, next_sentence=next_sentence),
    )
    assert int((rows.lengths - 3).sum()) == sum(map(len, texts))
    assert rows.lengths.min() >= 4 and rows.lengths.max() <= longest
    for number in range(len(rows.lengths)):
        assert len(rows.batch(np.array([number]), draw).asked)
