"""How near could explanations come to what people marked? A ranker that people's marks have taught.

    python benchmarks/ceiling.py [--folds 5] [--workers 1] [--limit DOCUMENTS]

ERASER Movies' training reviews are dealt into folds. ``regard``'s default learns from all but one,
and explains that one. Then trees learn from the marks of the other folds which words and which
sentences people mark, from all that the model says of them: scores, what stands beside them, the
share of the n-grams, attention, lengths; once without and once with their place. No drawing of the
same scores can be expected to be better than that: it has not seen a mark. Beside it what a page
draws, the opponents of movies.py, other methods, and the network's share made larger or smaller.
Val and test are not read. Needs ../shared/data/rationales.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context

import numpy as np
import torch
from measuring import provenance, save
from movies import DATA, DRAWN, Found, compare, precisions
from numpy.typing import NDArray

from regard import DocumentClassifier
from regard.audit.opponents import Opponents
from regard.audit.plausibility import (
    average_precision,
    mark_tokens,
    read_evidence,
    score_tokens,
    token_spans,
)
from regard.data.readers import read_documents
from regard.explain.answers import Answers
from regard.explain.methods import METHODS
from regard.explain.shares import with_shares
from regard.records.explanation import Decision, Explanation
from regard.records.weights import Weights
from regard.text.document import Document

Floats = NDArray[np.float64]

COLUMN = "evidence"
TAUGHT = {"word": "phrase", "sentence": "sentence, per word"}
"""What trees rank, and the drawing of the opponents that they are held against."""
METHODS_BESIDE = ("attention", "attention_gradient", "erasure")
NETWORK_TIMES = 0.0, 0.5, 2.0, 4.0
"""By what the network's share of each word is multiplied, to see how it should be blended."""
MARKED = 0.3  # the share of a sentence's tokens from which trees are told that it is marked
WIDER = 8.0, 16.0  # bells beside the one of a phrase, in words; across the ends of sentences
NEAR_END = 2.0, 8.0  # sentences, and twenty times as many words, in which nearness to an end falls


@dataclass(frozen=True, eq=False)
class Pieces:
    """The words or the sentences of a document, and all that is known of each."""

    spans: tuple[tuple[int, ...], ...]
    said: Floats  # (pieces, features), by the model
    place: Floats  # (pieces, features), by where they stand
    marked: NDArray[np.bool_]  # (pieces,)
    tokens: NDArray[np.int64]
    truth: NDArray[np.bool_]

    def precision(self, scores: Floats) -> float:
        """The average precision of these scores."""
        return average_precision(self.truth, score_tokens(self.tokens, self.spans, scores))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=1, help="folds at the same time")
    parser.add_argument("--limit", type=int, default=None, help="documents, to try it out")
    options = parser.parse_args()
    if not DATA.exists():
        sys.exit(f"{DATA} is not here; this benchmark needs ERASER's Movies")
    with ProcessPoolExecutor(options.workers, get_context("spawn")) as pool:
        asked = [pool.submit(run, fold, options) for fold in range(options.folds)]
        folds = [one.result() for one in asked]
        taught = {
            (level, place): pool.submit(teach, [one[level] for _, one in folds], place=place)
            for level in TAUGHT
            for place in (False, True)
        }
        ceilings = {asked: one.result() for asked, one in taught.items()}
    torch.set_num_threads(1)
    found = {name: [value for one, _ in folds for value in one[name]] for name in folds[0][0]}
    right = found.pop("right")
    others = {
        name: values
        for name, values in found.items()
        if not name.startswith((*METHODS_BESIDE, "network times"))
    }

    def lead(level: str, own: Sequence[float]) -> Mapping[str, object]:
        marks = f"{COLUMN}, folds"
        return compare(level, marks, [{**others, f"default, {level}, {marks}": list(own)}])

    result: dict[str, object] = {
        "documents": len(right),
        "accuracy": float(np.mean(right)),
        "drawn": {
            level: lead(level, found[f"default, {level}, {COLUMN}, folds"]) for level in DRAWN
        },
        "taught": {
            "with place" if place else "without place": {
                TAUGHT[level]: lead(TAUGHT[level], ceilings[level, place]) for level in TAUGHT
            }
            for place in (False, True)
        },
        "precision": {name: float(np.mean(values)) for name, values in found.items()},
    }
    print(json.dumps(result, indent=1))
    save("ceiling", {**provenance(), **result})


