"""The four usages of BERT: each learns a toy, is saved and read again, and cuts nothing unsaid."""

import itertools
import json
import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.data.spans import Marked
from regard.data.tuning import Example, windows
from regard.errors import ConfigError, DataError, ModelError
from regard.estimators.bert_folder import save_bert
from regard.estimators.bert_usages import (
    USAGES,
    BertPairClassifier,
    BertSpanFinder,
    BertTagger,
    BertTextClassifier,
)
from regard.estimators.tuning import TUNING
from regard.models.bert import BertConfig
from regard.models.tuned_bert import TuningConfig
from regard.ragged import Ragged
from regard.text.pieces import SPECIAL, PiecesConfig, WordPieces
from regard.text.vocab import cut_texts

LETTERS = "abcdefghijklmnopqrstuvwxyz"
WORDS = ["good", "bad", "film", "play", "was", "very", "berlin", "rome", "in", "again", "?"]
QUICK = replace(TUNING, epochs=12, batch_size=8, learning_rate=3e-3, warmup=0.05)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A tiny BERT with fresh weights, and pieces for a few words and all letters."""
    alphabet = [*LETTERS, *(f"##{letter}" for letter in LETTERS)]
    pieces = WordPieces([*SPECIAL, *WORDS, *alphabet])
    torch.manual_seed(3)
    config = BertConfig(32, 2, 2, 48, longest=24, dropout=0.0)
    place = tmp_path_factory.mktemp("bert") / "bert"
    save_bert(place, config.build(vocab_size=len(pieces)), pieces)
    return place


def sentences(count: int, length: int = 6) -> list[str]:
    """Texts of words that mean nothing."""
    random = np.random.default_rng(count)
    neutral = ["film", "play", "was", "very", "in", "again"]
    return [" ".join(random.choice(neutral, length)) for _ in range(count)]


def judged(count: int, length: int = 6) -> tuple[list[str], list[str]]:
    """Texts with one word that says how they are meant."""
    labels = ["good" if place % 2 else "bad" for place in range(count)]
    random = np.random.default_rng(1)
    texts = []
    for text, label in zip(sentences(count, length), labels, strict=True):
        words = text.split()
        words.insert(int(random.integers(len(words))), label)
        texts.append(" ".join(words))
    return texts, labels


def tuned(kind, folder, **changes):
    """An estimator that learns for a moment."""
    given = {"training": QUICK, "device": "cpu", "progress": False, "validation": 0.0, **changes}
    return kind(folder, **given)


def test_one_text_is_learnt_saved_and_read_again(folder, tmp_path):
    """000-01, 004-14: 32 texts are known by heart, and the folder answers as the estimator did."""
    texts, labels = judged(32)
    classifier = tuned(BertTextClassifier, folder).fit(texts, labels)
    assert classifier.score(texts, labels) == 1.0
    classifier.save(tmp_path / "model")
    again = BertTextClassifier.load(tmp_path / "model", device="cpu")
    np.testing.assert_array_equal(again.predict_proba(texts), classifier.predict_proba(texts))
    assert again.predict(texts[:2]).tolist() == labels[:2]
    with pytest.raises(ModelError, match="bert-text"):
        BertTagger.load(tmp_path / "model")


@pytest.mark.parametrize(("layers", "moved"), [(0, set()), (1, {"1"}), (None, {"0", "1", "e"})])
def test_frozen_parts_stay_as_they_are(folder, layers, moved):
    """000-01: head alone, the top layer, or all of it is tuned."""
    texts, labels = judged(16)
    training = replace(QUICK, epochs=1)
    given = {"tuning": TuningConfig(layers=layers), "training": training}
    classifier = tuned(BertTextClassifier, folder, **given)
    classifier.fit(texts, labels)
    from regard.estimators.bert_folder import load_bert

    before, after = load_bert(folder).bert.state_dict(), classifier.model_.bert.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert {re.sub(r"blocks\.(\d).*|(e)mbedding.*|.*", r"\1\2", name) for name in changed} - {
        ""
    } == moved
    assert "pooler.weight" in changed


def test_lower_layers_learn_more_slowly(folder):
    """Each has a share of the rate of the one above."""
    tuner = tuned(BertTextClassifier, folder, tuning=TuningConfig(layer_decay=0.5))
    tuner.fit(*judged(16))
    rates = tuner.model_.learning_rates()
    assert rates["bert.blocks.1."] == QUICK.learning_rate
    assert rates["bert.blocks.0."] == QUICK.learning_rate / 2
    assert rates["bert.embedding."] == QUICK.learning_rate / 4


def test_a_text_too_long_is_counted_and_named(folder):
    """Cut in the middle with a warning that names HAN over BERT, or refused where asked."""
    texts, labels = judged(20)
    texts[3] = " ".join([texts[3], *sentences(1, 40)])
    classifier = tuned(BertTextClassifier, folder, training=replace(QUICK, epochs=1))
    classifier.fit(texts, labels)
    assert classifier.facts_["texts_cut"] == 1
    with pytest.warns(UserWarning, match=r"1 of 20 texts .* bert-han"):
        classifier.predict(texts)
    strict = tuned(BertTextClassifier, folder, tuning=TuningConfig(long="stop"))
    with pytest.raises(DataError, match=r"1 of 20 texts have more than 24 pieces.*bert-han"):
        strict.fit(texts, labels)


def test_pairs_are_learnt(folder):
    """004-14: the second text decides, and the first may hold the same words."""
    random = np.random.default_rng(2)
    words = random.choice(["berlin", "rome"], (64, 2))
    labels = words[:, 1].tolist()
    first = [f"very {one}" for one in words[:, 0]]
    second = [f"in {other} again" for other in words[:, 1]]
    pairs = tuned(BertPairClassifier, folder).fit(first, second, labels)
    assert (pairs.predict(first, second) == labels).mean() > 0.95
    scores = pairs.evaluate_examples(
        [Example(*one) for one in zip(first, second, labels, strict=True)]
    )
    assert scores.scores["macro_f1"] > 0.95 > scores.baseline["accuracy"]


def test_spans_are_found_in_texts_longer_than_a_row(folder, tmp_path):
    """004-14: the question says which word is meant, and a text has more pieces than a row."""
    random = np.random.default_rng(5)
    texts, questions, spans = [], [], []
    for text in sentences(60, 14):
        words = text.split()
        for name in ("berlin", "rome"):
            words.insert(int(random.integers(len(words))), name)
        asked = str(random.choice(["berlin", "rome"]))
        whole = " ".join(words)
        texts.append(whole)
        questions.append(f"{asked} ?")
        spans.append([(whole.index(asked), whole.index(asked) + len(asked))])
    long = [f"{' '.join(sentences(1, 60))} {text}" for text in texts[:8]]
    shift = len(long[0]) - len(texts[0])
    finder = tuned(BertSpanFinder, folder, training=replace(QUICK, epochs=30))
    finder.fit(texts, spans, questions)
    assert not finder.facts_["leaves_out"]
    found = finder.predict(long, questions[:8])
    right = [own[0][0] + shift for own in spans[:8]]
    assert sum(one.start == place for one, place in zip(found, right, strict=True)) >= 7
    examples = [
        Example(text, question, marked=tuple(Marked(*one) for one in own))
        for text, question, own in zip(texts, questions, spans, strict=True)
    ]
    scores = finder.evaluate_examples(examples)
    assert scores.scores["exact_match"] > 0.8 > scores.baseline["token_f1"]
    finder.save(tmp_path / "model")
    assert (
        BertSpanFinder.load(tmp_path / "model", device="cpu").predict(long, questions[:8]) == found
    )


def test_saying_nothing_is_learnt_where_some_texts_have_no_answer(folder):
    """A text without the word has no span."""
    texts = [f"{text} berlin" if place % 2 else text for place, text in enumerate(sentences(40))]
    spans = [[(len(text) - 6, len(text))] if "berlin" in text else [] for text in texts]
    finder = tuned(BertSpanFinder, folder, training=replace(QUICK, epochs=25)).fit(texts, spans)
    found = finder.predict(texts)
    assert [one is None for one in found] == [not own for own in spans]
    assert all(one is None or one.text == "berlin" for one in found)


def test_tags_are_learnt_and_joined_over_windows(folder, tmp_path):
    """004-14: two labels, words of several pieces, and a text of several windows."""
    texts = []
    random = np.random.default_rng(8)
    for text in sentences(40, 8):
        words = text.split()
        words.insert(int(random.integers(len(words))), "berlin")
        words.insert(int(random.integers(len(words))), "zürich")
        texts.append(" ".join(words))

    def marked(text):
        places = [(m.start(), m.end(), "north") for m in re.finditer("berlin", text)]
        return sorted(places + [(m.start(), m.end(), "south") for m in re.finditer("zürich", text)])

    tagger = tuned(BertTagger, folder, training=replace(QUICK, epochs=15))
    tagger.fit(texts, [marked(text) for text in texts])
    long = " ".join(texts[:6])
    (found,) = tagger.predict([long])
    assert [(one.start, one.end, one.label) for one in found] == marked(long)
    examples = [Example(text, marked=tuple(Marked(*m) for m in marked(text))) for text in texts]
    scores = tagger.evaluate_examples(examples)
    assert scores.scores["segment_f1"] == scores.scores["token_accuracy"] == 1.0
    assert scores.baseline["segment_f1"] == 0.0
    tagger.save(tmp_path / "model")
    assert BertTagger.load(tmp_path / "model", device="cpu").predict([long, ""]) == [found, ()]


def by_window(usage, text, asked=()):
    """The pieces of a text, and the scores of each window of it: its place, and a row a piece."""
    (cut,) = cut_texts([text], usage.pieces_)
    marks = 3 if isinstance(usage, BertSpanFinder) else 2
    head = [usage.pieces_.start, *([*asked, usage.pieces_.end] if marks == 3 else [])]
    found = []
    for part in windows(len(cut.ids), 24 - len(asked) - marks, usage.tuning.stride):
        row = torch.tensor([*head, *cut.ids[part].tolist(), usage.pieces_.end])
        second = len(asked) + 2 if marks == 3 else len(row)
        segments = torch.arange(len(row)) >= second
        ids = Ragged(row, torch.tensor([len(row)]))
        with torch.no_grad():
            scores = usage.model_.eval()(ids, segments.long()).numpy()
        found.append((part, scores[0].sum(), scores[len(head) : -1]))
    return cut.tokens.spans.tolist(), found


def strange(kind, folder, **settings):
    """A usage that was hardly taught anything and has strong opinions."""
    usage = tuned(kind, folder, training=replace(QUICK, epochs=1), tuning=TuningConfig(**settings))
    texts = ["the film in rome", "a play again"] * 6
    if kind is BertTagger:
        usage.fit(texts, [[(12, 16, "place"), (4, 8, "art")], [(2, 6, "art")]] * 6)
    else:
        usage.fit(texts, [[(12, 16)], []] * 6, ["film ?"] * 12)
    torch.manual_seed(0)
    for parameter in usage.model_.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.7)
    return usage


@pytest.mark.parametrize("longest_answer", [1, 3, 64])
def test_the_answer_is_the_best_of_all_windows_or_none(folder, longest_answer):
    """Devlin et al. (2019): none where the least that any window gives its [CLS] is more."""
    finder = strange(BertSpanFinder, folder, stride=5, longest_answer=longest_answer)
    texts = [*sentences(12, 30), *sentences(12, 3), "rome", ""]
    asked = finder.pieces_.ids(["rome ?"])[0].tolist()
    expected = []
    for text in texts:
        spans, parts = by_window(finder, text, asked)
        answers = [
            (float(scores[begin, 0]) + float(scores[end, 1]), part.start + begin, part.start + end)
            for part, _, scores in parts
            for begin in range(len(scores))
            for end in range(begin, min(len(scores), begin + longest_answer))
        ]
        score, begin, end = max(answers, default=(-np.inf, 0, 0))
        silent = min(nothing for _, nothing, _ in parts) > score
        expected.append(None if silent or not spans else (spans[begin][0], spans[end][1]))
    found = finder.predict(texts, ["rome ?"] * len(texts))
    assert [one and (one.start, one.end) for one in found] == expected
    assert None in expected[:-1] and len(set(expected)) > 5


def test_a_piece_is_tagged_by_the_window_where_it_stands_farthest_from_an_edge(folder):
    """And tags of one label that stand side by side are one span, until one begins anew."""
    tagger = strange(BertTagger, folder, stride=8)
    texts = [*sentences(12, 40), *sentences(4, 2), "rome", ""]
    for text, found in zip(texts, tagger.predict(texts), strict=True):
        spans, parts = by_window(tagger, text)
        expected, before = [], None
        for piece, (start, end) in enumerate(spans):
            near = [
                (min(piece - part.start, part.stop - 1 - piece), -part.start, scores)
                for part, _, scores in parts
                if part.start <= piece < part.stop
            ]
            _, first, scores = max(near, key=lambda one: one[:2])
            tag = int(scores[piece + first].argmax())
            label = None if tag == 0 else tagger.labels_.classes[(tag - 1) // 2]
            if label is not None and (tag % 2 == 1 or label != before):
                expected.append([start, end, label])
            elif label is not None:
                expected[-1][1] = end
            before = label
        assert [[one.start, one.end, one.label] for one in found] == expected


def test_what_is_found_holds_a_letter_where_letters_have_several_pieces(tmp_path):
    """A Korean syllable is cut into its parts, of which the last has its place in the text."""
    texts = ["나는 서울 에서 왔다", "집 에서 부산 먹었다"]
    pieces = WordPieces.from_texts(lambda: texts, PiecesConfig(size=60, min_count=99))
    save_bert(tmp_path, BertConfig(8, 1, 1, 8, longest=64).build(vocab_size=len(pieces)), pieces)
    places = [(3, 5), (5, 7)]
    finder = tuned(BertSpanFinder, tmp_path).fit(texts, [[place] for place in places])
    tagger = tuned(BertTagger, tmp_path).fit(texts, [[(*place, "place")] for place in places])
    for usage, begins in ((finder, 0), (tagger, 1)):
        head = usage.model_.head
        torch.nn.init.zeros_(head.weight)
        head.bias.data = (torch.arange(len(head.bias)) == begins).float()
    # All pieces are as good, and each begins a place.
    assert [one.text for one in finder.predict(texts)] == ["나", "집"]
    for text, found in zip(texts, tagger.predict(texts), strict=True):
        assert "".join(text[one.start : one.end] for one in found) == text.replace(" ", "")
        assert all(one.start < one.end for one in found)


def test_windows_share_pieces_and_leave_none_out():
    """Every piece is in one, none is longer than the room, and neighbours overlap."""
    for length in (0, 5, 10, 11, 37, 100):
        parts = windows(length, 10, 4)
        covered = np.zeros(length, dtype=int)
        for part in parts:
            covered[part] += 1
            assert part.stop - part.start <= 10
        assert (covered > 0).all()
        for one, other in itertools.pairwise(parts):
            assert one.stop - other.start >= 4


def test_short_windows_do_not_read_each_piece_over_and_over():
    """Where as many pieces were to be shared as a window has, it moved by one piece at a time."""
    for room, stride in ((62, 64), (65, 64), (10, 9), (7, 4), (1, 0), (1, 64)):
        parts = windows(300, room, stride)
        assert sum(part.stop - part.start for part in parts) <= 2 * 300 + room
        assert {place for part in parts for place in range(300)[part]} == set(range(300))


def test_what_cannot_be_tuned_is_one_line(folder):
    """No folder, one class, overlapping tags, more layers than there are."""
    texts, labels = judged(20)
    with pytest.raises(ConfigError, match="--bert"):
        BertTextClassifier(progress=False).fit(texts, labels)
    with pytest.raises(DataError, match="two or more"):
        tuned(BertTextClassifier, folder).fit(texts, ["one"] * 20)
    with pytest.raises(DataError, match="cannot overlap"):
        tuned(BertTagger, folder).fit(texts, [[(0, 4, "a"), (3, 6, "a")]] * 20)
    with pytest.raises(DataError, match="has a span"):
        tuned(BertSpanFinder, folder).fit(texts, [[]] * 20)
    with pytest.raises(ConfigError, match="has 2 layers"):
        tuned(BertTextClassifier, folder, tuning=TuningConfig(layers=3)).fit(texts, labels)


def test_where_one_label_is_left_it_says_of_how_many_examples(folder):
    """Equal texts are held out together: of two texts one is left, and so one label."""
    with pytest.raises(DataError, match="all 10 examples to learn from have the label"):
        tuned(BertTextClassifier, folder, validation=0.1).fit(
            ["good film", "bad film"] * 10, ["good", "bad"] * 10
        )


def test_every_usage_names_its_task():
    """The folder of each says what it is for."""
    assert {name: usage.task for name, usage in USAGES.items()} == {
        name: name for name in ("bert-text", "bert-pair", "bert-span", "bert-tag")
    }
    assert json.dumps(sorted(USAGES))
