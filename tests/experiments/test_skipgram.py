import random
from pathlib import Path

import numpy as np
import pytest

from regard.data.vectors import read_vectors
from regard.errors import ConfigError
from regard.experiments.skipgram import SkipGramConfig, learn_vectors
from regard.text.vocab import Vocab

KINDS = {"pets": ["cat", "dog", "hamster"], "fruit": ["apple", "pear", "plum"]}
VERBS = {"pets": ["barks", "sleeps", "runs"], "fruit": ["ripens", "rots", "falls"]}


def texts(count=1500):
    """Sentences in which pets do one kind of thing and fruit another."""
    draw = random.Random(0)
    found = []
    for _ in range(count):
        kind = draw.choice(list(KINDS))
        found.append(f"the {draw.choice(KINDS[kind])} {draw.choice(VERBS[kind])} here")
    return found


@pytest.fixture(scope="module")
def laps():
    # So few different words are all frequent: none may be passed over for it.
    config = SkipGramConfig(size=12, min_count=5, epochs=10, batch_size=256, subsample=1.0)
    return list(learn_vectors(texts(), config))


def test_words_that_stand_alike_lie_together(laps):
    """004-01: the neighbours of a pet are the other pets, those of a fruit fruit."""
    vectors = laps[-1].vectors
    for kind in KINDS.values():
        for word in kind:
            near = {one.word for one in vectors.nearest(word, 2)}
            assert near == set(kind) - {word}


def test_the_loss_falls_and_words_are_sorted_by_frequency(laps):
    assert laps[-1].loss < laps[0].loss
    counts = laps[-1].vectors.counts.tolist()
    assert counts == sorted(counts, reverse=True)
    assert laps[-1].vectors.words[0] in ("the", "here")


def test_the_nearest_are_those_of_the_smallest_angle(laps):
    vectors = laps[-1].vectors
    place = vectors.words.index("cat")
    cosines = [
        vector @ vectors.vectors[place] / np.linalg.norm(vector) for vector in vectors.vectors
    ] / np.linalg.norm(vectors.vectors[place])
    found = vectors.nearest("cat", 3)
    order = [vectors.words[at] for at in np.argsort(-cosines) if at != place][:3]
    assert [one.word for one in found] == order
    assert found[0].similarity == pytest.approx(np.sort(cosines)[-2], abs=1e-5)


def test_the_seed_decides_the_vectors(laps):
    def vectors(seed):
        config = SkipGramConfig(size=12, min_count=5, epochs=1, seed=seed)
        return next(learn_vectors(texts(200), config)).vectors.vectors

    assert np.array_equal(vectors(1), vectors(1))
    assert not np.array_equal(vectors(1), vectors(2))


def test_what_was_learnt_can_be_read_as_pretrained_vectors(laps, tmp_path: Path):
    """Learnt here, used in training there."""
    learnt = laps[-1].vectors
    learnt.save(tmp_path / "vectors.txt")
    read = read_vectors(tmp_path / "vectors.txt", Vocab(learnt.words))
    np.testing.assert_allclose(read.matrix[2:], learnt.vectors, atol=1e-5)


def test_a_corpus_of_rare_words_is_refused_kindly():
    with pytest.raises(ConfigError, match="lower min_count"):
        next(learn_vectors(["one two three"], SkipGramConfig()))


def test_texts_without_words_are_passed_over():
    given = ["", *texts(100), "...", ""]
    assert next(learn_vectors(given, SkipGramConfig(size=4, min_count=5, epochs=1))).loss > 0


def test_wrong_settings_are_refused():
    with pytest.raises(ConfigError, match="window must be at least 1"):
        SkipGramConfig(window=0)