def run(fold: int, options: argparse.Namespace) -> tuple[Found, dict[str, list[Pieces]]]:
    """Train on the other folds, and explain the documents of this one."""
    torch.set_num_threads(1)
    documents = list(read_documents(DATA / "movies_train.parquet"))
    drawn = np.random.default_rng(0).permutation(len(documents))[: options.limit]
    seen, away = (
        [
            documents[place]
            for turn, place in enumerate(drawn)
            if (turn % options.folds == fold) is out
        ]
        for out in (False, True)
    )
    classifier = DocumentClassifier(device="cpu", progress=False)
    classifier.fit_documents(seen).fit_baseline(seen)
    fitted = classifier.fitted_
    texts = [one.text for one in away]
    opponents = Opponents(fitted, texts, linear=classifier.baseline_)
    found: Found = {"right": []}
    pieces: dict[str, list[Pieces]] = {"word": [], "sentence": []}
    for places, answers in fitted.answers(texts):
        own = with_shares(answers, METHODS[fitted.default_method].explain(answers))
        rankings = {
            "default": own,
            **opponents.explain(answers),
            **{name: METHODS[name].explain(answers) for name in METHODS_BESIDE},
            **{f"network times {by:g}": blended(own, by) for by in NETWORK_TIMES},
        }
        for row, place in enumerate(places):
            document = away[place]
            if not mark_tokens(token_spans(document.text), read_evidence(document, COLUMN)).any():
                continue
            found["right"].append(float(own[row].decisions[0].label == document.label))
            for name, some in rankings.items():
                for key, value in precisions(some[row], document, [COLUMN]):
                    found.setdefault(f"{name}, {key}, folds", []).append(value)
            for level, one in known(answers, row, own[row].decisions[0], document):
                pieces[level].append(one)
    print(f"fold {fold}: {fitted.default_method}, {np.mean(found['right']):.3f} right", flush=True)
    return found, pieces


def blended(own: Sequence[Explanation], by: float) -> list[Explanation]:
    """The same explanations with the network's share of every word so many times as large."""

    def changed(decision: Decision) -> Decision:
        shares = decision.shares
        assert shares is not None and shares.network_words is not None
        ngrams, network = (np.array(some.amounts) for some in (shares.ngrams, shares.network_words))
        words, sentences = decision.level("word"), decision.level("sentence")
        assert words is not None and sentences is not None
        scores = ngrams + by * network
        homes = homes_of(words, sentences)
        sums = np.bincount(homes, scores, minlength=len(sentences))
        spans = [(piece[0], piece[1]) for piece in sentences.pieces]
        weights = (
            Weights.from_scores("word", words.pieces, scores.tolist(), unit=words.unit),
            Weights.from_scores("sentence", spans, sums.tolist(), unit=words.unit),
        )
        return replace(decision, weights=weights)

    return [replace(one, decisions=tuple(map(changed, one.decisions))) for one in own]


def homes_of(words: Weights, sentences: Weights) -> NDArray[np.int64]:
    """The sentence of each word."""
    starts = [piece[0] for piece in sentences.pieces]
    return np.searchsorted(starts, [piece[0] for piece in words.pieces], side="right") - 1


