"""Folders in which anything was changed, and the digests made to fit: an answer, or one line."""

import copy
import json
import random
import shutil
from itertools import chain

import numpy as np
import pytest

from regard import DocumentClassifier, RegardError, Translator
from regard.estimators.folder import seal
from support.parrots import new_translator, parrots
from support.reviews import reviews, tiny

ABSENT = object()
VALUES = [
    *(None, True, -1, 0, 1, 2, 2**31, 10**9, 10**400, 1e308, float("nan"), float("inf")),
    *("", "x", "\ud800", [], {}, [[[]]], {"a": {"b": []}}, ABSENT),
]
TEXTS = ["a great film b c. We saw it!", ""]


def places(value, at=()):
    """Every place in a JSON value; of a long list the first two."""
    if at:
        yield at
    inside = value.items() if isinstance(value, dict) else ()
    inside = enumerate(value[:2]) if isinstance(value, list) else inside
    for name, part in inside:
        yield from places(part, (*at, name))


def changed(value, at, new):
    whole = copy.deepcopy(value)
    inside = whole
    for name in at[:-1]:
        inside = inside[name]
    if new is ABSENT:
        del inside[at[-1]]
    else:
        inside[at[-1]] = new
    return whole


def use_classifier(folder):
    classifier = DocumentClassifier.load(folder, device="cpu")
    assert np.isfinite(classifier.predict_proba(TEXTS)).all()
    classifier.predict(TEXTS)
    classifier.explain(TEXTS)


def use_translator(folder):
    translator = Translator.load(folder, device="cpu")
    assert all(np.isfinite(one.score) for one in chain(*translator.candidates(TEXTS)))
    translator.explain(TEXTS)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A folder of each kind, to break."""
    pytest.importorskip("tokenizers", reason="the extra translate is not installed")
    place = tmp_path_factory.mktemp("hostile")
    tiny(training__epochs=1).fit(*reviews(30)).save(place / "classifier")
    small = {"network__embedding_size": 8, "network__hidden_size": 8, "training__monitor": "loss"}
    for kind in ("words", "subwords"):
        made = new_translator(training__epochs=1, units__kind=kind, **small)
        made.fit(*parrots(30)).save(place / kind)
    return place


CASES = [
    ("classifier", "config.json", use_classifier),
    ("words", "config.json", use_translator),
    ("words", "source_units.json", use_translator),
    ("subwords", "target_units.json", use_translator),
]


def try_changes(folders, kind, name, use, share):
    draw = random.Random(f"{kind} {name}")
    whole = json.loads((folders / kind / name).read_text())
    cases = [(at, value) for at in places(whole) for value in VALUES]
    refused = 0
    for at, value in draw.sample(cases, int(len(cases) * share)):
        folder = shutil.copytree(folders / kind, folders / "changed", dirs_exist_ok=True)
        (folder / name).write_text(json.dumps(changed(whole, at, value)))
        if at != ("digests",):
            seal(folder)
        try:
            use(folder)
        except RegardError as problem:
            refused += 1
            assert "\n" not in str(problem) and len(str(problem)) < 600, (at, value)
        shutil.rmtree(folder)
    assert refused > share * len(cases) / 4, "most of these cannot be read"


@pytest.mark.parametrize(("kind", "name", "use"), CASES)
def test_whatever_a_folder_says_is_an_answer_or_one_line(folders, kind, name, use):
    try_changes(folders, kind, name, use, 0.02)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name", "use"), CASES)
def test_whatever_a_folder_says_in_many_more_places(folders, kind, name, use):
    try_changes(folders, kind, name, use, 0.3)