def known(
    answers: Answers, row: int, decision: Decision, document: Document
) -> Iterator[tuple[str, Pieces]]:
    """All that is known of the words and sentences of one document."""
    words, phrases, sentences = decision.words, decision.phrases, decision.level("sentence")
    assert words is not None and phrases is not None and sentences is not None
    assert decision.shares is not None
    homes, count = homes_of(words, sentences), len(sentences)
    lengths = np.maximum(np.bincount(homes, minlength=count), 1)
    scores, near = np.array(words.amounts), np.array(phrases.amounts)
    ngrams = np.array(decision.shares.ngrams.amounts)
    strongest = np.full(count, near.min(initial=0.0))
    np.maximum.at(strongest, homes, near)
    layer = answers.output.attention[1].weights
    attention = layer.values.split(layer.host_lengths)[row].double().numpy()
    whole = np.array(sentences.amounts)
    mean = standard(whole / lengths)
    by_sentence = np.stack(
        [
            mean,
            standard(whole),
            standard(strongest),
            standard(np.bincount(homes, ngrams, minlength=count) / lengths),
            standard(np.log(attention + 1e-6)),
            np.log(lengths),
            np.append(mean[1:], 0.0),
            np.append(0.0, mean[:-1]),
            standard(smooth(whole / lengths, 2.0)),
        ],
        axis=1,
    )
    by_word = [standard(scores), standard(near), standard(ngrams)]
    by_word += [standard(smooth(scores, width)) for width in WIDER]
    tokens = token_spans(document.text)
    truth = mark_tokens(tokens, read_evidence(document, COLUMN))
    said = {"word": np.column_stack([*by_word, by_sentence[homes]]), "sentence": by_sentence}
    for level, weights, step in (("word", words, 20.0), ("sentence", sentences, 1.0)):
        own = np.full(len(tokens), -1)
        for number, piece in enumerate(weights.pieces):
            own[(tokens[:, 0] < piece[1]) & (tokens[:, 1] > piece[0])] = number
        held = own >= 0
        size = len(weights)
        covered = np.maximum(np.bincount(own[held], minlength=size), 1)
        marked = np.bincount(own[held], truth[held], minlength=size) / covered > MARKED
        place = places_of(size, step)
        yield level, Pieces(weights.pieces, said[level], place, marked, tokens, truth)


def places_of(count: int, step: float) -> Floats:
    """Where pieces stand: along the text, and how near to both ends, (pieces, features)."""
    numbers = np.arange(count)
    ends = [np.exp(-(count - 1 - numbers) / (step * near)) for near in NEAR_END]
    begins = [np.exp(-numbers / (step * near)) for near in NEAR_END]
    return np.stack([(numbers + 0.5) / max(count, 1), *ends, *begins], axis=1)


def standard(values: Floats) -> Floats:
    """The same values with a mean of 0 and a deviation of 1 in the document."""
    return (values - values.mean()) / (values.std() + 1e-9)


def smooth(values: Floats, width: float) -> Floats:
    """The mean of what stands about each value, by a bell so wide."""
    reach = int(4 * width)
    bell = np.exp(-0.5 * (np.arange(-reach, reach + 1) / width) ** 2)
    sums, whole = (np.convolve(row, bell) for row in (values, np.ones(len(values))))
    return (sums / whole)[reach : reach + len(values)]


def teach(folds: Sequence[Sequence[Pieces]], *, place: bool) -> list[float]:
    """The average precisions of trees, taught by the marks of all folds but the one they rank."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    def features(one: Pieces) -> Floats:
        return np.column_stack([one.said, one.place]) if place else one.said

    found: list[float] = []
    for number, asked in enumerate(folds):
        seen = [one for other, fold in enumerate(folds) if other != number for one in fold]
        trees = HistGradientBoostingClassifier(max_iter=100, max_leaf_nodes=15, random_state=0)
        trees.fit(
            np.concatenate([features(one) for one in seen]),
            np.concatenate([one.marked for one in seen]),
        )
        found += [one.precision(trees.predict_proba(features(one))[:, 1]) for one in asked]
    return found


if __name__ == "__main__":
    main()
